"""Which rung is taken next: by drift, by budget, and by what the planner serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from webagent.core import event as ev
from webagent.core.compile import compile_plan
from webagent.core.event import Entry, Event
from webagent.core.expect import TextShown, Verdict
from webagent.core.page import Drift
from webagent.core.revision import Rung
from webagent.engine.ladder import REVISIONS, RUNGS, Capabilities, Climb, climb
from webagent.engine.state import fold
from webagent.formats.recipe_yaml import parse_recipe

RECIPE = """
webagent: 1
id: ladder
steps:
  fill:
    do: fill
    segment: [{goto: http://a.test/}, {click: button "Go"}]
    expect: {text: Done}
  list:
    do: read
    segment:
      - goto: http://a.test/
      - read: {rows: {each: .row, fields: {name: .name}, pages: {next: link "Next"}}}
    expect: [output: rows]
  one:
    do: read
    segment: [{goto: http://a.test/}, {read: {title: h1}}]
    expect: [output: title]
"""
PLAN = compile_plan(parse_recipe(RECIPE))
UNMET = (Verdict(expected=TextShown(text="Done"), judgement="unmet", seen="0 shown"),)
ALL: frozenset[Rung] = frozenset({"find_again", "regenerate", "split"})


def climbed(
    drift: Drift,
    *taken: Rung,
    step: str = "fill",
    rungs: frozenset[Rung] = ALL,
    planner: bool = True,
    **judged: Any,
) -> Climb:
    """The next rung after these were taken, each in vain."""
    told: dict[str, Any] = {"judgement": "unmet", "failed_index": 1, **judged}
    failed = ev.Judged(step=step, phase="after", verdicts=UNMET, drift=drift, reason="r", **told)
    tries: Sequence[Event] = [
        event
        for nth, rung in enumerate(taken, 1)
        for event in (ev.RungTaken(step=step, rung=rung, drift=drift, nth=nth, redo_from=1), failed)
    ]
    events: list[Event] = [
        ev.RunStarted(run="r1", recipe_id="ladder", date="2026-11-30", inputs={}),
        ev.PlanMade(plan=PLAN),
        ev.StepStarted(step=step, attempt=1),
        failed,
        *tries,
    ]
    at = "2026-11-30T12:00:00+00:00"
    state = fold([Entry(seq=i, epoch=1, at=at, event=e) for i, e in enumerate(events, 1)])
    return climb(state, state.nodes[step], Capabilities(planner=planner, rungs=rungs))


def revisions(rung: Rung) -> list[Rung]:
    """As often as a rung may be taken."""
    return [rung] * REVISIONS[rung]


def test_a_missing_target_is_found_again_before_anything_is_made_anew():
    assert climbed("target_missing").rung == "find_again"
    assert climbed("target_missing", *revisions("find_again")).rung == "regenerate"


@pytest.mark.parametrize(
    "drift, rungs",
    [
        ("target_missing", ["find_again", "regenerate", "fail"]),
        ("target_ambiguous", ["find_again", "regenerate", "fail"]),
        ("page_moved", ["regenerate", "split", "fail"]),
        ("wrong_page", ["regenerate", "split", "fail"]),
        ("output_invalid", ["regenerate", "fail"]),
    ],
)
def test_each_drift_has_its_rungs_and_each_rung_its_budget(drift: Drift, rungs: list[Rung]):
    taken: list[Rung] = []
    for rung in rungs:
        found = climbed(drift, *taken)
        assert (found.rung, found.drift) == (rung, drift)
        taken += revisions(rung) if rung != "fail" else []


def test_the_last_of_a_budget_is_told_by_its_number():
    last = revisions("find_again")[:-1]
    assert climbed("target_missing", *last).nth == REVISIONS["find_again"]


@pytest.mark.parametrize(
    "rungs, drift, taken",
    [
        ({"regenerate"}, "target_missing", "regenerate"),
        ({"split"}, "page_moved", "split"),
        ({"find_again"}, "page_moved", "fail"),
        (set(), "target_missing", "fail"),
    ],
)
def test_a_rung_that_the_planner_does_not_serve_is_left_out(
    rungs: set[Rung], drift: Drift, taken: Rung
):
    assert climbed(drift, rungs=frozenset(rungs)).rung == taken


@pytest.mark.parametrize("drift", ["target_missing", "page_moved", "output_invalid"])
def test_without_a_planner_nothing_is_revised(drift: Drift):
    assert climbed(drift, planner=False).rung == "fail"


@pytest.mark.parametrize("drift", sorted(RUNGS))
def test_a_rung_that_the_drift_does_not_call_for_is_never_taken(drift: Drift):
    assert climbed(drift).rung in {*RUNGS[drift], "fail"}


def test_what_lies_over_the_page_is_waited_for_once_nobody_could_remove_it():
    assert climbed("unexpected_event", in_the_way=True).rung == "regenerate"
    in_vain: list[Rung] = revisions("regenerate") + revisions("split")
    found = climbed("unexpected_event", *in_vain, in_the_way=True)
    assert (found.rung, found.redo_from) == ("wait", 1)
    assert climbed("unexpected_event", in_the_way=True, planner=False).rung == "wait"


def test_what_may_have_been_sent_is_not_waited_for():
    assert climbed("unexpected_event", in_the_way=False, planner=False).rung == "fail"
    assert climbed("unexpected_event", failed_index=None, planner=False).rung == "fail"


def test_an_unknown_outcome_is_no_reason_to_try_again():
    assert climbed("target_missing", judgement="unknown").rung == "fail"


@pytest.mark.parametrize("drift", ["slow", "server_error"])
def test_a_list_of_several_pages_is_read_again_from_its_goto(drift: Drift):
    found = climbed(drift, step="list")
    assert (found.rung, found.redo_from) == ("wait", 0)


def test_a_plain_read_that_is_slow_is_read_again_where_it_stands():
    found = climbed("slow", step="one")
    assert (found.rung, found.redo_from) == ("wait", 1)
