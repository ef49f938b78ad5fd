"""What every fixture site has: two markups, sessions, form tokens, a ledger, faces.

A site says which pages it has under which path in each markup and how each is answered; this
module does the rest. It knows no shop and no form.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webagent.demo.behaviour import HYDRATION, Weather, unavailable
from webagent.demo.ledger import Ledger, TransitionLog
from webagent.demo.sessions import COOKIE, Session, SessionBook
from webagent.demo.switches import Markup, Switches

TEMPLATES = Path(__file__).parent / "templates"


AS_IN_V1 = "as in v1"


@dataclass(frozen=True)
class Place:
    """A page's path in each markup; None where that markup has no such page."""

    v1: str | None
    v2: str | None
    reorganised: str | None = AS_IN_V1

    def at(self, markup: Markup) -> str | None:
        """The path in one markup, with `{holes}`."""
        match markup:
            case "v1":
                return self.v1
            case "v2":
                return self.v2
            case "reorganised":
                return self.v1 if self.reorganised == AS_IN_V1 else self.reorganised


@dataclass(frozen=True)
class Visit:
    """One request: who asks, and in which markup the site answers."""

    site: Site
    request: Request
    session: Session
    markup: Markup

    def path(self, place: str, **holes: object) -> str:
        """The path of a place in this visit's markup; holes that are no path part are query."""
        pattern = self.site.places[place].at(self.markup)
        if pattern is None:
            raise LookupError(f"{self.site.host} has no {place} in {self.markup}")
        query: dict[str, str] = {}
        for name, value in holes.items():
            hole = "{" + name + "}"
            if hole in pattern:
                pattern = pattern.replace(hole, quote(str(value)))
            else:
                query[name] = str(value)
        return f"{pattern}?{urlencode(query)}" if query else pattern

    def hole(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def query(self, name: str, default: str = "") -> str:
        """A trimmed parameter of the query."""
        return self.request.query_params.get(name, default).strip()

    def number(self, name: str, default: int = 1) -> int:
        """A query parameter as a number of at least 1; anything else is the default."""
        text = self.query(name)
        return int(text) if text.isdecimal() and int(text) > 0 else default

    async def form(self) -> FormData:
        """The posted form.

        Raises:
            HTTPException: 403, if the form's token is not the session's.
        """
        form = await self.request.form()
        if form.get("csrf") != self.session.csrf:
            raise HTTPException(403, "This form is no longer valid. Please open it again.")
        return form

    def go(self, place: str, **holes: object) -> Response:
        """A 303 to another place: the answer to a form."""
        return RedirectResponse(self.path(place, **holes), status_code=303)


def text(form: FormData, name: str) -> str:
    """A trimmed text field of a form; empty if it is missing or a file."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


Handler = Callable[[Visit], Awaitable[Response]]
Answer = tuple[str, str, Handler]
"""Method, name of the place, and how it is answered."""


class Site:
    """One web site under one host name; an ASGI app."""

    places: ClassVar[Mapping[str, Place]]
    words: ClassVar[Mapping[str, str]] = {}
    """What v2 calls what v1 calls so; words that are missing stay."""

    def __init__(self, host: str, ledger: Ledger, transitions: TransitionLog) -> None:
        self.host = host
        self.ledger = ledger
        self.transitions = transitions
        self.switches = self.make_switches()
        self.sessions = SessionBook()
        self.weather = Weather()
        self._pages: dict[Markup, Environment] = {
            markup: Environment(
                loader=FileSystemLoader(list(self.folders(markup))),
                autoescape=True,
                undefined=StrictUndefined,
                trim_blocks=True,
                lstrip_blocks=True,
            )
            for markup in self.switches.markups
        }
        self._apps: dict[Markup, ASGIApp] = {
            markup: self._app(markup) for markup in self.switches.markups
        }

    # --- what a site fills in ---

    def make_switches(self) -> Switches:
        """The site's faults, all off."""
        return Switches()

    def folders(self, markup: Markup) -> Sequence[Path]:
        """Where the templates of a markup are looked for, in order."""
        raise NotImplementedError

    def answers(self) -> Sequence[Answer]:
        """Every page and form of the site."""
        raise NotImplementedError

    def frame(self, visit: Visit) -> Mapping[str, object]:
        """What every template of the site is given beside its own values."""
        del visit
        return {}

    def reset(self) -> None:
        """Back to how the site started: switches, sessions, chance and content."""
        self.switches = self.make_switches()
        self.sessions = SessionBook()
        self.weather.reset()

    # --- what its handlers use ---

    def page(
        self, visit: Visit, template: str, *, page: str, status: int = 200, **values: object
    ) -> Response:
        """Render a template and log the visit as the kind of page that it is."""

        def say(words: str) -> str:
            return self.words.get(words, words) if visit.markup == "v2" else words

        html = (
            self._pages[visit.markup]
            .get_template(template)
            .render(
                visit=visit,
                session=visit.session,
                path=visit.path,
                say=say,
                csrf=visit.session.csrf,
                page=page,
                **self.frame(visit),
                **values,
            )
        )
        if self.switches.face == "slow":
            html = html.replace("</body>", f"{HYDRATION}</body>")
        self.seen(visit, page, status)
        return HTMLResponse(html, status_code=status)

    def seen(self, visit: Visit, page: str, status: int = 200, **data: object) -> None:
        """Log a transition that has no page of its own (an attempt, a JSON answer)."""
        self.transitions.record(
            site=self.host,
            method=visit.request.method,
            path=_target(visit.request),
            session=visit.session.label,
            page=page,
            status=status,
            data=data,
        )

    def wrote(self, visit: Visit, kind: str, **data: object) -> None:
        """Record a write. To be called after the change and before the answer."""
        self.ledger.record(
            site=self.host,
            method=visit.request.method,
            path=_target(visit.request),
            session=visit.session.label,
            kind=kind,
            data={"owner": visit.session.owner, **data},
        )

    async def refused(self, visit: Visit, status: int, detail: str) -> Response:
        """The page for a status of 400 and more."""
        name = "not_found" if status == 404 else "refused"
        return self.page(
            visit, "message.html", page=name, status=status, number=status, detail=detail
        )

    # --- serving ---

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request in the face of the moment."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope, receive)
        self._count_down()
        session, made = self.sessions.of(request.cookies.get(COOKIE))
        scope["session_here"] = session

        if _is_document(request):
            url = _target(request)
            if self.switches.refuse_next > 0:
                self.switches.refuse_next -= 1
                await unavailable()(scope, receive, send)
                return
            if self.switches.face == "flaky" and self.weather.fails(url):
                await unavailable()(scope, receive, send)
                return
            if self.switches.face == "slow":
                await self.weather.delay()

        async def send_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = self.extra_headers()
                if made:
                    extra.append((b"set-cookie", _cookie(session)))
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        await self._apps[self.switches.markup](scope, receive, send_cookie)

    def extra_headers(self) -> list[tuple[bytes, bytes]]:
        """Headers that every answer of the site carries at the moment."""
        return []

    def _count_down(self) -> None:
        left = self.switches.logout_after
        if left is None:
            return
        if left == 0:
            self.sessions.drop_all()
            self.switches.logout_after = None
        else:
            self.switches.logout_after = left - 1

    def _visit(self, request: Request, markup: Markup) -> Visit:
        return Visit(self, request, request.scope["session_here"], markup)

    def _app(self, markup: Markup) -> Starlette:
        routes = []
        for method, place, handler in self.answers():
            pattern = self.places[place].at(markup)
            if pattern is not None:
                routes.append(Route(pattern, self._endpoint(handler, markup), methods=[method]))

        async def on_error(request: Request, error: Exception) -> Response:
            status = error.status_code if isinstance(error, HTTPException) else 500
            detail = error.detail if isinstance(error, HTTPException) else "Something broke."
            return await self.refused(self._visit(request, markup), status, detail)

        return Starlette(routes=routes, exception_handlers={HTTPException: on_error})

    def _endpoint(
        self, handler: Handler, markup: Markup
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await handler(self._visit(request, markup))

        return endpoint


def _target(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def _is_document(request: Request) -> bool:
    """Whether a person would call this request a page; JSON and icons are not."""
    path = request.url.path
    return request.method == "GET" and not path.startswith(("/api/", "/favicon", "/assets/"))


def _cookie(session: Session) -> bytes:
    return f"{COOKIE}={session.cookie}; Path=/; HttpOnly; SameSite=Lax".encode()
