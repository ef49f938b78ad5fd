"""The browser of one run: started, kept inside its rules, saved, ended. The port `Executor`.

Called by wiring, which gives it the path of a browser, its environment, and what it must not look
up by itself: secrets, the redactor, artifacts, names of hosts, extractors. It knows no plan.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import psutil
from playwright.async_api import Browser, BrowserContext, Error, Playwright, async_playwright

from webagent.core.base import Json, SecretUse
from webagent.core.errors import BadInput, BrowserError, BrowserLost
from webagent.core.plan import BrowserOptions
from webagent.core.request_rules import GuardPolicy
from webagent.executors.browser import in_page
from webagent.executors.browser.extracting import Extract
from webagent.executors.browser.guard import Blank, Guard, TabGuard, blank
from webagent.executors.browser.happenings import Happenings
from webagent.executors.browser.resolving import Resolver
from webagent.executors.browser.stage import Stage
from webagent.executors.browser.stored import SESSION_KEY, Stored
from webagent.executors.browser.tab import BrowserTab
from webagent.ports import Artifacts, Secrets, StorageState

GONE_SECONDS = 5.0


class BrowserExecutor:
    """A browser context for one run; see the promises of `ports.Executor`.

    ``hosts`` maps names to ``127.0.0.1:PORT``: they resolve there, pass the private-network check,
    and nothing else resolves at all. ``env`` is the browser's whole environment.
    """

    def __init__(  # noqa: PLR0913 - all that wiring knows and this must not find out by itself
        self,
        *,
        run: str,
        executable: str,
        env: Mapping[str, str],
        artifacts: Artifacts,
        secrets: Secrets,
        redact: Callable[[str], str],
        extract: Extract,
        hosts: Mapping[str, str],
        headed: bool = False,
    ) -> None:
        self._run = run
        self._executable = executable
        self._env = dict(env)
        self._artifacts = artifacts
        self._secrets = secrets
        self._redact = redact
        self._extract = extract
        self._hosts = dict(hosts)
        self._headed = headed
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._context: BrowserContext | None = None
        self._guard: Guard | None = None
        self._process: psutil.Process | None = None
        self._tabs: list[BrowserTab] = []
        self._stored = Stored({})
        self._spare: asyncio.Task[Blank] | None = None

    async def start(self, options: BrowserOptions, storage: StorageState | None) -> None:
        """Start the browser, or connect to one. Raises BrowserError."""
        self._playwright = await async_playwright().start()
        try:
            await self._open(self._playwright, options, dict(storage or {}))
        except Error as error:
            await self.close()
            message = self._redact(" ".join(error.message.split())[:600])
            raise BrowserError(
                f"the browser did not start: {message}", hint="run: webagent doctor"
            ) from error

    async def _open(
        self, playwright: Playwright, options: BrowserOptions, storage: StorageState
    ) -> None:
        if options.connect is not None:
            browser = await playwright.chromium.connect_over_cdp(options.connect)
        else:
            browser = await playwright.chromium.launch(
                executable_path=self._executable,
                env=dict(self._env),
                headless=not self._headed,
                args=self._arguments(),
                # Ctrl-C parks a run: the runner closes the browser when it is ready.
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        self._browser = browser
        session = await browser.new_browser_cdp_session()
        if options.connect is None:
            info = await session.send("SystemInfo.getProcessInfo")
            pid = next(p["id"] for p in info["processInfo"] if p["type"] == "browser")
            self._process = psutil.Process(pid)
            self._process.create_time()  # noted now, while the process is surely this one
        resolver = Resolver(enabled=not self._hosts and options.proxy is None)
        self._guard = Guard(session, resolver)
        await self._guard.start()
        self._context = await self._new_context(browser, options, storage)

    def _arguments(self) -> list[str]:
        if not self._hosts:
            return []
        rules = [f"MAP {name}:80 {place}" for name, place in self._hosts.items()]
        return [f"--host-resolver-rules={', '.join((*rules, 'MAP * ~NOTFOUND'))}"]

    async def _new_context(
        self, browser: Browser, options: BrowserOptions, storage: StorageState
    ) -> BrowserContext:
        self._stored = Stored(storage)
        storage.pop(SESSION_KEY, None)
        settings: dict[str, Any] = {
            "locale": options.locale,
            "timezone_id": options.timezone,
            "ignore_https_errors": options.ignore_https_errors,
            "service_workers": "block",
            "storage_state": storage or None,
            "proxy": await self._resolved(options.proxy),
            "http_credentials": await self._resolved(options.http_auth),
            "client_certificates": await self._resolved(options.client_certificates),
        }
        if options.headers:
            if any(isinstance(value, SecretUse) for value in options.headers.values()):
                raise BadInput(
                    "a secret cannot be a header: headers go to every site that a page uses",
                    hint="use browser.http_auth, or a sign_in step",
                )
            settings["extra_http_headers"] = {k: str(v) for k, v in options.headers.items()}
        if options.viewport is not None:
            width, height = options.viewport
            settings["viewport"] = {"width": width, "height": height}
        context = await browser.new_context(**{k: v for k, v in settings.items() if v is not None})
        await context.add_init_script(in_page.NO_SPECULATION)
        await context.add_init_script(in_page.NO_SIDE_DOORS)
        self._stored.watch(context)
        if self._stored.sessions:
            known = json.dumps(self._stored.sessions)
            await context.add_init_script(f"{in_page.RESTORE_SESSION_STORAGE}({known})")
        return context

    async def _resolved(self, value: Json) -> Json:
        """The value with its secrets in place: only credentials of the browser come here."""
        if isinstance(value, SecretUse):
            return await self._secrets.value(value)
        if isinstance(value, Mapping):
            return {key: await self._resolved(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [await self._resolved(inner) for inner in value]
        return value

    async def open_tab(self, step: str, policy: GuardPolicy) -> BrowserTab:
        """A fresh tab for a step, under its policy from the first request on."""
        context, guard = self._context, self._guard
        if context is None or guard is None or not self.alive():
            raise BrowserLost("the browser is gone")
        happenings = Happenings(self._run, self._artifacts, self._redact)
        rules = TabGuard(self._named(policy), happenings.refused, self._redact)
        try:
            made = await self._blank(context)
            page = made.page
            happenings.watch(page)
            await guard.adopt(made, rules)
        except Error as error:
            raise BrowserLost(f"no tab could be opened: {error.message}") from error
        stage = Stage(
            page,
            happenings=happenings,
            guard=rules,
            rules=guard,
            secrets=self._secrets,
            redact=self._redact,
            extract=self._extract,
        )
        try:
            await stage.begin_policy()
        except Error as error:
            raise BrowserLost(f"no tab could be opened: {error.message}") from error

        async def forget(tab: BrowserTab) -> None:
            guard.forget(rules)
            if self.alive():
                await self._stored.ask(tab.pages)
            if tab in self._tabs:
                self._tabs.remove(tab)

        tab = BrowserTab(
            stage,
            step=step,
            run=self._run,
            artifacts=self._artifacts,
            alive=self.alive,
            effective=self._named,
            on_close=forget,
        )
        self._tabs.append(tab)
        return tab

    async def _blank(self, context: BrowserContext) -> Blank:
        """An empty page: the one made meanwhile, if any; another is begun for the next step."""
        spare, self._spare = self._spare, None
        made: Blank | None = None
        if spare is not None:
            with suppress(Error):  # it died while it waited: a new one is made
                made = await spare
        if made is None or made.page.is_closed():
            made = await blank(context)
        self._spare = asyncio.ensure_future(blank(context))
        self._spare.add_done_callback(_retrieved)
        return made

    def _named(self, policy: GuardPolicy) -> GuardPolicy:
        """The policy with the hosts that were mapped by hand: they may be private."""
        names = tuple(dict.fromkeys((*policy.named_hosts, *self._hosts)))
        return policy.model_copy(update={"named_hosts": names})

    async def storage_state(self) -> StorageState:
        """Cookies, localStorage, IndexedDB and sessionStorage. Raises BrowserLost."""
        if self._context is None or not self.alive():
            raise BrowserLost("the browser is gone")
        try:
            await self._stored.ask([page for tab in self._tabs for page in tab.pages])
            return await self._stored.state(self._context)
        except Error as error:
            raise BrowserLost(f"the session could not be kept: {error.message}") from error

    def alive(self) -> bool:
        """Whether the browser is still there."""
        return self._browser is not None and self._browser.is_connected()

    def process(self) -> tuple[int, float] | None:
        """The browser's process id and start time (seconds since the epoch), when it is ours."""
        if self._process is None:
            return None
        return self._process.pid, self._process.create_time()

    async def close(self) -> None:
        """End the browser; what does not go by itself is killed by its own process id."""
        playwright, self._playwright = self._playwright, None
        if self._spare is not None:
            self._spare.cancel()
        for tab in list(self._tabs):
            await tab.close()
        # A page that spins can hold up each of these: none may keep us from ending the process.
        if self._context is not None:
            await _within(GONE_SECONDS, self._context.close())
        if self._browser is not None:
            await _within(GONE_SECONDS, self._browser.close())
        if self._process is not None:
            await asyncio.to_thread(_end, self._process)
        if playwright is not None:
            await _within(GONE_SECONDS, playwright.stop())


def _retrieved(task: asyncio.Task[Blank]) -> None:
    """A page made ahead that nobody asks for any more may have failed without a word."""
    if not task.cancelled():
        task.exception()


async def _within(seconds: float, ending: Awaitable[None]) -> None:
    """Wait for an end, but not for ever; what is gone already has ended."""
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds):
            await ending


def _end(process: psutil.Process) -> None:
    """Wait for the browser's process to go, and kill it if it does not."""
    with suppress(psutil.NoSuchProcess):
        try:
            process.wait(GONE_SECONDS)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(GONE_SECONDS)
