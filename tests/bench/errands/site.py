"""The two errand sites: a desk that is signed in to, and a booking office that writes.

One application for both names. It knows the errand, checks every form on its own, and keeps a
ledger: each booking that was applied, each page that was loaded. One fault at one step can be
switched on; what it does is told in `faults.FaultKind`.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.bench.errands import markup
from tests.bench.errands.faults import Books, Fault, FaultKind
from tests.bench.errands.task import (
    BOOK,
    DEPARTMENTS,
    DESK,
    PASSWORD,
    SIZES,
    USER,
    Errand,
    Task,
    make_errand,
)
from webagent.demo.behaviour import hang_up


class Desk:
    """Both sites for one errand; `begin` puts another errand in its place."""

    def __init__(self) -> None:
        self.begin(make_errand("chain", 2), None)
        self.app = Starlette(
            routes=[
                Route("/login", self._login, methods=["GET", "POST"]),
                Route("/tickets/{item}", self._ticket),
                Route("/archive/tickets/{item}", self._ticket),
                Route("/tickets/{item}/open", self._opened),
                Route("/items/{item}", self._item),
                Route("/items/{item}/price", self._price),
                Route("/slots/{item}", self._slot, methods=["GET", "POST"]),
                Route("/bookings", self._bookings),
                Route("/bookings/{code}", self._booked),
                Route("/favicon.ico", _nothing),
                Route("/{rest:path}", self._else),
            ]
        )

    def begin(self, errand: Errand, fault: Fault | None) -> Books:
        """Everything as at the start, for this errand; what will be kept of it."""
        self.errand = errand
        self.fault = fault
        self.books = Books()
        self._struck = False
        self._sessions: set[str] = set()
        self._numbers = itertools.count(1)
        self._versions: dict[str, int] = {}
        self._by_item = {t.item: t for t in errand.tasks if t.item}
        self._rates = {t.item: _number(f"rate {t.item}", 500, 9000) / 100 for t in errand.tasks}
        return self.books

    # -- what holds ---------------------------------------------------------------------------

    def code(self, task: Task) -> str:
        """The code that a step gives now."""
        if task.kind == "sign_in":
            return "D-4077"
        if task.kind == "price":
            return f"{self._rates[task.item]:.2f}"
        if task.kind == "booking":
            found = [code for slot, _, code in self.books.bookings if slot == self._slot_of(task)]
            return found[-1] if found else ""
        return f"C-{_number(f'{task.item} {self._versions.get(task.item, 0)}', 10000, 99999)}"

    @property
    def cheapest(self) -> str:
        """The item that a fan-in chooses."""
        rates = {t.item: self._rates[t.item] for t in self.errand.tasks if t.kind == "price"}
        return min(rates, key=rates.__getitem__)

    def wanted(self) -> list[str]:
        """The slots that the errand books when all goes well."""
        return [self._slot_of(t) for t in self.errand.bookings]

    def _slot_of(self, task: Task) -> str:
        return self.cheapest if task.chosen else task.item

    def _hits(self, task: Task | None, *kinds: FaultKind) -> bool:
        fault = self.fault
        return (
            fault is not None
            and task is not None
            and (fault.number == task.number and fault.kind in kinds)
        )

    def _strike(self, task: Task | None, *kinds: FaultKind) -> bool:
        """Whether this happens now, for the only time."""
        if self._struck or not self._hits(task, *kinds):
            return False
        self._struck = True
        return True

    def _labels(self, task: Task) -> Mapping[str, str]:
        return _NEW_LABELS if self._hits(task, "label changed") else {}

    # -- pages --------------------------------------------------------------------------------

    def _page(
        self, request: Request, title: str, main: str, *, status: int = 200, aside: str = ""
    ) -> Response:
        self.books.pages.append(f"{request.method} {request.url.path} {status}")
        signed = self._signed_in(request)
        return HTMLResponse(markup.page(title, main, aside=aside, signed_in=signed), status)

    def _signed_in(self, request: Request) -> bool:
        return request.cookies.get("desk") in self._sessions

    def _turned_away(self, request: Request) -> Response | None:
        if self._signed_in(request):
            return None
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?next={quote(target)}", 303)

    async def _login(self, request: Request) -> Response:
        onwards = request.query_params.get("next", "")
        if request.method == "POST":
            given = await request.form()
            if (given.get("user"), given.get("password")) == (USER, PASSWORD):
                session = f"s{next(self._numbers)}"
                self._sessions.add(session)
                answer = RedirectResponse(onwards or "/login", 303)
                answer.set_cookie("desk", session, httponly=True)
                return answer
            return self._sign_in_form(request, onwards, "User or password is wrong.", 401)
        if self._signed_in(request):
            told = markup.result("Desk code", self.code(self.errand.task(1)), {"User": USER})
            return self._page(request, "You are signed in", told)
        return self._sign_in_form(request, onwards, "")

    def _sign_in_form(
        self, request: Request, onwards: str, error: str, status: int = 200
    ) -> Response:
        action = f"/login?next={quote(onwards)}" if onwards else "/login"
        inner = markup.field("User", "user") + markup.field("Password", "password", kind="password")
        made = markup.form(action, inner, "Sign in", method="post")
        wrong = markup.alert(error) if error else ""
        return self._page(request, "Sign in to the desk", wrong + made, status=status)

    async def _ticket(self, request: Request) -> Response:
        item = request.path_params["item"]
        task = self._by_item.get(item)
        if self._strike(task, "session lost"):
            self._sessions.clear()
        if away := self._turned_away(request):
            return away
        if task is None or task.kind != "ticket":
            return await self._else(request)
        archived = request.url.path.startswith("/archive")
        if self._hits(task, "page moved") != archived:
            link = f'<p>It is here now: <a href="/archive/tickets/{item}">Ticket {item}</a></p>'
            return self._page(request, "This page has moved", link if not archived else "",
                              status=404)  # fmt: skip
        if self._hits(task, "page inserted") and "seen" not in request.query_params:
            link = f'<p><a href="/tickets/{item}?seen=1">Continue to ticket {item}</a></p>'
            words = "<p>The desk is closed on Sunday. Please plan your work.</p>"
            return self._page(request, "A notice for everybody", words + link)
        if self._strike(task, "value gone upstream"):
            upstream = self.errand.task(task.needs[0])
            self._versions[upstream.item] = self._versions.get(upstream.item, 0) + 1
        return self._ticket_form(request, task, "")

    def _ticket_form(self, request: Request, task: Task, error: str) -> Response:
        wrong = markup.alert(error) if error else ""
        made = self._ticket_fields(task, _other(task.item))
        facts = markup.result("State", "closed", {"Owner": "Desk", "Ticket": task.item})
        title = f"Ticket {task.item}"
        if self._hits(task, "element moved"):
            section = f"<section><h3>Open it</h3><div>{wrong}{made}</div></section>"
            return self._page(request, title, facts, aside=section)
        return self._page(request, title, wrong + made + facts)

    def _ticket_fields(self, task: Task, chosen: str) -> str:
        labels = self._labels(task)
        inner = markup.select(labels.get("Department", "Department"), "department", DEPARTMENTS)
        for name, label in _code_fields(task):
            inner += markup.field(labels.get(label, label), name)
        if self._hits(task, "wrong item preselected"):
            inner += markup.select("Ticket", "ticket", (_other(task.item), task.item), chosen)
        button = labels.get("Open ticket", "Open ticket")
        return markup.form(f"/tickets/{task.item}/open", inner, button)

    async def _opened(self, request: Request) -> Response:
        if away := self._turned_away(request):
            return away
        task = self._by_item.get(request.path_params["item"])
        if task is None:
            return await self._else(request)
        given = dict(request.query_params)
        if error := self._mistake(task, given):
            return self._ticket_form(request, task, error)
        item, code, more = task.item, self.code(task), ""
        if given.get("ticket", item) != item:
            item, code = given["ticket"], f"C-{_number(given['ticket'], 10000, 99999)}"
            # As on many sites, the form stays below what it brought.
            more = self._ticket_fields(task, item)
        told = markup.result("Next code", code, {"Department": task.choice, "Owner": "Desk"})
        return self._page(request, f"Ticket {item} is open", told + more)

    def _mistake(self, task: Task, given: Mapping[str, str]) -> str:
        """What is wrong with a form, if anything."""
        if given.get("department", "") != task.choice:
            return "Please choose the right department."
        for (name, _), number in zip(_code_fields(task), task.needs, strict=False):
            upstream = self.errand.task(number)
            said = given.get(name, "").strip()
            if said and said == self.code(upstream):
                continue
            if self._hits(task, "value gone upstream") and said:
                return f"Code {said} is no longer valid: open ticket {upstream.item} again."
            return "The access code is wrong."
        return ""

    async def _item(self, request: Request) -> Response:
        if away := self._turned_away(request):
            return away
        item = request.path_params["item"]
        if item not in self._by_item:
            return await self._else(request)
        made = markup.form(f"/items/{item}/price", markup.select("Size", "size", SIZES),
                           "Show price")  # fmt: skip
        return self._page(request, f"Item {item}", made)

    async def _price(self, request: Request) -> Response:
        if away := self._turned_away(request):
            return away
        task = self._by_item[request.path_params["item"]]
        size = request.query_params.get("size", "")
        rate = self._rates[task.item] if size == task.choice else self._rates[task.item] + 3.5
        if size not in SIZES:
            return self._page(request, f"Item {task.item}", markup.alert("Choose a size."))
        told = markup.result("Price", f"{rate:.2f}", {"Size": size, "Stock": "12"})
        return self._page(request, f"Price of item {task.item}", told)

    # -- bookings -----------------------------------------------------------------------------

    def _booking_of(self, item: str) -> Task | None:
        return next((t for t in self.errand.bookings if self._slot_of(t) == item), None)

    async def _slot(self, request: Request) -> Response:
        item = request.path_params["item"]
        task = self._booking_of(item)
        if task is None:
            return await self._else(request)
        if request.method == "GET":
            return self._slot_form(request, task, item, "")
        given = {k: str(v) for k, v in (await request.form()).items()}
        self.books.attempts += 1
        if self._hits(task, "write refused"):
            return self._page(request, f"Slot {item}",
                              markup.alert(f"Slot {item} is closed for today. Nothing was booked."),
                              status=409)  # fmt: skip
        if error := self._mistake(task, given):
            return self._slot_form(request, task, item, error)
        code = f"R-{_number(f'{item} {len(self.books.bookings)}', 10000, 99999)}"
        self.books.bookings.append((item, self._price_of(task), code))
        if self._strike(task, "write applied, then 503"):
            words = "<p>The service is not available at the moment.</p>"
            return self._page(request, "503 Service unavailable", words, status=503)
        if self._strike(task, "write applied, then cut"):
            return await hang_up(request)
        return RedirectResponse(f"/bookings/{code}", 303)

    def _price_of(self, task: Task) -> str:
        if task.chosen:
            return f"{self._rates[self.cheapest]:.2f}"
        if self._hits(task, "price changed"):
            return f"{float(task.price) + 40:.2f}"
        return task.price

    def _slot_form(self, request: Request, task: Task, item: str, error: str) -> Response:
        labels = self._labels(task)
        inner = markup.select(labels.get("Department", "Department"), "department", DEPARTMENTS)
        for name, label in _code_fields(task):
            inner += markup.field(labels.get(label, label), name)
        made = markup.form(f"/slots/{item}", inner, labels.get("Book slot", "Book slot"),
                           method="post")  # fmt: skip
        wrong = markup.alert(error) if error else ""
        price = f"<p>Price: {self._price_of(task)}</p>"
        return self._page(request, f"Slot {item}", wrong + price + made)

    async def _bookings(self, request: Request) -> Response:
        rows = self.books.bookings
        made = markup.table("Bookings", ("Slot", "Price", "Code"), rows)
        return self._page(request, "Bookings", made)

    async def _booked(self, request: Request) -> Response:
        code = request.path_params["code"]
        for slot, price, known in self.books.bookings:
            if known == code:
                told = markup.result("Receipt", code, {"Slot": slot, "Price": price})
                return self._page(request, f"Slot {slot} is booked", told)
        return await self._else(request)

    async def _else(self, request: Request) -> Response:
        if request.url.path == "/":
            return self._page(request, "Welcome to the desk", "<p>What would you like to do?</p>")
        return self._page(request, "There is no such page", "", status=404)


_NEW_LABELS = {
    "Access code": "Entry code",
    "Second access code": "Second entry code",
    "Open ticket": "Show ticket",
    "Book slot": "Reserve slot",
}


def _code_fields(task: Task) -> list[tuple[str, str]]:
    names = [("code", "Access code"), ("code2", "Second access code")]
    return [] if task.chosen else names[: len(task.needs)]


def _other(item: str) -> str:
    return f"{item[:2]}{(int(item[2:]) + 7) % 1000000:06d}"


def _number(text: str, low: int, high: int) -> int:
    return low + int(hashlib.sha256(text.encode()).hexdigest(), 16) % (high - low)


async def _nothing(_request: Request) -> Response:
    return Response(status_code=204)


HOSTS = (DESK, BOOK)
