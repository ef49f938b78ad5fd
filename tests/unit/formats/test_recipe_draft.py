"""A drafted plan as a recipe's text: commented, and read back as what was drafted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from tests.unit.planners.claude.prepared import PREPARED, answer, given, output, step
from webagent.core.chat import Models, ModelSpec
from webagent.core.compile import compile_plan
from webagent.core.draft import Drafted, DraftRequest, origins_of
from webagent.core.plan import Step
from webagent.formats.recipe_draft import expectation, goal_text, recipe_text
from webagent.formats.recipe_yaml import parse_recipe

MODEL = "claude-test"


def text_of(words: str, data: dict[str, Any], models: str = MODEL) -> str:
    return recipe_text(Drafted(**data), DraftRequest(words=words, models=models), MODEL)


@pytest.mark.parametrize("name", PREPARED)
def test_a_drafted_recipe_reads_back_as_what_was_drafted(name: str) -> None:
    words, data = PREPARED[name]
    recipe = parse_recipe(text_of(words, data))
    drafted = Drafted(**data)
    assert recipe.errand == drafted.errand
    assert list(recipe.inputs) == [one.name for one in drafted.inputs]
    assert {n: (s.env, s.origin) for n, s in recipe.secrets.items()} == {
        one.name: (one.env, one.origin) for one in drafted.secrets
    }
    for one in drafted.steps:
        read = recipe.steps[one.name]
        assert isinstance(read, Step)
        assert (read.do, read.goal, read.needs) == (one.do, goal_text(one), one.needs)
        assert (read.when or "", read.continues or "") == (one.when, one.continues)
        assert (read.source or "", read.where or "", read.take or 0) == (
            one.source, one.where, one.take,
        )  # fmt: skip
        assert (read.for_each or "", read.key or "", read.order) == (
            one.for_each, one.key, one.order,
        )  # fmt: skip
        assert read.scope.origins == (origins_of(one) or None)
        assert (read.once.key if read.once else "") == one.once_key
        assert len(read.before_commit) == len(one.before_commit)
        assert read.segment is None


@pytest.mark.parametrize("name", PREPARED)
def test_its_comments_change_nothing(name: str) -> None:
    text = text_of(*PREPARED[name])
    bare = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    assert compile_plan(parse_recipe(text)) == compile_plan(parse_recipe(bare))


def test_a_commented_recipe(snapshot: SnapshotAssertion) -> None:
    assert text_of(*PREPARED["compare_and_order"]) == snapshot


SMALL = answer(
    "Read it", given("count", "3", "number"), given("wanted", "true", "boolean"),
    step("look", "read", "Read it", "text: There", start="http://a.test/",
         outputs=[output("rows", "list", 2, title="text", price="money")]),
)  # fmt: skip


def test_a_goal_says_where_to_begin_and_what_to_read() -> None:
    recipe = parse_recipe(text_of("Read a.test", SMALL))
    assert recipe.steps["look"].goal == (
        "Read it. Begin at http://a.test/. Read rows, a list whose rows have title, price (money)."
    )


def test_typed_inputs_keep_their_types() -> None:
    inputs = parse_recipe(text_of("Read a.test", SMALL)).inputs
    assert (inputs["count"].default, inputs["wanted"].default) == (3, True)


def test_it_names_no_model_where_the_settings_do() -> None:
    recipe = parse_recipe(text_of("Read a.test", SMALL, models=""))
    assert recipe.models == Models()
    assert compile_plan(recipe, Models.all(ModelSpec(model="m"))).steps[0].segment is None


def test_an_address_of_a_private_network_is_permitted_by_name() -> None:
    data = answer("Read", step("look", "read", "Read", "text: x", start="http://127.0.0.1:8000/"))
    recipe = parse_recipe(text_of("Read http://127.0.0.1:8000/", data))
    assert recipe.allow_private
    assert recipe.sites == ("http://127.0.0.1:8000",)


@pytest.mark.parametrize(
    "text, data",
    [
        ("url: **/search?*", {"url": "**/search?*"}),
        ('url: "**/search?*"', {"url": "**/search?*"}),
        ("- text: Thank you", {"text": "Thank you"}),
        ("text: {{ choose.title }}", {"text": "{{ choose.title }}"}),
        ("text: Total: 5", {"text": "Total: 5"}),
        ('element: button "Sign out"', {"element": 'button "Sign out"'}),
        ("output: {offers: {min: 1}}", {"output": {"offers": {"min": 1}}}),
        ("download: *.csv", {"download": "*.csv"}),
        ("text: it is #1", {"text": "it is #1"}),
        ("it is done", "it is done"),
    ],
)
def test_an_expectation_is_read_as_it_is_meant(text: str, data: Any) -> None:
    assert expectation(text) == data


@settings(max_examples=50)
@examples(st.text(max_size=300), st.text(max_size=200), st.text("a:#\n\t\"'- x", max_size=40))
def test_no_text_of_a_model_or_person_becomes_a_part_of_the_recipe(
    words: str, why: str, errand: str
) -> None:
    data = answer(errand, step("look", "read", "Read it", "text: x", start="http://a.test/"))
    data["steps"][0]["why"] = why
    recipe = parse_recipe(text_of(f"Read {words}".replace("{", "("), data))
    assert list(recipe.steps) == ["look"]
    assert recipe.sites == ("http://a.test",)


@settings(max_examples=50)
@examples(st.text(min_size=1, max_size=400))
def test_a_goal_is_one_text(goal: str) -> None:
    plain = goal.replace("{", "(").replace("}", ")")
    data = answer("x", step("look", "read", plain, "text: x", start="http://a.test/"))
    read = parse_recipe(text_of("Read a.test", data)).steps["look"]
    assert read.goal == goal_text(Drafted(**data).steps[0])
