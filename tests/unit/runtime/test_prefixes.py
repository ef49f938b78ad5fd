"""Every prefix of a golden journal: what the engine would do next, live and after a crash there."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.unit.runtime.conftest import order_stage
from tests.unit.runtime.errands import CHAIN
from tests.unit.runtime.stage import Stage, stage
from webagent.core import event as ev
from webagent.core.page import Failure, Observation
from webagent.engine import decide
from webagent.engine.state import RunState, advance, fold
from webagent.executors.scripted import Fault, Turns

MISSING = Failure(kind="target_missing", message="nothing matches")
LATE = Failure(kind="timeout", message="not there in time")


def plain(ours: Stage) -> None:
    """Nothing goes wrong."""


def signed_out(ours: Stage) -> None:
    out = Observation(url="http://a.test/login", status=200, sign_in=True)
    ours.site.faults = {"order": [Fault(at=1, failure=MISSING, seen=out)]}


def stale(ours: Stage) -> None:
    gone = Observation(url="http://a.test/a", status=404)
    ours.site.faults = {"order": [Fault(at=1, failure=MISSING, seen=gone)]}
    first = ours.site.values["search_a"]["offers"]
    later = [{"title": "a2", "price": 4, "link": "http://a.test/a2"}]
    ours.site.values["search_a"]["offers"] = Turns((first, later))


def slow_and_failing(ours: Stage) -> None:
    ours.site.faults = {
        "search_b": [Fault(at=3, failure=LATE)],
        "register[bob]": [Fault(at=1, failure=MISSING, times=9)],
    }


def unknown_outcome(ours: Stage) -> None:
    ours.site.faults = {"order": [Fault(at=None, times=99)]}
    ours.site.reads = None
    ours.site.values["order"]["orders"] = []


def lost_at_the_commit(ours: Stage) -> None:
    ours.site.faults = {"order": [Fault(at=3, kill=True)]}


ERRANDS = (plain, signed_out, stale, slow_and_failing, unknown_outcome, lost_at_the_commit)

# Which move makes which event: the events that are decisions of the engine.
DECISIONS: dict[type, tuple[type, ...]] = {
    ev.StepStarted: (decide.Enter, decide.Compute),
    ev.ItemsExpanded: (decide.Expand,),
    ev.RungTaken: (decide.TakeRung,),
    ev.StepReopened: (decide.Reopen, decide.TakeRung),
    ev.RunFinished: (decide.Finish,),
    ev.RunParked: (decide.Park,),
}


async def golden(ours: Stage) -> tuple[ev.Entry, ...]:
    await ours.run()
    return await ours.entries()


def states(entries: Iterable[ev.Entry]) -> list[RunState]:
    """The state after each entry."""
    found, now = [], RunState()
    for entry in entries:
        now = advance(now, entry)
        found.append(now)
    return found


@pytest.mark.parametrize("happening", ERRANDS)
async def test_what_the_run_did_next_is_a_move_of_the_prefix(happening, tmp_path: Path) -> None:
    ours = order_stage(tmp_path)
    happening(ours)
    entries = await golden(ours)
    counted = 0
    before = RunState()
    for entry in entries:
        wanted = DECISIONS.get(type(entry.event))
        if wanted is not None and before.plan is not None:
            moves = decide.next_moves(before, now=0.0)
            nodes = {getattr(m, "node", "") for m in moves if isinstance(m, wanted)}
            targets = {m.climb.target for m in moves if isinstance(m, decide.TakeRung)}
            made_by_rung = isinstance(entry.event, ev.StepReopened) and entry.event.cause == (
                "stale_input"
            )
            if made_by_rung:
                # Kept in one append with its RungTaken, whose prefix named it.
                earlier = fold(entries[: entry.seq - 2])
                targets |= {
                    m.climb.target
                    for m in decide.next_moves(earlier, now=0.0)
                    if isinstance(m, decide.TakeRung)
                }
            assert entry.event.step in nodes | targets, (entry.seq, entry.event, moves)
            counted += 1
        before = advance(before, entry)
    assert counted >= 8


@pytest.mark.parametrize("happening", ERRANDS)
async def test_no_prefix_commits_an_effect_that_was_dispatched(happening, tmp_path: Path) -> None:
    ours = order_stage(tmp_path)
    happening(ours)
    entries = await golden(ours)
    dispatched = freed = seen = 0
    for entry in entries:
        if isinstance(entry.event, ev.EffectDispatched):
            dispatched += 1
        if isinstance(entry.event, ev.EffectFreed | ev.EffectRefused):
            freed += 1
        state = resumed(entries[: entry.seq])
        if state is None:
            continue
        for moves in (
            decide.next_moves(state, now=0.0),
            decide.next_moves(fold(entries[: entry.seq])),
        ):
            enters = {m.node for m in moves if isinstance(m, decide.Enter)}
            if dispatched > freed:
                seen += 1
                assert "order" not in enters, entry.seq
    assert (seen > 0) == (dispatched > 0)


@pytest.mark.parametrize("happening", ERRANDS)
async def test_after_a_crash_at_any_point_no_met_step_runs_again(happening, tmp_path: Path) -> None:
    ours = order_stage(tmp_path)
    happening(ours)
    entries = await golden(ours)
    for k in range(2, len(entries) + 1):
        state = resumed(entries[:k])
        if state is None:
            continue
        met = {p for p, n in fold(entries[:k]).nodes.items() if n.state == "met"}
        moves = decide.next_moves(state, now=0.0)
        again = {m.node for m in moves if isinstance(m, decide.Enter | decide.Compute)} & met
        assert not again, (k, again)


async def test_after_a_crash_in_a_chain_only_reopenings_by_name_run_met_steps_again(
    tmp_path: Path,
) -> None:
    ours = stage(CHAIN, tmp_path)
    entries = await golden(ours)
    reopened = set()
    for k in range(2, len(entries) + 1):
        state = resumed(entries[:k])
        if state is None:
            continue
        met = {p for p, n in fold(entries[:k]).nodes.items() if n.state == "met"}
        moves = decide.next_moves(state, now=0.0)
        assert not {m.node for m in moves if isinstance(m, decide.Enter)} & met
        reopened |= {m.node for m in moves if isinstance(m, decide.Reopen)}
    assert reopened == {"page_1", "page_2"}


def resumed(prefix: tuple[ev.Entry, ...]) -> RunState | None:
    """The state that a runner has which takes over after this prefix, with its new browser."""
    state = fold(prefix)
    if state.plan is None or state.finished is not None:
        return None
    for event in (ev.RunResumed(gone_epochs=(1,)), ev.BrowserStarted()):
        state = advance(
            state, ev.Entry(seq=state.seq + 1, epoch=2, at="2026-11-30T13:00:00+00:00", event=event)
        )
    return state
