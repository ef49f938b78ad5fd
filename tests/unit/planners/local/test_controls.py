"""A value goes into the control that there is now, and what is hidden is reached, or neither."""

from __future__ import annotations

import pytest

from tests.unit.planners.local.test_planner import (
    GOTO,
    MONTHS,
    SITE,
    Eyes,
    brief,
    el,
    page,
    parts,
    refused,
    revised,
    t,
)
from webagent.core.action import Check, Click, Entry, Fill, Goto, Select
from webagent.core.sighting import Element


def choose(value: str) -> Select:
    return Select(entries=(Entry(target=t('combobox "Country"'), value=value),))


def radio(ref: int, name: str, near: str = "Country") -> Element:
    return el(ref, "radio", name, near=near, attrs={"name": near.lower()})


async def test_a_choice_that_follows_todays_value_follows_tomorrows():
    given = brief(GOTO, choose("{{ land }}"), failed=1, values={"land": "Norway"})
    made = await revised(given, Eyes(page(radio(1, "Norway"), radio(2, "Chile"))))
    assert parts(made)[1] == Check(target=t('radio "{{ land }}"'))


@pytest.mark.parametrize(
    "radios",
    [
        (radio(1, "Sweden"), radio(2, "Chile")),
        (radio(1, "Norway", near="Shipping partner"),),
        (radio(1, "Norway"), radio(2, "Norway")),
    ],
    ids=["none says it", "another group", "two say it"],
)
async def test_a_radio_button_is_not_guessed(radios: tuple[Element, ...]):
    await refused(brief(GOTO, choose("Norway"), failed=1), Eyes(page(*radios)))


async def test_only_the_field_that_changed_is_put_in_otherwise_and_the_order_stays():
    def entry(name: str) -> Entry:
        return Entry(target=t(f'textbox "{name}"'), value="Norway")

    given = brief(GOTO, Fill(entries=(entry("Name"), entry("Country"), entry("City"))), failed=1)
    here = page(el(5, "textbox", "Name"), radio(1, "Norway"), el(6, "textbox", "City"))
    made = await revised(given, Eyes(here))
    assert [a.verb for a in made.segment] == ["goto", "fill", "check", "fill"]
    assert [[e.value for e in a.entries] for a in parts(made) if a.verb == "fill"] == [
        ["Norway"], ["Norway"],
    ]  # fmt: skip


@pytest.mark.parametrize("options", [("Basic", "Other"), ("Basic", "Extended plan")])
async def test_an_option_that_is_not_called_as_the_radio_button_is_not_chosen(
    options: tuple[str, ...],
):
    given = brief(GOTO, Check(target=t('radio "Extended"')), failed=1)
    await refused(given, Eyes(page(el(1, "combobox", "Plan", options=options))))


async def test_of_two_lists_with_the_option_none_is_chosen():
    lists = (el(n, "combobox", f"Plan {n}", options=("Basic", "Extended")) for n in (1, 2))
    await refused(brief(GOTO, Check(target=t('radio "Extended"')), failed=1), Eyes(page(*lists)))


BIRTH = Fill(entries=(Entry(target=t('textbox "Birth"'), value="1984-02-03"),))
DAY, YEAR = el(1, "textbox", "Day of birth"), el(3, "textbox", "Year of birth")


async def test_a_day_goes_into_a_list_as_its_options_are_written():
    days = tuple(str(n) for n in range(1, 32))
    padded = tuple(f"{n:02}" for n in range(1, 13))
    here = page(
        el(1, "combobox", "Day of birth", options=days),
        el(2, "combobox", "Month of birth", options=padded), YEAR,
    )  # fmt: skip
    made = await revised(brief(GOTO, BIRTH, failed=1), Eyes(here))
    assert [(a.verb, a.entries[0].value) for a in parts(made)[1:]] == [
        ("select", "3"), ("select", "02"), ("fill", "1984"),
    ]  # fmt: skip


async def test_a_months_name_is_counted_from_the_first_month_and_not_from_the_prompt():
    month = el(2, "combobox", "Month of birth", options=("Choose", *MONTHS))
    made = await revised(brief(GOTO, BIRTH, failed=1), Eyes(page(DAY, month, YEAR)))
    assert parts(made)[2].entries[0].value == "February"


@pytest.mark.parametrize(
    "controls",
    [
        (DAY, YEAR),
        (DAY, el(2, "textbox", "Month of birth"), el(4, "textbox", "Birth month"), YEAR),
        (el(1, "textbox", "Day of delivery"), el(2, "textbox", "Month of delivery"),
         el(3, "textbox", "Year of delivery")),
    ],
    ids=["no month", "two months", "another date"],
)  # fmt: skip
async def test_a_date_is_not_filled_in_by_halves_or_elsewhere(controls: tuple[Element, ...]):
    await refused(brief(GOTO, BIRTH, failed=1), Eyes(page(*controls)))


async def test_what_is_no_date_is_not_taken_apart():
    fill = Fill(entries=(Entry(target=t('textbox "Birth"'), value="in spring"),))
    here = page(DAY, el(2, "textbox", "Month of birth"), YEAR)
    await refused(brief(GOTO, fill, failed=1), Eyes(here))


# -- what is hidden ---------------------------------------------------------------------------

HIDDEN = el(1, "button", "Export", shown=False, container=("navigation",))
EXPORT = Click(target=t('button "Export"'))


def opener(ref: int, name: str = "More", **more: str) -> Element:
    return el(ref, "button", name, attrs={"aria-expanded": "false", **more})


async def test_what_a_menu_hides_is_reached_by_opening_the_menu():
    made = await revised(brief(GOTO, EXPORT, failed=1, drift="unexpected_event"),
                         Eyes(page(HIDDEN, opener(2), el(3, "button", "Help"))))  # fmt: skip
    assert [a.verb for a in made.segment] == ["goto", "click", "click"]
    assert str(parts(made)[1].target) == 'button "More"'
    assert made.redo_from == 1


async def test_a_menu_that_was_opened_in_vain_is_not_opened_again():
    opened = (GOTO, Click(target=t('button "More"')), EXPORT)
    given = brief(GOTO, EXPORT, failed=1, drift="unexpected_event", tried=(opened,))
    made = await revised(given, Eyes(page(HIDDEN, opener(2), opener(3, "Tools"))))
    assert str(parts(made)[1].target) == 'button "Tools"'


@pytest.mark.parametrize(
    "openers",
    [
        tuple(opener(n, f"Menu {chr(64 + n)}") for n in (2, 3, 4)),
        (opener(2, "Delete all"),),
        (el(2, "button", "More", submits=True, attrs={"aria-expanded": "false"}),),
        (el(2, "button", "More", enabled=False, attrs={"aria-expanded": "false"}),),
    ],
    ids=["many", "does something", "sends a form", "disabled"],
)
async def test_nothing_is_pressed_that_may_not_be_an_opener(openers: tuple[Element, ...]):
    given = brief(GOTO, EXPORT, failed=1, drift="unexpected_event")
    await refused(given, Eyes(page(HIDDEN, *openers)))


async def test_a_hidden_links_address_keeps_todays_value_as_a_reference():
    link = el(1, "link", "Orders", href=f"{SITE}/u/4711/orders", shown=False)
    given = brief(
        GOTO, Click(target=t('link "Orders"')), failed=1, drift="unexpected_event",
        values={"user": "4711"},
    )  # fmt: skip
    made = await revised(given, Eyes(page(link)))
    assert parts(made)[1] == Goto(url=f"{SITE}/u/{{{{ user }}}}/orders")
