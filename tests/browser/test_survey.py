"""A survey tells what a page shows well enough to find it again, and changes nothing."""

from __future__ import annotations

import pytest

from tests.browser.conftest import OpenTab
from tests.browser.pages import Answer, PageServer, html
from tests.browser.rig import KnownSecrets, Rig, fill, policy
from webagent.core.action import Goto
from webagent.core.sighting import Element, Survey

URL = "http://odd.test/"


async def surveyed(rig: Rig, pages: PageServer, body: str) -> Survey:
    pages.pages["/"] = html(body)
    await rig.goto(URL)
    return await rig.tab.survey()


def one(seen: Survey, **wanted: object) -> Element:
    """The one element that has these values."""
    found = [e for e in seen.elements if all(getattr(e, k) == v for k, v in wanted.items())]
    assert len(found) == 1, (wanted, [(e.tag, e.name, e.text) for e in seen.elements])
    return found[0]


FORM = """
<h1>Shop</h1><main><form name=pay method=post action=/pay>
<h2>Checkout</h2>
<label for=mail>E-mail</label><input id=mail type=email name=mail required
  placeholder="you@example.org" autocomplete=email value="me@here.test">
<fieldset><legend>Delivery</legend>
  <label><input type=radio name=way value=post checked> By post</label>
  <label><input type=radio name=way value=fetch> Fetch it</label></fieldset>
<label>Country <select name=land><option>Norway<option>Chile</select></label>
<input type=hidden name=token value=x><button disabled>Apply</button>
<button class="btn btn-main" data-testid=order>Place order</button></form></main>
"""


async def test_controls_are_told_with_their_names_and_states(rig: Rig, pages: PageServer) -> None:
    seen = await surveyed(rig, pages, FORM)
    mail = one(seen, type="email")
    assert (mail.role, mail.name, mail.label) == ("textbox", "E-mail", "E-mail")
    assert (mail.placeholder, mail.required, mail.filled) == ("you@example.org", True, True)
    assert mail.attrs["autocomplete"] == "email"
    assert mail.container == ('form "Checkout"', "main")
    assert mail.near == "Checkout"
    assert "me@here.test" not in seen.model_dump_json()
    post = one(seen, name="By post")
    assert (post.type, post.near, post.filled) == ("radio", "Delivery", True)
    assert post.container[0] == 'group "Delivery"'
    land = one(seen, tag="select")
    assert (land.name, land.options) == ("Country", ("Norway", "Chile"))
    order = one(seen, name="Place order")
    assert (order.submits, order.method, order.form) == (True, "POST", mail.form)
    assert order.attrs == {"class": "btn btn-main", "data-testid": "order", "action": "/pay"}
    assert one(seen, name="Apply").enabled is False
    assert not [e for e in seen.elements if e.type == "hidden"]
    assert seen.headings == ("Shop", "Checkout")
    assert (seen.url, seen.status, seen.overlay) == (URL, 200, 0)


TABLE = """
<nav aria-label=Main><ul><li><a href=/home>Home</a><li><a href=/faq>Help</a></ul></nav>
<section><h2>Orders</h2><table><caption>Past</caption>
<thead><tr><th>Number<th>State<th></thead>
<tr><td>4711<td>sent<td><button>Cancel</button>
<tr><td>4712<td>open<td><button>Cancel</button></table></section>
<div class=cards>
 <div class="card on-sale"><h3><a href=/p/1>Lamp</a></h3><span class=price>12.50</span></div>
 <div class=card><h3><a href=/p/2>Bowl</a></h3><span class=price>7.00</span></div></div>
<dl><dt>Total<dd>19.50</dl><p>Balance: <b class=sum>3 EUR</b></p>
<img src=/logo.png alt="Our logo"><a href=/fav><img src=/x.png alt=Favourites></a>
"""


async def test_rows_cells_and_short_texts_are_told(rig: Rig, pages: PageServer) -> None:
    seen = await surveyed(rig, pages, TABLE)
    by_ref = {e.ref: e for e in seen.elements}
    home = one(seen, name="Home", tag="a")
    assert (home.href, home.container) == (f"{URL}home", ('navigation "Main"',))
    assert by_ref[home.row].tag == "li"
    assert by_ref[home.row].count == 2
    state = one(seen, text="open")
    assert (state.near, state.container) == ("State", ('table "Past"', 'region "Orders"'))
    row = by_ref[state.row]
    assert (row.tag, row.count) == ("tr", 2)
    assert "4712" in row.text
    cancels = [e for e in seen.elements if e.tag == "button"]
    assert [e.near for e in cancels] == ["4711", "4712"]
    price = one(seen, text="7.00")
    card = by_ref[price.row]
    assert (card.tag, card.attrs["class"], card.count) == ("div", "card", 2)
    assert one(seen, text="12.50").row != price.row
    assert one(seen, text="19.50").near == "Total"
    assert one(seen, text="3 EUR").near == "Balance:"
    assert one(seen, tag="img", name="Our logo").attrs["alt"] == "Our logo"
    assert one(seen, tag="a", href=f"{URL}fav").name == "Favourites"
    assert [e.ref for e in seen.elements] == list(range(1, len(seen.elements) + 1))


async def test_every_selector_finds_its_element_alone(rig: Rig, pages: PageServer) -> None:
    made = "".join(f"<li id=i{i}99><a class=x{i} href=/{i}>n</a><p>t{i}</p>" for i in range(9))
    body = f"{FORM}{TABLE}<ul class=list>{made}</ul><div id=2a:b><button class='a:b'>Odd</button>"
    body += "<x-box id=box></x-box><x-box></x-box><script>document.querySelectorAll('x-box')"
    body += ".forEach((b) => { b.attachShadow({mode: 'open'}).innerHTML = '<p>in</p><p>it</p>"
    body += "<button class=go>Go</button><div><input name=mail></div>' })</script>"
    seen = await surveyed(rig, pages, body)
    page = rig.tab.pages[0]
    assert len([e for e in seen.elements if e.name == "Go"]) == 2
    for element in seen.elements:
        found = page.locator(f"css={element.css}")
        assert await found.count() == 1, element.css
        assert await found.evaluate("(e) => e.localName") == element.tag
    css = {e.name: e.css for e in seen.elements}
    assert css["Place order"] == '[data-testid="order"]'
    assert css["E-mail"] == "#mail"
    assert css["Country"] == 'select[name="land"]'
    assert css["By post"] == 'input[name="way"][value="post"]'


async def test_shadow_roots_and_frames_are_told(rig: Rig, pages: PageServer) -> None:
    pages.pages["/in"] = html("<form><label>Card <input name=card></label></form>")
    pages.pages["/other"] = html("<button>Far</button>")
    seen = await surveyed(
        rig,
        pages,
        "<form><input name=q></form><h2>Till</h2><x-box></x-box><iframe src=/in></iframe>"
        "<iframe src=http://inner.test/other></iframe><script>document.querySelector('x-box')"
        ".attachShadow({mode: 'open'}).innerHTML = '<button>Deep</button>'</script>",
    )
    deep = one(seen, name="Deep")
    assert (deep.css, deep.near, deep.frame) == ("x-box button", "Till", "")
    card = one(seen, name="Card")
    assert (card.frame, card.css) == (f"{URL}in", 'input[name="card"]')
    assert one(seen, name="Far").frame == "http://inner.test/other"
    assert card.form not in (0, one(seen, name="q").form)
    assert len({e.ref for e in seen.elements}) == len(seen.elements)


LAYERS = {
    "a banner at the bottom": (
        "<div id=over style='position:fixed;bottom:0;left:0;right:0;height:90px'>"
        "We use cookies <button>Accept</button></div>"
    ),
    "a dialog": "<dialog id=over>News? <button>Accept</button></dialog>"
    "<script>over.showModal()</script>",
    "a layer with its shade": (
        "<div id=over style='position:fixed;inset:0;z-index:9'>"
        "<div style='position:fixed;inset:0;background:#0008'></div>"
        "<div style='position:absolute;inset:30%;background:white'>Sign up "
        "<button>Accept</button></div></div>"
    ),
    "nothing": "<nav style='position:fixed;bottom:0;left:0;right:0'><a href=/x>Accept</a></nav>"
    "<header style='position:sticky;top:0'>Shop</header>",
}


@pytest.mark.parametrize("layer", LAYERS)
async def test_what_lies_over_the_page_is_told(rig: Rig, pages: PageServer, layer: str) -> None:
    text = "".join(f"<p>line {i} <a href=/{i}>go {i}</a></p>" for i in range(40))
    seen = await surveyed(rig, pages, f"<div>{text}</div>{LAYERS[layer]}")
    accept = one(seen, name="Accept")
    if layer == "nothing":
        assert (seen.overlay, accept.row) == (0, 0)
    else:
        assert one(seen, ref=seen.overlay).attrs["id"] == "over"
        assert accept.row == seen.overlay
        assert one(seen, name="go 3").row != seen.overlay


async def test_a_banner_in_a_frame_has_its_controls(rig: Rig, pages: PageServer) -> None:
    pages.pages["/ask"] = html("Cookies? <button>Accept</button>")
    seen = await surveyed(
        rig,
        pages,
        "<p>text</p><button>Own</button><iframe src=http://inner.test/ask "
        "style='position:fixed;bottom:0;left:0;width:100%;height:120px'></iframe>",
    )
    over = one(seen, ref=seen.overlay)
    assert (over.tag, over.href) == ("iframe", "http://inner.test/ask")
    assert one(seen, name="Accept").row == seen.overlay
    assert one(seen, name="Own").row == 0


async def test_what_explains_an_element_is_near_it(rig: Rig, pages: PageServer) -> None:
    seen = await surveyed(
        rig,
        pages,
        "<h1>Top</h1><p>Before it</p><h2>Part</h2><table><tr><th>One<th>Two<tr><td>a<td>b</table>"
        "<div>C</div><a href=/x>Lamp</a><section><header><h3>Own</h3></header><input name=q>"
        "</section><div>Have a coupon? <button>Use it</button></div>",
    )
    near = {e.name or e.text: e.near for e in seen.elements if e.tag not in ("tr", "table")}
    assert (near["Part"], near["Two"], near["b"]) == ("Top", "Part", "Two")
    assert (near["Lamp"], near["q"], near["Use it"]) == ("Part", "Own", "Have a coupon?")


async def test_a_page_within_a_fixed_frame_is_not_an_overlay(rig: Rig, pages: PageServer) -> None:
    shell = "<div style='position:fixed;inset:0;overflow:auto'><h1>App</h1><a href=/x>In</a></div>"
    assert (await surveyed(rig, pages, shell)).overlay == 0


async def test_a_large_page_is_cut_and_keeps_what_can_be_used(rig: Rig, pages: PageServer) -> None:
    rows = "".join(f"<tr><td>{i}<td><a href=/{i}>link {i}</a><td>x" for i in range(1_700))
    pages.pages["/"] = html(f"<table>{rows}</table><h2>Last</h2><button>Send</button>")
    await rig.ok(Goto(url=URL), deadline=30)
    seen = await rig.tab.survey()
    assert len(seen.elements) == 1_500
    assert one(seen, name="Send").near == "Last"
    assert one(seen, tag="a", name="link 19").row


async def test_typed_values_and_secrets_are_never_told(
    rig: Rig, pages: PageServer, secrets: KnownSecrets
) -> None:
    secrets.given.add("canary-77")
    pages.pages["/"] = html(
        "<label>Name <input id=n></label><textarea aria-label=Note></textarea>"
        "<div contenteditable aria-label=Text></div><p title=canary-77>it is canary-77</p>"
        f"<p>{'x' * 112} canary-77</p>"
    )
    await rig.goto(URL)
    typed = "Rosalind Typed"
    await rig.ok(*(fill({"label": name}, typed) for name in ("Name", "Note", "Text")))
    seen = await rig.tab.survey()
    secrets.given.clear()
    whole = seen.model_dump_json()
    assert "Typed" not in whole
    assert "canary" not in whole
    assert [one(seen, name=name).filled for name in ("Name", "Note", "Text")] == [True] * 3


async def test_a_survey_leaves_the_page_as_it_is(rig: Rig, pages: PageServer) -> None:
    seen = await surveyed(
        rig,
        pages,
        "<title>Door</title><label>Password <input type=password></label><div id=log></div>"
        "<script>let n = 0; new MutationObserver(() => { n++; document.title = 'changed ' + n })"
        ".observe(document.body, {subtree: true, childList: true, attributes: true});"
        "document.body.onfocus = document.onscroll = () => { document.title = 'touched' }</script>",
    )
    assert (seen.sign_in, seen.captcha) == (True, False)
    assert (await rig.tab.survey()).title == seen.title
    assert len(pages.arrivals) <= 2


async def test_a_lost_page_gives_an_empty_survey(open_tab: OpenTab, pages: PageServer) -> None:
    pages.pages["/"] = html("<button>Here</button>")
    rig = await open_tab(policy("odd.test"))
    await rig.goto(URL)
    await rig.tab.pages[0].close()
    assert await rig.tab.survey() == Survey(url="")


async def test_a_sitemap_gives_its_addresses_whole(rig: Rig, pages: PageServer) -> None:
    wanted = [f"{URL}p/{i}?and={'x' * i}" for i in range(0, 400, 100)]
    locs = "".join(f"<url><loc>{url}</loc><lastmod>2026-01-01</lastmod></url>" for url in wanted)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    pages.pages["/sitemap.xml"] = Answer(
        f'<?xml version="1.0"?><urlset xmlns="{space}">{locs}</urlset>',
        headers={"Content-Type": "application/xml"},
    )
    await rig.goto(f"{URL}sitemap.xml")
    seen = await rig.tab.survey()
    assert [e.href for e in seen.elements] == wanted
    assert seen.status == 200
