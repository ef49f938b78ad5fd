"""Revision: the replacement of one step's segment, and the rules under which it may be applied."""

from __future__ import annotations

from typing import Literal, TypeAlias

from webagent.core.action import Action, commit_index
from webagent.core.base import Frozen
from webagent.core.expect import PLACE_KINDS, Expectation
from webagent.core.page import Drift
from webagent.core.plan import Plan

# What is tried, in which order, when a step is not met (`engine.ladder`).
Rung: TypeAlias = Literal[
    "wait", "renew", "find_again", "regenerate", "compose", "model", "extract", "split", "reenter",
    "reopen", "probe", "ask", "fail",
]  # fmt: skip


class Cannot(Frozen):
    """A planner's word that it will not guess, and why: a person reads it."""

    reason: str


class Reopen(Frozen):
    """A planner's word that the value of an ancestor went stale, not this step's segment."""

    step: str
    reason: str = ""


class AskPerson(Frozen):
    """A planner's word that only a person can say how to go on."""

    question: str
    reason: str = ""


class Revision(Frozen):
    """The replacement of one step's segment, with cause, author and cost.

    ``first_wrong``: index of the first action that is wrong; what stands before it stays done.
    ``redo_from``: index from which the new segment is performed, on the page as it stands (0: from
    the start, in a fresh page). ``places``: new place expectations, only for page_moved.
    ``healed``: for each target that was found again, its text in the recipe and its new one.
    """

    step: str
    segment: tuple[Action, ...]
    first_wrong: int
    redo_from: int
    cause: Drift
    author: Literal["local", "claude", "person", "scripted"]
    reason: str = ""
    places: tuple[Expectation, ...] | None = None
    healed: tuple[tuple[str, str], ...] = ()
    tokens: int = 0
    pages: int = 0


class RevisionRefusedError(ValueError):
    """A revision asks for more than one step's segment; the message says what."""


def apply(plan: Plan, revision: Revision, *, done: frozenset[str] = frozenset()) -> Plan:
    """The plan with one step's segment replaced; every other step's text is byte-identical.

    ``done`` are steps that are met (or past their commit) and may not change.

    Raises:
        RevisionRefusedError: unknown or done step; commits added, dropped or changed; content
        expectations touched; a
            place changed for another cause than page_moved or with nothing else expected.
    """
    step = plan.by_path.get(revision.step)
    if step is None:
        msg = f"no step {revision.step!r} in this plan"
        raise RevisionRefusedError(msg)
    if revision.step in done:
        msg = f"{revision.step} is done: a validated step is never revised"
        raise RevisionRefusedError(msg)
    old = step.segment or ()
    # A step that had no segment yet is given its commit with its first one.
    commits = commit_index(old) is not None if step.segment is not None else step.effect == "once"
    if commits != (commit_index(revision.segment) is not None):
        msg = "a revision may neither add nor drop the commit"
        raise RevisionRefusedError(msg)
    if step.segment is not None and _what_is_sent(old) != _what_is_sent(revision.segment):
        msg = "a revision changes neither how the commit is sent nor which request it is"
        raise RevisionRefusedError(msg)
    if sum(a.verb == "commit" for a in revision.segment) > 1:
        msg = "a segment has exactly one commit"
        raise RevisionRefusedError(msg)
    expect = step.expect
    if revision.places is not None:
        if revision.cause != "page_moved":
            msg = "only a moved page may change a place expectation"
            raise RevisionRefusedError(msg)
        content = tuple(e for e in expect if e.kind not in PLACE_KINDS)
        if not content or any(p.kind not in PLACE_KINDS for p in revision.places):
            msg = "a place may change only where the content is expected too"
            raise RevisionRefusedError(msg)
        if len(revision.places) != len(expect) - len(content):
            msg = "each place expectation has one in its place"
            raise RevisionRefusedError(msg)
        places = iter(revision.places)
        # Each in its own place: verdicts from before and after are compared one by one.
        expect = tuple(next(places) if e.kind in PLACE_KINDS else e for e in expect)
    new = step.model_copy(update={"segment": revision.segment, "expect": expect})
    steps = tuple(new if s.path == revision.step else s for s in plan.steps)
    return plan.model_copy(update={"steps": steps, "version": plan.version + 1})


def _what_is_sent(segment: tuple[Action, ...]) -> tuple[str, str | None] | None:
    for action in segment:
        if action.verb == "commit":
            return action.action.verb, action.request
    return None
