"""From a target to the one element it names.

Looks in the page's main document first, then in all frames; open shadow roots are pierced by
Playwright's selectors. Waits until the element is there and can take the input, on conditions
inside the page. None is ``target_missing``, several are ``target_ambiguous``; of several of which
one is visible it is that one. It never picks.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from playwright.async_api import Error, Frame, Locator, Page
from rapidfuzz import fuzz, process

from webagent.core.page import FailureKind
from webagent.core.target import Target
from webagent.executors.browser import in_page
from webagent.executors.browser.faults import document_went, fail, is_bad_selector, is_lost
from webagent.executors.browser.settle import stir

Need: TypeAlias = Literal["present", "visible", "act", "tick", "edit", "fill", "select"]
Root: TypeAlias = Frame | Locator

SLICE_MS = 250
FRAME_SECONDS = 2.0
FRESH_SECONDS = 0.05
# Roles that a redesign exchanges for one another: near names are looked for among them.
FAMILIES = (
    frozenset({"button", "link", "menuitem", "tab", "summary"}),
    frozenset({"textbox", "searchbox", "combobox", "spinbutton", "listbox", "label", "slider"}),
    frozenset({"checkbox", "radio", "switch", "label"}),
    frozenset({"heading", "columnheader", "th"}),
)


@dataclass(frozen=True, slots=True)
class Found:
    """One element: where it is and what was seen of it (``in_page.LOOK``)."""

    locator: Locator
    frame: Frame
    seen: dict[str, Any]
    at: float

    @property
    def fresh(self) -> bool:
        """Whether it was seen ready so short a time ago that Playwright need not check again.

        Its checks are ours (visible, enabled, still, not covered) and cost two frames: most of a
        click's time. They are made all the same for a commit, and when the word to go took long.
        """
        # Whether it moves is not known where no frame was drawn: then Playwright has to look.
        drawn = not self.seen.get("unsure", False)
        return drawn and asyncio.get_running_loop().time() - self.at < FRESH_SECONDS


@dataclass(frozen=True, slots=True)
class Aim:
    """A target with what the action says about where: its own ``within`` and ``frame``."""

    target: Target
    within: Target | None = None
    frame: Target | None = None

    def __str__(self) -> str:
        return str(self.target)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the element must be ready for, and what is to be read of it in the same look.

    ``sight``: what it looks like is told too, as the rows of a survey are.
    """

    need: Need = "act"
    read: str | None = None
    attr: str | None = None
    sight: bool = False

    def options(self, ms: int) -> dict[str, Any]:
        """The argument of ``in_page.LOOK``."""
        return {
            "need": self.need,
            "read": self.read,
            "attr": self.attr,
            "ms": ms,
            "sight": self.sight,
        }


def build(root: Root, target: Target) -> Locator:
    """The locator of a target below a root; ``frame`` is not looked at here."""
    if target.within is not None:
        root = build(root, target.within)
    ways = _ways(root, target)
    locator = ways[0]
    for other in ways[1:]:
        locator = locator.and_(other)
    if target.text is not None and len(ways) and not _only_text(target):
        locator = locator.filter(has_text=_text(target.text, target.exact))
    return locator if target.nth is None else locator.nth(target.nth)


def _only_text(target: Target) -> bool:
    return not (
        target.role or target.label or target.placeholder
        or target.test_id or target.css or target.xpath
    )  # fmt: skip


def _ways(root: Root, target: Target) -> list[Locator]:
    ways: list[Locator] = []
    if target.role is not None:
        name = target.name if target.name_regex is None else re.compile(target.name_regex)
        # The role comes from a recipe that was checked against core.target.ROLES.
        role: Any = target.role
        ways.append(root.get_by_role(role, name=name, exact=target.exact))
    if target.label is not None:
        ways.append(root.get_by_label(target.label, exact=target.exact))
    if target.placeholder is not None:
        ways.append(root.get_by_placeholder(target.placeholder, exact=target.exact))
    if target.test_id is not None:
        ways.append(root.get_by_test_id(target.test_id))
    if target.css is not None:
        ways.append(root.locator(f"css={target.css}"))
    if target.xpath is not None:
        ways.append(root.locator(f"xpath={target.xpath}"))
    if _only_text(target):
        ways.append(root.get_by_text(target.text or "", exact=target.exact))
    return ways


def _text(text: str, exact: bool) -> str | re.Pattern[str]:
    return re.compile(rf"^\s*{re.escape(text)}\s*$") if exact else text


async def frames_of(page: Page, aim: Aim, until: float | None) -> list[Frame]:
    """The documents in which an aim is looked for: main first, or the named frame alone."""
    named = [f for f in (aim.frame, aim.target.frame) if f is not None]
    if not named:
        return [page.main_frame, *(f for f in page.frames if f is not page.main_frame)]
    frames = [page.main_frame, *(f for f in page.frames if f is not page.main_frame)]
    for target in named:
        frames = await _inner(page, frames, target, until)
    return frames


async def _inner(
    page: Page, frames: Sequence[Frame], target: Target, until: float | None
) -> list[Frame]:
    """The content of the one frame element that a target names."""
    loop = asyncio.get_running_loop()
    while True:
        handles = [h for frame in frames for h in await build(frame, target).element_handles()]
        if len(handles) > 1:
            raise fail("target_ambiguous", f"{len(handles)} frames match {target}")
        if handles:
            inner = await handles[0].content_frame()
            if inner is not None:
                return [inner]
            raise fail("invalid", f"{target} is not a frame")
        if until is None or loop.time() >= until:
            raise fail("target_missing", f"no frame matches {target}")
        await stir(page, min(0.25, until - loop.time()))


async def find(page: Page, aim: Aim, wish: Wish, until: float) -> Found:
    """The one element of an aim, ready for what the wish says, by ``until`` (loop time).

    Raises:
        MoveFailedError: target_missing, target_ambiguous, not_actionable, invalid, page_lost.
    """
    loop = asyncio.get_running_loop()
    again = 0
    while True:
        left = until - loop.time()
        looked = await _look_everywhere(page, aim, wish, min(SLICE_MS, max(0, int(left * 1000))))
        good = [one for one in looked if one.seen["pick"] >= 0]
        shown = [one for one in good if one.seen["visible"] or one.frame is page.main_frame]
        several = [one for one in looked if one.seen["pick"] < 0 and one.seen["n"] > 1]
        pool = shown or good
        left = until - loop.time()
        if len(pool) == 1 and not [one for one in several if one.seen["visible"] > 1]:
            if pool[0].seen["fault"] is None:
                return _narrowed(pool[0])
            if left <= 0:
                raise _not_ready(aim, pool[0])
        elif several or len(pool) > 1:
            # A page that is being redrawn may hold the old and the new for a moment: look twice.
            again += 1
            if again > 1 or left <= 0:
                raise _ambiguous(aim, several or pool)
        elif left <= 0:
            raise await _missing(page, aim)
        if not pool or several:
            await stir(page, min(SLICE_MS / 1000, max(left, 0.01)))


def _narrowed(found: Found) -> Found:
    """The locator by which Playwright will find this very element, still strict."""
    if found.seen["n"] == 1:
        return found
    return Found(found.locator.filter(visible=True), found.frame, found.seen, found.at)


async def _look_everywhere(page: Page, aim: Aim, wish: Wish, ms: int) -> list[Found]:
    frames = await frames_of(page, aim, None if ms <= 0 else _soon(ms))
    first = await _look(frames[0], aim, wish, ms)
    if first is not None and (
        first.seen["visible"] or (wish.need == "present" and first.seen["n"])
    ):
        return [first]
    rest = await asyncio.gather(*(_look(frame, aim, wish, 0) for frame in frames[1:]))
    return [one for one in (first, *rest) if one is not None and one.seen["n"]]


def _soon(ms: int) -> float:
    return asyncio.get_running_loop().time() + ms / 1000


async def _look(frame: Frame, aim: Aim, wish: Wish, ms: int) -> Found | None:
    """What one document holds of an aim; None when the document went away meanwhile."""
    root: Root = frame if aim.within is None else build(frame, aim.within)
    locator = build(root, aim.target)
    try:
        async with asyncio.timeout(ms / 1000 + FRAME_SECONDS):
            script = in_page.LOOK_AND_SIGHT if wish.sight else in_page.LOOK
            text = await locator.evaluate_all(script, wish.options(ms))
    except Error as error:
        if document_went(error) or (is_lost(error) and frame.is_detached()):
            return None
        if is_bad_selector(error):
            raise fail("invalid", f"{aim} cannot be looked for: {_reason(error)}") from error
        raise
    except TimeoutError:
        return None  # a document that does not answer: busy, or an alert is open
    return Found(locator, frame, json.loads(text), asyncio.get_running_loop().time())


def _reason(error: Error) -> str:
    return " ".join(error.message.split("Call log")[0].split())[:200]


def _not_ready(aim: Aim, found: Found) -> Exception:
    fault = str(found.seen["fault"])
    hidden = fault == "not visible" or fault.startswith("covered")
    kind: FailureKind = "in_the_way" if hidden else "not_actionable"
    return fail(kind, f"{found.seen.get('told', aim)} stayed {fault}")


def _ambiguous(aim: Aim, found: Sequence[Found]) -> Exception:
    names = [name for one in found for name in one.seen.get("names", [one.seen.get("told", "")])]
    count = sum(one.seen["visible"] or one.seen["n"] for one in found)
    hint = "narrow it by exact, within or nth"
    return fail(
        "target_ambiguous",
        f"{count} elements match {aim}: {hint}",
        candidates=tuple(names[:8]),
    )


async def _missing(page: Page, aim: Aim) -> Exception:
    near = await near_names(page, aim.target)
    return fail("target_missing", f"nothing matches {aim}", candidates=near)


async def near_names(page: Page, target: Target, limit: int = 5) -> tuple[str, ...]:
    """What a person may have meant: visible elements of the same role family with a near name."""
    wanted = target.name or target.label or target.text or target.placeholder or ""
    if not wanted and target.name_regex is None and target.role is None:
        wanted = re.sub(r"[^\w]+", " ", target.css or target.test_id or "")
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            text = await page.evaluate(in_page.NAMES, {"all": target.css is not None})
    except (Error, TimeoutError):
        return ()
    family = next((f for f in FAMILIES if target.role in f), frozenset({target.role or ""}))
    told = [
        (f'{role} "{name}"' if name else f"{role} #{ident}", f"{name} {ident}".strip())
        for role, name, ident in json.loads(text)
        if (target.role is None or role in family) and (name or ident)
    ]
    if not wanted:
        return tuple(dict.fromkeys(line for line, _ in told))[:limit]
    scored = process.extract(
        wanted.lower(),
        [name.lower() for _, name in told],
        scorer=fuzz.WRatio,
        limit=limit,
        score_cutoff=60,
    )
    return tuple(dict.fromkeys(told[index][0] for _, _, index in scored))
