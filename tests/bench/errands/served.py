"""The errand sites on a loopback port, under their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from starlette.types import Receive, Scope, Send

from tests.bench.errands.faults import Books, Fault
from tests.bench.errands.site import HOSTS, Desk
from tests.bench.errands.task import Errand
from webagent.demo.ledger import Ledger, TransitionLog
from webagent.demo.serving import HostServer
from webagent.demo.site import Site


@dataclass
class _Named:
    """The desk under one of its names, as a server of sites takes it."""

    host: str
    desk: Desk = field(repr=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.desk.app(scope, receive, send)


class DeskServer(HostServer):
    """Both errand sites; a context manager. `begin` before each run."""

    def __init__(self) -> None:
        self.desk = Desk()
        named = [cast(Site, _Named(host, self.desk)) for host in HOSTS]
        super().__init__(named, Ledger(None), TransitionLog())

    def begin(self, errand: Errand, fault: Fault | None = None) -> Books:
        """A fresh start for an errand; what the sites will keep of it."""
        return self.desk.begin(errand, fault)
