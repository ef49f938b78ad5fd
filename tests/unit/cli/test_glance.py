"""Things on a page as targets, from Playwright's outline."""

import pytest

from webagent import wiring
from webagent.cli.glance import things_of
from webagent.core.errors import BadInput
from webagent.core.target import parse_target

OUTLINE = """\
- banner [ref=e2]:
  - link "Alder Supply" [ref=e3] [cursor=pointer]:
    - /url: /
  - 'searchbox "Search: all" [ref=e4]'
- main [ref=e5]:
  - heading "USB-C Cable" [level=2] [ref=e6]
  - link "Cable" [ref=e7]
  - link "Cable, braided" [ref=e8]
  - link "Cable" [ref=e9]
  - button "Say \\"hello\\"" [ref=e10]
  - paragraph [ref=e11]: button "no button"
  - row "1 2 3" [ref=e12]
"""


def test_named_things_become_targets_with_how_many_they_find():
    assert [(thing.target, thing.count) for thing in things_of(OUTLINE)] == [
        ('link "Alder Supply"', 1),
        ('searchbox "Search: all"', 1),
        ('heading "USB-C Cable"', 1),
        ('link "Cable"', 3),
        ('link "Cable, braided"', 1),
        ('button "Say \\"hello\\""', 1),
    ]


def test_each_of_them_can_be_read_back():
    for thing in things_of(OUTLINE):
        assert parse_target(thing.target).role is not None


def test_a_target_is_typed_as_text_or_as_a_mapping():
    assert wiring.target_from_text('button "Buy"') == parse_target('button "Buy"')
    typed = wiring.target_from_text("{css: h3 a, nth: 1}")
    assert typed == parse_target({"css": "h3 a", "nth": 1})


@pytest.mark.parametrize("text", ["{css: ", "{colour: red}", "{}"])
def test_a_mapping_that_is_no_target_is_bad_input(text: str):
    with pytest.raises(BadInput):
        wiring.target_from_text(text)
