"""A step without a segment: who works it, where, and what it gives."""

from __future__ import annotations

import pytest

from webagent.core.chat import Models, ModelSpec
from webagent.core.compile import compile_plan
from webagent.core.errors import RecipeInvalid
from webagent.formats.recipe_yaml import parse_recipe

STEP = """webagent: 1
id: x
{head}
steps:
  look:
    do: search
    goal: Find the price
    expect: [{{output: {{price: {{type: number}}}}}}, {{output: {{offers: {{min: 1}}}}}}]
  best:
    do: compare
    from: "{{{{ look.offers }}}}"
    order: [price]
    take: 1
"""
SITES = "sites: [http://a.test]"


def said(head: str, models: Models | None = None) -> list[str]:
    recipe = parse_recipe(STEP.format(head=head), "x.yaml")
    try:
        compile_plan(recipe, models or Models())
    except RecipeInvalid as error:
        return [f"{p.path}: {p.message}" for p in error.problems]
    return []


def test_with_a_model_named_it_is_right_and_gives_what_is_expected_of_it():
    recipe = parse_recipe(STEP.format(head=f"{SITES}\nmodels: some-model"), "x.yaml")
    plan = compile_plan(recipe)
    assert plan.by_path["look"].outputs == ("price", "offers")
    assert plan.by_path["best"].needs == ("look",)


def test_a_model_that_the_settings_name_will_do():
    assert said(SITES, Models.all(ModelSpec(model="m"))) == []


@pytest.mark.parametrize(
    "head, why",
    [
        (SITES, "no model is named"),
        (f"{SITES}\nmodels: none", "no model is named"),
        (f"{SITES}\nmodels: {{planner: m}}", "no model is named"),
        ("models: m", "nothing says where it may go"),
    ],
)
def test_without_a_model_or_a_place_it_is_a_problem_with_its_place(head: str, why: str):
    (problem,) = said(head)
    assert problem.startswith("steps.look: ")
    assert why in problem
