"""One executor for all tests of this folder, the fixture sites, and a small site of its own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fixtures.server import SiteServer
from tests.browser.pages import PageServer
from tests.browser.rig import KnownSecrets, Rig, policy
from webagent.core.plan import BrowserOptions
from webagent.core.request_rules import GuardPolicy
from webagent.executors.browser.session import BrowserExecutor
from webagent.extractors.extractor import Extractor
from webagent.stores.artifacts import FileArtifacts

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWN = ("odd.test", "inner.test", "away.test")

OpenTab = Callable[..., Awaitable[Rig]]
MakeExecutor = Callable[[], BrowserExecutor]


@pytest.fixture(scope="session")
def sites() -> Iterator[SiteServer]:
    with SiteServer() as server:
        yield server


@pytest.fixture(scope="session")
async def page_server() -> AsyncIterator[tuple[PageServer, int]]:
    server = PageServer()
    port = await server.start()
    yield server, port
    await server.stop()


@pytest.fixture
def pages(page_server: tuple[PageServer, int]) -> Iterator[PageServer]:
    """The small site (odd.test, inner.test, away.test), empty at the beginning of each test."""
    yield page_server[0]
    page_server[0].reset()


@pytest.fixture(scope="session")
def secrets() -> KnownSecrets:
    return KnownSecrets()


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="session")
def make_executor(
    browser_path: Path,
    sites: SiteServer,
    page_server: tuple[PageServer, int],
    secrets: KnownSecrets,
    kept: Path,
) -> MakeExecutor:
    hosts = dict(pair.split("=", 1) for pair in sites.hosts.split(","))
    hosts |= dict.fromkeys(OWN, f"127.0.0.1:{page_server[1]}")

    def make() -> BrowserExecutor:
        return BrowserExecutor(
            run="r1",
            executable=str(browser_path),
            env=dict(os.environ),
            artifacts=FileArtifacts(kept),
            secrets=secrets,
            redact=secrets.redact,
            extract=Extractor(lambda: NOW),
            hosts=hosts,
        )

    return make


@pytest.fixture(scope="session")
async def executor(make_executor: MakeExecutor) -> AsyncIterator[BrowserExecutor]:
    executor = make_executor()
    await executor.start(BrowserOptions(), None)
    yield executor
    await executor.close()


@pytest.fixture
async def open_tab(executor: BrowserExecutor) -> AsyncIterator[OpenTab]:
    """Opens tabs that are closed after the test."""
    opened: list[Rig] = []

    async def open_one(given: GuardPolicy, on: BrowserExecutor = executor) -> Rig:
        rig = Rig(on, await on.open_tab("step", given))
        opened.append(rig)
        return rig

    yield open_one
    for rig in opened:
        await rig.tab.close()


@pytest.fixture
async def rig(open_tab: OpenTab) -> Rig:
    """A tab that may do anything on the small site's first two hosts."""
    return await open_tab(policy("odd.test", "inner.test", effect="once"))
