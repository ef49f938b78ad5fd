"""The browser dies, two runners meet, a person edits or only rehearses: still right, still once."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from tests.journeys.journey import RECIPES, BrowserKiller, Journey, edited
from webagent.core.errors import BadInput
from webagent.core.event import ActionDispatched, ActionDone, EffectDispatched, Entry, StepFinished
from webagent.engine.reuse import executed_again
from webagent.runtime.result import RunResult

A = "shop-a.test"


def at(kind: type, step: str, index: int | None = None) -> Callable[[Entry], bool]:
    """The first entry of a kind (and an action's index) of a step."""
    return lambda e: (
        isinstance(e.event, kind)
        and e.event.step == step
        and (index is None or getattr(e.event, "index", None) == index)
    )


def assert_once(journey: Journey, result: RunResult) -> None:
    assert (result.status, result.exit_code) == ("met", 0), (result.reason, result.steps)
    (order,) = journey.sites.ledger.writes("order")
    assert result.outputs["order_a"]["order_number"] == order.data["order_no"]
    assert [line["quantity"] for line in order.data["lines"]] == [1]  # type: ignore[attr-defined]  # the ledger's data is of any shape


# -- the browser is killed --------------------------------------------------------------------

MOMENTS = {
    "in the search": at(ActionDispatched, "search_a", 2),
    "with a full basket": at(ActionDone, "order_a", 2),
    "with the form filled in": at(ActionDone, "order_a", 4),
    "as the order is sent": at(EffectDispatched, "order_a"),
    "when all is done": at(StepFinished, "order_a"),
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_browser_that_dies_is_replaced_and_one_order_made(
    journey: Journey, moment: str
) -> None:
    journey.sites.set_fault(A, "keep_basket", True)
    killer = BrowserKiller(MOMENTS[moment])
    result = await journey.run("compare_and_order", watch=[killer])
    assert killer.killed is not None
    if result["order_a"].state == "unknown":
        # Killed after the claim and before the input: only a person can know, and is asked.
        assert (moment, result.exit_code) == ("as the order is sent", 5)
        assert journey.sites.ledger.count("order") == 0
        return
    assert_once(journey, result)
    assert executed_again(tuple(journey.entries)) == ()


async def test_a_chain_whose_browser_dies_is_done_again_from_its_beginning(
    journey: Journey,
) -> None:
    killer = BrowserKiller(at(StepFinished, "options"))
    result = await journey.run("apply_for_permit", watch=[killer])
    assert killer.killed is not None
    assert (result.status, result.exit_code) == ("met", 0), result.reason
    assert result["person"].reopened == {"page_lost": 1}
    assert executed_again(tuple(journey.entries)) == ()
    assert journey.sites.ledger.count("confirm") == 1


# -- two runners ------------------------------------------------------------------------------


def ended(process: Popen[str]) -> dict[str, Any]:
    out, errors = process.communicate(timeout=90)
    assert out, errors
    return dict(json.loads(out))


def test_a_runner_that_comes_while_an_order_is_under_way_takes_over_its_outcome(
    journey: Journey,
) -> None:
    journey.sites.set_fault(A, "keep_basket", True)
    journey.sites.set_fault(A, "order_delay", 5.0)
    written = threading.Event()
    stop = journey.sites.ledger.on_write(lambda w: written.set() if w.kind == "order" else None)
    recipe = str(RECIPES / "compare_and_order.yaml")
    first = journey.command("run", recipe, "--json")
    assert written.wait(60)
    second = journey.command("run", recipe, "--json")
    told = [ended(first), ended(second)]
    stop()
    assert [first.returncode, second.returncode] == [0, 0], [run["reason"] for run in told]
    orders = [run["steps"]["order_a"] for run in told]
    assert [order["already"] for order in orders] == [False, True]
    (order,) = journey.sites.ledger.writes("order")
    assert {o["outputs"]["order_number"] for o in orders} == {order.data["order_no"]}


def test_two_runners_that_begin_together_do_each_row_once(journey: Journey) -> None:
    recipe = str(RECIPES / "add_people.yaml")
    both = [journey.command("run", recipe, "--json") for _ in range(2)]
    told = [ended(process) for process in both]
    assert [process.returncode for process in both] == [0, 0], [run["reason"] for run in told]
    people = [str(write.data["name"]) for write in journey.sites.ledger.writes("person")]
    assert sorted(people) == ["Ada Lovelace", "Grace Hopper", "Mary Shelley"]


# -- terms ------------------------------------------------------------------------------------


async def test_an_unattended_run_above_max_radius_is_refused(
    journey: Journey, tmp_path: Path
) -> None:
    tight = edited("compare_and_order", tmp_path, ("max_radius: 8 ", "max_radius: 3 "))
    with pytest.raises(BadInput, match="could redo 4 steps; the recipe allows 3"):
        await journey.run(tight, unattended=True)
    assert journey.sites.transitions.entries() == []
    result = await journey.run("compare_and_order", unattended=True)
    assert_once(journey, result)


async def test_a_rehearsal_shows_the_form_orders_nothing_and_empties_the_basket(
    journey: Journey,
) -> None:
    result = await journey.run("compare_and_order", rehearse=True)
    assert (result.status, result.exit_code) == ("met", 0)
    assert result["order_a"].state == "skipped"
    payload = result["order_a"].outputs
    assert payload["form"]["Name"] == "Kim Doe"
    assert "Place order" in payload["commit"]
    kinds = [write.kind for write in journey.sites.ledger.writes()]
    assert kinds == ["sign_in", "basket_add", "basket_empty"]

    assert_once(journey, await journey.run("compare_and_order"))


async def test_an_edited_recipe_keeps_what_is_met(journey: Journey, tmp_path: Path) -> None:
    right = ('button "Add to basket"', 'button "Add to basket"')
    wrong = ("      - click: button \"Add to basket\"\n      - goto: http://shop-a.test/basket",
             "      - click: button \"Put it there\"\n        timeout: 1\n"
             "      - goto: http://shop-a.test/basket")  # fmt: skip
    first = await journey.run(edited("compare_and_order", tmp_path, wrong))
    assert (first.status, first["order_a"].drift) == ("failed", "target_missing")
    assert journey.sites.ledger.count("order") == 0

    result = await journey.resume(first.run, edited("compare_and_order", tmp_path, right))
    assert_once(journey, result)
    assert {p: s.executions for p, s in result.steps.items() if p.startswith("search")} == {
        "search_a": 1, "search_b": 1,
    }  # fmt: skip


async def test_a_step_whose_effect_was_sent_is_not_run_again_for_an_edit(
    journey: Journey, tmp_path: Path
) -> None:
    first = await journey.run("compare_and_order")
    other = edited("compare_and_order", tmp_path, ("default: Kim Doe", "default: Lou Roe"),
                   ("goal: Order the chosen offer in shop A", "goal: Order it again"))  # fmt: skip
    result = await journey.resume(first.run, other)
    assert result.exit_code == 0
    assert journey.sites.ledger.count("order") == 1


# -- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_outputs_are_written_to_a_file(journey: Journey, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"rates.{suffix}"
    recipe = str(RECIPES / "read_listing.yaml")
    process = journey.command("run", recipe, "--until", "rates", "--out", str(out), "--json")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    text = out.read_text("utf-8")
    match suffix:
        case "csv":
            rows = list(csv.DictReader(text.splitlines()))
        case "jsonl":
            rows = [json.loads(line) for line in text.splitlines()]
        case _:
            rows = json.loads(text)["rates"]["rates"]
    assert len(rows) == 5
    assert rows[0]["currency"] == "US dollar"
    assert float(rows[0]["rate"]) == pytest.approx(1.0832)
