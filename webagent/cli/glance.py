"""One look at one page through the real executor, for `look`: it reads, and sends nothing."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webagent import wiring
from webagent.core.action import Goto, Hover
from webagent.core.errors import BadInput
from webagent.core.expect import Bounds, CountIs
from webagent.core.plan import BrowserOptions, Plan
from webagent.core.request_rules import GuardPolicy, origin_of
from webagent.core.target import Target
from webagent.ports import Tab
from webagent.settings import Settings

LOAD_SECONDS = 30.0
NEAR_SECONDS = 1.0

# A line of the AI snapshot: ``- button "Add to basket" [ref=e12] [cursor=pointer]: text``
_LINE = re.compile(
    r"^(?P<indent>\s*)- (?P<quote>'?)(?P<role>[a-z]+) "
    r'(?P<name>"(?:[^"\\]|\\.)*"|/(?:[^/\\]|\\.)+/)'
)
_LIBRARY = re.compile(r"\b(Locator|Page|Frame|ElementHandle|Error)\b|selector", re.IGNORECASE)
# Roles that hold others' text: their names are whole sentences and nobody's target.
_NO_TARGETS = frozenset({"generic", "text", "paragraph", "row", "rowgroup", "listitem"})


@dataclass(frozen=True, slots=True)
class Thing:
    """Something with a name on the page. ``count``: how many the target finds."""

    target: str
    count: int


@dataclass(frozen=True, slots=True)
class Sought:
    """What a target finds. ``near``: names of that role that may have been meant."""

    target: str
    count: int
    told: str
    near: tuple[str, ...] = ()

    @property
    def unique(self) -> bool:
        """Whether it would do as a target."""
        return self.count == 1


@dataclass(frozen=True, slots=True)
class Glance:
    """A page as it was seen."""

    url: str
    title: str
    status: int
    things: tuple[Thing, ...]
    sought: Sought | None = None

    @property
    def exit_code(self) -> int:
        """0, or 1 when what was sought is not there exactly once."""
        return 0 if self.sought is None or self.sought.unique else 1

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        told = asdict(self)
        if self.sought is not None:
            told["sought"]["unique"] = self.sought.unique
            del told["things"]
        else:
            del told["sought"]
        return {"ok": self.exit_code == 0, **told}


async def glance(settings: Settings, url: str, find: str | None, *, headed: bool) -> Glance:
    """Open a page and look.

    Raises:
        BadInput: no such page, or the target's notation is wrong. BrowserError: no browser.
    """
    address = url if "://" in url else f"https://{url}"
    if urlsplit(address).scheme not in ("http", "https") or not origin_of(address):
        raise BadInput(f"{url!r} is no address of a page.", hint="Such as: https://shop.example/")
    target = None if find is None else _target(find)
    plan = Plan(recipe_id="look", steps=())
    source, redactor = wiring.secret_source(settings, plan)
    with tempfile.TemporaryDirectory(prefix="webagent-look-") as folder:
        # Its files are nobody's run: they go with the folder.
        apart = replace(settings, store=Path(folder), headed=headed or settings.headed)
        executor = wiring.browser_factory(apart, plan, source, redactor)("look")
        try:
            await executor.start(BrowserOptions(), None)
            # The address was typed by a person: a site on their own network is what they mean.
            policy = GuardPolicy(origins=(origin_of(address),), allow_private=True)
            tab = await executor.open_tab("look", policy)
            outcome = await tab.perform(
                Goto(url=address), deadline=LOAD_SECONDS, dispatched=_nothing
            )
            if outcome.failure is not None:
                raise BadInput(f"{address} could not be opened: {outcome.failure.message}")
            sought = None if target is None else await _seek(tab, target)
            seen = await tab.observe(evidence="page")
        finally:
            await executor.close()
    return Glance(
        url=seen.url, title=seen.title, status=seen.status,
        things=tuple(things_of(seen.outline)), sought=sought,
    )  # fmt: skip


async def _nothing() -> None:
    """There is no journal to tell of a dispatch."""


def _target(text: str) -> Target:
    try:
        return wiring.target_from_text(text)
    except BadInput as error:
        raise BadInput(f"--find: {error.message}", hint=error.hint) from None


async def _seek(tab: Tab, target: Target) -> Sought:
    """How many the target finds, and what is near when that is not one. Nothing is clicked."""
    finding = (await tab.examine((CountIs(target=target, bounds=Bounds(min=1)),)))[0]
    if finding.error:
        raise _not_sought(target, finding.error)
    count = finding.count or 0
    if count == 1:
        return Sought(target.source, 1, "unique")
    # Resolving it as an action would tells which names are near; the pointer rests, no more.
    outcome = await tab.perform(Hover(target=target), deadline=NEAR_SECONDS, dispatched=_nothing)
    near = outcome.failure.candidates if outcome.failure is not None else ()
    told = "nothing"
    if count:
        told = (
            f"{count} of them: right for each: in a read; for a target of an action, narrow it by "
            "within, or take one by nth"
        )
    return Sought(target.source, count, told, near)


def _not_sought(target: Target, error: str) -> BadInput:
    """In our words where the browser's library speaks of its own calls."""
    if not _LIBRARY.search(error):
        return BadInput(f"--find: {error}")
    return BadInput(
        f"--find: {target.source} cannot be looked for: it is no valid CSS.",
        hint='Close its brackets and quotes, or name a thing by its role: button "Search"',
    )


def things_of(outline: str) -> Iterator[Thing]:
    """The named things of an AI snapshot, in the page's order, each once. Pure.

    A name in a target matches as a part, whatever its case: so is counted.
    """
    found: dict[str, list[str]] = {}
    shown: dict[tuple[str, str], None] = {}
    for line in outline.splitlines():
        match = _LINE.match(line)
        if match is None or match["role"] in _NO_TARGETS:
            continue
        name = match["name"].replace("''", "'") if match["quote"] else match["name"]
        found.setdefault(match["role"], []).append(name)
        shown[match["role"], name] = None
    for role, name in shown:
        part = name[1:-1].lower()
        yield Thing(f"{role} {name}", sum(part in other.lower() for other in found[role]))
