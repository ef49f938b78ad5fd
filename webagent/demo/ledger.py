"""What really happened on the demo's sites, kept by the sites themselves.

A run's own journal cannot prove that an order was sent once: whoever sent it twice may also
have forgotten the first time. So the sites keep a ledger of every write, and tests and the demo
count there. It knows nothing of recipes, plans or runs.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Write:
    """One request that changed something on a site."""

    n: int
    at: str
    site: str
    method: str
    path: str
    session: str
    kind: str
    data: Mapping[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The write as one JSON object; `at` is ISO 8601 in UTC."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Transition:
    """One page or attempt as the site means it (`search`, `checkout`, `order_attempt`)."""

    n: int
    at: str
    site: str
    method: str
    path: str
    session: str
    page: str
    status: int
    data: Mapping[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The transition as one JSON object; `at` is ISO 8601 in UTC."""
        return asdict(self)


def now() -> str:
    """The time of an entry: ISO 8601, UTC, with microseconds."""
    return datetime.now(UTC).isoformat()


class Ledger:
    """Every write of every site, in order, in memory and (when given a file) as JSON lines.

    Sites write from the server's thread, tests read from theirs: all methods take the lock and
    hand out copies.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._writes: list[Write] = []
        self._callbacks: list[Callable[[Write], None]] = []
        self._file = file
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)

    def record(
        self,
        *,
        site: str,
        method: str,
        path: str,
        session: str,
        kind: str,
        data: Mapping[str, object] | None = None,
    ) -> Write:
        """Append a write, flush it to the file, then tell the callbacks; returns the write.

        The callbacks run before the site answers. One that kills a client here has killed it
        after the effect and before its confirmation, which is the moment worth testing.
        """
        with self._lock:
            write = Write(
                n=len(self._writes) + 1,
                at=now(),
                site=site,
                method=method,
                path=path,
                session=session,
                kind=kind,
                data=dict(data or {}),
            )
            self._writes.append(write)
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(write.as_json(), ensure_ascii=False) + "\n")
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback(write)
        return write

    def on_write(self, callback: Callable[[Write], None]) -> Callable[[], None]:
        """Call `callback` after each write and before its answer; returns how to stop that.

        It is called in the server's thread, so it must be quick and must not call the server.
        """
        with self._lock:
            self._callbacks.append(callback)

        def stop() -> None:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return stop

    def writes(self, kind: str | None = None, site: str | None = None) -> list[Write]:
        """The writes so far, oldest first, optionally of one kind or one site."""
        with self._lock:
            return [
                write
                for write in self._writes
                if kind in (None, write.kind) and site in (None, write.site)
            ]

    def count(self, kind: str | None = None, site: str | None = None) -> int:
        """How many writes there were, optionally of one kind or one site."""
        return len(self.writes(kind, site))

    def clear(self) -> None:
        """Forget the writes in memory, and whoever was to be told of them.

        The file is left: it is the record of the process.
        """
        with self._lock:
            self._writes.clear()
            self._callbacks.clear()


class TransitionLog:
    """Which pages were visited, as the site means them; thread-safe like the ledger."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Transition] = []

    def record(
        self,
        *,
        site: str,
        method: str,
        path: str,
        session: str,
        page: str,
        status: int,
        data: Mapping[str, object] | None = None,
    ) -> None:
        """Append a transition."""
        with self._lock:
            self._entries.append(
                Transition(
                    n=len(self._entries) + 1,
                    at=now(),
                    site=site,
                    method=method,
                    path=path,
                    session=session,
                    page=page,
                    status=status,
                    data=dict(data or {}),
                )
            )

    def entries(self, site: str | None = None, page: str | None = None) -> list[Transition]:
        """The transitions so far, oldest first, optionally of one site or one kind of page."""
        with self._lock:
            return [
                entry
                for entry in self._entries
                if site in (None, entry.site) and page in (None, entry.page)
            ]

    def pages(self, site: str | None = None) -> list[str]:
        """The kinds of page visited, in order."""
        return [entry.page for entry in self.entries(site)]

    def count(self, page: str | None = None, site: str | None = None) -> int:
        """How often a kind of page was visited."""
        return len(self.entries(site, page))

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
