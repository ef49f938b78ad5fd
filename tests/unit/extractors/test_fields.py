"""Rows are good or bad; none is lost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from webagent.core.action import FieldRead, ListRead
from webagent.core.target import parse_target
from webagent.extractors.fields import read_rows, unique
from webagent.extractors.typed import Reading

HOW = Reading(datetime(2026, 11, 30, tzinfo=UTC), base_url="http://a.test/list")


def field(raw: object = None, **more: Any) -> FieldRead:
    return FieldRead(target=None if raw is None else parse_target(raw), **more)


def rows(html: list[str], **fields: FieldRead) -> tuple[list[Any], list[Any]]:
    return read_rows(ListRead(each=parse_target("li"), fields=fields), html, HOW)


def test_a_field_without_a_target_is_the_row_itself() -> None:
    assert rows(["<li data-id=7>One</li>"], t=field(), i=field(attr="data-id")) == (
        [{"t": "One", "i": "7"}],
        [],
    )


def test_the_first_shown_match_is_the_field() -> None:
    html = "<li><b data-webagent-hidden>old</b><b>new</b><b>newer</b></li>"
    assert rows([html], t=field("b"))[0] == [{"t": "new"}]


def test_controls_and_stamps_give_their_values() -> None:
    html = (
        "<li><input class=t value=v><input class=c type=checkbox checked><select><option>A"
        "<option selected>B</select><time datetime=2026-01-02>Friday</time>"
        "<meta itemprop=price content=3.50></li>"
    )
    good, bad = rows(
        [html],
        t=field(".t"),
        c=field(".c", type="boolean"),
        s=field("select"),
        d=field("time", type="date"),
        p=field("meta", type="money"),
    )
    assert bad == []
    assert good == [
        {"t": "v", "c": True, "s": "B", "d": "2026-01-02", "p": {"amount": 3.5, "currency": None}}
    ]


def test_addresses_come_out_absolute() -> None:
    html = "<li><a href=/x>x</a><img src=i.png></li>"
    good, _ = rows(
        [html], h=field("a", attr="href"), u=field("a", type="url"), s=field("img", attr="src")
    )
    assert good == [{"h": "http://a.test/x", "u": "http://a.test/x", "s": "http://a.test/i.png"}]


def test_a_bad_row_says_why_and_keeps_what_was_read() -> None:
    good, bad = rows(
        ["<li><b>One</b></li>"], t=field("b"), p=field("i"), n=field("b", type="number")
    )
    assert good == []
    assert bad == [
        {
            "row": 0,
            "reasons": {"p": "i is not there", "n": "no number in 'One'"},
            "raw": "One",
            "values": {"t": "One"},
        }
    ]


@given(st.lists(st.sampled_from(["<li><b>1</b></li>", "<li><b>x</b></li>", "<li></li>"])))
def test_every_row_comes_back_once(html: list[str]) -> None:
    good, bad = rows(html, n=field("b", type="number"))
    assert len(good) + len(bad) == len(html)


@given(st.lists(st.one_of(st.none(), st.integers(0, 3))))
def test_keys_are_unique_and_no_row_is_lost(keys: list[int | None]) -> None:
    good, bad = unique("k", [{"k": key} for key in keys])
    assert len(good) + len(bad) == len(keys)
    assert [row["k"] for row in good] == list(dict.fromkeys(k for k in keys if k is not None))
