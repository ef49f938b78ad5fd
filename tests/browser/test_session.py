"""A browser for one run: its storage goes round, and its end is the end of it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import psutil
import pytest

from tests.browser.conftest import MakeExecutor
from tests.browser.pages import PageServer, html
from tests.browser.rig import KnownSecrets, Rig, click, fill, policy
from webagent.core.base import SecretUse
from webagent.core.errors import BadInput, BrowserError, BrowserLost
from webagent.core.expect import TextShown
from webagent.core.plan import BrowserOptions
from webagent.executors.browser.session import BrowserExecutor
from webagent.ports import StorageState

URL = "http://odd.test/"
POLICY = policy("odd.test", "inner.test", effect="once")


@pytest.fixture
async def start(make_executor: MakeExecutor) -> AsyncIterator[object]:
    """Starts executors of the test's own, closed after it."""
    started: list[BrowserExecutor] = []

    async def start_one(
        options: BrowserOptions | None = None, storage: StorageState | None = None
    ) -> BrowserExecutor:
        executor = make_executor()
        started.append(executor)
        await executor.start(options or BrowserOptions(), storage)
        return executor

    yield start_one
    for executor in started:
        await executor.close()


async def tab_of(executor: BrowserExecutor) -> Rig:
    return Rig(executor, await executor.open_tab("step", POLICY))


KEEP = """
<button>Keep</button><script>
document.querySelector('button').onclick = async () => {
  document.cookie = 'c=cookie; max-age=1000';
  document.cookie = 's=session';
  localStorage.setItem('l', 'local');
  sessionStorage.setItem('t', 'tab');
  const open = indexedDB.open('db');
  open.onupgradeneeded = () => open.result.createObjectStore('o');
  open.onsuccess = () => {
    const t = open.result.transaction('o', 'readwrite');
    t.objectStore('o').put('indexed', 'k');
    t.oncomplete = () => document.title = 'kept';
  };
};
</script>"""

TELL = """
<p id=out></p><script>
const open = indexedDB.open('db');
open.onsuccess = () => {
  const say = (i) => out.textContent =
    [document.cookie, localStorage.l, sessionStorage.t, i].join(' | ');
  try {
    const get = open.result.transaction('o').objectStore('o').get('k');
    get.onsuccess = () => say(get.result);
  } catch { say('none'); }
};
</script>"""


async def test_storage_goes_round_with_cookies_local_session_and_indexed_values(
    start, pages: PageServer
) -> None:
    pages.pages["/"] = html(KEEP)
    pages.pages["/tell"] = html(TELL)
    first = await start()
    rig = await tab_of(first)
    await rig.goto(URL)
    await rig.ok(click("button"))
    await rig.tab.pages[0].wait_for_function("() => document.title === 'kept'")
    # Another tab of another origin must not be in the way, nor a tab that is closed already.
    other = await tab_of(first)
    await other.goto("http://inner.test/tell")
    await rig.tab.close()
    state = await first.storage_state()
    assert state["sessionStorage"] == {"http://odd.test": {"t": "tab"}}
    await first.close()

    second = await start(storage=state)
    assert set(state) == {"cookies", "origins", "sessionStorage"}
    again = await tab_of(second)
    await again.goto(URL + "tell")
    wanted = TextShown(text="c=cookie; s=session | local | tab | indexed")
    for _ in range(20):
        (seen,) = await again.tab.examine((wanted,))
        if seen.count:
            break
        await again.tab.stirred(0.1)
    assert seen.count == 1


async def test_restored_session_values_are_put_back_once(start, pages: PageServer) -> None:
    """What the page removed stays removed."""
    pages.pages["/"] = html(
        "<p id=out></p><script>out.textContent='v='+sessionStorage.t;"
        "sessionStorage.removeItem('t')</script>"
    )
    executor = await start(storage={"sessionStorage": {"http://odd.test": {"t": "old"}}})
    rig = await tab_of(executor)
    await rig.goto(URL)
    assert (await rig.tab.examine((TextShown(text="v=old"),)))[0].count == 1
    await rig.goto(URL)
    assert (await rig.tab.examine((TextShown(text="v=undefined"),)))[0].count == 1


async def test_tabs_share_cookies(start, pages: PageServer) -> None:
    pages.pages["/set"] = html("set", headers={"Set-Cookie": "a=1; Path=/"})
    pages.pages["/get"] = html("<script>document.write(document.cookie)</script>")
    executor = await start()
    one, two = await tab_of(executor), await tab_of(executor)
    await one.goto(URL + "set")
    await two.goto(URL + "get")
    assert (await two.tab.examine((TextShown(text="a=1"),)))[0].count == 1


async def test_nothing_of_a_closed_browser_is_left(start) -> None:
    executor = await start()
    await tab_of(executor)
    pid, started = executor.process()
    process = psutil.Process(pid)
    assert process.create_time() == started
    family = [process, *process.children(recursive=True)]
    await executor.close()
    await executor.close()
    assert not executor.alive()
    _, left = psutil.wait_procs(family, 5)
    assert left == []


@pytest.mark.parametrize("moment", ["between actions", "in an action"])
async def test_a_killed_browser_is_page_lost_everywhere(
    start, pages: PageServer, moment: str
) -> None:
    pages.pages["/"] = html("<h1>Here</h1><button>Go</button>")
    pages.pages["/hang"] = html("late", gate=asyncio.Event())
    executor = await start()
    rig = await tab_of(executor)
    await rig.goto(URL)
    pid, _ = executor.process()
    if moment == "in an action":
        from webagent.core.action import Goto

        running = asyncio.ensure_future(rig.do(Goto(url=URL + "hang"), 10))
        await pages.reached("/hang")
        os.kill(pid, signal.SIGKILL)
        outcome = await running
        assert outcome.failure is not None
        assert outcome.failure.kind == "page_lost"
        assert outcome.failure.dispatched == "unknown"
    else:
        os.kill(pid, signal.SIGKILL)
        for _ in range(100):
            if not executor.alive():
                break
            await asyncio.sleep(0.02)
    assert not executor.alive()
    outcome = await rig.do(click("button"))
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.dispatched) == ("page_lost", "no")
    assert not (await rig.tab.observe(evidence="lost")).alive
    (finding,) = await rig.tab.examine((TextShown(text="Here"),))
    assert finding.error == "the page is lost"
    await rig.tab.stirred(0.2)
    assert await rig.tab.read_form() == {}
    assert (await rig.tab.happened()).failure is not None
    await rig.tab.set_policy(POLICY)
    with pytest.raises(BrowserLost):
        await executor.storage_state()
    with pytest.raises(BrowserLost):
        await executor.open_tab("next", POLICY)
    await rig.tab.close()
    await rig.tab.close()


async def test_a_click_at_the_moment_of_death_is_not_told_as_unsent(
    start, pages: PageServer
) -> None:
    pages.pages["/"] = html("<form method=post action=/hang><button>Go</button></form>")
    pages.pages["/hang"] = html("late", gate=asyncio.Event())
    executor = await start()
    rig = await tab_of(executor)
    await rig.goto(URL)
    pid, _ = executor.process()
    running = asyncio.ensure_future(rig.do(click("button"), 10))
    await pages.reached("/hang")
    os.kill(pid, signal.SIGKILL)
    outcome = await running
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.dispatched) == ("page_lost", "unknown")


async def test_a_crashed_page_is_lost_and_the_others_go_on(start, pages: PageServer) -> None:
    pages.pages["/"] = html("<h1>Here</h1>")
    executor = await start()
    rig, other = await tab_of(executor), await tab_of(executor)
    await rig.goto(URL)
    await other.goto(URL)
    from playwright.async_api import Error

    with pytest.raises(Error):
        await rig.tab.pages[0].goto("chrome://crash")
    outcome = await rig.do(click("h1"))
    assert outcome.failure is not None
    assert outcome.failure.kind == "page_lost"
    assert executor.alive()
    await other.ok(click("h1"))


async def test_options_reach_the_pages(start, pages: PageServer, secrets: KnownSecrets) -> None:
    secrets.values["pass"] = "geheim"
    pages.pages["/"] = html(
        "<script>document.write([navigator.language,Intl.DateTimeFormat().resolvedOptions()"
        ".timeZone,innerWidth].join(' '))</script>"
    )
    options = BrowserOptions(
        locale="de-DE",
        timezone="Europe/Berlin",
        viewport=(800, 600),
        headers={"X-Team": "ours"},
        http_auth={"username": "ada", "password": SecretUse(secret="pass")},
    )
    executor = await start(options)
    rig = await tab_of(executor)
    await rig.goto(URL)
    shown = TextShown(text="de-DE Europe/Berlin 800")
    assert (await rig.tab.examine((shown,)))[0].count == 1
    assert pages.arrivals[-1].headers["x-team"] == "ours"


async def test_a_secret_is_no_header(make_executor: MakeExecutor) -> None:
    executor = make_executor()
    with pytest.raises(BadInput):
        await executor.start(BrowserOptions(headers={"X": SecretUse(secret="pass")}), None)
    await executor.close()


async def test_a_browser_that_is_not_there_is_an_error_that_says_so(
    make_executor: MakeExecutor,
) -> None:
    executor = make_executor()
    executor._executable = "/no/such/browser"
    with pytest.raises(BrowserError, match="doctor"):
        await executor.start(BrowserOptions(), None)
    assert executor.process() is None


async def test_two_steps_work_at_the_same_time(start, pages: PageServer) -> None:
    pages.pages["/"] = html("<label>Name <input></label><button>Go</button>", after=0.1)
    executor = await start()
    rigs = [await tab_of(executor) for _ in range(4)]

    async def work(rig: Rig) -> None:
        for _ in range(3):
            await rig.goto(URL)
            await rig.ok(fill({"label": "Name"}, "x"), click("button"))

    await asyncio.gather(*(work(rig) for rig in rigs))
