"""What is seen of a page: facts, outline, screenshot, console, requests."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.browser.pages import PageServer, html
from tests.browser.rig import KnownSecrets, Rig, click, fill
from webagent.core.action import Goto
from webagent.core.base import SecretUse

URL = "http://odd.test/"


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def test_the_facts_of_a_page_are_observed_without_files(
    rig: Rig, pages: PageServer, kept: Path
) -> None:
    pages.pages["/"] = html(
        "<form><label>Password <input type=password></label></form>"
        "<script>console.error('bad thing');fetch('/api',{method:'POST'})</script>",
        title="Sign in",
        status=503,
        headers={"Retry-After": "3"},
    )
    pages.pages["/api"] = html("{}")
    await rig.goto(URL)
    await rig.tab.stirred(0.3)
    before = files(kept)
    seen = await rig.tab.observe()
    assert (seen.url, seen.title, seen.status, seen.retry_after) == (URL, "Sign in", 503, 3.0)
    assert (seen.alive, seen.sign_in, seen.captcha, seen.loading) == (True, True, False, False)
    assert any("bad thing" in line for line in seen.console)
    assert "GET 503 http://odd.test/" in seen.requests
    assert seen.outline == ""
    assert files(kept) == before


async def test_evidence_is_kept_under_its_name_and_never_overwritten(
    rig: Rig, pages: PageServer, kept: Path
) -> None:
    pages.pages["/in"] = html("<button>Inside</button>")
    pages.pages["/"] = html("<h1>Here</h1><button>Go</button><iframe src=/in></iframe>")
    await rig.goto(URL)
    await rig.tab.stirred(0.2)
    one = await rig.tab.observe(evidence="why/it-failed")
    two = await rig.tab.observe(evidence="why/it-failed")
    assert 'button "Go"' in one.outline
    assert 'button "Inside"' in one.outline
    for seen in (one, two):
        assert seen.screenshot
        assert seen.outline_file
        assert (kept / "r1" / seen.screenshot).read_bytes().startswith(b"\x89PNG")
        assert (kept / "r1" / seen.outline_file).read_text() == seen.outline
    assert one.screenshot != two.screenshot


async def test_a_large_page_gives_a_short_outline_in_time(rig: Rig, pages: PageServer) -> None:
    rows = "".join(f"<tr><td>{i}<td><a href=/{i}>link {i}</a>" for i in range(20_000))
    pages.pages["/"] = html(f"<h1>Large</h1><table>{rows}</table>")
    await rig.ok(Goto(url=URL), deadline=30)
    began = time.monotonic()
    seen = await rig.tab.observe(evidence="large")
    assert len(seen.outline) < 21_000
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    "body",
    [
        "<iframe src=/recaptcha/api2 width=300 height=80></iframe>",
        "<div class=h-captcha>prove it</div>",
        "<script>document.title='Just a moment...'</script>",
    ],
)
async def test_a_captcha_is_hinted_at(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    await rig.goto(URL)
    assert (await rig.tab.observe()).captcha


async def test_an_observation_of_a_spinning_page_ends(rig: Rig, pages: PageServer) -> None:
    pages.pages["/"] = html('<button onclick="setTimeout(()=>{for(;;);},300)">Spin</button>')
    await rig.goto(URL)
    # On a busy machine the click itself may be caught by the spinning; both are right here.
    await rig.do(click("button"), 2.0)
    await rig.tab.stirred(0.5)
    began = time.monotonic()
    seen = await rig.tab.observe(evidence="spin")
    assert time.monotonic() - began < 20
    assert seen.alive
    assert seen.url == URL


async def test_a_slow_page_is_loading(rig: Rig, pages: PageServer) -> None:
    import asyncio

    pages.pages["/slow"] = html("late", gate=asyncio.Event())
    pages.pages["/"] = html("<a href=/slow>Go</a>")
    await rig.goto(URL)
    await rig.do(click("a"), 0.4)
    assert (await rig.tab.observe()).loading


ECHOES = {
    "in a text": "out.textContent = v",
    "over two elements": "out.innerHTML = v.slice(0, 5) + '<br>' + v.slice(5)",
    "in another control": "other.value = v",
    "in a shadow tree": "out.attachShadow({mode: 'open'}).innerHTML = '<p>' + v + '</p>'",
    "in a frame": "frame.contentDocument.body.textContent = v",
    "as a hint": "other.placeholder = v",
    "nowhere": "",
}


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("kind", ["password", "text"])
async def test_no_screenshot_is_kept_of_a_page_that_shows_a_secret(
    rig: Rig, pages: PageServer, kept: Path, secrets: KnownSecrets, echo: str, kind: str
) -> None:
    secrets.values, secrets.origins = {"pw": "canary-51c2-secret"}, {}
    pages.pages["/"] = html(
        f"<label>Code <input type={kind} id=code></label><p id=out></p><input id=other>"
        "<iframe id=frame></iframe>"
        f"<script>code.oninput = () => {{ const v = code.value; {ECHOES[echo]} }}</script>"
    )
    await rig.goto(URL)
    await rig.ok(fill({"label": "Code"}, SecretUse(secret="pw")))
    before = [path for path in files(kept) if path.suffix == ".png"]
    seen = await rig.tab.observe(evidence="echo")
    secrets.given.clear()
    kept_pictures = [path for path in files(kept) if path.suffix == ".png"]
    note = "no screenshot: the page shows a secret"
    assert seen.outline_file
    if echo == "nowhere":
        assert seen.screenshot
        assert note not in seen.console
    else:
        assert seen.screenshot is None
        assert note in seen.console
        assert kept_pictures == before
