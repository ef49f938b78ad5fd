"""The inside of one tab, which the verbs, the looks and the reports share.

It holds the page that is worked on, its rules and its records; it decides nothing. `tab.BrowserTab`
is its outside.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from playwright.async_api import Locator, Page

from webagent.executors.browser.commit_gate import CommitGate
from webagent.executors.browser.extracting import Extract
from webagent.executors.browser.guard import Guard, TabGuard
from webagent.executors.browser.happenings import Happenings
from webagent.executors.browser.lost_input import Entries
from webagent.executors.browser.settle import stir
from webagent.ports import Secrets


class Stage:
    """One tab's page, rules and records.

    ``masked``: where secrets were typed, to be covered in screenshots. ``visited``: tabs that the
    step went on in already. ``entries``: what was entered since something was last sent.
    ``sighted``: targets of this step of which it was told what they look like.
    """

    def __init__(
        self,
        page: Page,
        *,
        happenings: Happenings,
        guard: TabGuard,
        rules: Guard,
        secrets: Secrets,
        redact: Callable[[str], str],
        extract: Extract,
    ) -> None:
        self.page = page
        self.happenings = happenings
        self.guard = guard
        self.secrets = secrets
        self.redact = redact
        self.extract = extract
        self.masked: list[Locator] = []
        self.visited: set[Page] = set()
        self.entries = Entries()
        self.sighted: set[str] = set()
        self._rules = rules
        self._fresh = False

    async def begin_acting(self, gate: CommitGate | None, *, loads: bool = False) -> None:
        """An action's input is about to go out: its writes are told apart from now on.

        ``loads``: it only loads a document; what that writes later is the page's own.
        """
        self.guard.acting = True
        self.guard.acted = self.guard.acted or not loads
        if gate is not None:
            self.guard.gate = gate
        await self._rules.refresh()

    async def begin_policy(self) -> None:
        """The rules were replaced: look at the request types that they need.

        Where an effect is at stake no connection is kept: Chromium sends a POST again by itself,
        below the guard, when a kept connection closes without an answer (seen: one click, two
        orders, in 5 of 5 tries). On a fresh connection it does not. HTTP/1.1 only.
        """
        await self._rules.refresh()
        if self.guard.policy.watch_all != self._fresh:
            self._fresh = self.guard.policy.watch_all
            headers = {"Connection": "close"} if self._fresh else {}
            await self.page.set_extra_http_headers(headers)

    def new_step(self) -> None:
        """Another step goes on in this page; the gate of a commit before stays where it is."""
        self.happenings.new_step()
        self.guard.acted = False
        self.sighted.clear()

    def end_acting(self) -> None:
        """The action has settled."""
        self.guard.acting = False

    async def look_for_popups(self) -> None:
        """Note the pages that the tab has just opened."""
        await self._rules.look_for_popups(self.guard)

    async def secret_typed(self, locator: Locator) -> None:
        """A secret is about to stand in this control."""
        self.masked.append(locator)
        self.guard.secret = True
        await self._rules.refresh()

    async def stirred(self, seconds: float) -> None:
        """Return when the page may have changed, at most after ``seconds``."""
        self.happenings.stirred.clear()
        if self.page.is_closed():
            await asyncio.sleep(0)
            return
        await stir(self.page, seconds, self.happenings.stirred)
