"""The runner on the scripted executor: what runs, what does not run again, what stops it."""

from collections import Counter
from pathlib import Path

from tests.unit.runtime.stage import Stage, stage
from webagent.core.page import Failure, Observation
from webagent.engine.reuse import lost_effects
from webagent.engine.state import fold
from webagent.executors.scripted import Fault, Turns
from webagent.runtime.runner import answer

MISSING = Failure(kind="target_missing", message='nothing matches button "Next"')


async def test_an_errand_ends_met_with_its_outputs_and_one_order(ordering: Stage) -> None:
    result = await ordering.run()
    assert (result.status, result.exit_code) == ("met", 0)
    assert result.outputs["choose"]["link"] == "http://a.test/a"
    assert result.outputs["order"] == {"order_number": "17"}
    assert [row["key"] for row in result.outputs["register"]["items"]] == ["ann", "bob", "cyd"]
    assert ordering.site.ledger == ["order"]
    assert all(step.executions <= 1 for step in result.steps.values())


async def test_a_second_run_of_the_same_day_adopts_the_order(ordering: Stage) -> None:
    await ordering.run("r1")
    again = await ordering.run("r2")
    assert again["order"].already
    assert again["order"].outputs == {"order_number": "17"}
    assert ordering.site.ledger == ["order"]


async def test_again_mints_a_key_of_its_own(ordering: Stage) -> None:
    first = await ordering.run("r1")
    second = await ordering.run("r2", again=("order",), again_by="ann@here")
    assert ordering.site.ledger == ["order", "order"]
    assert first["order"].effect_key != second["order"].effect_key
    assert "ann@here" in (second["order"].effect_key or "")


async def test_a_failed_branch_does_not_stop_the_other(fan: Stage) -> None:
    fan.site.faults = {"left": [Fault(at=0, failure=MISSING, times=99)]}
    result = await fan.run()
    assert {p: s.state for p, s in result.steps.items()} == {
        "left": "unmet", "right": "met", "middle": "blocked", "final": "blocked",
    }  # fmt: skip
    assert result.exit_code == 1
    assert result["left"].drift == "target_missing"


async def test_resume_starts_at_the_failed_step_and_leaves_the_met_ones(fan: Stage) -> None:
    fan.site.faults = {"middle": [Fault(at=0, failure=MISSING, times=1)]}
    assert (await fan.run()).exit_code == 1
    before = fan.performed("goto")
    result = await fan.resume()
    assert result.exit_code == 0
    assert fan.performed("goto") - before == Counter({"middle": 1, "final": 1})


async def test_a_slow_step_is_waited_for_in_place(fan: Stage) -> None:
    late = Failure(kind="timeout", message="not there in time")
    fan.site.faults = {"left": [Fault(at=1, failure=late)]}
    result = await fan.run()
    assert result.exit_code == 0
    assert result["left"].rungs == {"wait": 1}
    assert fan.performed("goto")["left"] == 1


async def test_a_server_error_is_waited_out_and_loaded_again(fan: Stage) -> None:
    down = Observation(url="http://l.test/", status=503, retry_after=2.0)
    fan.site.faults = {"left": [Fault(at=1, failure=MISSING, seen=down, times=2)]}
    fan.site.faults["left"].append(Fault(at=2, failure=None, times=0))
    began = fan.clock.seconds
    result = await fan.run()
    assert result.exit_code == 0
    assert result["left"].rungs == {"wait": 1}
    assert fan.performed("goto")["left"] == 2
    assert fan.clock.seconds - began > 2.0


async def test_retries_end(fan: Stage) -> None:
    late = Failure(kind="timeout", message="not there in time")
    fan.site.faults = {"left": [Fault(at=n, failure=late) for n in range(1, 20)]}
    result = await fan.run()
    assert result["left"].state == "unmet"
    assert result["left"].drift == "slow"
    assert result["left"].rungs == {"wait": 2}


async def test_a_step_whose_expectations_held_anyway_is_not_met(tmp_path: Path) -> None:
    ours = stage(
        """
webagent: 1
id: t
errand: t
steps:
  press:
    do: fill
    goal: Press the button
    segment: [{goto: "http://a.test/"}, {click: button "Go"}]
    expect: [{text: Done}]
""",
        tmp_path,
    )
    # The page says Done before anything was clicked.
    ours.site.shown_anyway = frozenset({"press"})
    result = await ours.run()
    assert result["press"].state == "unmet"
    assert "true before it already: text Done" in result["press"].reason
    assert result["press"].rungs == {}


async def test_a_lost_browser_is_replaced_and_the_step_entered_again(fan: Stage) -> None:
    fan.site.faults = {"middle": [Fault(at=0, kill=True)]}
    result = await fan.run()
    assert result.exit_code == 0
    assert result["middle"].rungs == {"reenter": 1}
    assert result["left"].executions == 1


async def test_a_lost_page_reopens_its_chain_by_name(chain: Stage) -> None:
    chain.site.faults = {"page_3": [Fault(at=0, kill=True)]}
    result = await chain.run()
    assert result.exit_code == 0
    assert result["page_1"].reopened == {"page_lost": 1}
    assert result["page_2"].reopened == {"page_lost": 1}
    assert result["beside"].executions == 1
    assert chain.performed("goto")["page_1"] == 2


async def test_a_chain_redone_must_give_the_same_outputs(chain: Stage) -> None:
    chain.site.faults = {"page_3": [Fault(at=0, kill=True)]}
    chain.site.values = {"page_1": {"first": Turns(("one", "two"))}}
    result = await chain.run()
    assert result["page_1"].state == "unmet"
    assert result["page_1"].drift == "value_differs"


async def test_stop_parks_and_resume_goes_on(fan: Stage) -> None:
    from webagent.runtime.runner import Runner, Start

    runner = Runner(fan.deps())
    fan.site.pause = 0.01
    runner.stop()
    parked = await runner.start(fan.plan, Start(run="r1", date="2026-11-30", inputs={}))
    assert (parked.status, parked.exit_code) == ("parked", 130)
    assert (await fan.resume()).exit_code == 0


async def test_until_works_only_what_a_step_needs(fan: Stage) -> None:
    result = await fan.run(until="middle")
    assert (result.status, result.exit_code) == ("parked", 0)
    assert result["right"].state in ("pending", "ready")
    assert result["middle"].state == "met"
    # Resumed, until still holds: it is part of what was asked for.
    assert result["final"].state == "pending"


async def test_rehearse_does_all_but_the_commit(ordering: Stage) -> None:
    result = await ordering.run(rehearse=True)
    assert ordering.site.ledger == []
    assert result["order"].state == "skipped"
    assert result["order"].outputs["form"] == {"step": "order"}
    assert result.exit_code == 0
    assert await ordering.store.effects() == ()
    assert ordering.performed("click")["order"] == 2  # add to basket, and the reset's


async def test_a_page_budget_ends_the_step_with_exit_code_4(fan: Stage, tmp_path: Path) -> None:
    step = fan.plan.by_path["left"]
    tight = step.model_copy(update={"budget": step.budget.model_copy(update={"pages": 0})})
    steps = tuple(tight if s.path == "left" else s for s in fan.plan.steps)
    fan.plan = fan.plan.model_copy(update={"steps": steps})
    result = await fan.run()
    assert result.exit_code == 4
    assert "limit" in result["left"].reason


async def test_an_errand_budget_parks_the_run(fan: Stage) -> None:
    fan.plan = fan.plan.model_copy(
        update={"budget": fan.plan.budget.model_copy(update={"pages": 1})}
    )
    result = await fan.run()
    assert (result.status, result.exit_code) == ("limit", 4)


async def test_signed_out_is_renewed_in_a_tab_of_its_own(ordering: Stage) -> None:
    out = Observation(url="http://a.test/login", status=200, sign_in=True)
    ordering.site.faults = {"order": [Fault(at=1, failure=MISSING, seen=out)]}
    result = await ordering.run()
    assert result.exit_code == 0
    assert result["order"].rungs == {"renew": 1}
    assert result["sign_in"].executions == 1
    types = await ordering.types()
    assert types.count("SessionRenewed") == 1
    assert ordering.site.ledger == ["order"]


async def test_a_gone_offer_reopens_the_one_search_that_read_it(ordering: Stage) -> None:
    gone = Observation(url="http://a.test/a", status=404)
    ordering.site.faults = {"order": [Fault(at=1, failure=MISSING, seen=gone)]}
    first = ordering.site.values["search_a"]["offers"]
    later = [{"title": "a2", "price": 4, "link": "http://a.test/a2"}]
    ordering.site.values["search_a"]["offers"] = Turns((first, later))
    result = await ordering.run()
    assert result.exit_code == 0
    assert result["search_a"].reopened == {"stale_input": 1}
    assert result["choose"].reopened == {"upstream_reopened": 1}
    assert result["search_b"].executions == 1
    assert result["register"].executions == 0
    assert result.outputs["choose"]["link"] == "http://a.test/a2"
    assert ordering.site.ledger == ["order"]


async def test_an_item_that_fails_is_told_by_the_join(ordering: Stage) -> None:
    ordering.site.faults = {"register[bob]": [Fault(at=1, failure=MISSING, times=9)]}
    result = await ordering.run()
    assert result["register"].state == "unmet"
    assert "bob" in result["register"].reason
    assert result["register[ann]"].state == "met"
    assert result["order"].state == "blocked"


async def test_resume_retries_only_the_failed_item(ordering: Stage) -> None:
    ordering.site.faults = {"register[bob]": [Fault(at=1, failure=MISSING, times=1)]}
    assert (await ordering.run()).exit_code == 1
    before = ordering.performed("click")
    result = await ordering.resume()
    assert result.exit_code == 0
    assert ordering.performed("click")["register[bob]"] - before["register[bob]"] == 1
    assert ordering.performed("click")["register[ann]"] == before["register[ann]"] == 1


def with_check(ours: Stage) -> Stage:
    """The basket is never as it should be."""
    ours.site.unchecked = frozenset({"order"})
    return ours


async def test_a_failed_check_before_the_commit_is_put_to_a_person(ordering: Stage) -> None:
    result = await with_check(ordering).run()
    assert (result.status, result.exit_code) == ("waiting", 3)
    assert (result["order"].state, result["order"].rungs["ask"]) == ("waiting", 1)
    assert ordering.site.ledger == []
    ordering.site.unchecked = frozenset()
    await answer(ordering.deps(), "r1", "order", "again", "ann")
    after = await ordering.resume()
    assert (after.exit_code, ordering.site.ledger) == (0, ["order"])
    assert after["search_a"].executions == 1


async def test_a_person_may_let_it_fail(ordering: Stage) -> None:
    await with_check(ordering).run()
    await answer(ordering.deps(), "r1", "order", "fail", "ann")
    result = await ordering.resume()
    assert (result["order"].state, result.exit_code) == ("unmet", 1)
    assert ordering.site.ledger == []


async def test_unattended_nobody_is_asked_and_the_step_fails(ordering: Stage) -> None:
    result = await with_check(ordering).run(unattended=True)
    assert (result["order"].state, result.exit_code) == ("unmet", 1)
    assert result["order"].drift == "value_differs"
    assert ordering.site.ledger == []


async def test_a_page_that_says_thank_you_by_itself_is_not_believed(ordering: Stage) -> None:
    ordering.site.silent = frozenset({"order"})
    ordering.site.reads = None
    ordering.site.values["order"]["orders"] = []
    result = await ordering.run()
    assert (result["order"].state, result.exit_code) == ("unknown", 5)
    assert "was not seen to go out" in result["order"].reason


async def test_what_the_probe_shows_is_believed(ordering: Stage) -> None:
    ordering.site.silent = frozenset({"order"})
    result = await ordering.run()
    assert (result["order"].state, result.exit_code) == ("met", 0)


async def test_an_edited_recipe_may_not_lose_the_step_of_an_effect(ordering: Stage) -> None:
    await ordering.run()
    state = fold(await ordering.entries())
    left = tuple(s for s in ordering.plan.steps if s.path != "order")
    assert lost_effects(state, ordering.plan) == ()
    assert lost_effects(state, ordering.plan.model_copy(update={"steps": left})) == ("order",)
