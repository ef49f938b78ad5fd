"""The stages of the runtime's tests."""

from pathlib import Path

import pytest

from tests.unit.runtime import errands
from tests.unit.runtime.stage import Stage, stage


@pytest.fixture
def ordering(tmp_path: Path) -> Stage:
    """The errand with everything: session, branches, for_each, and one order."""
    return order_stage(tmp_path)


def order_stage(folder: Path) -> Stage:
    """As the fixture, for tests that need several."""
    ours = stage(errands.ORDER, folder)
    ours.inputs = {"query": "cable", "people": [{"id": "ann"}, {"id": "bob"}, {"id": "cyd"}]}
    site = ours.site
    offers = {s: [{"title": s, "price": p, "link": f"http://a.test/{s}"}] for s, p in _PRICES}
    site.values = {
        "search_a": {"offers": offers["a"]},
        "search_b": {"offers": offers["b"]},
        "order": {"order_number": "17"},
    }
    for person in ("ann", "bob", "cyd"):
        site.values[f"register[{person}]"] = {"added": f"a {person}"}
    site.reads = lambda step, name: (
        [{"order_number": str(17 + i)} for i in range(len(site.ledger))]
        if (step, name) == ("order", "orders")
        else None
    )
    return ours


_PRICES = (("a", 3), ("b", 5))


@pytest.fixture
def chain(tmp_path: Path) -> Stage:
    """Three steps in one page, and one beside them."""
    return stage(errands.CHAIN, tmp_path)


@pytest.fixture
def fan(tmp_path: Path) -> Stage:
    """Two branches that meet."""
    return stage(errands.FAN, tmp_path)
