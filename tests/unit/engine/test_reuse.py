"""What an edited recipe leaves as it is, and what counts as done again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.runtime import errands
from tests.unit.runtime.conftest import order_stage
from tests.unit.runtime.stage import stage
from webagent.core import event as ev
from webagent.core.compile import compile_plan
from webagent.core.event import Entry, Event
from webagent.engine.reuse import executed_again, kept
from webagent.engine.state import RunState, fold
from webagent.formats.recipe_yaml import parse_recipe


async def met(text: str, folder: Path) -> RunState:
    ours = stage(text, folder)
    await ours.run()
    return fold(await ours.entries())


@pytest.mark.parametrize(
    "old, new, redone",
    [
        ("text: Left", "text: Links", {"left", "middle", "final"}),
        ("text: Middle", "text: Mitte", {"middle", "final"}),
        ("text: Right", "text: Rechts", {"right", "final"}),
        ("text: Final", "text: Ende", {"final"}),
        ("goal: Right", "goal: The right one", {"right", "final"}),
        ("errand: Two", "errand: 2", set()),
    ],
)
async def test_a_step_is_redone_when_it_or_what_it_names_was_edited(
    tmp_path: Path, old: str, new: str, redone: set[str]
):
    state = await met(errands.FAN, tmp_path)
    plan = compile_plan(parse_recipe(errands.FAN.replace(old, new, 1)))
    assert {step.path for step in plan.steps} - set(kept(state, plan)) == redone


async def test_a_chain_is_redone_from_the_edited_page_on(tmp_path: Path):
    state = await met(errands.CHAIN, tmp_path)
    plan = compile_plan(parse_recipe(errands.CHAIN.replace("Street", "Road", 1)))
    assert kept(state, plan) == ("page_1", "beside")


async def test_a_new_step_is_done_and_a_removed_one_forgotten(tmp_path: Path):
    state = await met(errands.FAN, tmp_path)
    cut = errands.FAN[: errands.FAN.index("  final:")]
    more = cut + errands.FAN[errands.FAN.index("  left:") : errands.FAN.index("  right:")].replace(
        "left:", "new:"
    )
    assert set(kept(state, compile_plan(parse_recipe(more)))) == {"left", "right", "middle"}


async def test_a_step_whose_effect_was_dispatched_is_kept_whatever_was_edited(tmp_path: Path):
    ours = order_stage(tmp_path)
    await ours.run()
    state = fold(await ours.entries())
    text = errands.ORDER.replace("text: Thank you", "text: Thanks").replace("price]", "title]")
    plan = compile_plan(parse_recipe(text))
    keep = kept(state, plan)
    assert "order" in keep
    assert "choose" not in keep
    await ours.resume(plan=plan, keep=keep)
    assert ours.site.ledger == ["order"]


async def test_signing_in_again_redoes_nothing_else(tmp_path: Path):
    ours = order_stage(tmp_path)
    await ours.run()
    state = fold(await ours.entries())
    plan = compile_plan(parse_recipe(errands.ORDER.replace("goal: Sign in at A", "goal: Sign in")))
    assert {s.path for s in plan.steps} - set(kept(state, plan)) == {"sign_in"}


def journal(*events: Event) -> list[Entry]:
    at = "2026-11-30T12:00:00+00:00"
    return [Entry(seq=n, epoch=1, at=at, event=event) for n, event in enumerate(events, 1)]


START = ev.StepStarted(step="a", attempt=1)
MET = ev.StepFinished(step="a", state="met")


def test_a_validated_step_that_begins_again_is_counted():
    assert executed_again(journal(START, MET, START)) == ("a",)


@pytest.mark.parametrize(
    "events",
    [
        (START, MET),
        (START, START, MET),
        (START, ev.StepFinished(step="a", state="unmet"), START, MET),
        (START, MET, ev.StepReopened(step="a", cause="page_lost"), START, MET),
        (START, MET, ev.RunResumed(keep=()), START, MET),
        (START, MET, ev.StepStarted(step="a", attempt=1, from_index=2)),
        (START, MET, ev.RunResumed(), ev.StepStarted(step="b", attempt=1)),
    ],
)
def test_what_was_not_validated_or_was_reopened_is_not_counted(events: tuple[Event, ...]):
    assert executed_again(journal(*events)) == ()
