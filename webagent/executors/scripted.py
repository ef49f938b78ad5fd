"""A shipped fake of the Executor port: a site that does what a script says, without a browser.

Tests, property tests and benches run the real runner on it. It keeps a log of every action that was
performed, which is the witness for "never executed again": it is not our own journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from webagent.core.action import PASSIVE, Action, Commit, Read, first_acting
from webagent.core.base import Json
from webagent.core.errors import BrowserLost
from webagent.core.expect import (
    Bounds,
    CountIs,
    DialogShown,
    DownloadCame,
    ElementAbsent,
    ElementShown,
    Expectation,
    Finding,
    OutputIs,
    ResponseCame,
    RowsAre,
    StatusIs,
    TextShown,
    TitleIs,
    UrlIs,
    ValueIs,
)
from webagent.core.page import (
    Failure,
    Happened,
    Observation,
    Outcome,
    Pointed,
    PointedRow,
    Response,
)
from webagent.core.plan import BrowserOptions, Plan, PlanStep
from webagent.core.request_rules import GuardPolicy
from webagent.core.sighting import Element, Survey
from webagent.core.target import Target
from webagent.ports import Dispatched, MaySend, StorageState


@dataclass(frozen=True, slots=True)
class Performed:
    """One action that reached the site."""

    step: str
    verb: str
    action: Action


@dataclass(slots=True)
class Fault:
    """Something that goes wrong in a step, so many times.

    ``at``: the how-manieth action of the page it strikes (None: the expectations do not come true).
    ``failure``: how the action fails; ``seen``: what is observed then. ``kill``: the whole browser.
    """

    at: int | None = None
    failure: Failure | None = None
    seen: Observation | None = None
    times: int = 1
    kill: bool = False


@dataclass(slots=True)
class ScriptedSite:
    """What all pages of a run have in common: the script, the log and the ledger of effects.

    ``plan``: what the run works on, to know what acts and what is checked before a commit.
    ``values``: outputs by step and name, a list of them being one for each execution in turn.
    ``on_commit`` is called with the step when a commit reaches the site, after it was written down.
    """

    plan: Plan
    values: dict[str, dict[str, Json]] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    log: list[Performed] = field(default_factory=list)
    entered: dict[str, int] = field(default_factory=dict)
    ledger: list[str] = field(default_factory=list)
    on_commit: Callable[[str], None] | None = None
    # (step, output) -> what is read, from the site itself (an order list, say)
    reads: Callable[[str, str], Json] | None = None
    pause: float | None = None
    # Steps whose pages show from the start what is expected after them.
    shown_anyway: frozenset[str] = frozenset()
    # Steps whose commit sends no request, whatever their pages show.
    silent: frozenset[str] = frozenset()
    # Steps whose before_commit checks do not hold.
    unchecked: frozenset[str] = frozenset()
    # What a step's page shows to those who look for things again on it.
    surveys: dict[str, Survey] = field(default_factory=dict)
    outlines: dict[str, str] = field(default_factory=dict)

    def fault(self, step: str, at: int | None) -> Fault | None:
        """The fault that strikes now, if one is left."""
        for fault in self.faults.get(step, []):
            if fault.times > 0 and fault.at == at:
                return fault
        return None

    def value(self, step: str, name: str) -> Json:
        """What a read gives in this execution of the step."""
        if self.reads is not None and (given := self.reads(step, name)) is not None:
            return given
        scripted = self.values.get(step, {}).get(name, f"{name} of {step}")
        if isinstance(scripted, Turns):
            return scripted.values[min(self.entered.get(step, 1), len(scripted.values)) - 1]
        return scripted


@dataclass(frozen=True, slots=True)
class Turns:
    """A value for each execution of a step in turn; the last one stays."""

    values: tuple[Json, ...]


class ScriptedTab:
    """One page of a scripted site."""

    def __init__(self, executor: ScriptedExecutor, step: str, policy: GuardPolicy) -> None:
        self._executor = executor
        self._site = executor.site
        self.step = step
        self.policy = policy
        self._count = 0
        self._acted = False
        self._committed = False
        self._struck: Fault | None = None
        self._url = "about:blank"
        self._closed = False

    async def perform(
        self,
        action: Action,
        *,
        deadline: float,
        dispatched: Dispatched,
        may_send: MaySend | None = None,
    ) -> Outcome:
        """Carry out one action by the script."""
        if self._site.pause is not None:
            await asyncio.sleep(self._site.pause)
        if not self._executor.alive() or self._closed:
            return Outcome(failure=Failure(kind="page_lost", message="the browser is gone"))
        if deadline < 0.1:
            return self._look_ahead(action)
        index, self._count = self._count, self._count + 1
        fault = self._site.fault(self.step, index)
        if fault is not None and (fault.failure is None or fault.failure.dispatched == "no"):
            return self._strike(fault)
        self._struck = None
        if action.verb not in PASSIVE or action.verb in ("goto", "back", "reload"):
            await dispatched()
        if isinstance(action, Commit) and may_send is not None and not await may_send():
            return Outcome(failure=Failure(kind="refused", message="taken over", dispatched="yes"))
        self._site.log.append(Performed(self.step, action.verb, action))
        if fault is not None:
            return self._strike(fault)
        return self._carry_out(action)

    def _look_ahead(self, action: Action) -> Outcome:
        if not self._reached(self._site.plan.step(self.step)):
            return Outcome(failure=Failure(kind="target_missing", message="not there yet"))
        return self._carry_out(action)

    def _strike(self, fault: Fault) -> Outcome:
        fault.times -= 1
        self._struck = fault
        if fault.kill:
            self._executor.dead = True
        failure = fault.failure or Failure(kind="page_lost", message="the browser was killed")
        return Outcome(failure=failure)

    def _carry_out(self, action: Action) -> Outcome:
        happened = Happened()
        values: dict[str, Json] = {}
        if action.verb == "goto":
            # A document loaded anew shows nothing of what was done in the one before it.
            self._url, self._acted = action.url, False
            happened = Happened(documents=1)
        if isinstance(action, Read):
            values = {name: self._site.value(self.step, name) for name in action.outputs}
        if isinstance(action, Commit):
            self._committed = True
            if self.step not in self._site.silent:
                method, _, glob = (action.request or "POST **/commit").partition(" ")
                url = glob.replace("**", "http://site.test").replace("*", "x")
                sent = Response(method=method, url=url, status=200)
                happened = Happened(responses=(sent,))
            self._site.ledger.append(self.step)
            if self._site.on_commit is not None:
                self._site.on_commit(self.step)
        if action.verb not in PASSIVE:
            self._acted = True
        return Outcome(values=values, happened=happened, ms=1.0)

    async def examine(self, expectations: Sequence[Expectation]) -> tuple[Finding, ...]:
        """Findings that hold once the page was acted on (or read), unless a fault says no."""
        if not self._executor.alive() or self._closed:
            return tuple(Finding(error="the browser is gone") for _ in expectations)
        fault = self._site.fault(self.step, None)
        if fault is not None and self._reached(self._site.plan.step(self.step)):
            fault.times -= 1
            self._struck = fault
        step = self._site.plan.step(self.step)
        holds = self._reached(step) and self._struck is None
        checks = {e.kind for e in step.before_commit if self.step not in self._site.unchecked}
        return tuple(
            finding_for(e, holds=holds or (not self._committed and e.kind in checks))
            for e in expectations
        )

    def _reached(self, step: PlanStep) -> bool:
        """Whether the page was acted on (once: its commit was sent) or has only to be read."""
        if self.step in self._site.shown_anyway:
            return True
        if self.policy.effect == "once":
            return self._committed
        reads_only = step.segment is not None and first_acting(step.segment) is None
        return self._acted or reads_only

    async def stirred(self, seconds: float) -> None:
        """A scripted page changes at once or never; give other steps their turn."""
        await asyncio.sleep(min(seconds, 0.001))

    async def observe(self, *, evidence: str | None = None) -> Observation:
        """What the script says is seen."""
        if not self._executor.alive() or self._closed:
            return Observation(alive=False)
        if self._struck is not None and self._struck.seen is not None:
            return self._struck.seen
        return Observation(url=self._url, status=200, screenshot=evidence)

    async def survey(self) -> Survey:
        """What the script says the page shows, or nothing but where it is."""
        if not self._executor.alive() or self._closed:
            return Survey(url="")
        return self._site.surveys.get(self.step, Survey(url=self._url))

    async def outline(self) -> str:
        """What the script says the page looks like."""
        return self._site.outlines.get(self.step, f"- text: {self.step}")

    async def point(self, ref: str, text: str = "") -> Pointed | None:
        """An element of a scripted page is named by its ref."""
        del text
        target = Target(source=f"#{ref}", css=f"#{ref}")
        return Pointed(element=Element(tag="button", role="button", name=ref), target=target)

    async def point_row(
        self, ref: str, parts: Sequence[str], texts: Sequence[str] = ()
    ) -> PointedRow | None:
        """A scripted page has no lists to point at."""
        del ref, parts, texts
        return None

    async def happened(self) -> Outcome:
        """Nothing comes late on a scripted page."""
        return Outcome()

    async def read_form(self) -> dict[str, Json]:
        """A scripted page has one form."""
        return {"step": self.step}

    async def put_back(self) -> str:
        """A scripted page loses nothing."""
        return ""

    async def set_policy(self, policy: GuardPolicy, step: str = "") -> None:
        """The page goes on under another policy, for another step."""
        self.policy = policy
        if step and step != self.step:
            self._executor.enter(step)
            self.step, self._count, self._struck = step, 0, None
            self._acted = self._committed = False

    async def close(self) -> None:
        """Close the page."""
        self._closed = True


class ScriptedExecutor:
    """An executor whose browser is a script."""

    def __init__(self, site: ScriptedSite) -> None:
        self.site = site
        self.dead = False
        self.starts = 0

    async def start(self, options: BrowserOptions, storage: StorageState | None) -> None:
        """Start: nothing to do but to be alive."""
        del options, storage
        self.starts += 1
        self.dead = False

    def enter(self, step: str) -> None:
        """Count an execution of a step."""
        self.site.entered[step] = self.site.entered.get(step, 0) + 1

    async def open_tab(self, step: str, policy: GuardPolicy) -> ScriptedTab:
        """A page for a step."""
        if self.dead:
            msg = "the browser is gone"
            raise BrowserLost(msg)
        self.enter(step)
        return ScriptedTab(self, step, policy)

    async def storage_state(self) -> StorageState:
        """There is no storage."""
        return {}

    def alive(self) -> bool:
        """Whether nobody killed it."""
        return not self.dead

    def process(self) -> tuple[int, float] | None:
        """It has no process of its own."""
        return None

    async def close(self) -> None:
        """End it."""
        self.dead = True


def finding_for(expected: Expectation, *, holds: bool) -> Finding:
    """A finding for which an expectation holds, or does not."""
    match expected:
        case UrlIs(glob=glob) | TitleIs(glob=glob):
            good = glob.replace("**", "x").replace("*", "x")
            if glob.startswith("/"):
                good = f"http://site.test{good}"
            return Finding(texts=(good if holds else "about:blank",))
        case TextShown() | ElementShown():
            return Finding(count=int(holds))
        case ElementAbsent():
            return Finding(count=int(not holds))
        case CountIs(bounds=bounds) | RowsAre(bounds=bounds):
            return Finding(count=int(_good(bounds)) if holds else -1)
        case ValueIs(bounds=bounds):
            return Finding(count=1 if holds else 0, texts=(str(_good(bounds)),))
        case OutputIs():
            return Finding()
        case DownloadCame(glob=glob, min_bytes=least):
            return Finding(texts=(glob.replace("*", "x"),), sizes=(least if holds else 0,))
        case StatusIs(codes=codes):
            return Finding(count=int(codes[0].replace("x", "0")) if holds else 0)
        case ResponseCame(glob=glob, method=method, codes=codes):
            code = codes[0].replace("x", "0") if holds else "599"
            url = glob.replace("**", "x").replace("*", "x")
            return Finding(texts=(f"{method or 'GET'} {code} {url}",))
        case DialogShown(glob=glob):
            return Finding(texts=(glob.replace("*", "x"),) if holds else ())


def _good(bounds: Bounds) -> Json:
    for value in (bounds.equals, bounds.min, bounds.max, bounds.contains):
        if value is not None:
            return value
    return 1
