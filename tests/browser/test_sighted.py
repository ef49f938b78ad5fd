"""An action tells what its targets looked like when it found them, once for each in a step."""

from __future__ import annotations

from tests.browser.pages import PageServer, html
from tests.browser.rig import (
    KnownSecrets,
    Rig,
    click,
    commit,
    field_of,
    fill,
    policy,
    press,
    read,
    rows_of,
    select,
    target,
)
from webagent.core.action import Check, TableRead
from webagent.core.base import SecretUse
from webagent.core.page import Outcome
from webagent.core.sighting import Element

URL = "http://odd.test/"
FORM = """<form onsubmit="return false"><h2>Checkout</h2><label>Name <input name=who></label>
<label>Land <select name=land><option>Norway<option>Chile</select></label>
<label><input type=checkbox name=terms> I agree</label><button>Place order</button></form>"""


async def show(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    await rig.goto(URL)


def seen(outcome: Outcome) -> dict[str, Element]:
    assert {url for _, _, url in outcome.sighted} <= {URL}
    return {source: element for source, element, _ in outcome.sighted}


async def test_every_entering_action_tells_what_it_entered_into(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, FORM)
    who = seen(await rig.ok(fill({"label": "Name"}, "Rosalind")))
    (element,) = who.values()
    assert (element.tag, element.name, element.filled) == ("input", "Name", False)
    assert (element.container, element.css) == (('form "Checkout"',), 'input[name="who"]')
    assert "Rosalind" not in element.model_dump_json()
    (land,) = seen(await rig.ok(select({"label": "Land"}, "Chile"))).values()
    assert land.options == ("Norway", "Chile")
    (terms,) = seen(await rig.ok(Check(target=target({"label": "I agree"})))).values()
    assert (terms.type, terms.near) == ("checkbox", "Checkout")
    (order,) = seen(await rig.ok(commit('button "Place order"'))).values()
    assert (order.name, order.submits, order.method) == ("Place order", True, "GET")


async def test_a_target_is_told_once_in_a_step(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<button>More</button><input aria-label=Box>")
    assert seen(await rig.ok(click("button"))).keys() == {"button"}
    assert not (await rig.ok(click("button"))).sighted
    assert seen(await rig.ok(press("Tab", "input"))).keys() == {"input"}
    await rig.tab.set_policy(policy("odd.test"), "next step")
    assert seen(await rig.ok(click("button"))).keys() == {"button"}


async def test_an_action_that_failed_tells_nothing_and_its_repetition_does(
    rig: Rig, pages: PageServer
) -> None:
    await show(rig, pages, "<button id=b>Go</button><div id=veil style='position:fixed;inset:0'>")
    failed = await rig.do(click("button"), 0.4)
    assert failed.failure is not None
    assert not failed.sighted
    await rig.tab.pages[0].evaluate("veil.remove()")
    assert seen(await rig.ok(click("button")))["button"].attrs == {"id": "b"}


async def test_reads_tell_their_fields_and_a_lists_first_row(rig: Rig, pages: PageServer) -> None:
    cards = "".join(
        f"<div class=card><h3>Lamp {i}</h3><b class=price>{i}.50</b></div>" for i in range(3)
    )
    table = "<table><caption>Past</caption><tr><th>No<th>State<tr><td>1<td>sent</table>"
    await show(rig, pages, f"<h1>Lamps</h1>{cards}<p class=sum>4.50 EUR</p>{table}")
    rows = rows_of(
        ".card", price=field_of(".price"), name=field_of("h3"), no=field_of("i", optional=True)
    )
    outcome = await rig.ok(
        read(
            sum=field_of(".sum"),
            rows=rows,
            past=TableRead(table=target("table")),
        )
    )
    assert len(outcome.values["rows"]) == 3
    told = seen(outcome)
    assert told.keys() == {".sum", ".card", ".price", "h3", "table"}
    assert (told[".card"].count, told[".card"].tag) == (3, "div")
    assert (told[".price"].text, told[".price"].near) == ("0.50", "Lamp 0")
    assert told["h3"].text == "Lamp 0"
    assert (told["table"].name, told["table"].role) == ("Past", "table")
    assert told[".sum"].text == "4.50 EUR"
    assert not (await rig.ok(read(rows=rows))).sighted


async def test_a_target_in_a_frame_or_shadow_root_is_told(rig: Rig, pages: PageServer) -> None:
    pages.pages["/in"] = html("<button>Inner</button>")
    await show(
        rig,
        pages,
        "<x-box></x-box><iframe src=http://inner.test/in></iframe><script>document"
        ".querySelector('x-box').attachShadow({mode: 'open'}).innerHTML = '<a href=#x>Deep</a>'"
        "</script>",
    )
    (inner,) = seen(await rig.ok(click('button "Inner"'))).values()
    assert (inner.frame, inner.name) == ("http://inner.test/in", "Inner")
    (deep,) = (await rig.ok(click('link "Deep"'))).sighted
    assert (deep[1].css, deep[1].href) == ("x-box a", f"{URL}#x")


async def test_secrets_and_typed_values_are_not_told(
    rig: Rig, pages: PageServer, secrets: KnownSecrets
) -> None:
    secrets.values, secrets.origins = {"pw": "canary-5512"}, {}
    await show(
        rig,
        pages,
        '<label>Code <input oninput="b.title = this.value"></label><button id=b>Go</button>',
    )
    one = await rig.ok(fill({"label": "Code"}, SecretUse(secret="pw")))
    two = await rig.ok(click("button"))
    three = await rig.ok(press("Enter", "input"))
    secrets.given.clear()
    told = [*one.sighted, *two.sighted, *three.sighted]
    assert [source for source, _, _ in told][1:] == ["button", "input"]
    assert two.sighted[0][1].attrs["title"] == "[secret]"
    assert "canary" not in "".join(element.model_dump_json() for _, element, _ in told)
