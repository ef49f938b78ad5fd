"""What a journal says: `fold(entries) -> RunState`, and the one table of allowed transitions.

The state holds nothing that is not in the events, so any prefix of a journal gives the state that
its runner had at that point. Who may do what next is decided in `engine.decide`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias, assert_never

from webagent.core import event as ev
from webagent.core.action import PASSIVE, Action
from webagent.core.base import Json
from webagent.core.errors import InvalidTransition
from webagent.core.page import Drift
from webagent.core.plan import Plan, Question, item_node, template_of
from webagent.core.revision import apply as apply_revision

NodeState: TypeAlias = Literal[
    "pending", "ready", "running", "revising", "waiting", "met", "unmet", "blocked", "skipped",
    "unknown",
]  # fmt: skip
EffectPhase: TypeAlias = Literal[
    "intended", "dispatched", "confirmed", "refused", "unknown", "freed"
]

# A rung whose author said "I cannot" is not asked again in this step.
EXHAUSTED = 1_000

FINAL: frozenset[NodeState] = frozenset({"met", "unmet", "blocked", "skipped", "unknown"})

# Which transitions exist; anything else raises. A final state is left only by a reopening
# (StepReopened) or, for those that are not met, by a resume (RunResumed).
TRANSITIONS: dict[NodeState, frozenset[NodeState]] = {
    "pending": frozenset({"ready", "skipped", "blocked"}),
    "ready": frozenset({
        "running", "skipped", "blocked", "met", "unmet", "unknown", "waiting", "pending",
    }),
    "running": frozenset({
        "revising", "met", "unmet", "unknown", "skipped", "waiting", "ready", "pending", "running",
    }),
    "revising": frozenset({
        "running", "unmet", "unknown", "waiting", "met", "ready", "pending", "skipped",
    }),
    "waiting": frozenset({"ready", "met", "unmet", "unknown", "pending", "waiting"}),
    "met": frozenset({"ready", "pending"}),
    "unmet": frozenset({"ready", "pending"}),
    "blocked": frozenset({"ready", "pending"}),
    "skipped": frozenset({"ready", "pending"}),
    "unknown": frozenset({"ready", "pending", "met"}),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Effect:
    """Where a node's effect stands in this run."""

    key: str
    phase: EffectPhase
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Spent:
    """What models have cost: ``tokens`` sent and received, ``money`` by the price tables."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    seconds: float = 0.0

    def plus(self, event: ev.ModelCalled) -> Spent:
        """With one more call."""
        sent = event.tokens_in + event.tokens_cached + event.tokens_written
        return Spent(
            self.calls + 1,
            self.tokens + sent + event.tokens_out,
            self.money + event.money,
            self.seconds + event.seconds,
        )


@dataclass(frozen=True, slots=True)
class Node:
    """The state of one step (or of one item of a for_each).

    ``attempt``: entries of its segment since the run began or was resumed. ``writes``: it sent
    input that may have written since it was last entered or reset. ``used``: hash of each
    referenced value when it was entered. ``generation``: the browser in which its page lives.
    ``rungs``: how often each rung was taken. ``pages`` and ``seconds`` are used so far.
    ``spent``: on models. ``page_given``: a step that continues this one has begun in its page, so
    the page is no longer as this one left it.
    """

    path: str
    state: NodeState = "pending"
    item: Json = None
    attempt: int = 0
    entries: int = 0
    outputs: Mapping[str, Json] = field(default_factory=dict)
    digest: str = ""
    former_digest: str = ""
    used: Mapping[str, str] = field(default_factory=dict)
    judged: ev.Judged | None = None
    rungs: Mapping[str, int] = field(default_factory=dict)
    effect: Effect | None = None
    writes: bool = False
    interrupted: bool = False
    generation: int = 0
    drift: Drift | None = None
    reason: str = ""
    already: bool = False
    pages: int = 0
    seconds: float = 0.0
    started_at: float | None = None
    finished_at: float | None = None
    reopened: Mapping[str, int] = field(default_factory=dict)
    question: Question | None = None
    about: str = ""
    answer: Json = None
    answered: bool = False
    limit: str | None = None
    last_rung: str = ""
    redo_from: int | None = None
    tried: tuple[tuple[Action, ...], ...] = ()
    executions: int = 0
    page_given: bool = False
    spent: Spent = Spent()

    def seconds_at(self, now: float) -> float:
        """Seconds that the step has taken by now (seconds since the epoch)."""
        return 0.0 if self.started_at is None else max(0.0, now - self.started_at)


@dataclass(frozen=True, slots=True)
class RunState:
    """All that the journal of one run says so far."""

    plan: Plan | None = None
    started: ev.RunStarted | None = None
    nodes: Mapping[str, Node] = field(default_factory=dict)
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seq: int = 0
    epoch: int = 0
    generation: int = 0
    finished: ev.RunFinished | None = None
    parked: ev.RunParked | None = None
    limit: ev.LimitHit | None = None
    sessions: Mapping[str, int] = field(default_factory=dict)
    renewing: Mapping[str, int] = field(default_factory=dict)
    first_at: float | None = None
    last_at: float | None = None
    active_seconds: float = 0.0
    any_reopened: bool = False
    gone_epochs: frozenset[int] = frozenset()
    originals: Mapping[str, tuple[Action, ...]] = field(default_factory=dict)
    healed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    said: Mapping[str, Literal["accepted", "rejected"]] = field(default_factory=dict)
    spent: Mapping[str, Spent] = field(default_factory=dict)

    def node(self, path: str) -> Node:
        """The state of a node; raises KeyError for one that does not exist."""
        return self.nodes[path]

    @property
    def over(self) -> bool:
        """Whether it came to its end, or as far as it was to come."""
        until = self.parked is not None and self.parked.cause == "until"
        return self.finished is not None or until

    @property
    def the_plan(self) -> Plan:
        """The plan; every state after PlanMade has one."""
        if self.plan is None:
            msg = "the journal has no plan yet"
            raise InvalidTransition(msg)
        return self.plan


def fold(entries: Iterable[ev.Entry], state: RunState | None = None) -> RunState:
    """The state after these entries, from nothing or going on from a state."""
    now = state or RunState()
    for entry in entries:
        now = advance(now, entry)
    return now


def advance(state: RunState, entry: ev.Entry) -> RunState:
    """The state after one more entry.

    Raises:
        InvalidTransition: the event cannot happen to its node in this state.
    """
    at = datetime.fromisoformat(entry.at).timestamp()
    gap = 0.0 if state.last_at is None else max(0.0, at - state.last_at)
    # Time between a park (or crash) and its resume is nobody's work.
    worked = 0.0 if isinstance(entry.event, ev.RunResumed) else gap
    state = replace(
        state,
        seq=entry.seq,
        epoch=entry.epoch,
        first_at=at if state.first_at is None else state.first_at,
        last_at=at,
        active_seconds=state.active_seconds + worked,
    )
    return _apply(state, entry.event, at)


def _apply(state: RunState, event: ev.Event, at: float) -> RunState:  # noqa: C901 - one arm an event
    match event:
        case ev.RunStarted():
            return replace(state, started=event)
        case ev.PlanMade():
            nodes = {step.path: Node(step.path) for step in event.plan.steps}
            return _ready(replace(state, plan=event.plan, nodes=nodes))
        case ev.RunResumed():
            return _resumed(state, event)
        case ev.BrowserStarted():
            return replace(state, generation=state.generation + 1)
        case ev.ItemsExpanded():
            return _expanded(state, event)
        case ev.StepStarted():
            return _start(state, event, at)
        case ev.ActionDispatched():
            return _dispatched(state, event)
        case ev.ActionDone():
            node = state.nodes[event.step]
            return _put(state, replace(node, pages=node.pages + event.happened.documents))
        case ev.ActionFailed():
            node = state.nodes[event.step]
            pages = node.pages + event.outcome.happened.documents
            return _put(state, replace(node, pages=pages))
        case ev.Judged():
            return _judged(state, event, at)
        case ev.RungTaken():
            return _put(state, _climbed(state, event))
        case ev.StepFinished():
            return _finished(state, event, at)
        case ev.StepReopened():
            return _reopened(state, event)
        case ev.SessionRenewed():
            key = event.origin
            counts = {**state.sessions, key: state.sessions.get(key, 0) + int(event.ok)}
            return replace(state, sessions=counts)
        case ev.EffectIntended():
            return _effect(state, event.step, Effect(event.key, "intended", event.attempt))
        case ev.EffectDispatched():
            return _effect(state, event.step, Effect(event.key, "dispatched", event.attempt))
        case ev.EffectConfirmed():
            return _effect(state, event.step, Effect(event.key, "confirmed", event.attempt))
        case ev.EffectRefused():
            return _effect(state, event.step, Effect(event.key, "refused", event.attempt))
        case ev.EffectUnknown():
            return _effect(state, event.step, Effect(event.key, "unknown", event.attempt))
        case ev.EffectFreed():
            return _effect(state, event.step, Effect(event.key, "freed", event.attempt))
        case ev.PlanRevised():
            return _revised(state, event)
        case ev.PersonAsked():
            node = state.nodes[event.step]
            asked = replace(
                _moved(node, "waiting"),
                question=event.question, about=event.about, answered=False, answer=None,
            )  # fmt: skip
            return _put(state, asked)
        case ev.PersonAnswered():
            node = state.nodes[event.step]
            return _put(state, replace(node, answered=True, answer=event.value))
        case ev.LimitHit():
            if not event.step:
                return replace(state, limit=event)
            return _put(state, replace(state.nodes[event.step], limit=event.limit))
        case ev.RunParked():
            return replace(state, parked=event)
        case ev.RunFinished():
            return replace(state, finished=event)
        case ev.RevisionRefused():
            node = state.nodes[event.step]
            return _put(state, replace(node, rungs={**node.rungs, event.rung: EXHAUSTED}))
        case ev.Observed() | ev.GuardRefused():
            return state
        case ev.ModelCalled():
            return _called(state, event)
        case ev.RevisionAccepted():
            return replace(state, said={**state.said, event.step: "accepted"})
        case ev.RevisionRejected():
            return replace(state, said={**state.said, event.step: "rejected"})
        case _:
            assert_never(event)


def _called(state: RunState, event: ev.ModelCalled) -> RunState:
    spent = {**state.spent, event.role: state.spent.get(event.role, Spent()).plus(event)}
    state = replace(state, spent=spent)
    if event.step not in state.nodes:
        return state
    node = state.nodes[event.step]
    return _put(state, replace(node, spent=node.spent.plus(event)))


def _put(state: RunState, node: Node) -> RunState:
    return replace(state, nodes={**state.nodes, node.path: node})


def _moved(node: Node, to: NodeState) -> Node:
    if to not in TRANSITIONS[node.state]:
        msg = f"{node.path} cannot go from {node.state} to {to}"
        raise InvalidTransition(msg)
    return replace(node, state=to)


def _start(state: RunState, event: ev.StepStarted, at: float) -> RunState:
    state = _put(state, _started(state, event, at))
    before = state.the_plan.step(event.step).continues
    if before is not None:
        state = _put(state, replace(state.nodes[before], page_given=True))
    return state


def _started(state: RunState, event: ev.StepStarted, at: float) -> Node:
    node = _moved(state.nodes[event.step], "running")
    # An entry from the start is an execution of the step; going on in its page is not.
    fresh = event.from_index == 0
    return replace(
        node,
        attempt=event.attempt,
        entries=node.entries + 1,
        executions=node.executions + int(fresh),
        used=event.used,
        interrupted=False,
        generation=state.generation,
        started_at=at if node.started_at is None else node.started_at,
        judged=None,
        redo_from=None,
        page_given=False,
    )


def _dispatched(state: RunState, event: ev.ActionDispatched) -> RunState:
    node = state.nodes[event.step]
    if event.segment == "reset":
        # A reset that began may have undone a part: it is done again, so it still counts as
        # writing.
        return state
    if event.segment != "step" or event.action.verb in PASSIVE or event.action.verb == "commit":
        return state
    if state.the_plan.step(event.step).effect == "none":
        return state
    return _put(state, replace(node, writes=True))


def _judged(state: RunState, event: ev.Judged, at: float) -> RunState:
    node = state.nodes[event.step]
    if event.phase == "after" or event.judgement == "met":
        node = replace(node, judged=event if event.phase == "after" else node.judged)
    else:
        node = replace(node, judged=event)
    if node.started_at is not None:
        node = replace(node, seconds=max(node.seconds, at - node.started_at))
    failed = event.judgement != "met" and event.phase in ("after", "before_commit")
    if failed and node.state in ("running", "revising"):
        if node.state == "running":
            node = _moved(node, "revising")
        node = replace(node, drift=event.drift, reason=event.reason)
    return _put(state, node)


def _climbed(state: RunState, event: ev.RungTaken) -> Node:
    node = state.nodes[event.step]
    rungs = {**node.rungs, event.rung: node.rungs.get(event.rung, 0) + 1}
    node = replace(node, rungs=rungs, last_rung=event.rung, redo_from=event.redo_from)
    if event.rung in (
        "wait", "regenerate", "find_again", "compose", "model", "extract", "split",
    ):  # fmt: skip
        return _moved(node, "running")
    if event.rung in ("renew", "reenter"):
        return replace(_moved(node, "ready"), question=None, about="", answered=False)
    if event.rung == "reopen":
        return replace(_moved(node, "pending"), judged=None)
    return node


def _finished(state: RunState, event: ev.StepFinished, at: float) -> RunState:
    node = _moved(state.nodes[event.step], event.state)
    node = replace(
        node,
        outputs=event.outputs,
        digest=event.digest,
        drift=event.drift,
        reason=event.reason,
        already=event.already,
        finished_at=at,
        seconds=node.seconds
        if node.started_at is None
        else max(node.seconds, at - node.started_at),
        interrupted=False,
        question=None,
    )
    return _ready(_put(state, node))


def _reopened(state: RunState, event: ev.StepReopened) -> RunState:
    node = state.nodes[event.step]
    if node.state not in FINAL:
        msg = f"{node.path} cannot be reopened: it is {node.state}"
        raise InvalidTransition(msg)
    reopened = {**node.reopened, event.cause: node.reopened.get(event.cause, 0) + 1}
    node = replace(
        _moved(node, "pending"),
        former_digest=node.digest if event.cause == "page_lost" else "",
        outputs={}, digest="", reopened=reopened, attempt=0, rungs={}, judged=None,
        started_at=None, seconds=0.0, pages=0, drift=None, reason="", already=False,
    )  # fmt: skip
    state = replace(_put(state, node), any_reopened=True)
    nodes = dict(state.nodes)
    for child in state.items.get(event.step, ()):
        del nodes[child]
    items = {k: v for k, v in state.items.items() if k != event.step}
    return _ready(replace(state, nodes=nodes, items=items))


def _expanded(state: RunState, event: ev.ItemsExpanded) -> RunState:
    nodes = dict(state.nodes)
    nodes[event.step] = _moved(nodes[event.step], "running")
    children = []
    for key, value in event.items:
        path = item_node(event.step, key)
        nodes[path] = Node(path, item=value, state="ready")
        children.append(path)
    return replace(state, nodes=nodes, items={**state.items, event.step: tuple(children)})


def _revised(state: RunState, event: ev.PlanRevised) -> RunState:
    old = state.the_plan.step(event.step)
    plan = apply_revision(state.the_plan, event.revision)
    originals = {old.path: old.segment or (), **state.originals}
    known = state.healed.get(old.path, {})
    # What was healed twice still stands for the recipe's own text.
    again = {new: known.get(was, was) for was, new in event.revision.healed}
    healed = {**state.healed, old.path: {**known, **again}}
    said = {path: word for path, word in state.said.items() if path != old.path}
    state = replace(state, plan=plan, originals=originals, healed=healed, said=said)
    node = state.nodes[event.step]
    return _put(state, replace(node, tried=(*node.tried, old.segment or ())))


def _effect(state: RunState, path: str, effect: Effect) -> RunState:
    return _put(state, replace(state.nodes[path], effect=effect))


def _resumed(state: RunState, event: ev.RunResumed) -> RunState:
    """Everything under way was interrupted, and what was not met may be tried again."""
    plan = event.plan or state.the_plan
    nodes: dict[str, Node] = {}
    keep = None if event.keep is None else frozenset(event.keep)
    known = {step.path for step in plan.steps}
    templates = {t: c for t, c in state.items.items() if t in known}
    for path, node in state.nodes.items():
        if template_of(path) in known:
            nodes[path] = _resumed_node(node, keep, is_template=path in templates)
    for step in plan.steps:
        nodes.setdefault(step.path, Node(step.path))
    gone = state.gone_epochs | frozenset(event.gone_epochs)
    started = state.started
    if started is not None and state.parked is not None and state.parked.cause == "until":
        # It came as far as it was to come: to go on means to go on from there.
        started = started.model_copy(update={"until": None})
    state = replace(
        state, plan=plan, nodes=nodes, items=templates, finished=None, parked=None, limit=None,
        gone_epochs=gone, started=started, originals={} if event.plan else state.originals,
        healed={} if event.plan else state.healed,
    )  # fmt: skip
    return _ready(state)


def _resumed_node(node: Node, keep: frozenset[str] | None, *, is_template: bool) -> Node:
    dropped = keep is not None and node.path not in keep and template_of(node.path) not in keep
    if node.state in ("met", "skipped") and not dropped:
        return node
    if node.state == "waiting" and not dropped:
        return node
    # A for_each goes on with the items it has; an interrupted step is entered again.
    if is_template and node.state in ("running", "unmet", "unknown") and not dropped:
        return replace(node, state="running", finished_at=None)
    effect = node.effect
    return Node(
        node.path,
        item=node.item,
        state="ready" if "[" in node.path else "pending",
        interrupted=node.state in ("running", "revising"),
        writes=node.writes,
        effect=effect,
        executions=node.executions,
        entries=node.entries,
        reopened=node.reopened,
        tried=node.tried,
        spent=node.spent,
    )


def _ready(state: RunState) -> RunState:
    """Pending nodes whose needs are met become ready; ready ones whose needs are not, pending."""
    plan = state.the_plan
    changed: dict[str, Node] = {}
    held = _below_reopened(state) if state.any_reopened else frozenset()
    for step in plan.steps:
        node = state.nodes[step.path]
        if node.state not in ("pending", "ready"):
            continue
        met = step.path not in held and all(state.nodes[need].state == "met" for need in step.needs)
        if met and step.needs_any:
            states = [state.nodes[need].state for need in step.needs_any]
            met = all(s in FINAL for s in states) and "met" in states
        wanted: NodeState = "ready" if met else "pending"
        if node.state != wanted:
            changed[step.path] = _moved(node, wanted)
    changed.update(_ready_items(state, held))
    return replace(state, nodes={**state.nodes, **changed}) if changed else state


def _ready_items(state: RunState, held: frozenset[str]) -> dict[str, Node]:
    """Items of a for_each that wait for an ancestor that they reopened go on when it is met."""
    changed: dict[str, Node] = {}
    for template, children in state.items.items():
        needs = state.the_plan.by_path[template].needs
        if template in held or any(state.nodes[need].state != "met" for need in needs):
            continue
        for child in children:
            if state.nodes[child].state == "pending":
                changed[child] = _moved(state.nodes[child], "ready")
    return changed


def _below_reopened(state: RunState) -> frozenset[str]:
    """The descendants of reopened steps that are not done again: their values may change."""
    open_again = [
        node.path
        for node in state.nodes.values()
        if node.reopened and node.state not in FINAL and "[" not in node.path
    ]
    return frozenset(path for top in open_again for path in state.the_plan.descendants(top))
