"""What is seen for each expectation, and how it is judged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.pages import PageServer, html
from tests.browser.rig import Rig, click, fill, target
from webagent.core.expect import (
    Bounds,
    CountIs,
    ElementAbsent,
    ElementShown,
    Expectation,
    OutputIs,
    ResponseCame,
    RowsAre,
    StatusIs,
    TextShown,
    TitleIs,
    UrlIs,
    ValueIs,
    judge,
)
from webagent.core.target import Target

URL = "http://odd.test/"
BODY = """
<h1 style="text-transform:uppercase">Thank <b>you</b></h1><p hidden>Secret words</p>
<table aria-label=Basket><thead><tr><th>Name<tbody><tr><td>Cable<tr><td>Plug
<tr hidden><td>Template</table>
<ul id=l><li>One<li>Two<li hidden>Three</ul><div role=list id=d><p role=listitem>a</p></div>
<b class=total>$ 12.50</b><label>Mail <input value=a@b.c></label>
<select aria-label=Size><option>S<option selected>M</select>
<input type=checkbox aria-label=Ok checked>
<button>A</button><button>B</button><button hidden>C</button>
"""


def at(raw: object) -> Target:
    return target(raw)


def is_(**bounds: Any) -> Bounds:
    return Bounds(**bounds)


CASES: list[tuple[Expectation, str]] = [
    (UrlIs(glob="**/here"), "met"),
    (UrlIs(glob="/here"), "met"),
    (UrlIs(glob="**/there"), "unmet"),
    (TitleIs(glob="A page"), "met"),
    (TitleIs(glob="B*"), "unmet"),
    (TextShown(text="Thank you"), "met"),
    (TextShown(text="Secret words"), "unmet"),
    (TextShown(text="Cable", within=target('table "Basket"')), "met"),
    (TextShown(text="One", within=target('table "Basket"')), "unmet"),
    (ElementShown(target=at('button "A"')), "met"),
    (ElementShown(target=at("button[hidden]")), "unmet"),
    (ElementAbsent(target=at("button[hidden]")), "met"),
    (ElementAbsent(target=at('button "A"')), "unmet"),
    (CountIs(target=at("button"), bounds=is_(equals=2)), "met"),
    (CountIs(target=at("button"), bounds=is_(min=3)), "unmet"),
    (RowsAre(target=at('table "Basket"'), bounds=is_(equals=2)), "met"),
    (RowsAre(target=at("#l"), bounds=is_(equals=2)), "met"),
    (RowsAre(target=at("#d"), bounds=is_(equals=1)), "met"),
    (RowsAre(target=at("#l li"), bounds=is_(equals=2)), "met"),
    (RowsAre(target=at("#none"), bounds=is_(min=1)), "unmet"),
    (ValueIs(target=at(".total"), bounds=is_(max=15)), "met"),
    (ValueIs(target=at(".total"), bounds=is_(max=10)), "unmet"),
    (ValueIs(target=at({"label": "Mail"}), bounds=is_(equals="a@b.c")), "met"),
    (ValueIs(target=at({"label": "Size"}), bounds=is_(equals="M")), "met"),
    (ValueIs(target=at('checkbox "Ok"'), bounds=is_(equals="true")), "met"),
    (ValueIs(target=at("button"), bounds=is_(equals="A")), "unmet"),
    (StatusIs(codes=("2xx",)), "met"),
    (StatusIs(codes=("404",)), "unmet"),
    (ResponseCame(glob="**/here", method="GET"), "met"),
    (ResponseCame(glob="**/api"), "met"),
    (ResponseCame(glob="**/api", method="POST"), "unmet"),
    (OutputIs(name="x", bounds=Bounds(equals=1)), "met"),
]


@pytest.fixture
async def shown(rig: Rig, pages: PageServer) -> Rig:
    pages.pages["/api"] = html("{}")
    pages.pages["/here"] = html(BODY + "<script>fetch('/api').then(()=>ok=1)</script>")
    await rig.goto(URL + "here")
    await rig.tab.pages[0].wait_for_function("() => window.ok")
    return rig


async def test_each_expectation_is_judged_by_what_is_on_the_page(shown: Rig) -> None:
    findings = await shown.tab.examine([expected for expected, _ in CASES])
    wrong = [
        (expected, finding)
        for (expected, wanted), finding in zip(CASES, findings, strict=True)
        if judge(expected, finding, {"x": 1}).judgement != wanted
    ]
    assert wrong == []


async def test_a_selector_that_does_not_parse_is_an_error_not_an_answer(shown: Rig) -> None:
    expected = ElementAbsent(target=target("button["))
    (finding,) = await shown.tab.examine((expected,))
    assert finding.error
    assert judge(expected, finding, {}).judgement == "unknown"


async def test_text_in_frames_and_shadow_roots_is_seen(rig: Rig, pages: PageServer) -> None:
    pages.pages["/in"] = html("<p>In the frame</p>")
    pages.pages["/"] = html(
        "<iframe src=/in></iframe><div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML="
        "'<p>In the shadow</p>'</script>"
    )
    await rig.goto(URL)
    await rig.tab.stirred(0.3)
    found = await rig.tab.examine((TextShown(text="In the frame"), TextShown(text="In the shadow")))
    assert [f.count for f in found] == [1, 1]


async def test_looking_does_not_wait(shown: Rig) -> None:
    import time

    began = time.monotonic()
    await shown.tab.examine((ElementShown(target=target('button "Never"')),))
    assert time.monotonic() - began < 5  # it does not wait


async def test_a_change_is_noticed_and_no_change_ends(rig: Rig, pages: PageServer) -> None:
    import time

    pages.pages["/"] = html("<script>setTimeout(()=>document.body.append('x'),300)</script>")
    await rig.goto(URL)
    began = time.monotonic()
    await rig.tab.stirred(5)
    assert time.monotonic() - began < 8
    began = time.monotonic()
    await rig.tab.stirred(0.3)
    assert 0.2 < time.monotonic() - began < 5


async def test_a_spinning_page_is_an_error_in_time(rig: Rig, pages: PageServer) -> None:
    pages.pages["/"] = html('<button onclick="setTimeout(()=>{for(;;);},30)">Spin</button>')
    await rig.goto(URL)
    await rig.ok(click('button "Spin"'))
    await rig.tab.stirred(0.2)
    (finding,) = await rig.tab.examine((TextShown(text="x"),))
    assert finding.error == "the page does not answer"


async def test_form_values_are_read_by_name_with_passwords_masked(
    rig: Rig, pages: PageServer
) -> None:
    pages.pages["/"] = html(
        "<form><label>Name <input></label><label>Name <input value=two></label>"
        "<label>Pass <input type=password value=geheim></label>"
        "<label>Size <select><option>S<option selected>M</select></label>"
        "<label><input type=checkbox checked> Agree</label>"
        "<fieldset><legend>Pay</legend><label><input type=radio name=p> Card</label>"
        "<label><input type=radio name=p checked> Cash</label></fieldset>"
        "<input type=hidden name=token value=t></form>"
    )
    await rig.goto(URL)
    await rig.ok(fill({"label": "Name", "nth": 0}, "Ada"))
    assert await rig.tab.read_form() == {
        "Name": "Ada",
        "Name (2)": "two",
        "Pass": "•••",
        "Size": "M",
        "Agree": True,
        "Pay": "Cash",
    }
