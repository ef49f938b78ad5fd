"""Typed values read from pages: money, numbers, and the hash under which outputs are frozen.

Pure and locale-light: dates need a library with a clock and live in ``extractors``.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from webagent.core.base import Json


class ValueFaultError(ValueError):
    """A text does not hold a value of the wanted type."""


_NUMBER = re.compile(r"[-+\u2212]?\s*\d[\d.,'\u00a0\u202f\s]*")
_NEGATIVE = re.compile(r"^\W*[-\u2212(]\s*\W*\d")


def _price(text: str) -> Any:
    from price_parser import Price  # noqa: PLC0415 - it would cost every command 30 ms

    return Price.fromstring(text)


def parse_money(text: str) -> dict[str, Json]:
    """``{"amount": float, "currency": str | None}`` of a price as people write it.

    An unparsed price raises instead of counting as 0: price-parser answers 0 for "Free", which is
    a guess about the shop, so only digits count here.

    Raises:
        ValueFaultError: there is no amount in the text.
    """
    if not re.search(r"\d", text):
        msg = f"no amount in {text!r}"
        raise ValueFaultError(msg)
    price = _price(text)
    if price.amount is None:
        msg = f"no amount in {text!r}"
        raise ValueFaultError(msg)
    amount = float(price.amount)
    if _NEGATIVE.match(text) and amount > 0:
        amount = -amount
    return {"amount": amount, "currency": price.currency}


def parse_number(text: str) -> float | int:
    """The one number of a text, thousands marks and decimal comma understood.

    Raises:
        ValueFaultError: none, or more than one.
    """
    found = [m.group() for m in _NUMBER.finditer(text)]
    if len(found) != 1:
        msg = f"{'no' if not found else 'more than one'} number in {text!r}"
        raise ValueFaultError(msg)
    amount = _price(found[0]).amount
    if amount is None:
        msg = f"no number in {text!r}"
        raise ValueFaultError(msg)
    negative = found[0].strip()[0] in "-\u2212" and amount > 0
    value = -amount if negative else amount
    return int(value) if value == int(value) else float(value)


def as_number(value: Json) -> float:
    """A number, an amount of money, or the number that a text holds.

    Raises:
        ValueFaultError: it is none of these.
    """
    if isinstance(value, bool) or value is None:
        msg = f"{value!r} is not a number"
        raise ValueFaultError(msg)
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, dict) and "amount" in value:
        return as_number(value["amount"])
    if isinstance(value, str):
        return float(parse_money(value)["amount"])
    msg = f"{value!r} is not a number"
    raise ValueFaultError(msg)


def kind_of(value: Json) -> str:
    """The name of a value's type as recipes write it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "money" if set(value) == {"amount", "currency"} else "mapping"
    return "list"


def canonical(value: Json) -> str:
    """JSON with sorted keys and no white space: equal values, equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(value: Json) -> str:
    """A short stable hash of a JSON value; outputs are frozen under it."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]
