"""Which drift is told from what happened and what the page looked like."""

from __future__ import annotations

from typing import Any

import pytest

from webagent.core.compile import compile_plan
from webagent.core.page import Failure, FailureKind, Observation
from webagent.core.request_rules import HEALED_RULE
from webagent.engine.classify import classify
from webagent.formats.recipe_yaml import parse_recipe

RECIPE = """
webagent: 1
id: drifts
steps:
  read:
    do: read
    segment: [{goto: http://a.test/}, {read: {title: h1, name: .name}}]
    expect: [output: title]
  named:
    do: fill
    segment: [{goto: http://a.test/}, {click: 'link "{{ read.name }}"'}]
    expect: {text: Done}
  fill:
    do: fill
    segment: [{goto: http://a.test/}, {click: .go}]
    expect: {text: Done}
"""
PLAN = compile_plan(parse_recipe(RECIPE))
OK = Observation(url="http://a.test/", status=200)
SIGN_IN = OK.model_copy(update={"sign_in": True})


def told(kind: FailureKind | None, seen: Observation = OK, step: str = "fill", **more: Any) -> str:
    message = more.pop("message", "it failed")
    failure = None if kind is None else Failure(kind=kind, message=message)
    index = None if failure is None else 1
    return classify(PLAN.step(step), seen, failure=failure, failed_index=index, **more).drift


def test_what_lies_over_the_target_is_an_unexpected_event():
    assert told("in_the_way") == "unexpected_event"


@pytest.mark.parametrize("kind", ["in_the_way", "target_missing"])
def test_what_is_not_there_while_the_page_loads_is_slow(kind: FailureKind):
    assert told(kind, OK.model_copy(update={"loading": True})) == "slow"


def test_a_heal_that_would_write_something_else_leaves_its_target_missing():
    rule = f"{HEALED_RULE} POST to /pets, which was not seen before"
    assert told("refused", message=f"the guard refused it: {rule}") == "target_missing"
    assert told("refused", message="a step of effect none sends no POST") == "unexpected_event"


def test_a_target_that_another_steps_value_names_is_stale_when_it_is_missing():
    assert told("target_missing", step="named") == "stale_input"
    assert told("target_missing", step="fill") == "target_missing"


def test_a_page_that_asks_to_sign_in_explains_what_is_missing():
    assert told("target_missing", SIGN_IN) == "signed_out"
    assert told(None, SIGN_IN) == "signed_out"


def test_a_page_that_offers_to_sign_in_explains_nothing_where_nobody_does():
    assert told("target_missing", SIGN_IN, signs_in=False) == "target_missing"
    assert told("in_the_way", SIGN_IN, signs_in=False) == "unexpected_event"


def test_a_site_that_says_401_asks_whoever_it_is():
    asked = OK.model_copy(update={"status": 401})
    assert told("target_missing", asked, signs_in=False) == "signed_out"


@pytest.mark.parametrize(
    "status, drift",
    [(404, "page_moved"), (410, "page_moved"), (403, "blocked_by_site"), (451, "blocked_by_site"),
     (429, "server_error"), (500, "server_error"), (503, "server_error")],
)  # fmt: skip
def test_what_the_site_says_of_itself_explains_more_than_what_is_missing(status: int, drift: str):
    assert told("target_missing", OK.model_copy(update={"status": status})) == drift


def test_a_lost_page_is_that_and_nothing_else():
    assert told("target_missing", Observation(alive=False, status=404)) == "page_lost"
