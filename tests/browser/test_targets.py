"""A target finds the one element it names, or says why not."""

from __future__ import annotations

import pytest

from tests.browser.pages import PageServer, html
from tests.browser.rig import Rig, click, field_of, fill, read, target
from webagent.core.page import Failure

URL = "http://odd.test/"


async def show(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    await rig.goto(URL)


async def failed(rig: Rig, raw: object, deadline: float = 0.6) -> Failure:
    outcome = await rig.do(click(raw), deadline)
    assert outcome.failure is not None
    return outcome.failure


@pytest.mark.parametrize(
    "raw",
    [
        'button "Place order"',
        'button "place"',
        "button /^Place/",
        "#b",
        "button:has-text('Place')",
        {"role": "button", "name": "Place order", "exact": True},
        {"role": "button"},
        {"text": "Place order"},
        {"test_id": "order"},
        {"xpath": "//button[@id='b']"},
        {"css": "button", "text": "order"},
        {"role": "button", "within": "form"},
        {"role": "button", "css": ".go"},
        {"role": "button", "nth": 0},
        {"role": "button", "nth": -1},
    ],
)
async def test_every_way_of_naming_finds(rig: Rig, pages: PageServer, raw: object) -> None:
    await show(
        rig,
        pages,
        "<form onsubmit='return false'><button id=b class=go data-testid=order>Place order</button>"
        "</form>",
    )
    await rig.ok(click(raw))


@pytest.mark.parametrize("raw", [{"label": "Mail"}, {"placeholder": "you@"}, 'textbox "Mail"'])
async def test_every_way_of_naming_a_field_finds(rig: Rig, pages: PageServer, raw: object) -> None:
    await show(rig, pages, "<label>Mail <input placeholder='you@example'></label>")
    await rig.ok(fill(raw, "x"))


async def test_nothing_is_target_missing_and_names_what_is_near(
    rig: Rig, pages: PageServer
) -> None:
    await show(
        rig, pages, "<a href=/x>Place your order</a><button>Cancel</button><h2>Order now</h2>"
    )
    failure = await failed(rig, 'button "Place order"')
    assert failure.kind == "target_missing"
    assert failure.dispatched == "no"
    assert failure.candidates[0] == 'link "Place your order"'
    assert not [name for name in failure.candidates if name.startswith("heading")]
    assert rig.dispatched == ["goto"]


async def test_several_are_target_ambiguous_and_named(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<button id=a>Buy</button><button id=b>Buy now</button>")
    failure = await failed(rig, 'button "Buy"')
    assert failure.kind == "target_ambiguous"
    assert failure.candidates == ('button "Buy" #a', 'button "Buy now" #b')
    await rig.ok(click({"role": "button", "name": "Buy", "exact": True}))
    await rig.ok(click({"role": "button", "name": "Buy", "nth": 1}))


async def test_the_one_visible_of_several_is_meant(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<button class=go style='display:none'>Buy</button>"
        "<button class=go onclick=\"document.title='hit'\">Buy</button>",
    )
    await rig.ok(click(".go"))
    assert (await rig.tab.observe()).title == "hit"


async def test_what_comes_late_is_waited_for(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<script>setTimeout(()=>document.body.insertAdjacentHTML('beforeend',"
        "'<button>Late</button>'),700)</script>",
    )
    outcome = await rig.ok(click('button "Late"'))
    assert 300 < outcome.ms < 2500


async def test_a_hydrated_button_is_clicked_after_it_is_enabled(
    rig: Rig, pages: PageServer
) -> None:
    await show(
        rig,
        pages,
        "<button disabled>Go</button><script>setTimeout(()=>{const b=document.querySelector("
        "'button').cloneNode(true);b.disabled=false;b.onclick=()=>document.title='hit';"
        "document.querySelector('button').replaceWith(b)},600)</script>",
    )
    await rig.ok(click('button "Go"'))
    assert (await rig.tab.observe()).title == "hit"


@pytest.mark.parametrize(
    "body, why",
    [
        ("<button style='visibility:hidden'>B</button>", "not visible"),
        ("<button disabled>B</button>", "disabled"),
        ("<button aria-disabled=true>B</button>", "disabled"),
        (
            "<button>B</button><div id=veil style='position:fixed;inset:0'>Please wait</div>",
            "covered by div",
        ),
        (
            # Never back where it was: two looks at any distance find it elsewhere.
            "<style>@keyframes m{to{margin-left:9000px}}</style>"
            "<button style='animation:m 60s infinite linear'>B</button>",
            "moving",
        ),
    ],
)
async def test_what_cannot_take_input_is_not_actionable_and_says_why(
    rig: Rig, pages: PageServer, body: str, why: str
) -> None:
    await show(rig, pages, body)
    failure = await failed(rig, "button")
    assert failure.kind in ("not_actionable", "in_the_way")
    assert why in failure.message
    assert failure.dispatched == "no"
    assert rig.dispatched == ["goto"]


async def test_a_read_only_field_is_not_filled(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<input aria-label=F readonly>")
    outcome = await rig.do(fill({"label": "F"}, "x"), 0.5)
    assert outcome.failure is not None
    assert "read-only" in outcome.failure.message


@pytest.mark.parametrize("raw", ["button[", {"xpath": "//button["}, "button:nope(1)"])
async def test_a_selector_that_does_not_parse_is_invalid(
    rig: Rig, pages: PageServer, raw: object
) -> None:
    await show(rig, pages, "<button>B</button>")
    failure = await failed(rig, raw)
    assert failure.kind == "invalid"
    assert failure.dispatched == "no"


async def test_frames_are_reached_without_being_named(rig: Rig, pages: PageServer) -> None:
    pages.pages["/in"] = html("<button onclick=\"this.textContent='Thanks'\">Inside</button>")
    await show(rig, pages, "<iframe src=http://inner.test/in></iframe>")
    await rig.ok(click('button "Inside"'))
    outcome = await rig.ok(read(said=field_of("button")))
    assert outcome.values == {"said": "Thanks"}


async def test_the_main_document_comes_before_frames(rig: Rig, pages: PageServer) -> None:
    pages.pages["/in"] = html("<button>Go</button>")
    await show(
        rig, pages, "<button onclick=\"document.title='main'\">Go</button><iframe src=/in></iframe>"
    )
    await rig.ok(click('button "Go"'))
    assert (await rig.tab.observe()).title == "main"


async def test_one_in_each_of_two_frames_is_ambiguous_until_the_frame_is_named(
    rig: Rig, pages: PageServer
) -> None:
    pages.pages["/in"] = html("<button>Go</button>")
    await show(rig, pages, "<iframe id=a src=/in></iframe><iframe id=b src=/in></iframe>")
    await rig.ok(click({"role": "button", "name": "Go", "frame": "#b"}))
    failure = await failed(rig, 'button "Go"')
    assert failure.kind == "target_ambiguous"


async def test_open_shadow_roots_are_reached(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<x-card></x-card><script>customElements.define('x-card',class extends HTMLElement{"
        "constructor(){super();this.attachShadow({mode:'open'}).innerHTML="
        "'<label>Name <input></label><button>Save</button>';}})</script>",
    )
    await rig.ok(fill({"label": "Name"}, "x"), click('button "Save"'), click("button"))


async def test_within_and_frame_of_the_action_narrow_its_targets(
    rig: Rig, pages: PageServer
) -> None:

    pages.pages["/in"] = html("<button>Go</button>")
    await show(
        rig,
        pages,
        "<section id=a><button>Go</button></section><section id=b><button>Go</button></section>"
        "<iframe src=/in></iframe>",
    )
    assert (await failed(rig, 'button "Go"')).kind == "target_ambiguous"
    await rig.ok(click('button "Go"', within=target("#b")))
    await rig.ok(click('button "Go"', frame=target("iframe")))


async def test_two_scopes_that_hold_nothing_are_missing(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<section id=a></section><button>Go</button>")
    failure = await failed(rig, {"role": "button", "name": "Go", "within": "#a"})
    assert failure.kind == "target_missing"
