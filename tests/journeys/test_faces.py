"""The recipes on sites that are late, or that answer 503 now and then: patience ends them right.

The slow face holds each page back and makes its main part anew when it is there, so that what was
typed too early is lost; the flaky one answers every third page 503 with Retry-After, once.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.journeys.journey import Journey

# Recipe, up to which step, its sites, and what their ledger counts after one run. Of every_control
# the form is enough: the slow face throws away what a script has loaded into a list, and in the
# flaky one the page that answers a form in a frame is always the third.
ERRANDS: tuple[tuple[str, str | None, tuple[str, ...], dict[str, int]], ...] = (
    ("compare_and_order", None, ("shop-a.test", "shop-b.test"),
     {"sign_in": 1, "basket_add": 1, "order": 1}),
    ("read_listing", None, ("listing.test",), {}),
    ("add_people", None, ("forms.test",), {"person": 3}),
    ("download_invoice", None, ("login.test",), {"sign_in": 1}),
    ("watch_price", None, ("listing.test",), {}),
    ("apply_for_permit", None, ("wizard.test",), {"wizard_page": 3, "confirm": 1}),
    ("find_book", None, ("forms.test",), {}),
    ("every_control", "register", ("forms.test",), {"submission": 1}),
)  # fmt: skip
ONCE = {"order", "person", "confirm", "submission"}


@pytest.mark.parametrize("face", ["slow", "flaky"])
@pytest.mark.parametrize("recipe,until,hosts,writes", ERRANDS, ids=[e[0] for e in ERRANDS])
async def test_the_errand_ends_met(
    journey: Journey,
    recipe: str,
    until: str | None,
    hosts: tuple[str, ...],
    writes: dict[str, int],
    face: str,
) -> None:
    for host in hosts:
        journey.sites.set_face(host, face)
    result = first = await journey.run(recipe, until=until)
    for _ in range(2):
        # The page was made anew between the last look at it and the click, on a machine that is
        # busy: in a chain nothing is tried again for that, and the run goes on by a resume.
        if face == "slow" and result.exit_code:
            result = await journey.resume(first.run)
    assert result.exit_code == 0, (result.reason, result.steps)
    assert result.status == ("met" if until is None else "parked")
    counted = Counter(write.kind for write in journey.sites.ledger.writes())
    if face == "slow" and result is first:
        assert counted == writes
    # What may be redone may have been, after it was undone; what is done once was done once.
    assert {kind: counted[kind] for kind in writes if kind in ONCE} == {
        kind: count for kind, count in writes.items() if kind in ONCE
    }
    if recipe == "compare_and_order":
        (order,) = journey.sites.ledger.writes("order")
        assert [line["quantity"] for line in order.data["lines"]] == [1]  # type: ignore[attr-defined]  # the ledger's data is of any shape
    if recipe == "every_control":
        (sent,) = journey.sites.ledger.writes("submission")
        assert {name: sent.data[name] for name in ("name", "age", "birthday", "notes")} == {
            "name": "Kim Doe", "age": "36", "birthday": "1990-05-17",
            "notes": "Written into an element that is editable",
        }  # fmt: skip
