"""Tables are read by their header, spans and all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from webagent.core.action import TableRead
from webagent.core.target import parse_target
from webagent.extractors.tables import read_table
from webagent.extractors.typed import Reading

HOW = Reading(datetime(2026, 11, 30, tzinfo=UTC), base_url="http://a.test/")


def table(html: str, **more: Any) -> tuple[list[Any], list[Any]]:
    return read_table(TableRead(table=parse_target("table"), **more), html, HOW)


def test_the_header_is_thead_or_the_first_row() -> None:
    body = "<tr><td>1<td>2</tr>"
    for head in ("<thead><tr><th>A<th>B</thead>", "<tr><th>A<th>B</tr>", "<tr><td>A<td>B</tr>"):
        assert table(f"<table>{head}{body}</table>") == ([{"A": "1", "B": "2"}], [])


def test_spanned_cells_count_wherever_they_reach() -> None:
    html = (
        "<table><tr><th>Day<th>Hour<th>What</tr><tr><td rowspan=2>Mon<td>9<td>a</tr>"
        "<tr><td>10<td>b</tr><tr><td>Tue<td colspan=2>free</tr></table>"
    )
    good, bad = table(html)
    assert bad == []
    assert [tuple(row.values()) for row in good] == [
        ("Mon", "9", "a"),
        ("Mon", "10", "b"),
        ("Tue", "free", "free"),
    ]


def test_two_header_rows_are_joined() -> None:
    html = (
        "<table><thead><tr><th rowspan=2>Name<th colspan=2>Price</tr><tr><th>net<th>gross</tr>"
        "</thead><tr><td>a<td>1<td>2</tr></table>"
    )
    assert table(html)[0] == [{"Name": "a", "Price net": "1", "Price gross": "2"}]


def test_empty_and_repeated_headers_are_numbered() -> None:
    html = "<table><tr><th>A<th><th>A</tr><tr><td>1<td>2<td>3</tr></table>"
    assert table(html)[0] == [{"A": "1", "column 2": "2", "A (3)": "3"}]


def test_rows_that_do_not_fit_are_bad() -> None:
    html = (
        "<table><tr><th>A<th>B</tr><tr><td>1</tr><tr><td>1<td>2<td>3</tr><tr><td>x<td>2</tr>"
        "<tr><td>1<td>2</tr></table>"
    )
    good, bad = table(html, types={"A": "number"})
    assert good == [{"A": 1, "B": "2"}]
    assert [row["reasons"] for row in bad] == [
        {"B": "the row has no such cell"},
        {"row": "1 cells more than the header"},
        {"A": "no number in 'x'"},
    ]


def test_tables_inside_cells_are_not_rows() -> None:
    html = "<table><tr><th>A</tr><tr><td><table><tr><td>in</table></tr></table>"
    assert table(html)[0] == [{"A": "in"}]


def test_hidden_rows_are_left_out_and_row_headers_are_cells() -> None:
    html = (
        "<table><tr><th>A<th>B</tr><tr data-webagent-hidden><td>t<td>t</tr>"
        "<tr><th scope=row>1<td>2</tr></table>"
    )
    assert table(html)[0] == [{"A": "1", "B": "2"}]


def test_links_and_new_names() -> None:
    html = "<table><tr><th>Name</tr><tr><td><a href=/x>a</a></tr></table>"
    assert table(html, columns={"Name": "link"}, types={"link": "url"})[0] == [
        {"link": "http://a.test/x"}
    ]


@pytest.mark.parametrize("html", ["<table></table>", "<table><tr><th>A</tr></table>"])
def test_an_unknown_column_or_no_header_is_an_error(html: str) -> None:
    with pytest.raises(ValueError, match=r"column|header"):
        table(html, types={"B": "number"})


def test_a_huge_span_is_bounded() -> None:
    html = "<table><tr><th>A</tr><tr><td colspan=99999999>1</tr></table>"
    _, bad = table(html)
    assert len(bad) == 1
