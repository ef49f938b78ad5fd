"""The fixture sites, and yesterday's stores, made once for each worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.server import SiteServer
from tests.drift.drive import Drift


@pytest.fixture(scope="session")
def drift(browser_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drift]:
    """Cases are run over these."""
    with SiteServer() as sites:
        yield Drift(sites, tmp_path_factory.mktemp("drift"), str(browser_path))
