"""The JSON Schema accepts what the parser accepts, and refuses the slips that editors can show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from webagent.formats.document import Report
from webagent.formats.recipe_grammar import RECIPE_KEYS
from webagent.formats.recipe_schema import recipe_json_schema
from webagent.formats.step_keys import STEP_KEYS
from webagent.formats.yaml_places import compose

ROOT = Path(__file__).parents[3]
RECIPES = [
    *sorted((ROOT / "recipes").rglob("*.yaml")),
    *sorted((Path(__file__).parent / "example").glob("*.yaml")),
]
STEP = "  s:\n    do: read\n    segment: [goto: https://a.example/, {}]\n    expect: {}\n"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return recipe_json_schema()


def data_of(text: str) -> Any:
    """A YAML text as plain data."""
    report = Report("x.yaml")
    node = compose(text, report)
    assert node is not None
    assert not report.problems
    return node.plain_value()


def step(action: str = "back: true", expect: str = "{text: Hi}") -> str:
    """A recipe with one step."""
    return (
        f"webagent: 1\nid: one\nsteps:\n  s:\n    do: read\n    segment:\n"
        f"      - goto: https://a.example/\n      - {action}\n    expect: {expect}\n"
    )


def test_it_is_a_schema(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_every_recipe_is_valid(schema: dict[str, Any], file: Path) -> None:
    if "steps" not in (data := data_of(file.read_text())):
        pytest.skip("no recipe")
    errors = [f"{e.json_path}: {e.message}" for e in Draft202012Validator(schema).iter_errors(data)]
    assert errors == []


@pytest.mark.parametrize(
    "action",
    [
        "back", "back:", "press: Enter", "press: {key: Enter, target: .x}", "scroll: {by: 5}",
        "fill: {.x: 1}", "fill: [{target: {css: .x}, value: y}]", "wait: .x", "wait: {text: x}",
        "dialog: accept", "dialog: {accept: x}", "drag: {from: .x, to: .y}", "download: .x",
        "read: {x: .x, y: {css: .y, attr: href}, z: {each: li, fields: {a: .a}}}",
        "read: {t: {table: table, types: {A: money}}}", "tab: new",
        "{click: .x, timeout: 5s, optional: true, within: .y}",
    ],
)  # fmt: skip
def test_the_short_and_the_long_forms_are_valid(schema: dict[str, Any], action: str) -> None:
    Draft202012Validator(schema).validate(data_of(step(action)))


@pytest.mark.parametrize(
    "text",
    [
        "id: one\nsteps: {}\n",
        step().replace("webagent: 1", "webagent: 2"),
        step().replace("do: read", "do: raed"),
        step().replace("    do: read\n", ""),
        step().replace("do: read", "do: read\n    tkae: 1"),
        step().replace("do: read", "do: read\n    take: 1"),
        step().replace("do: read", "do: compare"),
        step().replace("do: read", "do: read\n    timeout: soon"),
        step().replace("do: read", "do: read\n    retries: -1"),
        step("clik: .x"),
        step("click: 5"),
        step("{click: .x, hover: .y}"),
        step("tab: last"),
        step("read: {x: {each: li}}"),
        step("read: {x: {css: .x, type: price}}"),
        step("click: {nam: x}"),
        step(expect="{txt: Hi}"),
        step(expect="{status: 999}"),
        step(expect="{count: {.x: {most: 3}}}"),
        step().replace("steps:", "sites: [a.example]\nsteps:"),
        step().replace("steps:", "inputs: {q: {type: text}}\nsteps:"),
        step().replace("steps:", "models: {planer: x}\nsteps:"),
    ],
)
def test_slips_are_invalid(schema: dict[str, Any], text: str) -> None:
    assert list(Draft202012Validator(schema).iter_errors(data_of(text)))


def test_every_key_that_is_built_is_in_it_with_a_word_about_it(schema: dict[str, Any]) -> None:
    described = {k: v for k, v in schema["properties"].items() if v.get("description")}
    assert set(described) == {k for k, key in RECIPE_KEYS.items() if key.built}
    steps: dict[str, Any] = {}
    for kind in schema["$defs"]["step"]["anyOf"]:
        steps |= kind["properties"]
    assert set(steps) == {k for k, key in STEP_KEYS.items() if key.built}
    assert all(v.get("description") for v in steps.values())
