"""How commands end: usage errors, errors of this package, bugs, interrupts."""

from pathlib import Path

import pytest

import webagent as face
from tests.unit.cli.conftest import Command
from webagent import wiring
from webagent.cli import ending
from webagent.core.errors import StoreError


def test_an_unknown_command_or_option_ends_with_2(webagent: Command):
    assert webagent("rnu", "x.yaml").code == 2
    assert webagent("run", "x.yaml", "--nope").code == 2
    assert webagent("run").code == 2


def test_help_and_version_end_with_0(webagent: Command):
    assert webagent("--version").out == f"webagent {face.__version__}\n"
    said = webagent("--help")
    assert said.code == 0
    assert "130 parked" in said.out


def test_an_error_is_json_where_a_program_listens(webagent: Command):
    said = webagent("show", "last", "--json")
    assert said.code == 2
    assert said.json["error"]["code"] == "unknown_run"
    assert said.err == ""


def test_a_store_that_cannot_be_opened_ends_with_6(
    webagent: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / "file").write_text("")
    monkeypatch.setenv("WEBAGENT_STORE", str(folder / "file" / "store"))
    assert webagent("runs").code == 6
    assert webagent("run", "comparing.yaml", "--json").json["exit_code"] == 6


def test_a_setting_that_is_wrong_ends_with_2(webagent: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEBAGENT_HOSTS", "shop=8.8.8.8:80")
    said = webagent("runs")
    assert said.code == 2
    assert "WEBAGENT_HOSTS" in said.err


def test_a_bug_is_one_line_and_its_traceback_is_kept(
    webagent: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    webagent("run", "comparing.yaml")

    def broken(_settings: object) -> None:
        raise ValueError("a [bold]bug[/bold] with \x1b[31mcolours")

    monkeypatch.setattr(wiring, "open_store", broken)
    said = webagent("runs")
    assert said.code == 1
    assert "webagent has a bug: ValueError: a [bold]bug[/bold]" in said.err
    assert "\x1b" not in said.err
    [kept] = (folder / ".webagent" / "errors").iterdir()
    assert "Traceback" in kept.read_text()
    assert str(kept.name) in said.err
    assert webagent("runs", "--json").json["error"]["code"] == "bug"


def test_a_kept_traceback_holds_no_secret(
    webagent: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    webagent("run", "comparing.yaml")
    plan = face.check("comparing.yaml")
    source, redactor = wiring.secret_source(wiring.settings(), plan)
    source._know("opensesame")  # type: ignore[attr-defined]  # as if it had been fetched
    assert redactor.text("opensesame") == "[secret]"

    def broken(_settings: object) -> None:
        raise StoreError("it was opensesame", hint="not opensesame")

    monkeypatch.setattr(wiring, "open_store", broken)
    said = webagent("runs")
    assert "opensesame" not in said.out + said.err
    assert "[secret]" in said.err


def test_ctrl_c_between_runs_ends_with_130(webagent: Command, monkeypatch: pytest.MonkeyPatch):
    def interrupted(_settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(wiring, "open_store", interrupted)
    assert webagent("runs").code == ending.EXIT_PARKED
