"""From a ref of the outline to a target that lasts, and from one row to its whole list."""

from __future__ import annotations

import re

import pytest

from tests.browser.pages import PageServer, html
from tests.browser.rig import Rig, read
from webagent.core.action import FieldRead, ListRead
from webagent.core.page import PointedRow
from webagent.formats.segment_text import target_data

URL = "http://odd.test/"


async def outlined(rig: Rig, pages: PageServer, body: str) -> str:
    pages.pages["/"] = html(body)
    await rig.goto(URL)
    return await rig.tab.outline()


def ref_of(outline: str, words: str, nth: int = 0) -> str:
    """The ref of the nth line that has these words."""
    lines = [line for line in outline.splitlines() if words in line and "[ref=" in line]
    assert len(lines) > nth, f"{words!r} is not in\n{outline}"
    found = re.search(r"\[ref=(\w+)\]", lines[nth])
    assert found is not None
    return found[1]


def above(outline: str, words: str, role: str) -> str:
    """The ref of the nearest element of a role that has the line with these words inside."""
    depth = -1
    for line in reversed(outline[: outline.index(words)].splitlines()):
        at = len(line) - len(line.lstrip())
        depth = at if depth < 0 else depth
        if at < depth and line.lstrip().startswith(f"- {role} ") and "[ref=" in line:
            return ref_of(line, role)
    raise AssertionError(f"no {role} around {words} in\n{outline}")


async def pointed(rig: Rig, outline: str, words: str, nth: int = 0) -> object:
    """How the element is named, as a recipe would write it; None when it cannot be."""
    found = await rig.tab.point(ref_of(outline, words, nth))
    return None if found is None else target_data(found.target)


async def rows(rig: Rig, outline: str, row: str, *parts: str, nth: int = 0) -> PointedRow:
    """The list of a row, with parts by the words of their lines (from the row's line on)."""
    at = ref_of(outline, row, nth)
    below = outline[outline.index(f"[ref={at}]") :]
    found = await rig.tab.point_row(at, [ref_of(below, part) for part in parts])
    assert found is not None
    return found


async def listed(rig: Rig, row: PointedRow, *names: str) -> list[list[object]]:
    """What is read with it."""
    fields = {n: FieldRead(target=p) for n, p in zip(names, row.parts, strict=True)}
    outcome = await rig.ok(read(x=ListRead(each=row.each, fields=fields)))
    return [[one[n] for n in names] for one in outcome.values["x"]]


# -- one element -----------------------------------------------------------------------------


@pytest.mark.parametrize("body, words, target", [
    ("<button>Send</button><button>Stop</button>", 'button "Send"', 'button "Send"'),
    ("<a href=/x>Help</a>", 'link "Help"', 'link "Help"'),
    ("<h1>Shop</h1>", "heading", 'heading "Shop"'),
    (
        "<button>Send</button><button>Send all</button>", 'button "Send" ',
        {"role": "button", "name": "Send", "exact": True},
    ),
    ("<label for=m>E-mail</label><input id=m>", "textbox", 'textbox "E-mail"'),
    ("<label>Land <select><option>Chile</select></label>", "combobox", 'combobox "Land"'),
    ("<button>Add {{ x }}</button>", "button", "button"),
    ("<button data-testid=go></button><button></button>", "button", {"test_id": "go"}),
    ("<input type=checkbox id=t><input type=checkbox>", "checkbox", "#t"),
    ("<p class=sum>12.50</p><p>x</p>", "12.50", "p.sum"),
])  # fmt: skip
async def test_an_element_is_named_as_a_person_would(
    rig: Rig, pages: PageServer, body: str, words: str, target: object
) -> None:
    assert await pointed(rig, await outlined(rig, pages, body), words) == target


async def test_of_two_alike_each_is_found_by_its_place(rig: Rig, pages: PageServer) -> None:
    body = "<p><button>Add</button><b>one</b></p><p><button>Add</button><b>two</b></p>"
    outline = await outlined(rig, pages, body)
    page = rig.tab.pages[0]
    for nth in (0, 1):
        found = await rig.tab.point(ref_of(outline, 'button "Add"', nth))
        assert found is not None
        assert found.target.css is not None
        after = page.locator(found.target.css)
        assert await after.evaluate("e => e.nextSibling.textContent") == ("one", "two")[nth]


async def test_what_is_hidden_is_not_taken_for_a_second(rig: Rig, pages: PageServer) -> None:
    body = "<button>Add</button><button style='display:none'>Add</button>"
    assert await pointed(rig, await outlined(rig, pages, body), "button") == 'button "Add"'


@pytest.mark.parametrize(
    "name", ['Say "hi"', "a\\b", "It's: here", "a ] b", "Ünï ✓", "a  b", "/x/"]
)
async def test_a_name_of_any_letters_leads_back(rig: Rig, pages: PageServer, name: str) -> None:
    outline = await outlined(rig, pages, f"<button>{name}</button><button>Other</button>")
    found = await rig.tab.point(ref_of(outline, "button"))
    assert found is not None
    assert found.target.role == "button"
    assert found.target.name == " ".join(name.split())


async def test_a_name_with_braces_is_no_template(rig: Rig, pages: PageServer) -> None:
    body = "<button class=go>{{ secrets.x }}</button><label>{% x %}<input name=q></label>"
    outline = await outlined(rig, pages, body)
    for words in ("button", "textbox"):
        found = await rig.tab.point(ref_of(outline, words))
        assert found is not None
        assert "{" not in found.target.model_dump_json().removeprefix("{")[1:]


async def test_an_element_in_a_frame_is_found_by_its_target(rig: Rig, pages: PageServer) -> None:
    pages.pages["/in"] = html("<button>Pay</button>")
    outline = await outlined(rig, pages, "<iframe src=/in></iframe><button>Send</button>")
    ref = ref_of(outline, 'button "Pay"')
    assert re.fullmatch(r"f\d+e\d+", ref)
    found = await rig.tab.point(ref)
    assert found is not None
    assert found.target.source == 'button "Pay"'
    # The same name in the page around it: neither is found alone by it.
    outline = await outlined(rig, pages, "<iframe src=/in></iframe><button>Pay</button>")
    for nth in (0, 1):
        both = await rig.tab.point(ref_of(outline, 'button "Pay"', nth))
        assert both is None or both.target.source != 'button "Pay"'


async def test_an_element_in_an_open_shadow_root_is_found(rig: Rig, pages: PageServer) -> None:
    body = """<x-box></x-box><script>document.querySelector('x-box').attachShadow({mode: 'open'})
    .innerHTML = '<button>Go</button><input name=q>'</script>"""
    outline = await outlined(rig, pages, body)
    assert await pointed(rig, outline, 'button "Go"') == 'button "Go"'
    found = await rig.tab.point(ref_of(outline, "textbox"))
    assert found is not None
    assert found.element.tag == "input"


@pytest.mark.parametrize("ref", [
    "", "e", "e999", "f9e1", "e1; drop", "e1 >> css=button", "E1", " e1", "e1\n", "aria-ref=e1",
    "e-1", "1", "e1,e2", "{{ x }}", "e" + "9" * 400,
])  # fmt: skip
async def test_a_ref_that_is_none_points_at_nothing(
    rig: Rig, pages: PageServer, ref: str
) -> None:  # fmt: skip
    outline = await outlined(rig, pages, "<button>Go</button><ul><li>a<li>b</ul>")
    assert await rig.tab.point(ref) is None
    assert await rig.tab.point_row(ref, []) is None
    assert await rig.tab.point_row(ref_of(outline, "listitem"), [ref]) is None


async def test_what_is_gone_since_the_outline_points_at_nothing(
    rig: Rig, pages: PageServer
) -> None:
    outline = await outlined(rig, pages, "<button>Go</button><button>Stay</button>")
    await rig.tab.pages[0].evaluate("document.querySelector('button').remove()")
    assert await rig.tab.point(ref_of(outline, 'button "Go"')) is None
    assert await pointed(rig, outline, 'button "Stay"') == 'button "Stay"'


async def test_refs_of_the_page_before_point_at_nothing(rig: Rig, pages: PageServer) -> None:
    before = await outlined(rig, pages, "<p>1</p><p>2</p><p>3</p><button>Old</button>")
    pages.pages["/next"] = html("<button>New</button>")
    await rig.goto(f"{URL}next")
    assert await rig.tab.point(ref_of(before, "button")) is None
    outline = await rig.tab.outline()
    assert await pointed(rig, outline, "button") == 'button "New"'


async def test_an_outline_tells_a_dialog_at_the_end_of_a_long_page(
    rig: Rig, pages: PageServer
) -> None:
    filler = "".join(f"<p><a href=/{n}>{'word ' * 9}{n}</a></p>" for n in range(400))
    body = f"<main>{filler}</main><div role=dialog aria-label=Cookies><button>Accept</button></div>"
    outline = await outlined(rig, pages, body)
    assert 'dialog "Cookies"' in outline
    assert await pointed(rig, outline, 'button "Accept"') == 'button "Accept"'


# -- lists -----------------------------------------------------------------------------------

CARDS = """<h1>Shop</h1><div class=grid>
<div class=card><h3><a href=/1>Lamp</a></h3><p class=price>12.50</p><p>steel</p></div>
<div class="card on-sale"><h3><a href=/2>Bowl</a></h3><p class=price>7.00</p></div>
<div class=card><h3><a href=/3>Vase</a></h3><p class=price>9.00</p><p>glass</p></div></div>
"""


async def test_all_cards_are_found_from_one_and_its_parts(rig: Rig, pages: PageServer) -> None:
    outline = await outlined(rig, pages, CARDS)
    parts = [ref_of(outline, 'link "Bowl"'), ref_of(outline, "7.00")]
    row = await rig.tab.point_row(above(outline, 'link "Bowl"', "generic"), parts)
    assert row is not None
    assert (row.each.css, row.count) == ("div.card", 3)
    assert await listed(rig, row, "title", "price") == [
        ["Lamp", "12.50"], ["Bowl", "7.00"], ["Vase", "9.00"],
    ]  # fmt: skip


async def test_inline_parts_without_a_ref_are_pointed_at_by_their_text(
    rig: Rig, pages: PageServer
) -> None:
    body = """<ul>
    <li>Lamp <b>steel</b> for <span class=price>12.50</span> only</li>
    <li>Bowl <b>clay</b> for <span class=price>7.00</span> only</li></ul>"""
    outline = await outlined(rig, pages, body)
    item = ref_of(outline, "listitem", 1)
    row = await rig.tab.point_row(item, [item, item], ["7.00", "clay"])
    assert row is not None
    assert await listed(rig, row, "price", "of") == [["12.50", "steel"], ["7.00", "clay"]]
    one = await rig.tab.point(item, "7.00")
    assert one is not None
    assert one.element.attrs.get("class") == "price"
    assert await rig.tab.point(item, "12.50") is None


async def test_rows_of_a_table_and_not_its_head(rig: Rig, pages: PageServer) -> None:
    body = """<table><thead><tr><th>Number<th>State</thead><tbody><tr><td>4711<td>sent
    <tr><td>4712<td>open<tr><td>4713<td>open</tbody></table>"""
    outline = await outlined(rig, pages, body)
    parts = [ref_of(outline, 'cell "4712"'), ref_of(outline, 'cell "open"')]
    row = await rig.tab.point_row(above(outline, 'cell "4712"', "row"), parts)
    assert row is not None
    assert row.count == 3
    assert await listed(rig, row, "number", "state") == [
        ["4711", "sent"], ["4712", "open"], ["4713", "open"],
    ]  # fmt: skip


async def test_rows_without_classes(rig: Rig, pages: PageServer) -> None:
    body = "<ul><li><p>A</p><div>1</div><li><p>B</p><div>2</div></ul><ul><li>other<li>x<li>y</ul>"
    outline = await outlined(rig, pages, body)
    row = await rows(rig, outline, "listitem", ': "2"', nth=1)
    assert row.count == 2
    assert await listed(rig, row, "n") == [["1"], ["2"]]


async def test_a_field_may_be_the_row_itself(rig: Rig, pages: PageServer) -> None:
    outline = await outlined(rig, pages, "<ol><li>A<li>B<li>C</ol>")
    ref = ref_of(outline, "listitem", 1)
    row = await rig.tab.point_row(ref, [ref])
    assert row is not None
    assert row.parts == (None,)
    assert await listed(rig, row, "text") == [["A"], ["B"], ["C"]]


async def test_a_list_inside_a_row_is_not_its_list(rig: Rig, pages: PageServer) -> None:
    body = """<ul><li><h2>A</h2><ul><li>a1<li>a2</ul><li><h2>B</h2><ul><li>b1<li>b2</ul>
    <li><h2>C</h2><ul><li>c1</ul></ul>"""
    outline = await outlined(rig, pages, body)
    outer = above(outline, 'heading "B"', "listitem")
    row = await rig.tab.point_row(outer, [ref_of(outline, 'heading "B"')])
    assert row is not None
    assert row.count == 3
    assert await listed(rig, row, "name") == [["A"], ["B"], ["C"]]


async def test_a_part_that_is_not_in_the_row_makes_no_list(rig: Rig, pages: PageServer) -> None:
    outline = await outlined(rig, pages, CARDS)
    card = above(outline, 'link "Bowl"', "generic")
    assert await rig.tab.point_row(card, [ref_of(outline, 'link "Lamp"')]) is None


async def test_a_row_in_a_frame_or_a_shadow_root_is_told_as_none_or_read(
    rig: Rig, pages: PageServer
) -> None:
    """What cannot be read by a selector of the page is refused, never counted as no rows."""
    pages.pages["/in"] = html("<ul><li>A<li>B</ul>")
    outline = await outlined(rig, pages, "<iframe src=/in></iframe>")
    row = await rig.tab.point_row(ref_of(outline, "listitem"), [])
    assert row is None or row.count == 2
    shadow = """<x-box></x-box><script>document.querySelector('x-box').attachShadow({mode: 'open'})
    .innerHTML = '<ul><li>A</li><li>B</li></ul>'</script>"""
    outline = await outlined(rig, pages, shadow)
    row = await rig.tab.point_row(ref_of(outline, "listitem"), [])
    assert row is None or row.count == 2


async def test_two_parts_alike_in_a_row_are_told_apart(rig: Rig, pages: PageServer) -> None:
    made = "".join(f"<li><div>{a}</div><div>{n}</div>" for n, a in enumerate("ABC", 1))
    outline = await outlined(rig, pages, f"<ul>{made}</ul>")
    row = await rows(rig, outline, "listitem", ": B", ': "2"', nth=1)
    assert row.count == 3
    assert await listed(rig, row, "a", "b") == [["A", "1"], ["B", "2"], ["C", "3"]]
