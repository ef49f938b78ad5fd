"""Ordering: the checkout, the one request that matters, and the ways in which it goes wrong.

Every fault keeps one order: the order is made and recorded first, the trouble comes after.
Only `refuse_422` makes none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from webagent.demo.behaviour import hang_up, unavailable
from webagent.demo.ledger import Ledger, TransitionLog, now
from webagent.demo.shelf import Line, Order, Shelf
from webagent.demo.site import Site, Visit, text
from webagent.demo.switches import ShopSwitches

NAIVE = ("double_submit_script", "cut_kept_after_write")
FIELDS = ("name", "address", "email", "delivery")


class Ordering(Site):
    """The part of a shop that takes orders."""

    switches: ShopSwitches
    require_login: bool

    def __init__(self, host: str, ledger: Ledger, transitions: TransitionLog, shelf: Shelf) -> None:
        self.shelf = shelf
        super().__init__(host, ledger, transitions)

    def make_switches(self) -> ShopSwitches:
        """A shop has faults of its own."""
        return ShopSwitches()

    def reset(self) -> None:
        """Full shelves again, no orders, no baskets."""
        super().reset()
        self.shelf.reset()

    def extra_headers(self) -> list[tuple[bytes, bytes]]:
        """Under `cut_after_write` connections are not kept.

        Chromium sends a request again by itself, POST or not, if a *kept* connection closes
        without a byte of answer: two requests from one click. That has a fault of its own.
        """
        cut = self.switches.order_fault == "cut_after_write"
        return [(b"connection", b"close")] if cut else []

    def _to_login(self, visit: Visit, place: str) -> Response | None:
        """The redirect to the sign-in form, if this visit needs it."""
        if not self.require_login or visit.session.user:
            return None
        onward = quote(visit.path(place), safe="")
        self.seen(visit, "sent_to_login", 303)
        return RedirectResponse(f"{visit.path('login')}?next={onward}", status_code=303)

    # --- checkout ---

    async def checkout(self, visit: Visit) -> Response:
        """The form for name, address, e-mail and delivery; filled in for those signed in.

        Reorganised, it asks for the delivery only, and the next page for the rest.
        """
        if away := self._to_login(visit, "checkout"):
            return away
        if visit.markup == "reorganised":
            return self._summary(visit, "checkout.html", "checkout", {}, None)
        return self._form(visit)

    def _form(
        self, visit: Visit, typed: dict[str, str] | None = None, error: str | None = None
    ) -> Response:
        person = self.frame(visit)["person"]
        values = typed or {
            name: str(getattr(person, name, "")) if person else "" for name in FIELDS
        } | {"delivery": visit.query("delivery")}
        page = "delivery" if visit.markup == "reorganised" else "checkout"
        return self._summary(
            visit, f"{page}.html", f"{page}_refused" if error else page, values, error
        )

    def _summary(
        self, visit: Visit, template: str, page: str, values: dict[str, str], error: str | None
    ) -> Response:
        lines = self.shelf.lines(visit.session.owner, self.switches)
        return self.page(
            visit,
            template,
            page=page,
            status=422 if error else 200,
            lines=lines,
            total=sum((line.total for line in lines), Decimal(0)),
            values=values,
            error=error,
        )

    async def details(self, visit: Visit) -> Response:
        """The redesign's first page is posted: keep what was typed, go to the second."""
        if visit.markup != "v2":
            raise HTTPException(405, "This page takes no forms.")
        if away := self._to_login(visit, "checkout"):
            return away
        values = _typed(await visit.form())
        if error := _mistake(values):
            return self._form(visit, values, error)
        visit.session.data["details"] = values
        self.wrote(visit, "checkout_details", **values)
        return visit.go("review")

    async def review(self, visit: Visit) -> Response:
        """The second page: look once more (or, reorganised, say where it shall go), then order."""
        if away := self._to_login(visit, "review"):
            return away
        if visit.markup == "reorganised":
            return self._form(visit)
        values = visit.session.data.get("details")
        if not isinstance(values, dict):
            return visit.go("checkout")
        return self._summary(visit, "review.html", "review", values, None)

    # --- the order ---

    async def place(self, visit: Visit) -> Response:
        """Take the order."""
        self.seen(visit, "order_attempt", 0)
        if away := self._to_login(visit, "checkout"):
            return away
        form = await visit.form()
        kept = visit.session.data.get("details")
        values = kept if visit.markup == "v2" and isinstance(kept, dict) else _typed(form)
        lines = self._wanted(visit)
        error = _mistake(values) or _shortage(lines)
        if self.switches.order_fault == "refuse_422":
            error = "Your order was not accepted: please check the address."
        if error:
            if visit.markup == "v2":
                return self._summary(visit, "review.html", "review_refused", values, error)
            return self._form(visit, values, error)

        order = self.shelf.place(
            visit.session.owner, lines, values, at=now(), keep=self.switches.keep_basket
        )
        self._record(visit, order)
        if self.switches.order_delay:
            await asyncio.sleep(self.switches.order_delay)
        match self.switches.order_fault:
            case "503_after_write":
                return unavailable()
            case "cut_after_write" | "cut_kept_after_write":
                return await hang_up(visit.request)
            case _:
                return visit.go("thanks", number=order.number)

    def _wanted(self, visit: Visit) -> list[Line]:
        owner = visit.session.owner
        lines = self.shelf.lines(owner, self.switches)
        if not lines and self.switches.order_fault in NAIVE:
            # The shop to which things are sent twice is also the one that does not notice.
            return self.shelf.again(owner, self.switches)
        return lines

    def _record(self, visit: Visit, order: Order) -> None:
        self.wrote(
            visit,
            "order",
            order_no=str(order.number),
            lines=[
                {
                    "slug": line.product.slug,
                    "title": line.product.title,
                    "price": str(line.product.price),
                    "quantity": line.quantity,
                }
                for line in order.lines
            ],
            total=str(order.total),
            **order.address,
        )

    async def thanks(self, visit: Visit) -> Response:
        """The page after an order; only its owner sees it."""
        number = visit.hole("number")
        for order in self.shelf.orders_of(visit.session.owner):
            if str(order.number) == number:
                return self.page(visit, "thanks.html", page="thanks", order=order)
        raise HTTPException(404, "There is no such order.")

    async def order_list(self, visit: Visit) -> Response:
        """Everything that this account or session ordered, oldest first."""
        if self.switches.probe_down:
            self.seen(visit, "orders", 503)
            return unavailable()
        if away := self._to_login(visit, "orders"):
            return away
        orders = self.shelf.orders_of(visit.session.owner)
        return self.page(visit, "orders.html", page="orders", orders=orders)

    async def order_list_kept(self, visit: Visit) -> Response:
        """The redesign keeps the old address of the list, unless told to move that too."""
        if self.switches.move_evidence:
            raise HTTPException(404, "This page has moved.")
        return await self.order_list(visit)


def _typed(form: FormData) -> dict[str, str]:
    return {name: text(form, name) for name in FIELDS}


def _mistake(values: dict[str, str]) -> str | None:
    missing = [name for name in ("name", "address", "email") if not values.get(name)]
    if missing:
        return f"Please fill in: {', '.join(missing)}."
    if "@" not in values["email"]:
        return "The e-mail address is not valid."
    return None


def _shortage(lines: Sequence[Line]) -> str | None:
    if not lines:
        return "The basket is empty."
    short = [line.product.title for line in lines if line.product.stock < line.quantity]
    return f"Not in stock any more: {', '.join(short)}." if short else None
