"""How a plan is shown: text for a person, data for a program, a graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from webagent.core.compile import compile_plan
from webagent.core.expect import Bounds
from webagent.core.plan import Plan
from webagent.core.show import (
    WorstCase,
    bounds_text,
    plan_json,
    plan_mermaid,
    plan_text,
    worst_case_text,
)
from webagent.formats.recipe_yaml import load_recipe, parse_recipe

EXAMPLE = Path(__file__).parents[1] / "formats" / "example" / "order.yaml"
CHAIN = """\
webagent: 1
id: wizard
inputs:
  people: {type: list, from: people.csv}
steps:
  first:
    do: fill
    segment: [goto: https://a.example/, click: .next]
    expect: {element: form}
  second:
    do: fill
    needs: [first]
    continues: first
    segment: [click: .next, read: {number: .no}]
    expect: {absent: .error, status: 2xx}
  either:
    do: read
    needs: {any: [first, second]}
    for_each: people
    key: item.name
    segment: [goto: "https://a.example/{{ second.number }}"]
    expect: [{count: {li: {min: 1, max: 3}}}, {download: "*.csv"}, {response: "**/api"}]
  asked: {do: ask, question: Is it right?}
"""


@pytest.fixture
def example() -> Plan:
    return compile_plan(load_recipe(EXAMPLE))


@pytest.fixture
def chain() -> Plan:
    return compile_plan(parse_recipe(CHAIN))


def test_the_text_says_for_each_step_what_it_is_and_needs(example: Plan) -> None:
    text = plan_text(example)
    assert text.startswith("cheaper-cable: Order the cheaper of two offers\n")
    assert "input query: string = usb-c cable" in text
    assert "secret password: only on https://shop-a.example" in text
    paragraph = text.split("\n\n")[5]
    assert paragraph.splitlines() == [
        "order_a  [submit, effect once]",
        "  goal: Order the chosen offer in shop A",
        "  needs: choose (implied), sign_in_a/login (its session)",
        "  session: sign_in_a/login",
        '  when: choose.site == "a"',
        "  once: order: {{ query }} {{ run.date }}",
        "  probe: tells whether it happened",
        "  segment: goto · click · click · commit · read",
        "  gives: order_number",
        "  expects text 'Thank you'",
        "  expects output order_number matches [0-9]+",
        '  before the commit rows of table "Basket" = 1',
        "  before the commit text '{{ choose.title }}'",
        "  before the commit value of .total ≤ {{ max_price + 5 }}",
    ]


def test_the_page_is_shown_apart_from_data(chain: Plan) -> None:
    text = plan_text(chain)
    assert "  needs: first\n  page: goes on where first left it\n" in text
    assert "  needs one of: first, second\n" in text
    assert "input people: list from people.csv" in text


def test_no_secret_value_or_source_is_shown(example: Plan) -> None:
    assert "SHOP_PASSWORD" not in plan_text(example)


def test_the_data_are_json_and_tell_why_a_step_is_needed(example: Plan, chain: Plan) -> None:
    data = plan_json(example)
    assert json.loads(json.dumps(data)) == data
    order = next(s for s in data["steps"] if s["path"] == "order_a")
    assert order["needs"] == [
        {"step": "choose", "why": "implied"},
        {"step": "sign_in_a/login", "why": "session"},
    ]
    assert plan_json(chain)["steps"][1]["needs"] == [{"step": "first", "why": "written"}]
    assert plan_json(chain)["steps"][0]["needed_by"] == ["second", "either"]


def test_the_graph_draws_data_pages_and_alternatives_differently(chain: Plan) -> None:
    lines = plan_mermaid(chain).splitlines()
    assert lines[0] == "flowchart TD"
    assert "  s0 == page ==> s1" in lines
    assert "  s0 -. any .-> s2" in lines
    assert '  s2["either<br/>read each"]' in lines
    assert '  s3(["asked<br/>ask"])' in lines
    assert "  class s0,s1 repeatable" in lines


def test_a_used_recipe_is_a_box_in_the_graph(example: Plan) -> None:
    graph = plan_mermaid(example)
    assert '  subgraph p_sign_in_a["sign_in_a"]\n    s0["login<br/>sign_in"]\n  end\n' in graph


@pytest.mark.parametrize(
    "bounds, text",
    [
        (Bounds(), "is there"),
        (Bounds(equals=3), "= 3"),
        (Bounds(min=1, max=2), "≥ 1 and ≤ 2"),
        (Bounds(matches="x+", type="string"), "matches x+ and is a string"),
    ],
)
def test_bounds_as_words(bounds: Bounds, text: str) -> None:
    assert bounds_text(bounds) == text


def test_the_worst_cases_are_a_table() -> None:
    row = WorstCase(
        step="a", steps=2, pages=60, seconds=240.0, tokens=0, effects="", entry="by URL"
    )
    head, line = worst_case_text((row,)).splitlines()
    assert " ".join(head.split()) == "step steps again pages seconds may reach entered"
    assert line.split() == ["a", "2", "60", "240", "none", "by", "URL"]
