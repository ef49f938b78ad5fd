"""What each action does: one function a verb.

Called by `tab.BrowserTab.perform`, which knows deadlines, outcomes and what took place around. A
verb looks for its target, says that input is about to go out (`Move.dispatch`), sends it, and
leaves the settling to the tab. ``dispatch`` is called before everything that sends input or asks
the site for something; not for read (unless it turns pages), wait, scroll, tab and dialog.

One case in which `dispatch` was called and the failure says "no": Playwright checks the element
again right before the click, and gave up there, because the page changed in between. Its call log
shows that nothing was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import assert_never

from playwright.async_api import Error, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from webagent.core.action import (
    Action,
    Back,
    Check,
    Clear,
    Click,
    Commit,
    Dialog,
    DoubleClick,
    DownloadBy,
    Drag,
    Entry,
    Fill,
    Goto,
    Hover,
    Press,
    Read,
    Reload,
    Scroll,
    Select,
    Tab,
    Type,
    Uncheck,
    Upload,
    Wait,
)
from webagent.core.base import Json
from webagent.core.request_rules import SAFE_METHODS
from webagent.executors.browser import entering
from webagent.executors.browser.commit_gate import CommitGate
from webagent.executors.browser.faults import MoveFailedError, click_dispatch, fail
from webagent.executors.browser.locate import Found, Wish
from webagent.executors.browser.lost_input import PUT_BACK_SECONDS, Entered, told
from webagent.executors.browser.move import MIN_MS, Move
from webagent.executors.browser.reading import read
from webagent.executors.browser.stage import Stage
from webagent.executors.browser.tabs import change_tab
from webagent.executors.browser.waiting import WAIT_SECONDS, wait


async def perform(move: Move, action: Action) -> dict[str, Json]:  # noqa: C901 - one line a verb
    """Carry out an action; its outputs. Raises MoveFailedError and Playwright's errors."""
    match action:
        case Goto():
            await _goto(move, action)
        case Back():
            await _back(move)
        case Reload():
            await _reload(move)
        case Click() | DoubleClick():
            await _click(move, action)
        case Hover():
            await _hover(move, action)
        case Fill():
            for entry in action.entries:
                await entering.fill(move, entry)
                await _remember(move, action, entry)
        case Clear():
            await entering.clear(move, action.target)
        case Check() | Uncheck():
            await entering.tick(move, action.target, wanted=isinstance(action, Check))
            await _remember(move, action)
        case Select():
            for entry in action.entries:
                await entering.select(move, entry)
                await _remember(move, action, entry)
        case Press():
            await _press(move, action)
        case Type():
            for entry in action.entries:
                await entering.type_keys(move, entry)
                await _remember(move, action, entry)
        case Scroll():
            await _scroll(move, action)
        case Upload():
            for entry in action.entries:
                await entering.upload(move, entry)
                await _remember(move, action, entry)
        case DownloadBy():
            return await _download(move, action)
        case Drag():
            await _drag(move, action)
        case Wait():
            await wait(move, action)
        case Read():
            return await read(move, action)
        case Dialog():
            move.stage.happenings.armed.append((action.answer, action.text))
        case Tab():
            await change_tab(move, action)
        case Commit():
            await _commit(move, action)
        case _:
            assert_never(action)
    return {}


async def _remember(move: Move, action: Action, entry: Entry | None = None) -> None:
    """What was entered is known until something is sent; a commit's own control sends."""
    if move.held is not None and not move.commit:
        move.stage.entries.remember(await move.held, action, entry)
    move.held = None


async def _dispatch(move: Move) -> bool:
    """Say that this is about to be sent; whether the page had lost what was entered before.

    What was lost is entered again between the word and the input, as late as can be. Not for a
    commit: it was allowed for the form that was looked at, so it fails instead, before the word.
    """
    entries = move.stage.entries
    if move.commit and await entries.lost():
        raise fail("not_actionable", "the page made its fields anew right before the commit")
    await move.dispatch()
    lost = [] if move.commit else await entries.lost()
    if lost:
        move.note = told(await put_back(move.stage, lost))
    entries.forget()
    return bool(lost)


async def put_back(stage: Stage, lost: Sequence[Entered] | None = None) -> list[Entered]:
    """Enter again what the page lost while nothing is being sent; what that was."""
    if lost is None:
        lost = await stage.entries.lost()
    return [entered for entered in lost if await _entered_again(stage, entered)]


async def _entered_again(stage: Stage, entered: Entered) -> bool:
    """Enter one thing again; False if the page took its control away for good."""

    async def known() -> None:
        """The caller's books have it: it was dispatched when it was first entered."""

    try:
        async with asyncio.timeout(PUT_BACK_SECONDS * 4) as limit:
            until = asyncio.get_running_loop().time() + PUT_BACK_SECONDS
            await perform(Move(stage, entered.again, until, known, limit), entered.again)
    except (MoveFailedError, TimeoutError, Error):
        stage.entries.drop(entered.again)
        return False
    return True


async def _commit(move: Move, action: Commit) -> None:
    """The inner action, with the gate armed before its input can go out and nothing repeated."""
    move.commit = True
    inner = action.action
    move.action = inner.model_copy(
        update={"within": inner.within or action.within, "frame": inner.frame or action.frame}
    )
    move.gate = CommitGate(action.request)
    await perform(move, move.action)


async def _goto(move: Move, action: Goto) -> None:
    page = move.stage.page
    await move.dispatch()
    began = move.stage.happenings.downloads_begun
    try:
        response = await page.goto(action.url, wait_until="domcontentloaded", timeout=move.ms)
    except Error as error:
        await _no_document(move, error, began)
        response = None
    move.sent(settled=True)
    _note_status(move, response)


async def _no_document(move: Move, error: Error, downloads_begun: int) -> None:
    """A goto that raised: what was refused, a file, or an answer without a body is told apart."""
    happenings = move.stage.happenings
    if move.stage.guard.fatal:
        return  # the tab tells the refusal
    if happenings.downloads_begun > downloads_begun or "Download is starting" in error.message:
        while happenings.downloads_begun == downloads_begun and move.ms > MIN_MS:
            await move.stage.stirred(WAIT_SECONDS)
        await happenings.finish_downloads()
        raise fail(
            "unexpected", "the address gave a file to download, not a page", dispatched="yes"
        ) from error
    answered = happenings.documents.get(move.stage.page)
    empty = "ERR_HTTP_RESPONSE_CODE_FAILURE" in error.message
    if answered is not None and (empty or answered.status in (204, 205)):
        move.note = f"status {answered.status}, without a document"
        return
    raise error


def _note_status(move: Move, response: Response | None) -> None:
    if response is not None and response.status >= 400:
        move.note = f"status {response.status}"


async def _back(move: Move) -> None:
    await move.dispatch()
    page = move.stage.page
    before = page.url
    response = await page.go_back(wait_until="domcontentloaded", timeout=move.ms)
    if response is None and page.url == before:
        raise fail("invalid", "there is no page to go back to")
    move.sent(settled=True)


async def _reload(move: Move) -> None:
    document = move.stage.happenings.documents.get(move.stage.page)
    if document is not None and document.method not in SAFE_METHODS:
        raise fail(
            "invalid",
            f"the page is the answer to a {document.method}: to load it again sends it twice",
        )
    await move.dispatch()
    await move.stage.page.reload(wait_until="domcontentloaded", timeout=move.ms)
    move.sent(settled=True)


async def _click(move: Move, action: Click | DoubleClick) -> None:
    wish = Wish(need="act")
    found = await move.find(action.target, wish)
    if await _dispatch(move):
        found = await move.find(action.target, wish)
    await _send_click(move, found, double=isinstance(action, DoubleClick))


async def _send_click(move: Move, found: Found, *, double: bool = False) -> None:
    """Click, and tell by the call log whether a click that failed had been sent.

    A commit's click does not wait for the navigation: that may hang while the order is taken.
    """
    send = found.locator.dblclick if double else found.locator.click
    try:
        await move.send(
            send(timeout=move.ms, no_wait_after=move.commit, force=move.unchecked(found))
        )
    except Error as error:
        move.state = click_dispatch(error.message)
        if "strict mode violation" in error.message:
            move.state = "no"
        if isinstance(error, PlaywrightTimeout) or move.state == "no":
            raise
        move.state = "unknown"
        raise
    move.sent(settled=not move.commit)


async def _hover(move: Move, action: Hover) -> None:
    found = await move.find(action.target, Wish(need="act"))
    await move.dispatch()
    await found.locator.hover(timeout=move.ms, force=move.unchecked(found))
    move.sent(settled=True)


async def _press(move: Move, action: Press) -> None:
    if action.target is None:
        await _dispatch(move)
        await move.stage.page.keyboard.press(action.key)
    else:
        found = await move.find(action.target, Wish(need="visible"))
        await _dispatch(move)
        press = found.locator.press
        await move.send(press(action.key, timeout=move.ms, no_wait_after=move.commit))
    move.sent(settled=action.target is not None and not move.commit)


async def _drag(move: Move, action: Drag) -> None:
    source = await move.find(action.target, Wish(need="act"))
    goal = await move.find(action.to, Wish(need="visible"))
    await _dispatch(move)
    await source.locator.drag_to(goal.locator, timeout=move.ms, no_wait_after=move.commit)
    move.sent()


async def _scroll(move: Move, action: Scroll) -> None:
    page = move.stage.page
    if action.to is not None:
        found = await move.find(action.to, Wish(need="present"))
        await found.locator.scroll_into_view_if_needed(timeout=move.ms)
    elif action.edge is not None:
        end = "document.documentElement.scrollHeight" if action.edge == "bottom" else "0"
        await page.evaluate(f"() => scrollTo({{top: {end}, behavior: 'instant'}})")
    else:
        await page.evaluate("(y) => scrollBy({top: y, behavior: 'instant'})", action.by or 0)
    move.flushed = True


async def _download(move: Move, action: DownloadBy) -> dict[str, Json]:
    happenings = move.stage.happenings
    found = await move.find(action.target, Wish(need="act"))
    had, begun = len(happenings.all_downloads), happenings.downloads_begun
    await _dispatch(move)
    await _send_click(move, found)
    loop = asyncio.get_running_loop()
    while len(happenings.all_downloads) == had:
        if move.stage.guard.fatal:
            raise fail("refused", move.stage.guard.fatal[0].rule, dispatched="yes")
        left = move.until - loop.time()
        if left <= 0:
            what = "did not finish" if happenings.downloads_begun > begun else "did not begin"
            raise fail("timeout", f"the download {what}", dispatched="yes")
        happenings.stirred.clear()
        try:
            async with asyncio.timeout(left):
                await happenings.stirred.wait()
        except TimeoutError:
            continue
    return {action.name: happenings.all_downloads[had].model_dump()}
