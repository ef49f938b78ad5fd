"""The journal as a runner writes it: one lease, one order, a state that is always folded.

Everything passes the redactor here, so no event with a secret reaches a store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from webagent.core.effect import EffectChange
from webagent.core.errors import InvalidTransition
from webagent.core.event import Entry, Event
from webagent.engine.state import RunState, advance, fold
from webagent.ports import Lease, Store

# Until the store has stamped them; only order matters to whether events fit the state.
_UNSTAMPED = "1970-01-01T00:00:00+00:00"

RedactEvent: TypeAlias = Callable[[Event], Event]
RedactEffect: TypeAlias = Callable[[EffectChange], EffectChange]
Watch: TypeAlias = Callable[[RunState, Entry], None]


class OvertakenError(Exception):
    """What was to be told fits the state no more: another node's event came first.

    Between a decision and its event others have their turn: a step that was about to be entered is
    held because an ancestor of it was reopened. Nothing was kept; the engine has to be asked anew.
    """


class Journal:
    """Appends to one run's journal under a lease and keeps the folded state.

    Events that only tell (an action's outcome) may be deferred: they go with the next append, in
    order, in one transaction. A crash loses at most these, and none of them carries a decision.
    """

    def __init__(
        self,
        store: Store,
        lease: Lease,
        redact: RedactEvent,
        redact_effect: RedactEffect,
        watch: Sequence[Watch] = (),
    ) -> None:
        self._store = store
        self.lease = lease
        self._redact = redact
        self._redact_effect = redact_effect
        self._watch = tuple(watch)
        self._deferred: list[Event] = []
        self._lock = asyncio.Lock()
        self.state = RunState()

    async def load(self) -> RunState:
        """Fold what is in the store already."""
        self.state = fold(await self._store.entries(self.lease.run))
        return self.state

    def defer(self, *events: Event) -> None:
        """Tell these with the next append."""
        self._deferred.extend(self._redact(event) for event in events)

    async def append(
        self, *events: Event, effects: Sequence[EffectChange] = (), durable: bool = False
    ) -> None:
        """Append what was deferred and these events, all or none, then fold them.

        What does not fold is never kept: a journal that cannot be read again is lost for good.

        Raises:
            LeaseLost, SequenceConflict, EffectConflict: as the store's promise 2.
            OvertakenError: the events fit the state no more.
        """
        async with self._lock:
            told = [*self._deferred, *(self._redact(event) for event in events)]
            if not told and not effects:
                return
            self._check(told)
            effects = tuple(self._redact_effect(change) for change in effects)
            entries = await self._store.append(
                self.lease, self.state.seq, told, effects, durable=durable
            )
            del self._deferred[: len(told) - len(events)]
            for entry in entries:
                self.state = advance(self.state, entry)
                for watch in self._watch:
                    watch(self.state, entry)

    def _check(self, told: Sequence[Event]) -> None:
        """Fold the events before they are kept."""
        state = self.state
        try:
            for number, event in enumerate(told, state.seq + 1):
                entry = Entry(seq=number, epoch=self.lease.epoch, at=_UNSTAMPED, event=event)
                state = advance(state, entry)
        except InvalidTransition as error:
            raise OvertakenError(error.message) from error

    async def flush(self) -> None:
        """Append what was deferred."""
        if self._deferred:
            await self.append()
