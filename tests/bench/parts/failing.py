"""One run of a graph in which one node fails once, and what its log says was done again.

The real runner, engine and memory store; scripted are the pages, the clock and the planner, which
gives the step's own segment again. What was performed is read off the executor's log; of our own
journal only *when* a step was validated or reopened, which is the claim that the log is held to.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import networkx as nx

from tests.bench.parts.worfbench import Graph, Kind, is_chained, mishap_of, plan_of, step_of
from tests.unit.runtime.stage import QuickClock, Stage
from tests.unit.runtime.witness import WitnessStore, executed_after_validation
from webagent.core import event as ev
from webagent.core.action import Action
from webagent.core.base import Json
from webagent.core.brief import Brief
from webagent.core.page import Failure, Observation
from webagent.core.plan import Plan
from webagent.engine.state import RunState
from webagent.executors.scripted import Fault
from webagent.planners.scripted import ScriptedPlanner
from webagent.ports import Artifacts
from webagent.runtime.context import Deps

LONGEST_RUN = 30.0
FOR_EVER = 1_000_000
MISSING = Failure(kind="target_missing", message="nothing matches, by the script")


@dataclass(frozen=True, slots=True)
class Counted:
    """What one failure took along. Shares are of the plan's steps, or of its actions.

    ``ours``: steps performed again or regenerated; ``by_name``: those of them that were reopened.
    ``descendants``, ``suffix``: by structure, the failing node included; a restart is the whole.
    ``done``: of the steps that stood validated when the failure was seen, and the failing one: how
    many each way runs again (ours, descendants, suffix, restart), as shares of the plan.
    ``actions``: the share of the plan's actions that were performed again.
    """

    graph: str
    steps: int
    branching: bool
    chained: bool
    kind: Kind
    met: bool
    ours: float
    by_name: float
    descendants: float
    suffix: float
    done: tuple[float, float, float, float]
    actions: float
    reexecuted: int
    asked: int


class BenchClock(QuickClock):
    """Looking at it takes two seconds, so that a wait for what never comes is a few looks."""

    def monotonic(self) -> float:
        self.seconds += 2.0
        return self.seconds


@dataclass
class FailingRun(Stage):
    """A graph's plan on a scripted site where one node fails once."""

    failing: str = ""
    kind: Kind = "early"
    where: float = 0.0
    healed: bool = False
    seen_at: frozenset[str] | None = None
    reads: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.clock = BenchClock()
        self.witness = WitnessStore(self.clock, self)
        self.store = self.witness
        self.scripted = ScriptedPlanner({self.failing: [self._heal]})
        self.planner = self.scripted
        self.site.reads = self._read
        self.site.faults = {self.failing: [self._fault()]}

    def deps(self) -> Deps:
        return replace(super().deps(), watch=(self._watch,), artifacts=_NoFiles())

    def _fault(self) -> Fault:
        segment = self.plan.by_path[self.failing].segment or ()
        first = 1 if segment[0].verb == "goto" else 0
        at = first + int(self.where * (len(segment) - first))
        match self.kind:
            case "early":
                return Fault(at=at, failure=MISSING)
            case "late" | "changed":
                return Fault(at=None, times=FOR_EVER)
            case "stale" | "renamed":
                gone = Observation(url="http://gone.test/", status=404)
                return Fault(at=0, failure=MISSING, seen=gone)
            case "page_lost":
                return Fault(at=at, kill=True)

    def _heal(self, brief: Brief) -> tuple[Action, ...]:
        self.healed = True
        self.site.faults = {}
        return brief.step.segment or ()

    def _read(self, step: str, name: str) -> Json:
        self.reads[step] += 1
        other = (self.kind == "changed" and step == self.failing and self.healed) or (
            self.kind == "renamed" and self.reads[step] > 1
        )
        return f"{name}-of-{step}{'-now' if other else ''}"

    def _watch(self, state: RunState, entry: ev.Entry) -> None:
        """Remember which steps stood validated when the failure was first seen."""
        if self.seen_at is None and isinstance(entry.event, ev.Judged):
            judged = entry.event
            if judged.phase == "after" and judged.judgement != "met":
                self.seen_at = frozenset(p for p, n in state.nodes.items() if n.state == "met")


class _NoFiles(Artifacts):
    """A scripted page leaves no files."""

    def folder(self, run: str) -> Path:
        return Path(run)

    def keep(self, run: str, name: str, content: bytes) -> str:
        del run, content
        return name


async def fail_each_node(graph: Graph, seed: int) -> list[Counted]:
    """A run for each node of the graph, in which that node fails once."""
    plan = plan_of(graph, seed)
    return [await fail_node(graph, plan, node, seed) for node in graph.nodes]


async def fail_node(graph: Graph, plan: Plan, node: str, seed: int) -> Counted:
    """One run in which one node fails once."""
    kind, where = mishap_of(graph, node, seed)
    run = FailingRun(plan, Path(), failing=step_of(node), kind=kind, where=where)
    result = await asyncio.wait_for(run.run(), LONGEST_RUN)
    return _count(graph, node, run, seed, met=result.exit_code == 0)


def _count(graph: Graph, node: str, run: FailingRun, seed: int, *, met: bool) -> Counted:
    size = len(run.plan.steps)
    failing = step_of(node)
    planned = Counter((s.path, str(a.verb)) for s in run.plan.steps for a in s.segment or ())
    performed = Counter((p.step, p.verb) for p in run.site.log)
    again = performed - planned
    ours = {step for step, _ in again} | {failing}
    by_name = {mark.step for mark in run.witness.marks if mark.what == "reopened"}
    below = {step_of(n) for n in nx.descendants(graph.net, node)} | {failing}
    order = [step.path for step in run.plan.steps]
    behind = set(order[order.index(failing) :])
    done = (run.seen_at or frozenset()) | {failing}
    return Counted(
        graph=graph.id, steps=size, branching=not graph.is_path, chained=is_chained(graph, seed),
        kind=run.kind, met=met, ours=len(ours) / size, by_name=len(ours & by_name) / size,
        descendants=len(below) / size, suffix=len(behind) / size,
        done=(
            len(ours) / size, len(below & done) / size, len(behind & done) / size,
            len(done) / size,
        ),
        actions=again.total() / planned.total(),
        reexecuted=len(executed_after_validation(run.witness.marks, run.site.log)),
        asked=len(run.scripted.briefs),
    )  # fmt: skip
