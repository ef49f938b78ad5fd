"""A planner's eyes: a second tab that sends no write, within what is left of the step's budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runtime.stage import Stage, stage
from webagent.core import event as ev
from webagent.core.brief import Brief
from webagent.core.page import Failure
from webagent.core.request_rules import GuardPolicy, Request, refusal
from webagent.core.sighting import Element, Survey
from webagent.executors.scripted import Fault, ScriptedExecutor, ScriptedTab
from webagent.runtime.context import LivePage
from webagent.runtime.journal import Journal
from webagent.runtime.scouting import MOST_LISTED, MOST_LOOKS, PageScout

SITE = "http://a.test"
RECIPE = """
webagent: 1
id: scouted
steps:
  fill:
    do: fill
    effect: repeatable
    allow_posts: ["**/allowed"]
    segment: [{goto: http://a.test/}, {click: .go}]
    expect: {text: Done}
"""


@dataclass
class Looking:
    """A scout over a scripted site, with the tabs that it opened."""

    ours: Stage
    scout: PageScout
    page: LivePage
    tabs: list[ScriptedTab] = field(default_factory=list)

    def visited(self) -> list[str]:
        return [p.action.url for p in self.ours.site.log if p.action.verb == "goto"]


async def looking(folder: Path, *, pages: int = 10, seconds: float = 60.0) -> Looking:
    ours = stage(RECIPE, folder)
    deps = ours.deps()
    await ours.store.create("r1", "scouted", "")
    lease = await ours.store.acquire("r1", deps.runner)
    journal = Journal(ours.store, lease, deps.redact_event, deps.redact_effect)
    await journal.append(
        ev.RunStarted(run="r1", recipe_id="scouted", date="2026-11-30", inputs={}),
        ev.PlanMade(plan=ours.plan),
        ev.StepStarted(step="fill", attempt=1),
    )
    executor = ScriptedExecutor(ours.site)
    tabs: list[ScriptedTab] = []

    async def open_tab(step: str, policy: GuardPolicy) -> ScriptedTab:
        tabs.append(await executor.open_tab(step, policy))
        return tabs[-1]

    own = LivePage(await executor.open_tab("fill", GuardPolicy(origins=(SITE,))))
    brief = Brief(
        step=ours.plan.step("fill"), drift="page_moved", pages_left=pages, seconds_left=seconds
    )
    scout = PageScout(deps, journal, open_tab, "fill", own, brief)
    return Looking(ours, scout, own, tabs)


async def test_pages_are_looked_at_in_one_tab_of_their_own(tmp_path: Path):
    eyes = await looking(tmp_path)
    before = await eyes.scout.here()
    seen = [await eyes.scout.look(f"{SITE}/{name}") for name in ("a", "b")]
    assert [s.url for s in seen if s is not None] == [f"{SITE}/a", f"{SITE}/b"]
    assert len(eyes.tabs) == 1
    assert await eyes.scout.here() == before


async def test_a_tab_is_opened_only_to_look_and_is_closed_afterwards(tmp_path: Path):
    eyes = await looking(tmp_path)
    await eyes.scout.close()
    assert eyes.tabs == []
    await eyes.scout.look(f"{SITE}/a")
    await eyes.scout.close()
    await eyes.scout.close()
    assert (await eyes.tabs[0].survey()).url == ""


@pytest.mark.parametrize(
    "method, url, kind, goes_out",
    [
        ("GET", f"{SITE}/x", "document", True),
        ("POST", f"{SITE}/x", "document", False),
        ("POST", f"{SITE}/allowed", "document", False),
        ("DELETE", f"{SITE}/x", "fetch", False),
        ("POST", f"{SITE}/x", "xhr", False),
        ("GET", "http://away.test/x", "document", False),
    ],
)
async def test_it_sends_nothing_but_get_within_the_scope(
    tmp_path: Path, method: str, url: str, kind: Any, goes_out: bool
):
    eyes = await looking(tmp_path)
    await eyes.scout.look(f"{SITE}/a")
    policy = eyes.tabs[0].policy.model_copy(update={"allow_private": True})
    assert (refusal(policy, Request(method=method, url=url, kind=kind)) is None) is goes_out


async def test_each_page_counts_against_the_steps_budget(tmp_path: Path):
    eyes = await looking(tmp_path, pages=4)
    left = []
    for name in "abcde":
        left.append(eyes.scout.pages_left())
        await eyes.scout.look(f"{SITE}/{name}")
    assert left == [3, 2, 1, 0, 0], "one page stays to go to what was found"
    assert eyes.visited() == [f"{SITE}/{name}" for name in "abc"]
    assert (eyes.scout.looked, eyes.page.documents) == (3, 3)


async def test_a_page_that_does_not_load_is_none_and_counts(tmp_path: Path):
    eyes = await looking(tmp_path, pages=4)
    down = Failure(kind="navigation", message="refused connection")
    eyes.ours.site.faults["fill"] = [Fault(at=0, failure=down)]
    assert await eyes.scout.look(f"{SITE}/a") is None
    assert (eyes.scout.looked, eyes.page.documents, eyes.scout.pages_left()) == (1, 1, 2)
    assert await eyes.scout.look(f"{SITE}/b") is not None


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "mailto:a@b.c", "", "/x"]
)
async def test_what_is_no_page_is_not_looked_at(tmp_path: Path, url: str):
    eyes = await looking(tmp_path)
    assert await eyes.scout.look(url) is None
    assert (eyes.tabs, eyes.scout.looked) == ([], 0)


@pytest.mark.parametrize("pages, left", [(0, 0), (1, 0), (2, 1), (500, MOST_LOOKS)])
async def test_no_search_takes_more_than_is_left_nor_more_than_any_may(
    tmp_path: Path, pages: int, left: int
):
    assert (await looking(tmp_path, pages=pages)).scout.pages_left() == left


async def test_a_part_of_the_time_is_kept_for_what_was_found(tmp_path: Path):
    eyes = await looking(tmp_path, seconds=100.0)
    await eyes.ours.clock.sleep(55)
    assert eyes.scout.pages_left() > 0
    await eyes.ours.clock.sleep(10)
    assert eyes.scout.pages_left() == 0
    assert await eyes.scout.look(f"{SITE}/a") is None
    assert eyes.visited() == []


def listed(*urls: str, status: int = 200) -> Survey:
    text = "".join(f"<url><loc> {url} </loc></url>" for url in urls)
    return Survey(url=f"{SITE}/sitemap.xml", status=status, elements=(Element(tag="p", text=text),))


async def test_a_sitemap_gives_the_sites_own_addresses_once_each(tmp_path: Path):
    eyes = await looking(tmp_path)
    one, two = f"{SITE}/one", f"{SITE}/two"
    eyes.ours.site.surveys["fill"] = listed(one, "http://away.test/x", two, one)
    assert await eyes.scout.sitemap(SITE) == (one, two)
    assert eyes.visited() == [f"{SITE}/sitemap.xml"]
    assert eyes.scout.looked == 1


async def test_a_sitemap_is_cut_and_an_error_page_is_none(tmp_path: Path):
    eyes = await looking(tmp_path)
    many = [f"{SITE}/{n}" for n in range(MOST_LISTED + 50)]
    eyes.ours.site.surveys["fill"] = listed(*many)
    assert len(await eyes.scout.sitemap(SITE)) == MOST_LISTED
    for status in (404, 500, 0):
        eyes.ours.site.surveys["fill"] = listed(*many, status=status)
        assert await eyes.scout.sitemap(SITE) == ()
