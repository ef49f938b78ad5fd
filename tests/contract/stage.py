"""What the store's tests need around a store: a clock of their own, holders, small journals."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from webagent.core.effect import EffectChange, EffectRow, EffectState
from webagent.core.event import ActionDone, Entry, Event, RunFinished, RunStarted, StepFinished
from webagent.ports import Runner


class ManualClock:
    """`ports.Clock` whose time passes only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 12, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class SystemClock(ManualClock):
    """The present, for tests with several processes."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass
class Processes:
    """Which holders are known to be gone, as a test says."""

    gone: set[int] = field(default_factory=set)

    def __call__(self, runner: Runner) -> bool:
        return runner.pid in self.gone


def runner(pid: int) -> Runner:
    return Runner(host="here", boot="b", pid=pid, started=float(pid))


def started(run: str = "r1", recipe: str = "cable") -> RunStarted:
    return RunStarted(run=run, recipe_id=recipe, date="2026-11-30")


def done(index: int, step: str = "a") -> ActionDone:
    return ActionDone(step=step, index=index, verb="click", ms=1.5)


def met(step: str, **outputs: object) -> StepFinished:
    return StepFinished(step=step, state="met", outputs=outputs)


def finished() -> RunFinished:
    return RunFinished(status="met", exit_code=0)


def change(
    key: str, state: EffectState, *expect: EffectState | None, attempt: int = 1, **more: object
) -> EffectChange:
    row = EffectRow.model_validate({"key": key, "state": state, "attempt": attempt, **more})
    return EffectChange(expect=expect, row=row)


def events_of(entries: tuple[Entry, ...]) -> list[Event]:
    return [entry.event for entry in entries]
