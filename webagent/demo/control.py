"""The control host: reading the ledger and turning the switches over HTTP.

It answers only to its own host name, which is not among those that the browser is given: a
page cannot look into the ledger or change a face.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from webagent.demo.ledger import Ledger, TransitionLog
from webagent.demo.site import Site
from webagent.demo.switches import UnknownSwitch

CONTROL_HOST = "control.test"


class Controlled(Protocol):
    """What the control host controls."""

    ledger: Ledger
    transitions: TransitionLog

    @property
    def sites(self) -> Mapping[str, Site]:
        """The sites by host."""

    def set_fault(self, site: str, fault: str, value: object) -> None:
        """Set a fault."""

    def reset_here(self) -> None:
        """Everything as it started; called in the server's loop."""


def control_app(server: Controlled) -> Starlette:
    """The control host's app: JSON in, JSON out."""

    async def ledger(request: Request) -> Response:
        query = request.query_params
        writes = server.ledger.writes(query.get("kind"), query.get("site"))
        return JSONResponse([write.as_json() for write in writes])

    async def transitions(request: Request) -> Response:
        query = request.query_params
        entries = server.transitions.entries(query.get("site"), query.get("page"))
        return JSONResponse([entry.as_json() for entry in entries])

    async def switches(request: Request) -> Response:
        del request
        return JSONResponse(
            {host: site.switches.model_dump(mode="json") for host, site in server.sites.items()}
        )

    async def face(request: Request) -> Response:
        return await _set(request, "face", "face")

    async def fault(request: Request) -> Response:
        return await _set(request, None, "value")

    async def _set(request: Request, name: str | None, value: str) -> Response:
        try:
            order = json.loads(await request.body())
            server.set_fault(order["site"], name or order["fault"], order[value])
        except (UnknownSwitch, LookupError, TypeError, ValueError) as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        return JSONResponse({"ok": True})

    async def reset(request: Request) -> Response:
        del request
        server.reset_here()
        return JSONResponse({"ok": True})

    return Starlette(
        routes=[
            Route("/ledger", ledger),
            Route("/transitions", transitions),
            Route("/switches", switches),
            Route("/face", face, methods=["POST"]),
            Route("/fault", fault, methods=["POST"]),
            Route("/reset", reset, methods=["POST"]),
        ]
    )
