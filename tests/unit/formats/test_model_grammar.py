"""Models and their budgets as recipes write them, and what is said about slips."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from webagent.core.chat import Models, ModelSpec, Price
from webagent.core.compile import compile_plan
from webagent.core.errors import RecipeInvalid
from webagent.core.limits import Budget
from webagent.core.plan import Plan
from webagent.formats.document import Report
from webagent.formats.model_grammar import models_of_settings
from webagent.formats.recipe_schema import recipe_json_schema
from webagent.formats.recipe_yaml import parse_recipe
from webagent.formats.yaml_places import compose

STEP = """
steps:
  a:
    do: read
    segment:
      - goto: http://a.test/
      - read: {t: h1}
    expect: {text: Hello}
"""
PRICE = "price: {input: 3, output: 15}"


def recipe(head: str) -> str:
    return f"webagent: 1\nid: a\nsites: http://a.test\n{head}{STEP}"


def planned(head: str) -> Plan:
    return compile_plan(parse_recipe(recipe(head)))


def valid(head: str) -> bool:
    node = compose(recipe(head), Report("recipe.yaml"))
    assert node is not None
    return Draft202012Validator(recipe_json_schema()).is_valid(node.plain_value())


X = ModelSpec(model="claude-x")
FULL = """\
models:
  planner:
    model: org/claude-x:free
    max_tokens: 9000
    effort: high
    seconds: 5m
    price: {input: 3, output: 15, cache_read: 0, cache_write: 3.75}
    budget: {tokens: 100000, money: 0.5, calls: 20, seconds: 10m}
  reader: small
"""


@pytest.mark.parametrize(
    "head, models",
    [
        ("", Models()),
        ("models: none", Models(off=True)),
        ("models: claude-x", Models.all(X)),
        ("models: {model: claude-x}", Models.all(X)),
        ("models: {executor: claude-x}", Models(executor=X)),
        (
            FULL,
            Models(
                planner=ModelSpec(
                    model="org/claude-x:free", max_tokens=9000, effort="high", seconds=300,
                    price=Price(input=3, output=15, cache_read=0, cache_write=3.75),
                    budget=Budget(tokens=100000, money=0.5, calls=20, seconds=600),
                ),
                reader=ModelSpec(model="small"),
            ),
        ),
    ],
)  # fmt: skip
def test_each_way_of_writing_models_reaches_the_plan(head: str, models: Models):
    plan = planned(head)

    assert plan.models == models
    assert Plan.model_validate_json(plan.model_dump_json()).models == models
    assert valid(head)


def test_budgets_of_run_and_step_may_limit_models():
    plan = planned(f"models: {{model: x, {PRICE}}}\nbudget: {{tokens: 9, money: 0.5, calls: 3}}")

    assert (plan.budget.tokens, plan.budget.money, plan.budget.calls) == (9, 0.5, 3)


@pytest.mark.parametrize(
    "head, at, message",
    [
        ("models: {planner: x, executer: y}", "4:22", "did you mean 'executor'?"),
        ("models: {planner: {model: x, maxtokens: 3}}", "4:30", "did you mean 'max_tokens'?"),
        ("models: {planner: {model: x, effort: hgih}}", "4:38", "did you mean 'high'?"),
        ("models: {planner: {max_tokens: 3}}", "4:19", "a model needs model: its name"),
        ("models: {planner: {model: x, max_tokens: 0}}", "4:42", "0 is less than 1"),
        ("models: {planner: {model: '{{ m }}'}}", "4:27", "is fixed"),
        ("models: {planner: {model: x, base_url: y}}", "4:30", "a model has no key 'base_url'"),
        ("models: {planner: {model: x, price: {input: 1}}}", "4:37", "a price needs output"),
        (
            "models: {planner: {model: x, price: {input: -1, output: 1}}}",
            "4:45",
            "-1 is not nothing or more",
        ),
        ("models: {planner: {model: x, budget: {money: 0}}}", "4:46", "0 is not more than nothing"),
        ("models: {planner: {model: x, budget: {pages: 3}}}", "4:39", "there is: tokens, money"),
        ("models: [x]", "4:9", "or none, or a mapping with planner, executor, reader"),
        ("models:", "4:1", "a model's name is wanted here, not nothing"),
        ("models: {}", "4:9", "models needs one of planner, executor, reader"),
        ("budget: {tokens: 0}", "4:18", "0 is less than 1"),
        ("budget: {calls: -2}", "4:17", "-2 is less than 1"),
        ("budget: {money: -0.5}", "4:17", "-0.5 is not more than nothing"),
        ("budget: {money: .inf}", "4:17", "an amount is wanted here"),
        ("budget: {money: much}", "4:17", "an amount is wanted here"),
    ],
)
def test_a_slip_is_told_with_its_place(head: str, at: str, message: str):
    with pytest.raises(RecipeInvalid) as caught:
        planned(head)

    assert f"recipe.yaml:{at}: " in str(caught.value)
    assert message in str(caught.value)
    assert len(caught.value.problems) == 1


MONEY: list[tuple[str, Any]] = [
    ("models: {planner: {model: x, budget: {money: 1}}}", "planner"),
    ("models: x\nbudget: {money: 1}", "planner, executor, reader"),
    (f"models: {{planner: {{model: x, {PRICE}}}, reader: y}}\nbudget: {{money: 1}}", "reader"),
    (f"models: {{planner: {{model: x, {PRICE}}}}}\nbudget: {{money: 1}}", None),
    ("models: none\nbudget: {money: 1}", None),
    ("budget: {money: 1}", None),
]


@pytest.mark.parametrize("head, missing", MONEY)
def test_a_money_budget_needs_the_price_of_each_named_model(head: str, missing: str | None):
    if missing is None:
        assert planned(head)
        return
    with pytest.raises(RecipeInvalid, match=f"there is none for {missing} ") as caught:
        planned(head)
    assert "write price: {input: …, output: …}" in str(caught.value)


def test_a_money_budget_of_a_step_needs_prices_too():
    text = recipe("models: x").replace("    do: read", "    do: read\n    budget: {money: 1}")

    with pytest.raises(RecipeInvalid, match="price of each model"):
        compile_plan(parse_recipe(text))


def test_the_examples_of_the_documentation_are_right():
    text = (Path(__file__).parents[3] / "docs/models.md").read_text("utf-8")
    heads = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert [planned(head).models.planner is not None for head in heads] == [True, True]

    (toml,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    table = tomllib.loads(toml)["models"]
    del table["base_url"]  # taken out by the settings
    assert set(models_of_settings(table, "webagent.toml").named) == {"planner", "reader"}
