"""A commit is sent once: counted at the server."""

from __future__ import annotations

import asyncio

import pytest

from tests.browser.pages import Answer, PageServer, html
from tests.browser.rig import Rig, click, commit, fill, press
from webagent.core.action import Commit, CommitAction

URL = "http://odd.test/"
FORM = "<form method=post action=/order><input name=n value=1><button>Order</button></form>"


async def show(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    pages.pages["/order"] = html("<h1>Thanks</h1>")
    await rig.goto(URL)


async def quiet() -> None:
    """Longer than the latest double of these pages (800 ms)."""
    await asyncio.sleep(1.0)


DOUBLES = {
    "form twice": FORM + "<script>document.querySelector('form').onsubmit=e=>{"
    "setTimeout(()=>e.target.submit(),{ms})}</script>",
    "fetch twice": '<button onclick="go();setTimeout(go,{ms})">Order</button><script>function go(){'
    "fetch('/order',{{method:'POST',body:'n=1'}}).catch(()=>{{}})}}</script>",
    "xhr twice": '<button onclick="go();setTimeout(go,{ms})">Order</button><script>function go(){'
    "const x=new XMLHttpRequest();x.open('POST','/order');x.send('n=1')}</script>",
    "beacon twice": '<button onclick="go();setTimeout(go,{ms})">Order</button><script>'
    "function go(){navigator.sendBeacon('/order','n=1')}</script>",
}


@pytest.mark.parametrize("ms", [0, 50, 800])
@pytest.mark.parametrize("kind", sorted(DOUBLES))
async def test_a_page_that_orders_twice_orders_once(
    rig: Rig, pages: PageServer, kind: str, ms: int
) -> None:
    body = DOUBLES[kind].replace("{{", "{").replace("}}", "}").replace("{ms}", str(ms))
    await show(rig, pages, body)
    await rig.do(commit('button "Order"'))
    await quiet()
    assert pages.hits("/order", "POST") == 1


async def test_what_was_held_is_told(rig: Rig, pages: PageServer) -> None:
    body = DOUBLES["fetch twice"].replace("{{", "{").replace("}}", "}").replace("{ms}", "0")
    await show(rig, pages, body)
    outcome = await rig.do(commit('button "Order"'))
    await quiet()
    refusals = outcome.happened.refusals + (await rig.tab.happened()).happened.refusals
    assert [r.rule for r in refusals] == ["the commit's request had gone out already"]
    assert outcome.failure is None


async def test_other_writes_pass(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<button onclick=\"for(const p of ['/a','/b','/order'])fetch(p,{method:'POST',body:'1'})\">"
        "Order</button>",
    )
    await rig.ok(commit('button "Order"'))
    await quiet()
    assert [pages.hits(p, "POST") for p in ("/a", "/b", "/order")] == [1, 1, 1]


async def test_a_named_request_goes_once_whatever_its_body(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<button onclick=\"for(const n of [1,2])fetch('/order?t='+n,{method:'POST',body:''+n})"
        '.catch(()=>{})">Order</button>',
    )
    await rig.ok(commit('button "Order"', "POST **/order?t=*"))
    await quiet()
    assert pages.hits("/order", "POST") == 1


@pytest.mark.parametrize(
    "inner",
    [
        click('button "Order"'),
        press("Enter", {"label": "Name"}),
    ],
    ids=lambda action: action.verb,
)
async def test_a_commit_by_click_or_key_arrives_and_settles(
    rig: Rig, pages: PageServer, inner: CommitAction
) -> None:
    await show(
        rig,
        pages,
        "<form method=post action=/order><label>Name <input name=n></label><button>Order</button>"
        "</form>",
    )
    await rig.ok(fill({"label": "Name"}, "x"))
    outcome = await rig.ok(Commit(action=inner))
    assert pages.hits("/order", "POST") == 1
    assert outcome.happened.writes == ("POST http://odd.test/order",)
    assert (await rig.tab.observe()).url == URL + "order"


async def test_a_commit_whose_answer_hangs_is_dispatched_and_not_sent_again(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    pages.pages["/order"] = html("late", gate=asyncio.Event())
    outcome = await rig.do(commit('button "Order"'), deadline=1)
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"
    assert outcome.failure.dispatched == "yes"
    assert pages.hits("/order", "POST") == 1


async def test_a_commit_that_the_site_refuses_is_no_failure_of_the_browser(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    pages.pages["/order"] = Answer("<h1>No</h1>", 422, {"Content-Type": "text/html"})
    outcome = await rig.ok(commit('button "Order"'))
    assert [r.status for r in outcome.happened.responses] == [422]


async def test_a_missing_commit_button_spends_nothing(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, FORM)
    outcome = await rig.do(commit('button "Buy"'), deadline=0.4)
    assert outcome.failure is not None
    assert outcome.failure.dispatched == "no"
    assert rig.dispatched == ["goto"]


async def test_a_commit_that_is_redirected_as_a_post_arrives(rig: Rig, pages: PageServer) -> None:
    """A 307 sends the same POST on: to another address, or to the same one with a cookie set."""
    await show(rig, pages, FORM)
    pages.pages["/order"] = Answer("", 307, {"Location": "/order2"})
    pages.pages["/order2"] = html("<h1>Thanks</h1>")
    await rig.ok(commit('button "Order"'))
    assert pages.hits("/order2", "POST") == 1


async def test_a_double_submit_in_a_popup_is_held_too(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        FORM
        + "<script>document.querySelector('form').onsubmit=e=>{const f=e.target.cloneNode(true);"
        "f.target='_blank';document.body.append(f);setTimeout(()=>f.submit(),100)}</script>",
    )
    await rig.do(commit({"role": "button", "name": "Order", "nth": 0}))
    await quiet()
    assert pages.hits("/order", "POST") == 1


@pytest.mark.parametrize("yes", [True, False])
async def test_a_runner_that_was_taken_over_sends_nothing(
    rig: Rig, pages: PageServer, yes: bool
) -> None:
    await show(rig, pages, FORM)
    asked: list[int] = []

    async def may_send() -> bool:
        asked.append(pages.hits("/order", "POST"))
        return yes

    async def dispatched() -> None:
        return None

    outcome = await rig.tab.perform(
        commit('button "Order"'), deadline=3, dispatched=dispatched, may_send=may_send
    )
    await quiet()
    assert pages.hits("/order", "POST") == int(yes)
    assert asked == [0]
    refusals = outcome.happened.refusals + (await rig.tab.happened()).happened.refusals
    assert [r.rule for r in refusals] == ([] if yes else ["another runner has taken this run over"])
