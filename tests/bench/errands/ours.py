"""OURS: the errand drafted as a recipe, each step worked in a context of its own by the project.

The recipe is drafted by one call of the planner role; then it is run as `webagent run` does it:
settings, wiring, runner, browser and the SDK are the real ones. Steps without a segment are
improvised by the executor role; what fails afterwards is for the ladder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from tests.bench.errands import planning
from tests.bench.errands.meter import MODEL, Meter
from tests.bench.errands.task import PASSWORD, Errand, request
from webagent import wiring
from webagent.core import event as ev
from webagent.core.chat import Question, Text, Turn, Usage
from webagent.core.plan import Plan
from webagent.engine.state import fold
from webagent.interface.errands import Terms, prepare
from webagent.interface.running import begin
from webagent.ports import Chat
from webagent.runtime.result import RunResult
from webagent.settings import Settings, load_settings

# As many as the runner has.
TABS = 4


@dataclass(slots=True)
class Run:
    """One run of the project's runner, and its journal."""

    result: RunResult
    entries: list[ev.Entry] = field(default_factory=list)

    @property
    def made(self) -> Plan:
        """The plan as it was when the run began."""
        return next(e.event.plan for e in self.entries if isinstance(e.event, ev.PlanMade))

    @property
    def plan(self) -> Plan:
        """The plan as it is now: with the segments that were found in this run."""
        plan = fold(self.entries).plan
        assert plan is not None
        return plan

    @property
    def revised(self) -> frozenset[str]:
        """The steps whose segment was replaced."""
        events = (e.event for e in self.entries)
        return frozenset(e.revision.step for e in events if isinstance(e, ev.PlanRevised))

    @property
    def reopened(self) -> frozenset[str]:
        """The steps that were opened again, by name and with their cause."""
        return frozenset(e.event.step for e in self.entries if isinstance(e.event, ev.StepReopened))

    @property
    def again(self) -> frozenset[str]:
        """Steps of which an action was sent after they were met, without being reopened."""
        met: set[str] = set()
        found: set[str] = set()
        for entry in self.entries:
            match entry.event:
                case ev.StepFinished(state="met", step=step):
                    met.add(step)
                case ev.StepReopened(step=step):
                    met.discard(step)
                case ev.ActionDispatched(segment="step", step=step) if step in met:
                    found.add(step)
                case _:
                    pass
        return frozenset(found)

    def seconds(self) -> dict[str, tuple[float, float]]:
        """When each step began and ended, in seconds since the first began."""
        found: dict[str, list[float]] = {}
        for entry in self.entries:
            if isinstance(entry.event, ev.StepStarted | ev.StepFinished):
                at = datetime.fromisoformat(entry.at).timestamp()
                found.setdefault(entry.event.step, []).append(at)
        began = min(times[0] for times in found.values())
        return {step: (times[0] - began, times[-1] - began) for step, times in found.items()}

    def bound(self, tabs: int = TABS) -> tuple[float, float, float]:
        """Makespan; the longest way through the graph; what graph and tabs allow.

        The last two by the time that each step took in this run: with a tab for everybody, and with
        so many tabs and one step at a time that writes at an origin, each begun as early as it can.
        """
        times = self.seconds()
        took = {step: end - begin for step, (begin, end) in times.items()}
        makespan = max(end for _, end in times.values())
        longest = max(_schedule(self.made, took, len(took)).values())
        return makespan, longest, max(_schedule(self.made, took, tabs).values())

    def tell(self, meter: Meter) -> None:
        """Put the calls of the journal into a meter."""
        for entry in self.entries:
            event = entry.event
            if isinstance(event, ev.ModelCalled):
                usage = Usage(
                    tokens_in=event.tokens_in, tokens_out=event.tokens_out,
                    cache_read=event.tokens_cached, cache_write=event.tokens_written,
                )  # fmt: skip
                meter.add(event.role, usage)


def _schedule(plan: Plan, took: Mapping[str, float], tabs: int) -> dict[str, float]:
    """When each step would end: whenever one ends, all that may begin do, in the plan's order."""
    ended: dict[str, float] = {}
    running: dict[str, float] = {}
    writing: str | None = None
    left = list(plan.steps)
    now = 0.0
    while left or running:
        for step in list(left):
            paged = step.do != "compare"
            if any(need not in ended for need in step.needs) or (paged and len(running) >= tabs):
                continue
            if step.effect == "once" and writing in running:
                continue
            writing = step.path if step.effect == "once" else writing
            running[step.path] = now + took.get(step.path, 0.0)
            left.remove(step)
        first = min(running, key=running.__getitem__)
        now = ended[first] = running.pop(first)
    return ended


async def draft(errand: Errand, chat: Chat, meter: Meter) -> str:
    """The recipe of an errand, by one call of the planner."""
    question = Question(
        role="planner",
        system=(Text(text=planning.DRAFT_PROMPT, cached=True),),
        turns=(Turn(role="user", texts=(Text(text=request(errand)),)),),
        schema_=planning.DRAFT_SCHEMA,
    )
    reply = await chat.ask(question)
    meter.add("planner", reply.usage)
    assert isinstance(reply.data, dict)
    return str(reply.data["recipe"]).replace("\nsteps:\n", f"\nmodels: {MODEL}\nsteps:\n", 1)


def settings_of(folder: Path, hosts: str, base_url: str, key: str) -> Settings:
    """The settings of a run whose models are asked at ``base_url``."""
    env: Mapping[str, str] = {
        **os.environ, "WEBAGENT_HOSTS": hosts, "WEBAGENT_STORE": str(folder / "store"),
        "ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": base_url, "DESK_PASSWORD": PASSWORD,
    }  # fmt: skip
    return load_settings(env, folder)


async def run(
    recipe: Path, settings: Settings, *, plan: Plan | None = None, round_: str = "first"
) -> Run:
    """Run a recipe as it stands, or the plan that came of it in a run before."""
    entries: list[ev.Entry] = []
    made = prepare(recipe, {"round": round_}, terms=Terms(unattended=True))
    if plan is not None:
        made = replace(made, plan=plan)
    watch = (lambda _state, entry: entries.append(entry),)
    result = await begin(made, settings, wiring.Manner(watch=watch))
    return Run(result, entries)
