"""The fixture sites, as at the start for each test, and a store of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.server import SiteServer
from tests.journeys.journey import Journey


@pytest.fixture(scope="session")
def _sites() -> Iterator[SiteServer]:
    # A third of the slow face's usual delays: still late for whoever does not wait.
    with SiteServer(slow_between=(0.2, 0.6)) as sites:
        yield sites


@pytest.fixture
def sites(_sites: SiteServer) -> SiteServer:
    """All sites in their first face, without faults, with an empty ledger."""
    _sites.reset()
    return _sites


@pytest.fixture
def journey(sites: SiteServer, tmp_path: Path, browser_path: Path) -> Journey:
    """Runs over a store of the test's own."""
    return Journey(sites, tmp_path, {"WEBAGENT_BROWSER": str(browser_path)})
