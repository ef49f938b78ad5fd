"""Every action does to the page what its name says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.browser.pages import Answer, PageServer, html
from tests.browser.rig import Rig, click, fill, policy, press, select, target
from webagent.core.action import (
    Back,
    Check,
    Clear,
    Dialog,
    DoubleClick,
    Drag,
    Entry,
    Goto,
    Hover,
    Reload,
    Scroll,
    Type,
    Uncheck,
    Upload,
    Wait,
)
from webagent.core.expect import Bounds, ElementShown, Expectation, TextShown, UrlIs, ValueIs

URL = "http://odd.test/"


async def seen(rig: Rig, expected: Expectation) -> tuple[int, tuple[str, ...]]:
    (finding,) = await rig.tab.examine((expected,))
    assert finding.error is None, finding.error
    return finding.count, finding.texts


async def text(rig: Rig, wanted: str) -> bool:
    return (await seen(rig, TextShown(text=wanted)))[0] > 0


async def value(rig: Rig, raw: object) -> str:
    count, texts = await seen(rig, ValueIs(target=target(raw), bounds=Bounds()))
    assert count == 1
    return texts[0]


async def show(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    await rig.goto(URL)


async def test_goto_back_and_reload_move_through_the_history(rig: Rig, pages: PageServer) -> None:
    pages.pages["/one"] = html("<h1>One</h1>")
    pages.pages["/two"] = html("<h1>Two</h1>")
    await rig.goto(URL + "one")
    await rig.goto(URL + "two")
    await rig.ok(Back())
    assert await text(rig, "One")
    outcome = await rig.ok(Reload())
    assert outcome.happened.documents == 1
    assert pages.hits("/one") >= 2


async def test_there_is_nothing_before_the_first_page(rig: Rig) -> None:
    outcome = await rig.do(Back())
    assert outcome.failure is not None
    assert outcome.failure.kind == "invalid"


async def test_the_answer_to_a_post_is_not_loaded_again(rig: Rig, pages: PageServer) -> None:
    pages.pages["/do"] = html("<h1>Done</h1>")
    await show(rig, pages, "<form method=post action=/do><button>Do</button></form>")
    await rig.ok(click('button "Do"'))
    outcome = await rig.do(Reload())
    assert outcome.failure is not None
    assert outcome.failure.kind == "invalid"
    assert pages.hits("/do") == 1


async def test_an_error_status_is_no_failure_but_stands_in_the_outcome(
    rig: Rig, pages: PageServer
) -> None:
    pages.pages["/busy"] = html("<h1>Busy</h1>", status=503, headers={"Retry-After": "7"})
    outcome = await rig.goto(URL + "busy")
    (response,) = outcome.happened.responses
    assert (response.status, response.retry_after, response.document) == (503, 7.0, True)
    assert outcome.note == "status 503"


@pytest.mark.parametrize("status", [204, 404, 500])
async def test_an_answer_without_a_document_is_told_by_its_status(
    rig: Rig, pages: PageServer, status: int
) -> None:
    pages.pages["/empty"] = Answer("", status)
    outcome = await rig.goto(URL + "empty")
    assert outcome.happened.responses[-1].status == status


async def test_a_refused_connection_is_a_failed_navigation(rig: Rig, pages: PageServer) -> None:
    del pages
    await rig.tab.set_policy(policy("nowhere.test", named_hosts=("nowhere.test",)))
    outcome = await rig.do(Goto(url="http://nowhere.test/"))
    assert outcome.failure is not None
    assert outcome.failure.kind == "navigation"
    assert "ERR_NAME_NOT_RESOLVED" in outcome.failure.message


async def test_clicks_land(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<button onclick=\"out.textContent='one'\" ondblclick=\"out.textContent='two'\">Go</button>"
        "<p id=out></p>",
    )
    await rig.ok(click('button "Go"'))
    assert await text(rig, "one")
    await rig.ok(DoubleClick(target=target('button "Go"')))
    assert await text(rig, "two")
    assert rig.dispatched == ["goto", "click", "double_click"]


async def test_hovering_shows_what_hovering_shows(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<style>ul{display:none} nav:hover ul{display:block}</style>"
        "<nav><b>Menu</b><ul><li><a href=/x>Deep</a></ul></nav>",
    )
    await rig.ok(Hover(target=target({"text": "Menu"})), click('link "Deep"'))


@pytest.mark.parametrize(
    "control, given, wanted",
    [
        ("<input aria-label=F value=old>", "new", "new"),
        ("<textarea aria-label=F>old</textarea>", "two\nlines", "two\nlines"),
        ("<input aria-label=F type=number>", 12.0, "12"),
        ("<input aria-label=F type=date>", "2026-12-24", "2026-12-24"),
        ("<input aria-label=F type=time>", "10:30", "10:30"),
        ("<input aria-label=F type=range min=0 max=10>", 7, "7"),
        ("<input aria-label=F type=color>", "#ff0000", "#ff0000"),
        ("<div aria-label=F role=textbox contenteditable>old</div>", "new", "new"),
        ("<select aria-label=F><option>A<option>B</select>", "B", "B"),
        ("<input aria-label=F type=checkbox>", True, "true"),
    ],
)
async def test_fill_replaces_the_value_of_any_control(
    rig: Rig, pages: PageServer, control: str, given: object, wanted: str
) -> None:
    await show(rig, pages, control)
    await rig.ok(fill({"label": "F"}, given))
    assert await value(rig, {"label": "F"}) == wanted


@pytest.mark.parametrize("given", [None, ["a", "b"]])
async def test_fill_takes_one_value(rig: Rig, pages: PageServer, given: object) -> None:
    await show(rig, pages, "<input aria-label=F>")
    outcome = await rig.do(fill({"label": "F"}, given))
    assert outcome.failure is not None
    assert outcome.failure.kind == "invalid"
    assert rig.dispatched == ["goto"]


async def test_a_malformed_date_is_invalid(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<input aria-label=F type=date>")
    outcome = await rig.do(fill({"label": "F"}, "24.12.2026"))
    assert outcome.failure is not None
    assert outcome.failure.kind == "invalid"


async def test_clear_empties_and_type_goes_key_by_key(rig: Rig, pages: PageServer) -> None:
    await show(
        rig, pages, "<input aria-label=F value=old onkeydown=\"n.textContent+='.'\"><p id=n></p>"
    )
    await rig.ok(Clear(target=target({"label": "F"})))
    await rig.ok(Type(entries=(Entry(target=target({"label": "F"}), value="abc"),)))
    assert await value(rig, {"label": "F"}) == "abc"
    assert await text(rig, "...")


async def test_ticks_are_brought_into_their_state(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<label><input type=checkbox> Agree</label>"
        "<label><input type=radio name=r> One</label><label><input type=radio name=r> Two</label>",
    )
    agree = target('checkbox "Agree"')
    await rig.ok(Check(target=agree))
    assert await value(rig, 'checkbox "Agree"') == "true"
    outcome = await rig.ok(Check(target=agree))
    assert outcome.note == "already so"
    await rig.ok(Uncheck(target=agree))
    assert await value(rig, 'checkbox "Agree"') == "false"
    await rig.ok(Check(target=target('radio "Two"')))
    assert await value(rig, 'radio "Two"') == "true"
    assert rig.dispatched == ["goto", "check", "uncheck", "check"]


async def test_a_box_hidden_behind_its_label_is_ticked_by_the_label(
    rig: Rig, pages: PageServer
) -> None:
    await show(
        rig,
        pages,
        "<style>#b{position:absolute;width:0;height:0;opacity:0}</style>"
        "<input id=b type=checkbox><label for=b><span>Fancy</span></label>",
    )
    await rig.ok(Check(target=target("#b")))
    (finding,) = await rig.tab.examine((ElementShown(target=target("#b:checked + label")),))
    assert finding.count == 1


@pytest.mark.parametrize("given", ["Large", "l", "large"])
async def test_options_are_chosen_by_label_or_value(
    rig: Rig, pages: PageServer, given: str
) -> None:
    await show(
        rig, pages, "<select aria-label=S><option value=s>Small<option value=l>Large</select>"
    )
    await rig.ok(select({"label": "S"}, given))
    assert await value(rig, {"label": "S"}) == "Large"


async def test_several_options_are_chosen(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<select multiple aria-label=S><option>A<option>B<option>C</select>")
    await rig.ok(select({"label": "S"}, ["A", "C"]))
    assert await value(rig, {"label": "S"}) == "A, C"


async def test_an_option_that_comes_later_is_waited_for(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<select aria-label=S><option>A</select>"
        "<script>setTimeout(()=>document.querySelector('select').add(new Option('B')),300)"
        "</script>",
    )
    await rig.ok(select({"label": "S"}, "B"))


async def test_an_option_that_is_not_there_names_those_that_are(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, "<select aria-label=S><option>Red<option>Blue</select>")
    outcome = await rig.do(select({"label": "S"}, "Green"), deadline=0.6)
    assert outcome.failure is not None
    assert outcome.failure.kind == "target_missing"
    assert outcome.failure.candidates == ("Red", "Blue")


async def test_a_listbox_that_the_page_made_itself_is_chosen_from(
    rig: Rig, pages: PageServer
) -> None:
    await show(
        rig,
        pages,
        "<div role=combobox aria-label=Fruit tabindex=0 onclick='l.hidden=false'>none</div>"
        "<div role=listbox id=l hidden>"
        "<div role=option onclick=\"document.querySelector('[role=combobox]').textContent='Pear';"
        'l.hidden=true">Pear</div><div role=option>Plum</div></div>',
    )
    await rig.ok(select('combobox "Fruit"', "Pear"))
    assert await text(rig, "Pear")


async def test_a_key_is_pressed_in_an_element_or_where_the_focus_is(
    rig: Rig, pages: PageServer
) -> None:
    pages.pages["/found"] = html("<h1>Found</h1>", after=0.4)
    await show(rig, pages, "<form action=/found><input aria-label=Q name=q></form>")
    await rig.ok(fill({"label": "Q"}, "x"), press("Enter"))
    assert await text(rig, "Found")
    await rig.ok(Goto(url=URL), press("Enter", {"label": "Q"}))
    assert await text(rig, "Found")


async def test_an_unknown_key_is_invalid(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<input aria-label=Q>")
    outcome = await rig.do(press("Entr", {"label": "Q"}))
    assert outcome.failure is not None
    assert outcome.failure.kind == "invalid"


async def test_files_go_into_a_field_or_through_a_chooser(
    rig: Rig, pages: PageServer, tmp_path: Path
) -> None:
    paper = tmp_path / "paper.txt"
    paper.write_text("hello")
    await show(
        rig,
        pages,
        '<label>Paper <input type=file id=f onchange="out.textContent=this.files[0].name"></label>'
        "<button onclick=f.click()>Choose</button><p id=out></p>",
    )
    upload = Upload(entries=(Entry(target=target({"label": "Paper"}), value=str(paper)),))
    await rig.ok(upload)
    assert await text(rig, "paper.txt")
    other = tmp_path / "other.txt"
    other.write_text("x")
    await rig.ok(Upload(entries=(Entry(target=target('button "Choose"'), value=str(other)),)))
    assert await text(rig, "other.txt")


async def test_a_file_that_is_not_there_is_invalid(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<input type=file aria-label=F>")
    gone = Upload(entries=(Entry(target=target({"label": "F"}), value="/no/such/file"),))
    outcome = await rig.do(gone)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.dispatched) == ("invalid", "no")


async def test_one_element_is_dragged_onto_another(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<div id=a draggable=true>Card</div><div id=b style='padding:40px' "
        "ondragover=event.preventDefault() ondrop=\"this.textContent='Dropped'\">Here</div>",
    )
    await rig.ok(Drag(target=target("#a"), to=target("#b")))
    assert await text(rig, "Dropped")


async def test_scrolling_reaches_what_loads_late(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<div style='height:3000px'>Tall</div><p id=end>End</p>"
        "<script>onscroll=()=>{document.title='y'+Math.round(scrollY)}</script>",
    )
    await rig.ok(Scroll(by=200))
    await rig.ok(Scroll(edge="bottom"))
    await rig.ok(Scroll(edge="top"))
    await rig.ok(Scroll(to=target("#end")))
    assert rig.dispatched == ["goto"]


async def test_waiting_ends_when_the_expectation_holds(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<script>setTimeout(()=>document.body.append('Ready now'),400)</script>")
    outcome = await rig.ok(Wait(until=TextShown(text="Ready now")))
    assert outcome.ms < 3000


async def test_waiting_in_vain_is_a_timeout(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "nothing")
    outcome = await rig.do(Wait(until=UrlIs(glob="**/never"), timeout=0.4))
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"
    assert "never" in outcome.failure.message


async def test_an_optional_action_is_left_out_when_its_target_is_absent(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, "<button>Other</button>")
    outcome = await rig.ok(click('button "Accept cookies"', optional=True))
    assert outcome.note == "optional: not there"
    assert rig.dispatched == ["goto"]


async def test_a_click_that_leads_somewhere_has_settled_there(rig: Rig, pages: PageServer) -> None:
    pages.pages["/slow"] = html("<h1>Arrived</h1>", after=0.5)
    await show(rig, pages, "<a href=/slow>Go</a>")
    await rig.ok(click('link "Go"'))
    assert await text(rig, "Arrived")


async def test_a_page_that_never_answers_ends_by_the_deadline(rig: Rig, pages: PageServer) -> None:
    pages.pages["/hang"] = html("late", gate=asyncio.Event())
    await show(rig, pages, "<a href=/hang>Go</a>")
    outcome = await rig.do(click('link "Go"'), deadline=0.8)
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"
    assert outcome.failure.dispatched == "yes"
    assert outcome.ms < 3000


async def test_a_page_busy_for_ever_ends_by_the_deadline(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, '<button onclick="setTimeout(()=>{for(;;);},50)">Spin</button>')
    await rig.ok(click('button "Spin"'))
    await asyncio.sleep(0.2)
    outcome = await rig.do(click('button "Spin"'), deadline=0.5)
    assert outcome.failure is not None
    assert outcome.failure.dispatched == "no"
    assert outcome.ms < 4000


async def test_an_armed_answer_serves_the_next_dialog_only(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<button onclick=\"out.textContent=confirm('Sure?')\">Ask</button><p id=out></p>",
    )
    await rig.ok(Dialog(answer="accept"), click('button "Ask"'))
    assert await text(rig, "true")
    await rig.ok(click('button "Ask"'))
    assert await text(rig, "false")
