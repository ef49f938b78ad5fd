"""Which targets an action looks for: what a sighting is kept of, and what may be missing."""

from __future__ import annotations

import pytest

from webagent.core.action import (
    Action,
    Click,
    Commit,
    Drag,
    Entry,
    FieldRead,
    Fill,
    Goto,
    ListRead,
    Pages,
    Press,
    Read,
    Scroll,
    Select,
    TableRead,
    reads_pages,
    targets_of,
)
from webagent.core.target import parse_target

A, B, C, D = (parse_target(f".{name}") for name in "abcd")
MANY = Pages(next=D)
PRICES = ListRead(each=A, fields={"price": FieldRead(target=B), "whole": FieldRead()})
RATES = TableRead(table=C)


@pytest.mark.parametrize(
    "action, names",
    [
        (Click(target=A), "a"),
        (Click(target=A, within=B, frame=C), "a"),
        (Commit(action=Click(target=A)), "a"),
        (Commit(action=Goto(url="http://a.test/")), ""),
        (Fill(entries=(Entry(target=B, value="1"), Entry(target=A, value="2"))), "ba"),
        (Select(entries=(Entry(target=C, value="1"),)), "c"),
        (Drag(target=A, to=B), "ab"),
        (Scroll(to=A), "a"),
        (Scroll(edge="top"), ""),
        (Press(key="Enter"), ""),
        (Press(key="Enter", target=A), "a"),
        (Goto(url="http://a.test/"), ""),
        (Read(outputs={"x": FieldRead(target=A), "y": FieldRead(value="1", fixed=True)}), "a"),
        (Read(outputs={"rows": PRICES}), "ab"),
        (Read(outputs={"rows": PRICES.model_copy(update={"pages": MANY}), "r": RATES}), "abdc"),
        (Read(outputs={"rates": RATES.model_copy(update={"pages": MANY})}), "cd"),
    ],
)  # fmt: skip
def test_an_action_looks_for_its_targets_in_the_order_of_its_fields(action: Action, names: str):
    assert [str(target) for target in targets_of(action)] == [f".{name}" for name in names]


@pytest.mark.parametrize(
    "segment, goes_on",
    [
        ((), False),
        ((Click(target=D),), False),
        ((Read(outputs={"x": FieldRead(target=A)}),), False),
        ((Read(outputs={"rows": PRICES, "rates": RATES}),), False),
        ((Read(outputs={"rows": PRICES.model_copy(update={"pages": MANY})}),), True),
        ((Click(target=A), Read(outputs={"r": RATES.model_copy(update={"pages": MANY})})), True),
    ],
)
def test_only_a_read_over_several_pages_goes_on(segment: tuple[Action, ...], goes_on: bool):
    assert reads_pages(segment) is goes_on
