"""One action on its way: its deadline, and the call that goes out before its input.

Made by `tab.BrowserTab.perform` for each action and handed to the verbs of `perform`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from playwright.async_api import ElementHandle, Frame

from webagent.core.action import Action, targets_of
from webagent.core.sighting import Element
from webagent.core.target import Target
from webagent.executors.browser.commit_gate import CommitGate
from webagent.executors.browser.faults import Dispatch
from webagent.executors.browser.locate import Aim, Found, Wish, find
from webagent.executors.browser.stage import Stage
from webagent.executors.browser.survey import elements_of

# Playwright repeats the checks made just before; what has not moved since then passes at once.
MIN_MS = 50.0
REFUSED_SECONDS = 0.3
LOADS = frozenset({"goto", "back", "reload"})


class Move:
    """An action being carried out.

    ``until`` is loop time. `dispatch` awaits the caller's word once; its time does not count
    against the deadline, and it is never cancelled half-way: it may be writing the journal.
    """

    def __init__(
        self,
        stage: Stage,
        action: Action,
        until: float,
        dispatched: Callable[[], Awaitable[None]],
        limit: asyncio.Timeout,
    ) -> None:
        self.stage = stage
        self.action = action
        self.until = until
        self.commit = False
        self.state: Dispatch = "no"
        self.flushed = False
        self.note = ""
        self.gate: CommitGate | None = None
        self.held: asyncio.Task[ElementHandle] | None = None
        self.sighted: dict[str, tuple[Element, str]] = {}
        self._dispatched = dispatched
        self._limit = limit
        self._called = False

    @property
    def ms(self) -> float:
        """Milliseconds left, for Playwright."""
        return max(MIN_MS, (self.until - asyncio.get_running_loop().time()) * 1000)

    def aim(self, target: Target) -> Aim:
        """The target with what the action says about where it is."""
        return Aim(target, self.action.within, self.action.frame)

    async def find(self, target: Target, wish: Wish) -> Found:
        """The element, ready, by the deadline; what it looks like is noted the first time."""
        if self.wants_sight(target):
            wish = replace(wish, sight=True)
        found = await find(self.stage.page, self.aim(target), wish, self.until)
        self.sight(target, found.seen.get("sight"), found.frame)
        return found

    def wants_sight(self, target: Target) -> bool:
        """Whether it is not known yet what a target of the action itself looks like.

        Asked once for each target in a step, which keeps the cost low, and before its input.
        """
        if target.source in self.sighted or target.source in self.stage.sighted:
            return False
        return any(own.source == target.source for own in targets_of(self.action))

    def sight(self, target: Target, raw: dict[str, Any] | None, frame: Frame) -> None:
        """Note what the page told of a target's element."""
        if raw is None:
            return
        if frame is not self.stage.page.main_frame:
            raw["frame"] = frame.url
        (element,) = elements_of([raw], self.stage.redact)
        self.sighted[target.source] = (element, self.stage.redact(self.stage.page.url))

    def hold(self, found: Found) -> asyncio.Task[ElementHandle]:
        """The very element that is about to take a value: whether the page kept it can be asked."""
        # Asked for now and answered while the input goes out: the page gets both in this order.
        self.held = asyncio.ensure_future(found.locator.element_handle(timeout=self.ms))
        self.held.add_done_callback(_retrieved)
        return self.held

    def unchecked(self, found: Found) -> bool:
        """Whether Playwright may leave out its own checks; never for a commit."""
        return not self.commit and found.fresh

    async def dispatch(self) -> None:
        """Say that input is about to be sent; once for an action."""
        if not self._called:
            loop = asyncio.get_running_loop()
            began = loop.time()
            end = self._limit.when()
            self._limit.reschedule(None)
            await self._dispatched()
            spent = loop.time() - began
            self.until += spent
            if end is not None:
                self._limit.reschedule(end + spent)
            self._called = True
            await self.stage.begin_acting(self.gate, loads=self.action.verb in LOADS)
        self.state = "unknown"

    async def send(self, call: Coroutine[Any, Any, Any]) -> None:
        """Await a call that sends input, but not once the guard has refused what it led to.

        Playwright waits for the navigation that a click began; after a refused redirect it would
        wait in vain until its deadline.
        """
        task = asyncio.ensure_future(call)
        refused = asyncio.ensure_future(self.stage.guard.refused.wait())
        try:
            await asyncio.wait({task, refused}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await asyncio.wait({task}, timeout=REFUSED_SECONDS)
            if task.done():
                task.result()
        finally:
            refused.cancel()
            task.cancel()

    def sent(self, *, settled: bool = False) -> None:
        """The input has reached the page; ``settled``: and what it begins has begun."""
        self.state = "yes"
        self.flushed = settled


def _retrieved(task: asyncio.Task[ElementHandle]) -> None:
    """An element that nobody asks for any more (its action failed) may be gone without a word."""
    if not task.cancelled():
        task.exception()
