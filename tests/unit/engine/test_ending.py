"""How a run ends over refused effects: what a for_each allows to fail is no failure of the run."""

import pytest

from webagent.core import event as ev
from webagent.core.compile import compile_plan
from webagent.core.event import Entry
from webagent.engine.decide import Finish, next_moves
from webagent.engine.state import fold
from webagent.formats.recipe_yaml import parse_recipe

ADDING = """
webagent: 1
id: adding
inputs: {people: {type: list}}
steps:
  add:
    do: submit
    for_each: "{{ people }}"
    key: item.id
    allow_failed: ALLOWED
    once: "{{ item.id }}"
    segment:
      - goto: http://a.test/new
      - commit: {click: button "Add"}
    expect: {text: Added}
"""


def ended(allowed: int, join: ev.FinalState, last: ev.Event) -> tuple[str, int]:
    """How a run over ann (met) and bob (whose effect ends with ``last``) finishes."""
    plan = compile_plan(parse_recipe(ADDING.replace("ALLOWED", str(allowed))))
    people = [{"id": "ann"}, {"id": "bob"}]
    bob = "add[bob]"
    events: list[ev.Event] = [
        ev.RunStarted(
            run="r1", recipe_id="adding", date="2026-11-30", inputs={"people": people}
        ),
        ev.PlanMade(plan=plan),
        ev.ItemsExpanded(step="add", items=tuple((p["id"], p) for p in people)),
        ev.StepStarted(step="add[ann]", attempt=1),
        ev.StepFinished(step="add[ann]", state="met"),
        ev.StepStarted(step=bob, attempt=1),
        ev.EffectIntended(step=bob, key="adding/add/bob", attempt=1, baseline=None, payload={}),
        ev.EffectDispatched(step=bob, key="adding/add/bob", attempt=1),
        last,
        ev.StepFinished(
            step=bob, state="unknown" if isinstance(last, ev.EffectUnknown) else "unmet"
        ),
        ev.StepFinished(step="add", state=join),
    ]  # fmt: skip
    at = "2026-11-30T12:00:00+00:00"
    state = fold([Entry(seq=i, epoch=1, at=at, event=e) for i, e in enumerate(events, 1)])
    (move,) = next_moves(state)
    assert isinstance(move, Finish)
    return move.status, move.exit_code


REFUSED = ev.EffectRefused(step="add[bob]", key="adding/add/bob", attempt=1, evidence="422")
UNKNOWN = ev.EffectUnknown(step="add[bob]", key="adding/add/bob", attempt=1, evidence="no answer")


@pytest.mark.parametrize(
    "allowed,join,last,status,code",
    [
        (1, "met", REFUSED, "met", 0),
        (0, "unmet", REFUSED, "failed", 5),
        (1, "unknown", UNKNOWN, "unknown", 5),
    ],
    ids=["refused and allowed", "refused and not allowed", "unknown is never allowed"],
)  # fmt: skip
def test_a_run_ends_by_the_worst_effect_that_is_not_allowed_to_fail(
    allowed: int, join: ev.FinalState, last: ev.Event, status: str, code: int
) -> None:
    assert ended(allowed, join, last) == (status, code)
