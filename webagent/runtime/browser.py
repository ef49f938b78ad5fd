"""The run's browser: started when the first page is needed, replaced when it died.

The runtime's side of the `Executor` port: it keeps one executor a run and hands out its tabs.
"""

from __future__ import annotations

import asyncio

from webagent.core import event as ev
from webagent.core.errors import BrowserLost
from webagent.core.plan import BrowserOptions
from webagent.core.request_rules import GuardPolicy
from webagent.engine.bind import bind, place_names
from webagent.ports import Executor, Runner, Tab
from webagent.runtime.context import Deps, Pages
from webagent.runtime.journal import Journal


class RunBrowser:
    """One browser at a time for one run."""

    def __init__(self, deps: Deps, journal: Journal, pages: Pages) -> None:
        self.deps = deps
        self.journal = journal
        self.pages = pages
        self.executor: Executor | None = None
        self._lock = asyncio.Lock()
        self._keeping = asyncio.Lock()

    async def ready(self) -> Executor:
        """A living executor; starting one is journaled, because pages from before are gone.

        Raises:
            BrowserError: none could be started.
        """
        async with self._lock:
            if self.executor is not None and self.executor.alive():
                return self.executor
            if self.executor is not None:
                self.pages.live.clear()
                await self.executor.close()
            state = self.journal.state
            run = self.journal.lease.run
            executor = self.deps.executor(run)
            options: BrowserOptions = bind(state.the_plan.browser, place_names(state, ""))
            await executor.start(options, await self.deps.store.load_session(run))
            self.executor = executor
            await self.deps.store.renew(self.journal.lease, self.runner())
            await self.journal.append(ev.BrowserStarted())
            return executor

    def runner(self) -> Runner:
        """Who we are, with the browser that we own, so that a take-over can end both."""
        process = self.executor.process() if self.executor is not None else None
        if process is None:
            return self.deps.runner
        return self.deps.runner.model_copy(
            update={"browser_pid": process[0], "browser_started": process[1]}
        )

    async def open_tab(self, node: str, policy: GuardPolicy) -> Tab:
        """A fresh tab under a policy."""
        executor = await self.ready()
        try:
            return await executor.open_tab(node, policy)
        except BrowserLost:
            # It looked alive and was not (its driver was killed, say): once more in a new one.
            await self._discard(executor)
        return await (await self.ready()).open_tab(node, policy)

    async def _discard(self, executor: Executor) -> None:
        async with self._lock:
            if self.executor is executor:
                self.pages.live.clear()
                self.executor = None
                await executor.close()

    async def keep_session(self) -> None:
        """Keep cookies and storage, so that a resume is signed in as this run was."""
        # One after the other: an older picture never replaces a newer one.
        async with self._keeping:
            if self.executor is not None and self.executor.alive():
                try:
                    state = await self.executor.storage_state()
                except BrowserLost:
                    return  # what was kept before stands; the step that needs the page will tell
                await self.deps.store.save_session(self.journal.lease.run, state)

    async def close(self) -> None:
        """End the browser."""
        if self.executor is not None:
            await self.executor.close()
            self.executor = None
