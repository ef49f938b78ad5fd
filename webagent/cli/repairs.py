"""What drifted in a run and what was made anew for it, told from its journal.

Knows events and plans only; what it tells was redacted before it was an event.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from webagent.cli.actions import action_text
from webagent.cli.showing import one_line
from webagent.core import event as ev
from webagent.core.action import Action
from webagent.core.event import Entry
from webagent.core.revision import Revision

WIDTH = 90
# How a line of a segment begins: kept, taken out, put in.
STYLES = {" ": "dim", "-": "red", "+": "green"}
AUTHORS = {
    "local": "the local planner, without a model",
    "claude": "the model",
    "person": "a person",
    "scripted": "a script",
}


@dataclass(frozen=True, slots=True)
class Repair:
    """One step's segment before and after all its revisions, and what had been found at each."""

    step: str
    before: tuple[Action, ...]
    after: tuple[Action, ...]
    found: tuple[str, ...]
    revisions: tuple[Revision, ...]

    def lines(self) -> list[str]:
        """The segment as a diff: a line an action, marked as kept, taken out or put in."""
        old, new = ([action_text(a, WIDTH) for a in part] for part in (self.before, self.after))
        return [line for line in difflib.ndiff(old, new) if line[0] in STYLES]


def repairs(entries: Sequence[Entry]) -> tuple[Repair, ...]:
    """Every step whose segment was replaced, in the order of the first replacement."""
    first: dict[str, tuple[Action, ...]] = {}
    planned: dict[str, tuple[Action, ...]] = {}
    last_judged: dict[str, ev.Judged] = {}
    found: dict[str, list[str]] = {}
    revisions: dict[str, list[Revision]] = {}
    for entry in entries:
        match entry.event:
            case ev.PlanMade(plan=plan):
                planned = {step.path: step.segment or () for step in plan.steps}
            case ev.Judged(judgement="unmet", step=step):
                last_judged[step] = entry.event
            case ev.PlanRevised(revision=revision):
                step = revision.step
                now = planned.get(step, ())
                first.setdefault(step, now)
                judged = last_judged.pop(step, None) or last_judged.pop(entry.event.step, None)
                found.setdefault(step, []).append(_found(judged, now, revision))
                revisions.setdefault(step, []).append(revision)
                planned[step] = revision.segment
            case _:
                pass
    return tuple(
        Repair(step, before, planned[step], tuple(found[step]), tuple(revisions[step]))
        for step, before in first.items()
    )


def entered_once(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The steps that were entered once in the whole journal, crash and resume included."""
    counted = Counter(e.event.step for e in entries if isinstance(e.event, ev.StepStarted))
    return tuple(step for step, entries_of in counted.items() if entries_of == 1)


def repair_lines(repair: Repair) -> list[Text]:
    """A repair for a terminal: what was found each time, then old and new actions."""
    told = [Text(f"  drift   {text}", style="yellow") for text in repair.found]
    author = AUTHORS[repair.revisions[-1].author]
    tokens = sum(revision.tokens for revision in repair.revisions)
    cost = f", {tokens} tokens" if tokens else ""
    told.append(Text(f"  anew    the segment of {repair.step}, by {author}{cost}:"))
    told += [Text(f"    {line}", style=STYLES[line[0]]) for line in repair.lines()]
    return told


def _found(judged: ev.Judged | None, segment: tuple[Action, ...], revision: Revision) -> str:
    failed = revision.first_wrong
    at = f" at {action_text(segment[failed])}" if 0 <= failed < len(segment) else ""
    reason = judged.reason if judged is not None else revision.reason
    return one_line(f"{revision.cause}{at}: {reason}", 200)
