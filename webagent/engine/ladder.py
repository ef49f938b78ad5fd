"""The ladder: what is tried, in which order, when a step is not met.

Each rung has a budget of its own (retries, attempts, once for renewing and reopening). A rung that
the drift does not call for is not taken: a missing target is not cured by signing in again.
"""

from __future__ import annotations

from dataclasses import dataclass

from webagent.core.action import Goto, Read, first_acting, reads_pages
from webagent.core.event import Judged
from webagent.core.page import Drift
from webagent.core.plan import PlanStep
from webagent.core.revision import Rung
from webagent.engine.allowance import attempts_of, retries_of
from webagent.engine.bind import used_hashes
from webagent.engine.classify import goto_sources, target_sources
from webagent.engine.state import FINAL, Node, RunState

# DESIGN section 12, Rungs by drift. `reenter` stands where an in-place rung needs a page and there
# is none; find_again, regenerate, model and split are left out where no planner serves them.
RUNGS: dict[Drift, tuple[Rung, ...]] = {
    "slow": ("wait",),
    "server_error": ("wait",),
    "signed_out": ("renew",),
    "target_missing": ("find_again", "regenerate", "model", "extract"),
    "target_ambiguous": ("find_again", "regenerate", "model", "extract"),
    "page_moved": ("regenerate", "model", "split"),
    "wrong_page": ("regenerate", "model", "split"),
    # What lies over the page may go by itself: waiting comes last, once nobody could remove it.
    "unexpected_event": ("regenerate", "model", "split", "wait"),
    "output_invalid": ("regenerate", "model", "extract"),
    "page_lost": ("reenter",),
    # What still says today's value is the thing itself under another name; else its source is old.
    "stale_input": ("find_again", "reopen"),
    "value_differs": ("ask",),
    "precondition_unmet": ("ask",),
    "blocked_by_site": ("ask",),
    "effect_unknown": ("probe",),
}
# Of a step that has no segment yet: what it fails at is that, but for what no segment would help.
UNWRITTEN: dict[Drift, tuple[Rung, ...]] = {
    "signed_out": ("renew",),
    "page_lost": ("reenter",),
    "blocked_by_site": ("ask",),
}
# A segment of many actions may drift at each of them; a planner never gives one again that was
# tried, so that each revision is another one.
REVISIONS: dict[Rung, int] = {
    "find_again": 8,
    "regenerate": 6,
    "split": 3,
    "compose": 2,
    "model": 2,
    "extract": 1,
}
RENEWALS = 2
WAIT_SECONDS = 0.5
LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What this run can do beside the plan: which rungs have something behind them.

    ``rungs``: what the planner serves, if there is one.
    """

    planner: bool = False
    unattended: bool = False
    rungs: frozenset[Rung] = frozenset({"regenerate"})


@dataclass(frozen=True, slots=True)
class Climb:
    """The next rung for a node. ``target``: the ancestor to reopen or the sign-in to renew."""

    rung: Rung
    drift: Drift
    nth: int = 1
    seconds: float = 0.0
    redo_from: int | None = None
    target: str = ""
    note: str = ""


def climb(state: RunState, node: Node, can: Capabilities) -> Climb:
    """The next rung for a node whose last verdict was not met."""
    judged = node.judged
    drift: Drift = node.drift or "wrong_page"
    if judged is None:
        return Climb("fail", drift, note="never judged")
    step = state.the_plan.step(node.path)
    if judged.judgement == "unknown" and judged.phase == "after" and drift != "page_lost":
        return Climb("fail", drift, note=node.reason)
    for rung in RUNGS[drift] if step.segment is not None else UNWRITTEN.get(drift, ("compose",)):
        found = _try(rung, state, node, step, judged, can)
        if found is not None:
            return found
    return Climb("fail", drift, note=node.reason)


def _try(
    rung: Rung, state: RunState, node: Node, step: PlanStep, judged: Judged, can: Capabilities
) -> Climb | None:
    drift: Drift = node.drift or "wrong_page"
    used = node.rungs.get(rung, 0)
    past_commit = node.effect is not None and node.effect.phase in (
        "dispatched",
        "confirmed",
        "unknown",
    )
    if past_commit:
        return None
    match rung:
        case "wait":
            return _wait(node, step, judged, used)
        case "renew":
            return _renew(state, node, step, used)
        case "reenter":
            ok = node.attempt < attempts_of(step) and _may_reenter(step, node)
            return Climb("reenter", drift, used + 1, redo_from=0) if ok else None
        case "reopen":
            ancestor = stale_ancestor(state, node)
            return None if ancestor is None else Climb("reopen", drift, used + 1, target=ancestor)
        case "compose" | "model":
            ok = rung in can.rungs and used < REVISIONS[rung]
            fits = (step.segment is None) == (rung == "compose")
            return Climb(rung, drift, used + 1) if ok and fits else None
        case "extract":
            ok = rung in can.rungs and used < REVISIONS[rung] and _only_reads_are_left(step, judged)
            return Climb(rung, drift, used + 1) if ok else None
        case "find_again" | "regenerate" | "split":
            ok = can.planner and rung in can.rungs and used < REVISIONS[rung]
            return Climb(rung, drift, used + 1) if ok and step.segment is not None else None
        case "ask":
            return _ask(node, step, judged, can, used)
        case _:
            return None


def _only_reads_are_left(step: PlanStep, judged: Judged) -> bool:
    """Whether all that failed is reading: a person's eyes on the page would do."""
    segment = step.segment or ()
    index = judged.failed_index
    if index is None:
        return judged.drift == "output_invalid" and any(isinstance(a, Read) for a in segment)
    return bool(segment[index:]) and all(isinstance(a, Read) for a in segment[index:])


def _wait(node: Node, step: PlanStep, judged: Judged, used: int) -> Climb | None:
    """Wait and go on in place where nothing was written; else enter again where that is allowed."""
    drift: Drift = node.drift or "slow"
    if used >= retries_of(step):
        return None
    if drift == "unexpected_event":
        index = judged.failed_index
        sent = index is None or not judged.in_the_way
        return None if sent else Climb("wait", drift, used + 1, redo_from=index)
    # What a site asks for with Retry-After is honoured up to a minute; beyond, it is not for us.
    asked = judged.retry_after
    if asked is not None and asked > LONGEST_WAIT:
        return None
    seconds = (
        asked if asked is not None else WAIT_SECONDS * 2**used if drift == "server_error" else 0.0
    )
    redo = _redo_in_place(step, judged, drift)
    waited = used and drift == "slow" and judged.failed_index is None
    if waited and step.effect != "once" and step.continues is None:
        # Waiting did not bring what was expected: the input may have met a page that was not ready.
        redo = None
    if redo is not None:
        return Climb("wait", drift, used + 1, seconds=seconds, redo_from=redo)
    if not _may_reenter(step, node):
        return None
    return Climb("wait", drift, used + 1, seconds=seconds, redo_from=0)


def _redo_in_place(step: PlanStep, judged: Judged, drift: Drift) -> int | None:
    """From which action to go on in the page as it stands: never across one that was sent."""
    segment = step.segment or ()
    index = judged.failed_index
    if drift == "slow" and not (index is not None and reads_pages(segment[index : index + 1])):
        # Nothing failed but an expectation did not come: only judge again.
        return len(segment) if index is None else index
    if index is None:
        index = len(segment)
    # A list that was being read page by page stands somewhere in its middle.
    acting = first_acting(segment)
    if acting is not None and acting < index:
        return None
    for i in range(min(index, len(segment) - 1), -1, -1):
        if isinstance(segment[i], Goto):
            return i
    return None


def _may_reenter(step: PlanStep, node: Node) -> bool:
    """Whether entering from the start redoes no write that may not be redone."""
    if step.effect in ("none", "repeatable") or not node.writes:
        return True
    return step.reset is not None


def _ask(node: Node, step: PlanStep, judged: Judged, can: Capabilities, used: int) -> Climb | None:
    """A person can change what the page or the site says (a price, a block): then try it again.

    Only where nothing was sent and somebody is there; unattended the step fails with its reason.
    """
    changeable = judged.phase == "before_commit" or node.drift == "blocked_by_site"
    if can.unattended or not changeable:
        return None
    if node.attempt >= attempts_of(step) or not _may_reenter(step, node):
        return None
    return Climb("ask", node.drift or "precondition_unmet", used + 1, note=node.reason)


def _renew(state: RunState, node: Node, step: PlanStep, used: int) -> Climb | None:
    if used >= RENEWALS or not _may_reenter(step, node):
        return None
    sign_in = sign_in_of(state, node)
    if sign_in is None:
        return None
    return Climb("renew", "signed_out", used + 1, target=sign_in, redo_from=0)


def sign_in_of(state: RunState, node: Node) -> str | None:
    """The sign_in step that a node works under: its own, or the one needed, directly or not."""
    plan = state.the_plan
    step = plan.step(node.path)
    if step.sign_in is not None or step.do == "sign_in":
        return step.sign_in
    found = [
        s.path for s in plan.steps if s.do == "sign_in" and step.path in plan.descendants(s.path)
    ]
    return found[0] if len(found) == 1 else None


def stale_ancestor(state: RunState, node: Node) -> str | None:
    """The one ancestor that read the value which went stale, if it may be reopened.

    From the failing URL or target back through the steps that only pass values on (compare, ask) to
    the step that read it from a page. Reopened at most once, and never past an effect.
    """
    plan = state.the_plan
    step = plan.step(node.path)
    index = node.judged.failed_index if node.judged else None
    sources = target_sources(step, index) or goto_sources(step, index)
    for source in sources:
        path = _origin_of_value(state, source)
        if path is not None and (
            _is_asked_anew(state, path, node) or may_reopen(state, path, step.path)
        ):
            return path
    return None


def _is_asked_anew(state: RunState, ancestor: str, node: Node) -> bool:
    """Whether another step has had this ancestor reopened since the node was entered.

    Then the node only has to wait for it: two steps that find one value stale reopen it once.
    """
    found = state.nodes[ancestor]
    if not found.reopened.get("stale_input"):
        return False
    return found.state not in FINAL or node.used != used_hashes(state, node.path)


def _origin_of_value(state: RunState, source: tuple[str, ...]) -> str | None:
    plan = state.the_plan
    path, *fields = source
    step = plan.by_path.get(path)
    if step is None:
        return None
    if step.segment:
        return path
    value: object = state.nodes[path].outputs
    for name in fields:
        value = value.get(name) if isinstance(value, dict) else None
    # A compare passes rows on: the one among its sources whose outputs hold this value read it.
    candidates = [use[0] for use in step.uses if use[0]]
    for candidate in dict.fromkeys(candidates):
        if value is not None and _holds_value(state.nodes[candidate].outputs, value):
            return _origin_of_value(state, (candidate, *fields))
    return None


def _holds_value(tree: object, value: object) -> bool:
    if tree == value:
        return True
    if isinstance(tree, dict):
        return any(_holds_value(v, value) for v in tree.values())
    return isinstance(tree, list | tuple) and any(_holds_value(v, value) for v in tree)


def may_reopen(state: RunState, ancestor: str, by: str) -> bool:
    """Whether an ancestor may be done again for a step below it: once, and never past an effect."""
    plan = state.the_plan
    if state.nodes[ancestor].reopened.get("stale_input", 0) or state.nodes[ancestor].state != "met":
        return False
    below = set(plan.descendants(ancestor))
    between = {p for p in below if by in plan.descendants(p)} | {ancestor, by}
    for path, node in state.nodes.items():
        template = path.split("[", 1)[0]
        if template in between and node.effect is not None and node.effect.phase in (
            "dispatched", "confirmed", "unknown",
        ):  # fmt: skip
            return False
    return True
