"""The store in a database: SQLite by default, Postgres by URL, the same statements for both.

Where the work runs was measured: an append to SQLite takes 0.2 to 0.3 ms, a hop to a thread and
back 0.16 ms more, and a wait for the loop while a page loads. So SQLite's ordinary transactions run
where they are called, in the loop; what waits for a disk (durable) or a network (Postgres) goes to
a thread, and is waited for even when its caller is cancelled: what was kept is always told.
"""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, func, insert, select, update

from webagent.core.base import Json
from webagent.core.effect import EffectChange, EffectRow
from webagent.core.errors import BadInput, StoreError, UnknownRun
from webagent.core.event import Entry, Event
from webagent.core.limits import LEASE_SECONDS
from webagent.core.sighting import Sighting
from webagent.ports import Artifacts, Clock, Lease, Runner, RunSummary, StorageState
from webagent.stores import bodies, rules
from webagent.stores.artifacts import FileArtifacts, replace_private
from webagent.stores.database import Database
from webagent.stores.processes import known_gone
from webagent.stores.statements import (
    add_events,
    change_effect,
    drop_sightings,
    effect_row,
    keep_sightings,
    lease_row,
    plain,
    replace_effect,
    sightings_of,
)
from webagent.stores.tables import EFFECTS, EVENTS, RUNS

T = TypeVar("T")

ARTIFACTS_FOLDER = "runs"
SESSION_FILE = "session.json"


class SqlStore:
    """`ports.Store` over a `Database`. The storage state is a file in the run's artifacts.

    That file is not redacted (it is cookies and tokens by nature), so it is readable by its owner
    alone. ``gone`` tells which holders are known to be dead. Hosts that share a Postgres need
    clocks that agree within seconds: a lease's end is compared with the clock of who asks.
    """

    def __init__(
        self,
        database: Database,
        artifacts: Artifacts,
        clock: Clock,
        *,
        gone: rules.KnownGone = known_gone,
    ) -> None:
        self._database = database
        self._artifacts = artifacts
        self._clock = clock
        self._gone = gone

    async def create(self, run: str, recipe_id: str, errand: str, recipe_file: str = "") -> None:
        """Make a run with an empty journal."""
        now = rules.stamp(self._clock.now())

        def work(connection: Connection) -> None:
            taken = select(RUNS.c.number).where(RUNS.c.run == run)
            if connection.execute(taken).first() is not None:
                raise StoreError(f"Run {run} is in this store already.")
            connection.execute(
                insert(RUNS).values(
                    run=run,
                    recipe_id=recipe_id,
                    errand=plain(errand),
                    recipe_file=plain(recipe_file),
                    status="running",
                    started_at=now,
                    updated_at=now,
                    events=0,
                    epoch=0,
                    lease_until=0.0,
                    stop_requested=0,
                )
            )

        await self._write(work)

    async def acquire(self, run: str, runner: Runner) -> Lease:
        """Take the run's lease: raises RunBusy or UnknownRun."""
        now = self._clock.now()

        def work(connection: Connection) -> Lease:
            found = lease_row(connection, run, lock=True)
            if (holder := self._live(run, found, now)) is not None:
                raise rules.run_busy(run, holder)
            previous = bodies.load_runner(found.holder, run)
            connection.execute(
                update(RUNS)
                .where(RUNS.c.run == run)
                .values(
                    epoch=found.epoch + 1,
                    holder=bodies.dump(runner),
                    lease_until=now.timestamp() + LEASE_SECONDS,
                    stop_requested=0,
                )
            )
            return Lease(run=run, epoch=found.epoch + 1, runner=runner, previous=previous)

        return await self._write(work)

    async def renew(self, lease: Lease, runner: Runner) -> None:
        """Hold the lease LEASE_SECONDS longer; note the runner's browser. Raises LeaseLost."""
        until = self._clock.now().timestamp() + LEASE_SECONDS

        def work(connection: Connection) -> None:
            found = lease_row(connection, lease.run, lock=True)
            rules.check_epoch(lease, found.epoch, held=found.holder is not None)
            connection.execute(
                update(RUNS)
                .where(RUNS.c.run == lease.run)
                .values(holder=bodies.dump(runner), lease_until=until)
            )

        await self._write(work)

    async def release(self, lease: Lease) -> None:
        """Give the lease back; a lease already lost is not an error."""

        def work(connection: Connection) -> None:
            connection.execute(
                update(RUNS)
                .where(RUNS.c.run == lease.run, RUNS.c.epoch == lease.epoch)
                .values(holder=None, lease_until=0.0)
            )

        await self._write(work)

    async def current_epoch(self, run: str) -> int:
        """The newest epoch of a run: the guard reads it before a commit's request goes."""
        return int((await self._read(lambda c: lease_row(c, run))).epoch)

    async def append(
        self,
        lease: Lease,
        after: int,
        events: Sequence[Event],
        effects: Sequence[EffectChange] = (),
        *,
        durable: bool = False,
    ) -> tuple[Entry, ...]:
        """Append events after number ``after``; all of it or none.

        Raises LeaseLost, SequenceConflict or EffectConflict, and then nothing was kept.
        """
        now = self._clock.now()
        at = rules.stamp(now)

        def work(connection: Connection) -> None:
            add_events(connection, lease, after, events, at)
            for change in effects:
                change_effect(connection, change, lease, now, self._is_held(connection, now))

        await self._write(work, durable=durable)
        return tuple(
            Entry(seq=seq, epoch=lease.epoch, at=at, event=event)
            for seq, event in enumerate(events, after + 1)
        )

    async def entries(self, run: str, after: int = 0) -> tuple[Entry, ...]:
        """A run's journal from number ``after + 1`` on."""
        wanted = (
            select(EVENTS.c.seq, EVENTS.c.epoch, EVENTS.c.at, EVENTS.c.body)
            .where(EVENTS.c.run == run, EVENTS.c.seq > after)
            .order_by(EVENTS.c.seq)
        )

        def work(connection: Connection) -> Sequence[Row[*tuple[Any, ...]]]:
            lease_row(connection, run)
            return connection.execute(wanted).all()

        return tuple(
            bodies.load_entry(line.body, run, line.seq, line.epoch, line.at)
            for line in await self._read(work)
        )

    async def runs(self, recipe_id: str | None = None, limit: int = 100) -> tuple[RunSummary, ...]:
        """The newest runs first."""
        wanted = select(RUNS).order_by(RUNS.c.number.desc()).limit(limit)
        if recipe_id is not None:
            wanted = wanted.where(RUNS.c.recipe_id == recipe_id)
        now = self._clock.now()
        return tuple(
            RunSummary(
                run=line.run,
                recipe_id=line.recipe_id,
                errand=line.errand,
                status=line.status,
                started_at=line.started_at,
                updated_at=line.updated_at,
                events=line.events,
                held=self._live(line.run, line, now) is not None,
                recipe_file=line.recipe_file,
            )
            for line in await self._read(lambda c: c.execute(wanted).all())
        )

    async def find(self, prefix: str) -> str:
        """The one run whose id begins so, or ``last``. Raises UnknownRun."""
        wanted = select(RUNS.c.run).order_by(RUNS.c.number.desc())
        return rules.the_one(prefix, await self._read(lambda c: c.execute(wanted).scalars().all()))

    async def last_met(self, recipe_id: str) -> dict[str, Json] | None:
        """The outputs by step of the newest run of a recipe that finished met."""
        newest = (
            select(RUNS.c.run)
            .where(RUNS.c.recipe_id == recipe_id, RUNS.c.status == "met")
            .order_by(RUNS.c.number.desc())
            .limit(1)
        )

        def work(connection: Connection) -> Sequence[Row[*tuple[Any, ...]]] | None:
            run = connection.execute(newest).scalar()
            if run is None:
                return None
            finished = (
                select(EVENTS.c.run, EVENTS.c.seq, EVENTS.c.body)
                .where(EVENTS.c.run == run, EVENTS.c.type == "StepFinished")
                .order_by(EVENTS.c.seq)
            )
            return connection.execute(finished).all()

        found = await self._read(work)
        if found is None:
            return None
        return rules.met_outputs(bodies.load_event(x.body, x.run, x.seq) for x in found)

    async def effect(self, key: str) -> EffectRow | None:
        """The row of a key."""
        return await self._read(lambda c: effect_row(c, key))

    async def effects(self, prefix: str = "") -> tuple[EffectRow, ...]:
        """Rows whose key begins so, newest change first."""
        start = plain(prefix)
        wanted = select(EFFECTS.c.key, EFFECTS.c.body).order_by(
            EFFECTS.c.changed_at.desc(), EFFECTS.c.key
        )
        if start:  # LIKE would fold case on SQLite
            wanted = wanted.where(func.substr(EFFECTS.c.key, 1, len(start)) == start)
        found = await self._read(lambda c: c.execute(wanted).all())
        return tuple(bodies.load_row(line.body, line.key) for line in found)

    async def settle(self, key: str, happened: bool, by: str, note: str = "") -> EffectRow:
        """A person's word on an unknown or dispatched effect. Raises EffectConflict or BadInput."""
        now = self._clock.now()

        def work(connection: Connection) -> EffectRow:
            old = effect_row(connection, key, lock=True)
            if old is None:
                known = connection.execute(select(EFFECTS.c.key)).scalars().all()
                raise rules.unknown_effect(key, difflib.get_close_matches(key, known, n=1))
            if (holder := self._holder(connection, old.run, now)) is not None:
                raise rules.run_busy(old.run, holder)
            row = rules.settled_row(old, happened, by=by, note=note, now=now)
            replace_effect(connection, row)
            return row

        return await self._write(work, durable=True)

    async def holder(self, run: str) -> Runner | None:
        """Who holds the run's lease now, if it is live."""
        return self._live(run, await self._read(lambda c: lease_row(c, run)), self._clock.now())

    async def request_stop(self, run: str) -> bool:
        """Ask the holder to park; False when nobody holds the run."""
        now = self._clock.now()

        def work(connection: Connection) -> bool:
            if self._live(run, lease_row(connection, run, lock=True), now) is None:
                return False
            connection.execute(update(RUNS).where(RUNS.c.run == run).values(stop_requested=1))
            return True

        return await self._write(work)

    async def stop_requested(self, run: str) -> bool:
        """Whether somebody asked since the lease was taken."""
        return bool((await self._read(lambda c: lease_row(c, run))).stop_requested)

    async def save_session(self, run: str, state: StorageState) -> None:
        """Keep a run's storage state (0600, not redacted); the next one replaces it."""
        await self._read(lambda c: lease_row(c, run))
        text = bodies.dump_value(state)
        replace_private(self._artifacts.folder(run) / SESSION_FILE, text.encode("ascii"))

        def work(connection: Connection) -> None:
            connection.execute(
                update(RUNS)
                .where(RUNS.c.run == run, RUNS.c.session.is_(None))
                .values(session=SESSION_FILE)
            )

        await self._write(work)

    async def load_session(self, run: str) -> StorageState | None:
        """The storage state kept last; None also when its file is gone or cut short."""

        def work(connection: Connection) -> str | None:
            lease_row(connection, run)
            return connection.execute(select(RUNS.c.session).where(RUNS.c.run == run)).scalar()

        name = await self._read(work)
        if name is None:
            return None
        try:
            found = bodies.load_value((self._artifacts.folder(run) / name).read_text("ascii"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None  # the steps that need a session sign in again
        return found if isinstance(found, dict) else None

    async def sightings(self, recipe_id: str) -> tuple[Sighting, ...]:
        """All sightings of a recipe: accepted ones and those that wait for a word."""
        return await self._read(lambda c: sightings_of(c, recipe_id))

    async def keep_sightings(self, sightings: Sequence[Sighting]) -> None:
        """Keep these, all or none, each in place of the one of its place and kind."""
        if sightings:
            await self._write(lambda c: keep_sightings(c, sightings))

    async def drop_sightings(
        self, recipe_id: str, step: str, *, accepted: bool = False, target: str | None = None
    ) -> None:
        """Forget a step's sightings of one kind, of one target or of all."""
        await self._write(
            lambda c: drop_sightings(c, recipe_id, step, accepted=accepted, target=target)
        )

    async def close(self) -> None:
        """Let go of files and connections."""
        self._database.close()

    async def _write(self, work: Callable[[Connection], T], *, durable: bool = False) -> T:
        def whole() -> T:
            with self._database.write(durable=durable) as connection:
                return work(connection)

        return await self._placed(whole, waits=durable)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        def whole() -> T:
            with self._database.read() as connection:
                return work(connection)

        return await self._placed(whole, waits=False)

    async def _placed(self, whole: Callable[[], T], *, waits: bool) -> T:
        if waits or not self._database.is_sqlite:
            return await _to_its_end(whole)
        return whole()

    def _live(self, run: str, found: Row[*tuple[Any, ...]], now: datetime) -> Runner | None:
        holder = bodies.load_runner(found.holder, run)
        return rules.live_holder(holder, found.lease_until, now, self._gone)

    def _holder(self, connection: Connection, run: str, now: datetime) -> Runner | None:
        try:
            return self._live(run, lease_row(connection, run), now)
        except UnknownRun:  # the run was pruned; its effects stay
            return None

    def _is_held(self, connection: Connection, now: datetime) -> rules.IsHeld:
        return lambda run: self._holder(connection, run, now) is not None


async def _to_its_end(whole: Callable[[], T]) -> T:
    """Run in a thread. A cancellation meanwhile is put off until the caller's next await.

    Else a run that is parked by Ctrl-C in the middle of an append would not know its journal's end.
    """
    await asyncio.sleep(0)  # a cancellation that was put off before arrives here, before the work
    job = asyncio.get_running_loop().run_in_executor(None, whole)
    task = asyncio.current_task()
    put_off = 0
    while not job.done():
        try:
            await asyncio.wait([job])
        except asyncio.CancelledError:
            put_off += 1
            if task is not None:
                task.uncancel()
    for _ in range(put_off):
        if task is not None:
            task.cancel()
    return job.result()


def open_store(
    place: Path | str,
    clock: Clock,
    *,
    artifacts: Artifacts | None = None,
    gone: rules.KnownGone = known_gone,
) -> SqlStore:
    """The store at a folder (made if needed), or at a URL together with its artifacts.

    Raises StoreError when it cannot be opened, BadInput when it is no place for a store.
    """
    if artifacts is None:
        if not isinstance(place, Path):
            raise BadInput("A store by URL needs a folder of its own for files.")
        artifacts = FileArtifacts(place / ARTIFACTS_FOLDER)
    return SqlStore(Database(place), artifacts, clock, gone=gone)
