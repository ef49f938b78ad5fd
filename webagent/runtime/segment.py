"""Working one segment on one page: bind, dispatch, perform, judge.

Called by the runner for an entry of a step (and for what a rung does in place); it calls the commit
protocol at the commit. It decides nothing about what comes after an unmet verdict: that is
journaled and the engine answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from webagent.core import event as ev
from webagent.core.action import (
    Action,
    Commit,
    Read,
    first_acting,
    outputs_of,
    reads_pages,
    targets_of,
)
from webagent.core.base import Json
from webagent.core.effect import EffectChange
from webagent.core.errors import ExpressionError
from webagent.core.expect import (
    Expectation,
    Finding,
    OutputIs,
    Verdict,
    all_hold,
    judge,
    turned_true,
)
from webagent.core.limits import LimitKind
from webagent.core.page import Drift, Failure, Observation, Outcome
from webagent.core.plan import PlanStep
from webagent.core.request_rules import SAFE_METHODS, write_shape
from webagent.core.values import fingerprint
from webagent.engine.allowance import pages_of, seconds_of, timeout_of
from webagent.engine.bind import bind, bind_all, names
from webagent.engine.classify import classify, describe
from webagent.engine.guard import origins, policy
from webagent.engine.ladder import sign_in_of
from webagent.ports import MaySend, Tab
from webagent.runtime.context import Deps, LivePage, Sighted
from webagent.runtime.journal import Journal

# Verbs whose input can make a site write: their dispatch is kept durably in steps with an effect.
WRITING = frozenset(
    {"click", "double_click", "press", "commit", "select", "check", "uncheck", "drag"}
)
NAVIGATING = frozenset({"goto", "back", "reload"})
# An error page will not turn into the expected one; it gets this long to do so all the same.
ERROR_PAGE_SECONDS = 1.0
# What an action looks for on an error page is waited for no longer than this (an app may draw
# itself on a page that says 404).
ERROR_PAGE_ACTION_SECONDS = 3.0
POLL_SECONDS = 0.25


# A shop that forgot who one is shows an empty basket rather than a sign-in form: when a step fails
# in one of these ways, its session is looked at before anything else is blamed.
MAY_BE_SIGNED_OUT: frozenset[Drift] = frozenset(
    {
        "target_missing",
        "wrong_page",
        "value_differs",
        "precondition_unmet",
        "output_invalid",
        "blocked_by_site",
    }
)


class StoppingError(Exception):
    """The run is being parked: leave off between two actions."""


class SegmentWork:
    """One step's segment on one page."""

    def __init__(
        self,
        deps: Deps,
        journal: Journal,
        node: str,
        stopping: Stopping,
        session_ended: SessionEnded | None = None,
        known_writes: KnownWrites | None = None,
    ) -> None:
        self.known_writes = known_writes
        self.deps = deps
        self.journal = journal
        self.node = node
        self.stopping = stopping
        self.session_ended = session_ended
        # Its actions stand in no segment yet: each is held as a healed one is.
        self.improvising = False

    @property
    def step(self) -> PlanStep:
        """The node's step as the plan has it now (a revision may just have changed it)."""
        return self.journal.state.the_plan.step(self.node)

    def values(self) -> Mapping[str, Json]:
        """The names that the step's expressions see."""
        return names(self.journal.state, self.node)

    # -- performing ---------------------------------------------------------------------------

    async def perform(
        self,
        page: LivePage,
        index: int,
        action: Action,
        *,
        part: ev.Part = "step",
        before_input: Sequence[ev.Event] = (),
        effects: Sequence[EffectChange] = (),
        may_send: MaySend | None = None,
    ) -> Outcome:
        """Carry out one bound action with its journal entries; its values become page outputs.

        ``before_input`` and ``effects`` are kept in one transaction with ActionDispatched.
        """
        step = self.step
        told = False

        async def dispatched() -> None:
            nonlocal told
            if told:
                return
            told = True
            event = ev.ActionDispatched(step=self.node, index=index, action=action, segment=part)
            durable = step.effect != "none" and action.verb in WRITING
            await self.journal.append(*before_input, event, effects=effects, durable=durable)

        if action.verb in NAVIGATING:
            await dispatched()
        timeout = action.timeout if action.timeout is not None else timeout_of(step)
        if action.timeout is None and action.verb not in NAVIGATING and self._on_error_page(page):
            timeout = min(timeout, ERROR_PAGE_ACTION_SECONDS)
        healed = part == "step" and (self.improvising or self._is_healed(index))
        if healed:
            await self._hold_unseen_writes(page, action, held=True)
        outcome = await page.tab.perform(
            action, deadline=timeout, dispatched=dispatched, may_send=may_send
        )
        if healed:
            await self._hold_unseen_writes(page, action, held=False)
        self._note(page, index, action, outcome, part)
        return outcome

    def _is_healed(self, index: int) -> bool:
        """Whether an action is not the recipe's own: found again, generated or put in."""
        step = self.step
        original = self.journal.state.originals.get(step.path)
        segment = step.segment or ()
        return original is not None and index < len(segment) and segment[index] not in original

    async def _hold_unseen_writes(self, page: LivePage, action: Action, *, held: bool) -> None:
        """A heal must not commit: of its writes only those go out that a met run has sent."""
        state, step = self.journal.state, self.step
        allowed = policy(state.the_plan, step, origins(state, self.node), self.deps.named_hosts)
        if held:
            known = await self.known_writes(self.node) if self.known_writes is not None else ()
            named = action.request if isinstance(action, Commit) else None
            # A healed commit was checked and claimed; it sends what it is known to be, if it is.
            update = {
                "healed": not isinstance(action, Commit) or bool(named or known),
                "known_writes": known,
                "allow_posts": (*allowed.allow_posts, *([_url_of(named)] if named else [])),
            }
            allowed = allowed.model_copy(update=update)
        await page.tab.set_policy(allowed, self.node)

    def _note(
        self, page: LivePage, index: int, action: Action, outcome: Outcome, part: ev.Part
    ) -> None:
        page.responses.extend(outcome.happened.responses)
        page.documents += outcome.happened.documents
        if part == "step" and outcome.happened.documents:
            page.turned.append(index)
        for refused in outcome.happened.refusals:
            self.journal.defer(
                ev.GuardRefused(
                    step=self.node, method=refused.method, url=refused.url, rule=refused.rule
                )
            )
        if outcome.failure is not None:
            failed = outcome.model_copy(update={"values": {}})
            self.journal.defer(
                ev.ActionFailed(
                    step=self.node, index=index, verb=action.verb, outcome=failed, segment=part
                )
            )
            return
        if part == "step":
            page.outputs.update(outcome.values)
            self._sight(page, index, outcome)
        self.journal.defer(
            ev.ActionDone(
                step=self.node,
                index=index,
                verb=action.verb,
                ms=round(outcome.ms, 1),
                happened=outcome.happened,
                note=outcome.note,
                segment=part,
            )
        )

    def _sight(self, page: LivePage, index: int, outcome: Outcome) -> None:
        """Note what the targets looked like, by their text in the recipe (values not put in)."""
        segment = self.step.segment or ()
        if not outcome.sighted or index >= len(segment):
            return
        own = targets_of(segment[index])
        bound = targets_of(bind(segment[index], self.values(), self.step.place))
        raw = {b.source: o.source for o, b in zip(own, bound, strict=True)}
        writes = tuple(
            write_shape(r.method, r.url)
            for r in outcome.happened.responses
            if r.method not in SAFE_METHODS
        )
        for source, element, url in outcome.sighted:
            if source in raw:
                page.sighted[raw[source]] = Sighted(element, url, writes)

    async def perform_all(
        self, page: LivePage, segment: Sequence[Action], *, part: ev.Part, optional: bool = False
    ) -> tuple[dict[str, Json], Failure | None]:
        """A whole bound segment in order (probe, reset, sign-in): its values, and where it failed.

        With ``optional`` a failing action other than goto is passed over (reset's nature).
        """
        values: dict[str, Json] = {}
        for index, action in enumerate(segment):
            outcome = await self.perform(page, index, action, part=part)
            if outcome.failure is not None:
                if (optional and action.verb != "goto") or action.optional:
                    if outcome.failure.kind == "page_lost":
                        return values, outcome.failure
                    continue
                return values, outcome.failure
            values.update(outcome.values)
        return values, None

    # -- judging ------------------------------------------------------------------------------

    def bound_expectations(self) -> tuple[Expectation, ...]:
        """The step's expectations with values in place."""
        return bind_all(self.step.expect, self.values(), self.step.place)

    async def verdicts(
        self, tab: Tab, expected: Sequence[Expectation], outputs: Mapping[str, Json]
    ) -> tuple[Verdict, ...]:
        """What holds right now."""
        if not expected:
            return ()
        findings = await tab.examine(expected)
        return tuple(judge(e, f, outputs) for e, f in zip(expected, findings, strict=True))

    async def judge_before(self, page: LivePage, expected: Sequence[Expectation]) -> None:
        """Which expectations hold already, before anything was done in this step.

        An output expectation counts as holding if reading now would satisfy it, so that a read of
        what stood there anyway proves nothing. It is not read where another expectation is unmet:
        if all hold afterwards, that one has turned true, and nothing hangs on this one.
        """
        shown = [e for e in expected if not isinstance(e, OutputIs)]
        looked = iter(found := await self.verdicts(page.tab, shown, {}))
        if all_hold(found) == "unmet":
            unread = "not read: another expectation was unmet"
            page.before = tuple(
                Verdict(expected=e, judgement="unknown", seen=unread)
                if isinstance(e, OutputIs)
                else next(looked)
                for e in expected
            )
        else:
            outputs = await self._dry_read(page, expected)
            page.before = tuple(
                judge(e, Finding(), outputs) if isinstance(e, OutputIs) else next(looked)
                for e in expected
            )
        self.journal.defer(
            ev.Judged(
                step=self.node,
                phase="before",
                verdicts=page.before,
                judgement=all_hold(page.before),
            )
        )

    async def _dry_read(self, page: LivePage, expected: Sequence[Expectation]) -> dict[str, Json]:
        wanted = {e.name for e in expected if isinstance(e, OutputIs)}
        found: dict[str, Json] = {}
        if not wanted:
            return found
        acting = first_acting(self.step.segment or ()) or 0

        async def silent() -> None:
            return None

        for action in (self.step.segment or ())[acting:]:
            if isinstance(action, Read) and wanted & set(action.outputs):
                single = {
                    name: spec.model_copy(update={"pages": None} if spec.kind != "field" else {})
                    for name, spec in action.outputs.items()
                }
                bound = bind(action.model_copy(update={"outputs": single}), self.values())
                # One look: what comes only later has not been there before.
                outcome = await page.tab.perform(bound, deadline=0.0, dispatched=silent)
                if outcome.failure is None:
                    found.update(outcome.values)
        return found

    async def judge_after(
        self, page: LivePage, expected: Sequence[Expectation], *, reread_from: int = 0
    ) -> tuple[Verdict, ...]:
        """Wait until all expectations hold, at most the step's timeout; what holds then.

        While only an output is unmet its read is made again: a list that fills late is not empty.
        """
        clock = self.deps.clock
        began = clock.monotonic()
        end = began + timeout_of(self.step)
        segment = self.step.segment or ()
        while True:
            found = await self.verdicts(page.tab, expected, page.outputs)
            left = end - clock.monotonic()
            if all_hold(found) == "met" or left <= 0:
                return found
            if self._on_error_page(page) and clock.monotonic() - began > ERROR_PAGE_SECONDS:
                return found
            if (
                any(v.judgement == "unknown" for v in found)
                and not (await page.tab.observe()).alive
            ):
                return found
            await page.tab.stirred(min(left, POLL_SECONDS))
            late = {
                v.expected.name
                for v in found
                if isinstance(v.expected, OutputIs) and v.judgement != "met"
            }
            for index in range(reread_from, len(segment)):
                action = segment[index]
                # A list of several pages stands at its last: read again it would be that page only.
                if not isinstance(action, Read) or reads_pages((action,)):
                    continue
                if late & set(action.outputs):
                    await self.perform(page, index, bind(action, self.values(), self.step.place))

    @staticmethod
    def _on_error_page(page: LivePage) -> bool:
        documents = [r for r in page.responses if r.document]
        return bool(documents) and documents[-1].status >= 400

    async def report_unmet(
        self,
        page: LivePage | None,
        *,
        failure: Failure | None = None,
        failed_index: int | None = None,
        found: tuple[Verdict, ...] = (),
        phase: ev.Phase = "after",
        drift: Drift | None = None,
        reason: str | None = None,
    ) -> None:
        """Keep the evidence, tell the drift, and leave the rest to the engine."""
        node = self.journal.state.nodes[self.node]
        events: list[ev.Event] = []
        if page is not None:
            name = f"{self.node}-{node.entries}"
            seen = await page.tab.observe(evidence=name)
            events.append(ev.Observed(step=self.node, observation=seen))
        else:
            seen = Observation(alive=failure is None or failure.kind != "page_lost")
        told = classify(
            self.step, seen, failure=failure, failed_index=failed_index, verdicts=found,
            signs_in=sign_in_of(self.journal.state, node) is not None,
        )  # fmt: skip
        if phase == "before_commit" and told.drift == "page_lost":
            # Whatever was found wrong was found on a page that is gone.
            drift, reason = told.drift, told.reason
        drift, reason = drift or told.drift, reason or told.reason
        if drift in MAY_BE_SIGNED_OUT and self.session_ended is not None:
            ended = await self.session_ended(self.node)
            drift, reason = ("signed_out", f"{reason}; {ended}") if ended else (drift, reason)
        events.append(
            ev.Judged(
                step=self.node,
                phase=phase,
                verdicts=found,
                judgement="unmet",
                drift=drift,
                reason=reason,
                failed_index=failed_index,
                retry_after=seen.retry_after,
                in_the_way=failure is not None and failure.kind == "in_the_way",
            )
        )
        await self.journal.append(*events)
        if self.deps.on_failure is not None:
            await self.deps.on_failure(self.node)

    async def report_proven_nothing(self, page: LivePage, after: tuple[Verdict, ...]) -> None:
        """All expectations hold, and all held before: the step may have done nothing at all."""
        seen = await page.tab.observe(evidence=f"{self.node}-proven-nothing")
        anyway = "; ".join(describe(v) for v in after)
        await self.journal.append(
            ev.Observed(step=self.node, observation=seen),
            ev.Judged(
                step=self.node,
                phase="after",
                verdicts=after,
                judgement="unknown",
                drift="wrong_page",
                reason=f"nothing turned true in this step; true before it already: {anyway}",
            ),
        )
        if self.deps.on_failure is not None:
            await self.deps.on_failure(self.node)

    # -- limits -------------------------------------------------------------------------------

    def limit(self, page: LivePage) -> ev.LimitHit | None:
        """The step's budget that is used up, if one is."""
        node = self.journal.state.nodes[self.node]
        step = self.step
        kinds: tuple[tuple[LimitKind, float, float], ...] = (
            ("pages", pages_of(step), max(node.pages, page.documents)),
            ("seconds", seconds_of(step), node.seconds_at(self.deps.clock.now().timestamp())),
        )
        for kind, allowed, used in kinds:
            if used > allowed:
                return ev.LimitHit(step=self.node, limit=kind, allowed=allowed, used=round(used, 1))
        return None

    def finished(
        self,
        page: LivePage | None,
        *,
        already: bool = False,
        outputs: Mapping[str, Json] | None = None,
    ) -> ev.StepFinished:
        """The event that freezes the outputs."""
        made = dict(page.outputs if outputs is None and page is not None else outputs or {})
        for name in outputs_of(self.step.segment or ()):
            made.setdefault(name, None)
        node = self.journal.state.nodes[self.node]
        return ev.StepFinished(
            step=self.node,
            state="met",
            outputs=made,
            digest=fingerprint(made),
            already=already,
            pages=node.pages,
            seconds=round(node.seconds, 3),
        )

    # -- the segment itself -------------------------------------------------------------------

    async def work(self, page: LivePage, start: int, commit: CommitProtocol) -> None:
        """Perform the segment from an index on, judge it, and journal how it ended."""
        step = self.step
        try:
            segment = bind_all(step.segment or (), self.values(), step.place)
            expected = self.bound_expectations()
        except ExpressionError as error:
            await self.report_unmet(
                page, failure=Failure(kind="invalid", message=error.message), failed_index=start
            )
            return
        acting = first_acting(segment)
        for index in range(start, len(segment)):
            self.stopping.check()
            if (hit := self.limit(page)) is not None:
                await self.end_by_limit(hit)
                return
            action = segment[index]
            if index == acting and step.effect != "once":
                await self.judge_before(page, expected)
                if step.do == "sign_in" and all_hold(page.before) == "met":
                    await self._already_signed_in(page)
                    return
            if isinstance(action, Commit):
                if not await commit.pass_gate(self, page, index, action, expected):
                    return
                continue
            outcome = await self.perform(page, index, action)
            if outcome.failure is not None and not (
                action.optional and outcome.failure.kind == "target_missing"
            ):
                await self._failed(page, index, outcome.failure, expected, commit)
                return
        if page.commit_from is not None and page.behind_commit is not None:
            await page.behind_commit()
        await self._conclude(page, expected, acting, commit)

    async def _failed(
        self,
        page: LivePage,
        index: int,
        failure: Failure,
        expected: tuple[Expectation, ...],
        commit: CommitProtocol,
    ) -> None:
        if page.commit_from is not None:
            # Behind the commit nothing is retried: the probe, or the person, has to say.
            found = await self.verdicts(page.tab, expected, page.outputs)
            await commit.not_met(self, page, found, failure=failure, failed_index=index)
            return
        if self.step.do == "sign_in" and failure.kind == "target_missing":
            found = await self.verdicts(page.tab, expected, page.outputs)
            if all_hold(found) == "met":
                page.before = found
                await self._already_signed_in(page)
                return
        await self.report_unmet(page, failure=failure, failed_index=index)

    async def _already_signed_in(self, page: LivePage) -> None:
        await self.journal.append(
            ev.Judged(step=self.node, phase="after", verdicts=page.before, judgement="met"),
            self.finished(page, already=True),
        )

    async def _conclude(
        self,
        page: LivePage,
        expected: tuple[Expectation, ...],
        acting: int | None,
        commit: CommitProtocol,
    ) -> None:
        step = self.step
        after = await self.judge_after(page, expected, reread_from=acting or 0)
        happened = await page.tab.happened()
        page.responses.extend(happened.happened.responses)
        for refused in happened.happened.refusals:
            self.journal.defer(
                ev.GuardRefused(
                    step=self.node, method=refused.method, url=refused.url, rule=refused.rule
                )
            )
        judgement = all_hold(after)
        proven = acting is None or turned_true(page.before, after)
        if judgement == "met" and proven and self.journal.state.nodes[self.node].tried:
            # A person who is to accept the revision sees the page as it was met.
            seen = await page.tab.observe(evidence=f"{self.node}-healed")
            self.journal.defer(ev.Observed(step=self.node, observation=seen))
        if step.effect == "once":
            if judgement == "met" and proven:
                await commit.confirm(self, page, after)
            else:
                await commit.not_met(self, page, after, proven=proven)
            return
        if judgement != "met":
            await self.report_unmet(page, found=after)
        elif not proven:
            await self.report_proven_nothing(page, after)
        elif self._differs_from_former(page):
            await self.report_unmet(
                page,
                found=after,
                drift="value_differs",
                reason="redone after its page was lost, it gave other outputs than before",
            )
        else:
            await self.journal.append(
                ev.Judged(step=self.node, phase="after", verdicts=after, judgement="met"),
                self.finished(page),
            )

    def _differs_from_former(self, page: LivePage) -> bool:
        former = self.journal.state.nodes[self.node].former_digest
        return bool(former) and self.finished(page).digest != former

    async def report_unwritten(self) -> None:
        """The step has no segment: what to do about that is for the engine."""
        await self.journal.append(
            ev.Judged(
                step=self.node, phase="after", verdicts=(), judgement="unmet",
                drift="target_missing", reason="it has no segment yet",
            )
        )  # fmt: skip

    async def end_by_limit(self, hit: ev.LimitHit) -> None:
        """A budget of the step is used up: it is over."""
        await self.journal.append(
            hit,
            ev.StepFinished(
                step=self.node,
                state="unmet",
                reason=f"its limit of {hit.allowed:g} {hit.limit} is used up ({hit.used:g})",
            ),
        )


def _url_of(request: str) -> str:
    """The glob of a commit's request, without its method."""
    return request.split(" ", 1)[-1].strip()


class KnownWrites(Protocol):
    """What the segment asks of the sightings (`runtime.sightings`)."""

    async def __call__(self, node: str) -> tuple[str, ...]:
        """The writes that earlier met runs of a node's step have sent."""
        ...


class SessionEnded(Protocol):
    """What the segment asks of the sign-ins (`runtime.sign_in`)."""

    async def __call__(self, node: str) -> str:
        """Why the session that a node works under is gone; "" if it stands or there is none."""
        ...


class Stopping:
    """Set when the run is to be parked; asked between two actions."""

    def __init__(self) -> None:
        self.asked = False

    def check(self) -> None:
        """Raise StoppingError when the run is to be parked."""
        if self.asked:
            raise StoppingError


class CommitProtocol(Protocol):
    """What the segment asks of the commit protocol (`runtime.commit`)."""

    async def pass_gate(
        self,
        work: SegmentWork,
        page: LivePage,
        index: int,
        action: Commit,
        expected: tuple[Expectation, ...],
    ) -> bool:
        """Check, claim, send. False when the step is over (or rehearsed) and nothing follows."""
        ...

    async def confirm(self, work: SegmentWork, page: LivePage, after: tuple[Verdict, ...]) -> None:
        """All expectations hold and one turned true: the effect is confirmed, the step met."""
        ...

    async def not_met(
        self,
        work: SegmentWork,
        page: LivePage,
        found: tuple[Verdict, ...],
        *,
        failure: Failure | None = None,
        failed_index: int | None = None,
        proven: bool = True,
    ) -> None:
        """The commit was sent and the page does not show what was expected."""
        ...
