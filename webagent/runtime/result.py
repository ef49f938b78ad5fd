"""What a run comes to, typed, for the Python interface and the command line."""

from __future__ import annotations

from typing import Literal, TypeAlias

from webagent.core.base import Frozen, Json
from webagent.core.page import Drift
from webagent.core.plan import Question, template_of
from webagent.engine.decide import EXIT_PARKED
from webagent.engine.state import Node, NodeState, RunState, Spent

Status: TypeAlias = Literal[
    "met", "failed", "limit", "waiting", "unknown", "parked", "running", "interrupted"
]

PARK_EXITS = {"person": 3, "limit": 4, "until": 0, "stopped": EXIT_PARKED}


class ModelCost(Frozen):
    """What models cost: ``tokens`` sent and received, cached ones too; ``money`` by price table."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    seconds: float = 0.0

    @classmethod
    def of(cls, spent: Spent) -> ModelCost:
        """As it was folded."""
        return cls(
            calls=spent.calls, tokens=spent.tokens, money=round(spent.money, 8),
            seconds=round(spent.seconds, 3),
        )  # fmt: skip


class StepResult(Frozen):
    """How one step (or one item of a for_each) stands.

    ``question``: what a person is asked, while nobody has answered. ``models``: what it cost.
    """

    path: str
    state: NodeState
    outputs: dict[str, Json] = {}
    drift: Drift | None = None
    reason: str = ""
    already: bool = False
    executions: int = 0
    reopened: dict[str, int] = {}
    rungs: dict[str, int] = {}
    pages: int = 0
    seconds: float = 0.0
    effect: str | None = None
    effect_key: str | None = None
    question: Question | None = None
    models: ModelCost | None = None


class RunResult(Frozen):
    """How a run stands: status, exit code by the worst, and every step.

    ``interrupted`` is a run that did not end and that nobody works on any more. ``recipe_file`` is
    the recipe's path as it was given. ``proposed``: met steps whose segment was revised and that
    wait for a word on it (`accept`, `reject`); ``accepted``: those that had one. ``models``: what
    each role cost.
    """

    run: str
    recipe_id: str
    recipe_file: str = ""
    status: Status
    exit_code: int
    reason: str = ""
    date: str = ""
    changed: bool | None = None
    steps: dict[str, StepResult] = {}
    proposed: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    models: dict[str, ModelCost] = {}

    @property
    def ok(self) -> bool:
        """Whether every step that had to be met is met."""
        return self.status == "met"

    @property
    def outputs(self) -> dict[str, dict[str, Json]]:
        """Outputs by step, of those that are met."""
        return {p: s.outputs for p, s in self.steps.items() if s.state == "met" and "[" not in p}

    def __getitem__(self, path: str) -> StepResult:
        """A step by its path."""
        return self.steps[path]


def result_of(state: RunState, *, held: bool = False) -> RunResult:
    """The result that a folded journal shows; ``held``: somebody is working on the run."""
    started = state.started
    steps: dict[str, StepResult] = {}
    if state.plan is not None:
        for step in state.plan.steps:
            for path in (step.path, *state.items.get(step.path, ())):
                node = state.nodes[path]
                steps[path] = StepResult(
                    path=path, state=node.state, outputs=dict(node.outputs), drift=node.drift,
                    reason=node.reason, already=node.already, executions=node.executions,
                    reopened=dict(node.reopened), rungs=dict(node.rungs), pages=node.pages,
                    seconds=round(node.seconds, 3),
                    effect=node.effect.phase if node.effect else None,
                    effect_key=node.effect.key if node.effect else None,
                    question=_open_question(node),
                    models=ModelCost.of(node.spent) if node.spent.calls else None,
                )  # fmt: skip
    status, code, reason = _status(state, held=held)
    return RunResult(
        run=started.run if started else "",
        recipe_id=started.recipe_id if started else "",
        recipe_file=started.recipe_file if started else "",
        status=status,
        exit_code=code,
        reason=reason,
        date=started.date if started else "",
        changed=state.finished.changed if state.finished else None,
        steps=steps,
        proposed=_proposed(state),
        accepted=tuple(path for path, word in state.said.items() if word == "accepted"),
        models={role: ModelCost.of(spent) for role, spent in state.spent.items()},
    )


def _proposed(state: RunState) -> tuple[str, ...]:
    """Steps that were met with a segment which is not the recipe's, once the run is over."""
    if not state.over:
        return ()
    return tuple(
        step.path
        for step in state.the_plan.steps
        if step.path in state.originals
        and step.path not in state.said
        and any(
            state.nodes[node].state == "met"
            for node in (step.path, *state.items.get(step.path, ()))
        )
    )


def _open_question(node: Node) -> Question | None:
    return node.question if node.state == "waiting" and not node.answered else None


def _status(state: RunState, *, held: bool) -> tuple[Status, int, str]:
    if state.finished is not None:
        reason = _worst(state) if state.finished.exit_code else ""
        return state.finished.status, state.finished.exit_code, reason
    if state.parked is not None:
        status: Status = "waiting" if state.parked.cause == "person" else "parked"
        if state.parked.cause == "limit":
            status = "limit"
        asked = _asked(state) if state.parked.cause == "person" else ""
        return status, PARK_EXITS[state.parked.cause], asked or state.parked.reason
    if held:
        return "running", 1, ""
    return "interrupted", 1, "its runner is gone; resume continues it"


def _worst(state: RunState) -> str:
    """The reason of the first node that failed; not of an item that its for_each lets fail."""
    for node in state.nodes.values():
        template = template_of(node.path)
        let = template != node.path and state.nodes[template].state == "met"
        if node.state in ("unmet", "unknown") and not let:
            return f"{node.path}: {node.reason}"
    return ""


def _asked(state: RunState) -> str:
    """The first question that nobody has answered yet."""
    for node in state.nodes.values():
        if (question := _open_question(node)) is not None:
            return f"{node.path} waits for an answer: {question.text}"
    return ""
