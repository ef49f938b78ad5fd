"""A list is read anew as a whole, from what repeats, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.planners.local.test_planner import (
    GOTO,
    LIST,
    SITE,
    Eyes,
    brief,
    el,
    page,
    parts,
    refused,
    revised,
    row,
    t,
)
from webagent.core.action import FieldRead, Pages, Read, ReadSpec
from webagent.core.brief import Brief
from webagent.core.expect import Bounds, OutputIs, Verdict
from webagent.core.sighting import Element, Sighting


def reading(spec: ReadSpec = LIST, name: str = "offers", **more: Any) -> Brief:
    unmet = Verdict(expected=OutputIs(name=name, bounds=Bounds(min=1)), judgement="unmet")
    return brief(GOTO, Read(outputs={name: spec}), failed=None, drift="output_invalid",
                 verdicts=(unmet,), **more)  # fmt: skip


def goods(tag: str = "div", css: str = "card", at: int = 10) -> list[Element]:
    return [*row(at, tag, css, "Cable", "€ 3.00"), *row(at + 10, tag, css, "Hub", "€ 9.00")]


@pytest.mark.parametrize(
    "tag, css, each",
    [("li", "product-tile", "li.product-tile"), ("div", "card", "div.card"), ("li", "", "li")],
)
async def test_rows_are_named_by_what_they_have_in_common(tag: str, css: str, each: str):
    made = await revised(reading(), Eyes(page(*goods(tag, css))))
    spec = parts(made)[1].outputs["offers"]
    assert str(spec.each) == each
    assert (spec.key, set(spec.fields)) == ("link", {"price", "link"})
    assert (spec.fields["price"].type, spec.fields["link"].attr) == ("money", "href")


async def test_rows_that_are_named_as_before_keep_their_name_when_a_field_is_renamed():
    here = page(*goods("article", "product"))
    made = await revised(reading(), Eyes(here))
    spec = parts(made)[1].outputs["offers"]
    assert str(spec.each) == "article.product"
    assert spec.fields["price"].target.css == "span.cost"


async def test_of_two_lists_that_are_as_good_none_is_read():
    here = page(*goods(css="card"), *goods(css="tile", at=50))
    await refused(reading(), Eyes(here))


async def test_rows_without_a_field_are_no_list_of_these_rows():
    without = [e for e in goods() if e.tag != "span"]
    await refused(reading(), Eyes(page(*without)))


async def test_what_was_not_blamed_is_not_read_anew():
    unmet = Verdict(expected=OutputIs(name="other", bounds=Bounds(min=1)), judgement="unmet")
    given = reading().model_copy(update={"verdicts": (unmet,)})
    await refused(given, Eyes(page(*goods())))


async def test_only_a_list_of_several_pages_is_begun_again():
    plain = await revised(reading(), Eyes(page(*goods())))
    assert (plain.first_wrong, plain.redo_from) == (1, 1)
    paged = LIST.model_copy(update={"pages": Pages(next=t('link "Next"'))})
    here = page(*goods(), el(40, "link", "Next", href=f"{SITE}/here?p=2"))
    made = await revised(reading(paged, documents=(0, 1)), Eyes(here))
    assert (made.first_wrong, made.redo_from) == (1, 0)


PRICE = FieldRead(target=t(".price"), type="money")
SEEN = Sighting(
    recipe_id="r", step="s", target=".price",
    element=Element(tag="span", text="€ 3.00", near="Price", attrs={"class": "price"}),
)  # fmt: skip


def value(ref: int, text: str, near: str, css: str) -> Element:
    return Element(ref=ref, tag="span", role="span", text=text, near=near, css=css,
                   attrs={"class": css.removeprefix(".")})  # fmt: skip


async def test_one_value_is_found_by_what_stands_before_it_whatever_it_says_today():
    here = page(value(1, "€ 8.50", "Price", ".cost"), value(2, "Blue", "Colour", ".colour"))
    given = brief(GOTO, Read(outputs={"price": PRICE}), failed=1, sightings=(SEEN,))
    made = await revised(given, Eyes(here))
    spec = parts(made)[1].outputs["price"]
    assert (str(spec.target), spec.type) == ("{css: .cost}", "money")


@pytest.mark.parametrize(
    "shown",
    [
        (value(1, "Blue", "Price", ".cost"),),
        (value(1, "€ 8.50", "Price", ".a"), value(2, "€ 9.50", "Price", ".b")),
    ],
    ids=["not of its kind", "two that differ"],
)
async def test_a_value_is_not_guessed(shown: tuple[Element, ...]):
    given = brief(GOTO, Read(outputs={"price": PRICE}), failed=1, sightings=(SEEN,))
    await refused(given, Eyes(page(*shown), left=0))
