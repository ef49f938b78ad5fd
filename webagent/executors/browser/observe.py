"""Reports on a page: the facts that drift is told from, evidence for a person, the form's fields.

Everything that leaves here goes through the redactor; in screenshots the controls that a secret
was typed into are covered, and of a page that shows a secret anywhere else none is taken.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

from playwright.async_api import Error

from webagent.core.base import Json
from webagent.core.page import Observation
from webagent.executors.browser import in_page
from webagent.executors.browser.stage import Stage
from webagent.ports import Artifacts

ANSWER_SECONDS = 2.0
OUTLINE_SECONDS = 5.0
OUTLINE_LENGTH = 20_000
# An outline of 60,000 elements takes seven seconds (FACTS.md): large pages are cut in depth.
DEPTHS = ((20_000, 6), (5_000, 10), (1_500, 16))
LAST_REQUESTS = 30
MASK = "#444444"
NO_PICTURE = "no screenshot: the page shows a secret"


async def observe(
    stage: Stage, *, alive: bool, evidence: str | None, artifacts: Artifacts, run: str
) -> Observation:
    """The facts of a page; with ``evidence`` an outline and a screenshot, kept under that name."""
    happenings, redact = stage.happenings, stage.redact
    page = stage.page
    lost = not alive or page.is_closed() or page in happenings.crashed
    facts: dict[str, Any] = {}
    if not lost:
        facts = json.loads(await _asked(page.evaluate(in_page.FACTS)) or "{}")
        lost = page.is_closed() or page in happenings.crashed
    document = happenings.documents.get(page)
    frame = next(iter(happenings.frame_errors.get(page, {}).values()), None)
    outline, screenshot, outline_file = "", None, None
    console: list[str] = []
    if evidence is not None and not lost:
        outline = await outline_of(stage, int(facts.get("size", 0)))
        outline_file = artifacts.keep(run, f"{evidence}.outline.yaml", outline.encode())
        picture = None
        if await _shows_secret(stage):
            console.append(NO_PICTURE)
        else:
            picture = await _picture(stage)
        # The page may have begun to show it meanwhile.
        if picture is not None and await _shows_secret(stage):
            console.append(NO_PICTURE)
        elif picture is not None:
            screenshot = artifacts.keep(run, f"{evidence}.png", picture)
    responses = list(happenings.all_responses)[-LAST_REQUESTS:]
    return Observation(
        url=redact(page.url),
        title=redact(str(facts.get("title", ""))),
        status=0 if document is None else document.status,
        alive=not lost,
        loading=happenings.navigating(page) or page in happenings.loading,
        sign_in=bool(facts.get("sign_in", False)),
        captcha=bool(facts.get("captcha", False)),
        retry_after=answer.retry_after if (answer := frame or document) is not None else None,
        frame_error="" if frame is None else f"{frame.url} answers {frame.status}",
        outline=outline,
        dialogs=tuple(happenings.all_dialogs),
        tabs=tuple(redact(other.url) for other in happenings.opened()),
        console=(*happenings.console, *console),
        requests=tuple(f"{r.method} {r.status} {r.url}" for r in responses),
        screenshot=screenshot,
        outline_file=outline_file,
    )


async def outline_of(stage: Stage, size: int, length: int = OUTLINE_LENGTH) -> str:
    """The AI snapshot of a page of ``size`` elements, redacted, its end cut off at a length."""
    depth = next((depth for least, depth in DEPTHS if size > least), None)
    text = await _asked(
        stage.page.aria_snapshot(mode="ai", depth=depth, timeout=OUTLINE_SECONDS * 1000),
        OUTLINE_SECONDS + 1,
    )
    outline = stage.redact(str(text or ""))
    if len(outline) > length:
        cut = outline.rfind("\n", 0, length)
        outline = outline[: max(cut, 0)] + f"\n# cut: {len(outline)} characters in all"
    return outline


async def _shows_secret(stage: Stage) -> bool:
    """Whether a picture would show a secret: in a text, or in a control that is not covered.

    A page that a secret was typed into and that does not answer may show it.
    """
    frames = stage.page.frames
    masked = [loc.evaluate_all(in_page.PLACES) for loc in stage.masked]
    answers = await asyncio.gather(
        *(_asked(frame.evaluate(in_page.SHOWN)) for frame in frames),
        *(_asked(places) for places in masked),
    )
    seen, covered = answers[: len(frames)], answers[len(frames) :]
    held = {tuple(place) for text in covered for place in json.loads(text or "[]")}
    for answer in seen:
        if answer is None:
            if stage.guard.secret:
                return True
            continue
        texts, places = json.loads(answer)
        texts += [value for value, where in places if (value, where) not in held]
        if any(_tells(stage, text) for text in texts):
            return True
    return False


def _tells(stage: Stage, text: str) -> bool:
    """Whether a secret stands in a text as it is, or broken over lines."""
    return any(stage.redact(form) != form for form in (text, "".join(text.split())))


async def _picture(stage: Stage) -> bytes | None:
    """The whole page, with passwords and typed secrets covered."""
    page = stage.page
    mask = [frame.locator("input[type=password]") for frame in page.frames] + stage.masked
    picture = await _asked(
        page.screenshot(full_page=True, mask=mask, mask_color=MASK, timeout=OUTLINE_SECONDS * 1000),
        OUTLINE_SECONDS + 1,
    )
    return picture if isinstance(picture, bytes) else None


async def read_form(stage: Stage) -> dict[str, Json]:
    """The fields of all forms by accessible name; a name met again gets a number."""
    fields: dict[str, Json] = {}
    for frame in stage.page.frames:
        text = await _asked(frame.evaluate(in_page.FORM))
        for name, value in json.loads(text or "[]"):
            unique, count = name, 1
            while unique in fields:
                count += 1
                unique = f"{name} ({count})"
            fields[unique] = _redacted(stage, value)
    return fields


def _redacted(stage: Stage, value: Json) -> Json:
    if isinstance(value, str):
        return stage.redact(value)
    if isinstance(value, list):
        return [stage.redact(str(item)) for item in value]
    return value


async def _asked(question: Awaitable[Any], seconds: float = ANSWER_SECONDS) -> Any:
    """The answer, or None when the page cannot give one in time: a report never hangs on a page."""
    try:
        async with asyncio.timeout(seconds):
            return await question
    except (Error, TimeoutError):
        return None
