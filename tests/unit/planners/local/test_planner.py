"""Each way of the local planner, on pages made by hand; it answers "I cannot" rather than guess."""

from __future__ import annotations

from typing import Any

import pytest

from webagent.core.action import (
    Action,
    Check,
    Click,
    Commit,
    Entry,
    FieldRead,
    Fill,
    Goto,
    ListRead,
    Pages,
    Read,
    Select,
    TableRead,
)
from webagent.core.brief import Brief
from webagent.core.expect import Bounds, OutputIs, Verdict
from webagent.core.plan import PlanStep
from webagent.core.revision import Cannot, Revision
from webagent.core.sighting import Element, Sighting, Survey
from webagent.core.target import Target, parse_target
from webagent.planners.local import LocalPlanner

SITE = "http://a.test"


def t(raw: object) -> Target:
    return parse_target(raw)


def el(ref: int, role: str, name: str, **more: Any) -> Element:
    tags = {"link": "a", "button": "button", "textbox": "input", "combobox": "select"}
    return Element(ref=ref, tag=tags.get(role, role), role=role, name=name, **more)


def page(*elements: Element, url: str = f"{SITE}/here", **more: Any) -> Survey:
    return Survey(url=url, status=more.pop("status", 200), elements=elements, **more)


def step(*segment: Action, effect: Any = "repeatable", **more: Any) -> PlanStep:
    return PlanStep(path="s", do="fill", goal="Goal", effect=effect, segment=segment, **more)


def brief(*segment: Action, failed: int | None, **more: Any) -> Brief:
    made: dict[str, Any] = {
        "drift": "target_missing",
        "pages_left": 20,
        "seconds_left": 60.0,
        **more,
    }
    of = made.pop("step", None) or step(*segment)
    return Brief(step=of, failed_index=failed, **made)


def parts(made: Revision) -> list[Any]:
    """The actions of a revision, whatever they are."""
    return list(made.segment)


class Eyes:
    """A scout over pages made by hand."""

    def __init__(self, here: Survey, pages: dict[str, Survey] | None = None, left: int = 10):
        self.page, self.pages, self.left = here, pages or {}, left
        self.looked: list[str] = []

    async def here(self) -> Survey:
        return self.page

    async def look(self, url: str) -> Survey | None:
        self.left -= 1
        self.looked.append(url)
        return self.pages.get(url)

    async def sitemap(self, origin: str) -> tuple[str, ...]:
        return tuple(self.pages) if f"{origin}/sitemap" in self.pages else ()

    def pages_left(self) -> int:
        return self.left


async def revised(given: Brief, eyes: Eyes) -> Revision:
    answer = await LocalPlanner().revise(given, eyes)
    assert isinstance(answer, Revision), answer
    return answer


async def refused(given: Brief, eyes: Eyes) -> str:
    answer = await LocalPlanner().revise(given, eyes)
    assert isinstance(answer, Cannot), answer
    return answer.reason


GOTO = Goto(url=f"{SITE}/here")


async def test_a_renamed_button_is_found_again_in_its_place():
    given = brief(GOTO, Click(target=t('button "Sign in"')), failed=1, rung="find_again")
    made = await revised(given, Eyes(page(el(1, "button", "Log in"), el(2, "link", "Help"))))
    assert str(parts(made)[1].target) == 'button "Log in"'
    assert (made.first_wrong, made.redo_from) == (1, 1)
    assert made.healed == (('button "Sign in"', 'button "Log in"'),)


async def test_two_that_may_be_meant_are_not_chosen_from():
    given = brief(GOTO, Click(target=t('button "Sign in"')), failed=1)
    said = await refused(given, Eyes(page(el(1, "button", "Log in"), el(2, "button", "Login"))))
    assert "may be" in said


async def test_what_was_tried_is_not_given_again():
    new = (GOTO, Click(target=t('button "Log in"')))
    given = brief(GOTO, Click(target=t('button "Sign in"')), failed=1, tried=(new,))
    await refused(given, Eyes(page(el(1, "button", "Log in"))))


async def test_what_orders_is_not_taken_for_what_goes_on():
    given = brief(GOTO, Click(target=t('button "Continue"')), failed=1)
    await refused(given, Eyes(page(el(1, "button", "Continue and place order", submits=True))))


async def test_a_page_with_braces_in_a_name_makes_no_template():
    given = brief(GOTO, Click(target=t('button "Sign in"')), failed=1)
    seen = el(1, "button", "Log in {{ secrets.password }}", css="#go")
    answer = await LocalPlanner().revise(given, Eyes(page(seen)))
    assert "secrets" not in answer.model_dump_json(include={"segment"})


def fields(*names: str) -> Fill:
    return Fill(entries=tuple(Entry(target=t(f'textbox "{n}"'), value=n) for n in names))


def sighted(name: str, **more: Any) -> Sighting:
    element = el(0, "textbox", name, label=name, **more)
    return Sighting(recipe_id="r", step="s", target=f'textbox "{name}"', element=element)


async def test_two_values_never_go_into_one_field():
    # "Address" is a part of "Email address", which is where the e-mail goes.
    here = page(
        el(1, "textbox", "Recipient", attrs={"name": "name"}),
        el(2, "textbox", "Street and town", attrs={"name": "address"}),
        el(3, "textbox", "Email address", attrs={"name": "email"}),
    )
    seen = (
        sighted("Name", attrs={"name": "name"}),
        sighted("Address", attrs={"name": "address"}),
        sighted("E-mail", attrs={"name": "email"}),
    )
    given = brief(GOTO, fields("Name", "Address", "E-mail"), failed=1, sightings=seen)
    made = await revised(given, Eyes(here))
    found = [str(e.target) for e in parts(made)[1].entries]
    assert found == [
        'textbox "Recipient"', 'textbox "Street and town"', 'textbox "Email address"',
    ]  # fmt: skip


async def test_a_field_that_is_on_a_later_page_is_filled_in_there():
    given = brief(GOTO, fields("Name", "City"), Click(target=t('button "Send"')), failed=1)
    here = page(el(1, "textbox", "Name", form=1), el(2, "button", "Continue", form=1, submits=True))
    first = await revised(given, Eyes(here))
    assert [len(a.entries) for a in parts(first)[1:3]] == [1, 1]
    again = brief(*first.segment, failed=2)
    second = await revised(again, Eyes(here))
    assert str(parts(second)[2].target) == 'button "Continue"'
    assert (second.redo_from, len(second.segment)) == (2, 5)


async def test_a_page_that_comes_back_is_not_gone_on_from_again():
    go_on = Click(target=t('button "Continue"'))
    given = brief(GOTO, go_on, fields("City"), failed=2)
    await refused(given, Eyes(page(el(1, "button", "Continue", form=1, submits=True))))


async def test_in_a_step_without_effect_no_form_is_sent_to_go_on():
    here = page(el(1, "button", "Continue", form=1, submits=True, method="POST"))
    given = brief(failed=1, step=step(GOTO, fields("City"), effect="none"))
    await refused(given, Eyes(here))


async def test_a_click_that_led_to_what_is_here_already_is_left_out():
    given = brief(GOTO, Click(target=t('button "Continue"')), fields("City"), failed=1)
    made = await revised(given, Eyes(page(el(1, "textbox", "City"))))
    assert [a.verb for a in made.segment] == ["goto", "fill"]


async def test_what_lies_over_the_page_is_closed_by_what_agrees_to_least():
    here = page(
        el(1, "dialog", ""), el(2, "button", "Accept all", row=1),
        el(3, "button", "Only necessary", row=1), el(4, "button", "Send"), overlay=1,
    )  # fmt: skip
    given = brief(
        GOTO, fields("Name"), Click(target=t('button "Send"')), failed=2, drift="unexpected_event"
    )
    made = await revised(given, Eyes(here))
    assert str(parts(made)[1].target) == 'button "Only necessary"'
    assert parts(made)[1].optional
    assert made.redo_from == 1, "closing it may load the page anew: fields are filled after it"


async def test_an_interstitial_is_gone_on_from():
    here = page(el(1, "link", "Get the app"), el(2, "link", "Continue to the site"))
    made = await revised(brief(GOTO, fields("Name"), failed=1), Eyes(here))
    assert str(parts(made)[1].target) == 'link "Continue to the site"'


async def test_a_list_that_became_radio_buttons_is_chosen_by_its_value():
    pick = Select(entries=(Entry(target=t('combobox "Country"'), value="Norway"),))
    here = page(
        el(1, "radio", "Norway", near="Country", attrs={"name": "country"}),
        el(2, "radio", "Chile", near="Country", attrs={"name": "country"}),
    )
    made = await revised(brief(GOTO, pick, failed=1), Eyes(here))
    assert isinstance(parts(made)[1], Check)
    assert str(parts(made)[1].target) == 'radio "Norway"'


async def test_a_radio_button_that_became_an_option_is_selected():
    here = page(el(1, "combobox", "Plan", options=("Basic", "Extended")))
    made = await revised(brief(GOTO, Check(target=t('radio "Extended"')), failed=1), Eyes(here))
    assert isinstance(parts(made)[1], Select)
    assert parts(made)[1].entries[0].value == "Extended"


MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@pytest.mark.parametrize(
    "month, value, says",
    [
        (el(2, "textbox", "Month of birth"), "1984-11-03", "11"),
        (el(2, "combobox", "Month of birth", options=MONTHS), "1984-11-03", "November"),
        (el(2, "textbox", "Month of birth"), "{{ born }}", "{{ (born)[5:7] }}"),
    ],
)
async def test_a_date_is_filled_into_three_fields(month: Element, value: str, says: str):
    here = page(el(1, "textbox", "Day of birth"), month, el(3, "textbox", "Year of birth"))
    fill = Fill(entries=(Entry(target=t('textbox "Birth"'), value=value),))
    given = brief(GOTO, fill, failed=1, values={"born": "1984-11-03"})
    made = await revised(given, Eyes(here))
    filled = [a.entries[0] for a in parts(made)[1:]]
    assert [str(e.target).split()[1] for e in filled] == ['"Day', '"Month', '"Year']
    assert filled[1].value == says


async def test_a_hidden_link_is_reached_by_its_address():
    hidden = el(1, "link", "Orders", href=f"{SITE}/orders", shown=False)
    given = brief(GOTO, Click(target=t('link "Orders"')), failed=1, drift="unexpected_event")
    made = await revised(given, Eyes(page(hidden)))
    assert parts(made)[1] == Goto(url=f"{SITE}/orders")


async def test_a_hidden_link_that_signs_out_is_not():
    hidden = el(1, "link", "Sign out", href=f"{SITE}/bye", shown=False)
    given = brief(GOTO, Click(target=t('link "Sign out"')), failed=1, drift="unexpected_event")
    await refused(given, Eyes(page(hidden)))


# -- exploring --------------------------------------------------------------------------------


async def test_a_moved_page_is_found_along_harmless_links():
    gone = page(
        el(1, "link", "People", href=f"{SITE}/people"),
        el(2, "link", "Sign out", href=f"{SITE}/logout"),
        el(3, "link", "Delete", href=f"{SITE}/x"), status=404,
    )  # fmt: skip
    eyes = Eyes(gone, {
        f"{SITE}/people": page(el(1, "link", "Add person", href=f"{SITE}/people/create"),
                               el(2, "link", "New", href=f"{SITE}/people/create")),
        f"{SITE}/people/create": page(el(1, "textbox", "Name"), url=f"{SITE}/people/create"),
    })  # fmt: skip
    given = brief(
        Goto(url=f"{SITE}/people/new"), fields("Name"), failed=1, drift="page_moved",
        documents=(0,),
    )  # fmt: skip
    made = await revised(given, eyes)
    assert parts(made)[0] == Goto(url=f"{SITE}/people/create")
    assert made.redo_from == 0
    assert eyes.looked[0] == f"{SITE}/people/new"
    assert not [url for url in eyes.looked if url.endswith(("/logout", "/x"))]


async def test_the_search_ends_with_the_budget():
    links = [
        el(n, "link", f"Page {chr(96 + n)}", href=f"{SITE}/{chr(96 + n)}") for n in range(1, 9)
    ]
    eyes = Eyes(page(*links, status=404), left=3)
    given = brief(
        Goto(url=f"{SITE}/new"), fields("Name"), failed=1, drift="page_moved", documents=(0,)
    )
    await refused(given, eyes)
    assert len(eyes.looked) == 3


async def test_todays_value_in_an_address_found_is_a_reference():
    box = el(1, "searchbox", "Search", attrs={"name": "q", "action": "/find"}, method="GET")
    found = f"{SITE}/find?q=usb+cable"
    eyes = Eyes(page(box, status=404), {
        found: page(el(1, "textbox", "Quantity"), url=found),
    })  # fmt: skip
    given = brief(
        Goto(url=f"{SITE}/p/{{{{ query }}}}"), fields("Quantity"), failed=1, drift="page_moved",
        values={"query": "usb cable"}, documents=(0,),
    )  # fmt: skip
    made = await revised(given, eyes)
    assert parts(made)[0] == Goto(url=f"{SITE}/find?q={{{{ query | urlencode }}}}")


async def test_another_item_of_the_same_kind_is_not_the_page_that_moved():
    other_item = page(el(1, "button", "Add to basket"), url=f"{SITE}/p/hub")
    here = page(el(5, "link", "Hub", href=f"{SITE}/p/hub"), url=f"{SITE}/p/cable")
    given = brief(
        Goto(url="{{ choose.link }}"), Click(target=t('button "Add to basket"')), failed=1,
        documents=(0,), values={"choose.link": f"{SITE}/p/cable"},
    )  # fmt: skip
    await refused(given, Eyes(here, {f"{SITE}/p/hub": other_item}))


async def test_an_address_that_is_none_is_passed_over():
    here = page(el(5, "link", "Odd", href="http://[secret]/x"), status=404)
    given = brief(Goto(url=f"{SITE}/x"), fields("Name"), failed=1, documents=(0,))
    await refused(given, Eyes(here))


# -- reading ----------------------------------------------------------------------------------


def row(ref: int, tag: str, css: str, title: str, price: str) -> list[Element]:
    return [
        Element(ref=ref, tag=tag, role=tag, attrs={"class": css}, text=f"{title} {price}"),
        Element(ref=ref + 1, tag="a", role="link", name=title, text=title, row=ref,
                href=f"{SITE}/p/{ref}"),
        Element(ref=ref + 2, tag="span", role="span", attrs={"class": "cost"}, text=price, row=ref),
    ]  # fmt: skip


LIST = ListRead(
    each=t("article.product"), key="link",
    fields={
        "price": FieldRead(target=t(".price"), type="money"),
        "link": FieldRead(target=t("h2 a"), attr="href"),
    },
)  # fmt: skip


async def test_a_list_in_other_markup_is_read_from_what_repeats():
    here = page(
        *row(10, "div", "card", "Cable", "€ 3.00"), *row(20, "div", "card", "Hub", "€ 9.00")
    )
    given = brief(GOTO, Read(outputs={"offers": LIST}), failed=None, drift="output_invalid")
    unmet = Verdict(expected=OutputIs(name="offers", bounds=Bounds(min=1)), judgement="unmet")
    made = await revised(given.model_copy(update={"verdicts": (unmet,)}), Eyes(here))
    spec = parts(made)[1].outputs["offers"]
    assert str(spec.each) == "div.card"
    assert [f.target.css for f in spec.fields.values()] == ["span.cost", "a"]


async def test_cards_with_the_headers_before_their_values_are_read_for_a_table():
    cards = []
    for ref in (10, 20):
        cards += [
            Element(ref=ref, tag="div", role="div", attrs={"class": "card"}),
            Element(ref=ref + 1, tag="span", role="span", text="EUR", near="Currency", row=ref),
            Element(ref=ref + 2, tag="span", role="span", text="1.08", near="Rate", row=ref),
        ]
    table = TableRead(
        table=t('table "Rates"'), key="currency",
        columns={"Currency": "currency", "Rate": "rate"}, types={"rate": "number"},
    )  # fmt: skip
    made = await revised(brief(GOTO, Read(outputs={"rates": table}), failed=1), Eyes(page(*cards)))
    spec = parts(made)[1].outputs["rates"]
    assert (str(spec.each), list(spec.fields)) == ("div.card", ["currency", "rate"])
    assert spec.fields["rate"].type == "number"


async def test_a_list_of_several_pages_is_read_from_its_first():
    paged = LIST.model_copy(update={"pages": Pages(next=t('link "Next"'))})
    here = page(
        *row(10, "div", "card", "Cable", "€ 3.00"), *row(20, "div", "card", "Hub", "€ 9.00"),
        el(30, "link", "Next", href=f"{SITE}/here?page=9"),
    )  # fmt: skip
    given = brief(GOTO, Read(outputs={"offers": paged}), failed=1, documents=(0, 1))
    made = await revised(given, Eyes(here))
    assert (made.redo_from, made.first_wrong) == (0, 1)


# -- the commit -------------------------------------------------------------------------------


async def test_a_commit_is_not_healed_to_what_sends_another_form():
    commit = Commit(action=Click(target=t('button "Add person"')), request="POST **/people")
    decoy = el(1, "button", "Add someone", submits=True, method="POST", attrs={"action": "/pets"})
    right = el(2, "button", "Add someone", submits=True, method="POST", attrs={"action": "/people"})
    given = brief(GOTO, commit, failed=1)
    await refused(given, Eyes(page(decoy)))
    made = await revised(
        brief(GOTO, Commit(action=Click(target=t('button "Sign in"')), request="POST **/people"),
              failed=1),
        Eyes(page(right.model_copy(update={"name": "Log in"}))),
    )  # fmt: skip
    assert str(parts(made)[1].action.target) == 'button "Log in"'
