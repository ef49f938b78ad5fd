"""What names have in common, what commits, what closes, which links may be opened."""

import pytest

from webagent.core.wording import (
    alike,
    closes,
    goes_on,
    is_committing,
    is_for_good,
    is_harmful_link,
)


@pytest.mark.parametrize(
    "one, other",
    [
        ("Checkout", "Go to checkout"),
        ("Checkout", "Zur Kasse"),
        ("View basket", "Shopping cart"),
        ("Sign in", "Log in"),
        ("Sign in", "Anmelden"),
        ("E-mail", "Email address"),
        ("Place order", "Buy now"),
        ("Postcode", "ZIP"),
    ],
)
def test_names_of_one_thing_are_alike(one: str, other: str):
    assert alike(one, other) >= 0.8


@pytest.mark.parametrize(
    "one, other",
    [("Sign in", "Sign up"), ("Confirm", "Cancel"), ("Next", "Back"), ("Name", "Price")],
)
def test_names_of_two_things_are_not(one: str, other: str):
    assert alike(one, other) == 0


@pytest.mark.parametrize("name", ["Place order", "Pay now", "Delete", "Jetzt kaufen", "Commander"])
def test_what_commits_is_known_by_its_name(name: str):
    assert is_committing(name)
    assert is_for_good(name)
    assert not goes_on(name)


@pytest.mark.parametrize("name", ["Continue", "Next", "Weiter", "Next step"])
def test_what_only_goes_on_is_known_by_its_name(name: str):
    assert goes_on(name)
    assert not is_committing(name)


def test_what_goes_on_and_orders_does_not_only_go_on():
    assert not goes_on("Continue and place order")


def test_a_window_is_closed_by_what_agrees_to_least():
    assert closes("No thanks") > closes("Accept all") > closes("Subscribe") == 0
    assert closes("\u00d7") == closes("Close") == 3
    assert closes("Buy now") == 0


@pytest.mark.parametrize(
    "name, url",
    [
        ("Sign out", "http://a.test/x"),
        ("Leave", "http://a.test/logout"),
        ("x", "http://a.test/account/sign-out"),
        ("Remove", "http://a.test/item/3"),
        ("x", "http://a.test/basket/add/3"),
        ("x", "http://a.test/do?token=abc"),
        ("x", "http://a.test/u?k=0123456789abcdef0123456789abcdef"),
        ("Unsubscribe", "http://a.test/n"),
        ("Cancel", "http://a.test/n"),
        ("Accept", "http://a.test/n"),
        ("x", "http://a.test/list?action=delete"),
    ],
)
def test_a_link_that_may_do_something_is_not_opened(name: str, url: str):
    assert is_harmful_link(name, url)


@pytest.mark.parametrize(
    "name, url",
    [
        ("Basket", "http://a.test/basket"),
        ("Checkout", "http://a.test/checkout"),
        ("Next", "http://a.test/items?page=2"),
        ("Orders", "http://a.test/orders"),
    ],
)
def test_a_link_that_only_shows_is(name: str, url: str):
    assert not is_harmful_link(name, url)
