"""One small server on one loopback port, for any number of sites told apart by host name.

Cookies ignore ports, so two sites on 127.0.0.1 would overwrite each other's; with names they
do not. The browser learns the names from `--host-resolver-rules`. The server runs in a thread
with a loop of its own, so synchronous tests and asynchronous ones use it alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from webagent.demo.catalogue import ShopLetter
from webagent.demo.control import CONTROL_HOST, control_app
from webagent.demo.ledger import Ledger, TransitionLog
from webagent.demo.shops import make_shop
from webagent.demo.site import Site

_START_SECONDS = 10.0


class _CuttableHTTP(H11Protocol):
    """uvicorn's HTTP, with the transport in the ASGI state: `hang_up` closes it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        self.app_state = {**self.app_state, "transport": transport}
        super().connection_made(transport)


class Hosts:
    """The ASGI app that gives each request to the site of its Host header."""

    def __init__(self, apps: Mapping[str, ASGIApp]) -> None:
        self._apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Dispatch; 421 for a host that is not here."""
        if scope["type"] == "lifespan":
            return
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").partition(":")[0]
        app = self._apps.get(host.lower())
        if app is not None:
            await app(scope, receive, send)
        elif scope["type"] == "http":
            answer = PlainTextResponse(f"No site {host!r} on this server.\n", status_code=421)
            await answer(scope, receive, send)


class HostServer:
    """Sites on one loopback port, with their ledger, log and switches; a context manager.

    Args:
        sites: the sites, each of which knows its host.
        ledger: the ledger into which they write.
        transitions: the log into which they write.
        port: the port to take; 0 takes a free one.
        aliases: further names of sites, name to host.
    """

    def __init__(
        self,
        sites: Iterable[Site],
        ledger: Ledger,
        transitions: TransitionLog,
        port: int = 0,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.sites: dict[str, Site] = {site.host: site for site in sites}
        self.ledger = ledger
        self.transitions = transitions
        self._wanted_port = port
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._aliases = dict(aliases or {})
        apps: dict[str, ASGIApp] = {**self.sites, CONTROL_HOST: control_app(self)}
        for alias, host in self._aliases.items():
            apps[alias] = self.sites[host]
        config = uvicorn.Config(
            Hosts(apps),
            http=_CuttableHTTP,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=60,
        )
        self._server = uvicorn.Server(config)

    # --- life ---

    def start(self) -> Self:
        """Listen and serve in a thread; returns when requests are answered."""
        # The protocol is named because asyncio switches Nagle's delay off only if it is: each
        # page would take 40 ms more.
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self._wanted_port))
        self._socket = listening
        self._thread = threading.Thread(target=self._serve, name="sites", daemon=True)
        self._thread.start()
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if time.monotonic() > deadline or not self._thread.is_alive():
                raise RuntimeError("the sites' server did not start")
            time.sleep(0.002)
        return self

    def stop(self) -> None:
        """Stop at once; requests that are still held are dropped."""
        self._server.should_exit = True
        self._server.force_exit = True
        if self._thread is not None:
            self._thread.join(timeout=_START_SECONDS)
        if self._socket is not None:
            self._socket.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _serve(self) -> None:
        assert self._socket is not None
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            with contextlib.suppress(asyncio.CancelledError):
                runner.run(self._server.serve(sockets=[self._socket]))

    # --- where ---

    @property
    def port(self) -> int:
        """The port that is listened on."""
        if self._socket is None:
            raise RuntimeError("the server is not started")
        number: int = self._socket.getsockname()[1]
        return number

    @property
    def _names(self) -> list[str]:
        return [*self.sites, *self._aliases]

    @property
    def hosts(self) -> str:
        """The value for WEBAGENT_HOSTS. The control host is left out: pages must not reach it."""
        return ",".join(f"{host}=127.0.0.1:{self.port}" for host in self._names)

    @property
    def resolver_rules(self) -> str:
        """The value for Chromium's --host-resolver-rules; every other name is not found."""
        rules = [f"MAP {host}:80 127.0.0.1:{self.port}" for host in self._names]
        return ", ".join([*rules, "MAP * ~NOTFOUND"])

    # --- switches ---

    def set_face(self, site: str, face: str) -> None:
        """Change a site's face.

        Raises:
            UnknownSwitch: there is no such face.
            LookupError: there is no such site.
        """
        self.set_fault(site, "face", face)

    def set_fault(self, site: str, fault: str, value: object) -> None:
        """Set one of a site's faults; None switches it off.

        Raises:
            UnknownSwitch: the site has no such fault, or the value does not fit it.
            LookupError: there is no such site.
        """
        self.site(site).switches.set(fault, value)

    def site(self, host: str) -> Site:
        """The site of a host name."""
        if host not in self.sites:
            raise LookupError(f"no site {host!r}; there are {', '.join(self.sites)}")
        return self.sites[host]

    def reset(self) -> None:
        """All sites as they started, ledger and log empty. Callable from any thread."""
        loop = self._loop
        if loop is None or not loop.is_running() or threading.current_thread() is self._thread:
            self.reset_here()
            return
        self._in_loop(loop, self.reset_here)

    def reset_here(self) -> None:
        """What `reset` does, for callers in the server's loop."""
        for site in self.sites.values():
            site.reset()
        self.ledger.clear()
        self.transitions.clear()

    @staticmethod
    def _in_loop(loop: asyncio.AbstractEventLoop, change: Callable[[], None]) -> None:
        async def run() -> None:
            change()

        asyncio.run_coroutine_threadsafe(run(), loop).result(timeout=_START_SECONDS)


class ShopServer(HostServer):
    """The demo's two shops on a free port."""

    def __init__(
        self,
        *,
        ledger_file: Path | None = None,
        port: int = 0,
        cheaper: ShopLetter = "a",
        require_login: bool | None = None,
    ) -> None:
        ledger, transitions = Ledger(ledger_file), TransitionLog()
        shops = [
            make_shop(letter, ledger, transitions, cheaper=cheaper, require_login=require_login)
            for letter in ("a", "b")
        ]
        super().__init__(shops, ledger, transitions, port)
