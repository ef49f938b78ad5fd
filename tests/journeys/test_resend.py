"""A browser sends a POST again by itself when a kept connection closes without an answer."""

from tests.journeys.journey import Journey


async def test_an_order_cut_on_a_kept_connection_reaches_the_shop_once(journey: Journey) -> None:
    """Below the guard nothing can hold a second sending, so there must be no kept connection."""
    journey.sites.set_fault("shop-a.test", "keep_basket", True)
    journey.sites.set_fault("shop-a.test", "order_fault", "cut_kept_after_write")
    result = await journey.run("compare_and_order")
    assert journey.sites.ledger.count("order") == 1
    assert journey.sites.transitions.count("order_attempt") == 1
    assert result["order_a"].effect == "confirmed"
    assert result.exit_code == 0
