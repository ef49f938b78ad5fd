"""The worst case of a failure: who runs again, what it may cost, how the step is entered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.core.action import Click, Goto
from webagent.core.chat import Models, ModelSpec
from webagent.core.limits import Budget
from webagent.core.plan import Plan, PlanStep
from webagent.core.target import parse_target
from webagent.engine.radius import (
    largest_radius,
    over_max_radius,
    radii,
    radius,
    worst_cases,
)

ENTER = Goto(url="https://a.example/")
CLICK = Click(target=parse_target(".next"))


def step(path: str, *needs: str, **more: object) -> PlanStep:
    """A read step; one that continues another begins with a click."""
    segment = (CLICK,) if more.get("continues") else (ENTER,)
    values = {"do": "read", "segment": segment, "enterable": not more.get("continues"), **more}
    return PlanStep.model_validate({"path": path, "needs": needs, **values})


def plan(*steps: PlanStep, max_radius: int | None = None) -> Plan:
    """A plan of these steps."""
    return Plan(recipe_id="r", steps=steps, max_radius=max_radius)


def test_a_step_that_nobody_needs_is_redone_alone() -> None:
    one = radius(plan(step("a"), step("b")), "a")
    assert one.again == ("a",)
    assert (one.steps, one.pages, one.seconds, one.tokens) == (1, 30, 120.0, 0)
    assert one.entry == "by URL"


def test_every_dependant_may_have_been_met_already() -> None:
    made = plan(step("a"), step("b", "a"), step("c", "b"), step("d"))
    assert radius(made, "a").again == ("a", "b", "c")
    assert radius(made, "b").again == ("b", "c")
    assert radius(made, "d").again == ("d",)


def test_alternatives_are_dependants_too() -> None:
    made = plan(step("a"), step("b", needs_any=("a",)))
    assert radius(made, "a").again == ("a", "b")


def test_a_chain_is_redone_from_where_it_can_be_entered() -> None:
    made = plan(
        step("a"), step("b", "a", continues="a"), step("c", "b", continues="b"), step("d", "c")
    )
    one = radius(made, "c")
    assert one.again == ("a", "b", "c", "d")
    assert one.chain == ("a", "b")
    assert one.entry == "through the chain a → b → c"


def test_a_chain_ends_at_the_last_step_that_can_be_entered() -> None:
    made = plan(
        step("a"),
        step("b", "a", continues="a").model_copy(update={"enterable": True}),
        step("c", "b", continues="b"),
    )
    assert radius(made, "c").again == ("b", "c")
    assert radius(made, "b").entry == "by URL"


def test_what_else_hangs_on_the_chain_stays_met() -> None:
    """A chain that is entered again must come out equal: its other dependants keep their values."""
    made = plan(step("a"), step("other", "a"), step("b", "a", continues="a"))
    assert radius(made, "b").again == ("a", "b")


def test_budgets_are_added_up_and_compare_costs_no_page() -> None:
    made = plan(
        step("a", budget=Budget(seconds=10, pages=2)),
        PlanStep(path="c", do="compare", needs=("a",)),
        step("b", "c", budget=Budget(seconds=5)),
    )
    one = radius(made, "a")
    assert (one.steps, one.pages, one.seconds) == (3, 32, 15.0)
    assert radius(made, "c").entry == "no page"
    assert radius(made, "c").pages == 30


def test_effects_at_stake_are_named() -> None:
    made = plan(step("a"), step("b", "a", effect="repeatable"), step("c", "b", effect="once"))
    assert radius(made, "a").effects == (("b", "repeatable"), ("c", "once"))
    assert worst_cases(made)[0].effects == "b (repeatable), c (once)"


def test_a_for_each_counts_for_each_item() -> None:
    made = plan(step("a"), step("b", "a", for_each="a.rows", key="item.id"))
    assert radius(made, "a").each_item
    assert worst_cases(made)[1].entry == "by URL, pages and seconds for each item"


def test_max_radius_refuses_the_largest() -> None:
    steps = (step("a"), step("b", "a"), step("c", "b"))
    largest = largest_radius(plan(*steps))
    assert largest is not None
    assert (largest.step, largest.steps) == ("a", 3)
    assert over_max_radius(plan(*steps, max_radius=2)) == largest
    assert over_max_radius(plan(*steps, max_radius=3)) is None
    assert over_max_radius(plan(*steps)) is None


def test_a_plan_without_steps_has_no_radius() -> None:
    assert largest_radius(plan()) is None


@given(st.data())
def test_a_radius_is_the_step_its_chain_and_its_descendants(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 10))
    steps: list[PlanStep] = []
    taken: set[str] = set()
    for index in range(count):
        names = [s.path for s in steps]
        needs = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
        free = [name for name in needs if name not in taken]
        before = data.draw(st.sampled_from([None, *free]))
        if before is not None:
            taken.add(before)
        steps.append(step(f"s{index}", *needs, continues=before))
    made = plan(*steps)
    for one in radii(made):
        assert one.step in one.again
        assert set(one.again) == {one.step, *one.chain, *made.descendants(one.step)}
        assert list(one.again) == [s.path for s in made.steps if s.path in set(one.again)]
        assert one.steps <= count


@pytest.mark.parametrize(
    "models, step, whole, tokens",
    [
        (False, 500, 900, 0),
        (True, None, None, None),
        (True, None, 900, 900),
        (True, 500, None, 1000),
        (True, 500, 900, 900),
    ],
)
def test_what_models_may_cost_is_told_by_the_budgets(
    models: bool, step: int | None, whole: int | None, tokens: int | None
) -> None:
    named = Models.all(ModelSpec(model="m")) if models else Models()
    steps = tuple(
        PlanStep(path=path, do="read", needs=needs, budget=Budget(tokens=step))
        for path, needs in (("a", ()), ("b", ("a",)))
    )
    plan = Plan(recipe_id="x", steps=steps, models=named, budget=Budget(tokens=whole))
    assert radius(plan, "a").tokens == tokens
