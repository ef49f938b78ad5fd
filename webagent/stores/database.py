"""One database: how it is opened, how a transaction begins, and what its failures are called.

SQLite by default (a file of one's own, 0600, in WAL), Postgres by URL. Nothing of SQLAlchemy or a
driver leaves this room as an exception: each becomes a StoreError that says what to do.

Two engines, one for ordinary and one for durable writes, differ in what their connections were told
at birth (SQLite: ``synchronous`` NORMAL or FULL): a setting that is never switched cannot be left
switched wrongly. In WAL with NORMAL a commit survives the death of the process; with FULL it is on
the disk, and everything committed before it as well.

A deleted file stays writable for who has it open: what SQLite then keeps, nobody will ever read. So
each transaction sees first that the file of that name is still the one that was opened.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from webagent.core.errors import BadInput, StoreError
from webagent.stores.tables import METADATA, SCHEMA, SCHEMA_VERSION, SIGHTINGS

BUSY_SECONDS = 5.0
CONNECT_SECONDS = 10
DATABASE_FILE = "webagent.db"

_READING = {"webagent_reading": True}
_SCHEMA_LOCK = 7_262_031  # any number: the advisory lock under which the tables are made


class Database:
    """Transactions on one database. ``place``: a folder, or a URL (postgresql://… or sqlite:///…)."""

    def __init__(self, place: Path | str) -> None:
        url = _url_of(place)
        self.name = url.database or "" if _is_sqlite(url) else url.render_as_string()
        self.is_sqlite = _is_sqlite(url)
        if self.is_sqlite:
            self._file = Path(self.name).absolute()
            self._identity = _make_file(self._file)
        self._plain = _engine(url, durable=False)
        self._durable = _engine(url, durable=True)
        try:
            self._prepare()
        except StoreError:
            self.close()
            raise

    @contextmanager
    def write(self, *, durable: bool = False) -> Iterator[Connection]:
        """A transaction that no other writer overlaps; kept at the end, undone by any exception.

        Raises StoreError when the file was removed or replaced, also while the transaction ran.
        """
        self._see_the_file()
        with (
            self._named_errors(),
            (self._durable if durable else self._plain).begin() as connection,
        ):
            yield connection
            self._see_the_file()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent look, which on SQLite waits for no writer. Raises as `write` does."""
        self._see_the_file()
        with self._named_errors(), self._plain.connect() as connection:
            yield connection.execution_options(**_READING)

    def close(self) -> None:
        """Let go of files and connections."""
        self._plain.dispose()
        self._durable.dispose()

    def _see_the_file(self) -> None:
        """Raise StoreError unless the opened file is still the one of its name (3 µs)."""
        if not self.is_sqlite:
            return
        try:
            found = os.stat(self._file)  # noqa: PTH116 - half the time of Path.stat, for each append
        except OSError:
            raise _removed(self.name) from None
        if (found.st_dev, found.st_ino) != self._identity:
            raise _removed(self.name)

    def _prepare(self) -> None:
        """Make the tables, or see that they are of a shape that this program knows."""
        if not self.is_sqlite:
            with self.write() as connection:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")
                self._make_tables(connection)
            return
        try:
            with FileLock(f"{self.name}.lock", timeout=BUSY_SECONDS, mode=0o600):
                with self._named_errors(), self._plain.connect() as connection:
                    # On the driver's own cursor: the mode cannot change inside a transaction.
                    connection.connection.cursor().execute("PRAGMA journal_mode=WAL")
                with self.write() as connection:
                    self._make_tables(connection)
        except Timeout:
            raise _locked(self.name) from None
        except OSError as error:
            raise _not_ours(self.name, error) from None

    def _make_tables(self, connection: Connection) -> None:
        if not inspect(connection).has_table(SCHEMA.name):
            METADATA.create_all(connection)
            connection.execute(insert(SCHEMA).values(version=SCHEMA_VERSION))
            return
        found = connection.execute(select(SCHEMA.c.version)).scalar()
        if found is not None and found > SCHEMA_VERSION:
            raise StoreError(
                f"The store {self.name} was made by a newer webagent (its shape is {found}, this "
                f"program knows {SCHEMA_VERSION}). Nothing was changed.",
                hint="Upgrade webagent, or name another store: WEBAGENT_STORE=FOLDER",
            )
        # For stores from before sightings; an older program leaves that table alone.
        SIGHTINGS.create(connection, checkfirst=True)

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._named(error.orig) from None
        except SQLAlchemyError as error:
            raise StoreError(f"The store {self.name} failed: {error}") from None
        except sqlite3.Error as error:  # from the settings of a new connection
            raise self._named(error) from None

    def _named(self, error: BaseException | None) -> StoreError:
        if isinstance(error, sqlite3.Error):
            return _sqlite_error(self.name, error)
        text = " ".join(str(error).split())
        return StoreError(
            f"The database {self.name} failed: {text}",
            hint="See that the server runs and that WEBAGENT_STORE is right; then resume.",
        )


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _url_of(place: Path | str) -> URL:
    if isinstance(place, Path):
        return URL.create("sqlite", database=str(place / DATABASE_FILE))
    try:
        url = make_url(place)
        backend = url.get_backend_name()
    except ArgumentError:
        backend, url = "", URL.create("none")
    match backend:
        case "sqlite" if url.database and not url.database.startswith((":", "file:")):
            return url
        case "postgresql" | "postgres":
            return url.set(drivername="postgresql+psycopg")
        case _:
            pass
    raise BadInput(
        f"{url.render_as_string() if backend else 'This'} is not a database for a store.",
        hint="Give a folder, or postgresql://USER@HOST/NAME, or sqlite:///FILE.",
    )


def _make_file(file: Path) -> tuple[int, int]:
    """Make the database's file for its owner alone; SQLite's companion files get its mode.

    Returns which file it is: its device and inode.
    """
    for place in (file.parent, *file.parent.parents):
        if place.exists() and not place.is_dir():
            raise _no_folder(place)
    try:
        if not file.parent.is_dir():
            file.parent.mkdir(mode=0o700, parents=True)
            # Journals do not belong into a repository by accident.
            (file.parent / ".gitignore").write_text("*\n", "ascii")
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            made = os.fstat(handle)
        finally:
            os.close(handle)
    except IsADirectoryError:
        raise StoreError(
            f"The store {file} is a folder, where its file should be.",
            hint="Move that folder away, or name another store: WEBAGENT_STORE=FOLDER",
        ) from None
    except OSError as error:
        raise _not_ours(str(file), error) from None
    if not stat.S_ISREG(made.st_mode):
        raise StoreError(
            f"The store {file} is not an ordinary file (a device or a pipe).",
            hint="Name a folder, which is made if needed: WEBAGENT_STORE=FOLDER",
        )
    return made.st_dev, made.st_ino


def _engine(url: URL, *, durable: bool) -> Engine:
    if _is_sqlite(url):
        engine = create_engine(
            url, connect_args={"timeout": BUSY_SECONDS}, hide_parameters=True, pool_size=4
        )
        event.listen(engine, "connect", _sqlite_settings(durable=durable))
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    # A server may have been told to answer before it has written.
    options = f"-c synchronous_commit={'on' if durable else 'local'}"
    try:
        return create_engine(
            url,
            connect_args={"connect_timeout": CONNECT_SECONDS, "options": options},
            hide_parameters=True,
            pool_pre_ping=True,
            pool_size=4,
        )
    except ModuleNotFoundError as error:
        raise BadInput(
            f"A Postgres store needs {error.name}.", hint='pip install "webagent[postgres]"'
        ) from None


def _sqlite_settings(*, durable: bool) -> Any:
    def set_up(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where _begin_sqlite says, and how
        connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")

    return set_up


def _begin_sqlite(connection: Connection) -> None:
    """Take the write lock at once: a reader that turns writer could only fail."""
    reading = connection.get_execution_options().get("webagent_reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _locked(name: str) -> StoreError:
    return StoreError(
        f"The store {name} was locked by another program for {BUSY_SECONDS:.0f} seconds.",
        hint="Close what has it open (a database browser, a backup), then resume.",
    )


def _removed(name: str) -> StoreError:
    return StoreError(
        f"The store's file {name} was removed or replaced while it was in use. Nothing more was "
        "kept or sent.",
        hint="Let one store stay where it is while a run works. If you can, put the old file back "
        "and resume; else look at the sites before you repeat an errand that orders or sends "
        "something, because a new store does not know what was done.",
    )


def _no_folder(place: Path) -> StoreError:
    return StoreError(
        f"A store is a folder, and {place} is not one.",
        hint="Name a folder, which is made if needed: WEBAGENT_STORE=FOLDER",
    )


def _not_ours(name: str, error: OSError) -> StoreError:
    return StoreError(
        f"The store {name} cannot be opened for writing: {error.strerror or error}.",
        hint="Give this user the right to write there, or name another: WEBAGENT_STORE=FOLDER",
    )


def _sqlite_error(name: str, error: sqlite3.Error) -> StoreError:
    kind = getattr(error, "sqlite_errorname", "")
    match kind.removeprefix("SQLITE_").split("_", 1)[0]:
        case "NOTADB" | "CORRUPT":
            return StoreError(
                f"The store {name} is damaged, or is no database: {error}.",
                hint="Put a backup in its place, or move it away: an empty one is made anew. Then "
                "look at the sites before you repeat an errand that orders or sends something.",
            )
        case "FULL":
            return StoreError(
                f"The store {name} has no room left: the last events were not kept.",
                hint="Make room on the disk, then resume the run.",
            )
        case "BUSY" | "LOCKED":
            return _locked(name)
        case "READONLY" | "CANTOPEN" | "PERM" | "AUTH":
            return StoreError(
                f"The store {name} cannot be written: {error}.",
                hint="Give this user the right to write there, or name another: "
                "WEBAGENT_STORE=FOLDER",
            )
        case _:
            pass
    return StoreError(
        f"The store {name} failed: {error} ({kind or type(error).__name__}).",
        hint="See that its disk is well, then resume the run.",
    )
