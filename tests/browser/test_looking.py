"""A tab that only looks (a planner's second one) writes nothing, whatever its pages do.

The policy is the scout's: effect none, and as in an action from its first request on.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.browser.conftest import OpenTab
from tests.browser.pages import PageServer, html
from tests.browser.rig import Rig, policy
from webagent.core.action import Goto

URL = "http://odd.test/"
# What pages send by themselves, to their own host (or one in scope) and to another.
BY_ITSELF = {
    "fetch": "fetch(to, {method: 'POST', body: 'x'}).catch(() => {})",
    "no-cors fetch": "fetch(to, {method: 'POST', mode: 'no-cors', keepalive: true})",
    "put": "fetch(to, {method: 'PUT', body: 'x'}).catch(() => {})",
    "xhr": "const x = new XMLHttpRequest(); x.open('DELETE', to); x.send()",
    "beacon": "navigator.sendBeacon(to, 'x')",
    "frame": "f.action = to; f.target = 'inner'; f.submit()",
    "popup": "f.action = to; f.target = '_blank'; f.submit()",
    "worker": "new Worker(URL.createObjectURL(new Blob(['fetch(\"' + to +"
    ' \'", {method: "POST", mode: "no-cors"})\'])))',
    "at the end": "addEventListener('pagehide', () => navigator.sendBeacon(to, 'x'))",
}


async def looking(open_tab: OpenTab) -> Rig:
    return await open_tab(policy("odd.test", "inner.test", effect="none", in_action=True))


def written(pages: PageServer) -> list[str]:
    """Which writes reached any of the servers."""
    return [f"{a.method} {a.path}" for a in pages.arrivals if a.method not in ("GET", "OPTIONS")]


@pytest.mark.parametrize("host", ["odd.test", "inner.test", "away.test"])
@pytest.mark.parametrize("kind", BY_ITSELF)
async def test_a_page_that_is_looked_at_writes_nothing(
    open_tab: OpenTab, pages: PageServer, kind: str, host: str
) -> None:
    rig = await looking(open_tab)
    script = f"const to = 'http://{host}/do'; {BY_ITSELF[kind]}"
    pages.pages["/do"] = html("done", headers={"Access-Control-Allow-Origin": "*"})
    pages.pages["/next"] = html("<p>next</p>")
    pages.pages["/"] = html(
        "<button>Here</button><iframe name=inner></iframe><form id=f method=post></form>"
        f"<script>{script}; setTimeout(() => {{ {script} }}, 150)</script>"
    )
    await rig.goto(URL)  # what was kept back is not the look's failure
    await asyncio.sleep(0.3)  # the page's own timer; there is nothing to wait for
    seen = await rig.tab.survey()
    assert [e.name for e in seen.elements if e.tag == "button"] == ["Here"]
    await rig.goto(f"{URL}next")
    await rig.tab.close()
    await asyncio.sleep(0.1)
    assert written(pages) == []


async def test_a_form_that_sends_itself_is_refused_and_told(
    open_tab: OpenTab, pages: PageServer
) -> None:
    rig = await looking(open_tab)
    pages.pages["/"] = html(
        "<form id=f method=post action=/do></form><script>f.submit()</script>", title="Here"
    )
    outcome = await rig.do(Goto(url=URL))
    late = await rig.tab.happened()
    refused = [*outcome.happened.refusals, *late.happened.refusals]
    assert [(one.method, one.url) for one in refused] == [("POST", f"{URL}do")]
    assert written(pages) == []


async def test_dialogs_and_popups_of_a_look_hold_nothing_up(
    open_tab: OpenTab, pages: PageServer
) -> None:
    rig = await looking(open_tab)
    pages.pages["/pop"] = html("<script>fetch('/do', {method: 'POST'}).catch(() => {})</script>")
    pages.pages["/"] = html(
        "<p id=out></p><script>window.open('/pop'); alert('Hello');"
        "out.textContent = confirm('Order now?') + ' ' + prompt('Name?', 'me');"
        "onbeforeunload = (e) => { e.preventDefault(); return 'stay' }</script>"
    )
    await rig.goto(URL)
    await pages.reached("/pop")
    seen = await rig.tab.survey()
    assert [e.text for e in seen.elements] == ["false null"]
    pages.pages["/next"] = html("<p>next</p>")
    await rig.goto(f"{URL}next")
    assert [e.text for e in (await rig.tab.survey()).elements] == ["next"]
    opened = rig.tab.pages
    assert len(opened) == 2
    await rig.tab.close()
    assert all(page.is_closed() for page in opened)
    assert written(pages) == []
