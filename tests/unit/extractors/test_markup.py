"""HTML is read as a reader sees it, and targets name elements in it."""

from __future__ import annotations

import pytest

from webagent.core.target import parse_target
from webagent.extractors.markup import (
    UnreadableTargetError,
    name_of,
    region,
    regions,
    select,
    text_of,
)


@pytest.mark.parametrize(
    "html, wanted",
    [
        ("<p>12<span>.50</span></p>", "12.50"),
        ("<div><p>a</p><p>b</p></div>", "a b"),
        ("<p>a<br>b</p>", "a b"),
        ("<div>a<script>x()</script><style>y</style></div>", "a"),
        ("<div>a<span data-webagent-hidden>b</span></div>", "a"),
        ("<div data-webagent-hidden>itself</div>", "itself"),
        ("<div>a<!-- note --></div>", "a"),
        ("<tr><td>1</td><td>2</td></tr>", "1 2"),
        ("<td>1</td>", "1"),
        ("<li>x</li>", "x"),
    ],
)
def test_the_text_is_what_a_reader_sees(html: str, wanted: str) -> None:
    assert text_of(region(html)) == wanted


def test_regions_are_parsed_together_and_stay_apart() -> None:
    parsed = regions(["<tr><td>1</td></tr>", "<li>2</li>", "plain", "<p>3</p>"])
    assert [text_of(one) for one in parsed] == ["1", "2", "plain", "3"]
    assert [one.name for one in parsed] == ["tr", "li", "div", "p"]


ROW = """<article><h2>Cable</h2><a href="/c" aria-label="Open cable">more</a>
<img alt="Red cable" src="c.png"><b class="price" data-testid="p">$1</b>
<label>Count <input value="2" placeholder="how many"></label>
<span role="status">in stock</span><button>Buy</button><button>Buy now</button></article>"""


@pytest.mark.parametrize(
    "raw, wanted",
    [
        ("h2", ["h2"]),
        ('heading "cable"', ["h2"]),
        ('link "Open"', ["a"]),
        ("link /^Open/", ["a"]),
        ('img "Red"', ["img"]),
        ({"role": "status"}, ["span"]),
        ({"test_id": "p"}, ["b"]),
        ({"label": "Count"}, ["input"]),
        ({"placeholder": "many"}, ["input"]),
        ({"text": "in stock"}, ["span"]),
        ({"xpath": ".//b[@class='price']"}, ["b"]),
        ("b:has-text('$1')", ["b"]),
        ("article", ["article"]),
        ('button "Buy"', ["button", "button"]),
        ({"role": "button", "name": "Buy", "exact": True}, ["button"]),
        ({"role": "button", "nth": 1}, ["button"]),
        ({"role": "button", "nth": 7}, []),
        ({"css": "b", "within": "article"}, ["b"]),
        ({"css": "button", "text": "now"}, ["button"]),
        ('link "None"', []),
    ],
)
def test_a_target_names_elements_of_a_region(raw: object, wanted: list[str]) -> None:
    assert [node.name for node in select(region(ROW), parse_target(raw))] == wanted


@pytest.mark.parametrize("raw", ["b[", {"xpath": "//b["}, {"css": "b", "frame": "iframe"}])
def test_what_cannot_be_looked_for_is_said(raw: object) -> None:
    with pytest.raises(UnreadableTargetError):
        select(region(ROW), parse_target(raw))


def test_a_control_is_named_by_what_names_it() -> None:
    assert name_of(region("<input type=submit value=Send>")) == "Send"
    assert name_of(region("<a><img alt=Home></a>")) == "Home"
    assert name_of(region("<a title=Tip></a>")) == "Tip"


def test_a_names_pattern_that_takes_for_ever_is_told() -> None:
    root = region(f"<div><button>{'a' * 60}!</button></div>")
    with pytest.raises(UnreadableTargetError, match="took more than 1 s"):
        select(root, parse_target("button /^(a|a)+$/"))
