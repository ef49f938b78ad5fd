"""An edited recipe cannot make a run forget, or send again, what it sent."""

import pytest

from tests.journeys.journey import Journey, edited
from webagent.core.errors import BadInput


async def test_a_renamed_order_is_refused_and_not_sent_again(journey: Journey) -> None:
    (journey.folder / "first").mkdir()
    first = edited("compare_and_order", journey.folder / "first")
    journey.sites.set_fault("shop-a.test", "keep_basket", True)
    journey.sites.set_fault("shop-a.test", "probe_down", None)
    result = await journey.run(first)
    assert result.exit_code == 0
    (journey.folder / "second").mkdir()
    other = edited(
        "compare_and_order", journey.folder / "second", ("\n  order_a:", "\n  place_order_a:")
    )
    with pytest.raises(BadInput, match="lost the step"):
        await journey.resume(result.run, other)
    assert journey.sites.ledger.count("order") == 1
