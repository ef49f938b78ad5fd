"""A text holds a value of its type, or says why not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from webagent.core.action import ReadType
from webagent.core.values import ValueFaultError
from webagent.extractors.extractor import Extractor, date_order
from webagent.extractors.typed import Reading, parse

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PLAIN = Reading(NOW)


@pytest.mark.parametrize(
    "text, kind, wanted",
    [
        ("  two \n words ", "text", "two words"),
        ("<b> x </b>", "html", "<b> x </b>"),
        ("1,234", "number", 1234),
        ("-3.5 °C", "number", -3.5),
        ("EUR 9,99", "money", {"amount": 9.99, "currency": "EUR"}),
        ("2026-11-30", "date", "2026-11-30"),
        ("2026-11-30T10:15:00", "date", "2026-11-30T10:15:00"),
        ("30 November 2026", "date", "2026-11-30"),
        ("Nov 30, 2026", "date", "2026-11-30"),
        ("30. November 2026", "date", "2026-11-30"),
        ("30/11/2026", "date", "2026-11-30"),
        ("05/05/2026", "date", "2026-05-05"),
        ("yesterday", "date", "2026-11-29"),
        ("3 days ago", "date", "2026-11-27"),
        ("30 November 2026 10:15", "date", "2026-11-30T10:15:00"),
        ("https://a.test/x", "url", "https://a.test/x"),
        ("Yes", "boolean", True),
        ("in stock", "boolean", True),
        ("Out of stock.", "boolean", False),
        ("✗", "boolean", False),
    ],
)
def test_a_value_is_read(text: str, kind: ReadType, wanted: Any) -> None:
    assert parse(text, kind, PLAIN) == wanted


@pytest.mark.parametrize(
    "text, kind",
    [
        ("call us", "number"),
        ("3 of 4", "number"),
        ("Free", "money"),
        ("", "money"),
        ("soon", "date"),
        ("", "date"),
        ("2026-13-40", "date"),
        ("03/04/2026", "date"),
        ("javascript:alert(1)", "url"),
        ("not an address", "url"),
        ("", "url"),
        ("maybe", "boolean"),
    ],
)
def test_what_holds_no_value_is_a_fault(text: str, kind: ReadType) -> None:
    with pytest.raises(ValueFaultError):
        parse(text, kind, PLAIN)


@pytest.mark.parametrize(
    "locale, wanted", [("en-US", "2026-03-04"), ("en-GB", "2026-04-03"), ("de-DE", "2026-04-03")]
)
def test_the_locale_tells_day_from_month(locale: str, wanted: str) -> None:
    extractor = Extractor(lambda: NOW, locale)
    assert extractor.value("03/04/2026", "date") == wanted


@pytest.mark.parametrize(
    "locale, order", [(None, None), ("en", "MDY"), ("en_AU", "DMY"), ("ja-JP", "YMD")]
)
def test_each_locale_has_its_order(locale: str | None, order: str | None) -> None:
    assert date_order(locale) == order


def test_addresses_are_joined_to_the_base() -> None:
    assert parse("/x", "url", Reading(NOW, base_url="http://a.test/b/c")) == "http://a.test/x"
