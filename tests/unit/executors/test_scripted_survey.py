"""A scripted page shows what its script says, and where it is when the script says nothing."""

from __future__ import annotations

from webagent.core.action import Goto
from webagent.core.plan import Plan, PlanStep
from webagent.core.request_rules import GuardPolicy
from webagent.core.sighting import Element, Survey
from webagent.executors.scripted import ScriptedExecutor, ScriptedSite

URL = "http://site.test/"


async def said() -> None:
    return None


async def test_a_scripted_page_shows_what_its_script_says() -> None:
    plan = Plan(recipe_id="r", steps=(PlanStep(path="a", do="read"), PlanStep(path="b", do="read")))
    shown = Survey(url=URL, status=200, elements=(Element(ref=1, tag="button", name="Buy"),))
    executor = ScriptedExecutor(ScriptedSite(plan, surveys={"a": shown}))
    tab = await executor.open_tab("a", GuardPolicy(origins=(URL,)))
    assert await tab.survey() == shown
    other = await executor.open_tab("b", GuardPolicy(origins=(URL,)))
    await other.perform(Goto(url=URL), deadline=1.0, dispatched=said)
    assert await other.survey() == Survey(url=URL)
    await other.close()
    executor.dead = True
    assert await tab.survey() == await other.survey() == Survey(url="")
