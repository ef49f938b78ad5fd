"""What the two shops sell: the same kind of things, other names, other prices.

Both have several usb-c cables. The cheapest one that is in stock is in the shop that the demo
is told to make the cheaper one (A, if nobody says otherwise).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

ShopLetter = Literal["a", "b"]


@dataclass(frozen=True)
class Product:
    """One thing on the shelf; the price is in euros."""

    slug: str
    title: str
    price: Decimal
    stock: int
    section: str

    def found_by(self, query: str) -> bool:
        """Whether every word of the query is part of the product's title or section."""
        shelf = f"{self.title} {self.section}".casefold()
        return all(word in shelf for word in query.casefold().split())


_ALDER = """
usb-c-cable-1m        | USB-C Cable 1 m                   | 12.90 | 40 | Cables
usb-c-cable-2m        | USB-C Cable 2 m, braided          | 15.50 | 25 | Cables
usb-c-cable-05m       | USB-C Cable 0.5 m, flat           | 13.20 |  0 | Cables
usb-c-cable-100w      | USB-C Cable 100 W with display    | 21.00 | 18 | Cables
usb-c-cable-angled    | USB-C Cable 1.5 m, angled         | 16.90 | 12 | Cables
usb-c-cable-tb4       | USB-C Cable for 40 Gbit/s         | 34.00 |  7 | Cables
usb-a-cable-1m        | USB-A to Micro-USB Cable 1 m      |  6.50 | 60 | Cables
hdmi-cable-2m         | HDMI Cable 2 m                    |  9.80 | 33 | Cables
hdmi-cable-5m         | HDMI Cable 5 m, gold-plated       | 17.40 | 14 | Cables
patch-cable-1m        | Patch Cable Cat 6, 1 m            |  3.90 | 90 | Cables
patch-cable-5m        | Patch Cable Cat 6, 5 m            |  7.20 | 55 | Cables
patch-cable-10m       | Patch Cable Cat 6, 10 m           | 11.60 | 28 | Cables
audio-cable-15m       | Audio Cable 3.5 mm, 1.5 m         |  5.40 | 47 | Cables
power-cable-c13       | Power Cable C13, 1.8 m            |  8.30 | 36 | Cables
charger-30w           | Wall Charger 30 W, USB-C          | 24.90 | 20 | Power
charger-65w           | Wall Charger 65 W, two ports      | 39.90 | 11 | Power
power-bank-10         | Power Bank 10 Ah                  | 29.50 | 16 | Power
power-strip-6         | Power Strip, six sockets          | 18.70 | 22 | Power
hub-4                 | USB-C Hub, four ports             | 32.40 |  9 | Adapters
adapter-c-a           | USB-C to USB-A Adapter            |  7.90 | 70 | Adapters
adapter-c-hdmi        | USB-C to HDMI Adapter             | 22.80 | 13 | Adapters
adapter-eth           | USB-C Network Adapter             | 19.60 | 15 | Adapters
mouse-quiet           | Quiet Mouse, wireless             | 17.90 | 30 | Desk
keyboard-compact      | Compact Keyboard                  | 44.00 | 10 | Desk
stand-laptop          | Laptop Stand, aluminium           | 36.50 |  8 | Desk
lamp-clip             | Clip Lamp, warm light             | 21.30 | 19 | Desk
mat-felt              | Felt Desk Mat                     | 16.20 | 24 | Desk
tester-cable          | Cable Tester RJ45                 | 27.70 |  6 | Tools
ties-100              | Cable Ties, pack of 100           |  4.20 | 80 | Tools
screwdriver-set       | Precision Screwdriver Set         | 14.90 | 17 | Tools
"""

_BIRCH = """
c-kabel-100           | Braided USB-C cable, 100 cm       | 14.50 | 31 | Cables
c-kabel-200           | Braided USB-C cable, 200 cm       | 17.20 | 22 | Cables
c-kabel-eco           | Recycled USB-C cable, 120 cm      | 16.40 | 15 | Cables
c-kabel-spiral        | Spiral USB-C cable, 150 cm        | 18.90 |  0 | Cables
c-kabel-pro           | USB-C cable Pro 240 W, 200 cm     | 26.80 | 12 | Cables
lightning-100         | Lightning cable, 100 cm           | 19.50 | 20 | Cables
micro-100             | Micro-USB cable, 100 cm           |  5.90 | 44 | Cables
hdmi-150              | HDMI cable, 150 cm                | 10.20 | 27 | Cables
hdmi-300              | HDMI cable, 300 cm                | 13.60 | 19 | Cables
dp-200                | DisplayPort cable, 200 cm         | 15.80 | 16 | Cables
lan-200               | Network cable, 200 cm             |  4.60 | 66 | Cables
lan-1500              | Network cable, 1500 cm            | 14.10 | 21 | Cables
aux-100               | Audio cable, 100 cm               |  4.90 | 38 | Cables
lade-20               | Charger 20 W for USB-C            | 19.90 | 25 | Charging
lade-100              | Charger 100 W, three ports        | 54.00 |  7 | Charging
lade-qi               | Wireless charging pad             | 26.30 | 14 | Charging
bank-5                | Pocket power bank 5 Ah            | 21.90 | 18 | Charging
hub-7                 | USB-C hub, seven ports            | 41.70 |  9 | Adapters
dongle-a              | Adapter USB-C to USB-A            |  8.40 | 52 | Adapters
dongle-dp             | Adapter USB-C to DisplayPort      | 24.20 | 11 | Adapters
dongle-sd             | Card reader SD, USB-C             | 18.60 | 17 | Adapters
maus-kork             | Cork mouse                        | 29.00 | 13 | Desk
matte-kork            | Cork desk mat                     | 23.50 | 20 | Desk
lampe-birke           | Birch desk lamp                   | 58.00 |  5 | Desk
halter-birke          | Birch headphone stand             | 27.40 | 10 | Desk
uhr-birke             | Birch desk clock                  | 33.30 |  8 | Desk
ordner-kabel          | Cable organiser, felt             |  9.70 | 35 | Storage
box-kabel             | Cable box, birch lid              | 31.20 |  9 | Storage
clip-5                | Cable clips, five pieces          |  6.10 | 48 | Storage
tasche-tech           | Travel pouch for cables           | 22.60 | 14 | Storage
"""

_CHEAPEST = {"a": "usb-c-cable-1m", "b": "c-kabel-100"}
_UNDERCUT = Decimal("10.90")


def _parse(rows: str) -> Iterable[Product]:
    for row in rows.strip().splitlines():
        slug, title, price, stock, section = (part.strip() for part in row.split("|"))
        yield Product(slug, title, Decimal(price), int(stock), section)


def products(shop: ShopLetter, cheaper: ShopLetter = "a") -> Sequence[Product]:
    """A shop's shelf.

    Args:
        shop: whose shelf.
        cheaper: in which shop the cheapest usb-c cable in stock is to be found.
    """
    shelf = list(_parse(_ALDER if shop == "a" else _BIRCH))
    if cheaper == "b" and shop == "b":
        shelf = [
            replace(product, price=_UNDERCUT) if product.slug == _CHEAPEST["b"] else product
            for product in shelf
        ]
    return shelf
