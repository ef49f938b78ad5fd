"""Any sequence of calls has the same answers from the store in memory and the one on SQLite."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, get_args

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.contract.stage import (
    ManualClock,
    Processes,
    change,
    done,
    finished,
    met,
    runner,
    started,
)
from webagent.core.effect import EffectState
from webagent.core.errors import WebagentError
from webagent.core.event import Event
from webagent.ports import Lease, Store
from webagent.stores.memory import MemoryStore
from webagent.stores.sql import open_store

RUNS = st.sampled_from(["r1", "r2", "x3"])
PIDS = st.integers(1, 3)
KEYS = st.sampled_from(["k", "k/ä", "q"])
EFFECT_STATES = st.sampled_from(get_args(EffectState))
EVENTS = st.sampled_from([started(), done(0), met("a", x=1), met("b", y=[None]), finished()])


class SameAnswers(RuleBasedStateMachine):
    """Each call goes to both; a refusal has to be the same too, with the same words."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.clock, self.processes = ManualClock(), Processes()
        self.memory: Store = MemoryStore(self.clock, gone=self.processes)
        self.sql: Store = open_store(self.folder / "s", self.clock, gone=self.processes)
        self.leases: list[Lease] = []
        self.ends: dict[str, int] = {}

    def teardown(self) -> None:
        self.loop.run_until_complete(self.sql.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    def both(self, call: Callable[[Store], Awaitable[Any]]) -> Any:
        answers = [self.loop.run_until_complete(self.answer(call, s)) for s in self.stores]
        assert answers[0] == answers[1]
        return answers[0]

    @property
    def stores(self) -> tuple[Store, Store]:
        return self.memory, self.sql

    async def answer(self, call: Callable[[Store], Awaitable[Any]], store: Store) -> Any:
        try:
            return await call(store)
        except WebagentError as error:
            return type(error), str(error)

    @initialize()
    def one_run(self) -> None:
        self.both(lambda s: s.create("r1", "cable", "e"))

    @rule(run=RUNS, recipe=st.sampled_from(["cable", "lamp"]))
    def create(self, run: str, recipe: str) -> None:
        self.both(lambda s: s.create(run, recipe, "e"))

    @rule(run=RUNS, pid=PIDS)
    def acquire(self, run: str, pid: int) -> None:
        lease = self.both(lambda s: s.acquire(run, runner(pid)))
        if isinstance(lease, Lease):
            self.leases.append(lease)

    @rule(n=st.integers(0, 9))
    def renew(self, n: int) -> None:
        if self.leases:
            lease = self.leases[n % len(self.leases)]
            self.both(lambda s: s.renew(lease, lease.runner))

    @rule(n=st.integers(0, 9))
    def release(self, n: int) -> None:
        if self.leases:
            lease = self.leases[n % len(self.leases)]
            self.both(lambda s: s.release(lease))

    @rule(
        n=st.integers(0, 9),
        off=st.sampled_from([0, 0, 0, 0, 1, -1]),
        events=st.lists(EVENTS, max_size=3),
        durable=st.booleans(),
        changes=st.lists(
            st.tuples(KEYS, EFFECT_STATES, st.integers(1, 2)),
            max_size=2,
        ),
        strict=st.booleans(),
    )
    def append(
        self,
        n: int,
        off: int,
        events: list[Event],
        durable: bool,
        changes: list[tuple[str, EffectState, int]],
        strict: bool,
    ) -> None:
        if not self.leases:
            return
        lease = self.leases[-1 - n % len(self.leases)]
        after = self.ends.get(lease.run, 0) + off
        expect = (None, "refused") if strict else (None, *get_args(EffectState))
        effects = [change(key, state, *expect, attempt=a) for key, state, a in changes]
        found = self.both(lambda s: s.append(lease, after, events, effects, durable=durable))
        if not (len(found) == 2 and isinstance(found[0], type)):
            self.ends[lease.run] = after + len(events)

    @rule(key=KEYS, happened=st.booleans())
    def settle(self, key: str, happened: bool) -> None:
        self.both(lambda s: s.settle(key, happened, "ann", "seen"))

    @rule(run=RUNS)
    def stop(self, run: str) -> None:
        self.both(lambda s: s.request_stop(run))

    @rule(seconds=st.sampled_from([0.5, 5.0, 16.0]))
    def wait(self, seconds: float) -> None:
        self.clock.seconds += seconds

    @rule(pid=PIDS)
    def die(self, pid: int) -> None:
        self.processes.gone.add(pid)

    @rule(prefix=st.sampled_from(["r", "r1", "x", "last", "", "z"]))
    def find(self, prefix: str) -> None:
        self.both(lambda s: s.find(prefix))

    @invariant()
    def all_that_can_be_read_is_the_same(self) -> None:
        self.both(lambda s: s.runs())
        self.both(lambda s: s.runs("cable", 1))
        self.both(lambda s: s.effects())
        self.both(lambda s: s.last_met("cable"))
        for run in ("r1", "r2", "x3"):
            self.all_of(run)

    def all_of(self, run: str) -> None:
        self.both(lambda s: s.entries(run))
        self.both(lambda s: s.holder(run))
        self.both(lambda s: s.stop_requested(run))
        self.both(lambda s: s.current_epoch(run))


TestSameAnswers = SameAnswers.TestCase
TestSameAnswers.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
