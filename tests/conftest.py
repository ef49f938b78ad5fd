"""What every test may ask for. A folder's own fixtures stand in its own conftest."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from webagent.core.errors import BrowserNotFound
from webagent.executors.browser import chromium

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parent.parent
# The browser named from outside is read before the environment is cleaned for the tests.
NAMED_BROWSER = os.environ.get("WEBAGENT_BROWSER")

# No deadline: a shared machine's pauses are no property of the code. The same cases every time in
# CI, so that a red run can be run again.
settings.register_profile(
    "ours",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ours")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests are marked by what their folder means."""
    marks = {"browser": pytest.mark.browser, "journeys": pytest.mark.browser}
    for item in items:
        folder = item.path.relative_to(ROOT / "tests").parts[0]
        if folder in marks:
            item.add_marker(marks[folder])
        if folder == "crash":
            item.add_marker(pytest.mark.crash)


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """No setting of the person at the keyboard reaches a test; terminals are of one width."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith(("WEBAGENT_", "ANTHROPIC_"))]:
            patch.delenv(name)
        if NAMED_BROWSER:
            patch.setenv("WEBAGENT_BROWSER", NAMED_BROWSER)
        for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
            patch.delenv(name, raising=False)
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", "100")
        yield


@pytest.fixture(scope="session")
def browser_path() -> Path:
    """The machine's browser. Its absence is a failure: a browser test that skips proves nothing."""
    try:
        return chromium.find(NAMED_BROWSER).path
    except BrowserNotFound as absent:
        pytest.fail(f"{absent}", pytrace=False)


@pytest.fixture(scope="session")
async def chromium_browser(browser_path: Path) -> "AsyncIterator[Browser]":
    """One browser for all tests of a session, in which nothing outside this machine resolves."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=browser_path,
            args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
        )
        yield browser
        await browser.close()


@pytest.fixture
async def context(chromium_browser: "Browser") -> "AsyncIterator[BrowserContext]":
    """A context of the test's own, closed after it."""
    context = await chromium_browser.new_context()
    context.set_default_timeout(10_000)
    yield context
    await context.close()


@pytest.fixture
async def page(context: "BrowserContext") -> "Page":
    """An empty page of the test's own."""
    return await context.new_page()


@pytest.fixture
def free_port() -> int:
    """A loopback port that was free a moment ago; better let a server bind port 0 itself."""
    with closing(socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the project; its tests skip where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data is not on this machine (../shared/data)")
    return folder
