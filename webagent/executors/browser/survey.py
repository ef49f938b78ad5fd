"""What a page shows, to find things again on it: the port's `Survey`.

Called by the tab for the ladder and for planners, and by a move for the one element it has found.
One look for each document, the main one first. Everything goes through the redactor before it is
cut to its length, so that no part of a secret is left over.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any

from playwright.async_api import Error, Frame

from webagent.core.sighting import Element, Survey
from webagent.executors.browser import in_page
from webagent.executors.browser.stage import Stage

CAP = 1_500
# Of those, for the documents in frames.
FRAMES_CAP = 300
FRAMES = 20
ANSWER_SECONDS = 10.0
TEXT_LENGTH = 120
LONGER = {"href": 2_000, "css": 2_000}


async def survey(stage: Stage) -> Survey:
    """What the tab's page shows at this moment, in all its documents; empty if it is lost."""
    page = stage.page
    frames = [page.main_frame, *(f for f in page.frames if f is not page.main_frame)]
    frames = frames[: FRAMES + 1]
    facts, *looks = await asyncio.gather(
        _asked(page.evaluate(in_page.FACTS)), *(_look(frame, frames) for frame in frames)
    )
    if page.is_closed() or page in stage.happenings.crashed:
        return Survey(url="")
    known = json.loads(facts or "{}")
    main = looks[0] or {}
    document = stage.happenings.documents.get(page)
    overlay = int(main.get("overlay", 0))
    return Survey(
        url=stage.redact(page.url),
        title=stage.redact(str(known.get("title", ""))),
        status=0 if document is None else document.status,
        sign_in=bool(known.get("sign_in", False)),
        captcha=bool(known.get("captcha", False)),
        overlay=overlay,
        headings=tuple(_cut(stage.redact(text)) for text in main.get("headings", ())),
        elements=tuple(_joined(stage, frames, looks, overlay)),
    )


async def _look(frame: Frame, frames: list[Frame]) -> dict[str, Any] | None:
    """What one document shows; None when it went away or does not answer."""
    top = frame is frames[0]
    cap = FRAMES_CAP if not top else CAP if len(frames) == 1 else CAP - FRAMES_CAP
    text = await _asked(frame.evaluate(in_page.SURVEY, {"cap": cap, "top": top}))
    answer: dict[str, Any] | None = None if text is None else json.loads(text)
    return answer


def _joined(
    stage: Stage, frames: list[Frame], looks: list[dict[str, Any] | None], overlay: int
) -> list[Element]:
    """The elements of all documents under numbers of their own."""
    elements: list[Element] = []
    refs = forms = 0
    over = ""
    for frame, look in zip(frames, looks, strict=True):
        if look is None:
            continue
        top = frame is frames[0]
        raws = look["elements"][: CAP - len(elements)]
        for raw in raws:
            raw["ref"] += refs
            raw["row"] = raw["row"] + refs if raw["row"] else 0
            raw["form"] = raw["form"] + forms if raw["form"] else 0
            if top and raw["ref"] == overlay and raw["tag"] == "iframe":
                over = raw.get("href", "")
            if not top:
                raw["frame"] = frame.url
                if over and frame.url == over:
                    raw["row"] = overlay
        elements += elements_of(raws, stage.redact)
        refs += len(look["elements"])
        forms += look["forms"]
    return elements


def elements_of(raws: list[dict[str, Any]], redact: Callable[[str], str]) -> list[Element]:
    """What the page told of elements, redacted and cut."""
    once = lru_cache(maxsize=None)(redact)  # classes, headings, landmarks: told again and again
    return [Element.model_validate(_clean(raw, once)) for raw in raws]


def _clean(raw: Mapping[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    def clean(key: str, value: Any) -> Any:
        if isinstance(value, str):
            if key == "href" and redact(value) != value:
                return ""  # an address with a secret in it leads nowhere
            return _cut(redact(value), LONGER.get(key, TEXT_LENGTH))
        if isinstance(value, Mapping):
            return {name: clean(name, inner) for name, inner in value.items()}
        if isinstance(value, list):
            return tuple(clean(key, inner) for inner in value)
        return value

    return {key: clean(key, value) for key, value in raw.items()}


def _cut(text: str, length: int = TEXT_LENGTH) -> str:
    return text[:length]


async def _asked(question: Awaitable[Any]) -> Any:
    """The answer, or None when the page cannot give one in time."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await question
    except (Error, TimeoutError):
        return None
