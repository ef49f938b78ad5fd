"""What a healed action may send: what was seen before, or what plainly only prepares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.core.request_rules import HEALED_RULE, GuardPolicy, Request, refusal, write_shape

SHOP = "http://shop.test"
POLICY = GuardPolicy(origins=(SHOP,), effect="repeatable", in_action=True, healed=True)


def ruled(path: str, *, origin: str = SHOP, background: bool = False, **policy: Any) -> str | None:
    sent = Request(method="POST", url=f"{origin}{path}", kind="document", background=background)
    return refusal(POLICY.model_copy(update=policy), sent)


@pytest.mark.parametrize(
    "url, shape",
    [
        (f"{SHOP}/orders/17", "POST /orders/#"),
        (f"{SHOP}/orders/17/lines/4?sid=9", "POST /orders/#/lines/#"),
        (f"{SHOP}/v2/orders", "POST /v#/orders"),
        (SHOP, "POST /"),
        ("http://[odd/x", "POST /"),
    ],
)
def test_a_write_is_known_again_whatever_its_numbers_and_query(url: str, shape: str):
    assert write_shape("POST", url) == shape


@given(st.integers(min_value=0), st.integers(min_value=0))
def test_two_numbers_in_one_place_have_one_shape(one: int, other: int):
    assert write_shape("PUT", f"{SHOP}/p/{one}/x") == write_shape("PUT", f"{SHOP}/p/{other}/x")


@pytest.mark.parametrize(
    "path",
    ["/cart", "/basket/add/17", "/checkout/address", "/order/shipping", "/consent", "/form/next",
     "/login"],
)  # fmt: skip
def test_what_plainly_prepares_goes_out(path: str):
    assert ruled(path) is None


@pytest.mark.parametrize(
    "path",
    ["/orders", "/cart/checkout", "/basket/17/delete", "/checkout/address/confirm", "/bestellen",
     "/cart/place-order", "/people", "/"],
)  # fmt: skip
def test_what_commits_or_says_nothing_is_held_back(path: str):
    rule = ruled(path)
    assert rule is not None
    assert rule.startswith(HEALED_RULE)
    assert path in rule


def test_a_write_that_a_met_run_has_sent_goes_out():
    assert ruled("/people/18", known_writes=("POST /people/#",)) is None
    assert ruled("/people/18", known_writes=("PUT /people/#",)) is not None


def test_a_write_that_the_recipe_allows_goes_out():
    assert ruled("/people", allow_posts=("**/people",)) is None


def test_the_recipes_own_action_is_not_held_back():
    assert ruled("/people", healed=False) is None


def test_only_the_actions_own_writes_are_held_back():
    assert ruled("/people", in_action=False) is None
    assert ruled("/people", background=True) is None


def test_where_nothing_may_be_written_what_prepares_is_refused_too():
    rule = ruled("/cart", effect="none", known_writes=("POST /cart",))
    assert rule is not None
    assert "effect none" in rule


def test_a_heal_adds_no_origin():
    rule = ruled("/cart", origin="http://away.test", known_writes=("POST /cart",))
    assert rule is not None
    assert "outside" in rule
