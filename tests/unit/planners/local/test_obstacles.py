"""What lies over a page is closed by what agrees to least; what stands before it is left."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.planners.local.test_planner import (
    GOTO,
    Eyes,
    brief,
    el,
    fields,
    page,
    parts,
    refused,
    revised,
    step,
    t,
)
from webagent.core.action import Click, Commit
from webagent.core.sighting import Element, Survey

SEND = Click(target=t('button "Send"'))


def over(*names: str, **more: Any) -> Survey:
    inside = (el(n, "button", name, row=1) for n, name in enumerate(names, 2))
    return page(el(1, "dialog", ""), *inside, el(20, "button", "Send"), overlay=1, **more)


@pytest.mark.parametrize(
    "names, pressed",
    [
        (("Accept all", "Reject all"), "Reject all"),
        (("Alle akzeptieren", "Ablehnen"), "Ablehnen"),
        (("Accept all", "Close"), "Close"),
        (("Subscribe", "No thanks"), "No thanks"),
        (("Accept", "Settings"), "Accept"),
    ],
)
async def test_it_is_closed_by_what_agrees_to_least(names: tuple[str, ...], pressed: str):
    made = await revised(brief(GOTO, SEND, failed=1, drift="unexpected_event"), Eyes(over(*names)))
    assert str(parts(made)[1].target) == f'button "{pressed}"'


@pytest.mark.parametrize(
    "names", [("Subscribe",), ("Order now",), ("Sign in",), ("Delete and close",), ("Details",)]
)
async def test_what_does_more_than_close_is_not_pressed(names: tuple[str, ...]):
    await refused(brief(GOTO, SEND, failed=1, drift="unexpected_event"), Eyes(over(*names)))


async def test_what_was_pressed_in_vain_is_not_pressed_again():
    tried = (GOTO, Click(target=t('button "Reject all"'), optional=True), SEND)
    given = brief(GOTO, SEND, failed=1, drift="unexpected_event", tried=(tried,))
    made = await revised(given, Eyes(over("Accept all", "Reject all")))
    assert str(parts(made)[1].target) == 'button "Accept all"'


async def test_a_dialog_that_holds_what_is_wanted_is_not_closed():
    here = page(el(1, "dialog", ""), el(2, "button", "Close", row=1),
                el(3, "button", "Send", row=1), overlay=1)  # fmt: skip
    await refused(brief(GOTO, SEND, failed=1, drift="unexpected_event"), Eyes(here))


@pytest.mark.parametrize("name", ["Close", "Reject all"])
async def test_what_is_outside_of_it_does_not_close_it(name: str):
    here = page(el(1, "dialog", ""), el(2, "button", name), el(3, "button", "Send"), overlay=1)
    await refused(brief(GOTO, SEND, failed=1, drift="unexpected_event"), Eyes(here))


# -- before the page --------------------------------------------------------------------------


def on(name: str = "Continue to the site", **more: Any) -> Element:
    return el(1, "link", name, **more)


@pytest.mark.parametrize(
    "elements",
    [
        (on("Pay and continue"),),
        (on(), el(2, "link", "Continue shopping")),
        (on(), *(el(n, "link", f"Offer {n}") for n in range(2, 12))),
        (on(), el(2, "textbox", "User"), el(3, "textbox", "Code")),
        (on(container=("navigation",)),),
    ],
    ids=["commits", "two ways on", "many controls", "a form", "the frame of every page"],
)  # fmt: skip
async def test_a_page_that_is_no_interstitial_is_not_gone_on_from(elements: tuple[Element, ...]):
    given = brief(GOTO, fields("Name"), failed=1)
    await refused(given, Eyes(page(*elements), left=0))


async def test_an_interstitial_that_leads_back_to_itself_is_gone_on_from_once():
    gone_on = Click(target=t('link "Continue to the site"'), optional=True)
    given = brief(GOTO, gone_on, fields("Name"), failed=2)
    await refused(given, Eyes(page(on()), left=0))


async def test_an_interstitial_is_never_gone_on_from_after_the_commit():
    commit = Commit(action=Click(target=t('button "Buy"')))
    given = brief(step=step(GOTO, commit, fields("Name"), effect="once"), failed=2)
    await refused(given, Eyes(page(on()), left=0))
