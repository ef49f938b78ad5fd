"""The thirty actions by webagent: as `run --unattended` does them, and with one feature less each.

A feature is left out by handing the runner another store, or the executor another guard, inside
this process and for one run; the product has no switch for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webagent import wiring
from webagent.core.action import PASSIVE, Action
from webagent.core.event import BrowserStarted, Entry, RunFinished
from webagent.core.expect import Expectation, Finding
from webagent.core.page import Outcome
from webagent.engine.state import RunState
from webagent.executors.browser import session
from webagent.executors.browser.guard import Blank, Guard, TabGuard
from webagent.executors.browser.session import BrowserExecutor
from webagent.executors.browser.tab import BrowserTab
from webagent.executors.scripted import finding_for
from webagent.interface.errands import Terms, prepare
from webagent.interface.running import begin
from webagent.ports import MaySend, StorageState, Store
from webagent.settings import Settings, load_settings

RECIPE = Path(__file__).with_name("errand.yaml")
LOOK_AHEAD_SECONDS = 0.05


@dataclass(slots=True)
class Took:
    """One run: seconds without and with the browser's start and end, and the journal's length."""

    inside: float = 0.0
    whole: float = 0.0
    events: int = 0


@dataclass(slots=True)
class _Stopwatch:
    began: float = field(default_factory=time.perf_counter)
    started: float = 0.0
    finished: float = 0.0
    events: int = 0

    def __call__(self, state: RunState, entry: Entry) -> None:
        self.events += 1
        if isinstance(entry.event, BrowserStarted):
            self.started = time.perf_counter()
        elif isinstance(entry.event, RunFinished):
            self.finished = time.perf_counter()


async def run(store: Path, hosts: str, variant: str = "default", recipe: Path = RECIPE) -> Took:
    """The errand in a fresh store and a browser of its own, in one of the `VARIANTS`."""
    env = {**os.environ, "WEBAGENT_HOSTS": hosts, "WEBAGENT_STORE": str(store)}
    settings = load_settings(env, store)
    watch = _Stopwatch()
    with ExitStack() as without:
        for leave_out in VARIANTS[variant]:
            without.enter_context(leave_out())
        errand = prepare(recipe, terms=Terms(unattended=True))
        result = await begin(errand, settings, wiring.Manner(watch=(watch,)))
    if not result.ok:
        msg = f"{variant}: the errand ended {result.status}: {result.reason}"
        raise AssertionError(msg)
    whole = time.perf_counter() - watch.began
    return Took(watch.finished - watch.started, whole, watch.events)


# -- what can be left out ---------------------------------------------------------------------


@contextmanager
def _instead(owner: Any, name: str, other: object) -> Iterator[None]:
    kept = getattr(owner, name)
    setattr(owner, name, other)
    try:
        yield
    finally:
        setattr(owner, name, kept)


def _journal_in_memory() -> Any:
    def opened(_settings: Settings) -> Store:
        from webagent.stores.memory import MemoryStore

        return MemoryStore(wiring.clock())

    return _instead(wiring, "open_store", opened)


class _NoGuard(Guard):
    """Looks at no request."""

    async def start(self) -> None:
        """Nothing is looked at."""

    async def refresh(self) -> None:
        """Whatever the policies need."""

    async def adopt(self, blank: Blank, tab: TabGuard) -> None:
        """Every page may do anything."""

    async def look_for_popups(self, tab: TabGuard) -> None:
        """Nor at what they open."""


def _no_guard() -> Any:
    return _instead(session, "Guard", _NoGuard)


class _UnjudgedTab(BrowserTab):
    """Without a look at the page, expectations are unmet before its input and met after it."""

    done = False

    async def perform(
        self,
        action: Action,
        *,
        deadline: float,
        dispatched: Callable[[], Awaitable[None]],
        may_send: MaySend | None = None,
    ) -> Outcome:
        if deadline <= LOOK_AHEAD_SECONDS:
            return Outcome()
        self.done = self.done or action.verb not in PASSIVE or action.verb == "read"
        return await super().perform(
            action, deadline=deadline, dispatched=dispatched, may_send=may_send
        )

    async def examine(self, expectations: Sequence[Expectation]) -> tuple[Finding, ...]:
        return tuple(finding_for(e, holds=self.done) for e in expectations)


def _no_judging() -> Any:
    return _instead(session, "BrowserTab", _UnjudgedTab)


def _no_session() -> Any:
    async def nothing(_self: BrowserExecutor) -> StorageState:
        return {}

    return _instead(BrowserExecutor, "storage_state", nothing)


VARIANTS: dict[str, tuple[Callable[[], Any], ...]] = {
    "default": (),
    "journal in memory": (_journal_in_memory,),
    "no guard": (_no_guard,),
    "no judging": (_no_judging,),
    "session not kept": (_no_session,),
    "none of these": (_journal_in_memory, _no_guard, _no_judging, _no_session),
}
