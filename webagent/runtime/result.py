"""What a run comes to, typed, for the Python interface and the command line."""

from __future__ import annotations

from typing import Literal, TypeAlias

from webagent.core.base import Frozen, Json
from webagent.core.page import Drift
from webagent.engine.decide import EXIT_PARKED
from webagent.engine.state import NodeState, RunState

Status: TypeAlias = Literal["met", "failed", "limit", "waiting", "unknown", "parked", "running"]

PARK_EXITS = {"person": 3, "limit": 4, "until": 0, "stopped": EXIT_PARKED}


class StepResult(Frozen):
    """How one step (or one item of a for_each) stands."""

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


class RunResult(Frozen):
    """How a run stands: status, exit code by the worst, and every step."""

    run: str
    recipe_id: str
    status: Status
    exit_code: int
    reason: str = ""
    date: str = ""
    changed: bool | None = None
    steps: dict[str, StepResult] = {}

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


def result_of(state: RunState) -> RunResult:
    """The result that a folded journal shows."""
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
                )  # fmt: skip
    status, code, reason = _status(state)
    return RunResult(
        run=started.run if started else "",
        recipe_id=started.recipe_id if started else "",
        status=status,
        exit_code=code,
        reason=reason,
        date=started.date if started else "",
        changed=state.finished.changed if state.finished else None,
        steps=steps,
    )


def _status(state: RunState) -> tuple[Status, int, str]:
    if state.finished is not None:
        bad = [n for n in state.nodes.values() if n.state in ("unmet", "unknown")]
        reason = f"{bad[0].path}: {bad[0].reason}" if bad and state.finished.exit_code else ""
        return state.finished.status, state.finished.exit_code, reason
    if state.parked is not None:
        status: Status = "waiting" if state.parked.cause == "person" else "parked"
        if state.parked.cause == "limit":
            status = "limit"
        return status, PARK_EXITS[state.parked.cause], state.parked.reason
    return "running", 1, "the run was interrupted; resume continues it"
