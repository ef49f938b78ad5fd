"""The next move towards a goal on the page that is shown: how the simulated model sees and acts.

It is no cleverer than its prompt: it takes the form's fields one after the other, writes only what
the prompt told it, and where a fact is missing it errs (a wrong but plausible code, or ``cannot``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fixtures.messages import tool_use
from tests.bench.errands.goals import Goal
from tests.bench.errands.look import Look, Part

Block = dict[str, Any]

RESULTS = {"sign_in": "Desk code", "ticket": "Next code", "booking": "Receipt", "price": "Price"}
BUTTONS = {
    "sign_in": ("Sign in",),
    "ticket": ("Open ticket", "Show ticket"),
    "booking": ("Book slot", "Reserve slot"),
    "price": ("Show price",),
}
_ENTRANCES = ("A notice for everybody", "This page has moved")


@dataclass(frozen=True, slots=True)
class Moment:
    """What a move is decided by.

    ``notes``: the moves made and what came of them, as told;
    ``commits``: whether the deciding click is a tool of its own; ``looks_at``: where it looks
    first whether something was done, "" to try again; ``errs``: makes up what it does not know.
    """

    goal: Goal
    page: Look
    notes: Sequence[str]
    commits: bool
    looks_at: str
    errs: bool
    wrong: str = "C-00000"


def chance(seed: int, text: str) -> bool:
    """A coin that always falls the same for the same text."""
    return hashlib.sha256(f"{seed} {text}".encode()).digest()[0] % 2 == 0


def cannot(reason: str) -> Block:
    return tool_use("cannot", {"reason": reason})


def next_move(now: Moment) -> Block:
    """One tool call."""
    goal, page = now.goal, now.page
    if page.find("textbox", "Password") is not None:
        return _sign_in(now)
    if (found := _result(now)) is not None:
        if not goal.output:
            return tool_use("done", {})
        return tool_use("read", {"name": goal.output, "ref": found.ref, "type": _type(goal)})
    if page.heading == "Bookings" and goal.kind == "booking":
        cells = page.row(goal.item)
        if cells:
            return tool_use("read", {"name": goal.output, "ref": cells[-1].ref, "type": "text"})
        return tool_use("goto", {"url": goal.url})
    if _in_doubt(now):
        return tool_use("goto", {"url": now.looks_at or goal.url})
    stale = "no longer valid" in page.alert and goal.item not in page.alert
    if stale or "closed" in page.alert:
        return cannot(page.alert)
    if (button := _button(now)) is not None:
        return _form(now, button)
    if page.heading in _ENTRANCES and (link := page.link_to(goal.item)) is not None and goal.item:
        return tool_use("click", {"ref": link.ref})
    return _go(now)


def _go(now: Moment) -> Block:
    tried = [note for note in now.notes[-3:] if note.startswith(f"goto {now.goal.url}")]
    if len(tried) > 1:
        return cannot(f"{now.goal.url} does not lead to {now.goal.item or 'the form'}")
    return tool_use("goto", {"url": now.goal.url})


def _type(goal: Goal) -> str:
    return "number" if goal.kind == "price" else "text"


def _result(now: Moment) -> Part | None:
    """What the step ends with, if the page is the result of this very step."""
    goal, page = now.goal, now.page
    about = goal.kind == "sign_in" or goal.item in page.heading
    if not about or goal.kind == "choose":
        return None
    return page.find("status", RESULTS[goal.kind])


def _in_doubt(now: Moment) -> bool:
    """Whether the booking was just sent and the page does not say what came of it."""
    last = now.notes[-1] if now.notes else ""
    sent = last.startswith("click") and any(f'"{b}"' in last for b in BUTTONS["booking"])
    page = now.page
    lost = not page.there or page.url.startswith("chrome-error") or page.heading.startswith("503")
    return now.goal.kind == "booking" and sent and lost


def _sign_in(now: Moment) -> Block:
    goal, page = now.goal, now.page
    if not goal.user or not goal.password:
        return cannot("the page asks to sign in, and I was told no password")
    for label, value in (("User", goal.user), ("Password", goal.password)):
        part = page.find("textbox", label)
        if part is not None and not page.chosen(part):
            return tool_use("fill", {"ref": part.ref, "value": value})
    button = page.find("button", "Sign in")
    if button is None or page.alert:
        return cannot(page.alert or "there is no button to sign in")
    return tool_use("click", {"ref": button.ref})


def _button(now: Moment) -> Part | None:
    goal = now.goal
    if goal.kind == "choose" or (goal.item and goal.item not in now.page.heading):
        return None
    return now.page.any_of("button", BUTTONS[goal.kind])


def _form(now: Moment, button: Part) -> Block:
    goal, page = now.goal, now.page
    alert = page.alert
    if goal.price and not page.says(f"Price: {goal.price}"):
        return cannot(f"the slot does not cost {goal.price} any more")
    for part in page.parts:
        wanted = _wanted(now, part)
        if wanted is None:
            continue
        value, written = wanted
        if not value and not (now.errs and page.chosen(part) == now.wrong):
            return _err(now, part)
        if not value or page.chosen(part) == value:
            continue
        if part.role == "combobox":
            return tool_use("select", {"ref": part.ref, "option": value})
        return tool_use("fill", {"ref": part.ref, "value": written})
    if alert:
        return cannot(alert)
    commits = now.commits and goal.kind == "booking"
    return tool_use("commit" if commits else "click", {"ref": button.ref})


def _wanted(now: Moment, part: Part) -> tuple[str, str] | None:
    """What has to stand in an element, as value and as it is written; None: it is no field."""
    goal = now.goal
    if part.role == "combobox":
        if part.name in ("Department", "Size"):
            return goal.choice, goal.choice
        return (goal.item, goal.item) if part.name == "Ticket" else None
    if part.role != "textbox" or "code" not in part.name.lower():
        return None
    index = int(part.name.startswith("Second"))
    return goal.codes[index] if index < len(goal.codes) else ("", "")


def _err(now: Moment, part: Part) -> Block:
    """The fact is not in the prompt: it gives up, or makes something up."""
    if now.errs:
        return tool_use("fill", {"ref": part.ref, "value": now.wrong})
    return cannot(f"I do not know what goes into {part.name}")
