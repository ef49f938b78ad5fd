"""What a context's sites have stored, put together without opening a page.

Playwright's `storage_state` opens a page of its own for every origin that no open page shows: with
each met step that cost more than the step's actions. What an origin stores changes only by its own
documents, so it is enough to ask those that are open, and each tab before it closes. Where that
does not tell all (an origin was left behind by a navigation, or a site keeps databases), Playwright
is asked after all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, Error, Frame, Page

from webagent.core.request_rules import origin_of
from webagent.executors.browser import in_page
from webagent.ports import StorageState

SESSION_KEY = "sessionStorage"
MARK = "webagent:restored"
ANSWER_SECONDS = 2.0


class Stored:
    """The storage of one context, beginning with what it was started with.

    ``unasked``: origins that had a document since they were last asked.
    """

    def __init__(self, storage: StorageState) -> None:
        self._sessions: dict[str, dict[str, str]] = {
            origin: dict(items) for origin, items in storage.get(SESSION_KEY, {}).items()
        }
        self._local: dict[str, dict[str, str]] = {}
        self._databases = False
        self._note_origins(storage)
        self._unasked: set[str] = set()

    @property
    def sessions(self) -> dict[str, dict[str, str]]:
        """The sessionStorage of each origin that has one."""
        return {origin: items for origin, items in self._sessions.items() if items}

    def watch(self, context: BrowserContext) -> None:
        """Note which origins get a document."""
        context.on("page", self._watch_page)

    def _watch_page(self, page: Page) -> None:
        def navigated(frame: Frame) -> None:
            if frame.url.startswith("http"):
                self._unasked.add(origin_of(frame.url))

        page.on("framenavigated", navigated)

    async def ask(self, pages: Iterable[Page]) -> None:
        """Ask the documents of these pages what their origins have stored."""
        await asyncio.gather(
            *(self._ask_frame(page, frame) for page in pages for frame in page.frames)
        )

    async def _ask_frame(self, page: Page, frame: Frame) -> None:
        with suppress(Error, TimeoutError):  # a page that does not answer has nothing to keep
            async with asyncio.timeout(ANSWER_SECONDS):
                found = json.loads(await frame.evaluate(in_page.SESSION_STORAGE))
            if found is None or not found[0].startswith("http"):
                return
            origin, session, local, databases = found
            if frame is page.main_frame:
                self._sessions[origin] = {k: v for k, v in session.items() if k != MARK}
            self._local[origin] = local
            self._databases = self._databases or databases
            self._unasked.discard(origin_of(origin))

    async def state(self, context: BrowserContext) -> StorageState:
        """Cookies, localStorage, IndexedDB and sessionStorage; the open pages were asked before."""
        if self._databases or self._unasked:
            state: dict[str, Any] = dict(await context.storage_state(indexed_db=True))
            self._unasked.clear()
            self._note_origins(state)
        else:
            state = {
                "cookies": await context.cookies(),
                "origins": [
                    {
                        "origin": origin,
                        "localStorage": [{"name": k, "value": v} for k, v in items.items()],
                    }
                    for origin, items in self._local.items()
                    if items
                ],
            }
        if self.sessions:
            state[SESSION_KEY] = self.sessions
        return state

    def _note_origins(self, state: StorageState) -> None:
        for one in state.get("origins", ()):
            self._local[one["origin"]] = {e["name"]: e["value"] for e in one["localStorage"]}
            self._databases = self._databases or bool(one.get("indexedDB"))
