"""`doctor --model` asks each named model once and says what it took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.messages import KEY, MessagesServer, Smallest
from tests.unit.cli.conftest import Command
from webagent.cli.health import examine
from webagent.core.chat import DEFAULT_MODEL
from webagent.settings import load_settings

TABLE = """\
[models]
reader = "small"
[models.planner]
model = "big"
price = {input = 5, output = 25}
[models.executor]
model = "big"
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    for name in ("ANTHROPIC_AUTH_TOKEN", "WEBAGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with MessagesServer(Smallest()) as made:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", made.base_url)
        yield made


def test_each_distinct_model_is_asked_once(webagent: Command, folder: Path, server: MessagesServer):
    (folder / "webagent.toml").write_text(TABLE, "utf-8")

    said = webagent("doctor", "--model")

    assert said.code == 0
    assert [asked.body["model"] for asked in server.requests] == ["big", "small"]
    first, second = said.out.splitlines()
    assert first.startswith("ok   planner, executor: big answered in 0.")
    assert "tokens sent" in first
    assert ", cost 0.00" in first
    assert second.startswith("ok   reader: small answered in ")
    assert second.endswith("no price is given")


def test_a_program_gets_tokens_and_cost(webagent: Command, folder: Path, server: MessagesServer):
    (folder / "webagent.toml").write_text(TABLE, "utf-8")

    told = webagent("doctor", "--model", "--json").json

    big, small = told["models"]
    usage = server.requests[0].usage
    assert told["ok"] is True
    assert big["usage"]["tokens_in"] == usage["input_tokens"]
    assert big["money"] == pytest.approx(
        (usage["input_tokens"] * 5 + usage["output_tokens"] * 25) / 1e6
    )
    assert (small["roles"], small["money"]) == (["reader"], None)


def test_the_default_is_asked_where_none_is_named(webagent: Command, server: MessagesServer):
    said = webagent("doctor", "--model")

    assert said.code == 0
    assert f"{DEFAULT_MODEL} answered" in said.out
    assert "it is the default" in said.out


def test_a_model_that_fails_is_told_with_its_fault(webagent: Command, server: MessagesServer):
    server.fault("unknown_model")

    said = webagent("doctor", "--model")

    assert said.code == 1
    assert "BAD  planner, executor, reader: " in said.out
    assert "status 404, model: no such model" in said.out


def test_without_a_key_it_says_what_to_do_and_what_works(
    webagent: Command, monkeypatch: pytest.MonkeyPatch
):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    said = webagent("doctor", "--model")

    assert said.code == 1
    assert "There is no key for the executor's model" in said.out
    assert "ANTHROPIC_API_KEY" in said.out
    assert "local planner" in said.out


def test_models_that_are_off_are_not_asked(
    webagent: Command, monkeypatch: pytest.MonkeyPatch, server: MessagesServer
):
    monkeypatch.setenv("WEBAGENT_MODEL", "none")

    assert webagent("doctor", "--model").code == 2
    assert not server.requests


@pytest.mark.parametrize(
    "env, ok, told",
    [
        ({}, True, "none is named in the settings"),
        ({"ANTHROPIC_API_KEY": "sk-kim"}, True, "none is named in the settings"),
        ({"WEBAGENT_MODEL": "m"}, False, "planner, executor, reader: m, but there is no key"),
        ({"WEBAGENT_MODEL": "m", "ANTHROPIC_API_KEY": "sk-kim"}, True, "reader: m, with a key"),
        ({"WEBAGENT_MODEL": "-"}, False, "'-' is not a model's name"),
    ],
)
def test_doctor_tells_the_models_without_asking(
    tmp_path: Path, env: dict[str, str], ok: bool, told: str
):
    browser = tmp_path / "broken"
    browser.write_text("#!/bin/sh\nexit 3\n")
    browser.chmod(0o755)
    settings = load_settings({**env, "WEBAGENT_BROWSER": str(browser)}, tmp_path)

    found = next(check for check in examine(settings) if check.name == "models")

    assert (found.ok, found.needed) == (ok, False)
    assert told in found.told
    assert "sk-kim" not in found.told
