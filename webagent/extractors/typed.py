"""One typed value of a text: text, html, number, money, date, url, boolean.

Money and numbers are `core.values`; dates need a library and a reference day, which is given here
as an argument: nothing in this package looks at the clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, assert_never
from urllib.parse import urljoin, urlsplit

import dateparser

from webagent.core.action import ReadType
from webagent.core.base import Json
from webagent.core.values import ValueFaultError, parse_money, parse_number

DateOrder: TypeAlias = Literal["DMY", "MDY", "YMD"]

# Trying all of dateparser's 200 languages takes six seconds once and 30 ms a text from then on.
_COMMON = ("en", "de", "fr", "es", "it", "nl", "pt")
_ISO = re.compile(r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$")
_TRUE = frozenset(
    [
        "true",
        "yes",
        "y",
        "on",
        "1",
        "ja",
        "oui",
        "si",
        "sí",
        "sim",
        "✓",
        "✔",
        "available",
        "in stock",
    ]
)
_FALSE = frozenset(
    ["false", "no", "n", "off", "0", "nein", "non", "não", "✗", "✘", "unavailable", "out of stock"]
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How values are understood.

    ``relative_to``: the moment from which "yesterday" counts. ``date_order``: what 03/04/2026
    means; None leaves it to the languages, and without either an ambiguous date is refused.
    ``languages``: in which dates are written; the common western ones without any.
    """

    relative_to: datetime
    date_order: DateOrder | None = None
    languages: tuple[str, ...] = ()
    base_url: str = field(default="")


def parse(text: str, type_: ReadType, how: Reading) -> Json:
    """The value that a text holds.

    Dates are ISO text (``2026-11-30``, with a time where the text has one); money is
    ``{amount, currency}``.

    Raises:
        ValueFaultError: the text holds no value of the type, or an ambiguous one.
    """
    match type_:
        case "text":
            return " ".join(text.split())
        case "html":
            return text
        case "number":
            return parse_number(text)
        case "money":
            return parse_money(text)
        case "date":
            return _date(text, how)
        case "url":
            return _url(text, how.base_url)
        case "boolean":
            return _boolean(text)
        case _:
            assert_never(type_)


def _date(text: str, how: Reading) -> str:
    folded = " ".join(text.split())
    if not folded:
        raise ValueFaultError("no date in an empty text")
    if _ISO.match(folded):
        try:
            moment = datetime.fromisoformat(folded)
        except ValueError as error:
            raise ValueFaultError(f"no date in {text!r}") from error
        return moment.isoformat() if len(folded) > 10 else moment.date().isoformat()
    order = how.date_order
    if order is None and not how.languages and _ambiguous(folded):
        raise ValueFaultError(f"{text!r} may be read day or month first: set browser.locale")
    settings: dict[str, Any] = {
        "RELATIVE_BASE": how.relative_to.replace(tzinfo=None),
        "RETURN_AS_TIMEZONE_AWARE": False,
        "REQUIRE_PARTS": ["day", "month", "year"] if re.search(r"\d{4}", folded) else [],
    }
    if order is not None:
        settings["DATE_ORDER"] = order
    found = dateparser.parse(folded, languages=list(how.languages or _COMMON), settings=settings)
    if found is None:
        raise ValueFaultError(f"no date in {text!r}")
    if _has_time(folded):
        return found.replace(microsecond=0).isoformat()
    return found.date().isoformat()


def _ambiguous(text: str) -> bool:
    """Whether day and month could be exchanged."""
    found = re.search(r"\b(\d{1,2})[/.\-](\d{1,2})[/.\-]\d{2,4}\b", text)
    if found is None:
        return False
    one, two = int(found[1]), int(found[2])
    return one <= 12 and two <= 12 and one != two


def _has_time(text: str) -> bool:
    return (
        re.search(r"\d{1,2}:\d{2}|\d\s*[ap]\.?m\b|\b(hour|minute|second)s?\b", text, re.I)
        is not None
    )


def _url(text: str, base: str) -> str:
    joined = urljoin(base, text.strip()) if base else text.strip()
    parts = urlsplit(joined)
    if not text.strip() or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueFaultError(f"no web address in {text!r}")
    return joined


def _boolean(text: str) -> bool:
    folded = " ".join(text.split()).strip(".! ").casefold()
    if folded in _TRUE:
        return True
    if folded in _FALSE:
        return False
    raise ValueFaultError(f"{text!r} is neither yes nor no")
