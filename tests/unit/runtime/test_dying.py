"""The process dies around any append, and again while it resumes: still once, still done."""

import contextlib
from collections import Counter
from pathlib import Path

import pytest

from tests.unit.runtime.conftest import order_stage
from tests.unit.runtime.errands import CHAIN
from tests.unit.runtime.stage import KilledError, Stage, stage

LIMIT = 400


async def appends_of_a_whole_run(folder: Path) -> int:
    ours = order_stage(folder)
    await ours.run()
    return ours.store.appends


def met_steps(entries) -> set[str]:
    return {
        e.event.step for e in entries if e.event.type == "StepFinished" and e.event.state == "met"
    }


@pytest.mark.parametrize("before", [True, False])
async def test_a_death_at_any_append_leaves_one_order_and_no_step_twice(
    before: bool, tmp_path: Path
) -> None:
    whole = await appends_of_a_whole_run(tmp_path / "whole")
    assert whole > 30
    for n in range(1, whole + 1):
        ours = order_stage(tmp_path / f"{before}-{n}")
        assert await ours.run_and_die(n, before=before)
        await finish_and_check(ours, n)


async def finish_and_check(ours: Stage, n: int) -> None:
    if not await has_plan(ours):
        return
    done = met_steps(await ours.entries())
    performed = ours.performed()
    result = await ours.resume()
    assert result.exit_code == 0, (n, result.reason)
    assert ours.site.ledger == ["order"], n
    again = ours.performed() - performed
    assert not {step for step in again if step in done}, (n, again)


async def has_plan(ours: Stage) -> bool:
    try:
        return "PlanMade" in await ours.types()
    except Exception:  # noqa: BLE001 - died before the run was made
        return False


async def test_a_death_in_each_of_two_lives(tmp_path: Path) -> None:
    whole = await appends_of_a_whole_run(tmp_path / "whole")
    for n in range(3, whole, 7):
        for m in range(1, 12, 3):
            ours = order_stage(tmp_path / f"{n}-{m}")
            await ours.run_and_die(n, before=False)
            ours.store.die_at = ours.store.appends + m
            with contextlib.suppress(KilledError):
                await ours.resume()
            ours.store.die_at, ours.store.dead = None, False
            result = await ours.resume()
            assert ours.site.ledger.count("order") == 1, (n, m)
            assert result.exit_code == 0, (n, m, result.reason)


async def test_without_settle_an_unseen_order_goes_to_a_person(tmp_path: Path) -> None:
    ours = order_stage(tmp_path)
    step = ours.plan.by_path["order"]
    assert step.probe is not None
    unsettled = step.model_copy(update={"probe": step.probe.model_copy(update={"settle": None})})
    steps = tuple(unsettled if s.path == "order" else s for s in ours.plan.steps)
    ours.plan = ours.site.plan = ours.plan.model_copy(update={"steps": steps})
    dispatch = await append_of(ours, tmp_path, "EffectDispatched")
    assert await ours.run_and_die(dispatch, before=False)
    assert ours.site.ledger == []
    result = await ours.resume()
    assert (result["order"].state, result.exit_code) == ("unknown", 5)
    assert "webagent settle" in result["order"].reason
    assert ours.site.ledger == []
    # A person looked: it did not happen. Now it may.
    key = result["order"].effect_key or ""
    await ours.store.settle(key, happened=False, by="ann")
    after = await ours.resume()
    assert (after.exit_code, ours.site.ledger) == (0, ["order"])


async def test_a_person_who_says_it_happened_ends_the_doubt(tmp_path: Path) -> None:
    ours = order_stage(tmp_path)
    ours.site.reads = None
    ours.site.values["order"]["orders"] = []
    dispatch = await append_of(ours, tmp_path, "EffectConfirmed")
    await ours.run_and_die(dispatch, before=True)
    assert ours.site.ledger == ["order"]
    steps = []
    for step in ours.plan.steps:
        steps.append(step.model_copy(update={"probe": None}) if step.path == "order" else step)
    ours.plan = ours.site.plan = ours.plan.model_copy(update={"steps": tuple(steps)})
    result = await ours.resume(plan=ours.plan)
    assert result["order"].state == "unknown"
    await ours.store.settle(result["order"].effect_key or "", happened=True, by="ann")
    after = await ours.resume()
    assert (after.exit_code, ours.site.ledger) == (0, ["order"])
    assert after["order"].already


async def append_of(ours: Stage, folder: Path, event: str) -> int:
    """The number of the append that keeps the first event of a type."""
    probe = order_stage(folder / "probe")
    probe.plan = probe.site.plan = ours.plan
    probe.store.tell_at = event
    await probe.run()
    assert probe.store.told_at is not None
    return probe.store.told_at


async def test_a_chain_is_redone_after_a_death_and_what_is_beside_it_is_not(tmp_path: Path) -> None:
    whole = stage(CHAIN, tmp_path / "whole")
    await whole.run()
    for n in range(2, whole.store.appends + 1):
        ours = stage(CHAIN, tmp_path / str(n))
        await ours.run_and_die(n, before=False)
        if not await has_plan(ours):
            continue
        done = met_steps(await ours.entries())
        performed = ours.performed()
        result = await ours.resume()
        assert result.exit_code == 0, (n, result.reason)
        again = Counter(ours.performed() - performed)
        reopened = {p for p, s in result.steps.items() if s.reopened}
        assert {s for s in again if s in done} <= reopened
        assert "beside" not in reopened
