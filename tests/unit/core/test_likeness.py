"""An element is found again by what it looked like, and nothing is guessed."""

import pytest

from webagent.core.likeness import Wanted, best, likeness, of_target, shape, texts
from webagent.core.sighting import Element
from webagent.core.target import parse_target

ORDER = Element(
    ref=1, tag="button", role="button", name="Place order", attrs={"class": "btn order"},
    container=('form "Checkout"', "main"), place=(0.5, 0.8), submits=True, method="POST",
)  # fmt: skip
MAIL = Element(
    ref=2, tag="input", type="email", role="textbox", name="E-mail", label="E-mail",
    attrs={"id": "mail", "name": "email"}, container=('form "Checkout"', "main"),
)  # fmt: skip


def other(element: Element, **changes: object) -> Element:
    return element.model_copy(update={"ref": 9, **changes})


def test_the_same_element_is_wholly_alike():
    assert likeness(ORDER, ORDER)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "seen",
    [
        other(ORDER, name="Buy now"),
        other(ORDER, attrs={"class": "css-1a2b3c"}),
        other(ORDER, tag="a", role="link", href="http://a.test/#", submits=False),
        other(ORDER, container=("main",), place=(0.1, 0.2)),
    ],
)
def test_a_control_is_found_that_was_renamed_restyled_remade_or_moved(seen: Element):
    found = best(Wanted(ORDER, commits=True), [MAIL, seen])
    assert found is not None
    assert found.element is seen


def test_a_field_is_found_by_what_its_author_calls_it_in_any_language():
    seen = other(MAIL, name="Elektronische Post", label="Elektronische Post")
    found = best(Wanted(MAIL), [seen, other(MAIL, ref=4, name="x", label="x", attrs={"id": "q"})])
    assert found is not None
    assert found.element is seen


def test_two_that_are_as_like_are_none():
    assert best(Wanted(ORDER, commits=True), [other(ORDER), other(ORDER, ref=10)]) is None


def test_two_links_to_one_address_are_one():
    link = Element(tag="a", role="link", name="Basket", href="http://a.test/basket", ref=1)
    assert best(Wanted(link), [link, other(link)]) is not None


def test_a_field_never_stands_for_a_button():
    assert best(Wanted(ORDER, commits=True), [other(ORDER, tag="input", role="textbox")]) is None


def test_what_would_order_does_not_stand_for_what_went_on():
    go_on = other(ORDER, name="Continue")
    merged = other(ORDER, name="Continue and place order")
    assert best(Wanted(go_on, submits=True), [merged]) is None


def test_a_link_away_does_not_stand_for_what_sent_a_form():
    away = Element(tag="a", role="link", name="Place order", href="http://a.test/help", ref=5)
    assert best(Wanted(ORDER, submits=True, commits=True), [away]) is None


def test_what_does_not_show_todays_value_is_not_meant():
    link = Element(tag="a", role="link", name="USB cable", href="http://a.test/p/usb", ref=1)
    hub = other(link, name="USB hub", href="http://a.test/p/hub")
    assert best(Wanted(link, must_say=("USB cable",)), [hub]) is None
    assert best(Wanted(link, must_say=("USB cable",)), [hub, link]) is not None


def test_hidden_elements_are_not_found():
    assert best(Wanted(ORDER, commits=True), [other(ORDER, shown=False)]) is None


def test_names_that_share_letters_and_mean_two_things_are_not_alike():
    assert texts("Sign in", "Sign up") < 0.3
    assert texts("Checkout", "Proceed to checkout") > 0.8


def test_a_bare_target_is_looked_for_by_what_it_says():
    found = best(Wanted(of_target(parse_target('button "Sign in"'))), [
        Element(tag="button", role="button", name="Log in", ref=3), MAIL,
    ])  # fmt: skip
    assert found is not None
    css = of_target(parse_target("form.checkout input#mail.big[name=email]"))
    assert (css.tag, css.attrs) == ("input", {"id": "mail", "class": "big", "name": "email"})


@pytest.mark.parametrize(
    "text, kind",
    [
        ("€ 12.90", "money"), ("12,90 EUR", "money"), ("2026-11-30", "date"), ("12.5", "number"),
        ("A-10001", "code"), ("In stock", "word"), ("A cable of two metres", "sentence"),
    ],
)  # fmt: skip
def test_a_text_has_a_kind(text: str, kind: str):
    assert shape(text) == kind
