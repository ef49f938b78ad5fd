"""What a met step's targets looked like is kept once, without the values of its day."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.unit.runtime.stage import Stage, stage
from webagent.core import event as ev
from webagent.core.action import Action, Click, Fill, Goto
from webagent.core.action import Entry as FieldEntry
from webagent.core.event import Event
from webagent.core.request_rules import GuardPolicy
from webagent.core.revision import Revision
from webagent.core.sighting import Element, Sighting
from webagent.core.target import parse_target
from webagent.executors.scripted import ScriptedExecutor
from webagent.runtime.context import Deps, LivePage, Sighted
from webagent.runtime.journal import Journal
from webagent.runtime.sightings import Sightings

SITE = "http://a.test"
RECIPE = """
webagent: 1
id: seen
inputs: {query: {type: string}}
steps:
  find:
    do: search
    segment:
      - goto: http://a.test/
      - fill: {.box: "{{ query }}"}
      - click: .old
    expect: {text: Done}
  other:
    do: fill
    segment: [{goto: http://a.test/}, {click: .old}]
    expect: {text: Done}
"""
GO = Goto(url=f"{SITE}/")
BOX = Fill(entries=(FieldEntry(target=parse_target(".box"), value="{{ query }}"),))


def click(text: str) -> Action:
    return Click(target=parse_target(text))


@dataclass
class Kept:
    """The sightings of one run, and all that the store was ever given."""

    ours: Stage
    deps: Deps
    journal: Journal
    page: LivePage
    sightings: Sightings
    given: list[Sighting] = field(default_factory=list)

    async def seen(self, node: str = "find", writes: tuple[str, ...] = (), **looks: Any) -> None:
        """A step is met, of which these targets were seen."""
        for text, element in looks.pop("targets").items():
            self.page.sighted[text] = Sighted(element, looks.get("url", f"{SITE}/"), writes)
        await self.sightings.keep(node, self.page)

    async def stored(self) -> list[Sighting]:
        found = await self.ours.store.sightings("seen")
        return sorted(found, key=lambda s: (s.target, s.accepted))


async def kept(folder: Path, *events: Event, sidecar: tuple[Sighting, ...] = ()) -> Kept:
    ours = stage(RECIPE, folder)
    deps = replace(ours.deps(), sidecar=sidecar)
    await ours.store.create("r1", "seen", "")
    lease = await ours.store.acquire("r1", deps.runner)
    journal = Journal(ours.store, lease, deps.redact_event, deps.redact_effect)
    begun: tuple[Event, ...] = (
        ev.RunStarted(run="r1", recipe_id="seen", date="2026-11-30", inputs={"query": "usb cable"}),
        ev.PlanMade(plan=ours.plan),
        ev.StepStarted(step="find", attempt=1),
    )
    await journal.append(*begun, *events)
    tab = await ScriptedExecutor(ours.site).open_tab("find", GuardPolicy(origins=(SITE,)))
    return Kept(ours, deps, journal, LivePage(tab), Sightings(deps, journal))


def healed_to(new: str, old: str = ".old") -> tuple[Event, ...]:
    revision = Revision(
        step="find", segment=(GO, BOX, click(new)), first_wrong=2, redo_from=2,
        cause="target_missing", author="local", healed=((old, new),),
    )  # fmt: skip
    failed = ev.Judged(
        step="find", phase="after", verdicts=(), judgement="unmet", drift="target_missing",
        reason="gone", failed_index=2,
    )  # fmt: skip
    climbed = ev.RungTaken(step="find", rung="find_again", drift="target_missing", redo_from=2)
    return failed, climbed, ev.PlanRevised(step="find", revision=revision, version=2)


BUTTON = Element(ref=7, row=3, tag="button", role="button", name="Go", place=(0.5, 0.5))


async def test_a_met_steps_sighting_is_kept_as_accepted(tmp_path: Path):
    here = await kept(tmp_path)
    await here.seen(targets={".old": BUTTON}, writes=("POST /go",))
    (found,) = await here.stored()
    assert (found.step, found.target, found.accepted, found.run) == ("find", ".old", True, "r1")
    assert (found.element.ref, found.element.row) == (0, 0)
    assert found.writes == ("POST /go",)
    assert here.page.sighted == {}


async def test_a_value_of_the_day_is_kept_as_a_hole(tmp_path: Path):
    here = await kept(tmp_path)
    link = Element(tag="a", role="link", name="USB cable, 2 m", href=f"{SITE}/p/usb+cable")
    await here.seen(targets={".old": link}, url=f"{SITE}/find?q=usb+cable")
    (found,) = await here.stored()
    assert found.element.name == "⟦query⟧, 2 m"
    assert found.element.href == f"{SITE}/p/⟦query⟧"
    assert found.url == f"{SITE}/find?q=⟦query⟧"


async def test_what_says_nothing_new_is_not_kept_again(tmp_path: Path):
    here = await kept(tmp_path)
    await here.seen(targets={".old": BUTTON})
    (first,) = await here.stored()
    moved = BUTTON.model_copy(update={"place": (0.51, 0.49), "ref": 99})
    await here.seen(targets={".old": moved})
    assert await here.stored() == [first], "a box that moved by a little is no news"


async def test_what_says_something_new_is(tmp_path: Path):
    here = await kept(tmp_path)
    await here.seen(targets={".old": BUTTON})
    (first,) = await here.stored()
    for change, of in (
        ({"writes": ("POST /go",)}, BUTTON),
        ({"url": f"{SITE}/b", "writes": ("POST /go",)}, BUTTON),
        ({"url": f"{SITE}/b"}, BUTTON.model_copy(update={"name": "Go on"})),
    ):
        await here.seen(targets={".old": of}, **change)
        (now,) = await here.stored()
        assert now.at > first.at
        first = now


async def test_after_a_revision_it_stands_beside_the_old_one_until_it_is_accepted(tmp_path: Path):
    before = Sighting(recipe_id="seen", step="find", target=".old", element=BUTTON, at="2026-01-01")
    here = await kept(tmp_path, *healed_to(".new"))
    await here.ours.store.keep_sightings([before])
    await here.seen(targets={".new": BUTTON.model_copy(update={"name": "Start"})})
    healed, old = await here.stored()
    assert old == before
    assert (healed.accepted, healed.element.name) == (False, "Start")
    assert healed.target == ".old", "it is known by the recipe's own text"


async def test_what_was_healed_twice_is_known_by_the_recipes_own_text(tmp_path: Path):
    here = await kept(tmp_path, *healed_to(".new"), *healed_to(".newer", ".new"))
    await here.seen(targets={".newer": BUTTON, ".box": Element(tag="input")})
    assert [(s.target, s.accepted) for s in await here.stored()] == [
        (".box", False), (".old", False),
    ]  # fmt: skip


async def test_another_steps_revision_leaves_a_step_accepted(tmp_path: Path):
    here = await kept(tmp_path, *healed_to(".new"))
    await here.seen("other", targets={".old": BUTTON})
    (found,) = await here.stored()
    assert (found.step, found.accepted) == ("other", True)


async def test_of_store_and_sidecar_the_newer_is_known(tmp_path: Path):
    def one(target: str, name: str, at: str) -> Sighting:
        element = BUTTON.model_copy(update={"name": name})
        return Sighting(recipe_id="seen", step="find", target=target, element=element, at=at)

    beside = (one(".a", "beside", "2026-02-01"), one(".b", "beside", "2026-02-01"))
    here = await kept(tmp_path, sidecar=beside)
    await here.ours.store.keep_sightings(
        [one(".a", "store", "2026-03-01"), one(".b", "store", "2026-01-01")]
    )
    known = {s.target: s.element.name for s in await here.sightings.known()}
    assert known == {".a": "store", ".b": "beside"}


async def test_the_known_writes_are_the_steps_own(tmp_path: Path):
    def sent(step: str, *writes: str) -> Sighting:
        return Sighting(recipe_id="seen", step=step, target=".old", element=BUTTON, writes=writes)

    here = await kept(tmp_path, sidecar=(sent("find", "POST /go"), sent("other", "POST /pay")))
    assert await here.sightings.writes("find") == ("POST /go",)
    assert await here.sightings.writes("other[7]") == ("POST /pay",)
