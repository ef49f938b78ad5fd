"""Values, rows and tables come off the page typed, complete, and with their bad rows apart."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.pages import PageServer, html
from tests.browser.rig import Rig, field_of, read, rows_of, target
from webagent.core.action import FieldRead, Pages, TableRead
from webagent.core.page import Failure

URL = "http://odd.test/"

BODY = """
<h1> Two
 words </h1><p class=n>1.234,50 pieces</p><p class=m>only $ 1,234.50 today</p>
<p class=d>2026-11-30</p>
<p class=r>yesterday</p><a class=u href=/deep?x=1>More</a><p class=b>Yes</p><img class=i src=a.png>
<input class=f value=typed><input class=c type=checkbox checked><p class=h>a <b>b</b></p>
<p class=x>abc</p><p class=e></p><p class=s>shown<span style="display:none"> hidden</span></p>
"""


async def show(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    await rig.goto(URL)


async def value(rig: Rig, spec: Any) -> Any:
    return (await rig.ok(read(x=spec))).values["x"]


async def failed(rig: Rig, spec: Any, deadline: float = 0.5) -> Failure:
    outcome = await rig.do(read(x=spec), deadline)
    assert outcome.failure is not None
    assert outcome.values == {}
    return outcome.failure


@pytest.mark.parametrize(
    "raw, more, wanted",
    [
        ("h1", {}, "Two words"),
        ('heading "Two"', {}, "Two words"),
        (".m", {"type": "money"}, {"amount": 1234.5, "currency": "$"}),
        (".n", {"type": "number"}, 1234.5),
        (".d", {"type": "date"}, "2026-11-30"),
        (".r", {"type": "date"}, "2026-11-29"),
        (".u", {"type": "url"}, URL + "deep?x=1"),
        (".u", {"attr": "href"}, URL + "deep?x=1"),
        (".i", {"attr": "src"}, URL + "a.png"),
        (".b", {"type": "boolean"}, True),
        (".c", {"type": "boolean"}, True),
        (".f", {}, "typed"),
        (".h", {"type": "html"}, '<p class="h">a <b>b</b></p>'),
        (".s", {}, "shown"),
        (".none", {"optional": True}, None),
        (".u", {"attr": "nope", "optional": True}, None),
        (None, {"fixed": True, "value": 7}, 7),
    ],
)
async def test_one_value_is_read_and_typed(
    rig: Rig, pages: PageServer, raw: object, more: dict[str, Any], wanted: object
) -> None:
    await show(rig, pages, BODY)
    assert await value(rig, field_of(raw, **more)) == wanted


async def test_what_is_absent_is_missing(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, BODY)
    assert (await failed(rig, field_of(".none"))).kind == "target_missing"
    assert (await failed(rig, field_of(".u", attr="nope"))).kind == "target_missing"


@pytest.mark.parametrize("kind", ["number", "money", "date", "boolean", "url"])
async def test_a_value_of_another_type_is_an_invalid_read(
    rig: Rig, pages: PageServer, kind: str
) -> None:
    await show(rig, pages, BODY)
    failure = await failed(rig, field_of(".x", type=kind))
    assert failure.kind == "invalid_read"
    assert "abc" in failure.message


async def test_several_are_ambiguous(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<b>1</b><b>2</b>")
    assert (await failed(rig, field_of("b"))).kind == "target_ambiguous"


LIST = """
<ul><li class=p><a href=/1>Cable</a><b class=price>$1.00</b></li>
<li class=p><a href=/2>Plug</a> <b class=price>call us</b></li>
<li class=p><a href=/3>Wire</a></li>
<li class=p><a href=/1>Cable again</a><b class=price>$2.00</b></li>
<li class=p><a href=/4>Lamp</a><b class=price>$3.00</b></li>
<li class=p style="display:none"><a href=/t>Template</a></li></ul>
"""


async def test_rows_are_read_and_bad_ones_stand_apart(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, LIST)
    spec = rows_of(
        "li.p",
        key="link",
        title=field_of("a"),
        price=field_of(".price", type="money"),
        link=field_of("a", attr="href"),
        site=FieldRead(fixed=True, value="odd"),
    )
    outcome = await rig.ok(read(x=spec))
    assert [row["title"] for row in outcome.values["x"]] == ["Cable", "Lamp"]
    assert outcome.values["x"][0] == {
        "title": "Cable",
        "price": {"amount": 1.0, "currency": "$"},
        "link": URL + "1",
        "site": "odd",
    }
    bad = outcome.values["x_bad"]
    assert [row["reasons"] for row in bad] == [
        {"price": "no amount in 'call us'"},
        {"price": ".price is not there"},
        {"link": "the key 'http://odd.test/1' is there already"},
    ]
    assert bad[0]["raw"] == "Plug call us"
    assert "1 hidden elements left out" in outcome.note


async def test_an_optional_field_may_be_absent(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, LIST)
    spec = rows_of("li.p", title=field_of("a"), price=field_of(".price", optional=True))
    outcome = await rig.ok(read(x=spec))
    assert [row["price"] for row in outcome.values["x"]] == [
        "$1.00",
        "call us",
        None,
        "$2.00",
        "$3.00",
    ]
    assert outcome.values["x_bad"] == []


async def test_a_list_that_holds_nothing_is_empty(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<p>No orders yet</p>")
    outcome = await rig.ok(read(x=rows_of("li.order", n=field_of())))
    assert outcome.values == {"x": [], "x_bad": []}
    assert outcome.ms < 3000


async def test_rows_that_come_late_are_waited_for(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<ul></ul><script>setTimeout(()=>{document.querySelector('ul').innerHTML='<li>One<li>Two'},"
        "400)</script>",
    )
    assert await value(rig, rows_of("li", n=field_of())) == [{"n": "One"}, {"n": "Two"}]


async def test_rows_in_shadow_roots_and_table_rows_are_read(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<x-row></x-row><table><tr class=t><td>1<td>2</table><script>"
        "customElements.define('x-row',class extends HTMLElement{constructor(){super();"
        "this.attachShadow({mode:'open'}).innerHTML='<b>deep</b>'}})</script>",
    )
    assert await value(rig, rows_of("x-row", n=field_of("b"))) == [{"n": "deep"}]
    cells = rows_of("tr.t", a=field_of("td:nth-child(1)"), b=field_of("td:nth-child(2)"))
    assert await value(rig, cells) == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    "raw",
    ['link "Cable"', {"role": "link"}, {"text": "Cable"}, {"xpath": ".//a"}, "a:has-text('Cable')"],
)
async def test_a_rows_field_may_be_named_in_any_way(
    rig: Rig, pages: PageServer, raw: object
) -> None:
    await show(rig, pages, "<ul><li>1 <a href=/1>Cable</a></ul>")
    assert await value(rig, rows_of("li", t=field_of(raw))) == [{"t": "Cable"}]


async def test_a_field_whose_selector_does_not_parse_is_invalid(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, "<ul><li>1</ul>")
    assert (await failed(rig, rows_of("li", t=field_of("a[")))).kind == "invalid"


TABLE = """
<table aria-label=Prices><thead><tr><th>Name<th>Price<th>Since</thead>
<tr><td>Cable<td>$1.00<td>2026-01-02<tr><td>Plug<td>free<td>2026-01-03</table>
"""


async def test_a_table_is_read_by_its_header(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, TABLE)
    spec = TableRead(
        table=target('table "Prices"'),
        types={"Price": "money", "since": "date"},
        columns={"Name": "name", "Since": "since"},
    )
    outcome = await rig.ok(read(x=spec))
    assert outcome.values["x"] == [
        {"name": "Cable", "Price": {"amount": 1.0, "currency": "$"}, "since": "2026-01-02"}
    ]
    assert outcome.values["x_bad"][0]["reasons"] == {"Price": "no amount in 'free'"}


async def test_a_column_that_is_not_there_is_invalid(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, TABLE)
    failure = await failed(rig, TableRead(table=target("table"), types={"Prize": "money"}))
    assert failure.kind == "invalid"
    assert "Name, Price, Since" in failure.message


async def test_a_missing_table_is_missing(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "nothing")
    failure = await failed(rig, TableRead(table=target("table")), deadline=1.5)
    assert failure.kind == "target_missing"


def page_of(number: int, last: int) -> str:
    rows = "".join(f"<li class=p>{number}-{i}</li>" for i in (1, 2))
    more = f'<a href="/p{number + 1}">Next</a>' if number < last else ""
    return f"<ul>{rows}</ul>{more}"


@pytest.mark.parametrize(
    "pages_, count, note",
    [
        ({"max": 10}, 6, ""),
        ({"max": 2}, 4, "there are more"),
        ({"max": 10, "until": "page == 2"}, 4, ""),
        ({"max": 10, "until": "n == '1-2'"}, 2, ""),
        ({"max": 10, "until": "rows | length >= 6"}, 6, ""),
    ],
)
async def test_pages_are_turned_to_the_end_or_as_far_as_said(
    rig: Rig, pages: PageServer, pages_: dict[str, Any], count: int, note: str
) -> None:
    for number in (1, 2, 3):
        pages.pages[f"/p{number}"] = html(page_of(number, 3), after=0.1)
    await rig.goto(URL + "p1")
    paging = Pages(next=target('link "Next"'), **pages_)
    outcome = await rig.ok(read(x=rows_of("li.p", pages=paging, n=field_of())))
    assert len(outcome.values["x"]) == count
    assert note in outcome.note


async def test_pages_turned_in_place_are_read_once_each(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        '<ul></ul><button onclick="setTimeout(()=>fill(++n),200)">Next</button><script>let n=1;'
        "function fill(k){document.querySelector('ul').innerHTML=`<li>${k}a<li>${k}b`;"
        "document.querySelector('button').disabled=k===3}fill(1)</script>",
    )
    paging = Pages(next=target('button "Next"'))
    values = await value(rig, rows_of("li", pages=paging, n=field_of()))
    assert [row["n"] for row in values] == ["1a", "1b", "2a", "2b", "3a", "3b"]


async def test_a_next_that_changes_nothing_is_a_timeout(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<ul><li>1</ul><button>Next</button>")
    failure = await failed(
        rig, rows_of("li", pages=Pages(next=target("button")), n=field_of()), deadline=0.8
    )
    assert failure.kind == "timeout"
    assert "stayed the same" in failure.message
