"""The promises of `ports.Store`, over every store. The numbers are those of its docstring."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.conftest import Bench
from tests.contract.stage import change, done, events_of, finished, met, runner, started
from webagent.core.effect import EFFECT_TRANSITIONS, EffectState
from webagent.core.errors import (
    BadInput,
    EffectConflict,
    LeaseLost,
    RunBusy,
    SequenceConflict,
    StoreError,
    UnknownRun,
)
from webagent.core.event import (
    Event,
    LimitHit,
    Observed,
    PersonAnswered,
    RunFinished,
    RunParked,
    RunResumed,
    StepFinished,
)
from webagent.core.limits import LEASE_SECONDS
from webagent.core.page import Observation

# 1. all or none


async def test_an_append_with_a_refused_effect_keeps_no_event(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.append(lease, 0, [started()])
    with pytest.raises(EffectConflict):
        await bench.store.append(
            lease,
            1,
            [done(0), done(1)],
            [change("k1", "intended", None), change("k2", "dispatched", "intended")],
        )
    assert events_of(await bench.store.entries("r1")) == [started()]
    assert await bench.store.effect("k1") is None
    (summary,) = await bench.store.runs()
    assert summary.events == 1


async def test_an_append_keeps_events_and_effect_together(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.append(
        lease, 0, [started(), done(0)], [change("k1", "intended", None)], durable=True
    )
    assert len(await bench.store.entries("r1")) == 2
    row = await bench.store.effect("k1")
    assert row is not None
    assert (row.state, row.run, row.epoch) == ("intended", "r1", 1)
    assert row.changed_at


async def test_two_changes_of_one_key_in_one_append_follow_each_other(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.append(
        lease, 0, [], [change("k", "intended", None), change("k", "dispatched", "intended")]
    )
    row = await bench.store.effect("k")
    assert row is not None
    assert row.state == "dispatched"


# 2. epoch, sequence, effect


async def test_a_lost_lease_can_append_no_more(bench: Bench) -> None:
    old = await bench.leased()
    await bench.store.append(old, 0, [started()])
    bench.clock.seconds += LEASE_SECONDS + 1
    new = await bench.store.acquire("r1", runner(2))
    with pytest.raises(LeaseLost):
        await bench.store.append(old, 1, [done(0)])
    with pytest.raises(LeaseLost):
        await bench.store.renew(old, runner(1))
    await bench.store.release(old)  # no error, and no harm to the new one
    await bench.store.append(new, 1, [done(0)])


async def test_an_expired_lease_that_nobody_took_still_appends(bench: Bench) -> None:
    lease = await bench.leased()
    bench.clock.seconds += 10 * LEASE_SECONDS
    await bench.store.append(lease, 0, [started()])
    await bench.store.renew(lease, runner(1))
    assert await bench.store.holder("r1") == runner(1)


async def test_a_lease_given_back_can_append_no_more(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.release(lease)
    with pytest.raises(LeaseLost):
        await bench.store.append(lease, 0, [started()])
    with pytest.raises(LeaseLost):
        await bench.store.renew(lease, runner(1))


@pytest.mark.parametrize("after", [0, 2, 7])
async def test_an_append_after_the_wrong_number_is_refused(bench: Bench, after: int) -> None:
    lease = await bench.leased()
    await bench.store.append(lease, 0, [started()])
    with pytest.raises(SequenceConflict):
        await bench.store.append(lease, after, [done(0)])
    assert len(await bench.store.entries("r1")) == 1


async def test_of_many_appends_at_one_number_one_is_kept(bench: Bench) -> None:
    lease = await bench.leased()
    answers = await asyncio.gather(
        *(bench.store.append(lease, 0, [done(n)]) for n in range(8)), return_exceptions=True
    )
    assert sum(isinstance(answer, SequenceConflict) for answer in answers) == 7
    assert len(await bench.store.entries("r1")) == 1


# 3. (survives SIGKILL: test_store_processes.py)

# 4. one holder


async def test_a_run_has_one_holder_at_a_time(bench: Bench) -> None:
    lease = await bench.leased()
    assert lease.epoch == 1
    assert lease.previous is None
    with pytest.raises(RunBusy, match="process 1 on here"):
        await bench.store.acquire("r1", runner(2))
    with pytest.raises(RunBusy):
        await bench.store.acquire("r1", runner(1))
    assert await bench.store.current_epoch("r1") == 1


async def test_a_lease_expires_and_is_taken_over_with_a_larger_epoch(bench: Bench) -> None:
    await bench.leased()
    bench.clock.seconds += LEASE_SECONDS - 0.1
    with pytest.raises(RunBusy):
        await bench.store.acquire("r1", runner(2))
    bench.clock.seconds += 0.2
    assert await bench.store.holder("r1") is None
    lease = await bench.store.acquire("r1", runner(2))
    assert (lease.epoch, lease.previous) == (2, runner(1))
    assert await bench.store.current_epoch("r1") == 2


async def test_renewing_holds_the_lease_longer_and_notes_the_browser(bench: Bench) -> None:
    lease = await bench.leased()
    with_browser = runner(1).model_copy(update={"browser_pid": 77, "browser_started": 5.5})
    for _ in range(4):
        bench.clock.seconds += LEASE_SECONDS - 1
        await bench.store.renew(lease, with_browser)
    assert await bench.store.holder("r1") == with_browser
    bench.processes.gone.add(1)
    assert (await bench.store.acquire("r1", runner(2))).previous == with_browser


async def test_a_holder_known_to_be_gone_is_followed_at_once(bench: Bench) -> None:
    await bench.leased()
    bench.processes.gone.add(1)
    assert await bench.store.holder("r1") is None
    lease = await bench.store.acquire("r1", runner(2))
    assert (lease.epoch, lease.previous) == (2, runner(1))


async def test_a_lease_given_back_leaves_nobody_to_end(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.release(lease)
    assert await bench.store.holder("r1") is None
    following = await bench.store.acquire("r1", runner(2))
    assert (following.epoch, following.previous) == (2, None)


async def test_what_is_asked_of_an_unknown_run_says_so(bench: Bench) -> None:
    store = bench.store
    for call in (
        store.acquire("nope", runner(1)),
        store.current_epoch("nope"),
        store.entries("nope"),
        store.holder("nope"),
        store.request_stop("nope"),
        store.stop_requested("nope"),
        store.save_session("nope", {}),
        store.load_session("nope"),
    ):
        with pytest.raises(UnknownRun, match="nope"):
            await call


async def test_a_run_is_made_once(bench: Bench) -> None:
    await bench.leased()
    with pytest.raises(StoreError, match="r1"):
        await bench.store.create("r1", "other", "x")


# 5. entries as they went in


async def test_entries_come_back_in_order_and_equal(bench: Bench) -> None:
    lease = await bench.leased()
    events: list[Event] = [
        started(),
        StepFinished(
            step="ünder/ä[😀]",
            state="met",
            outputs={
                "text": 'quote " back \\ nul \0 lone \ud800 line \u2028',
                "numbers": [1, 1.5, -0.0, 10**30, float("inf")],
                "deep": {"a": [None, True, {"b": ""}]},
            },
        ),
        LimitHit(limit="pages", allowed=float("inf"), used=1),
        Observed(step="a\0b\ud800", observation=Observation()),
    ]
    first = await bench.store.append(lease, 0, events[:1])
    rest = await bench.store.append(lease, 1, events[1:])
    found = await bench.store.entries("r1")
    assert found == first + rest
    assert events_of(found) == events
    assert [entry.seq for entry in found] == [1, 2, 3, 4]
    assert await bench.store.entries("r1", after=3) == found[3:]
    assert await bench.store.entries("r1", after=99) == ()


async def test_an_entry_carries_epoch_and_utc_time(bench: Bench) -> None:
    lease = await bench.leased()
    (entry,) = await bench.store.append(lease, 0, [started()])
    assert entry.epoch == 1
    assert entry.at == "2026-11-30T12:00:00.000000+00:00"


async def test_what_is_changed_after_the_append_does_not_change_the_journal(bench: Bench) -> None:
    lease = await bench.leased()
    outputs = {"rows": [1]}
    await bench.store.append(lease, 0, [StepFinished(state="met", outputs=outputs)])
    outputs["rows"].append(2)
    (entry,) = await bench.store.entries("r1")
    assert isinstance(entry.event, StepFinished)
    assert entry.event.outputs == {"rows": [1]}


# 6. effects

STATES: tuple[EffectState | None, ...] = tuple(EFFECT_TRANSITIONS)
ROADS: dict[EffectState | None, tuple[EffectState, ...]] = {
    None: (),
    "intended": ("intended",),
    "dispatched": ("intended", "dispatched"),
    "confirmed": ("intended", "dispatched", "confirmed"),
    "refused": ("intended", "dispatched", "refused"),
    "unknown": ("intended", "dispatched", "unknown"),
    "freed": ("intended", "dispatched", "freed"),
}


@pytest.mark.parametrize("old", STATES)
async def test_an_effect_changes_only_as_the_table_says(
    bench: Bench, old: EffectState | None
) -> None:
    lease = await bench.leased()
    for number, new in enumerate(state for state in STATES if state is not None):
        key, at = f"k{number}", None
        for state in ROADS[old]:
            await bench.store.append(lease, 0, [], [change(key, state, at)])
            at = state
        attempt = 2 if old in {"refused", "freed"} else 1
        move = bench.store.append(lease, 0, [], [change(key, new, old, attempt=attempt)])
        if new in EFFECT_TRANSITIONS[old]:
            await move
            row = await bench.store.effect(key)
            assert row is not None
            assert (row.state, row.attempt) == (new, attempt)
        else:
            with pytest.raises(EffectConflict):
                await move


async def test_a_change_that_expects_another_state_is_refused(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.append(lease, 0, [], [change("k", "intended", None)])
    with pytest.raises(EffectConflict, match=r"'k' is intended .*expected no row or freed"):
        await bench.store.append(lease, 0, [], [change("k", "intended", None, "freed", attempt=2)])


@pytest.mark.parametrize("attempt", [1, 3])
async def test_the_try_after_a_refusal_is_the_next_attempt(bench: Bench, attempt: int) -> None:
    lease = await bench.leased()
    for state in ROADS["refused"]:
        await bench.store.append(lease, 0, [], [change("k", state, None, "intended", "dispatched")])
    with pytest.raises(EffectConflict, match="attempt 2"):
        await bench.store.append(
            lease, 0, [], [change("k", "intended", "refused", attempt=attempt)]
        )


@pytest.mark.parametrize("state", ["intended", "dispatched", "unknown"])
async def test_an_effect_under_way_in_a_live_run_is_its_own(
    bench: Bench, state: EffectState
) -> None:
    mine = await bench.leased("mine", 1)
    other = await bench.leased("other", 2)
    at: EffectState | None = None
    for step in ROADS[state]:
        await bench.store.append(mine, 0, [], [change("k", step, at)])
        at = step
    new: EffectState = "intended" if state == "intended" else "confirmed"
    with pytest.raises(EffectConflict, match="run mine"):
        await bench.store.append(other, 0, [], [change("k", new, state)])
    bench.processes.gone.add(1)
    await bench.store.append(other, 0, [], [change("k", new, state)])
    row = await bench.store.effect("k")
    assert row is not None
    assert (row.state, row.run) == (new, "other")


async def test_a_run_that_wakes_up_cannot_dispatch_what_another_took_over(bench: Bench) -> None:
    mine = await bench.leased("mine", 1)
    await bench.store.append(mine, 0, [], [change("k", "intended", None)])
    bench.clock.seconds += LEASE_SECONDS + 1
    other = await bench.leased("other", 2)
    await bench.store.append(other, 0, [], [change("k", "intended", None, "intended")])
    await bench.store.renew(mine, runner(1))
    for later in (0, LEASE_SECONDS + 1):
        bench.clock.seconds += later
        with pytest.raises(EffectConflict, match="run other"):
            await bench.store.append(mine, 0, [], [change("k", "dispatched", "intended")])


async def test_what_another_run_left_at_rest_may_be_tried_again(bench: Bench) -> None:
    mine = await bench.leased("mine", 1)
    for state in ROADS["refused"]:
        await bench.store.append(mine, 0, [], [change("k", state, None, "intended", "dispatched")])
    other = await bench.leased("other", 2)
    await bench.store.append(other, 0, [], [change("k", "intended", "refused", attempt=2)])


async def test_of_many_claims_of_one_key_one_is_kept(bench: Bench) -> None:
    leases = [await bench.leased(f"r{n}", n) for n in range(6)]
    answers = await asyncio.gather(
        *(bench.store.append(one, 0, [done(0)], [change("k", "intended", None)]) for one in leases),
        return_exceptions=True,
    )
    winners = [n for n, answer in enumerate(answers) if isinstance(answer, tuple)]
    assert len(winners) == 1
    assert all(isinstance(a, EffectConflict) for a in answers if not isinstance(a, tuple))
    row = await bench.store.effect("k")
    assert row is not None
    assert row.run == f"r{winners[0]}"


async def test_a_row_comes_back_with_all_that_was_put_in_it(bench: Bench) -> None:
    lease = await bench.leased()
    key = "cable/order[ä \0 \ud800]"
    await bench.store.append(
        lease,
        0,
        [],
        [
            change(
                key,
                "intended",
                None,
                step="order",
                baseline=[{"key": "1"}],
                payload={"total": 12.5},
                outputs={"n": None},
                evidence="e",
                request="POST /orders",
                by="ann",
            )
        ],
    )
    row = await bench.store.effect(key)
    assert row is not None
    assert row.key == key
    assert (row.baseline, row.payload, row.outputs) == (
        [{"key": "1"}],
        {"total": 12.5},
        {"n": None},
    )
    assert (row.step, row.evidence, row.request, row.by) == ("order", "e", "POST /orders", "ann")


async def test_effects_are_listed_by_the_start_of_their_key_newest_first(bench: Bench) -> None:
    lease = await bench.leased()
    for key in ("cable a", "Cable b", "cable_c", "cable%d", "other"):
        bench.clock.seconds += 1
        await bench.store.append(lease, 0, [], [change(key, "intended", None)])
    assert [row.key for row in await bench.store.effects("cable")] == [
        "cable%d",
        "cable_c",
        "cable a",
    ]
    assert [row.key for row in await bench.store.effects("cable_")] == ["cable_c"]
    assert len(await bench.store.effects()) == 5


# settling


@pytest.mark.parametrize("state", ["dispatched", "unknown"])
@pytest.mark.parametrize("happened", [True, False])
async def test_a_person_settles_what_is_not_known(
    bench: Bench, state: EffectState, happened: bool
) -> None:
    lease = await bench.leased()
    at: EffectState | None = None
    for step in ROADS[state]:
        await bench.store.append(lease, 0, [], [change("k", step, at)])
        at = step
    with pytest.raises(RunBusy, match="r1"):
        await bench.store.settle("k", happened, "ann")
    await bench.store.release(lease)
    bench.clock.seconds += 5
    row = await bench.store.settle("k", happened, "ann", "the shop's mail")
    assert row == await bench.store.effect("k")
    assert (row.state, row.by) == ("confirmed" if happened else "freed", "ann")
    assert "ann" in row.evidence
    assert "the shop's mail" in row.evidence
    assert row.changed_at == "2026-11-30T12:00:05.000000+00:00"
    with pytest.raises(EffectConflict, match="nothing to settle"):
        await bench.store.settle("k", happened, "ann")


async def test_an_intention_of_a_dead_run_can_only_be_freed(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.append(lease, 0, [], [change("k", "intended", None)])
    with pytest.raises(RunBusy):
        await bench.store.settle("k", False, "ann")
    bench.processes.gone.add(1)
    with pytest.raises(EffectConflict, match="nothing was sent"):
        await bench.store.settle("k", True, "ann")
    assert (await bench.store.settle("k", False, "ann")).state == "freed"


async def test_settling_an_unknown_key_names_the_nearest(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.append(lease, 0, [], [change("cable/order", "intended", None)])
    with pytest.raises(BadInput, match="cable/order"):
        await bench.store.settle("cable/ordr", True, "ann")
    assert await bench.store.effect("cable/ordr") is None


# runs


async def test_runs_are_listed_newest_first_with_their_status(bench: Bench) -> None:
    first = await bench.leased("r1", 1)
    await bench.store.append(first, 0, [started("r1"), RunParked(reason="Ctrl-C")])
    await bench.store.release(first)
    second = await bench.leased("r2", 2)
    await bench.store.append(second, 0, [started("r2")])
    third = await bench.leased("r3", 3, recipe="lamp")
    await bench.store.append(third, 0, [started("r3"), finished()])
    found = await bench.store.runs()
    assert [(r.run, r.status, r.events, r.held) for r in found] == [
        ("r3", "met", 2, True),
        ("r2", "running", 1, True),
        ("r1", "parked", 2, False),
    ]
    assert found[2].errand == "errand of r1"
    assert found[2].recipe_file == "cable.yaml"
    assert [r.run for r in await bench.store.runs("cable")] == ["r2", "r1"]
    assert [r.run for r in await bench.store.runs(limit=1)] == ["r3"]


async def test_an_answer_to_a_finished_run_leaves_its_status(bench: Bench) -> None:
    lease = await bench.leased()
    await bench.store.append(lease, 0, [started(), RunFinished(status="waiting", exit_code=3)])
    await bench.store.append(lease, 2, [PersonAnswered(value="yes", by="ann")])
    assert (await bench.store.runs())[0].status == "waiting"
    await bench.store.append(lease, 3, [RunResumed()])
    assert (await bench.store.runs())[0].status == "running"


async def test_a_run_is_found_by_its_unique_beginning(bench: Bench) -> None:
    with pytest.raises(UnknownRun, match="no run"):
        await bench.store.find("last")
    for run in ("ab1", "ab12", "cd"):
        await bench.store.create(run, "cable", "e")
    assert await bench.store.find("last") == "cd"
    assert await bench.store.find("ab12") == "ab12"
    assert await bench.store.find("ab1") == "ab1"  # whole, though another begins so
    assert await bench.store.find("c") == "cd"
    for wrong in ("ab", "", "AB1", "x", "%", "_b1"):
        with pytest.raises(UnknownRun):
            await bench.store.find(wrong)


async def test_the_last_met_run_gives_its_outputs(bench: Bench) -> None:
    assert await bench.store.last_met("cable") is None
    for run, price in (("r1", 9), ("r2", 8)):
        lease = await bench.leased(run)
        await bench.store.append(
            lease, 0, [started(run), met("a", price=1), met("a", price=price), met("b"), finished()]
        )
    third = await bench.leased("r3")
    failed = RunFinished(status="failed", exit_code=1)
    await bench.store.append(third, 0, [started("r3"), met("a", price=7), failed])
    other = await bench.leased("r4", recipe="lamp")
    await bench.store.append(other, 0, [started("r4", "lamp"), met("a", price=6), finished()])
    assert await bench.store.last_met("cable") == {"a": {"price": 8}, "b": {}}


# stopping, sessions


async def test_only_a_held_run_can_be_asked_to_stop(bench: Bench) -> None:
    lease = await bench.leased()
    assert not await bench.store.stop_requested("r1")
    assert await bench.store.request_stop("r1")
    assert await bench.store.stop_requested("r1")
    await bench.store.release(lease)
    assert not await bench.store.request_stop("r1")
    await bench.store.acquire("r1", runner(2))
    assert not await bench.store.stop_requested("r1")


async def test_the_session_kept_last_comes_back(bench: Bench) -> None:
    await bench.leased()
    assert await bench.store.load_session("r1") is None
    await bench.store.save_session("r1", {"cookies": [{"name": "a", "value": "ä\ud800"}]})
    await bench.store.save_session("r1", {"cookies": [], "origins": [{"x": 1}]})
    assert await bench.store.load_session("r1") == {"cookies": [], "origins": [{"x": 1}]}
