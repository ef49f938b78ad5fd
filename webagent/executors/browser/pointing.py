"""From a ref of the outline to a target that lasts.

A model points at elements by the refs of the newest outline (``e12``). These die with the page, so
what goes into a segment is how a person would name the element: role and name, its label, else a
selector. Looked up without waiting: what is not there any more is told at once.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

from playwright.async_api import ElementHandle, Error

from webagent.core.outline import cut
from webagent.core.page import Pointed, PointedRow
from webagent.core.sighting import Element
from webagent.core.target import ROLES, Target, TargetSyntaxError, parse_target
from webagent.executors.browser import in_page
from webagent.executors.browser.faults import MoveFailedError
from webagent.executors.browser.locate import Aim, build, frames_of
from webagent.executors.browser.observe import OUTLINE_LENGTH, outline_of
from webagent.executors.browser.stage import Stage
from webagent.executors.browser.survey import elements_of

T = TypeVar("T")

_REF = re.compile(r"(f\d+)?e\d+")
SECONDS = 2.0
# What no outline of a page that is looked at in depth comes to.
WHOLE = 1_000_000
LONGEST_NAME = 80


async def outline(stage: Stage) -> str:
    """The outline of the page with a ref for each element, redacted and cut to a length."""
    facts = json.loads(str(await _asked(stage.page.evaluate(in_page.FACTS)) or "{}"))
    # Cut by what matters: a dialog stands at the end of many a long page.
    whole = await outline_of(stage, int(facts.get("size", 0)), WHOLE)
    return cut(whole, OUTLINE_LENGTH)


async def point(stage: Stage, ref: str, text: str = "") -> Pointed | None:
    """The element of a ref and a target that finds it alone; None when it is not there.

    With ``text`` the smallest element below it that holds this text is meant.
    """
    handle = await _handle(stage, ref, text)
    if handle is None:
        return None
    raw = json.loads(str(await _asked(handle.evaluate(f"(e) => ({in_page.SIGHT})([e])")) or "null"))
    if raw is None:
        return None
    element = elements_of([raw], stage.redact)[0]
    for target in _names_of(element):
        if await _finds_alone(stage, target, handle):
            return Pointed(element=element, target=target)
    return None


async def point_row(
    stage: Stage, ref: str, parts: Sequence[str], texts: Sequence[str] = ()
) -> PointedRow | None:
    """How the list of a row's ref is read, with the refs of parts of that row (and their texts)."""
    row = await _handle(stage, ref)
    pairs = zip_longest(parts, texts[: len(parts)], fillvalue="")
    found = [await _handle(stage, part, text) for part, text in pairs]
    if row is None or any(handle is None for handle in found):
        return None
    told = json.loads(str(await _asked(row.evaluate(in_page.ROW, found)) or "null"))
    if told is None or any(part is None for part in told["parts"]):
        return None
    return PointedRow(
        each=Target(source=told["each"], css=told["each"]),
        count=int(told["count"]),
        parts=tuple(Target(source=p, css=p) if p else None for p in told["parts"]),
    )


async def _handle(stage: Stage, ref: str, text: str = "") -> ElementHandle | None:
    if _REF.fullmatch(ref) is None:
        return None
    handles = await _asked(stage.page.locator(f"aria-ref={ref}").element_handles())
    handle = handles[0] if isinstance(handles, list) and handles else None
    if handle is None or not text:
        return handle
    inner = await _asked(handle.evaluate_handle(in_page.INNER, text))
    return None if inner is None else inner.as_element()


def _names_of(element: Element) -> Iterator[Target]:
    """Targets as a person would write them, what lasts longest first."""
    name, role = " ".join(element.name.split()), element.role
    if role in ROLES and 0 < len(name) <= LONGEST_NAME and "{" not in name and "⟦" not in name:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        yield parse_target(f'{role} "{quoted}"')
        yield parse_target({"role": role, "name": name, "exact": True})
    label = " ".join(element.label.split())
    if 0 < len(label) <= LONGEST_NAME and "{" not in label:
        yield parse_target({"label": label, "exact": True})
    if test_id := element.attrs.get("data-testid"):
        yield parse_target({"test_id": test_id})
    if element.css and "{" not in element.css:
        try:
            yield Target(source=parse_target(element.css).source, css=element.css)
        except TargetSyntaxError:
            yield parse_target({"css": element.css})


async def _finds_alone(stage: Stage, target: Target, handle: ElementHandle) -> bool:
    """Whether a target means this element and no other that is shown, in any document."""
    try:
        frames = await frames_of(stage.page, Aim(target), None)
    except MoveFailedError:
        return False
    met = False
    for frame in frames:
        found = await _asked(build(frame, target).filter(visible=True).element_handles())
        if found is None:
            return False
        if len(found) > 1:
            return False
        for one in found:
            if not await _asked(one.evaluate("(e, o) => e === o", handle)):
                return False
            met = True
    return met


async def _asked(question: Awaitable[T]) -> T | None:
    """The answer, or None when the page cannot give one in time."""
    try:
        async with asyncio.timeout(SECONDS):
            return await question
    except (Error, TimeoutError):
        return None
