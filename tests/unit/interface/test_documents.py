"""README.md and docs/: what they show is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from webagent import wiring
from webagent.cli import app
from webagent.core.compile import compile_plan
from webagent.core.errors import RecipeInvalid
from webagent.core.plan import Plan
from webagent.executors.scripted import ScriptedExecutor, ScriptedSite
from webagent.formats.recipe_yaml import parse_recipe

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text("utf-8")
RECIPES = (ROOT / "docs" / "recipes.md").read_text("utf-8")

BOOKS = [
    {"title": "Cheap", "price": {"amount": 9.5, "currency": "£"}, "link": "https://b.example/1"},
    {"title": "Dear", "price": {"amount": 14, "currency": "£"}, "link": "https://b.example/2"},
]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_readmes_recipe_and_python_example_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def factory(_settings: object, plan: Plan, *_rest: object) -> object:
        site = ScriptedSite(plan, values={"books": {"books": BOOKS}})
        return lambda _run: ScriptedExecutor(site)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wiring, "browser_factory", factory)
    [recipe] = [block for block in blocks(README, "yaml") if block.startswith("webagent: 1")]
    (tmp_path / "first.yaml").write_text(recipe, "utf-8")
    [example] = blocks(README, "python")
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == "Cheap\n"


def test_the_readme_names_every_command():
    for command in app.registered_commands:
        assert command.callback is not None
        assert f"webagent {command.callback.__name__}" in README


def test_the_files_that_documents_point_to_are_there():
    for text, base in ((README, ROOT), (RECIPES, ROOT / "docs")):
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (base / target).exists(), target


def test_the_recipe_of_the_reference_checks():
    [whole] = [block for block in blocks(RECIPES, "yaml") if block.startswith("webagent: 1")]
    text = whole.replace("max_radius", "allow_private: false\nmax_radius")
    assert compile_plan(parse_recipe(text)).max_radius == 6


STEP = """\
webagent: 1
id: x
inputs: {query: , photo: , max_price: {type: number}}
secrets: {code: {env: CODE, for: "https://shop.example"}}
sites: [https://shop.example]
steps:
  step:
    do: DO
    segment:
      - goto: https://shop.example/
SEGMENT
    expect:
EXPECT
"""


def problems(do: str, segment: str, expect: str) -> list[str]:
    text = STEP.replace("DO", do).replace("SEGMENT", segment).replace("EXPECT", expect)
    try:
        parse_recipe(text)
    except RecipeInvalid as error:
        return [str(problem) for problem in error.problems]
    return []


def test_each_action_reading_and_expectation_of_the_reference_parses():
    _, actions, readings, expectations = blocks(RECIPES, "yaml")

    def indented(block: str) -> str:
        return "".join(f"      {line}\n" for line in block.splitlines() if line.strip())

    done = "      - text: Done"
    submit = "submit\n    once: k"
    assert problems(submit, indented(actions), done) == []
    assert problems("read", indented(readings), done) == []
    assert problems("read", indented(readings), indented(expectations)) == []
