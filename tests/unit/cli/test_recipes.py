"""`init`, `schema`, `check`, `plan`."""

import json
import re
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command

SENDING = """\
webagent: 1
id: sending
errand: Send it
steps:
  send:
    do: submit
    goal: Send it
    once: one
    segment: [{goto: "http://a.test/"}, {commit: {click: button "Send"}}]
    expect: [{text: Thanks}]
"""


def test_init_writes_a_recipe_that_checks(webagent: Command, folder: Path):
    assert webagent("init", "new").code == 0
    assert (folder / "new" / ".gitignore").read_text().endswith(".webagent/\n")
    assert webagent("check", "new/first.yaml").code == 0


def test_init_overwrites_nothing(webagent: Command, folder: Path):
    (folder / "first.yaml").write_text("mine")
    said = webagent("init", "--json")
    assert said.json == {"made": [".gitignore"], "kept": ["first.yaml"]}
    assert (folder / "first.yaml").read_text() == "mine"


def test_the_schema_is_json_schema(webagent: Command):
    assert webagent("schema").json["$schema"].startswith("https://json-schema.org/")


def test_check_tells_the_worst_case_of_each_step(webagent: Command):
    said = webagent("check", "reading.yaml")
    assert said.code == 0
    assert "left   2            60" in said.out
    assert said.out.rstrip().endswith("Largest: 2 (no max_radius is set).")


def test_check_as_json_has_a_row_for_each_step(webagent: Command):
    told = webagent("check", "reading.yaml", "--json").json
    assert told["ok"]
    assert [(row["step"], row["steps"], row["again"]) for row in told["steps"]] == [
        ("left", 2, ["left", "right"]),
        ("right", 1, ["right"]),
    ]
    assert told["largest_radius"] == 2


def test_check_tells_every_problem_with_its_place(webagent: Command, folder: Path):
    text = "webagent: 1\nid: bad\nsteps:\n  one:\n    do: raed\n  two:\n    doo: read\n"
    (folder / "bad.yaml").write_text(text)
    said = webagent("check", "bad.yaml")
    assert said.code == 2
    assert "bad.yaml:5:9" in said.out
    assert "did you mean 'read'" in said.out.lower()
    told = webagent("check", "bad.yaml", "--json")
    assert told.code == 2
    places = {(p["file"], p["line"]) for p in told.json["problems"]}
    assert ("bad.yaml", 5) in places
    assert len(told.json["problems"]) == len(said.out.split("bad.yaml:")) - 1


def test_plan_is_text_json_and_mermaid(webagent: Command, folder: Path):
    assert "needs: left (implied)" in webagent("plan", "reading.yaml").out
    assert webagent("plan", "reading.yaml", "--json").json["steps"][1]["needs"] == [
        {"step": "left", "why": "implied"}
    ]
    assert webagent("plan", "reading.yaml", "--mermaid").out.startswith("flowchart TD")
    assert webagent("plan", "reading.yaml", "--json", "-o", "plan.json").code == 0
    assert json.loads((folder / "plan.json").read_text())["recipe_id"] == "reading"


def test_two_forms_of_one_plan_are_one_too_many(webagent: Command):
    assert webagent("plan", "reading.yaml", "--json", "--mermaid").code == 2


def test_a_once_effect_is_said_to_be_never_repeated(webagent: Command, folder: Path):
    assert "never repeated" not in webagent("check", "reading.yaml").out
    (folder / "sending.yaml").write_text(SENDING)
    said = webagent("check", "sending.yaml").out
    assert "may reach" in said
    assert "tokens" not in said
    assert "A once effect is never repeated" in said
    assert webagent("check", "sending.yaml", "--json").json["steps"][0]["tokens"] == 0


@pytest.mark.parametrize(
    "command, hint",
    [
        (("plan", "reading.yaml", "-o", "/nonexistent/x"), "an existing folder"),
        (("init", "reading.yaml"), "webagent init my-errands"),
        (
            ("run", "reading.yaml", "--inputs", "nope.csv"),
            "is missing|give the path of a CSV|no list",
        ),
    ],
)
def test_what_cannot_be_done_says_what_can(webagent: Command, command: tuple[str, ...], hint: str):
    said = webagent(*command)
    assert said.code == 2
    assert re.search(hint, said.err)


def test_the_schema_takes_json_as_other_commands_do(webagent: Command):
    assert webagent("schema", "--json").out == webagent("schema").out
