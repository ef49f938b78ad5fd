"""A page that makes its fields anew after they were filled gets them filled again, no others."""

from __future__ import annotations

from tests.browser.pages import PageServer, html
from tests.browser.rig import Rig, click, commit, fill, press, select, target
from webagent.core.action import Check
from webagent.core.expect import Bounds, ValueIs

URL = "http://odd.test/"
FORM = """
<form onsubmit="event.preventDefault(); sent.textContent = [n.value, c.value, t.checked].join()">
<label>Name <input id=n></label> <label>City <select id=c><option>Rome<option>Oslo</select></label>
<label><input type=checkbox id=t> Terms</label> <button>Send</button></form> <p id=sent></p>
<script>
// What a late framework does: the same markup, made anew.
const anew = () => { const f = document.querySelector('form'); f.replaceWith(f.cloneNode(true));
  document.querySelector('form').reset(); };
</script>
"""


async def show(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    await rig.goto(URL)


async def value(rig: Rig, raw: object) -> str:
    (finding,) = await rig.tab.examine((ValueIs(target=target(raw), bounds=Bounds()),))
    return finding.texts[0] if finding.texts else ""


async def enter(rig: Rig) -> None:
    await rig.ok(
        fill('textbox "Name"', "Ann"),
        select('combobox "City"', "Oslo"),
        Check(target=target('checkbox "Terms"')),
    )


async def anew(rig: Rig) -> None:
    await rig.tab.pages[0].evaluate("anew()")
    assert await value(rig, 'textbox "Name"') == ""


async def test_what_was_lost_is_entered_again_right_before_the_click(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    await enter(rig)
    await anew(rig)
    outcome = await rig.ok(click('button "Send"'))
    assert await value(rig, "#sent") == "Ann,Oslo,true"
    assert 'entered again: textbox "Name", combobox "City", checkbox "Terms"' in outcome.note


async def test_a_key_pressed_where_the_focus_was_finds_it_there_again(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    await rig.ok(fill('textbox "Name"', "Ann"))
    await anew(rig)
    await rig.ok(press("Enter"))
    assert await value(rig, "#sent") == "Ann,Rome,false"


async def test_an_element_that_is_still_there_keeps_what_the_page_made_of_its_value(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    await rig.ok(fill('textbox "Name"', "Ann"))
    await rig.tab.pages[0].evaluate("n.value = 'ANN'")
    await rig.ok(click('button "Send"'))
    assert await value(rig, "#sent") == "ANN,Rome,false"


async def test_what_was_entered_before_the_last_click_is_the_pages_business(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    await rig.ok(fill('textbox "Name"', "Ann"), click('button "Send"'))
    await anew(rig)
    await rig.ok(fill('textbox "Name"', "Bob"), click('button "Send"'))
    assert await value(rig, "#sent") == "Bob,Rome,false"


async def test_a_field_that_the_page_took_away_is_not_looked_for(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    await rig.ok(fill('textbox "Name"', "Ann"))
    await rig.tab.pages[0].evaluate("document.querySelector('label').remove()")
    outcome = await rig.ok(press("End", "#c"))
    assert outcome.ms < 5000


async def test_nothing_is_entered_behind_the_checks_of_a_commit(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    await rig.ok(fill('textbox "Name"', "Ann"))
    await anew(rig)
    outcome = await rig.do(commit('button "Send"'))
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.dispatched) == ("not_actionable", "no")
    assert "commit" not in rig.dispatched
    assert await value(rig, "#sent") == ""

    # Put back before the checks are made once more, it may be sent.
    assert 'textbox "Name"' in await rig.tab.put_back()
    await rig.ok(commit('button "Send"'))
    assert await value(rig, "#sent") == "Ann,Rome,false"


async def test_a_page_made_anew_around_a_click_is_told(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, FORM)
    await rig.ok(fill('textbox "Name"', "Ann"), click('button "Send"'))
    assert not (await rig.tab.observe(evidence="kept")).remade
    await anew(rig)
    assert (await rig.tab.observe(evidence="anew")).remade
    await rig.ok(Check(target=target('checkbox "Terms"')), click('button "Send"'))
    await anew(rig)
    assert (await rig.tab.observe(evidence="ticked")).remade
