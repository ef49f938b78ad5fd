"""In what the two shops differ, and who has an account with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from webagent.demo.catalogue import ShopLetter

USER = "kim"
PASSWORD = "alder-and-birch"


@dataclass(frozen=True)
class Person:
    """An account's owner; checkout forms are filled with this for those signed in."""

    password: str
    name: str
    address: str
    email: str


ACCOUNTS: Mapping[str, Person] = {
    USER: Person(PASSWORD, "Kim Weber", "Lindenweg 4, 20099 Hamburg", "kim@mail.test"),
    "lou": Person("wintergreen", "Lou Martin", "Rue du Lac 12, 1003 Lausanne", "lou@mail.test"),
}


@dataclass(frozen=True)
class ShopKind:
    """In what the two shops differ."""

    letter: ShopLetter
    host: str
    name: str
    claim: str
    theme: str
    require_login: bool
    first_number: int

    def money(self, amount: Decimal) -> str:
        """A price as this shop writes it."""
        if self.letter == "a":
            return f"€ {amount:.2f}"
        return f"{amount:.2f} €".replace(".", ",")


ALDER = ShopKind(
    letter="a",
    host="shop-a.test",
    name="Alder Supply",
    claim="Cables and quiet tools since 1987",
    theme="alder",
    require_login=True,
    first_number=10001,
)
BIRCH = ShopKind(
    letter="b",
    host="shop-b.test",
    name="Birch & Co",
    claim="Good things for the desk",
    theme="birch",
    require_login=False,
    first_number=50001,
)
