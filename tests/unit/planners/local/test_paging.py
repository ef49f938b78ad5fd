"""A page more or less: only along what goes on and commits nothing, and never twice."""

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
    t,
)
from webagent.core.action import Check, Click, Commit
from webagent.core.sighting import Element

GO_ON = Click(target=t('button "Continue"'))
COMMIT = Commit(action=Click(target=t('button "Place order"')), request="POST **/orders")


def on(name: str = "Continue", **more: Any) -> Element:
    return el(9, "button", name, **{"form": 1, "submits": True, "method": "POST", **more})


def asked(*segment: Any, failed: int = 1, **more: Any) -> Any:
    return brief(*segment, failed=failed, rung="split", **more)


async def test_a_page_that_was_put_between_is_gone_on_from():
    made = await revised(asked(GOTO, fields("City")), Eyes(page(on(), el(1, "link", "Help"))))
    assert [a.verb for a in made.segment] == ["goto", "click", "fill"]
    assert (made.redo_from, str(parts(made)[1].target)) == (1, 'button "Continue"')


@pytest.mark.parametrize(
    "name",
    ["Place order", "Continue and pay", "Weiter und bestellen", "Confirm", "Next: delete", "Send",
     "Kaufen", "Save and continue"],
)  # fmt: skip
async def test_what_commits_is_never_gone_on_by(name: str):
    await refused(asked(GOTO, fields("City")), Eyes(page(on(name))))


@pytest.mark.parametrize(
    "control",
    [on(shown=False), on(enabled=False), el(9, "link", "Next"), el(9, "textbox", "Continue")],
    ids=["hidden", "disabled", "a pager's link", "a field"],
)
async def test_what_cannot_be_pressed_or_only_turns_a_list_is_not_gone_on_by(control: Element):
    await refused(asked(GOTO, fields("City")), Eyes(page(control)))


async def test_of_two_ways_on_none_is_chosen():
    here = page(on(), on("Next").model_copy(update={"ref": 8}))
    await refused(asked(GOTO, fields("City")), Eyes(here))


async def test_what_was_just_pressed_is_not_pressed_again():
    await refused(asked(GOTO, GO_ON, fields("City"), failed=2), Eyes(page(on())))


async def test_a_click_before_the_commit_is_not_left_out():
    here = page(el(1, "button", "Place order", submits=True))
    await refused(asked(GOTO, GO_ON, COMMIT), Eyes(here))


async def test_a_click_that_did_more_than_go_on_is_not_left_out():
    given = asked(GOTO, Click(target=t('button "Apply voucher"')), fields("City"))
    await refused(given, Eyes(page(el(1, "textbox", "City"))))


async def test_a_click_is_not_left_out_while_what_follows_is_not_here():
    await refused(asked(GOTO, GO_ON, fields("City")), Eyes(page(el(1, "textbox", "Voucher"))))


async def test_fields_of_this_page_are_filled_in_before_one_that_moved_on():
    tick = Check(target=t('checkbox "Gift"'))
    here = page(el(1, "textbox", "City"), on())
    made = await revised(asked(GOTO, tick, fields("City"), GO_ON), Eyes(here))
    assert [a.verb for a in made.segment] == ["goto", "fill", "check", "click"]
    assert made.redo_from == 1


async def test_what_was_put_off_once_is_not_put_back():
    tick = Check(target=t('checkbox "Gift"'))
    given = asked(GOTO, tick, fields("City"), GO_ON)
    here = page(el(1, "textbox", "City"))
    made = await revised(given, Eyes(here))
    again = asked(*made.segment, failed=2, tried=(given.step.segment or (),))
    await refused(again, Eyes(here))
