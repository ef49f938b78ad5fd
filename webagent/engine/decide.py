"""What may be done next: `next_moves(plan, state) -> Moves`, a pure function of the journal.

The runtime starts the moves of nodes that nobody is working on; whatever they do comes back as
events. So resume, replay and the crash tests are functions of a prefix of the journal. A move is
given for a node in ``running`` only after it was interrupted (RunResumed made it ready again).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from webagent.core.ends import steps_until
from webagent.core.errors import ExpressionError
from webagent.core.event import RunStatus
from webagent.core.limits import TABS
from webagent.core.page import Drift
from webagent.core.plan import PAGELESS, PlanStep, Question, template_of
from webagent.core.values import fingerprint
from webagent.engine.allowance import attempts_of
from webagent.engine.bind import effect_key, question_of, used_hashes, when_holds
from webagent.engine.guard import origins
from webagent.engine.ladder import Capabilities, Climb, climb
from webagent.engine.state import FINAL, Node, RunState


@dataclass(frozen=True, slots=True)
class Enter:
    """Work a step's segment from its start. ``reset``: undo first what an earlier entry wrote."""

    node: str
    attempt: int
    reset: bool = False


@dataclass(frozen=True, slots=True)
class TakeRung:
    """Do what the ladder says for a node that was not met."""

    node: str
    climb: Climb


@dataclass(frozen=True, slots=True)
class Compute:
    """Evaluate a compare step."""

    node: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Put a step's question to a person."""

    node: str
    question: Question


@dataclass(frozen=True, slots=True)
class TakeAnswer:
    """A person answered: the ask step is met with it."""

    node: str


@dataclass(frozen=True, slots=True)
class Expand:
    """Freeze the items of a for_each."""

    node: str


@dataclass(frozen=True, slots=True)
class Join:
    """All items of a for_each have ended: judge the whole."""

    node: str


@dataclass(frozen=True, slots=True)
class CheckEffect:
    """Find out whether a dispatched effect happened: stored row, probe, or a person."""

    node: str


@dataclass(frozen=True, slots=True)
class Conclude:
    """End a node without working on it. ``reset``: it wrote before it was abandoned."""

    node: str
    state: Literal["skipped", "blocked", "unmet"]
    reason: str
    drift: Drift | None = None
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Reopen:
    """A finished step has to run again, by name, with its cause."""

    node: str
    cause: Literal["page_lost", "stale_input", "upstream_reopened"]
    by: str


@dataclass(frozen=True, slots=True)
class Park:
    """Nothing can go on until a person or a limit says so."""

    cause: Literal["person", "limit", "until"]
    reason: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over."""

    status: RunStatus
    exit_code: int


NodeMove: TypeAlias = (
    Enter | TakeRung | Compute | Ask | TakeAnswer | Expand | Join | CheckEffect | Conclude | Reopen
)
Move: TypeAlias = NodeMove | Park | Finish

EXIT_MET, EXIT_FAILED, EXIT_BAD_INPUT, EXIT_PERSON, EXIT_LIMIT, EXIT_EFFECT, EXIT_STORE = range(7)
EXIT_PARKED = 130


def next_moves(
    state: RunState, can: Capabilities | None = None, *, now: float | None = None, tabs: int = TABS
) -> tuple[Move, ...]:
    """Every move that may begin now, in plan order; a single Park or Finish when none is left.

    ``now`` (seconds since the epoch) is only for values that go stale with time (``fresh``).
    """
    can = can or Capabilities()
    if state.finished is not None or state.plan is None:
        return ()
    if state.limit is not None:
        return (Park("limit", f"the errand's limit of {state.limit.limit} is used up"),)
    wanted = _wanted(state)
    moves: list[Move] = []
    busy = _busy(state)
    for path in _order(state, wanted):
        node = state.nodes[path]
        moves.extend(_for_node(state, node, can, busy, tabs, now))
    reopenings = tuple(dict.fromkeys(m for m in moves if isinstance(m, Reopen)))
    if reopenings:
        # First what has to run again is open again; then its dependants wait for it by themselves.
        return reopenings
    if moves:
        return tuple(moves)
    if any(
        state.nodes[p].state in ("running", "revising") and p not in state.items
        for p in state.nodes
    ):
        return ()
    return (_end(state, wanted),)


def _wanted(state: RunState) -> frozenset[str]:
    """The steps that this run is to work on: all, or with ``until`` that step and what it needs."""
    until = state.started.until if state.started is not None else None
    return steps_until(state.the_plan, until)


def _order(state: RunState, wanted: frozenset[str]) -> Iterator[str]:
    for step in state.the_plan.steps:
        if step.path in wanted:
            yield step.path
            yield from state.items.get(step.path, ())


class _Busy:
    """What is at work: how many pages, on which origins, writing or not, and which effects."""

    def __init__(self) -> None:
        self.pages = 0
        self.origins: list[tuple[frozenset[str], bool]] = []
        self.effects: set[str] = set()

    def clashes(self, where: frozenset[str], writes: bool) -> bool:
        return any(where & other and (writes or others) for other, others in self.origins)

    def add(self, where: frozenset[str], writes: bool) -> None:
        self.pages += 1
        self.origins.append((where, writes))


def _busy(state: RunState) -> _Busy:
    busy = _Busy()
    for path, node in state.nodes.items():
        step = state.the_plan.step(path)
        if (
            node.state in ("running", "revising")
            and step.do not in PAGELESS
            and path not in state.items
        ):
            busy.add(frozenset(origins(state, path)), step.effect != "none")
            busy.effects.add(_effect_of(state, path, step))
    return busy


def _effect_of(state: RunState, path: str, step: PlanStep) -> str:
    """The key of a once step's effect; "" for other steps, and where it cannot be told yet."""
    if step.effect != "once":
        return ""
    try:
        return effect_key(state, path)
    except ExpressionError:
        return ""


def _for_node(
    state: RunState, node: Node, can: Capabilities, busy: _Busy, tabs: int, now: float | None
) -> Iterator[NodeMove]:
    step = state.the_plan.step(node.path)
    match node.state:
        case "pending":
            yield from _of_pending(state, node, step)
        case "ready":
            yield from _of_ready(state, node, step, busy, tabs, now)
        case "running":
            if node.path in state.items:
                children = [state.nodes[c] for c in state.items[node.path]]
                if all(c.state in FINAL for c in children):
                    yield Join(node.path)
        case "revising":
            yield from _of_revising(state, node, can)
        case "waiting":
            if node.answered:
                yield TakeAnswer(node.path)
        case "met" | "skipped":
            yield from _of_finished(state, node, step)
        case "unmet" | "blocked" | "unknown":
            pass


def _of_pending(state: RunState, node: Node, step: PlanStep) -> Iterator[NodeMove]:
    needs = [state.nodes[need] for need in step.needs]
    bad = [n for n in needs if n.state in ("unmet", "blocked", "unknown")]
    skipped = [n for n in needs if n.state == "skipped"]
    any_ended = step.needs_any and all(state.nodes[n].state in FINAL for n in step.needs_any)
    if bad:
        if all(n.state in FINAL for n in needs):
            why = f"{bad[0].path} is {bad[0].state}"
            yield Conclude(node.path, "blocked", why, reset=_must_reset(node, step))
    elif skipped:
        why = f"{skipped[0].path} was skipped"
        yield Conclude(node.path, "skipped", why, reset=_must_reset(node, step))
    elif any_ended and not any(state.nodes[n].state == "met" for n in step.needs_any):
        states = {state.nodes[n].state for n in step.needs_any}
        if states == {"skipped"}:
            yield Conclude(node.path, "skipped", "all alternatives were skipped")
        else:
            yield Conclude(node.path, "blocked", "none of the alternatives is met")


def _must_reset(node: Node, step: PlanStep) -> bool:
    return node.writes and step.reset is not None and not _spent(node)


def _spent(node: Node) -> bool:
    return node.effect is not None and node.effect.phase in ("dispatched", "confirmed", "unknown")


def _of_ready(
    state: RunState, node: Node, step: PlanStep, busy: _Busy, tabs: int, now: float | None
) -> Iterator[NodeMove]:
    if _spent(node):
        yield CheckEffect(node.path)
        return
    if reopening := _stale_by_age(state, node, step, now):
        yield reopening
        return
    try:
        holds = when_holds(state, node.path)
    except ExpressionError as error:
        yield Conclude(node.path, "unmet", f"when: {error.message}", "precondition_unmet")
        return
    if not holds:
        why = f"when: {step.when or 'a condition around it'} does not hold"
        yield Conclude(node.path, "skipped", why, reset=_must_reset(node, step))
    elif step.for_each is not None and "[" not in node.path:
        yield Expand(node.path)
    elif step.do == "compare":
        yield Compute(node.path)
    elif step.do == "ask":
        yield _ask(state, node)
    elif unchanged := _unchanged(state, step):
        yield Conclude(node.path, "skipped", unchanged)
    else:
        yield from _enter(state, node, step, busy, tabs)


def _ask(state: RunState, node: Node) -> Ask | Conclude:
    try:
        return Ask(node.path, question_of(state, node.path))
    except ExpressionError as error:
        return Conclude(node.path, "unmet", f"question: {error.message}", "precondition_unmet")


def _unchanged(state: RunState, step: PlanStep) -> str:
    """With on_change, an effect is only for a run in which one of its fields differs from last."""
    fields = state.the_plan.on_change
    started = state.started
    if not fields or step.effect != "once" or started is None or started.last is None:
        return ""
    if changed(state):
        return ""
    return f"unchanged since the last run: {', '.join(fields)}"


def changed(state: RunState) -> bool | None:
    """Whether an on_change field differs from the last met run; None without on_change or last."""
    started = state.started
    if not state.the_plan.on_change or started is None or started.last is None:
        return None
    for field in state.the_plan.on_change:
        path, *rest = field.split(".")
        while path not in state.the_plan.by_path and rest:
            path = f"{path}/{rest.pop(0)}"
        node = state.nodes.get(path)
        new: object = dict(node.outputs) if node is not None else None
        old: object = started.last.get(path)
        for name in rest:
            new = new.get(name) if isinstance(new, dict) else None
            old = old.get(name) if isinstance(old, dict) else None
        if fingerprint(new) != fingerprint(old):
            return True
    return False


def _enter(
    state: RunState, node: Node, step: PlanStep, busy: _Busy, tabs: int
) -> Iterator[NodeMove]:
    if step.continues is not None:
        before = state.nodes[step.continues]
        if before.page_given or before.generation != state.generation:
            yield from _reopen_chain(state, node, step)
            return
    if node.attempt >= attempts_of(step):
        tried = f"entered {node.attempt} times"
        why = f"{node.reason}; {tried}" if node.reason else tried
        yield Conclude(node.path, "unmet", why, node.drift)
        return
    if "[" in node.path and _sibling_drifts(state, node):
        return
    where = frozenset(origins(state, node.path))
    writes = step.effect != "none"
    if busy.pages >= tabs or busy.clashes(where, writes):
        return
    effect = _effect_of(state, node.path, step)
    if effect and effect in busy.effects:
        # Two steps may share one effect: whoever comes second waits, and finds it done.
        return
    busy.add(where, writes)
    busy.effects.add(effect)
    yield Enter(node.path, node.attempt + 1, reset=_must_reset(node, step))


def _sibling_drifts(state: RunState, node: Node) -> bool:
    """After a drift in one item the others wait until it is over: its revision serves them."""
    siblings = (state.nodes[c] for c in state.items[template_of(node.path)] if c != node.path)
    return any(
        s.state == "revising"
        or (s.state == "running" and s.rungs)
        or (s.state == "ready" and s.rungs)
        for s in siblings
    )


def _reopen_chain(state: RunState, node: Node, step: PlanStep) -> Iterator[NodeMove]:
    """The page that a step goes on in is gone: its chain is entered again where a URL leads in."""
    chain = state.the_plan.chain(step.path)[:-1]
    if any(_spent(state.nodes[path]) for path in chain):
        why = "its page is lost, and the steps before it in that page hold an effect"
        yield Conclude(node.path, "unmet", why, "page_lost")
        return
    if (
        node.attempt >= attempts_of(step)
        or state.nodes[chain[0]].reopened.get("page_lost", 0) >= _CHAIN_LIMIT
    ):
        yield Conclude(
            node.path, "unmet", node.reason or "its page is lost", node.drift or "page_lost"
        )
        return
    for path in reversed(chain):
        before = state.nodes[path]
        if before.generation == state.generation and not before.page_given:
            break
        if before.state == "met":
            yield Reopen(path, "page_lost", node.path)


# A chain that is lost again and again is a site that does not let itself be worked in tabs.
_CHAIN_LIMIT = 5


def _stale_by_age(state: RunState, node: Node, step: PlanStep, now: float | None) -> Reopen | None:
    if now is None:
        return None
    for need in step.needs:
        fresh = state.the_plan.by_path[need].fresh
        done = state.nodes[need]
        if fresh is None or done.finished_at is None or done.reopened.get("stale_input"):
            continue
        if now - done.finished_at > fresh and not _spent(done):
            return Reopen(need, "stale_input", node.path)
    return None


def _of_revising(state: RunState, node: Node, can: Capabilities) -> Iterator[NodeMove]:
    if node.effect is not None and node.effect.phase in ("dispatched", "unknown"):
        yield CheckEffect(node.path)
    else:
        yield TakeRung(node.path, climb(state, node, can))


def _of_finished(state: RunState, node: Node, step: PlanStep) -> Iterator[NodeMove]:
    """Early cut-off: after a reopening, redo only what used a value that is now another."""
    if not state.any_reopened or "[" in node.path:
        return
    if any(state.nodes[n].state not in ("met", "skipped") for n in step.needs):
        return
    if node.state == "met":
        if not node.used or node.used == used_hashes(state, node.path):
            return
        effects = [node, *(state.nodes[c] for c in state.items.get(node.path, ()))]
        if not any(_spent(n) for n in effects):
            yield Reopen(node.path, "upstream_reopened", node.path)
    elif node.reason.startswith("when:"):
        try:
            holds = when_holds(state, node.path)
        except ExpressionError:
            return
        if holds:
            yield Reopen(node.path, "upstream_reopened", node.path)
    elif any_now_met(state, step) and "was skipped" in node.reason:
        yield Reopen(node.path, "upstream_reopened", node.path)


def any_now_met(state: RunState, step: PlanStep) -> bool:
    """Whether all that a skipped step needs is met now."""
    return bool(step.needs) and all(state.nodes[n].state == "met" for n in step.needs)


def _end(state: RunState, wanted: frozenset[str]) -> Park | Finish:
    nodes = [state.nodes[p] for p in _order(state, wanted) if not _allowed(state, state.nodes[p])]
    waiting = [n for n in nodes if n.state == "waiting"]
    doubtful = [n for n in nodes if _refused_or_unknown(n)]
    limited = [n for n in nodes if n.limit is not None and n.state == "unmet"]
    if waiting and not doubtful:
        return Park("person", f"{waiting[0].path} waits for an answer")
    if doubtful:
        refused = all(n.effect is not None and n.effect.phase == "refused" for n in doubtful)
        return Finish("failed" if refused else "unknown", EXIT_EFFECT)
    if limited:
        return Finish("limit", EXIT_LIMIT)
    # One that did not end was forgotten, which is a bug; whatever it is, it is not success.
    if any(n.state in ("unmet", "blocked") or n.state not in FINAL for n in nodes):
        return Finish("failed", EXIT_FAILED)
    until = state.started.until if state.started is not None else None
    if until is not None and wanted != frozenset(state.the_plan.by_path):
        return Park("until", f"done up to {until}")
    return Finish("met", EXIT_MET)


def _allowed(state: RunState, node: Node) -> bool:
    """Whether a failed item is one that its for_each allows to fail (the join decided that).

    Only where it is known that nothing happened: nothing was sent, or the site refused it.
    """
    template = template_of(node.path)
    known = node.effect is None or node.effect.phase not in ("dispatched", "unknown")
    ended = node.state in ("unmet", "blocked")
    return known and ended and template != node.path and state.nodes[template].state == "met"


def _refused_or_unknown(node: Node) -> bool:
    if node.state == "unknown":
        return True
    return node.state == "unmet" and node.effect is not None and node.effect.phase in (
        "refused", "unknown", "dispatched",
    )  # fmt: skip
