"""How the database is opened, and what its failures are called."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from tests.contract.stage import ManualClock, change, done, runner, started
from webagent.core.errors import BadInput, StoreError
from webagent.stores import database as rooms
from webagent.stores.database import Database
from webagent.stores.sql import SqlStore, open_store
from webagent.stores.tables import SCHEMA_VERSION


def database_of(store: SqlStore) -> Database:
    return store._database


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    store = open_store(tmp_path / "deep" / ".webagent", ManualClock())
    await store.create("r1", "cable", "e")
    await store.save_session("r1", {"cookies": []})
    folder = tmp_path / "deep" / ".webagent"
    assert mode(folder) == 0o700
    files = {path.name: mode(path) for path in folder.iterdir() if path.is_file()}
    assert {name: files[name] for name in files if name != ".gitignore"} == {
        "webagent.db": 0o600,
        "webagent.db-wal": 0o600,
        "webagent.db-shm": 0o600,
        "webagent.db.lock": 0o600,
    }
    assert mode(folder / "runs" / "r1" / "session.json") == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"
    await store.close()


async def test_a_durable_append_is_made_with_full_synchronous(tmp_path: Path) -> None:
    store = open_store(tmp_path, ManualClock())
    await store.create("r1", "cable", "e")
    lease = await store.acquire("r1", runner(1))
    seen: list[tuple[int, str]] = []

    def at_commit(connection: Connection) -> None:
        driver = connection.connection.cursor()
        (synchronous,) = driver.execute("PRAGMA synchronous").fetchone()
        (journal,) = driver.execute("PRAGMA journal_mode").fetchone()
        seen.append((synchronous, journal))

    for engine in (database_of(store)._plain, database_of(store)._durable):
        event.listen(engine, "commit", at_commit)
    await store.append(lease, 0, [started()])
    await store.append(lease, 1, [done(0)], durable=True)
    await store.append(lease, 2, [done(1)])
    await store.append(lease, 3, [done(2)], [change("k", "intended", None)], durable=True)
    assert seen == [(1, "wal"), (2, "wal"), (1, "wal"), (2, "wal")]
    await store.release(lease)
    await store.settle("k", False, "ann")
    assert seen[-1] == (2, "wal")
    await store.close()


async def test_a_cancelled_durable_append_tells_what_it_kept_first(tmp_path: Path) -> None:
    store = open_store(tmp_path, ManualClock())
    await store.create("r1", "cable", "e")
    lease = await store.acquire("r1", runner(1))
    told: list[int] = []

    async def work() -> None:
        for after in range(1000):
            entries = await store.append(lease, after, [done(after)], durable=True)
            told.append(entries[0].seq)

    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(told) < 1000
    assert [entry.seq for entry in await store.entries("r1")] == told
    await store.append(lease, len(told), [done(0)])  # so a parked run can say that it is parked

    async def slow() -> None:
        async with asyncio.timeout(0.01):
            await work_from(len(told) + 1)

    async def work_from(first: int) -> None:
        for after in range(first, 10_000):
            await store.append(lease, after, [done(after)], durable=True)

    with pytest.raises(TimeoutError):
        await slow()
    await store.close()


async def test_a_lost_session_file_is_no_session(tmp_path: Path) -> None:
    store = open_store(tmp_path, ManualClock())
    await store.create("r1", "cable", "e")
    await store.save_session("r1", {"cookies": []})
    file = tmp_path / "runs" / "r1" / "session.json"
    file.write_text('{"cook')
    assert await store.load_session("r1") is None
    file.unlink()
    assert await store.load_session("r1") is None
    await store.close()


def test_a_store_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    Database(tmp_path).close()
    with sqlite3.connect(tmp_path / "webagent.db") as connection:
        connection.execute(f"UPDATE webagent_schema SET version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="newer webagent") as caught:
        Database(tmp_path)
    assert "Upgrade webagent" in caught.value.hint


def test_opening_twice_keeps_what_is_there(tmp_path: Path) -> None:
    Database(tmp_path).close()
    first = Database(tmp_path)
    with first.write() as connection:
        connection.execute(text("INSERT INTO effects VALUES ('k', 's', 'r', 't', '{}')"))
    second = Database(tmp_path)
    with second.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM effects")).scalar() == 1
    first.close()
    second.close()


def test_a_file_that_is_no_database_is_named_as_damaged(tmp_path: Path) -> None:
    (tmp_path / "webagent.db").write_bytes(b"this is not a database, but a long enough text" * 100)
    with pytest.raises(StoreError, match="damaged") as caught:
        Database(tmp_path)
    assert "backup" in caught.value.hint
    assert type(caught.value.__cause__) is type(None)


def test_a_damaged_page_is_named_as_damaged(tmp_path: Path) -> None:
    Database(tmp_path).close()
    file = tmp_path / "webagent.db"
    raw = bytearray(file.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    file.write_bytes(raw)
    with pytest.raises(StoreError, match="damaged"), Database(tmp_path).read() as connection:
        connection.execute(text("SELECT * FROM runs")).all()


async def test_a_full_disk_keeps_nothing_of_the_append_and_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path, ManualClock())
    await store.create("r1", "cable", "e")
    lease = await store.acquire("r1", runner(1))
    await store.append(lease, 0, [started()])

    def fill(connection: sqlite3.Connection, *_more: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # SQLite takes the present size instead

    event.listen(database_of(store)._plain, "checkout", fill)
    big = done(0).model_copy(update={"note": "x" * 1_000_000})
    with pytest.raises(StoreError, match="no room left") as caught:
        await store.append(lease, 1, [big])
    assert "resume" in caught.value.hint
    assert len(await store.entries("r1")) == 1
    event.remove(database_of(store)._plain, "checkout", fill)
    with database_of(store).read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    await store.append(lease, 1, [big])
    await store.close()


async def test_a_locked_database_says_who_to_look_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "BUSY_SECONDS", 0.05)
    store = open_store(tmp_path, ManualClock())
    other = sqlite3.connect(tmp_path / "webagent.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked by another program"):
        await store.create("r1", "cable", "e")
    assert await store.runs() == ()  # reading waits for no writer
    other.execute("ROLLBACK")
    other.close()
    await store.create("r1", "cable", "e")
    await store.close()


async def test_a_read_only_database_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path, ManualClock())

    def no_writing(connection: sqlite3.Connection, *_more: object) -> None:
        connection.execute("PRAGMA query_only = 1")  # root may write any file: so it is said here

    event.listen(database_of(store)._plain, "checkout", no_writing)
    with pytest.raises(StoreError, match="cannot be written") as caught:
        await store.create("r1", "cable", "e")
    assert "WEBAGENT_STORE" in caught.value.hint
    await store.close()


def test_a_folder_that_cannot_be_made_is_a_store_error() -> None:
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        Database(Path("/proc/nowhere"))


@pytest.mark.parametrize("where", ["file", "file/below", "/dev/null"])
def test_a_store_that_is_no_folder_is_told_so(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match=r"A store is a folder, and .* is not one") as caught:
        Database(tmp_path / where)
    assert "Name a folder" in caught.value.hint


def test_a_device_and_a_folder_are_no_stores_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not an ordinary file"):
        Database("sqlite:////dev/null")
    (tmp_path / "webagent.db").mkdir()
    with pytest.raises(StoreError, match="is a folder, where its file should be"):
        Database(tmp_path)


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("anew", [False, True])
async def test_a_store_deleted_between_two_appends_keeps_and_says_nothing(
    tmp_path: Path, durable: bool, anew: bool
) -> None:
    store = open_store(tmp_path / "store", ManualClock())
    await store.create("r1", "cable", "e")
    lease = await store.acquire("r1", runner(1))
    await store.append(lease, 0, [started()], durable=True)
    shutil.rmtree(tmp_path / "store")
    if anew:
        await open_store(tmp_path / "store", ManualClock()).close()
    with pytest.raises(StoreError, match="was removed or replaced while it was in use") as caught:
        await store.append(lease, 1, [done(0)], [change("k", "intended", None)], durable=durable)
    assert "look at the sites" in caught.value.hint
    assert caught.value.exit_code == 6
    with pytest.raises(StoreError, match="removed or replaced"):
        await store.current_epoch("r1")  # the guard's look before a request goes
    assert (tmp_path / "store").exists() is anew
    await store.close()


def test_a_store_deleted_during_a_transaction_is_noticed_before_its_end(tmp_path: Path) -> None:
    database = Database(tmp_path / "store")
    with pytest.raises(StoreError, match="removed or replaced"), database.write(durable=True):
        shutil.rmtree(tmp_path / "store")
    database.close()


DAMAGES = ["{bad", "", "[]", "{}", '{"type": "NoSuchEvent"}', "[" * 100_000, "\x01"]


async def damaged(tmp_path: Path, statement: str, **values: str) -> SqlStore:
    """A store with three events, an effect and a holder, of which one row was written over."""
    store = open_store(tmp_path, ManualClock(), gone=lambda _: False)
    await store.create("r1", "cable", "e")
    lease = await store.acquire("r1", runner(1))
    await store.append(lease, 0, [started(), done(0), done(1)], [change("k", "intended", None)])
    with database_of(store).write() as connection:
        connection.execute(text(statement), values)
    return store


@pytest.mark.parametrize("body", DAMAGES)
async def test_a_damaged_event_is_named(tmp_path: Path, body: str) -> None:
    store = await damaged(tmp_path, "update events set body = :body where seq = 3", body=body)
    with pytest.raises(StoreError, match="Run r1's journal is damaged at event 3") as caught:
        await store.entries("r1")
    assert "backup" in caught.value.hint
    assert len(str(caught.value)) < 400
    await store.close()


@pytest.mark.parametrize("body", DAMAGES)
async def test_a_damaged_effect_or_holder_is_named(tmp_path: Path, body: str) -> None:
    store = await damaged(tmp_path, "update effects set body = :body", body=body)
    for look in (store.effect("k"), store.effects()):
        with pytest.raises(StoreError, match="The record of effect 'k' is damaged"):
            await look
    await store.close()
    other = tmp_path / "other"
    store = await damaged(other, "update runs set holder = :body", body=body)
    with pytest.raises(StoreError, match="who works on run r1 is damaged"):
        await store.holder("r1")
    await store.close()


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ann:hunter2@host/x",
        "sqlite://",
        "sqlite:///:memory:",
        "what",
        "://",
        "a b://c",
        "sqlite:///file:x?uri=true",
    ],
)
def test_a_url_that_is_no_store_is_bad_input(url: str) -> None:
    with pytest.raises(BadInput, match="is not a database") as caught:
        Database(url)
    assert "hunter2" not in str(caught.value)


def test_a_sqlite_file_may_be_given_by_url(tmp_path: Path) -> None:
    Database(f"sqlite:///{tmp_path / 'x.db'}").close()
    assert (tmp_path / "x.db").stat().st_size > 0


def test_a_postgres_that_is_not_there_is_a_store_error_without_its_password() -> None:
    pytest.importorskip("psycopg", reason="no driver: pip install webagent[postgres]")
    with pytest.raises(StoreError, match="WEBAGENT_STORE") as caught:
        Database("postgres://ann:hunter2@127.0.0.1:1/shop")
    assert "127.0.0.1" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_store_by_url_needs_a_folder_for_files() -> None:
    with pytest.raises(BadInput, match="folder"):
        open_store("postgresql://host/x", ManualClock())
