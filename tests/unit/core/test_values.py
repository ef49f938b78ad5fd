"""Money and numbers as people write them; canonical text and fingerprints."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.core.values import (
    ValueFaultError,
    as_number,
    canonical,
    fingerprint,
    kind_of,
    parse_money,
    parse_number,
)


@pytest.mark.parametrize(
    "text, amount, currency",
    [
        ("19.99 €", 19.99, "€"),
        ("$1,299.00", 1299.0, "$"),
        ("1.299,00 EUR", 1299.0, "EUR"),
        ("Price: 5 USD", 5.0, "USD"),
        ("-3.50 €", -3.5, "€"),
        ("7", 7.0, None),
    ],
)
def test_a_price_is_read(text: str, amount: float, currency: str | None) -> None:
    assert parse_money(text) == {"amount": amount, "currency": currency}


@pytest.mark.parametrize("text", ["Free", "", "on request", "€"])
def test_a_price_without_digits_is_a_fault_and_not_zero(text: str) -> None:
    with pytest.raises(ValueFaultError):
        parse_money(text)


@pytest.mark.parametrize(
    "text, value", [("1,234", 1234), ("3.5 stars", 3.5), ("(12 reviews)", 12), ("-4", -4), ("0", 0)]
)
def test_a_number_is_read(text: str, value: float) -> None:
    assert parse_number(text) == value
    assert isinstance(parse_number(text), type(value))


@pytest.mark.parametrize("text", ["", "none", "3 of 5"])
def test_no_number_or_two_are_a_fault(text: str) -> None:
    with pytest.raises(ValueFaultError):
        parse_number(text)


@pytest.mark.parametrize(
    "value, number", [(3, 3.0), ({"amount": 2.5, "currency": "€"}, 2.5), ("EUR 7.20", 7.2)]
)
def test_what_counts_as_a_number(value: Any, number: float) -> None:
    assert as_number(value) == number


@pytest.mark.parametrize("value", [None, True, [], {}, "none"])
def test_what_does_not(value: Any) -> None:
    with pytest.raises(ValueFaultError):
        as_number(value)


@pytest.mark.parametrize(
    "value, kind",
    [
        (None, "null"), (True, "boolean"), (1, "number"), ("x", "string"), ([], "list"),
        ({"amount": 1, "currency": None}, "money"), ({"a": 1}, "mapping"),
    ],
)  # fmt: skip
def test_kinds_are_named_as_recipes_write_them(value: Any, kind: str) -> None:
    assert kind_of(value) == kind


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_the_order_of_keys_does_not_show(value: dict[str, Any]) -> None:
    turned = dict(reversed(list(value.items())))
    assert canonical(value) == canonical(turned)
    assert fingerprint(value) == fingerprint(turned)


@given(JSON, JSON)
def test_different_values_have_different_text(one: Any, two: Any) -> None:
    if canonical(one) == canonical(two):
        assert one == two
