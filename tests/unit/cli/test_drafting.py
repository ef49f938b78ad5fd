"""A request in words on the command line: drafted by the stand-in, agreed to, and only then run."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fixtures.messages import KEY, Function, MessagesServer, text
from tests.unit.cli.conftest import Command
from tests.unit.planners.claude.prepared import answer, given, output, step
from webagent.cli import drafting

READ = "Read the books of https://books.test"
TAKE = "Take the cheapest of my offers"
BOOKS = answer(
    "Read books",
    step("books", "read", "Read the books", start="https://books.test/",
         outputs=[output("books", "list", 1, title="text")]),
)  # fmt: skip
OFFERS = json.dumps([{"title": "red", "price": 3}, {"title": "blue", "price": 2}])
CHEAPEST = answer(
    "Take the cheapest", given("offers", OFFERS, "list"),
    step("choose", "compare", "The cheapest", order=["price"], take=1, **{"from": "{{ offers }}"}),
)  # fmt: skip
WRONG = answer("Read", step("books", "read", "Read", "text: x", start="https://evil.test/"))


class Terminal(io.StringIO):
    """Standard input with a person behind it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    """A stand-in that drafts by what is asked for."""

    def drafts(request: Any) -> list[Any]:
        told = request["messages"][0]["content"][0]["text"]
        made = BOOKS if READ in told else CHEAPEST if TAKE in told else WRONG
        return [text(json.dumps(made))]

    with MessagesServer(Function(drafts)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.delenv("WEBAGENT_MODEL", raising=False)
        yield server


def test_a_plan_is_drafted_shown_and_written(
    webagent: Command, folder: Path, model: MessagesServer
):
    said = webagent("plan", READ, "-o", "books.yaml")
    assert said.code == 0
    assert "books  [read, effect none]" in said.out
    assert "1 call" in said.err
    written = (folder / "books.yaml").read_text()
    assert written.startswith("# Drafted by a model (claude-sonnet-5-5) from: " + READ)
    assert "models: claude-sonnet-5-5" in written
    assert webagent("check", "books.yaml").code == 0
    assert webagent("plan", "books.yaml").out == said.out
    assert len(model.requests) == 1


def test_without_a_file_the_draft_is_kept_in_the_store(
    webagent: Command, folder: Path, model: MessagesServer
):
    said = webagent("plan", READ, "--json")
    assert said.json["errand"] == "Read books"
    (kept,) = (folder / ".webagent" / "drafts").glob("*.yaml")
    assert str(kept.name) in said.err.replace("\n", "")
    assert webagent("check", str(kept)).code == 0


def test_nothing_is_overwritten_and_nobody_asked_in_vain(
    webagent: Command, folder: Path, model: MessagesServer
):
    before = (folder / "reading.yaml").read_text()
    said = webagent("plan", READ, "-o", "reading.yaml")
    assert (said.code, len(model.requests)) == (2, 0)
    assert "--force" in said.err
    assert (folder / "reading.yaml").read_text() == before
    assert webagent("plan", READ, "-o", "nowhere/x.yaml").code == 2
    assert len(model.requests) == 0
    assert webagent("plan", READ, "-o", "reading.yaml", "--force").code == 0
    assert (folder / "reading.yaml").read_text() != before


def test_a_named_model_drafts_and_is_named_in_the_recipe(
    webagent: Command, folder: Path, model: MessagesServer
):
    assert webagent("plan", READ, "--model", "claude-other", "-o", "x.yaml").code == 0
    assert model.requests[0].body["model"] == "claude-other"
    assert "models: claude-other" in (folder / "x.yaml").read_text()


def test_a_recipe_names_no_model_where_the_settings_do(
    webagent: Command, folder: Path, model: MessagesServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WEBAGENT_MODEL", "claude-mine")
    assert webagent("plan", READ, "-o", "x.yaml").code == 0
    assert model.requests[0].body["model"] == "claude-mine"
    assert "\nmodels:" not in (folder / "x.yaml").read_text()
    assert webagent("check", "x.yaml").code == 0


def test_a_site_may_be_named_by_an_option(webagent: Command, folder: Path, model: MessagesServer):
    said = webagent("plan", "something else", "--url", "https://evil.test/", "-o", "x.yaml")
    assert said.code == 0
    assert webagent("plan", "something else", "--url", "evil.test").code == 2


@pytest.mark.parametrize("variable, value", [("ANTHROPIC_API_KEY", ""), ("WEBAGENT_MODEL", "none")])
def test_without_a_model_it_says_what_works_all_the_same(
    webagent: Command, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, value)
    for command in ("plan", "run"):
        said = webagent(command, READ)
        assert said.code == 2
        assert "Without a model" in said.err


def test_a_draft_that_does_not_pass_is_told_and_kept(
    webagent: Command, folder: Path, model: MessagesServer
):
    said = webagent("plan", "read some books", "-o", "x.yaml", "--json")
    assert said.code == 1
    assert said.json["error"]["code"] == "draft_failed"
    assert "no site that the person named" in said.json["problems"][0]["message"]
    assert len(model.requests) == 3
    (kept,) = (folder / ".webagent" / "drafts").glob("*.yaml")
    assert str(kept) in said.json["error"]["hint"]
    assert not (folder / "x.yaml").exists()


def test_every_call_of_a_draft_is_kept_without_the_key(
    webagent: Command, folder: Path, model: MessagesServer
):
    assert webagent("plan", "read some books", "-o", "x.yaml").code == 1
    calls = sorted((folder / ".webagent" / "drafts").glob("*.call-*.json"))
    assert len(calls) == len(model.requests) == 3
    for path in calls:
        assert path.stat().st_mode & 0o077 == 0
        text = path.read_text("utf-8")
        assert json.loads(text)["reply"]["data"]["steps"]
        assert KEY not in text


def test_nothing_runs_where_nobody_can_agree(
    webagent: Command, folder: Path, model: MessagesServer
):
    said = webagent("run", TAKE)
    assert said.code == 2
    assert "--yes" in said.err
    (file,) = folder.glob("take-the-cheapest-of-*.yaml")
    assert webagent("check", str(file)).code == 0
    assert webagent("runs", "--json").json == []
    assert webagent("run", str(file)).code == 0


def test_with_yes_exactly_the_written_file_runs(
    webagent: Command, folder: Path, model: MessagesServer
):
    said = webagent("run", TAKE, "--yes", "--json")
    assert said.code == 0
    assert said.json["steps"]["choose"]["outputs"]["title"] == "blue"
    (first,) = folder.glob("take-*.yaml")
    text_ = first.read_text()
    assert webagent("run", TAKE, "--yes").code == 0
    assert first.read_text() == text_
    assert len(list(folder.glob("take-*.yaml"))) == 2


@pytest.mark.parametrize("said, runs", [("y\n", 1), ("n\n", 0), ("\n", 0)])
def test_a_person_is_asked_before_it_runs(
    webagent: Command, folder: Path, model: MessagesServer, monkeypatch: pytest.MonkeyPatch,
    said: str, runs: int,
):  # fmt: skip
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    done = webagent("run", TAKE)
    assert done.code == 0
    assert "choose  [compare, effect none]" in done.out
    assert "Run it?" in done.err
    assert len(webagent("runs", "--json").json) == runs


def test_an_input_given_along_is_told_and_used(webagent: Command, model: MessagesServer):
    offers = json.dumps([{"title": "green", "price": 1}])
    said = webagent("run", TAKE, "--yes", "--json", "-i", f"offers={offers}")
    assert said.json["steps"]["choose"]["outputs"]["title"] == "green"
    assert "Inputs given along" in json.dumps(model.requests[0].body)


def test_a_file_that_is_missing_is_no_request(webagent: Command, model: MessagesServer):
    for name in ("nothing.yaml", "nothing", "my recipe.yaml"):
        said = webagent("plan", name)
        assert said.code == 2
        assert "no such file" in said.err
    assert not model.requests


def test_options_of_a_request_do_not_go_with_a_file(webagent: Command):
    for option in (("--url", "https://a.test"), ("--model", "x"), ("--force",)):
        assert webagent("plan", "reading.yaml", *option).code == 2
    assert webagent("run", "comparing.yaml", "--model", "x").code == 2


@pytest.mark.parametrize(
    "words, asked",
    [("read it", True), ("read\tit", True), ("x " * 3000, True), ("recipe.yaml", False),
     ("my recipe.yaml", False), ("", False), ("one", False)],
)  # fmt: skip
def test_a_request_is_words(words: str, asked: bool):
    assert drafting.is_request(words) is asked
