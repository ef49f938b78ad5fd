"""Renewing a session: the sign-in step's segment, done again for a step that was signed out.

It is not a re-execution of the validated sign-in step: it has its own event, and at one origin only
one renewal runs while the others that noticed wait for it.
"""

from __future__ import annotations

import asyncio

from webagent.core import event as ev
from webagent.core.errors import BrowserLost
from webagent.core.expect import all_hold
from webagent.core.request_rules import origin_of
from webagent.engine.bind import bind_all
from webagent.engine.guard import origins, policy
from webagent.runtime.browser import RunBrowser
from webagent.runtime.context import Deps, LivePage
from webagent.runtime.journal import Journal
from webagent.runtime.segment import SegmentWork, Stopping


class Sessions:
    """The sign-ins of one run."""

    def __init__(
        self, deps: Deps, journal: Journal, browser: RunBrowser, stopping: Stopping
    ) -> None:
        self.deps = deps
        self.journal = journal
        self.browser = browser
        self.stopping = stopping
        self._locks: dict[str, asyncio.Lock] = {}
        self._seen: dict[str, dict[str, int]] = {}

    def entered(self, node: str) -> None:
        """Remember how often sessions were renewed when a node was entered."""
        self._seen[node] = dict(self.journal.state.sessions)

    async def renew(self, sign_in: str, node: str) -> tuple[bool, str]:
        """Sign in again by a sign-in step, for a node; whether that worked, and why not."""
        state = self.journal.state
        allowed = origins(state, sign_in)
        origin = origin_of(allowed[0]) if allowed else sign_in
        async with self._locks.setdefault(origin, asyncio.Lock()):
            count = self.journal.state.sessions.get(origin, 0)
            if count > self._seen.get(node, {}).get(origin, 0):
                return True, ""
            ok, reason = await self._sign_in(sign_in, allowed)
            await self.journal.append(
                ev.SessionRenewed(step=sign_in, origin=origin, by=node, ok=ok, reason=reason)
            )
            return ok, reason

    async def _sign_in(self, sign_in: str, allowed: tuple[str, ...]) -> tuple[bool, str]:
        state = self.journal.state
        step = state.the_plan.by_path[sign_in]
        work = SegmentWork(self.deps, self.journal, sign_in, self.stopping)
        try:
            tab = await self.browser.open_tab(
                sign_in, policy(state.the_plan, step, allowed, self.deps.named_hosts)
            )
        except BrowserLost as lost:
            return False, lost.message
        try:
            page = LivePage(tab)
            segment = bind_all(step.segment or (), work.values(), step.place)
            expected = work.bound_expectations()
            _, failure = await work.perform_all(page, segment, part="session")
            found = await work.judge_after(page, expected, reread_from=len(segment))
            if all_hold(found) == "met":
                await self.browser.keep_session()
                return True, ""
            if failure is not None:
                return False, failure.message
            unmet = next(v for v in found if v.judgement != "met")
            return False, f"{unmet.expected.kind} is {unmet.judgement}: {unmet.seen}"
        finally:
            await tab.close()
