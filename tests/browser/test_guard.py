"""No way of leaving reaches the foreign server: counted there, not by what we say of ourselves."""

from __future__ import annotations

import asyncio

import pytest

from fixtures.server import SiteServer
from fixtures.sites.leaving import FORMS, KINDS, LINKS, SCRIPTS
from tests.browser.conftest import OpenTab
from tests.browser.pages import Answer, PageServer, html
from tests.browser.rig import Rig, click, policy
from webagent.core.action import Goto, Wait
from webagent.core.expect import ElementShown, TextShown
from webagent.core.target import parse_target

# What carries no navigation and no write: the base rules let GET subresources pass, so data can
# leave in their addresses; and a worker's globals are out of an init script's reach.
PASS = {"image", "event-source"}
SECURE = {"speculation", "service-worker"}
WRITES = {"fetch", "xhr", "worker"}
NAVIGATIONS = [k for k in KINDS if k not in PASS | WRITES | SECURE | {"beacon", "websocket"}]


async def _leave(sites: SiteServer, rig: Rig, host: str, kind: str) -> int:
    """Try to leave by a kind of page; how many requests came to the foreign server."""
    before = len(sites.arrivals)
    await rig.goto(f"http://{host}/leave/{kind}")
    role = "link" if kind in LINKS else "button"
    outcome = await rig.do(click({"role": role, "name": "Leave", "exact": True}), deadline=3)
    assert outcome.failure is None or outcome.failure.kind == "refused", outcome.failure
    if kind not in LINKS and kind not in FORMS:
        tried = ElementShown(target=parse_target({"css": "[role=status]", "text": "tried"}))
        for _ in range(20):
            (seen,) = await rig.tab.examine((tried,))
            if seen.count or seen.error:
                break
            await rig.tab.stirred(0.1)
    # What a page sends late (a beacon, a worker's fetch) leaves within this; nothing to wait for.
    await asyncio.sleep(0.25)
    return len(sites.arrivals) - before


@pytest.mark.parametrize("kind", NAVIGATIONS)
async def test_a_navigation_to_another_origin_is_refused(
    sites: SiteServer, open_tab: OpenTab, kind: str
) -> None:
    rig = await open_tab(policy("forms.test", effect="repeatable"))
    assert await _leave(sites, rig, "forms.test", kind) == 0


@pytest.mark.parametrize("kind", NAVIGATIONS)
async def test_a_step_without_effect_leaves_as_little(
    sites: SiteServer, open_tab: OpenTab, kind: str
) -> None:
    rig = await open_tab(policy("forms.test"))
    assert await _leave(sites, rig, "forms.test", kind) == 0


@pytest.mark.parametrize("kind", ["beacon", "websocket"])
async def test_pings_and_sockets_to_another_origin_are_refused(
    sites: SiteServer, open_tab: OpenTab, kind: str
) -> None:
    rig = await open_tab(policy("forms.test"))
    assert await _leave(sites, rig, "forms.test", kind) == 0
    assert (await rig.tab.happened()).failure is None


@pytest.mark.parametrize("kind", sorted(WRITES))
async def test_writes_to_another_origin_are_refused_while_all_is_watched(
    sites: SiteServer, open_tab: OpenTab, kind: str
) -> None:
    rig = await open_tab(policy("forms.test", effect="once", watch_all=True))
    assert await _leave(sites, rig, "forms.test", kind) == 0


@pytest.mark.parametrize("kind", sorted(SECURE))
async def test_speculation_and_service_workers_send_nothing(
    sites: SiteServer, open_tab: OpenTab, kind: str
) -> None:
    rig = await open_tab(policy("forms.localhost", effect="once", watch_all=True))
    assert await _leave(sites, rig, "forms.localhost", kind) == 0


@pytest.mark.parametrize("kind", ["link", "redirect", "form", "script", "window-open"])
async def test_a_refused_navigation_is_the_actions_failure(
    sites: SiteServer, open_tab: OpenTab, kind: str
) -> None:
    del sites
    rig = await open_tab(policy("forms.test", effect="repeatable"))
    await rig.goto(f"http://forms.test/leave/{kind}")
    role = "link" if kind in LINKS else "button"
    outcome = await rig.do(click({"role": role, "name": "Leave", "exact": True}))
    assert outcome.failure is not None
    assert outcome.failure.kind == "refused"
    assert outcome.failure.dispatched == "yes"
    assert any("evil.test" in refusal.url for refusal in outcome.happened.refusals)


@pytest.mark.parametrize("kind", ["link", "redirect", "form", "beacon", "websocket", "popup-link"])
async def test_what_is_in_scope_arrives(sites: SiteServer, open_tab: OpenTab, kind: str) -> None:
    """The counting above would see it if something came through."""
    inside = policy("forms.test", "evil.test", effect="repeatable")
    rig = await open_tab(inside)
    assert await _leave(sites, rig, "forms.test", kind) > 0 or kind == "websocket"


async def test_all_kinds_of_leaving_are_tried_here() -> None:
    tried = {*NAVIGATIONS, *PASS, *WRITES, *SECURE, "beacon", "websocket"}
    assert tried == {*LINKS, *FORMS, *SCRIPTS}


async def test_the_page_stays_as_it_was_when_a_navigation_is_refused(
    rig: Rig, pages: PageServer
) -> None:
    pages.pages["/"] = html("<h1>Here</h1>")
    await rig.goto("http://odd.test/")
    outcome = await rig.do(Goto(url="http://away.test/"))
    assert outcome.failure is not None
    assert outcome.failure.kind == "refused"
    (shown,) = await rig.tab.examine((ElementShown(target=parse_target('heading "Here"')),))
    assert shown.count == 1


async def test_a_foreign_frame_is_refused_and_the_page_goes_on(rig: Rig, pages: PageServer) -> None:
    pages.pages["/"] = html("<iframe src=http://away.test/ad></iframe><h1>Here</h1>")
    refusals = (await rig.goto("http://odd.test/")).happened.refusals
    while not refusals:
        await rig.tab.stirred(0.2)
        refusals = (await rig.tab.happened()).happened.refusals
    assert [r.url for r in refusals] == ["http://away.test/ad"]
    assert pages.hits("/ad") == 0


async def test_frames_of_two_tabs_keep_to_their_own_rules(
    open_tab: OpenTab, pages: PageServer
) -> None:
    """A frame is told apart by its page, not by the strictest rule of all tabs."""
    pages.pages["/"] = html("<iframe src=http://inner.test/in></iframe>")
    pages.pages["/in"] = html("<h1>Inside</h1>")
    wide = await open_tab(policy("odd.test", "inner.test"))
    narrow = await open_tab(policy("odd.test"))
    await asyncio.gather(wide.goto("http://odd.test/"), narrow.goto("http://odd.test/"))
    shown = ElementShown(target=parse_target('heading "Inside"'))
    for _ in range(20):
        (seen,) = await wide.tab.examine((shown,))
        if seen.count:
            break
        await wide.tab.stirred(0.1)
    assert seen.count == 1
    assert pages.hits("/in") == 1


async def test_a_popups_first_request_keeps_to_its_openers_rules(
    open_tab: OpenTab, pages: PageServer
) -> None:
    pages.pages["/"] = html('<a target=_blank rel=noopener href="http://inner.test/p">Open</a>')
    pages.pages["/p"] = html("<h1>Popup</h1>")
    narrow = await open_tab(policy("odd.test"))
    await open_tab(policy("odd.test", "inner.test"))
    await narrow.goto("http://odd.test/")
    outcome = await narrow.do(click('link "Open"'))
    assert outcome.failure is not None
    assert outcome.failure.kind == "refused"
    assert pages.hits("/p") == 0


async def test_a_step_without_effect_posts_no_form(rig: Rig, pages: PageServer) -> None:
    await rig.tab.set_policy(policy("odd.test"))
    pages.pages["/"] = html("<form method=post action=/do><button>Do</button></form>")
    await rig.goto("http://odd.test/")
    outcome = await rig.do(click('button "Do"'))
    assert outcome.failure is not None
    assert outcome.failure.kind == "refused"
    assert pages.hits("/do") == 0


async def test_a_step_without_effect_posts_what_it_is_allowed_to(
    rig: Rig, pages: PageServer
) -> None:
    await rig.tab.set_policy(policy("odd.test", allow_posts=("**/search",)))
    pages.pages["/"] = html("<form method=post action=/search><button>Do</button></form>")
    pages.pages["/search"] = html("<h1>Found</h1>")
    await rig.goto("http://odd.test/")
    outcome = await rig.ok(click('button "Do"'))
    assert pages.hits("/search", "POST") == 1
    assert outcome.happened.writes == ("POST http://odd.test/search",)


@pytest.mark.parametrize(
    "script",
    [
        "fetch('/do', {method: 'POST', body: 'x'}).catch(() => {})",
        "const x = new XMLHttpRequest(); x.open('POST', '/do'); x.send('x')",
    ],
)
async def test_a_step_without_effect_sends_no_write_by_script(
    rig: Rig, pages: PageServer, script: str
) -> None:
    await rig.tab.set_policy(policy("odd.test"))
    pages.pages["/"] = html(f'<button onclick="{script}">Do</button>')
    await rig.goto("http://odd.test/")
    outcome = await rig.do(click('button "Do"'))
    await asyncio.sleep(0.1)
    assert pages.hits("/do") == 0
    assert outcome.failure is None or outcome.failure.kind == "refused"
    late = (await rig.tab.happened()).happened
    assert len(outcome.happened.refusals) + len(late.refusals) == 1


LATE = {
    "fetch": "fetch('/do', {method: 'POST', body: 'x'}).catch(() => {})",
    "xhr": "const x = new XMLHttpRequest(); x.open('POST', '/do'); x.send('x')",
    "beacon": "navigator.sendBeacon('/do', 'x')",
}


@pytest.mark.parametrize("effect", ["none", "repeatable"])
@pytest.mark.parametrize("kind", LATE)
async def test_a_step_without_effect_sends_no_write_by_a_timer(
    rig: Rig, pages: PageServer, kind: str, effect: str
) -> None:
    await rig.tab.set_policy(policy("odd.test", effect=effect))
    late = f"setTimeout(()=>{{{LATE[kind]};document.title='sent'}},400)"
    pages.pages["/"] = html(f'<button onclick="{late}">Do</button>')
    await rig.goto("http://odd.test/")
    told = (await rig.ok(click('button "Do"'))).happened.refusals
    await rig.tab.pages[0].wait_for_function("() => document.title === 'sent'")
    await asyncio.sleep(0.2)
    told += (await rig.tab.happened()).happened.refusals
    assert pages.hits("/do") == (0 if effect == "none" else 1)
    assert [r.url for r in told] == (["http://odd.test/do"] if effect == "none" else [])


async def test_a_write_refused_late_fails_the_wait_under_way(rig: Rig, pages: PageServer) -> None:
    await rig.tab.set_policy(policy("odd.test"))
    for kind, fails_by in (("fetch", "refused"), ("beacon", "timeout")):
        late = f"setTimeout(()=>{{{LATE[kind]}}},400)"
        pages.pages["/"] = html(f'<button onclick="{late}">Do</button>')
        await rig.goto("http://odd.test/")
        await rig.ok(click('button "Do"'))
        waited = await rig.do(Wait(until=TextShown(text="never")), 1.5)
        assert waited.failure is not None
        assert waited.failure.kind == fails_by


async def test_what_the_page_sends_by_itself_goes_on_after_an_action(
    rig: Rig, pages: PageServer
) -> None:
    """A heartbeat seen before the step's first action is none of its doing, whatever its query."""
    await rig.tab.set_policy(policy("odd.test"))
    pages.pages["/"] = html(
        "<button>Do</button><script>let n = 0; setTimeout(() => setInterval(() => "
        "fetch('/beat?' + n++, {method: 'POST'}).catch(() => {}), 100), 500)</script>"
    )
    await rig.goto("http://odd.test/")
    await pages.reached("/beat")
    await rig.do(click('button "Do"'))
    before = pages.hits("/beat")
    await asyncio.sleep(0.5)
    assert pages.hits("/beat") > before
    outcome = await rig.tab.happened()
    assert "POST http://odd.test/beat" in outcome.happened.writes[-1]


async def test_another_step_in_the_same_page_begins_anew(rig: Rig, pages: PageServer) -> None:
    await rig.tab.set_policy(policy("odd.test"))
    pages.pages["/"] = html("<button>Do</button>")
    await rig.goto("http://odd.test/")
    await rig.ok(click('button "Do"'))
    send = "() => fetch('/beat', {method: 'POST'}).then(() => true, () => false)"
    assert await rig.tab.pages[0].evaluate(send) is False
    await rig.tab.set_policy(policy("odd.test"), "next")
    assert await rig.tab.pages[0].evaluate(send) is True


async def test_other_schemes_are_refused(rig: Rig) -> None:
    outcome = await rig.do(Goto(url="file:///etc/passwd"))
    assert outcome.failure is not None
    assert outcome.failure.kind in ("refused", "navigation", "invalid")


async def test_private_addresses_are_refused_unless_named(
    open_tab: OpenTab, page_server: tuple[PageServer, int], pages: PageServer
) -> None:
    pages.pages["/"] = html("<h1>Private</h1>")
    port = page_server[1]
    url = f"http://127.0.0.1:{port}/"
    strict = await open_tab(policy(f"127.0.0.1:{port}"))
    outcome = await strict.do(Goto(url=url))
    assert outcome.failure is not None
    assert outcome.failure.kind == "refused"
    loose = await open_tab(policy(f"127.0.0.1:{port}", allow_private=True))
    # The name is the address itself, and only mapped names resolve in these tests: it may fail to
    # load, but not by the guard.
    outcome = await loose.do(Goto(url=url))
    assert outcome.failure is None or outcome.failure.kind == "navigation"


async def test_a_redirect_of_a_frame_away_is_refused(rig: Rig, pages: PageServer) -> None:
    pages.pages["/"] = html("<iframe src=/go></iframe>")
    pages.pages["/go"] = Answer(status=302, headers={"Location": "http://away.test/there"})
    await rig.goto("http://odd.test/")
    await rig.tab.stirred(0.2)
    assert pages.hits("/go") == 1
    assert pages.hits("/there") == 0
