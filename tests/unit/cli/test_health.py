"""`doctor`: it looks, and leaves nothing behind."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command


def test_looking_makes_no_store(
    webagent: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("WEBAGENT_BROWSER", str(broken))
    said = webagent("doctor")
    assert said.code == 1
    assert "made by the first run" in said.out
    assert not (folder / ".webagent").exists()


def test_wrong_settings_are_one_of_the_checks(webagent: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEBAGENT_BROWSER", "/nowhere/chromium")
    said = webagent("doctor")
    assert said.code == 1
    assert "ok   python" in said.out
    assert "BAD  settings: WEBAGENT_BROWSER" in said.out
