"""A scripted errand under witnesses that are not the journal: the site's log, ledger and pages.

The store marks in the site's log where a step was validated or reopened, so that "executed again
after it was validated" is read off what reached the site.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tests.unit.runtime.graphs import INPUTS, Death, Errand, Mishaps, turns, values_of
from tests.unit.runtime.stage import DyingStore, KilledError, QuickClock, Stage
from webagent.core.base import Json
from webagent.core.effect import EffectChange
from webagent.core.event import Entry, Event, StepFinished, StepReopened
from webagent.core.expect import Expectation, Finding
from webagent.core.plan import PlanStep, template_of
from webagent.core.request_rules import GuardPolicy
from webagent.executors.scripted import (
    Performed,
    ScriptedExecutor,
    ScriptedSite,
    ScriptedTab,
    finding_for,
)
from webagent.planners.scripted import ScriptedPlanner
from webagent.ports import Lease
from webagent.runtime.result import RunResult

# A life that goes on for longer is one that does not end: a whole errand takes some 300.
MOST_APPENDS = 4_000
LONGEST_LIFE = 20.0


@dataclass(frozen=True, slots=True)
class Mark:
    """What was kept about a step when the site's log was so long."""

    what: Literal["met", "reopened"]
    step: str
    at: int


class WitnessStore(DyingStore):
    """Marks validated and reopened steps, and ends a run that never ends."""

    def __init__(self, clock: QuickClock, world: Stage) -> None:
        super().__init__(clock)
        self.world = world
        self.marks: list[Mark] = []
        self.fuel = MOST_APPENDS

    async def append(
        self,
        lease: Lease,
        after: int,
        events: Sequence[Event],
        effects: Sequence[EffectChange] = (),
        *,
        durable: bool = False,
    ) -> tuple[Entry, ...]:
        # A real store lets the others of the run have their turn while it writes.
        await asyncio.sleep(0)
        self.fuel -= 1
        assert self.fuel > 0, f"{MOST_APPENDS} appends and no end"
        length, before = len(self.world.site.log), self.appends + 1 == self.die_at
        kept = not self.dead and not (before and self.die_before)
        if kept:
            for event in events:
                if isinstance(event, StepFinished) and event.state == "met":
                    self.marks.append(Mark("met", event.step, length))
                elif isinstance(event, StepReopened):
                    self.marks.append(Mark("reopened", event.step, length))
        try:
            return await super().append(lease, after, events, effects, durable=durable)
        except KilledError:
            # A dead process's pages do nothing more.
            for executor in self.world.executors:
                executor.dead = True
            raise


class WitnessTab(ScriptedTab):
    """Writes down for each look at a step's expectations whether they held."""

    def __init__(self, executor: WitnessExecutor, step: str, policy: GuardPolicy) -> None:
        super().__init__(executor, step, policy)
        self.world = executor.world

    async def examine(self, expectations: Sequence[Expectation]) -> tuple[Finding, ...]:
        found = await super().examine(expectations)
        step = self.world.plan.step(self.step)
        # What is read is judged without the page.
        shown = [e.kind for e in step.expect if e.kind != "output"]
        if [e.kind for e in expectations if e.kind != "output"] == shown:
            good = tuple(finding_for(e, holds=True) for e in expectations)
            self.world.looks.setdefault(self.step, []).append(found == good)
        return found

    async def stirred(self, seconds: float) -> None:
        # Another step's turn is all that can change a scripted page: no real time is waited.
        await asyncio.sleep(0)

    def _reached(self, step: PlanStep) -> bool:
        return self.step in self.world.mishaps.true_anyway or super()._reached(step)


class WitnessExecutor(ScriptedExecutor):
    """Its tabs are witnesses."""

    def __init__(self, world: World) -> None:
        super().__init__(world.site)
        self.world = world

    async def open_tab(self, step: str, policy: GuardPolicy) -> ScriptedTab:
        await super().open_tab(step, policy)
        return WitnessTab(self, step, policy)


@dataclass
class World(Stage):
    """An errand, what goes wrong in it, and all that was seen. ``looks``: by node, in order."""

    errand: Errand = field(default_factory=Errand)
    mishaps: Mishaps = field(default_factory=Mishaps)
    looks: dict[str, list[bool]] = field(default_factory=dict)
    results: list[RunResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        values = {
            s: turns(s) if s in self.mishaps.changing else values_of(s) for s in self.errand.steps
        }
        for node in self.errand.nodes():
            values.setdefault(node, values_of(template_of(node)))
        faults = {n: [replace(f) for f in found] for n, found in self.mishaps.faults.items()}
        self.site = ScriptedSite(self.plan, values=values, faults=faults, reads=self.read)
        self.inputs = dict(INPUTS)
        self.witness = WitnessStore(self.clock, self)
        self.store = self.witness
        self.scripted = ScriptedPlanner()

    @property
    def marks(self) -> list[Mark]:
        """What was validated and reopened, with the length of the site's log then."""
        return self.witness.marks

    def executor(self, _run: str) -> ScriptedExecutor:
        self.executors.append(WitnessExecutor(self))
        return self.executors[-1]

    def key(self, node: str) -> str:
        """The effect that a node's commit is."""
        return self.errand.keys[template_of(node)] + node.removeprefix(template_of(node))

    def happened(self) -> Counter[str]:
        """How often each effect happened, by the site's ledger."""
        return Counter(self.key(node) for node in self.site.ledger)

    def read(self, step: str, name: str) -> Json:
        """The site's own list of orders, and the number it shows after one."""
        if template_of(step) not in self.errand.keys:
            return None
        number = f"no-{self.key(step)}"
        if name == "orders":
            return [{"value": number}] if self.happened()[self.key(step)] else []
        return number if name == "value" else None

    # -- lives ----------------------------------------------------------------------------------

    async def live(self, deaths: Sequence[Death] = (), *, resumes: int = 3) -> RunResult:
        """Run, die as told, and resume so many times until it is met; the last result."""
        for death in deaths:
            self.store.die_at = self.store.appends + death.at
            self.store.die_before = death.before
            await self._life()
            self.store.die_at, self.store.dead = None, False
        for _ in range(resumes + 1):
            await self._life()
            if self.results[-1].exit_code == 0:
                break
            await self._settle()
        return self.results[-1]

    async def _life(self) -> None:
        begun = self.store.appends > 0
        self.witness.fuel = MOST_APPENDS
        try:
            life = self.resume() if begun else self.run()
            self.results.append(await asyncio.wait_for(life, LONGEST_LIFE))
        except KilledError:
            pass

    async def _settle(self) -> None:
        """A person looks at the site's ledger and says what happened."""
        for row in await self.store.effects():
            if row.state in ("unknown", "dispatched"):
                happened = bool(self.happened()[self.key(row.step)])
                await self.store.settle(row.key, happened, by="ann")


def world(errand: Errand, folder: Path, found: Mishaps | None = None, **more: Any) -> World:
    """A world for an errand."""
    return World(errand.plan, folder, errand=errand, mishaps=found or Mishaps(), **more)


def executed_after_validation(
    marks: Sequence[Mark], log: Sequence[Performed]
) -> list[tuple[str, str]]:
    """(step, verb) of each action that reached the site while its step stood validated."""
    left = iter(marks)
    mark = next(left, None)
    validated: set[str] = set()
    found = []
    for index, done in enumerate(log):
        while mark is not None and mark.at <= index:
            if mark.what == "met":
                validated.add(mark.step)
            else:
                # Reopening a for_each reopens its items.
                validated -= {s for s in validated if template_of(s) == mark.step}
            mark = next(left, None)
        if done.step in validated:
            found.append((done.step, done.verb))
    return found
