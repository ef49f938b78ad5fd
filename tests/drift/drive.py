"""Runs a case: yesterday's run on the site as it was, then today's on the changed one.

Yesterday's store is made once for each errand and copied. What counts is read off the sites' own
ledger and off the journal, and compared with today's run on the unchanged site.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fixtures.server import SiteServer
from tests.drift.cases import ERRANDS, Case, Errand
from tests.journeys.journey import RECIPES, Journey
from webagent import wiring
from webagent.core import event as ev
from webagent.core.action import Read
from webagent.core.base import Json
from webagent.core.plan import Plan, PlanStep, template_of
from webagent.interface.errands import Terms, prepare
from webagent.interface.running import begin
from webagent.ports import Planner, Store
from webagent.runtime.context import Deps
from webagent.runtime.result import RunResult
from webagent.settings import Settings

HERE = Path(__file__).parent
# What is not there is waited for so long, not for the ten seconds of a run on the real web.
PATIENCE = 3.0
# The planner that wiring gives.
AT_HAND: Any = object()


@dataclass
class Seen:
    """One run, and what the sites' ledger says of it."""

    result: RunResult
    entries: Sequence[ev.Entry]
    writes: list[tuple[str, dict[str, Any]]]
    seconds: float

    @property
    def outputs(self) -> Json:
        """All that was read; not addresses, raw text and the order of rows, which may change."""
        return _without_urls(self.result.outputs)

    @property
    def revised(self) -> frozenset[str]:
        """The steps whose segment was replaced."""
        return frozenset(
            template_of(e.event.revision.step)
            for e in self.entries
            if isinstance(e.event, ev.PlanRevised)
        )

    @property
    def reopened(self) -> frozenset[str]:
        """The steps that were opened again by name."""
        return frozenset(
            template_of(e.event.step) for e in self.entries if isinstance(e.event, ev.StepReopened)
        )

    @property
    def pages(self) -> int:
        """Documents loaded by all steps."""
        return sum(step.pages for path, step in self.result.steps.items())

    def executed_again(self) -> list[str]:
        """Steps of which an action was sent after they were met, without being reopened."""
        met: set[str] = set()
        found: list[str] = []
        for entry in self.entries:
            event = entry.event
            if isinstance(event, ev.StepFinished) and event.state == "met":
                met.add(event.step)
            elif isinstance(event, ev.StepReopened):
                met -= {s for s in met if event.step in (s, template_of(s))}
            elif isinstance(event, ev.ActionDispatched) and event.segment == "step":
                found += [event.step] if event.step in met else []
        return found

    def of_kinds(self, kinds: frozenset[str]) -> list[tuple[str, dict[str, Any]]]:
        """The ledger's writes of some kinds."""
        return [write for write in self.writes if write[0] in kinds]


@dataclass
class Drift:
    """The sites and a folder: yesterday's stores and today's unchanged runs are kept there."""

    sites: SiteServer
    folder: Path
    browser: str
    warmed: dict[str, Path] = field(default_factory=dict)
    unchanged: dict[str, Seen] = field(default_factory=dict)
    made: int = 0

    async def warm(self, name: str) -> Path:
        """The store after yesterday's run."""
        if name not in self.warmed:
            self.made += 1
            folder = self.folder / f"before-{name}-{self.made}"
            folder.mkdir()
            self.sites.reset()
            seen = await self.run(ERRANDS[name], folder, today=False)
            assert seen.result.exit_code == 0, (name, seen.result.reason)
            self.warmed[name] = folder
        return self.warmed[name]

    async def control(self, name: str) -> Seen:
        """Today's run on the unchanged site."""
        if name not in self.unchanged:
            folder = await self._copy(name)
            self.sites.reset()
            seen = await self.run(ERRANDS[name], folder)
            assert seen.result.exit_code == 0, (name, seen.result.reason)
            assert not seen.revised
            self.unchanged[name] = seen
        return self.unchanged[name]

    async def meet(self, case: Case, planner: Planner | None = AT_HAND) -> Seen:
        """Today's run on the changed site."""
        folder = await self._copy(case.errand)
        self.sites.reset()
        self.sites.set_change(case.host, case.change, on=case.on)
        try:
            return await self.run(ERRANDS[case.errand], folder, planner=planner)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def run(
        self, errand: Errand, folder: Path, *, today: bool = True, planner: Planner | None = AT_HAND
    ) -> Seen:
        """One run in a store; ``planner``: another than the one that wiring gives."""
        journey = Journey(self.sites, folder, {"WEBAGENT_BROWSER": self.browser})
        file = None if errand.files is None else HERE / errand.files[today]
        made = prepare(
            RECIPES / f"{errand.recipe}.yaml", errand.now if today else errand.before, file=file,
            terms=Terms(unattended=True, until=errand.until),
        )  # fmt: skip
        steps = tuple(
            s if _turns_pages(s) else s.model_copy(update={"timeout": PATIENCE})
            for s in made.plan.steps
        )
        made = replace(made, plan=made.plan.model_copy(update={"steps": steps}))
        entries: list[ev.Entry] = []
        began = time.monotonic()
        with _planned_by(planner):
            result = await begin(
                made, journey.settings,
                wiring.Manner(watch=(lambda _state, entry: entries.append(entry),)),
            )  # fmt: skip
        writes = [(w.kind, _told(w.data)) for w in self.sites.ledger.writes()]
        return Seen(result, entries, writes, time.monotonic() - began)

    async def _copy(self, name: str) -> Path:
        warm = await self.warm(name)
        self.made += 1
        return Path(shutil.copytree(warm, self.folder / f"{name}-{self.made}"))


def faults_of(case: Case, seen: Seen, control: Seen) -> list[str]:
    """All in which a run is not what the case says; nothing if it is."""
    errand, result = ERRANDS[case.errand], seen.result
    found = []
    if again := seen.executed_again():
        found.append(f"executed again: {', '.join(again)}")
    if strange := {kind for kind, _ in seen.writes} - errand.kinds:
        found.append(f"writes of kinds {sorted(strange)}")
    wanted = [] if case.end == "refused" else control.of_kinds(errand.once)
    if case.end != "reopened" and seen.of_kinds(errand.once) != wanted:
        found.append(f"ledger: {seen.of_kinds(errand.once)}, not {wanted}")
    if case.end == "reopened" and Counter(k for k, _ in seen.of_kinds(errand.once)) != Counter(
        k for k, _ in wanted
    ):
        found.append(f"ledger: {seen.of_kinds(errand.once)}")
    if case.end == "refused":
        if result.exit_code not in case.exits:
            found.append(f"exit code {result.exit_code}, not {sorted(case.exits)}")
        first = first_failed(result)
        if first is None or str(first[1]) not in case.drift:
            found.append(f"{first} and not {' or '.join(sorted(case.drift))}")
        return found
    if result.exit_code:
        found.append(f"exit code {result.exit_code}: {result.reason}")
        return found
    if case.end == "reopened":
        return found if seen.reopened else [*found, "nothing was reopened"]
    if seen.outputs != control.outputs:
        found.append(f"outputs: {seen.outputs}, not {control.outputs}")
    if case.end == "same" and seen.revised:
        found.append(f"revised without need: {sorted(seen.revised)}")
    if case.end == "healed" and not (seen.revised and seen.revised <= case.steps):
        found.append(f"revised: {sorted(seen.revised)}, not {sorted(case.steps)}")
    return found


def first_failed(result: RunResult) -> tuple[str, str | None] | None:
    """The first step (or item) that is not met, and its drift."""
    for path, step in result.steps.items():
        if step.state in ("unmet", "unknown") and step.drift is not None:
            return path, step.drift
    return None


@contextmanager
def _planned_by(planner: Planner | None) -> Iterator[None]:
    if planner is AT_HAND:
        yield
        return
    kept = wiring.make_deps

    async def made(found: Settings, plan: Plan, store: Store, manner: wiring.Manner) -> Deps:
        return replace(await kept(found, plan, store, manner), planner=planner)

    wiring.make_deps = made
    try:
        yield
    finally:
        wiring.make_deps = kept


def _turns_pages(step: PlanStep) -> bool:
    """Whether one action of it loads many documents, for which it needs its time."""
    reads = (a for a in step.segment or () if isinstance(a, Read))
    return any(getattr(o, "pages", None) for read in reads for o in read.outputs.values())


def _told(data: Any) -> dict[str, Any]:
    return {k: v for k, v in dict(data).items() if k != "owner"}


def _without_urls(value: Any) -> Any:
    match value:
        case dict():
            return {
                k: _without_urls(v) for k, v in value.items() if k not in ("link", "path", "raw")
            }
        case list() | tuple():
            return sorted((_without_urls(v) for v in value), key=repr)
        case _:
            return value
