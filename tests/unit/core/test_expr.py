"""Expressions and templates: types kept, null passed through, nothing unbounded, no secrets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.core.base import SecretUse
from webagent.core.errors import ExpressionError
from webagent.core.expr import (
    NullCount,
    check_expression,
    check_template,
    evaluate,
    expression_references,
    has_template,
    references,
    render,
    secret_use,
    whole_value,
)

NAMES: dict[str, Any] = {
    "n": 3,
    "text": "Anna",
    "none": None,
    "row": {"price": {"amount": 5.0, "currency": "EUR"}, "items": [1, 2], "keys": "k"},
    "rows": [{"a": 1}, {"a": 2}],
}


@pytest.mark.parametrize(
    "source, value",
    [
        ("n + 1", 4),
        ("row.price.amount <= 5", True),
        ("1 < n < 5", True),
        ("row.items", [1, 2]),
        ("row['keys']", "k"),
        ("rows + rows", [{"a": 1}, {"a": 2}, {"a": 1}, {"a": 2}]),
        ("none.anything.at_all", None),
        ("none < 3", False),
        ("3 >= none", False),
        ("not (none < 3)", True),
        ("text | upper", "ANNA"),
        ("rows | length", 2),
        ("text in ['Anna']", True),
        ("'yes' if n > 2 else 'no'", "yes"),
    ],
)
def test_an_expression_has_its_value(source: str, value: Any) -> None:
    assert evaluate(source, NAMES) == value


def test_comparisons_with_null_are_counted() -> None:
    count = NullCount()
    assert evaluate("none < 3 or none > 3 or n > none", NAMES, count) is False
    assert count.ordered == 3


@pytest.mark.parametrize(
    "raw, value",
    [
        ("{{ n }}", 3),
        ("{{ rows }}", [{"a": 1}, {"a": 2}]),
        ("{{ none }}", None),
        ("n is {{ n }}", "n is 3"),
        ("{{ n }}{{ n }}", "33"),
        ("x{{ none }}y", "xy"),
        ("{% if n > 2 %}many{% else %}few{% endif %}", "many"),
        ("plain", "plain"),
        (7, 7),
        (["{{ n }}", {"k": "{{ text }}"}], [3, {"k": "Anna"}]),
    ],
)
def test_a_whole_value_keeps_its_type_and_mixed_text_is_text(raw: Any, value: Any) -> None:
    assert render(raw, NAMES) == value


@pytest.mark.parametrize(
    "source",
    [
        "gone", "row.gone", "n.gone", "n +", "n ==", "", "text + 1", "1 / 0", "n | nofilter",
        "n is notest", "a b", "{{ n }}", "text.__class__", "text.__class__.__mro__",
        "'a' * 10", "10 ** 10", "rows * 1000", "range(9)", "cycler(1)", "n(1)", "[1, 2",
    ],
)  # fmt: skip
def test_what_does_not_evaluate_is_one_kind_of_error(source: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(source, NAMES)


@pytest.mark.parametrize(
    "raw",
    [
        "{{ gone }}", "a {{ gone }}", "{{ n", "{% for x in rows %}{{ x }}{% endfor %}",
        "{% set x = 1 %}", "{% include 'x' %}", "{% macro m() %}{% endmacro %}",
        "{% extends 'x' %}", "{{ n | totp }}",
    ],
)  # fmt: skip
def test_a_template_that_does_not_render_is_the_same_error(raw: str) -> None:
    with pytest.raises(ExpressionError):
        render(raw, NAMES)


@pytest.mark.parametrize(
    "source",
    ["a <", "a | totp", "a | nofilter", "a is notest", "a }} b", "{{ a }}", "", "(" * 2000],
)
def test_an_expression_is_checked_without_its_values(source: str) -> None:
    with pytest.raises(ExpressionError):
        check_expression(source)


def test_an_unknown_filter_gets_a_suggestion() -> None:
    with pytest.raises(ExpressionError) as caught:
        check_template("{{ text | uper }}")
    assert caught.value.hint == "did you mean 'upper'?"


def test_results_are_bounded() -> None:
    with pytest.raises(ExpressionError):
        render("{{ text }}" * 10 + " ", {"text": "x" * 20_000})
    with pytest.raises(ExpressionError):
        evaluate("text ~ text", {"text": "x" * 60_000})


@pytest.mark.parametrize(
    "raw, use",
    [
        ("{{ secrets.password }}", SecretUse(secret="password")),
        ("{{secrets.code|totp}}", SecretUse(secret="code", totp=True)),
        ("x{{ secrets.password }}", None),
        ("{{ secrets.password | upper }}", None),
        ("{{ secrets }}", None),
        (7, None),
    ],
)
def test_a_secret_is_a_placeholder_and_only_whole(raw: Any, use: SecretUse | None) -> None:
    assert secret_use(raw) == use
    if use is not None:
        assert render(raw, {}) == use


def test_a_secret_in_a_text_is_unknown() -> None:
    with pytest.raises(ExpressionError):
        render("x{{ secrets.password }}", NAMES)


@pytest.mark.parametrize(
    "raw, paths",
    [
        ("{{ choose.link }} {{ query }}", {("choose", "link"), ("query",)}),
        ("{{ a['b'].c }}", {("a", "b", "c")}),
        ("{{ a.b.upper() ~ c.join(d.e) }}", {("a", "b"), ("c",), ("d", "e")}),
        ("{{ a[0].b }}", {("a",)}),
        ("{{ a[i] }}", {("a",), ("i",)}),
        ("{{ a.b | default(c) }}", {("a", "b"), ("c",)}),
        ("{% if a.x %}{{ b }}{% endif %}", {("a", "x"), ("b",)}),
        ("plain", set()),
        ({"k": ["{{ a }}"]}, {("a",)}),
    ],
)
def test_references_of_a_value(raw: Any, paths: set[tuple[str, ...]]) -> None:
    assert references(raw) == paths


def test_references_of_an_expression() -> None:
    assert expression_references("a.b < c and not d") == {("a", "b"), ("c",), ("d",)}


def test_whole_values_are_told_from_mixed_text() -> None:
    assert whole_value("{{ a + b }}") == " a + b "
    assert whole_value("x {{ a }}") is None
    assert whole_value("{{ a }} {{ b }}") is None
    assert has_template("x {{ a }}")
    assert not has_template("x { a }")


@given(st.text(max_size=40))
def test_any_text_evaluates_or_is_refused(source: str) -> None:
    for call in (lambda: evaluate(source, NAMES), lambda: render("{{" + source + "}}", NAMES)):
        try:
            call()
        except ExpressionError as error:
            caught = error
        else:
            continue
        assert caught.exit_code == 2
