"""The notation of targets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.core.target import ROLES, Target, TargetSyntaxError, parse_target


@pytest.mark.parametrize(
    "written, fields",
    [
        ('button "Place order"', {"role": "button", "name": "Place order"}),
        ('button "Say \\"yes\\""', {"role": "button", "name": 'Say "yes"'}),
        ('Link "Home"', {"role": "link", "name": "Home"}),
        (r"link /Order \d+/", {"role": "link", "name_regex": r"Order \d+"}),
        ("link /order/i", {"role": "link", "name_regex": "(?i)order"}),
        (r"link /a\/b/", {"role": "link", "name_regex": "a/b"}),
        ('link "{{ choose.title }}"', {"role": "link", "name": "{{ choose.title }}"}),
        (".order-no", {"css": ".order-no"}),
        ("table.orders tbody tr", {"css": "table.orders tbody tr"}),
        ('a[href="/x"]', {"css": 'a[href="/x"]'}),
        ("button", {"css": "button"}),
        ({"role": "button"}, {"role": "button"}),
        ({"role": "link", "name": "/x+/"}, {"role": "link", "name_regex": "x+"}),
        ({"label": "Name", "nth": 1}, {"label": "Name", "nth": 1}),
        ({"test_id": "go"}, {"test_id": "go"}),
        ({"xpath": "//a"}, {"xpath": "//a"}),
    ],
)
def test_what_is_written_is_what_is_looked_for(written: Any, fields: dict[str, Any]) -> None:
    target = parse_target(written)
    expected = Target(source=target.source, **fields)
    assert target == expected


def test_a_target_may_be_narrowed_by_others() -> None:
    target = parse_target({"role": "link", "within": 'region "Results"', "frame": "iframe"})
    assert target.within == parse_target('region "Results"')
    assert target.frame == parse_target("iframe")


def test_the_source_is_the_same_however_the_keys_stand() -> None:
    one = parse_target({"role": "link", "name": "x"})
    two = parse_target({"name": "x", "role": "link"})
    assert one.source == two.source == "{role: link, name: x}"


@pytest.mark.parametrize(
    "written, message, hint",
    [
        ('button "Order', "an unclosed quote", "quote this line"),
        ('a[href="x', "an unclosed quote", "quote this line"),
        ("link /Order", "an unclosed slash", "quote this line"),
        ('buton "x"', "not an ARIA role", "did you mean 'button'?"),
        ('button "a" "b"', "more after the name", "to narrow further"),
        ("link /(/", "not a regular expression", ""),
        ("link /x/g", "unknown regex flag 'g'", "i, m and s exist"),
        ("textbox", "is a role", "write {role: textbox}"),
        ("", "an empty target", ""),
        (7, "text or a mapping", ""),
        ({"nam": "x"}, "no key 'nam'", "did you mean 'name'?"),
        ({"nth": 1}, "names no element", "give one of role"),
        ({"name": "x"}, "names no element", ""),
        ({"css": "a", "name": "x"}, "name goes with role", ""),
        ({"role": "buton"}, "not an ARIA role", "did you mean 'button'?"),
        ({"css": 7}, "css is text", ""),
        ({"css": "a", "nth": "1"}, "nth is a number", ""),
        ({"css": "a", "nth": True}, "nth is a number", ""),
        ({"css": "a", "exact": 1}, "exact is true or false", ""),
    ],
)
def test_a_slip_is_told(written: Any, message: str, hint: str) -> None:
    with pytest.raises(TargetSyntaxError) as caught:
        parse_target(written)
    assert message in str(caught.value)
    assert hint in caught.value.hint


@given(st.sampled_from(sorted(ROLES)), st.text(min_size=1))
def test_a_quoted_name_comes_back(role: str, name: str) -> None:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    assert parse_target(f'{role} "{escaped}"').name == name


@given(st.text())
def test_any_text_is_a_target_or_a_slip(text: str) -> None:
    try:
        target = parse_target(text)
    except TargetSyntaxError:
        return
    assert target.source == text.strip()
