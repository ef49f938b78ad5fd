"""A store in this process's memory: for tests, rehearsals and replays. Nothing survives.

Bodies are kept as JSON text, as in the database, so that what comes back is a fresh value and what
JSON cannot hold shows here too. Methods do not await between reading and writing, so each is whole.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from webagent.core.base import Json
from webagent.core.effect import EffectChange, EffectRow
from webagent.core.errors import StoreError
from webagent.core.event import Entry, Event
from webagent.core.limits import LEASE_SECONDS
from webagent.core.sighting import Sighting
from webagent.ports import Clock, Lease, Runner, RunSummary, StorageState
from webagent.stores import bodies, rules
from webagent.stores.processes import known_gone


@dataclass
class _Run:
    recipe_id: str
    errand: str
    recipe_file: str
    started_at: str
    updated_at: str
    status: str = "running"
    epoch: int = 0
    holder: Runner | None = None
    until: float = 0.0
    stop: bool = False
    lines: list[tuple[int, str, str]] = field(default_factory=list)  # epoch, at, body
    session: str | None = None


class MemoryStore:
    """`ports.Store` over dictionaries. ``gone`` tells which holders are known to be dead."""

    def __init__(self, clock: Clock, *, gone: rules.KnownGone = known_gone) -> None:
        self._clock = clock
        self._gone = gone
        self._runs: dict[str, _Run] = {}
        self._effects: dict[str, EffectRow] = {}
        self._sightings: dict[tuple[str, str, str, bool], str] = {}

    async def create(self, run: str, recipe_id: str, errand: str, recipe_file: str = "") -> None:
        """Make a run with an empty journal."""
        if run in self._runs:
            raise StoreError(f"Run {run} is in this store already.")
        now = rules.stamp(self._clock.now())
        self._runs[run] = _Run(recipe_id, errand, recipe_file, now, now)

    async def acquire(self, run: str, runner: Runner) -> Lease:
        """Take the run's lease: raises RunBusy or UnknownRun."""
        found = self._run(run)
        if (holder := self._holder(found)) is not None:
            raise rules.run_busy(run, holder)
        lease = Lease(run=run, epoch=found.epoch + 1, runner=runner, previous=found.holder)
        found.epoch, found.holder, found.stop = lease.epoch, runner, False
        found.until = self._clock.now().timestamp() + LEASE_SECONDS
        return lease

    async def renew(self, lease: Lease, runner: Runner) -> None:
        """Hold the lease LEASE_SECONDS longer; note the runner's browser. Raises LeaseLost."""
        found = self._run(lease.run)
        rules.check_epoch(lease, found.epoch, held=found.holder is not None)
        found.holder = runner
        found.until = self._clock.now().timestamp() + LEASE_SECONDS

    async def release(self, lease: Lease) -> None:
        """Give the lease back; a lease already lost is not an error."""
        found = self._run(lease.run)
        if found.epoch == lease.epoch:
            found.holder, found.until = None, 0.0

    async def current_epoch(self, run: str) -> int:
        """The newest epoch of a run: the guard reads it before a commit's request goes."""
        return self._run(run).epoch

    async def append(
        self,
        lease: Lease,
        after: int,
        events: Sequence[Event],
        effects: Sequence[EffectChange] = (),
        *,
        durable: bool = False,
    ) -> tuple[Entry, ...]:
        """Append events after number ``after``; all of it or none."""
        found = self._run(lease.run)
        rules.check_epoch(lease, found.epoch, held=found.holder is not None)
        if after != len(found.lines):
            raise rules.out_of_sequence(lease.run, len(found.lines), after)
        now = self._clock.now()
        changed: dict[str, EffectRow] = {}
        for change in effects:
            key = change.row.key
            old = changed.get(key, self._effects.get(key))
            row = rules.next_row(old, change, lease, now, self._is_held)
            changed[key] = bodies.load_row(bodies.dump(row), key)
        at = rules.stamp(now)
        lines = [(lease.epoch, at, bodies.dump(event)) for event in events]
        self._effects.update(changed)
        found.lines += lines
        found.status = rules.status_after(events) or found.status
        found.updated_at = at
        return tuple(
            Entry(seq=after + n, epoch=lease.epoch, at=at, event=event)
            for n, event in enumerate(events, 1)
        )

    async def entries(self, run: str, after: int = 0) -> tuple[Entry, ...]:
        """A run's journal from number ``after + 1`` on."""
        return tuple(
            bodies.load_entry(body, run, seq, epoch, at)
            for seq, (epoch, at, body) in enumerate(self._run(run).lines, 1)
            if seq > after
        )

    async def runs(self, recipe_id: str | None = None, limit: int = 100) -> tuple[RunSummary, ...]:
        """The newest runs first."""
        chosen = [
            (name, found)
            for name, found in reversed(self._runs.items())
            if recipe_id is None or found.recipe_id == recipe_id
        ]
        return tuple(
            RunSummary(
                run=name,
                recipe_id=found.recipe_id,
                errand=found.errand,
                status=found.status,
                started_at=found.started_at,
                updated_at=found.updated_at,
                events=len(found.lines),
                held=self._holder(found) is not None,
                recipe_file=found.recipe_file,
            )
            for name, found in chosen[:limit]
        )

    async def find(self, prefix: str) -> str:
        """The one run whose id begins so, or ``last``. Raises UnknownRun."""
        return rules.the_one(prefix, list(reversed(self._runs)))

    async def last_met(self, recipe_id: str) -> dict[str, Json] | None:
        """The outputs by step of the newest run of a recipe that finished met."""
        for run, found in reversed(self._runs.items()):
            if found.recipe_id == recipe_id and found.status == "met":
                return rules.met_outputs(
                    bodies.load_event(body, run, seq)
                    for seq, (_, _, body) in enumerate(found.lines, 1)
                )
        return None

    async def effect(self, key: str) -> EffectRow | None:
        """The row of a key."""
        return self._effects.get(key)

    async def effects(self, prefix: str = "") -> tuple[EffectRow, ...]:
        """Rows whose key begins so, newest change first."""
        rows = [row for key, row in self._effects.items() if key.startswith(prefix)]
        rows.sort(key=lambda row: row.key)
        rows.sort(key=lambda row: row.changed_at, reverse=True)
        return tuple(rows)

    async def settle(self, key: str, happened: bool, by: str, note: str = "") -> EffectRow:
        """A person's word on an unknown or dispatched effect. Raises EffectConflict or BadInput."""
        old = self._effects.get(key)
        if old is None:
            raise rules.unknown_effect(key, difflib.get_close_matches(key, self._effects, n=1))
        run = self._runs.get(old.run)
        if run is not None and (holder := self._holder(run)) is not None:
            raise rules.run_busy(old.run, holder)
        row = rules.settled_row(old, happened, by=by, note=note, now=self._clock.now())
        self._effects[key] = row
        return row

    async def holder(self, run: str) -> Runner | None:
        """Who holds the run's lease now, if it is live."""
        return self._holder(self._run(run))

    async def request_stop(self, run: str) -> bool:
        """Ask the holder to park; False when nobody holds the run."""
        found = self._run(run)
        if self._holder(found) is None:
            return False
        found.stop = True
        return True

    async def stop_requested(self, run: str) -> bool:
        """Whether somebody asked since the lease was taken."""
        return self._run(run).stop

    async def save_session(self, run: str, state: StorageState) -> None:
        """Keep a run's storage state; the next one replaces it."""
        self._run(run).session = bodies.dump_value(state)

    async def load_session(self, run: str) -> StorageState | None:
        """The storage state kept last."""
        text = self._run(run).session
        return None if text is None else bodies.load_value(text)

    async def sightings(self, recipe_id: str) -> tuple[Sighting, ...]:
        """All sightings of a recipe: accepted ones and those that wait for a word."""
        found = [
            bodies.load_sighting(text, recipe_id)
            for key, text in self._sightings.items()
            if key[0] == recipe_id
        ]
        return tuple(sorted(found, key=rules.sighting_order))

    async def keep_sightings(self, sightings: Sequence[Sighting]) -> None:
        """Keep these, each in place of the one of its recipe, step, target and ``accepted``."""
        self._sightings |= {
            (one.recipe_id, one.step, one.target, one.accepted): bodies.dump(one)
            for one in sightings
        }

    async def drop_sightings(
        self, recipe_id: str, step: str, *, accepted: bool = False, target: str | None = None
    ) -> None:
        """Forget a step's sightings of one kind, of one target or of all."""
        self._sightings = {
            key: text
            for key, text in self._sightings.items()
            if (key[0], key[1], key[3]) != (recipe_id, step, accepted)
            or (target is not None and key[2] != target)
        }

    async def close(self) -> None:
        """Nothing to let go of; what is in memory stays readable."""

    def _run(self, run: str) -> _Run:
        found = self._runs.get(run)
        if found is None:
            raise rules.unknown_run(run)
        return found

    def _holder(self, found: _Run) -> Runner | None:
        return rules.live_holder(found.holder, found.until, self._clock.now(), self._gone)

    def _is_held(self, run: str) -> bool:
        found = self._runs.get(run)
        return found is not None and self._holder(found) is not None
