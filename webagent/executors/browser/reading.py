"""The read action: values and rows off the page.

The browser gives text and copies of regions in one round trip each; what they mean is found by the
extractors. Nothing is dropped silently: bad rows stand in ``NAME_bad``, what was left out is noted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from playwright.async_api import Error, Frame, Locator

from webagent.core.action import FieldRead, ListRead, Pages, Read, TableRead
from webagent.core.base import Json
from webagent.core.errors import ExpressionError
from webagent.core.expr import evaluate
from webagent.core.target import Target
from webagent.executors.browser import in_page
from webagent.executors.browser.faults import MoveFailedError, document_went, fail
from webagent.executors.browser.locate import Found, Wish, build, frames_of
from webagent.executors.browser.move import Move
from webagent.executors.browser.settle import settle, stir

QUIET_MS = 600
SLICE_SECONDS = 0.25
SIGHT_SECONDS = 1.0


async def read(move: Move, action: Read) -> dict[str, Json]:
    """The outputs of a read. Raises MoveFailedError: target_missing, invalid_read and more."""
    values: dict[str, Json] = {}
    for name, spec in action.outputs.items():
        match spec:
            case FieldRead():
                values[name] = await _field(move, name, spec)
            case ListRead() | TableRead():
                good, bad = await _rows(move, name, spec)
                values[name] = good
                values[f"{name}_bad"] = bad
    move.flushed = True
    return values


async def _field(move: Move, name: str, spec: FieldRead) -> Json:
    if spec.fixed:
        return spec.value
    if spec.target is None:
        raise fail("invalid", f"the read of {name} names no target")
    wish = Wish(need="present", read=spec.type, attr=spec.attr)
    try:
        if spec.optional:
            found = await _present(move, spec.target, wish)
            if found is None:
                return None
        else:
            found = await move.find(spec.target, wish)
    except MoveFailedError as error:
        if spec.optional and error.failure.kind == "target_missing":
            return None
        raise
    raw = found.seen.get("value")
    if raw is None:
        if spec.optional:
            return None
        raise fail("target_missing", f"{spec.target} has no {spec.attr or 'value'}")
    text = str(raw) if spec.type == "html" else " ".join(str(raw).split())
    if not text and spec.optional:
        return None
    try:
        return move.stage.extract.value(text, spec.type)
    except ValueError as error:
        raise fail("invalid_read", f"{name}: {move.stage.redact(str(error))}") from error


async def _present(move: Move, target: Target, wish: Wish) -> Found | None:
    """An optional element: looked for until the page is quiet, not until the deadline."""
    if await _count(move, target) == 0 and not await _appears(move, target):
        return None
    return await move.find(target, wish)


async def _count(move: Move, target: Target) -> int:
    total = 0
    for _, found in await _places(move, target):
        total += await _counted(found)
        if total:
            break
    return total


async def _counted(locator: Any) -> int:
    try:
        return int(await locator.count())
    except Error as error:
        if document_went(error):
            return 0
        raise


async def _appears(move: Move, target: Target) -> bool:
    """Whether the target comes before the page has been complete and unchanged for a while."""
    loop = asyncio.get_running_loop()
    page = move.stage.page
    while (left := move.until - loop.time()) > 0:
        try:
            quiet = await page.evaluate(
                in_page.QUIET, {"quiet": QUIET_MS, "ms": min(2000, int(left * 1000))}
            )
        except Error as error:
            if not document_went(error):
                raise
            quiet = False
        if await _count(move, target):
            return True
        if quiet:
            return False
    return False


async def _rows(move: Move, name: str, spec: ListRead | TableRead) -> tuple[list[Json], list[Json]]:
    """All rows of a list or table over its pages."""
    good: list[Json] = []
    bad: list[Json] = []
    page_number = 1
    regions = await _regions(move, name, spec)
    while True:
        fresh, faulty = _extract(move, spec, regions)
        good.extend(fresh)
        bad.extend(faulty)
        pages = spec.pages
        if pages is None or page_number >= pages.max:
            if pages is not None and await _next_exists(move, pages):
                _add_note(move, f"{name}: stopped after {page_number} pages; there are more")
            break
        if pages.until is not None and _reached(pages.until, good, fresh, page_number):
            break
        turned = await _turn(move, spec, pages, regions)
        if turned is None:
            break
        regions = turned
        page_number += 1
    if spec.key is not None:
        good, repeated = move.stage.extract.unique(spec.key, good)
        bad.extend(repeated)
    return good, bad


def _extract(
    move: Move, spec: ListRead | TableRead, regions: Sequence[str]
) -> tuple[list[Json], list[Json]]:
    base = move.stage.page.url
    try:
        if isinstance(spec, ListRead):
            return move.stage.extract.rows(spec, regions, base)
        return move.stage.extract.table(spec, regions[0], base) if regions else ([], [])
    except ValueError as error:
        raise fail("invalid", move.stage.redact(str(error))) from error


async def _regions(move: Move, name: str, spec: ListRead | TableRead) -> list[str]:
    """The HTML of each row (or of the one table) on the page as it stands."""
    target = spec.each if isinstance(spec, ListRead) else spec.table
    regions, hidden = await _copies(move, target)
    if not regions and await _appears(move, target):
        regions, hidden = await _copies(move, target)
    if not regions:
        if isinstance(spec, TableRead) and not spec.optional:
            await move.find(target, Wish(need="present"))
        return []
    if isinstance(spec, TableRead) and len(regions) > 1:
        raise fail("target_ambiguous", f"{len(regions)} tables match {target}")
    if hidden:
        _add_note(move, f"{name}: {hidden} hidden elements left out")
    await _sight(move, spec, target)
    return regions


async def _sight(move: Move, spec: ListRead | TableRead, target: Target) -> None:
    """Note what the first row (or the table) looks like, and what stands for its fields."""
    fields = spec.fields.values() if isinstance(spec, ListRead) else ()
    inner = [field.target for field in fields if field.target is not None]
    wanted = [one for one in (target, *inner) if move.wants_sight(one)]
    if not wanted:
        return
    # It serves later runs: this one goes on without, if the page is busy or went away.
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(SIGHT_SECONDS):
            for frame, rows in await _places(move, target):
                if await _counted(rows):
                    ways = [rows if one is target else build(rows, one) for one in wanted]
                    looks = [way.evaluate_all(in_page.SIGHT) for way in ways]
                    for one, text in zip(wanted, await asyncio.gather(*looks), strict=True):
                        move.sight(one, json.loads(text), frame)
                    return


async def _places(move: Move, target: Target) -> list[tuple[Frame, Locator]]:
    """Where a target is looked for: a locator in each document."""
    aim = move.aim(target)
    frames = await frames_of(move.stage.page, aim, move.until)
    roots = [frame if aim.within is None else build(frame, aim.within) for frame in frames]
    return [(frame, build(root, target)) for frame, root in zip(frames, roots, strict=True)]


async def _copies(move: Move, target: Target) -> tuple[list[str], int]:
    for _, rows in await _places(move, target):
        answer = json.loads(await rows.evaluate_all(in_page.REGIONS, {}))
        if answer["n"]:
            return answer["rows"], answer["hidden"]
    return [], 0


def _reached(until: str, good: list[Json], fresh: list[Json], page_number: int) -> bool:
    """Whether the reading may stop: ``until`` sees ``rows``, ``new``, ``page`` and the last row."""
    last = fresh[-1] if fresh and isinstance(fresh[-1], dict) else {}
    names = {**last, "rows": good, "new": fresh, "page": page_number}
    try:
        return bool(evaluate(until, names))
    except ExpressionError as error:
        raise fail("invalid", f"until: {error.message}") from error


async def _next_exists(move: Move, pages: Pages) -> bool:
    return await _count(move, pages.next) > 0 and await _enabled(move, pages.next)


async def _enabled(move: Move, target: Target) -> bool:
    found = await move.find(target, Wish(need="present", read="text", attr="aria-disabled"))
    if found.seen.get("value") == "true":
        return False
    return await found.locator.is_visible() and await found.locator.is_enabled()


async def _turn(
    move: Move, spec: ListRead | TableRead, pages: Pages, before: list[str]
) -> list[str] | None:
    """Go to the next page: its regions, or None where the pages end.

    A page turned in place is there when its rows differ from those before.
    """
    # A page on which nothing is read is not the first of many.
    if not before or not await _next_exists(move, pages):
        return None
    target = spec.each if isinstance(spec, ListRead) else spec.table
    found = await move.find(pages.next, Wish(need="act"))
    await move.dispatch()
    await found.locator.click(timeout=move.ms)
    if move.stage.guard.fatal:
        raise fail("refused", move.stage.guard.fatal[0].rule, dispatched="yes")
    await settle(
        move.stage.page,
        move.stage.happenings,
        move.until,
        flushed=True,
        refused=move.stage.guard.refused,
    )
    loop = asyncio.get_running_loop()
    while True:
        try:
            regions, _ = await _copies(move, target)
        except Error as error:
            if not document_went(error):
                raise
            regions = before
        if regions and regions != before:
            return regions
        document = move.stage.happenings.documents.get(move.stage.page)
        if document is not None and document.status >= 400 and not regions:
            raise fail("timeout", f"the page after {pages.next} answers {document.status}")
        left = move.until - loop.time()
        if left <= 0:
            raise fail("timeout", f"{pages.next} was clicked and the rows stayed the same")
        await stir(move.stage.page, min(SLICE_SECONDS, left), move.stage.happenings.stirred)


def _add_note(move: Move, text: str) -> None:
    move.note = f"{move.note}; {text}" if move.note else text
