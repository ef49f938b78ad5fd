"""Renewing a session: the sign-in step's segment, done again for a step that was signed out.

It is not a re-execution of the validated sign-in step: it has its own event, and at one origin only
one renewal runs while the others that noticed wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from webagent.core import event as ev
from webagent.core.action import Action, first_acting
from webagent.core.errors import BrowserLost
from webagent.core.expect import Expectation, OutputIs, all_hold
from webagent.core.request_rules import origin_of
from webagent.engine.bind import bind_all
from webagent.engine.guard import origins, policy
from webagent.engine.ladder import sign_in_of
from webagent.runtime.browser import RunBrowser
from webagent.runtime.context import Deps, LivePage
from webagent.runtime.journal import Journal
from webagent.runtime.segment import SegmentWork, Stopping

_SignIn: TypeAlias = tuple[SegmentWork, LivePage | None, tuple[Action, ...]]


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
            ok, reason = await self._sign_in(sign_in)
            await self.journal.append(
                ev.SessionRenewed(step=sign_in, origin=origin, by=node, ok=ok, reason=reason)
            )
            return ok, reason

    async def ended(self, node: str) -> str:
        """Why the session that a node works under is gone; "" if it stands or is not to be renewed.

        Looked at in a fresh tab, on the page where its sign-in begins: who is signed in is sent on
        from there, or finds there what the sign-in expects. Asked once for an entry of a node, so
        that a site that shows its form to everybody is not signed in at again and again.
        """
        state = self.journal.state
        found = state.nodes[node]
        sign_in = sign_in_of(state, found)
        if sign_in is None or found.rungs.get("renew", 0):
            return ""
        async with self._at(sign_in) as (work, page, segment):
            acting = first_acting(segment)
            if page is None or acting is None:
                return ""
            _, failure = await work.perform_all(page, segment[:acting], part="session")
            if failure is not None:
                return ""
            expected = _shown(work)
            verdicts = await work.verdicts(page.tab, expected, {})
            if not expected or all_hold(verdicts) == "met":
                return ""
            return f"the session of {sign_in} has ended"

    async def _sign_in(self, sign_in: str) -> tuple[bool, str]:
        async with self._at(sign_in) as (work, page, segment):
            if page is None:
                return False, "the browser is gone"
            expected = _shown(work)
            acting = first_acting(segment) or 0
            _, failure = await work.perform_all(page, segment[:acting], part="session")
            found = await work.verdicts(page.tab, expected, {})
            if failure is None and all_hold(found) != "met":
                _, failure = await work.perform_all(page, segment[acting:], part="session")
                found = await work.judge_after(page, expected, reread_from=len(segment))
            if all_hold(found) == "met":
                await self.browser.keep_session()
                return True, ""
            if failure is not None:
                return False, failure.message
            unmet = next(v for v in found if v.judgement != "met")
            return False, f"{unmet.expected.kind} is {unmet.judgement}: {unmet.seen}"

    @asynccontextmanager
    async def _at(self, sign_in: str) -> AsyncIterator[_SignIn]:
        """A fresh tab for a sign-in step, with its bound segment; no page without a browser."""
        state = self.journal.state
        step = state.the_plan.by_path[sign_in]
        work = SegmentWork(self.deps, self.journal, sign_in, self.stopping)
        segment = bind_all(step.segment or (), work.values(), step.place)
        allowed = policy(state.the_plan, step, origins(state, sign_in), self.deps.named_hosts)
        try:
            tab = await self.browser.open_tab(sign_in, allowed)
        except BrowserLost:
            yield work, None, segment
            return
        try:
            yield work, LivePage(tab), segment
        finally:
            await tab.close()


def _shown(work: SegmentWork) -> tuple[Expectation, ...]:
    """What a page shows to who is signed in; what the step read as it was met is not read again."""
    return tuple(e for e in work.bound_expectations() if not isinstance(e, OutputIs))
