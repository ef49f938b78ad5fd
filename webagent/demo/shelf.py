"""A shop's stock, baskets and orders: what a customer changes. No HTTP and no HTML here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from webagent.demo.catalogue import Product
from webagent.demo.switches import ShopSwitches

EXPRESS = Decimal("4.90")


@dataclass(frozen=True)
class Line:
    """A product in a basket or an order, with its quantity."""

    product: Product
    quantity: int

    @property
    def total(self) -> Decimal:
        """Price times quantity."""
        return self.product.price * self.quantity


@dataclass(frozen=True)
class Order:
    """A placed order."""

    number: int
    owner: str
    lines: Sequence[Line]
    total: Decimal
    address: dict[str, str]
    at: str


@dataclass
class Shelf:
    """Stock, baskets and orders of one shop. Touched only in the server's loop."""

    products: Sequence[Product]
    first_number: int
    stock: dict[str, int] = field(init=False)
    baskets: dict[str, dict[str, int]] = field(init=False, default_factory=dict)
    ordered: dict[str, dict[str, int]] = field(init=False, default_factory=dict)
    """The basket that an owner ordered last."""
    orders: list[Order] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Full shelves, no baskets, no orders."""
        self.stock = {product.slug: product.stock for product in self.products}
        self.baskets.clear()
        self.ordered.clear()
        self.orders.clear()

    def offers(self, switches: ShopSwitches) -> list[Product]:
        """The products as they are now: today's price and what is left of each."""
        return [
            replace(
                product,
                price=switches.price_change.get(product.slug, product.price),
                stock=0 if product.slug in switches.sold_out else self.stock[product.slug],
            )
            for product in self.products
            if product.slug not in switches.withdrawn
        ]

    def find(self, slug: str, switches: ShopSwitches) -> Product | None:
        """The product of this slug as it is now."""
        return next((p for p in self.offers(switches) if p.slug == slug), None)

    def lines(self, owner: str, switches: ShopSwitches) -> list[Line]:
        """What is in somebody's basket, at today's prices."""
        return self._lines(self.baskets.get(owner, {}), switches)

    def again(self, owner: str, switches: ShopSwitches) -> list[Line]:
        """What somebody ordered last: for the shop whose page submits twice."""
        return self._lines(self.ordered.get(owner, {}), switches)

    def _lines(self, basket: dict[str, int], switches: ShopSwitches) -> list[Line]:
        offers = {product.slug: product for product in self.offers(switches)}
        return [Line(offers[slug], quantity) for slug, quantity in basket.items() if slug in offers]

    def add(self, owner: str, slug: str, quantity: int) -> None:
        """Put something into a basket."""
        basket = self.baskets.setdefault(owner, {})
        basket[slug] = basket.get(slug, 0) + quantity

    def empty(self, owner: str) -> None:
        """Take everything out of a basket."""
        self.baskets.pop(owner, None)

    def hand_over(self, before: str, after: str) -> None:
        """Signing in: what lay in the session's basket goes into the account's."""
        for slug, quantity in self.baskets.pop(before, {}).items():
            self.add(after, slug, quantity)

    def place(
        self, owner: str, lines: Sequence[Line], address: dict[str, str], *, at: str, keep: bool
    ) -> Order:
        """Make an order of the lines and take them from the stock.

        The caller has checked that the lines are there and in stock.
        """
        total = sum((line.total for line in lines), Decimal(0))
        if address.get("delivery") == "express":
            total += EXPRESS
        number = self.first_number + len(self.orders)
        order = Order(number, owner, tuple(lines), total, address, at)
        self.orders.append(order)
        for line in lines:
            self.stock[line.product.slug] -= line.quantity
        self.ordered[owner] = {line.product.slug: line.quantity for line in lines}
        if not keep:
            self.empty(owner)
        return order

    def orders_of(self, owner: str) -> list[Order]:
        """Somebody's orders, oldest first."""
        return [order for order in self.orders if order.owner == owner]
