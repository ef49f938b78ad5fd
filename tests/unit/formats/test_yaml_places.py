"""YAML with places: values by YAML 1.2's core schema, positions from 1, limits kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.formats.document import Node, Report
from webagent.formats.yaml_places import compose, resolve


def read(text: str) -> Node:
    """The tree of a text without faults."""
    report = Report("x.yaml")
    node = compose(text, report)
    assert report.problems == []
    assert node is not None
    return node


@pytest.mark.parametrize(
    "text, value",
    [
        ("true", True), ("False", False), ("null", None), ("~", None), ("yes", "yes"),
        ("NO", "NO"), ("1", 1), ("-7", -7), ("0", 0), ("0x1F", 31), ("0o17", 15), ("1.5", 1.5),
        (".5", 0.5), ("1e3", 1000.0), ("1e400", "1e400"), (".inf", ".inf"), ("1_000", "1_000"),
        ("2026-11-30", "2026-11-30"), ("1:30", "1:30"), ("9" * 40, "9" * 40),
    ],
)  # fmt: skip
def test_a_plain_scalar_has_its_value(text: str, value: Any) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


def test_parts_know_their_places() -> None:
    node = read("a: 1\nb:\n  - x\n  - {c: 'y'}\n")
    assert (node.line, node.column) == (1, 1)
    key, items = node.pairs[1]
    assert (key.line, key.column) == (2, 1)
    assert [(item.line, item.column) for item in items.items] == [(3, 5), (4, 5)]
    inner = items.items[1].get("c")
    assert inner is not None
    assert (inner.line, inner.column, inner.plain) == (4, 9, False)


def test_the_data_are_as_yaml_says() -> None:
    assert read("a: [1, '1', ~]\n").plain_value() == {"a": [1, "1", None]}
    assert read("t: |\n  two\n  lines\n").plain_value() == {"t": "two\nlines\n"}


def test_an_alias_stands_for_its_anchor_and_merge_does_not_override() -> None:
    node = read("base: &b {x: 1, y: 2}\none: *b\ntwo: {<<: *b, y: 3}\nlist: {<<: [*b, {z: 4}]}\n")
    assert node.plain_value() == {
        "base": {"x": 1, "y": 2}, "one": {"x": 1, "y": 2}, "two": {"y": 3, "x": 1},
        "list": {"x": 1, "y": 2, "z": 4},
    }  # fmt: skip


def test_all_duplicate_keys_are_told_at_once() -> None:
    report = Report("x.yaml")
    compose("a: 1\na: 2\nb: {c: 1, c: 2}\n", report)
    assert [(p.line, p.column) for p in report.problems] == [(2, 1), (3, 11)]


@given(st.text(max_size=200))
def test_any_text_is_a_tree_or_a_problem(text: str) -> None:
    report = Report("x.yaml")
    node = compose(text, report)
    assert node is not None or report.problems or not text.strip() or "#" in text or "-" in text


TEXT = st.text(st.characters(codec="ascii"), max_size=20)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
        max_leaves=20,
    )
)
def test_json_is_read_as_itself(value: Any) -> None:
    assert read(json.dumps(value)).plain_value() == value
