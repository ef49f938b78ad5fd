"""Dialogs, tabs and downloads: what nobody expected is told, and hangs nothing."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

from tests.browser.pages import Answer, PageServer, html
from tests.browser.rig import Rig, click, target
from webagent.core.action import Dialog, DownloadBy, Goto, Tab
from webagent.core.expect import DialogShown, DownloadCame, ResponseCame, TextShown
from webagent.core.page import Happened

URL = "http://odd.test/"


async def show(rig: Rig, pages: PageServer, body: str) -> None:
    pages.pages["/"] = html(body)
    await rig.goto(URL)


async def text(rig: Rig, wanted: str) -> bool:
    (finding,) = await rig.tab.examine((TextShown(text=wanted),))
    return finding.count > 0


async def rest(rig: Rig, happened: Happened) -> Happened:
    """What the outcome told, or what came right after it."""
    late = (await rig.tab.happened()).happened
    return happened.model_copy(
        update={
            name: getattr(happened, name) + getattr(late, name) for name in Happened.model_fields
        }
    )


async def test_an_unexpected_confirm_is_dismissed_and_told(rig: Rig, pages: PageServer) -> None:
    await show(
        rig,
        pages,
        "<button onclick=\"out.textContent=confirm('Delete all?')\">X</button><p id=out>",
    )
    outcome = await rig.ok(click('button "X"'))
    assert outcome.happened.dialogs == ("Delete all?",)
    assert await text(rig, "false")
    (finding,) = await rig.tab.examine((DialogShown(glob="Delete*"),))
    assert finding.texts == ("Delete all?",)


async def test_a_prompt_gets_the_armed_text(rig: Rig, pages: PageServer) -> None:
    await show(
        rig, pages, "<button onclick=\"out.textContent=prompt('Name?')\">X</button><p id=out>"
    )
    await rig.ok(Dialog(answer="accept", text="Ada"), click('button "X"'))
    assert await text(rig, "Ada")


async def test_an_alert_at_load_hangs_nothing(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<script>alert('Welcome')</script><h1>Here</h1>")
    assert await text(rig, "Here")


async def test_a_page_that_will_not_be_left_is_left(rig: Rig, pages: PageServer) -> None:
    pages.pages["/next"] = html("<h1>Next</h1>")
    await show(
        rig,
        pages,
        "<button>Touch</button><script>onbeforeunload=e=>{e.preventDefault();return 'x'}</script>",
    )
    await rig.ok(click('button "Touch"'), Goto(url=URL + "next"))
    assert await text(rig, "Next")


async def test_a_new_tab_is_told_and_can_be_gone_on_in(rig: Rig, pages: PageServer) -> None:
    pages.pages["/new"] = html("<h1>New tab</h1>")
    await show(rig, pages, "<h1>First tab</h1><a target=_blank href=/new>Open</a>")
    outcome = await rig.ok(click('link "Open"'))
    assert outcome.happened.tabs == (URL + "new",)
    await rig.ok(Tab(to="new"))
    assert await text(rig, "New tab")
    await rig.ok(Tab(to="first"))
    assert await text(rig, "First tab")
    await rig.ok(click('link "Open"'), Tab(to="new"), Tab(to="close"))


async def test_closing_goes_back_to_the_tab_before(rig: Rig, pages: PageServer) -> None:
    pages.pages["/new"] = html("<h1>New tab</h1>")
    await show(rig, pages, "<h1>First tab</h1><a target=_blank href=/new>Open</a>")
    await rig.ok(click('link "Open"'), Tab(to="new"), Tab(to="close"))
    assert await text(rig, "First tab")
    assert (await rig.tab.observe()).tabs == ()


async def test_a_tab_that_never_opens_is_missing(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "alone")
    outcome = await rig.do(Tab(to="new"), 0.4)
    assert outcome.failure is not None
    assert outcome.failure.kind == "target_missing"
    outcome = await rig.do(Tab(to="close"))
    assert outcome.failure is not None
    assert outcome.failure.kind == "invalid"


def attachment(content: bytes, name: str) -> Answer:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Type": "application/octet-stream",
    }
    return Answer(content, headers=headers)


async def test_a_download_is_kept_with_its_hash_and_never_overwritten(
    rig: Rig, pages: PageServer, kept: Path
) -> None:
    content = b"a,b\n1,2\n" * 1000
    pages.pages["/file"] = attachment(content, "report.csv")
    await show(rig, pages, "<a href=/file>Report</a>")
    paths = []
    for _ in range(2):
        outcome = await rig.ok(DownloadBy(target=target('link "Report"'), name="report"))
        value = outcome.values["report"]
        assert value["name"] == "report.csv"
        assert value["bytes"] == len(content)
        assert value["sha256"] == hashlib.sha256(content).hexdigest()
        paths.append(value["path"])
        assert (kept / "r1" / value["path"]).read_bytes() == content
    assert len(set(paths)) == 2
    (finding,) = await rig.tab.examine((DownloadCame(glob="*.csv"),))
    assert finding.sizes == (len(content), len(content))


async def test_a_download_that_does_not_come_is_a_timeout(rig: Rig, pages: PageServer) -> None:
    await show(rig, pages, "<button>Nothing</button>")
    outcome = await rig.do(DownloadBy(target=target('button "Nothing"')), 0.5)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.dispatched) == ("timeout", "yes")


async def test_an_unexpected_download_is_told(rig: Rig, pages: PageServer) -> None:
    pages.pages["/file"] = attachment(b"x", "../../evil.sh")
    await show(rig, pages, "<a href=/file>Report</a>")
    outcome = await rig.ok(click('link "Report"'))
    for _ in range(40):
        happened = await rest(rig, outcome.happened)
        if happened.downloads:
            break
        await asyncio.sleep(0.05)
    (download,) = happened.downloads
    assert "/" not in download.name
    assert download.path.startswith("downloads/")


async def test_an_address_that_is_a_file_is_unexpected(rig: Rig, pages: PageServer) -> None:
    pages.pages["/file"] = attachment(b"x", "a.bin")
    outcome = await rig.do(Goto(url=URL + "file"))
    assert outcome.failure is not None
    assert outcome.failure.kind == "unexpected"
    assert [d.name for d in outcome.happened.downloads] == ["a.bin"]


async def test_another_step_in_the_same_page_sees_only_what_comes_in_it(
    rig: Rig, pages: PageServer
) -> None:
    from tests.browser.rig import policy

    await show(rig, pages, "<script>alert('Old')</script>")
    await rig.tab.set_policy(policy("odd.test"), "next")
    found = await rig.tab.examine((DialogShown(glob="Old"), ResponseCame(glob="**")))
    assert [f.count for f in found] == [0, 0]
