"""What is waited for, and when waiting gives way to beginning again."""

import pytest

from webagent.core import event as ev
from webagent.core.compile import compile_plan
from webagent.core.event import Entry
from webagent.core.expect import Bounds, OutputIs, TextShown, Verdict
from webagent.core.page import Failure, Observation
from webagent.engine.classify import classify
from webagent.engine.ladder import Capabilities, climb
from webagent.engine.state import fold
from webagent.formats.recipe_yaml import parse_recipe

RECIPE = """
webagent: 1
id: patience
steps:
  fill:
    do: fill
    segment: [{goto: http://a.test/}, {click: button "Go"}]
    expect: {text: Done}
  on:
    do: fill
    continues: fill
    segment: [{click: button "On"}]
    expect: {text: Done too}
  order:
    do: submit
    once: "{{ run.date }}"
    segment: [{goto: http://a.test/}, {commit: {click: button "Go"}}]
    expect: {text: Done}
"""
PLAN = compile_plan(parse_recipe(RECIPE))
UNMET = (Verdict(expected=TextShown(text="Done"), judgement="unmet", seen="0 shown"),)
MISSING = Failure(kind="target_missing", message='nothing matches textbox "Note"')


def told(seen: Observation, failure: Failure | None = None) -> str:
    verdicts = () if failure else UNMET
    return classify(PLAN.step("fill"), seen, failure=failure, verdicts=verdicts).drift


def test_a_page_made_anew_under_the_input_is_slow_rather_than_wrong() -> None:
    assert told(Observation(status=200)) == "wrong_page"
    assert told(Observation(status=200, remade=True)) == "slow"
    few = Verdict(expected=OutputIs(name="rows", bounds=Bounds(min=1)), judgement="unmet", seen="0")
    step = PLAN.step("fill")
    assert classify(step, Observation(status=200), verdicts=(few,)).drift == "output_invalid"
    assert classify(step, Observation(remade=True), verdicts=(few,)).drift == "slow"


@pytest.mark.parametrize("failure", [None, MISSING], ids=["an expectation", "a target"])
def test_what_is_missing_beside_a_frame_that_is_down_is_the_servers_fault(
    failure: Failure | None,
) -> None:
    seen = Observation(status=200, frame_error="http://a.test/frame answers 503")
    assert told(seen, failure) == "server_error"


def redo(step: str, waits: int) -> int | None:
    """From which action a step that is merely slow goes on after so many waits."""
    unmet = ev.Judged(
        step=step, phase="after", verdicts=UNMET, judgement="unmet", drift="slow", reason="late"
    )
    before: list[ev.Event] = []
    if step == "on":
        before = [ev.StepStarted(step="fill", attempt=1), ev.StepFinished(step="fill", state="met")]
    events: list[ev.Event] = [
        ev.RunStarted(run="r1", recipe_id="patience", date="2026-11-30", inputs={}),
        ev.PlanMade(plan=PLAN),
        *before,
        ev.StepStarted(step=step, attempt=1),
        unmet,
    ]
    for nth in range(1, waits + 1):
        events += [ev.RungTaken(step=step, rung="wait", drift="slow", nth=nth, redo_from=2), unmet]
    at = "2026-11-30T12:00:00+00:00"
    state = fold([Entry(seq=i, epoch=1, at=at, event=e) for i, e in enumerate(events, 1)])
    found = climb(state, state.nodes[step], Capabilities())
    assert found.rung == "wait"
    return found.redo_from


def test_waiting_in_place_gives_way_to_beginning_again() -> None:
    assert (redo("fill", 0), redo("fill", 1)) == (2, 0)


def test_no_chain_and_no_order_is_begun_again_for_being_slow() -> None:
    assert (redo("on", 0), redo("on", 1)) == (1, 1)
    assert redo("order", 1) == 2
