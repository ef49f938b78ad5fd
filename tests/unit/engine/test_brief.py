"""What a planner is told of a step, and what the state remembers of its revisions for that."""

from __future__ import annotations

from typing import Any

from webagent.core import event as ev
from webagent.core.action import Action, Click, Goto
from webagent.core.brief import Brief
from webagent.core.compile import compile_plan
from webagent.core.event import Entry, Event
from webagent.core.page import Observation
from webagent.core.plan import Plan
from webagent.core.revision import Revision
from webagent.core.sighting import Element, Sighting
from webagent.core.target import parse_target
from webagent.engine.brief import make_brief
from webagent.engine.state import RunState, fold
from webagent.formats.recipe_yaml import parse_recipe

RECIPE = """
webagent: 1
id: told
inputs: {who: {type: string}, untold: {type: string}}
steps:
  fill:
    do: fill
    segment: [{goto: "http://a.test/{{ who }}"}, {click: .old}]
    budget: {pages: 5, seconds: 60}
    expect: {text: Done}
  each:
    do: fill
    for_each: "{{ ['x', 'y'] }}"
    key: "{{ item }}"
    segment: [{goto: http://a.test/}, {click: .item}]
    expect: {text: Done}
"""
PLAN = compile_plan(parse_recipe(RECIPE))
AT = "2026-11-30T12:00:00+00:00"


def click(text: str) -> Action:
    return Click(target=parse_target(text))


GO = Goto(url="http://a.test/{{ who }}")
OLD, NEW, NEWER = (GO, click(".old")), (GO, click(".new")), (GO, click(".newer"))


def revised(segment: tuple[Action, ...], *healed: tuple[str, str]) -> ev.PlanRevised:
    revision = Revision(
        step="fill", segment=segment, first_wrong=1, redo_from=1, cause="target_missing",
        author="local", healed=healed,
    )  # fmt: skip
    return ev.PlanRevised(step="fill", revision=revision, version=2)


FAILED = ev.Judged(
    step="fill", phase="after", verdicts=(), judgement="unmet", drift="target_missing",
    reason="no .old", failed_index=1,
)  # fmt: skip
CLIMBED = ev.RungTaken(step="fill", rung="find_again", drift="target_missing", redo_from=1)


def state(*events: Event) -> RunState:
    inputs: dict[str, Any] = {"who": "ann", "untold": "hush"}
    begun = (
        ev.RunStarted(run="r1", recipe_id="told", date="2026-11-30", inputs=inputs),
        ev.PlanMade(plan=PLAN),
        ev.StepStarted(step="fill", attempt=1),
    )
    told = [Entry(seq=i, epoch=1, at=AT, event=e) for i, e in enumerate((*begun, *events), 1)]
    return fold(told)


def brief(*events: Event, node: str = "fill", **more: Any) -> Brief:
    of = state(*events)
    return make_brief(of, node, Observation(), of.nodes[node].started_at or 0.0, **more)


def sighting(step: str, target: str = ".old") -> Sighting:
    return Sighting(recipe_id="told", step=step, target=target, element=Element(tag="a"))


def test_only_the_steps_own_sightings_are_told():
    own = (sighting("fill"), sighting("fill", ".new"))
    found = brief(FAILED, sightings=(own[0], sighting("each"), sighting("fill/inner"), own[1]))
    assert found.sightings == own


def test_only_the_values_that_the_step_names_are_told():
    told = brief(FAILED)
    assert told.values == {"who": "ann"}
    assert "hush" not in told.model_dump_json()


def test_what_is_asked_for_and_what_turned_the_page_are_told():
    found = brief(FAILED, rung="split", documents=(0,))
    assert (found.rung, found.documents, found.failed_index) == ("split", (0,), 1)
    assert (found.drift, found.reason) == ("target_missing", "no .old")
    assert (found.pages_left, found.seconds_left) == (5, 60.0)


def test_an_items_step_is_told_the_sightings_of_all_items():
    items = ev.ItemsExpanded(step="each", items=(("x", "x"), ("y", "y")))
    started = ev.StepStarted(step="each[x]", attempt=1)
    kept = (sighting("each", ".item"), sighting("fill"))
    found = brief(items, started, node="each[x]", sightings=kept)
    assert found.sightings == (kept[0],)
    assert found.values["item"] == "x"


def test_the_original_is_the_recipes_own_however_often_it_was_revised():
    assert brief(FAILED).original == OLD
    once = (FAILED, CLIMBED, revised(NEW))
    assert brief(*once).original == OLD
    twice = brief(*once, FAILED, CLIMBED, revised(NEWER))
    assert twice.original == OLD
    assert twice.step.segment == NEWER
    assert twice.tried == (OLD, NEW)


def test_a_step_that_was_not_revised_has_no_original_in_the_state():
    assert dict(state(FAILED, CLIMBED, revised(NEW)).originals) == {"fill": OLD}


def test_what_was_healed_twice_stands_for_the_recipes_own_text():
    found = state(
        FAILED, CLIMBED, revised(NEW, (".old", ".new")),
        FAILED, CLIMBED, revised(NEWER, (".new", ".newer")),
    )  # fmt: skip
    assert found.healed["fill"][".new"] == ".old"
    assert found.healed["fill"][".newer"] == ".old"


def test_an_edited_recipe_ends_what_was_healed_and_a_plain_resume_does_not():
    told = (FAILED, CLIMBED, revised(NEW, (".old", ".new")))
    parked = ev.RunParked(cause="stopped", reason="asked")
    kept = state(*told, parked, ev.RunResumed())
    assert (dict(kept.originals), dict(kept.healed["fill"])) == ({"fill": OLD}, {".new": ".old"})
    edited: Plan = PLAN.model_copy(update={"version": 5})
    anew = state(*told, parked, ev.RunResumed(plan=edited, keep=()))
    assert (dict(anew.originals), dict(anew.healed)) == ({}, {})
