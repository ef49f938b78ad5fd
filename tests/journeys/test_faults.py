"""Compare-and-order against a shop that goes wrong; the shop's own ledger says what was ordered.

The shop keeps its basket after an order (`keep_basket`), so that a second POST would be a second
order and could not hide.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.journeys.journey import Journey, edited
from webagent.core.event import ActionDone, EffectFreed, Entry, Judged, StepFinished
from webagent.demo.ledger import Write
from webagent.engine.state import RunState
from webagent.interface.records import effects, settle
from webagent.runtime.result import RunResult

A = "shop-a.test"
QUICK = ("    goal: Order the chosen offer in shop A\n",
         "    goal: Order the chosen offer in shop A\n    timeout: 2\n")  # fmt: skip


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """The recipe, with less patience in its order."""
    return edited("compare_and_order", tmp_path, QUICK)


@pytest.fixture
def shop(journey: Journey) -> Journey:
    journey.sites.set_fault(A, "keep_basket", True)
    return journey


def orders(shop: Journey) -> int:
    return shop.sites.ledger.count("order")


def by_probe(shop: Journey) -> bool:
    """Whether the order's expectations were met by its probe."""
    judged = [e.event for e in shop.entries if isinstance(e.event, Judged)]
    return any(v.by_probe for j in judged if j.step == "order_a" for v in j.verdicts)


def when(moment: Callable[[Entry], bool], act: Callable[[], None]) -> Callable[..., None]:
    """Act once, when the journal comes to a moment."""
    done: list[bool] = []

    def watch(_state: RunState, entry: Entry) -> None:
        if not done and moment(entry):
            done.append(True)
            act()

    return watch


def met(step: str) -> Callable[[Entry], bool]:
    return lambda e: (
        isinstance(e.event, StepFinished) and (e.event.step, e.event.state) == (step, "met")
    )


def done(step: str, index: int) -> Callable[[Entry], bool]:
    return lambda e: (
        isinstance(e.event, ActionDone)
        and (e.event.step, e.event.index, e.event.segment) == (step, index, "step")
    )


def assert_ordered_once(shop: Journey, result: RunResult) -> None:
    assert (result.status, result.exit_code) == ("met", 0), result.reason
    (order,) = shop.sites.ledger.writes("order")
    assert result.outputs["order_a"]["order_number"] == order.data["order_no"]


# -- the answer to the order ------------------------------------------------------------------


async def test_a_late_answer_is_waited_for(shop: Journey) -> None:
    shop.sites.set_fault(A, "order_delay", 2.5)
    assert_ordered_once(shop, await shop.run("compare_and_order"))
    assert not by_probe(shop)


async def test_an_answer_that_is_too_late_is_made_up_for_by_the_probe(
    shop: Journey, quick: Path
) -> None:
    shop.sites.set_fault(A, "order_delay", 8)
    assert_ordered_once(shop, await shop.run(quick))
    assert by_probe(shop)


@pytest.mark.parametrize("fault", ["503_after_write", "cut_after_write"])
async def test_an_order_without_its_answer_is_met_by_probe(
    shop: Journey, quick: Path, fault: str
) -> None:
    shop.sites.set_fault(A, "order_fault", fault)
    assert_ordered_once(shop, await shop.run(quick))
    assert by_probe(shop)


async def test_a_form_that_its_script_sends_twice_orders_once(shop: Journey, quick: Path) -> None:
    shop.sites.set_fault(A, "order_fault", "double_submit_script")
    assert_ordered_once(shop, await shop.run(quick))


async def test_a_refused_order_is_exit_code_5_and_can_be_tried_again(
    shop: Journey, quick: Path
) -> None:
    shop.sites.set_fault(A, "order_fault", "refuse_422")
    result = await shop.run(quick)
    assert (result.status, result.exit_code) == ("failed", 5)
    assert (result["order_a"].state, result["order_a"].effect) == ("unmet", "refused")
    assert "422" in result["order_a"].reason
    assert orders(shop) == 0

    shop.sites.set_fault(A, "order_fault", None)
    assert_ordered_once(shop, await shop.resume(result.run))


# -- what cannot be known ---------------------------------------------------------------------


async def unknown_order(shop: Journey, quick: Path) -> RunResult:
    """An order that was made, while neither its answer nor the list of orders can be seen."""
    shop.sites.set_fault(A, "order_fault", "503_after_write")

    def closes(write: Write) -> None:
        if write.kind == "order":
            shop.sites.set_fault(A, "probe_down", True)

    stop = shop.sites.ledger.on_write(closes)
    result = await shop.run(quick)
    stop()
    assert (result.status, result.exit_code) == ("unknown", 5)
    assert (result["order_a"].state, result["order_a"].drift) == ("unknown", "effect_unknown")
    assert "webagent settle" in result["order_a"].reason
    assert orders(shop) == 1
    shop.sites.set_fault(A, "order_fault", None)
    return result


async def test_an_unknown_order_is_never_sent_again_and_the_probe_may_tell_later(
    shop: Journey, quick: Path
) -> None:
    first = await unknown_order(shop, quick)

    still = await shop.resume(first.run)
    assert (still.status, still.exit_code) == ("unknown", 5)
    another = await shop.run(quick)
    assert another.exit_code == 5
    assert orders(shop) == 1

    shop.sites.set_fault(A, "probe_down", None)
    assert_ordered_once(shop, await shop.resume(first.run))
    assert by_probe(shop)


async def test_a_person_may_say_that_it_did_not_happen(shop: Journey, quick: Path) -> None:
    first = await unknown_order(shop, quick)
    (row,) = await effects(store=shop.settings.store)
    await settle(row.key, happened=False, note="the shop says so", store=shop.settings.store)
    shop.sites.set_fault(A, "probe_down", None)
    result = await shop.resume(first.run)
    assert (result.status, result.exit_code) == ("met", 0)
    assert any(isinstance(e.event, EffectFreed) for e in shop.entries)
    assert orders(shop) == 2  # the person was wrong, and had the say


async def test_nothing_is_ordered_when_the_probe_cannot_be_read_before(
    shop: Journey, quick: Path
) -> None:
    shop.sites.set_fault(A, "probe_down", True)
    result = await shop.run(quick)
    assert (result.status, result.exit_code) == ("failed", 1)
    assert "nothing was sent" in result["order_a"].reason
    assert orders(shop) == 0


# -- what changed between the search and the order --------------------------------------------


async def test_a_price_that_rose_meanwhile_is_not_paid(shop: Journey, quick: Path) -> None:
    dearer = {"usb-c-cable-1m": "19.50"}
    watch = when(met("choose"), lambda: shop.sites.set_fault(A, "price_change", dearer))
    result = await shop.run(quick, watch=[watch], unattended=True)
    assert (result.status, result.exit_code) == ("failed", 1)
    assert result["order_a"].drift == "value_differs"
    assert orders(shop) == 0


async def test_a_person_who_is_there_is_asked_about_a_price_that_rose(
    shop: Journey, quick: Path
) -> None:
    dearer = {"usb-c-cable-1m": "19.50"}
    watch = when(met("choose"), lambda: shop.sites.set_fault(A, "price_change", dearer))
    first = await shop.run(quick, watch=[watch])
    assert (first.status, first.exit_code) == ("waiting", 3)
    assert orders(shop) == 0
    shop.sites.set_fault(A, "price_change", None)
    await shop.answer(first.run, "order_a", "again")
    result = await shop.resume(first.run)
    assert (result.status, result.exit_code) == ("met", 0)
    assert orders(shop) == 1


async def test_an_offer_that_is_sold_out_is_not_chosen(shop: Journey) -> None:
    shop.sites.set_fault(A, "sold_out", ["usb-c-cable-1m"])
    result = await shop.run("compare_and_order")
    assert (result.status, result.exit_code) == ("met", 0)
    assert result.outputs["choose"]["title"] != "USB-C Cable 1 m"
    assert orders(shop) == 1


async def test_an_offer_that_sells_out_meanwhile_is_a_failure_without_an_order(
    shop: Journey, quick: Path
) -> None:
    watch = when(met("choose"), lambda: shop.sites.set_fault(A, "sold_out", ["usb-c-cable-1m"]))
    result = await shop.run(quick, watch=[watch])
    assert (result.status, result.exit_code) == ("failed", 1)
    assert result["order_a"].drift == "target_missing"
    assert orders(shop) == 0


async def test_an_offer_that_is_gone_reopens_the_search_that_read_it(
    shop: Journey, quick: Path
) -> None:
    watch = when(met("choose"), lambda: shop.sites.set_fault(A, "withdrawn", ["usb-c-cable-1m"]))
    result = await shop.run(quick, watch=[watch])
    assert (result.status, result.exit_code) == ("met", 0)
    assert result["search_a"].reopened == {"stale_input": 1}
    assert result["search_b"].executions == 1
    assert result.outputs["choose"]["title"] != "USB-C Cable 1 m"
    assert orders(shop) == 1


# -- the session ------------------------------------------------------------------------------


@pytest.mark.parametrize("after", range(5), ids=["product", "basket", "goto", "checkout", "form"])
async def test_a_session_that_ends_meanwhile_is_renewed_and_one_order_made(
    shop: Journey, quick: Path, after: int
) -> None:
    watch = when(done("order_a", after), lambda: shop.sites.set_fault(A, "logout_after", 0))
    assert_ordered_once(shop, await shop.run(quick, watch=[watch]))
    assert shop.sites.ledger.count("sign_in") == 2
    (order,) = shop.sites.ledger.writes("order")
    assert [line["quantity"] for line in order.data["lines"]] == [1]  # type: ignore[attr-defined]  # a fact is any JSON
