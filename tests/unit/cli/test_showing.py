"""Text from pages on a terminal: no control sequence, no markup, no flood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.cli.showing import one_line, plain, short_outputs, short_value


def test_control_sequences_and_overrides_are_taken_out():
    assert plain("a\x1b[2Jb\u202ec\x07d\ne") == "a\ufffd[2Jb\ufffdc\ufffdd\ne"


@given(st.text())
def test_nothing_printed_can_command_a_terminal(text: str):
    shown = one_line(text)
    assert len(shown) <= 80
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)


@pytest.mark.parametrize(
    "value, said",
    [
        ([1, 2], "2 rows"),
        ([{}], "1 row"),
        ({"amount": 12.9, "currency": "€"}, "12.9 €"),
        ({"amount": None, "currency": None}, "no amount"),
        ({"a": 1}, '{"a": 1}'),
        (None, "null"),
        ("x" * 50, "x" * 39 + "…"),
    ],
)
def test_a_value_is_told_in_a_few_words(value: object, said: str):
    assert short_value(value) == said


def test_an_empty_list_of_bad_rows_is_not_told():
    outputs = {"offers": [1, 2], "offers_bad": [], "note": None}
    assert short_outputs(outputs) == "offers: 2 rows"
