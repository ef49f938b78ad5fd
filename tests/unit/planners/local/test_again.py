"""A target is found again only where one element must be meant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.planners.local.test_planner import (
    GOTO,
    SITE,
    Eyes,
    brief,
    el,
    fields,
    page,
    parts,
    refused,
    revised,
    sighted,
    t,
)
from webagent.core.action import Click, Commit, FieldRead, Goto, Read
from webagent.core.sighting import Element, Sighting


def seen(target: str, element: Element, **more: Any) -> Sighting:
    return Sighting(recipe_id="r", step="s", target=target, element=element, **more)


HOLED = seen(
    'link "{{ choose.title }}"',
    el(0, "link", "⟦choose.title⟧", href=f"{SITE}/p/1", attrs={"class": "title"}),
)
NAMED = Click(target=t('link "{{ choose.title }}"'))


def item(ref: int, name: str, **more: Any) -> Element:
    return el(ref, "link", name, href=f"{SITE}/p/{ref}", attrs={"class": "title"}, **more)


async def test_what_does_not_show_todays_value_is_not_taken_however_like_it_looks():
    given = brief(
        GOTO, NAMED, failed=1, rung="find_again", sightings=(HOLED,),
        values={"choose.title": "Desk lamp"},
    )  # fmt: skip
    await refused(given, Eyes(page(item(1, "Floor lamp"))))


async def test_what_shows_todays_value_is_found_and_stays_a_reference():
    given = brief(
        GOTO, Click(target=t('button "{{ choose.title }}"')), failed=1, rung="find_again",
        values={"choose.title": "Desk lamp"},
    )  # fmt: skip
    here = page(el(1, "link", "Desk lamp: details"), el(2, "link", "Floor lamp: details"))
    made = await revised(given, Eyes(here))
    assert str(parts(made)[1].target) == 'link "{{ choose.title }}: details"'


async def test_a_text_that_finds_a_part_of_another_name_is_contradicted_by_its_sighting():
    here = page(
        el(1, "textbox", "Your e-mail for news", attrs={"name": "news"}, container=("footer",)),
        el(2, "textbox", "Mail address", attrs={"name": "email", "autocomplete": "email"},
           container=('form "Checkout"',)),
        el(3, "textbox", "Recipient", attrs={"name": "who"}),
    )  # fmt: skip
    kept = (
        sighted("E-mail", attrs={"name": "email", "autocomplete": "email"},
                container=('form "Checkout"',)),
        sighted("Name", attrs={"name": "who"}),
    )  # fmt: skip
    given = brief(GOTO, fields("Name", "E-mail"), failed=1, rung="find_again", sightings=kept)
    made = await revised(given, Eyes(here))
    assert [str(e.target) for e in parts(made)[1].entries] == [
        'textbox "Recipient"', 'textbox "Mail address"',
    ]  # fmt: skip


async def test_two_targets_that_would_be_one_element_are_not_found():
    given = brief(GOTO, fields("Mail", "E-mail"), failed=1, rung="find_again")
    await refused(given, Eyes(page(el(1, "textbox", "Email address"))))


async def test_what_lies_over_the_page_goes_before_anything_is_found_again():
    here = page(el(1, "dialog", ""), el(2, "button", "Log in"), overlay=1)
    await refused(brief(GOTO, Click(target=t('button "Sign in"')), failed=1, rung="find_again"),
                  Eyes(here))  # fmt: skip


async def test_what_is_read_is_not_found_again_by_itself():
    given = brief(GOTO, Read(outputs={"x": FieldRead(target=t('button "Sign in"'))}), failed=1,
                  rung="find_again")  # fmt: skip
    await refused(given, Eyes(page(el(1, "button", "Log in"))))


@pytest.mark.parametrize(
    "was, now",
    [("Sign in", "Sign up"), ("Continue", "Pay now"), ("Save", "Delete"), ("Search", "Sign out")],
)
async def test_a_button_that_means_something_else_is_not_taken(was: str, now: str):
    given = brief(GOTO, Click(target=t(f'button "{was}"')), failed=1, rung="find_again")
    await refused(given, Eyes(page(el(1, "button", now))))


@pytest.mark.parametrize(
    "was, now",
    [("Sign in", "Anmelden"), ("Search", "Suchen"), ("Add to cart", "Add to basket"),
     ("Next", "Weiter")],
)  # fmt: skip
async def test_a_button_that_means_the_same_is_taken_in_another_language(was: str, now: str):
    given = brief(GOTO, Click(target=t(f'button "{was}"')), failed=1, rung="find_again")
    made = await revised(given, Eyes(page(el(1, "button", now), el(2, "button", "Help"))))
    assert str(parts(made)[1].target) == f'button "{now}"'


async def test_what_is_hidden_is_not_found():
    given = brief(GOTO, Click(target=t('button "Sign in"')), failed=1, rung="find_again")
    await refused(given, Eyes(page(el(1, "button", "Log in", shown=False))))


async def test_a_commit_is_found_again_where_a_met_run_has_sent_the_same():
    commit = Commit(action=Click(target=t('button "Send order"')))
    was = el(0, "button", "Send order", submits=True)
    kept = seen('button "Send order"', was, writes=("POST /orders",))
    given = brief(GOTO, commit, failed=1, rung="find_again", sightings=(kept,))
    form = {"method": "POST", "submits": True}
    gifts = el(1, "button", "Place order", attrs={"action": "/gifts"}, **form)
    orders = el(1, "button", "Place order", attrs={"action": "/orders"}, **form)
    await refused(given, Eyes(page(gifts)))
    made = await revised(given, Eyes(page(orders)))
    assert str(parts(made)[1].action.target) == 'button "Place order"'


async def test_a_quote_in_a_name_is_written_so_that_it_is_read_again():
    given = brief(GOTO, Click(target=t('button "Sign in"')), failed=1, rung="find_again")
    made = await revised(given, Eyes(page(el(1, "button", 'Log "in"'))))
    assert parts(made)[1].target.name == 'Log "in"'


async def test_what_is_done_on_a_later_page_is_left_as_it_is():
    sign_in, elsewhere = Click(target=t('button "Sign in"')), Goto(url=f"{SITE}/b")
    given = brief(GOTO, sign_in, elsewhere, sign_in.model_copy(update={"timeout": 9.0}), failed=1,
                  rung="find_again")  # fmt: skip
    made = await revised(given, Eyes(page(el(1, "button", "Log in"))))
    assert made.redo_from == 1
    assert str(parts(made)[1].target) == 'button "Log in"'
