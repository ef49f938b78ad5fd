"""The tab action: going on in a tab that opened, in the first one, or without the present one."""

from __future__ import annotations

import asyncio

from playwright.async_api import Page

from webagent.core.action import Tab
from webagent.executors.browser import in_page
from webagent.executors.browser.faults import fail
from webagent.executors.browser.move import Move
from webagent.executors.browser.stage import Stage

WAIT_SECONDS = 0.25


async def change_tab(move: Move, action: Tab) -> None:
    """Go on in another tab of the step. Raises MoveFailedError."""
    stage = move.stage
    loop = asyncio.get_running_loop()
    if action.to == "first":
        await _switch(stage, stage.happenings.pages[0])
        return
    if action.to == "close":
        leaving = stage.page
        others = [p for p in stage.happenings.pages if p is not leaving and not p.is_closed()]
        if not others:
            raise fail("invalid", "this is the only tab of the step")
        stage.page = others[-1]
        await leaving.close()
        await stage.page.bring_to_front()
        return
    while not (fresh := [p for p in stage.happenings.opened() if p not in stage.visited]):
        left = move.until - loop.time()
        if left <= 0:
            raise fail("target_missing", "no new tab was opened")
        await stage.stirred(min(WAIT_SECONDS, left))
    stage.visited.add(fresh[-1])
    await _switch(stage, fresh[-1])
    await fresh[-1].wait_for_load_state("domcontentloaded", timeout=move.ms)
    if fresh[-1] not in stage.happenings.documents:
        # Its first answer came before anybody could listen to the new page.
        status = await fresh[-1].evaluate(in_page.STATUS)
        stage.happenings.opened_with(fresh[-1], int(status))


async def _switch(stage: Stage, page: Page) -> None:
    if page.is_closed():
        raise fail("page_lost", "that tab is closed")
    stage.page = page
    await page.bring_to_front()
