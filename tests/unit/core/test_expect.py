"""Expectations are judged from findings alone: met, unmet or unknown, with the evidence."""

from __future__ import annotations

from typing import Any

import pytest

from webagent.core.check import can_be_false
from webagent.core.expect import (
    Bounds,
    CountIs,
    DialogShown,
    DownloadCame,
    ElementAbsent,
    ElementShown,
    Expectation,
    Finding,
    OutputIs,
    ResponseCame,
    RowsAre,
    StatusIs,
    TextShown,
    TitleIs,
    UrlIs,
    ValueIs,
    Verdict,
    all_hold,
    judge,
    turned_true,
    url_matches,
    within_bounds,
)
from webagent.core.target import parse_target

X = parse_target(".x")
PRICE = {"amount": 5.0, "currency": "EUR"}


@pytest.mark.parametrize(
    "expected, finding, judgement",
    [
        (UrlIs(glob="**/search?*"), Finding(texts=("https://a.example/search?q=1",)), "met"),
        (UrlIs(glob="**/search?*"), Finding(texts=("https://a.example/find?q=1",)), "unmet"),
        (TitleIs(glob="Offers"), Finding(texts=("12  Offers\n found",)), "met"),
        (TitleIs(glob="Offers"), Finding(texts=("Nothing",)), "unmet"),
        (TextShown(text="Hi"), Finding(count=1), "met"),
        (TextShown(text="Hi"), Finding(), "unmet"),
        (ElementShown(target=X), Finding(count=2), "met"),
        (ElementAbsent(target=X), Finding(), "met"),
        (ElementAbsent(target=X), Finding(count=1), "unmet"),
        (CountIs(target=X, bounds=Bounds(equals=2)), Finding(count=2), "met"),
        (CountIs(target=X, bounds=Bounds(min=1, max=3)), Finding(count=4), "unmet"),
        (RowsAre(target=X, bounds=Bounds(min=1)), Finding(count=0), "unmet"),
        (ValueIs(target=X, bounds=Bounds(max=25)), Finding(count=1, texts=("EUR 20",)), "met"),
        (ValueIs(target=X, bounds=Bounds(max=25)), Finding(count=1, texts=("EUR 30",)), "unmet"),
        (ValueIs(target=X, bounds=Bounds(max=25)), Finding(count=1, texts=("none",)), "unmet"),
        (ValueIs(target=X, bounds=Bounds(max=25)), Finding(count=2, texts=("1", "2")), "unmet"),
        (DownloadCame(glob="*.csv"), Finding(texts=("a.csv",), sizes=(9,)), "met"),
        (DownloadCame(glob="*.csv", min_bytes=10), Finding(texts=("a.csv",), sizes=(9,)), "unmet"),
        (DownloadCame(), Finding(), "unmet"),
        (StatusIs(codes=("2xx", "404")), Finding(count=404), "met"),
        (StatusIs(codes=("2xx",)), Finding(count=302), "unmet"),
        (ResponseCame(glob="**/api"), Finding(texts=("GET 200 https://a.example/api",)), "met"),
        (ResponseCame(glob="**/api", method="POST"), Finding(texts=("GET 200 http://a",)), "unmet"),
        (DialogShown(glob="Saved"), Finding(texts=("It is Saved now",)), "met"),
        (TextShown(text="Hi"), Finding(error="page lost"), "unknown"),
    ],
)  # fmt: skip
def test_a_finding_is_judged(expected: Expectation, finding: Finding, judgement: str) -> None:
    assert judge(expected, finding, {}).judgement == judgement


def test_an_output_is_judged_without_the_page() -> None:
    gone = Finding(error="page lost")
    wanted = OutputIs(name="x", bounds=Bounds(min=1))
    assert judge(wanted, gone, {"x": [1, 2]}).judgement == "met"
    assert judge(wanted, gone, {"x": []}).judgement == "unmet"
    assert judge(wanted, gone, {}).judgement == "unmet"


@pytest.mark.parametrize(
    "value, bounds, holds",
    [
        (PRICE, Bounds(max=5), True),
        (PRICE, Bounds(min=6), False),
        (PRICE, Bounds(type="money"), True),
        ("abc 12", Bounds(matches="[0-9]+"), True),
        (None, Bounds(matches=".*"), False),
        (None, Bounds(), False),
        (None, Bounds(max=3), False),
        ("x", Bounds(), True),
        ("3", Bounds(equals=3), True),
        ("a  b", Bounds(equals="a b"), True),
        ([1, 2], Bounds(min=2, max=2), True),
        ("abc", Bounds(contains="b", matches="^a"), True),
        ("abc", Bounds(contains="b", matches="^b"), False),
        (True, Bounds(min=0), False),
    ],
)
def test_all_bounds_must_hold(value: Any, bounds: Bounds, holds: bool) -> None:
    assert within_bounds(value, bounds) is holds


HOSTILE = Bounds(matches="^(a|a)+$")
LONG = "a" * 60 + "!"


def test_a_pattern_that_takes_for_ever_does_not_hold_and_says_so() -> None:
    expected = ValueIs(target=X, bounds=HOSTILE)
    verdict = judge(expected, Finding(count=1, texts=(LONG,)), {})
    assert verdict.judgement == "unmet"
    assert verdict.seen == f"the pattern '^(a|a)+$' took more than 1 s on this text: {LONG}"


def test_a_pattern_made_of_a_template_that_is_none_does_not_hold_and_says_so() -> None:
    expected = OutputIs(name="t", bounds=Bounds(matches="(a"))
    verdict = judge(expected, Finding(), {"t": "(a"})
    assert verdict.judgement == "unmet"
    assert "is not a regular expression" in verdict.seen


def test_a_cut_text_does_not_meet_a_pattern_by_its_cut() -> None:
    assert within_bounds("a" * 100_000, Bounds(matches="^a+$"))
    assert not within_bounds("a" * 100_000 + "!", Bounds(matches="^a+$"))
    assert within_bounds("ab" + "c" * 100_000, Bounds(matches="^ab"))


@pytest.mark.parametrize(
    "glob, url, matches",
    [
        ("**/search?*", "https://a.example/x/search?q=1", True),
        ("/orders", "https://a.example/orders", True),
        ("/orders", "https://a.example/old/orders", False),
        ("/orders/*", "https://a.example/orders/1", True),
        ("/orders/*", "https://a.example/orders/1/edit", False),
        ("/orders/**", "https://a.example/orders/1/edit", True),
        ("https://a.example/", "https://b.example/", False),
        ("https://a.example/?", "https://a.example/x", False),
    ],
)
def test_globs_over_urls(glob: str, url: str, matches: bool) -> None:
    assert url_matches(glob, url) is matches


def verdicts(*words: str) -> tuple[Verdict, ...]:
    """Verdicts with these judgements."""
    return tuple(
        Verdict.model_validate({"expected": {"kind": "text", "text": "x"}, "judgement": word})
        for word in words
    )


def test_unmet_beats_unknown_beats_met() -> None:
    assert all_hold(verdicts("met", "unknown", "unmet")) == "unmet"
    assert all_hold(verdicts("met", "unknown")) == "unknown"
    assert all_hold(verdicts("met", "met")) == "met"


def test_what_was_true_anyway_or_not_known_did_not_turn_true() -> None:
    assert turned_true(verdicts("met", "unmet"), verdicts("met", "met"))
    assert not turned_true(verdicts("met", "met"), verdicts("met", "met"))
    assert not turned_true(verdicts("unknown"), verdicts("met"))
    assert not turned_true(verdicts("unmet"), verdicts("unmet"))


@pytest.mark.parametrize(
    "expected, can",
    [
        (UrlIs(glob="**"), False),
        (UrlIs(glob="**/x"), True),
        (TitleIs(glob="*"), False),
        (CountIs(target=X, bounds=Bounds(min=0)), False),
        (CountIs(target=X, bounds=Bounds(max=0)), True),
        (OutputIs(name="x", bounds=Bounds(min=0)), False),
        (OutputIs(name="x", bounds=Bounds()), True),
        (TextShown(text="x"), True),
    ],
)
def test_an_expectation_that_always_holds_is_known(expected: Expectation, can: bool) -> None:
    assert can_be_false(expected) is can
