"""When a page has settled after an action, and when it may have changed.

Never by network idle and never by a fixed sleep: a navigation that the action caused has committed
and its document is parsed, or nothing was begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from playwright.async_api import Error, Page

from webagent.executors.browser import in_page
from webagent.executors.browser.faults import document_went
from webagent.executors.browser.happenings import Happenings

FLUSH_SECONDS = 1.0


async def stir(page: Page, seconds: float, signal: asyncio.Event | None = None) -> None:
    """Return when one of the page's documents changed, or after ``seconds``.

    What no mutation tells (a change inside a shadow root, the end of a transition) is found by
    looking again: callers keep ``seconds`` short where that matters.
    """
    waits: list[asyncio.Task[object]] = [
        asyncio.ensure_future(_stirred(page, index, seconds)) for index in range(len(page.frames))
    ]
    if signal is not None:
        waits.append(asyncio.ensure_future(signal.wait()))
    await _first(waits, seconds)


async def _first(waits: Iterable[asyncio.Task[object]], seconds: float) -> None:
    pending = set(waits)
    try:
        await asyncio.wait(pending, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in pending:
            task.cancel()
        for outcome in await asyncio.gather(*pending, return_exceptions=True):
            if isinstance(outcome, Exception) and not isinstance(outcome, Error):
                raise outcome


async def _stirred(page: Page, index: int, seconds: float) -> object:
    frames = page.frames
    if index >= len(frames):
        return None
    try:
        return await frames[index].evaluate(in_page.STIR, int(seconds * 1000))
    except Error as error:
        if document_went(error):
            return None  # a new document is a change
        raise


async def flush(page: Page) -> None:
    """Let what the input put into the page's queue begin (a form's submission is queued)."""
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(FLUSH_SECONDS):
            await page.evaluate("() => new Promise((r) => setTimeout(r))")


async def settle(
    page: Page,
    happenings: Happenings,
    until: float,
    *,
    flushed: bool,
    refused: asyncio.Event,
) -> bool:
    """Wait out the navigation that an action began; whether it settled by ``until`` (loop time).

    ``flushed``: Playwright has waited already for what the input put into the page's queue.
    ``refused``: set when the guard refused what the action led to; then there is nothing to wait
    for.
    """
    loop = asyncio.get_running_loop()
    if not flushed:
        await flush(page)
    while (happenings.navigating(page) or page in happenings.loading) and not page.is_closed():
        if refused.is_set():
            return True
        # A document is there when its markup is parsed: rows read before are half a list.
        left = until - loop.time()
        if left <= 0:
            return False
        happenings.stirred.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                await happenings.stirred.wait()
    return True
