"""The word goes out before the input; and Playwright's texts tell what had been sent.

The texts are no API: a new Playwright must pass these before it is pinned.
"""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Error

from tests.browser.pages import PageServer, html
from tests.browser.rig import Rig, click, commit, fill, press, select, target
from webagent.core.action import Action, Check, Drag, Goto
from webagent.executors.browser.faults import click_dispatch

URL = "http://odd.test/"


async def show(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    await rig.goto(URL)


@pytest.mark.parametrize(
    "action",
    [
        click('button "Send"'),
        commit('button "Send"'),
        press("Enter", 'button "Send"'),
        Check(target=target("[type=checkbox]")),
        select("select", "B"),
        fill({"label": "Text"}, "x"),
        Drag(target=target('button "Send"'), to=target("select")),
        Goto(url=URL + "sent-goto"),
    ],
    ids=lambda action: action.verb,
)
async def test_nothing_is_sent_before_the_word_is_out(
    rig: Rig, pages: PageServer, action: Action
) -> None:
    """Each event of the page would be counted at the server."""
    # A path of its own: a beacon of the test before may still be on its way.
    path = f"/sent-{action.verb}"
    body = (
        f"<form action={path}><button>Send</button><input type=checkbox><input aria-label=Text>"
        "<select><option>A<option>B</select></form><script>for(const t of "
        "['pointerdown','mousedown','click','input','change','keydown','dragstart','submit'])"
        "addEventListener(t,()=>{document.title='touched';navigator.sendBeacon('PATH')},true)"
        "</script>"
    ).replace("PATH", path)
    pages.pages[path] = html("sent")
    await show(rig, pages, body)
    before: list[int] = []
    titles: list[str] = []

    async def dispatched() -> None:
        # Long enough for a premature event to be seen.
        await asyncio.sleep(0.15)
        before.append(pages.hits(path))
        titles.append((await rig.tab.observe()).title)

    outcome = await rig.tab.perform(action, deadline=5, dispatched=dispatched)
    assert outcome.failure is None
    assert before == [0]
    assert titles == ["A page"]
    for _ in range(20):
        if pages.hits(path):
            break
        await asyncio.sleep(0.05)
    assert pages.hits(path) > 0


async def test_a_word_that_raises_stops_the_action(rig: Rig, pages: PageServer) -> None:
    """Such as a lost lease: the input must not go out, and the error is the caller's."""
    await show(rig, pages, "<form action=/sent><button>Send</button></form>")

    async def dispatched() -> None:
        raise LookupError("the lease is lost")

    with pytest.raises(LookupError):
        await rig.tab.perform(click('button "Send"'), deadline=5, dispatched=dispatched)
    assert pages.hits("/sent") == 0


async def test_the_time_of_the_word_does_not_count(rig: Rig, pages: PageServer) -> None:
    pages.pages["/sent"] = html("<h1>Sent</h1>")
    await show(rig, pages, "<form action=/sent><button>Send</button></form>")

    async def dispatched() -> None:
        await asyncio.sleep(2.8)

    outcome = await rig.tab.perform(commit('button "Send"'), deadline=1, dispatched=dispatched)
    assert outcome.failure is None
    assert pages.hits("/sent") == 1


HELD = {
    "disabled": "<button disabled>Send</button>",
    "hidden": "<button style='visibility:hidden'>Send</button>",
    "covered": "<button>Send</button><div style='position:fixed;inset:0'></div>",
    "moving": (
        "<style>@keyframes m{to{margin-left:300px}}</style>"
        "<button style='animation:m .2s infinite alternate linear'>Send</button>"
    ),
}


@pytest.mark.parametrize("kind", sorted(HELD))
async def test_playwrights_text_of_a_click_that_was_never_sent(
    rig: Rig, pages: PageServer, kind: str
) -> None:
    await show(rig, pages, HELD[kind])
    page = rig.tab.pages[0]
    with pytest.raises(Error) as caught:
        await page.locator("button").click(timeout=400)
    assert "performing click action" not in caught.value.message
    assert click_dispatch(caught.value.message) == "no"


async def test_playwrights_text_of_a_click_whose_page_hangs(rig: Rig, pages: PageServer) -> None:
    pages.pages["/hang"] = html("late", gate=asyncio.Event())
    await show(rig, pages, "<form method=post action=/hang><button>Send</button></form>")
    page = rig.tab.pages[0]
    with pytest.raises(Error) as caught:
        await page.locator("button").click(timeout=600)
    assert "performing click action" in caught.value.message
    assert click_dispatch(caught.value.message) == "yes"
    assert pages.hits("/hang", "POST") == 1


async def test_playwrights_text_of_a_click_whose_handler_spins(rig: Rig, pages: PageServer) -> None:
    await show(
        rig, pages, '<button onclick="const t=Date.now();while(Date.now()-t<1500);">Send</button>'
    )
    page = rig.tab.pages[0]
    with pytest.raises(Error) as caught:
        await page.locator("button").click(timeout=500)
    assert click_dispatch(caught.value.message) in ("unknown", "yes")
    await page.wait_for_function("() => true")


async def test_a_click_that_spins_is_unknown(rig: Rig, pages: PageServer) -> None:
    await show(
        rig, pages, '<button onclick="const t=Date.now();while(Date.now()-t<1500);">Send</button>'
    )
    outcome = await rig.do(commit('button "Send"'), deadline=0.6)
    assert outcome.failure is not None
    assert outcome.failure.dispatched in ("unknown", "yes")
    assert rig.dispatched == ["goto", "commit"]


async def test_an_element_that_goes_between_word_and_click_was_never_sent(
    rig: Rig, pages: PageServer
) -> None:
    """The one case of `dispatched` called and "no": the page changed in between."""
    await show(rig, pages, "<form action=/sent><button>Send</button></form>")

    async def dispatched() -> None:
        await rig.tab.pages[0].evaluate("document.querySelector('button').disabled = true")

    outcome = await rig.tab.perform(commit('button "Send"'), deadline=0.8, dispatched=dispatched)
    assert outcome.failure is not None
    assert outcome.failure.dispatched == "no"
    assert pages.hits("/sent") == 0
