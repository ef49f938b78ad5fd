"""A session is put together from what pages told, also of origins that no page shows any more."""

from tests.browser.conftest import MakeExecutor
from tests.browser.pages import PageServer, html
from tests.browser.rig import Rig, policy
from webagent.core.plan import BrowserOptions
from webagent.executors.browser.session import BrowserExecutor
from webagent.ports import StorageState

POLICY = policy("odd.test", "inner.test", "away.test", effect="once")
KEEP = "<script>localStorage.setItem('at', location.host); document.cookie = 'c=1'</script>"


def local(state: StorageState) -> dict[str, str]:
    return {
        one["origin"]: entry["value"]
        for one in state["origins"]
        for entry in one["localStorage"]
        if entry["name"] == "at"
    }


async def started(make_executor: MakeExecutor, storage: StorageState | None) -> BrowserExecutor:
    executor = make_executor()
    await executor.start(BrowserOptions(), storage)
    return executor


async def test_what_an_origin_stored_is_kept_when_its_page_went_on_to_another(
    make_executor: MakeExecutor, pages: PageServer
) -> None:
    pages.pages["/"] = html(KEEP)
    executor = await started(make_executor, None)
    try:
        rig = Rig(executor, await executor.open_tab("step", POLICY))
        await rig.goto("http://odd.test/")
        await rig.goto("http://inner.test/")
        state = await executor.storage_state()
        assert local(state) == {"http://odd.test": "odd.test", "http://inner.test": "inner.test"}
        assert {c["domain"] for c in state["cookies"]} == {"odd.test", "inner.test"}
    finally:
        await executor.close()


async def test_a_frame_s_origin_is_kept_too(make_executor: MakeExecutor, pages: PageServer) -> None:
    pages.pages["/"] = html(KEEP + '<iframe src="http://away.test/inside"></iframe>')
    pages.pages["/inside"] = html(KEEP)
    executor = await started(make_executor, None)
    try:
        rig = Rig(executor, await executor.open_tab("step", POLICY))
        await rig.goto("http://odd.test/")
        await rig.tab.pages[0].frames[1].wait_for_load_state()
        assert set(local(await executor.storage_state())) == {"http://odd.test", "http://away.test"}
    finally:
        await executor.close()


async def test_what_was_there_at_the_start_and_was_not_visited_stays(
    make_executor: MakeExecutor, pages: PageServer
) -> None:
    pages.pages["/"] = html(KEEP)
    before = {
        "cookies": [],
        "origins": [
            {"origin": "http://away.test", "localStorage": [{"name": "at", "value": "before"}]}
        ],
    }
    executor = await started(make_executor, before)
    try:
        rig = Rig(executor, await executor.open_tab("step", POLICY))
        await rig.goto("http://odd.test/")
        await rig.tab.close()
        assert local(await executor.storage_state()) == {
            "http://away.test": "before", "http://odd.test": "odd.test",
        }  # fmt: skip
    finally:
        await executor.close()
