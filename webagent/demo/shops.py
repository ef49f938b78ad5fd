"""The two shops, "Alder Supply" (A) and "Birch & Co" (B): pages and forms over a shelf.

One class makes both; a `ShopKind` says in what they differ. Orders are in `ordering`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import ClassVar

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from webagent.demo.catalogue import Product, ShopLetter, products
from webagent.demo.ledger import Ledger, TransitionLog
from webagent.demo.ordering import Ordering
from webagent.demo.shelf import EXPRESS, Shelf
from webagent.demo.shop_kinds import ACCOUNTS, ALDER, BIRCH, ShopKind
from webagent.demo.site import TEMPLATES, Answer, Place, Visit, text
from webagent.demo.switches import Markup

PAGE_SIZE = 10


class Shop(Ordering):
    """A shop: search, product, basket, checkout, orders, account."""

    places: ClassVar[Mapping[str, Place]] = {
        "home": Place("/", "/"),
        "icon": Place("/favicon.ico", "/favicon.ico"),
        "search": Place("/search", "/find", "/catalogue/search"),
        "product": Place("/product/{slug}", "/item/{slug}", "/catalogue/{slug}"),
        "product_left": Place(None, None, "/product/{slug}"),
        "basket": Place("/basket", "/cart", "/shopping/basket"),
        "basket_add": Place("/basket/add", "/cart/lines", "/shopping/basket/add"),
        "basket_empty": Place("/basket/empty", "/cart/clear", "/shopping/basket/empty"),
        "checkout": Place("/checkout", "/order/address", "/shopping/till"),
        "review": Place(None, "/order/review", "/shopping/till/delivery"),
        "place": Place("/orders", "/order/place"),
        "thanks": Place("/orders/{number}/thanks", "/order/placed/{number}"),
        "orders": Place("/orders", "/account/purchases"),
        "orders_kept": Place(None, "/orders"),
        "account": Place(None, "/account"),
        "login": Place("/login", "/account/enter"),
        "sign_out": Place("/logout", "/account/leave"),
    }

    def __init__(
        self,
        kind: ShopKind,
        ledger: Ledger,
        transitions: TransitionLog,
        *,
        cheaper: ShopLetter = "a",
        require_login: bool | None = None,
    ) -> None:
        self.kind = kind
        self.require_login = kind.require_login if require_login is None else require_login
        shelf = Shelf(products(kind.letter, cheaper), kind.first_number)
        super().__init__(kind.host, ledger, transitions, shelf)

    def folders(self, markup: Markup) -> Sequence[Path]:
        """Each shop has its own v1; what came after made them alike."""
        later = {"v2": "redesign", "reorganised": "reorganised"}
        return [TEMPLATES / later.get(markup, self.kind.theme), TEMPLATES]

    def answers(self) -> Sequence[Answer]:
        """Every page and form of the shop."""
        return [
            ("GET", "home", self.home),
            ("GET", "icon", self.icon),
            ("GET", "search", self.search),
            ("GET", "product", self.product),
            ("GET", "product_left", self.product_moved),
            ("GET", "basket", self.basket),
            ("POST", "basket_add", self.basket_add),
            ("POST", "basket_empty", self.basket_empty),
            ("GET", "checkout", self.checkout),
            ("POST", "checkout", self.details),
            ("GET", "review", self.review),
            ("POST", "place", self.place),
            ("GET", "thanks", self.thanks),
            ("GET", "orders", self.order_list),
            ("GET", "orders_kept", self.order_list_kept),
            ("GET", "account", self.account),
            ("GET", "login", self.login),
            ("POST", "login", self.sign_in),
            ("POST", "sign_out", self.sign_out),
        ]

    def frame(self, visit: Visit) -> Mapping[str, object]:
        """What every page of the shop shows: its name, who is signed in, the basket's size."""
        person = ACCOUNTS.get(visit.session.user or "")
        lines = self.shelf.lines(visit.session.owner, self.switches)
        moved = visit.markup == "v2" and self.switches.move_evidence
        return {
            "shop": self.kind,
            "money": self.kind.money,
            "person": person,
            "express": EXPRESS,
            "in_basket": sum(line.quantity for line in lines),
            "moved": moved,
            "query": visit.query("q"),
            "double": self.switches.order_fault == "double_submit_script",
        }

    async def icon(self, visit: Visit) -> Response:
        """No icon, and no word about it in the log."""
        del visit
        return Response(status_code=204)

    async def home(self, visit: Visit) -> Response:
        """The front page with a few things on offer."""
        offers = self.shelf.offers(self.switches)
        return self.page(visit, "home.html", page="home", featured=offers[::7])

    async def search(self, visit: Visit) -> Response:
        """What a query finds, ten to a page, in the order of the shelf."""
        query = visit.query("q")
        found = [p for p in self.shelf.offers(self.switches) if query and p.found_by(query)]
        number = visit.number("page")
        last = max(1, -(-len(found) // PAGE_SIZE))
        shown = found[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        link = partial(visit.path, "search", q=query)
        return self.page(
            visit,
            "search.html",
            page="search",
            found=len(found),
            products=shown,
            number=number,
            last=last,
            next=link(page=number + 1) if number < last else None,
            previous=link(page=number - 1) if number > 1 else None,
        )

    async def product(self, visit: Visit) -> Response:
        """One product."""
        if visit.markup == "v1" and self.switches.reorganise_at_product:
            self.switches.reorganise_at_product = False
            self.switches.face = "reorganised"
            return await self.product_moved(replace(visit, markup="reorganised"))
        return self.page(visit, "product.html", page="product", product=self._find(visit))

    async def product_moved(self, visit: Visit) -> Response:
        """Reorganised, a shop keeps the addresses that search engines know, and only those."""
        return RedirectResponse(visit.path("product", slug=visit.hole("slug")), status_code=301)

    def _find(self, visit: Visit, slug: str | None = None) -> Product:
        product = self.shelf.find(slug or visit.hole("slug"), self.switches)
        if product is None:
            raise HTTPException(404, "We do not sell this any more.")
        return product

    async def basket(self, visit: Visit) -> Response:
        """What is in the basket."""
        lines = self.shelf.lines(visit.session.owner, self.switches)
        return self.page(
            visit,
            "basket.html",
            page="basket",
            lines=lines,
            total=sum((line.total for line in lines), Decimal(0)),
        )

    async def basket_add(self, visit: Visit) -> Response:
        """Put a product into the basket."""
        form = await visit.form()
        product = self._find(visit, text(form, "slug"))
        wanted = text(form, "quantity") or "1"
        quantity = int(wanted) if wanted.isdecimal() else 0
        if quantity < 1:
            raise HTTPException(422, "The quantity must be a number of at least 1.")
        if product.stock < quantity:
            raise HTTPException(409, f"{product.title} is sold out or not there in that number.")
        self.shelf.add(visit.session.owner, product.slug, quantity)
        self.wrote(visit, "basket_add", slug=product.slug, quantity=quantity)
        return visit.go("basket")

    async def basket_empty(self, visit: Visit) -> Response:
        """Take everything out of the basket; recorded even if it was empty."""
        await visit.form()
        lines = self.shelf.lines(visit.session.owner, self.switches)
        self.shelf.empty(visit.session.owner)
        self.wrote(visit, "basket_empty", lines=len(lines))
        return visit.go("basket")

    async def account(self, visit: Visit) -> Response:
        """The redesign's menu page: everything personal is one level deeper."""
        return self.page(visit, "account.html", page="account")

    async def login(self, visit: Visit) -> Response:
        """The sign-in form; those signed in already are sent on."""
        onward = _local(visit.query("next")) or visit.path("home")
        if visit.session.user:
            return RedirectResponse(onward, status_code=303)
        return self.page(visit, "login.html", page="login", next=onward, error=None, username="")

    async def sign_in(self, visit: Visit) -> Response:
        """Check name and password; a wrong one shows the form again, as most sites do, with 200."""
        form = await visit.form()
        username = text(form, "username")
        onward = _local(text(form, "next")) or visit.path("home")
        person = ACCOUNTS.get(username)
        if person is None or person.password != text(form, "password"):
            return self.page(
                visit,
                "login.html",
                page="login_refused",
                next=onward,
                error="Username or password is wrong.",
                username=username,
            )
        before = visit.session.owner
        visit.session.user = username
        visit.session.rotate()
        self.shelf.hand_over(before, username)
        self.wrote(visit, "sign_in", user=username)
        return RedirectResponse(onward, status_code=303)

    async def sign_out(self, visit: Visit) -> Response:
        """End being signed in; the account's basket stays with the account."""
        await visit.form()
        self.wrote(visit, "sign_out", user=visit.session.user)
        visit.session.user = None
        visit.session.rotate()
        return visit.go("home")


def _local(path: str) -> str | None:
    """A path on this site, or None: `next` must not lead elsewhere."""
    return path if path.startswith("/") and not path.startswith("//") else None


def make_shop(
    letter: ShopLetter,
    ledger: Ledger,
    transitions: TransitionLog,
    *,
    cheaper: ShopLetter = "a",
    require_login: bool | None = None,
) -> Shop:
    """A shop as an ASGI app.

    Args:
        letter: "a" for Alder Supply, "b" for Birch & Co.
        ledger: where its writes go.
        transitions: where its visits go.
        cheaper: which of the two has the cheapest usb-c cable.
        require_login: whether ordering needs an account; by default A does, B does not.
    """
    kind = ALDER if letter == "a" else BIRCH
    return Shop(kind, ledger, transitions, cheaper=cheaper, require_login=require_login)
