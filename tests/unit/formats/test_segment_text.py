"""What is written of a segment reads back as the same segment, whatever stands in it."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webagent.formats.document import Report
from webagent.formats.expectation_grammar import EXPECTATIONS
from webagent.formats.segment_grammar import SEGMENT
from webagent.formats.segment_text import action_data, expectation_data
from webagent.formats.yaml_places import compose
from webagent.formats.yaml_text import scalar, written, written_block

few = settings(max_examples=int(os.environ.get("EXAMPLES", "30")), deadline=None)


def read(shape: Any, text: str) -> Any:
    report = Report("")
    node = compose(text, report)
    assert node is not None, (report.problems, text)
    made = shape.read(node, "", report)
    assert not report.problems, (report.problems, text)
    return made


ACTIONS = """\
- goto: "https://shop.example/?q={{ query }}#top"
- back
- reload:
  timeout: 500ms
- click: 'button "Größe: 10 # {cm}"'
  within: .results
  optional: true
  frame: 'iframe[name="a"]'
- click: {role: link, name: "/Order \\\\d+/i", exact: true, nth: 0, within: {text: Basket}}
- hover: a[data-x="1"] > a:hover
- fill: {searchbox "Search": "{{ query }}", .max: 20, .plz: "01099", .flag: true, "#a": "", .z: "5"}
- fill: [{target: {label: Name}, value: " x "}, {target: .b, value: "yes"}]
- fill: {target: .b, value: "{{ secrets.word }}"}
- select: {combobox "Size": [S, M]}
- type: {textbox "Code": "{{ secrets.code | totp }}"}
- upload: {"input[type=file]": "{{ photo }}"}
- press: Enter
- press: {key: "5", target: .x}
- scroll: bottom
- scroll: {by: -500}
- scroll: {css: top}
- download: link "Invoice"
- download: {target: link "Invoice", name: invoice}
- drag: {from: .card, to: .column}
- wait: .results
- wait: {text: Done}
- wait: {test_id: done, nth: -1}
- dialog: accept
- dialog: {accept: "2024"}
- tab: new
- read:
    title: h1
    named: {target: heading "A", attr: title, optional: true}
    whole: {type: html, css: .x}
    site: {value: a}
    none: {value: null}
    offers:
      each: article
      key: .order-no
      fields: {title: h2, own: {type: text}, link: {css: a, attr: href}, n: {xpath: .//b, nth: 2}}
      pages: {next: link "Next", max: 5, until: rows | length >= 40}
      optional: true
    orders: {table: table.orders, key: no, types: {Total: money}, columns: {"Order no": no}}
- commit: {click: button "Place order", request: "POST **/orders"}
"""

EXPECTED = """\
- url: '**/search?*'
- title: Thank*
- text: Thank you
- text: {text: Done, within: .x}
- {element: .order-no, absent: {role: alert, name: /error/}}
- count: {article.product: {min: 1}}
- rows: {table "Basket": 1}
- value: {.total: {max: "{{ max_price }}", matches: "\\\\d"}, "#n": {equals: [1, 2]}}
- output: {order_number: {matches: "[0-9]+"}, n: 3, t: {type: money, contains: x}}
- output: order
- download: "*.csv"
- download: {name: "*", min_bytes: 10}
- status: 2xx
- status: [200, 404]
- response: {url: "**/api/orders", method: POST, status: 201}
- response: "**/x"
- dialog: Saved
"""


def test_every_action_is_written_as_it_was_read():
    segment = read(SEGMENT, ACTIONS)
    data = [action_data(action) for action in segment]
    assert read(SEGMENT, written_block(data, 0)) == segment
    assert read(SEGMENT, written(data)) == segment


def test_every_expectation_is_written_as_it_was_read():
    expected = read(EXPECTATIONS, EXPECTED)
    data = [expectation_data(one) for one in expected]
    assert read(EXPECTATIONS, written_block(data, 0)) == expected


@pytest.mark.parametrize(
    "value, told",
    [
        ('button "Place order"', 'button "Place order"'),
        ("{{ query }}", '"{{ query }}"'),
        ('input[name="q"]', "'input[name=\"q\"]'"),
        ("a #b", '"a #b"'),
        ("01099", '"01099"'),
        ("yes", '"yes"'),
        ("", '""'),
        ("Straße", "Straße"),
        ("a: b", '"a: b"'),
        ("https://shop.example/", "https://shop.example/"),
        ("two\nlines", '"two\\nlines"'),
        (True, "true"),
        (None, "null"),
        (2.5, "2.5"),
    ],
)
def test_a_scalar_has_quotes_only_where_it_needs_them(value: Any, told: str):
    assert scalar(value) == told


leaf = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20)
words = st.text(alphabet="ab:#-{}[]'\"\\ ,*&!|>%@`ä\n0", max_size=12)
data = st.recursive(
    leaf | words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(words.filter(lambda w: w != "<<"), inner, max_size=3)
    ),
    max_leaves=12,
)


@few
@given(data)
def test_data_is_written_so_that_it_reads_back(value: Any):
    for text in (written({"x": value}), written_block({"x": value}, 0)):
        report = Report("")
        node = compose(text, report)
        assert node is not None, (report.problems, text)
        assert not report.problems, (report.problems, text)
        assert node.plain_value() == {"x": value}


target = st.sampled_from([
    'button "Go"', ".css > a", {"role": "link", "name": 'a "b"', "nth": 1}, {"label": "Straße #1"},
    {"text": "x", "within": {"css": ".y"}}, 'link /Order \\d+/i', "a:has-text('x')",
])  # fmt: skip
value = st.sampled_from(["{{ query }}", "x: y", "", "012", 'say "hi"', 5, 2.5, True, "a\nb", "#"])
action = st.one_of(
    st.builds(lambda t: {"click": t}, target),
    st.builds(lambda t, w: {"hover": t, "within": w, "timeout": 2.5}, target, target),
    st.builds(lambda es: {"fill": es}, st.lists(
        st.builds(lambda t, v: {"target": t, "value": v}, target, value), min_size=1, max_size=3)),
    st.builds(lambda t, a: {"read": {"n": {"target": t, "attr": a}}}, target, st.just("href")),
    st.builds(lambda t: {"wait": {"element": t}}, target),
    st.builds(lambda t: {"commit": {"click": t}}, target),
)  # fmt: skip


@few
@given(st.lists(action, min_size=1, max_size=4))
def test_a_segment_is_written_so_that_it_reads_back(raw: list[Any]):
    segment = read(SEGMENT, written(raw))
    once_more = [action_data(one) for one in segment]
    assert read(SEGMENT, written(once_more)) == segment
    assert read(SEGMENT, written_block(once_more, 0)) == segment
