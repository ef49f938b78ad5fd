"""Values of the day are holes in what is kept, and today's stand in them when it is used."""

from hypothesis import given
from hypothesis import strategies as st

from webagent.core.sighting import (
    Element,
    filled,
    filled_url,
    has_hole,
    holed,
    holed_url,
    with_holes,
    with_values,
)

YESTERDAY = {"query": "usb-c cable", "choose.title": "USB-C Cable 1 m"}
TODAY = {"query": "hdmi cable", "choose.title": "HDMI Cable 2 m"}


def test_todays_value_stands_where_yesterdays_stood():
    link = Element(
        tag="a", role="link", name="USB-C Cable 1 m", near="Results for usb-c cable",
        href="http://a.test/search?q=usb-c+cable",
    )  # fmt: skip
    kept = with_holes(link, YESTERDAY)
    assert "usb" not in kept.model_dump_json().lower()
    assert with_values(kept, TODAY) == link.model_copy(
        update={
            "name": "HDMI Cable 2 m", "near": "Results for hdmi cable",
            "href": "http://a.test/search?q=hdmi+cable",
        }
    )  # fmt: skip


def test_the_longest_value_is_taken_out_first():
    values = {"a": "cable", "b": "usb cable"}
    assert holed("usb cable", values) == "⟦b⟧"


def test_short_values_stay_since_they_stand_in_many_words_by_chance():
    assert holed("1 m, 12 V", {"n": 1, "v": "12"}) == "1 m, 12 V"


def test_a_hole_without_a_value_stays_one():
    assert has_hole(filled("⟦gone⟧ m", TODAY))
    assert has_hole(filled_url("http://a.test/⟦gone⟧", TODAY))


def test_an_address_loses_its_value_however_it_is_written():
    values = {"q": "a&b c"}
    for url in ("http://a.test/?q=a%26b+c", "http://a.test/?q=a%26b%20c"):
        assert holed_url(url, values) == "http://a.test/?q=⟦q⟧"


@given(st.text(max_size=60), st.text(alphabet="abcdefg ", min_size=3, max_size=12))
def test_a_text_comes_back_with_the_value_of_the_same_day(text: str, value: str):
    values = {"v": value}
    kept = holed(text, values)
    if "⟦" not in text:
        assert filled(kept, values).casefold() == text.replace(value, value.strip()).casefold() or (
            value.strip().casefold() in text.casefold()
        )
