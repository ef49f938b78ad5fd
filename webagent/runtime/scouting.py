"""A planner's eyes on the step's own scope: the port `Scout`, over tabs of the run's browser.

Other pages are looked at in a second tab that sends nothing but GET for documents, and each counts
against the budget of the step.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

from webagent.core.action import Goto
from webagent.core.brief import Brief
from webagent.core.request_rules import GuardPolicy, origin_of, url_parts
from webagent.core.sighting import Survey
from webagent.engine.guard import origins, policy
from webagent.ports import Tab
from webagent.runtime.context import Deps, LivePage
from webagent.runtime.journal import Journal

LOOK_SECONDS = 6.0
# No search for a page takes more than this, whatever the step's own budget is.
MOST_LOOKS = 20
MOST_LISTED = 300
_LOC = re.compile(r"<loc>\s*([^<\s]+)\s*</loc>")
_URL = re.compile(r"https?://[^\s<>\"']+")


class PageScout:
    """Looks for one node's planner; `close` it afterwards."""

    def __init__(
        self,
        deps: Deps,
        journal: Journal,
        open_tab: Callable[[str, GuardPolicy], Awaitable[Tab]],
        node: str,
        page: LivePage,
        brief: Brief,
    ) -> None:
        self.deps = deps
        self.journal = journal
        self.open_tab = open_tab
        self.node = node
        self.page = page
        self.looked = 0
        self._tab: Tab | None = None
        self._pages = min(MOST_LOOKS, brief.pages_left - 1)
        self._until = deps.clock.monotonic() + brief.seconds_left * 0.6

    async def here(self) -> Survey:
        """The step's own page as it stands."""
        return await self.page.tab.survey()

    def pages_left(self) -> int:
        """How many documents may still be looked at."""
        if self.deps.clock.monotonic() >= self._until:
            return 0
        return max(0, self._pages - self.looked)

    async def look(self, url: str) -> Survey | None:
        """Another page of the scope; None if it did not load or the budget is used up."""
        tab = await self._at(url)
        if tab is None:
            return None
        seen = await tab.survey()
        return seen if seen.url else None

    async def sitemap(self, origin: str) -> tuple[str, ...]:
        """The URLs of the site's own sitemap.xml."""
        origin = origin_of(origin)
        tab = await self._at(f"{origin}/sitemap.xml")
        if tab is None:
            return ()
        seen = await tab.survey()
        if seen.status >= 400 or seen.status == 0:
            return ()
        text = " ".join([*(e.text for e in seen.elements), *(e.href for e in seen.elements)])
        found = [*_LOC.findall(text), *_URL.findall(text)]
        return tuple(dict.fromkeys(u for u in found if origin_of(u) == origin))[:MOST_LISTED]

    async def _at(self, url: str) -> Tab | None:
        """The second tab, standing at a URL."""
        if self.pages_left() <= 0 or url_parts(url).scheme not in ("http", "https"):
            return None
        tab = await self._second()
        self.looked += 1

        async def silent() -> None:
            return None

        outcome = await tab.perform(Goto(url=url), deadline=LOOK_SECONDS, dispatched=silent)
        documents = outcome.happened.documents
        self.page.documents += max(1, documents)
        return tab if outcome.failure is None else None

    async def _second(self) -> Tab:
        if self._tab is None:
            state = self.journal.state
            step = state.the_plan.step(self.node)
            allowed = policy(
                state.the_plan, step, origins(state, self.node), self.deps.named_hosts
            ).model_copy(update={"effect": "none", "allow_posts": (), "in_action": True})
            self._tab = await self.open_tab(self.node, allowed)
        return self._tab

    async def close(self) -> None:
        """Close the second tab."""
        if self._tab is not None:
            with suppress(TimeoutError):
                await self._tab.close()
            self._tab = None
