"""What every store must decide alike: who may hold a run, which effect change is allowed.

Pure: a store reads its rows, asks here, and writes what it is told. So the in-memory store that
tests run against cannot be more lenient than the one that keeps real orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from webagent.core.base import Json
from webagent.core.effect import EFFECT_TRANSITIONS, EffectChange, EffectRow, EffectState
from webagent.core.errors import (
    BadInput,
    EffectConflict,
    LeaseLost,
    RunBusy,
    SequenceConflict,
    UnknownRun,
)
from webagent.core.event import Event, RunFinished, RunParked, RunResumed, RunStarted, StepFinished
from webagent.core.sighting import Sighting
from webagent.ports import Lease, Runner

# Whether it is certain that a runner's process is no more (stores.processes.known_gone).
KnownGone = Callable[[Runner], bool]
# Whether somebody holds this run right now.
IsHeld = Callable[[str], bool]

# A row in one of these states belongs to its run: what it stands for may be under way.
UNSETTLED: frozenset[EffectState] = frozenset({"intended", "dispatched", "unknown"})
# What a parked run is called, as `runtime.result` calls it.
_PARKED = {"person": "waiting", "limit": "limit", "until": "parked", "stopped": "parked"}
AT_REST: frozenset[EffectState] = frozenset({"refused", "freed"})


def stamp(now: datetime) -> str:
    """A UTC time as text of one width, so that text order is time order."""
    return now.astimezone(UTC).isoformat(timespec="microseconds")


def live_holder(
    holder: Runner | None, until: float, now: datetime, known_gone: KnownGone
) -> Runner | None:
    """The holder, if its lease has not expired and its process is not known to be gone."""
    if holder is None or until <= now.timestamp() or known_gone(holder):
        return None
    return holder


def name_of(runner: Runner) -> str:
    """A runner in a message."""
    return f"process {runner.pid} on {runner.host.split('/', 1)[0]}"


def run_busy(run: str, holder: Runner) -> RunBusy:
    """The error for a run that somebody else holds."""
    return RunBusy(
        f"Run {run} is being worked on by {name_of(holder)}.",
        hint=f"Wait for it, or stop it: webagent stop {run}",
    )


def unknown_run(run: str) -> UnknownRun:
    """The error for a run that is not there."""
    return UnknownRun(f"There is no run {run!r} in this store.", hint="See: webagent runs")


def check_epoch(lease: Lease, newest: int, *, held: bool) -> None:
    """Raise LeaseLost unless this lease is the run's newest and was not given back."""
    if lease.epoch != newest:
        raise LeaseLost(
            f"Run {lease.run} was taken over by another runner (epoch {newest}; this one had "
            f"{lease.epoch}).",
            hint=f"See how it goes on: webagent show {lease.run}",
        )
    if not held:
        raise LeaseLost(f"The lease on run {lease.run} was given back.")


def status_after(events: Iterable[Event]) -> str | None:
    """The status that these events give a run (see RunSummary); None: they change it not."""
    status: str | None = None
    for event in events:
        match event:
            case RunFinished(status=finished):
                status = finished
            case RunParked(cause=cause):
                status = _PARKED[cause]
            case RunStarted() | RunResumed():
                status = "running"
            case _:  # such as the answer that a person gives to a parked run
                pass
    return status


def out_of_sequence(run: str, found: int, after: int) -> SequenceConflict:
    """The error for a journal that is longer (or shorter) than its writer knows."""
    return SequenceConflict(f"The journal of run {run} has {found} events, not {after}.")


def met_outputs(events: Iterable[Event]) -> dict[str, Json]:
    """The outputs of each node whose last end was met."""
    outputs: dict[str, Json] = {}
    for event in events:
        if isinstance(event, StepFinished):
            outputs.pop(event.step, None)
            if event.state == "met":
                outputs[event.step] = event.outputs
    return outputs


def the_one(prefix: str, newest_first: Sequence[str]) -> str:
    """The run whose id is ``prefix`` or alone begins so; ``last``: the newest. Or UnknownRun."""
    if not newest_first:
        raise UnknownRun(
            "There is no run in this store yet.", hint="Start one: webagent run RECIPE"
        )
    if prefix in newest_first:
        return prefix
    if prefix == "last":
        return newest_first[0]
    found = [run for run in newest_first if prefix and run.startswith(prefix)]
    if not found:
        raise unknown_run(prefix)
    if len(found) > 1:
        some = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
        raise UnknownRun(
            f"{len(found)} runs begin with {prefix!r}: {some}.", hint="Give more of the id."
        )
    return found[0]


def next_row(
    old: EffectRow | None, change: EffectChange, lease: Lease, now: datetime, is_held: IsHeld
) -> EffectRow:
    """The row that a change leads to, signed with the lease's run and epoch and the time.

    Raises EffectConflict when the row is in another state than expected, when the table of
    `core.effect` knows no such change, when another live run has the row, when another run's
    intention is dispatched without being taken over first, and when an attempt is not counted.
    """
    row, key = change.row, change.row.key
    state = old.state if old else None
    if state not in change.expect:
        wanted = " or ".join(s or "no row" for s in change.expect)
        raise EffectConflict(
            f"Effect {key!r} is {_described(old)}; this run expected {wanted}.",
            hint=f"See: webagent effects {key!r}",
        )
    if row.state not in EFFECT_TRANSITIONS[state]:
        raise EffectConflict(f"Effect {key!r} is {_described(old)}: it cannot become {row.state}.")
    if old is not None:
        _check_owner(old, row.state, lease, is_held)
        _check_attempt(old, row)
    return row.model_copy(update={"run": lease.run, "epoch": lease.epoch, "changed_at": stamp(now)})


def _check_owner(old: EffectRow, new: EffectState, lease: Lease, is_held: IsHeld) -> None:
    if old.run == lease.run or old.state not in UNSETTLED:
        return
    if is_held(old.run):
        raise EffectConflict(
            f"Effect {old.key!r} is {old.state} by run {old.run}, which is at work right now.",
            hint=f"Wait for that run, or stop it: webagent stop {old.run}",
        )
    if old.state == "intended" and new == "dispatched":
        raise EffectConflict(
            f"Effect {old.key!r} is intended by run {old.run}: it has to be taken over (intended "
            f"by this run) before it is dispatched."
        )


def _check_attempt(old: EffectRow, row: EffectRow) -> None:
    wanted = old.attempt + 1 if old.state in AT_REST else old.attempt
    if row.attempt != wanted:
        raise EffectConflict(
            f"Effect {old.key!r} is {old.state} in attempt {old.attempt}: the next change belongs "
            f"to attempt {wanted}, not {row.attempt}."
        )


def settled_row(old: EffectRow, happened: bool, *, by: str, note: str, now: datetime) -> EffectRow:
    """The row after a person's word. Raises EffectConflict when there is nothing to settle."""
    new: EffectState = "confirmed" if happened else "freed"
    if old.state not in UNSETTLED:
        raise EffectConflict(
            f"Effect {old.key!r} is {_described(old)}: there is nothing to settle.",
            hint="Only what is unknown is settled; see: webagent effects. To do it once more, in "
            "your name: webagent run RECIPE --again STEP",
        )
    if new not in EFFECT_TRANSITIONS[old.state]:
        raise EffectConflict(
            f"Effect {old.key!r} was only intended by run {old.run}: nothing was sent.",
            hint="Settle it as not happened.",
        )
    said = f"settled by {by}: {'happened' if happened else 'did not happen'}"
    return old.model_copy(
        update={
            "state": new,
            "by": by,
            "changed_at": stamp(now),
            "evidence": f"{said} ({note})" if note else said,
        }
    )


def unknown_effect(key: str, near: Sequence[str]) -> BadInput:
    """The error for a key without a row."""
    hint = f"Did you mean {near[0]!r}?" if near else "See: webagent effects"
    return BadInput(f"There is no effect {key!r} in this store.", hint=hint)


def _described(old: EffectRow | None) -> str:
    if old is None:
        return "not known yet"
    return f"{old.state} (attempt {old.attempt}, run {old.run or '?'}, {old.changed_at or '?'})"


def sighting_order(sighting: Sighting) -> tuple[str, str, bool]:
    """How the sightings of a recipe are given: by step and target, an accepted one first."""
    return sighting.step, sighting.target, not sighting.accepted
