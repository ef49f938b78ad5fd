"""What is seen for each expectation at this moment, without waiting and without judging."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Sequence
from typing import Any, assert_never

from playwright.async_api import Error, Frame

from webagent.core.expect import (
    CountIs,
    DialogShown,
    DownloadCame,
    ElementAbsent,
    ElementShown,
    Expectation,
    Finding,
    OutputIs,
    ResponseCame,
    RowsAre,
    StatusIs,
    TextShown,
    TitleIs,
    UrlIs,
    ValueIs,
)
from webagent.core.target import Target
from webagent.executors.browser import in_page
from webagent.executors.browser.faults import MoveFailedError, document_went
from webagent.executors.browser.locate import Aim, build, frames_of
from webagent.executors.browser.stage import Stage

LOOK_SECONDS = 5.0


async def examine(stage: Stage, expectations: Sequence[Expectation]) -> tuple[Finding, ...]:
    """A finding for each expectation, in order; one that could not be looked at has an error."""
    looks = [_guarded(stage, one) for one in expectations]
    return tuple(await asyncio.gather(*looks))


async def _guarded(stage: Stage, expected: Expectation) -> Finding:
    if stage.page.is_closed() or stage.page in stage.happenings.crashed:
        return Finding(error="the page is lost")
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            return await _find(stage, expected)
    except MoveFailedError as error:
        if error.failure.kind == "target_missing":
            return Finding()  # the frame is not there, so nothing in it is
        return Finding(error=error.failure.message)
    except Error as error:
        return Finding(error=stage.redact(" ".join(error.message.split())[:300]))
    except TimeoutError:
        return Finding(error="the page does not answer")


async def _find(stage: Stage, expected: Expectation) -> Finding:
    happenings = stage.happenings
    match expected:
        case UrlIs():
            return Finding(count=1, texts=(stage.redact(stage.page.url),))
        case TitleIs():
            return Finding(count=1, texts=(stage.redact(await _titled(stage)),))
        case TextShown(text=text, within=within):
            if within is None:
                return Finding(count=await _text(stage, text))
            return Finding(count=await _sum(stage, within, {"kind": "text", "text": text}, "hits"))
        case ElementShown(target=target) | ElementAbsent(target=target) | CountIs(target=target):
            return Finding(count=await _sum(stage, target, {"kind": "count"}, "visible"))
        case RowsAre(target=target):
            return Finding(count=await _sum(stage, target, {"kind": "rows"}, "rows"))
        case ValueIs(target=target):
            seen = await _everywhere(stage, target, {"kind": "value"})
            texts = [stage.redact(text) for one in seen for text in one["texts"]]
            return Finding(count=sum(one["visible"] for one in seen), texts=tuple(texts))
        case StatusIs():
            document = happenings.documents.get(stage.page)
            return Finding(count=0 if document is None else document.status)
        case DownloadCame():
            await happenings.finish_downloads()
            files = happenings.all_downloads
            return Finding(
                count=len(files),
                texts=tuple(f.name for f in files),
                sizes=tuple(f.bytes for f in files),
            )
        case ResponseCame():
            lines = [f"{r.method} {r.status} {r.url}" for r in happenings.all_responses]
            return Finding(count=len(lines), texts=tuple(lines))
        case DialogShown():
            return Finding(count=len(happenings.all_dialogs), texts=tuple(happenings.all_dialogs))
        case OutputIs():
            return Finding()
        case _:
            assert_never(expected)


async def _titled(stage: Stage) -> str:
    """The title, asked of the document: `page.title()` answers '' when the browser dies."""
    for _ in range(3):
        try:
            return str(await stage.page.evaluate("() => document.title"))
        except Error as error:
            if not document_went(error):
                raise
    return ""


async def _text(stage: Stage, text: str) -> int:
    counts = await asyncio.gather(
        *(_quietly(frame.evaluate(in_page.TEXT, text)) for frame in stage.page.frames)
    )
    return sum(int(count or 0) for count in counts)


async def _sum(stage: Stage, target: Target, options: dict[str, Any], key: str) -> int:
    return sum(int(one[key]) for one in await _everywhere(stage, target, options))


async def _everywhere(
    stage: Stage, target: Target, options: dict[str, Any]
) -> list[dict[str, Any]]:
    frames = await frames_of(stage.page, Aim(target), None)
    answers = await asyncio.gather(*(_in(frame, target, options) for frame in frames))
    return [json.loads(answer) for answer in answers if answer is not None]


async def _in(frame: Frame, target: Target, options: dict[str, Any]) -> str | None:
    answer = await _quietly(build(frame, target).evaluate_all(in_page.FINDINGS, options))
    return None if answer is None else str(answer)


async def _quietly(look: Awaitable[Any]) -> Any:
    """The answer, or None where the document was replaced meanwhile."""
    try:
        return await look
    except Error as error:
        if document_went(error):
            return None
        raise
