"""A small HTTP server for pages that a single test writes down, with a list of what reached it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

HTML = "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><body>{body}</body>"


@dataclass
class Answer:
    """What a path answers; ``after`` is how long it takes (seconds), ``gate`` what it waits for."""

    body: str | bytes = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after: float = 0.0
    gate: asyncio.Event | None = None


@dataclass(frozen=True)
class Arrival:
    """A request that reached the server."""

    method: str
    host: str
    path: str
    body: str
    headers: dict[str, str]


def html(body: str, title: str = "A page", **more: Any) -> Answer:
    """A page."""
    answer = Answer(HTML.format(title=title, body=body), **more)
    answer.headers.setdefault("Content-Type", "text/html; charset=utf-8")
    return answer


class PageServer:
    """Answers by path, whatever the host; an unknown path is a 404."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.arrivals: list[Arrival] = []
        self._server: asyncio.Server | None = None
        self._arrived = asyncio.Event()
        self._serving: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._begin, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        assert self._server is not None
        self.reset()
        self._server.close()
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def reset(self) -> None:
        for answer in self.pages.values():
            if answer.gate is not None:
                answer.gate.set()
        self.pages.clear()
        self.arrivals.clear()

    async def reached(self, path: str) -> None:
        """Return when a request for the path has come."""
        while not self.hits(path):
            self._arrived.clear()
            await self._arrived.wait()

    def hits(self, path: str, method: str | None = None) -> int:
        """How many requests came for a path."""
        return sum(1 for a in self.arrivals if a.path == path and method in (None, a.method))

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readline()).decode()
            if not line.strip():
                return
            method, target, _ = line.split()
            headers: dict[str, str] = {}
            while (raw := (await reader.readline()).decode()).strip():
                name, _, value = raw.partition(":")
                headers[name.lower()] = value.strip()
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            path = urlsplit(target).path
            self.arrivals.append(
                Arrival(
                    method, headers.get("host", ""), path, body.decode(errors="replace"), headers
                )
            )
            self._arrived.set()
            answer = self.pages.get(path, Answer("nothing here", 404))
            await asyncio.sleep(answer.after)
            if answer.gate is not None:
                await answer.gate.wait()
            content = answer.body.encode() if isinstance(answer.body, str) else answer.body
            head = [f"HTTP/1.1 {answer.status} X", f"Content-Length: {len(content)}"]
            head += ["Connection: close", *(f"{k}: {v}" for k, v in answer.headers.items())]
            writer.write("\r\n".join([*head, "", ""]).encode() + content)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the browser went away, which some tests want
        finally:
            writer.close()
