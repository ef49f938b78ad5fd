"""Every recipe is run for real, twice: its outputs, and the site's ledger, are exactly right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.journeys.journey import RECIPES, Journey, edited
from webagent.core.event import PersonAsked
from webagent.interface.errands import check
from webagent.runtime.result import RunResult

# Those that are run here, and those that run as a part of them.
HERE = {
    "add_people", "apply_for_permit", "ask_before_order", "compare_and_order", "download_invoice",
    "every_control", "find_book", "read_listing", "watch_price",
}  # fmt: skip
USED = {"sign_in_shop_a", "sign_in_ledger_bank"}
REAL = {"order_in_oscar", "add_django_user"}


def writes(journey: Journey) -> Counter[str]:
    return Counter(write.kind for write in journey.sites.ledger.writes())


def assert_met(result: RunResult) -> None:
    assert (result.status, result.exit_code) == ("met", 0), (result.reason, result.steps)


def test_every_recipe_is_run_by_a_test() -> None:
    assert {path.stem for path in RECIPES.glob("*.yaml")} == HERE | USED | REAL


@pytest.mark.parametrize(
    "recipe", sorted(RECIPES.rglob("*.yaml")), ids=lambda p: str(p.relative_to(RECIPES))
)
def test_every_recipe_is_right_and_says_what_it_is_for(recipe: Path) -> None:
    assert check(recipe).errand
    assert recipe.read_text("utf-8").startswith("# ")


async def test_compare_and_order_orders_the_cheaper_offer_once(journey: Journey) -> None:
    result = await journey.run("compare_and_order")
    assert_met(result)
    assert result.outputs["choose"]["title"] == "USB-C Cable 1 m"
    assert result["order_b"].state == "skipped"
    (order,) = journey.sites.ledger.writes("order")
    assert result.outputs["order_a"] == {"order_number": order.data["order_no"]}
    assert (order.site, order.data["name"]) == ("shop-a.test", "Kim Doe")
    assert order.data["address"] == "1 Alder Street, Springfield"

    again = await journey.run("compare_and_order")
    assert_met(again)
    assert again["order_a"].already
    assert again.outputs["order_a"] == result.outputs["order_a"]
    assert writes(journey) == {"sign_in": 2, "basket_add": 1, "order": 1}


async def test_compare_and_order_goes_where_it_is_cheaper(journey: Journey) -> None:
    journey.sites.set_fault("shop-a.test", "price_change", {"usb-c-cable-1m": "18.00"})
    result = await journey.run("compare_and_order")
    assert_met(result)
    assert result["order_a"].state == "skipped"
    (order,) = journey.sites.ledger.writes("order")
    assert (order.site, order.data["order_no"]) == (
        "shop-b.test", result.outputs["order_b"]["order_number"],
    )  # fmt: skip

    # The day's one order was made in B; now A is the cheaper, and nothing is ordered there.
    journey.sites.set_fault("shop-a.test", "price_change", None)
    again = await journey.run("compare_and_order")
    assert_met(again)
    assert again["order_a"].already
    assert journey.sites.ledger.count("order") == 1


async def test_read_listing_reads_all_pages_and_keeps_bad_rows_apart(journey: Journey) -> None:
    result = await journey.run("read_listing")
    assert_met(result)
    lots = result.outputs["lots"]["lots"]
    assert len(lots) == len({lot["link"] for lot in lots}) == 57
    assert lots[0] == {
        "title": "Lot 01: lamp", "price": {"amount": 47.25, "currency": "€"},
        "day": "2026-01-08", "link": "http://listing.test/item/1",
    }  # fmt: skip
    assert result.outputs["rates"]["rates"][3] == {
        "currency": "Yen", "rate": 162.44, "change": "-0.30 %", "day": "2026-11-26",
    }  # fmt: skip
    prices = result.outputs["prices"]
    assert [(row["values"]["name"], row["reasons"]) for row in prices["prices_bad"]] == [
        ("Restoration", {"price": "no amount in 'call us'"}),
        ("Delivery", {"price": "no amount in 'free'"}),
    ]
    assert [row["price"]["amount"] for row in prices["prices"]] == [1249.0, 3.5, 18, 22.9]
    cheap = result.outputs["cheap"]["items"]
    assert [lot["price"]["amount"] for lot in cheap] == sorted(
        lot["price"]["amount"] for lot in lots
    )[:5]
    assert writes(journey) == {}


async def test_add_people_adds_each_once_and_tells_the_refused_row(journey: Journey) -> None:
    result = await journey.run("add_people")
    assert_met(result)
    added = result.outputs["add"]
    assert {row["key"]: row["reference"] for row in added["items"]} == {
        "ada@example.org": "P-101", "grace@example.org": "P-102", "mary@example.org": "P-103",
    }  # fmt: skip
    (failed,) = added["failed"]
    assert failed["key"] == "alan at example.org"
    assert "422" in failed["reason"]
    assert result["add[alan at example.org]"].effect == "refused"
    assert journey.sites.ledger.count("person") == 3

    again = await journey.run("add_people")
    assert_met(again)
    assert [step.path for step in again.steps.values() if step.already] == [
        f"add[{name}@example.org]" for name in ("ada", "grace", "mary")
    ]
    assert journey.sites.ledger.count("person") == 3


async def test_a_row_that_was_put_right_is_the_only_one_sent(
    journey: Journey, tmp_path: Path
) -> None:
    await journey.run("add_people")
    right = tmp_path / "people.csv"
    rows = (RECIPES / "people.csv").read_text("utf-8")
    right.write_text(rows.replace("alan at example.org", "alan@example.org"), "utf-8")
    result = await journey.run("add_people", file=right)
    assert_met(result)
    assert result.outputs["add"]["count"] == 4
    people = [write.data["name"] for write in journey.sites.ledger.writes("person")]
    assert people == ["Ada Lovelace", "Grace Hopper", "Mary Shelley", "Alan Turing"]


async def test_without_allow_failed_a_refused_row_is_exit_code_5(
    journey: Journey, tmp_path: Path
) -> None:
    strict = edited("add_people", tmp_path, ("    allow_failed: 1", "    allow_failed: 0"))
    result = await journey.run(strict)
    assert (result.status, result.exit_code) == ("failed", 5)
    assert result["add"].state == "unmet"
    assert "alan at example.org" in result["add"].reason
    assert journey.sites.ledger.count("person") == 3


async def test_download_invoice_gives_the_newest_as_a_file(journey: Journey) -> None:
    result = await journey.run("download_invoice")
    assert_met(result)
    file = result.outputs["download"]["invoice"]
    assert file["name"] == "invoice-3.csv"
    kept = [p for p in journey.folder.rglob("*") if p.is_file() and p.stat().st_size == 41]
    assert b"3,2026-10-31,99.95" in kept[0].read_bytes()
    assert writes(journey) == {"sign_in": 1}


async def test_watch_price_tells_a_change_since_the_last_run(journey: Journey) -> None:
    first = await journey.run("watch_price")
    assert_met(first)
    assert (first.changed, first["cheaper"].state) == (None, "skipped")

    same = await journey.run("watch_price")
    assert_met(same)
    assert (same.changed, same["cheaper"].state) == (False, "skipped")

    journey.sites.set_fault("listing.test", "watch_price", "€ 39.00")
    lower = await journey.run("watch_price")
    assert_met(lower)
    assert (lower.changed, lower["cheaper"].state) == (True, "met")
    assert lower.outputs["cheaper"]["price"] == {"amount": 39, "currency": "€"}


async def test_apply_for_permit_goes_through_four_pages_and_confirms_once(
    journey: Journey,
) -> None:
    result = await journey.run("apply_for_permit")
    assert_met(result)
    (confirmed,) = journey.sites.ledger.writes("confirm")
    assert result.outputs["confirm"] == {"reference": confirmed.data["ref"]}
    assert confirmed.data["plan"] == "extended"
    assert confirmed.data["country"] == "estonia"
    assert writes(journey) == {"wizard_page": 3, "confirm": 1}

    again = await journey.run("apply_for_permit")
    assert_met(again)
    assert again["confirm"].already
    assert journey.sites.ledger.count("confirm") == 1


async def test_find_book_may_post_its_search_and_writes_nothing(
    journey: Journey, tmp_path: Path
) -> None:
    result = await journey.run("find_book")
    assert_met(result)
    assert result.outputs["newest"] == {
        "title": "Salt and Iron", "author": "P. Duarte", "year": 2011,
    }  # fmt: skip
    assert writes(journey) == {}

    line = '    allow_posts: ["http://forms.test/find"]\n'
    forbidden = edited("find_book", tmp_path, (line, ""))
    refused = await journey.run(forbidden)
    assert (refused.status, refused.exit_code) == ("failed", 1)
    assert refused["find"].drift == "unexpected_event"


async def test_every_control_is_moved(journey: Journey) -> None:
    result = await journey.run("every_control")
    assert_met(result)
    (sent,) = journey.sites.ledger.writes("submission")
    assert {k: v for k, v in sent.data.items() if k not in ("owner", "ref")} == {
        "name": "Kim Doe", "email": "kim@example.org", "age": "36", "birthday": "1990-05-17",
        "message": "Two lines,\r\nas typed.", "country": "estonia",
        "languages": "estonian, german", "contact": "phone", "terms": "yes", "news": "",
        "satisfaction": "8", "notes": "Written into an element that is editable",
        "attachment": "cv.txt (49 bytes)",
    }  # fmt: skip
    assert result.outputs["new_tab"] == {"word": "umbrella"}
    assert len(result.outputs["long_list"]["entries"]) == 40
    assert writes(journey) == {"submission": 1, "newsletter": 1, "note": 2}

    again = await journey.run("every_control", until="register")
    assert again["register"].already
    assert journey.sites.ledger.count("submission") == 1


async def test_a_person_is_asked_in_the_middle_and_the_run_goes_on(journey: Journey) -> None:
    waiting = await journey.run("ask_before_order")
    assert (waiting.status, waiting.exit_code) == ("waiting", 3)
    (asked,) = [e.event for e in journey.entries if isinstance(e.event, PersonAsked)]
    cheapest = [row["title"] for row in waiting.outputs["cheapest"]["items"]]
    assert list(asked.question.options) == cheapest
    assert writes(journey) == {}

    await journey.answer(waiting.run, "which", cheapest[1])
    result = await journey.resume(waiting.run)
    assert_met(result)
    assert result.outputs["chosen"]["title"] == cheapest[1]
    assert result["search"].executions == 1
    assert writes(journey) == {"basket_add": 1}
