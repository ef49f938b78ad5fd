"""The commit protocol: baseline, checks, claim, one input, and then the truth about what happened.

The order is DESIGN's: baseline, before_commit, EffectIntended, storage state kept, row and
EffectDispatched in one transaction, input. From that transaction on nothing here ever sends the
input again: what is not shown to have happened is asked of the probe, and then of a person.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from webagent.core import event as ev
from webagent.core.action import Commit, outputs_of
from webagent.core.base import Json
from webagent.core.effect import EffectChange, EffectRow
from webagent.core.errors import EffectConflict, ExpressionError
from webagent.core.expect import ElementShown, Expectation, Verdict, all_hold
from webagent.core.limits import LEASE_SECONDS
from webagent.core.page import Drift, Failure, Observation
from webagent.core.plan import PlanStep, Question
from webagent.core.request_rules import GuardPolicy
from webagent.core.target import Target
from webagent.engine.allowance import timeout_of
from webagent.engine.bind import bind_all, effect_key, names
from webagent.engine.classify import Told, classify
from webagent.engine.effects import (
    Probed,
    commit_request,
    compare_probe,
    intention,
    on_ready,
    probed_list,
    refused_by_status,
)
from webagent.engine.guard import origins, policy, probe_policy
from webagent.ports import Tab
from webagent.runtime.context import Deps, LivePage
from webagent.runtime.journal import Journal
from webagent.runtime.segment import SegmentWork, Stopping

OpenTab = Callable[[str, GuardPolicy], Awaitable[Tab]]
KeepSession = Callable[[], Awaitable[None]]
PROBE_TRIES = 2


class Commits:
    """The commit protocol of one run (`runtime.segment.CommitProtocol`)."""

    def __init__(
        self,
        deps: Deps,
        journal: Journal,
        stopping: Stopping,
        open_tab: OpenTab,
        keep_session: KeepSession,
    ) -> None:
        self.deps = deps
        self.journal = journal
        self.stopping = stopping
        self.open_tab = open_tab
        self.keep_session = keep_session

    # -- before -------------------------------------------------------------------------------

    async def admit(self, node: str) -> bool:
        """Read the effect's row when the step becomes ready. False: the step is dealt with."""
        try:
            key = effect_key(self.journal.state, node)
        except ExpressionError as error:
            await self._end(node, "unmet", f"once: {error.message}", drift="precondition_unmet")
            return False
        waited = 0.0
        while True:
            row = await self.deps.store.effect(key)
            live = (
                row is not None
                and row.run != self.journal.lease.run
                and await self.deps.store.holder(row.run) is not None
            )
            said = on_ready(row, self.journal.lease.run, holder_live=live)
            if said != "held" or row is None:
                break
            if waited >= 2 * LEASE_SECONDS:
                await self._end(
                    node, "unmet", f"run {row.run} is about to do {key}", drift="precondition_unmet"
                )
                return False
            self.stopping.check()
            await self.deps.clock.sleep(1.0)
            waited += 1.0
        if row is None or said == "go":
            return True
        if said == "adopt":
            await self._adopt(node, row)
        else:
            event = ev.EffectUnknown(
                step=node, key=key, attempt=row.attempt,
                evidence=f"run {row.run} sent it and its outcome is not known",
            )  # fmt: skip
            await self.journal.append(event)
        return False

    async def _adopt(self, node: str, row: EffectRow) -> None:
        """It happened before: the step is met with the stored outputs, shown as already done."""
        outputs = dict(row.outputs) if isinstance(row.outputs, Mapping) else {}
        evidence = f"already done by {row.run or row.by}: {row.evidence}".rstrip(": ")
        work = SegmentWork(self.deps, self.journal, node, self.stopping)
        await self.journal.append(
            ev.EffectConfirmed(step=node, key=row.key, attempt=row.attempt, evidence=evidence),
            work.finished(None, already=True, outputs=outputs),
        )

    async def _end(
        self, node: str, state: ev.FinalState, reason: str, drift: Drift | None = None
    ) -> None:
        await self.journal.append(
            ev.StepFinished(step=node, state=state, reason=reason, drift=drift)
        )

    async def pass_gate(
        self,
        work: SegmentWork,
        page: LivePage,
        index: int,
        action: Commit,
        expected: tuple[Expectation, ...],
    ) -> bool:
        """Check, claim, send. False when the step is over (or rehearsed) and nothing follows."""
        state = self.journal.state
        step = work.step
        baseline: Json = None
        if step.probe is not None:
            rows, unread = await self._read_probe(work)
            if unread is not None:
                await work.report_unmet(
                    page, drift=unread.drift, failed_index=index, phase="before_commit",
                    reason=f"the probe could not be read, so nothing was sent: {unread.reason}",
                )  # fmt: skip
                return False
            baseline = rows
        if not await self._checks_hold(work, page, index):
            return False
        await work.judge_before(page, expected)
        form = await page.tab.read_form()
        if state.started is not None and state.started.rehearse:
            await self._rehearsed(work, page, action, form)
            return False
        if self._ancestor_reopened(work.node):
            await work.report_unmet(
                page, drift="page_lost", failed_index=index, phase="before_commit",
                reason="a step before it runs again, so its values may change",
            )  # fmt: skip
            return False
        self.stopping.check()
        return await self._claim_and_send(work, page, index, action, baseline, form)

    async def _checks_hold(self, work: SegmentWork, page: LivePage, index: int) -> bool:
        step = work.step
        note = await page.tab.put_back()
        if not step.before_commit:
            return True
        try:
            checks = bind_all(step.before_commit, work.values(), step.place)
        except ExpressionError as error:
            await work.report_unmet(
                page, failure=Failure(kind="invalid", message=error.message),
                failed_index=index, phase="before_commit",
            )  # fmt: skip
            return False
        end = self.deps.clock.monotonic() + timeout_of(step)
        while True:
            found = await work.verdicts(page.tab, checks, page.outputs)
            left = end - self.deps.clock.monotonic()
            if all_hold(found) == "met" or left <= 0:
                break
            doubt = any(v.judgement == "unknown" for v in found)
            if doubt and not (await page.tab.observe()).alive:
                break
            await page.tab.stirred(min(left, 0.25))
            note = await page.tab.put_back() or note
        if all_hold(found) == "met":
            self.journal.defer(
                ev.Judged(
                    step=work.node, phase="before_commit", verdicts=found, judgement="met",
                    reason=note,
                )
            )  # fmt: skip
            return True
        differs = any(
            v.judgement != "met" and v.expected.kind in ("value", "rows", "count") for v in found
        )
        await work.report_unmet(
            page, found=found, failed_index=index, phase="before_commit",
            drift="value_differs" if differs else "precondition_unmet",
        )  # fmt: skip
        return False

    def _ancestor_reopened(self, node: str) -> bool:
        state = self.journal.state
        step = state.the_plan.step(node)
        return any(
            state.nodes[path].state not in ("met", "skipped")
            for path in state.the_plan.by_path
            if path != step.path
            and state.nodes[path].reopened
            and step.path in state.the_plan.descendants(path)
        )

    async def _rehearsed(
        self, work: SegmentWork, page: LivePage, action: Commit, form: Mapping[str, Json]
    ) -> None:
        step = work.step
        if step.reset:
            bound = bind_all(step.reset, work.values(), step.place)
            await work.perform_all(page, bound, part="reset", optional=True)
        payload = {
            "form": dict(form),
            "commit": _shown(action),
            "url": (await page.tab.observe()).url,
        }
        await self.journal.append(
            ev.StepFinished(
                step=work.node,
                state="skipped",
                outputs=payload,
                reason="rehearsed: all up to the commit was done, and nothing was sent",
            )
        )

    async def _claim_and_send(
        self,
        work: SegmentWork,
        page: LivePage,
        index: int,
        action: Commit,
        baseline: Json,
        form: Mapping[str, Json],
    ) -> bool:
        node = work.node
        key = effect_key(self.journal.state, node)
        row = await self.deps.store.effect(key)
        new = EffectRow(
            key=key, state="intended", run=self.journal.lease.run, step=node,
            epoch=self.journal.lease.epoch, baseline=baseline, payload=dict(form),
        )  # fmt: skip
        claim = intention(row, new)
        intended = ev.EffectIntended(
            step=node, key=key, attempt=claim.row.attempt, baseline=baseline, payload=dict(form)
        )
        try:
            await self.journal.append(intended, effects=(claim,))
        except EffectConflict:
            await self._held_elsewhere(work, page, index, key)
            return False
        await self.keep_session()
        sent = claim.row.model_copy(update={"state": "dispatched"})
        page.commit_from = None
        before = len(page.responses)
        outcome = await work.perform(
            page, index, action,
            before_input=(
                ev.EffectDispatched(step=node, key=key, attempt=claim.row.attempt),
            ),
            effects=(EffectChange(expect=("intended",), row=sent),),
            may_send=self._still_ours,
        )  # fmt: skip
        effect = self.journal.state.nodes[node].effect
        if effect is None or effect.phase != "dispatched":
            failure = outcome.failure or Failure(kind="invalid", message="the commit sent no input")
            await work.report_unmet(page, failure=failure, failed_index=index)
            return False
        page.commit_from = before
        return True

    async def _held_elsewhere(
        self, work: SegmentWork, page: LivePage, index: int, key: str
    ) -> None:
        """Another run was quicker: wait for its word, and take over what it did as done."""
        row = await self.deps.store.effect(key)
        waited = 0.0
        while row is not None and waited < 2 * LEASE_SECONDS:
            live = row.run != self.journal.lease.run
            live = live and await self.deps.store.holder(row.run) is not None
            if on_ready(row, self.journal.lease.run, holder_live=live) != "held":
                break
            self.stopping.check()
            await self.deps.clock.sleep(1.0)
            waited += 1.0
            row = await self.deps.store.effect(key)
        if row is not None and row.state == "confirmed":
            step = work.step
            if step.reset:
                bound = bind_all(step.reset, work.values(), step.place)
                await work.perform_all(page, bound, part="reset", optional=True)
            await self._adopt(work.node, row)
            return
        who = f"run {row.run}" if row is not None else "another run"
        free = row is None or row.state in ("freed", "refused")
        await work.report_unmet(
            page, drift="slow" if free else "precondition_unmet", failed_index=index,
            phase="before_commit", reason=f"{who} holds the effect {key}; nothing was sent here",
        )  # fmt: skip

    async def _still_ours(self) -> bool:
        """Whether no other runner has taken the run over: a paused one wakes up not knowing."""
        lease = self.journal.lease
        return await self.deps.store.current_epoch(lease.run) == lease.epoch

    # -- after --------------------------------------------------------------------------------

    async def confirm(self, work: SegmentWork, page: LivePage, after: tuple[Verdict, ...]) -> None:
        """All expectations hold and one turned true: the effect is confirmed, the step met."""
        row = await self._row(work.node)
        finished = work.finished(page)
        named = self._named(work.step)
        answer = commit_request(page.commit_responses(), named, row.request)
        if answer is None and (named is not None or work.step.probe is not None):
            # A page can say "Thank you" by itself: where it can be known, it has to be.
            what = named or "a request that writes"
            await work.report_unmet(
                page, found=after, drift="effect_unknown",
                reason=f"the page shows what was expected, but {what} was not seen to go out",
            )  # fmt: skip
            return
        updated = row.model_copy(
            update={
                "state": "confirmed",
                "outputs": finished.outputs,
                "evidence": "its step's expectations hold",
                "request": f"{answer.method} {_path(answer.url)}" if answer else row.request,
            }
        )
        await self.journal.append(
            ev.Judged(step=work.node, phase="after", verdicts=after, judgement="met"),
            ev.EffectConfirmed(
                step=work.node, key=row.key, attempt=row.attempt, evidence=updated.evidence
            ),
            finished,
            effects=(EffectChange(expect=(row.state,), row=updated),),
            durable=True,
        )

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
        if page.commit_from is None:
            await work.report_unmet(page, failure=failure, failed_index=failed_index, found=found)
            return
        unmet = [v for v in found if v.judgement != "met"]
        why = (
            failure.message
            if failure is not None
            else f"{unmet[0].expected.kind} is {unmet[0].judgement}: {unmet[0].seen}"
            if unmet
            else "what was expected held before the commit already"
            if not proven
            else "the page does not show it"
        )
        await work.report_unmet(
            page, failure=failure, failed_index=failed_index, found=found,
            drift="effect_unknown", reason=f"the commit was sent, but {why}",
        )  # fmt: skip

    async def check(self, node: str, page: LivePage | None) -> None:
        """Find out whether a dispatched effect happened: stored row, probe, the site's answer."""
        work = SegmentWork(self.deps, self.journal, node, self.stopping)
        row = await self._row(node)
        if row.state == "confirmed":
            await self._adopt(node, row)
            return
        if row.state == "freed":
            event = ev.EffectFreed(
                step=node, key=row.key, attempt=row.attempt, evidence=row.evidence, by=row.by
            )
            await self.journal.append(event)
            return
        if row.state not in ("dispatched", "unknown"):
            event_ = ev.EffectRefused(
                step=node, key=row.key, attempt=row.attempt, evidence=row.evidence
            )
            await self.journal.append(event_)
            return
        probed = await self._probe(work, row)
        if probed.happened == "yes":
            await self._confirm_by_probe(work, row, probed)
            return
        refusal = await self._refusal(work, page, row)
        if refusal and (work.step.probe is None or probed.happened == "no"):
            await self._refuse(work, row, refusal)
            return
        if probed.happened == "no" and await self._settled(work, row):
            await self._free(work, row, probed)
            return
        await self._unknown(node, row, probed.evidence)

    async def _row(self, node: str) -> EffectRow:
        effect = self.journal.state.nodes[node].effect
        key = effect.key if effect is not None else effect_key(self.journal.state, node)
        row = await self.deps.store.effect(key)
        if row is None:
            msg = f"the effect {key} has no row in the store"
            raise EffectConflict(msg, hint="the journal and the effects table are not of one store")
        return row

    def _named(self, step: PlanStep) -> str | None:
        for action in step.segment or ():
            if isinstance(action, Commit):
                return action.request
        return None

    async def _probe(self, work: SegmentWork, row: EffectRow) -> Probed:
        probe = work.step.probe
        found = probed_list(probe) if probe is not None else None
        if probe is None or found is None:
            return Probed("unknown", {}, "the step has no probe that could tell")
        rows, unread = await self._read_probe(work)
        if unread is not None:
            return Probed("unknown", {}, f"the probe could not be read: {unread.reason}")
        return compare_probe(row.baseline, rows, found[1])

    async def _read_probe(self, work: SegmentWork) -> tuple[list[dict[str, Json]], Told | None]:
        """The probe's keyed list, read in a fresh tab; or why it could not be read."""
        step = work.step
        if step.probe is None:
            return [], Told("precondition_unmet", "there is no probe")
        found = probed_list(step.probe)
        if found is None:
            return [], Told("precondition_unmet", "the probe reads no keyed list")
        state = self.journal.state
        allowed = probe_policy(
            policy(state.the_plan, step, origins(state, work.node), self.deps.named_hosts)
        )
        why = Told("slow", "")
        for _ in range(PROBE_TRIES):
            tab = await self.open_tab(work.node, allowed)
            try:
                bound = bind_all(step.probe.segment, work.values(), step.place)
                probe_page = LivePage(tab)
                values, failure = await work.perform_all(probe_page, bound, part="probe")
                seen = await tab.observe()
            finally:
                await tab.close()
            if failure is None and seen.alive and seen.status < 400 and not seen.sign_in:
                rows = values.get(found[0])
                bad = values.get(f"{found[0]}_bad")
                if bad:
                    reason = f"{len(bad)} rows of the probe's list could not be read"
                    return [], Told("output_invalid", reason)
                return (list(rows) if isinstance(rows, list) else []), None
            why = _unread(step, seen, failure)
        return [], why

    async def _refusal(self, work: SegmentWork, page: LivePage | None, row: EffectRow) -> str:
        """Why the site's answer says no: a 4xx, or the form again with an error."""
        if page is None or page.commit_from is None:
            return ""
        answer = commit_request(page.commit_responses(), self._named(work.step), row.request)
        if said := refused_by_status(answer):
            return said
        if answer is None or answer.status >= 500:
            return ""
        commit = next((a for a in work.step.segment or () if isinstance(a, Commit)), None)
        target: Target | None = getattr(commit.action, "target", None) if commit else None
        if target is None:
            return ""
        bound = bind_all((ElementShown(target=target),), names(self.journal.state, work.node))
        alert = ElementShown(target=Target(source="an error", css=_ERRORS))
        findings = await page.tab.examine((*bound, alert))
        if all(f.error is None and f.count > 0 for f in findings):
            return f"the form is shown again with an error ({answer.method} {answer.url})"
        return ""

    async def _settled(self, work: SegmentWork, row: EffectRow) -> bool:
        """Whether absence may free another attempt.

        The author said how long (settle), it is seen twice, and the runner that sent it is known to
        be gone.
        """
        probe = work.step.probe
        if probe is None or probe.settle is None:
            return False
        state = self.journal.state
        if row.run != self.journal.lease.run or row.epoch not in state.gone_epochs:
            return False
        await self.deps.clock.sleep(probe.settle)
        return (await self._probe(work, row)).happened == "no"

    async def _confirm_by_probe(self, work: SegmentWork, row: EffectRow, probed: Probed) -> None:
        step = work.step
        made = {name: probed.fields.get(name) for name in outputs_of(step.segment or ())}
        updated = row.model_copy(
            update={"state": "confirmed", "outputs": made, "evidence": probed.evidence}
        )
        verdicts = tuple(
            Verdict(expected=e, judgement="met", seen="met by probe", by_probe=True)
            for e in bind_all(step.expect, work.values(), step.place)
        )
        confirmed = ev.EffectConfirmed(
            step=work.node, key=row.key, attempt=row.attempt, evidence=probed.evidence
        )
        judged = ev.Judged(step=work.node, phase="after", verdicts=verdicts, judgement="met")
        missing = [
            name for name, value in made.items() if value is None and self._is_used(work.node, name)
        ]
        last: ev.Event = work.finished(None, outputs=made)
        if missing:
            text = (
                f"The probe shows that {work.node} happened, but not its {missing[0]}. What is it?"
            )
            last = ev.PersonAsked(step=work.node, question=Question(text=text), about="answer")
        change = EffectChange(expect=(row.state,), row=updated)
        await self.journal.append(judged, confirmed, last, effects=(change,), durable=True)

    def _is_used(self, node: str, name: str) -> bool:
        path = self.journal.state.the_plan.step(node).path
        return any(
            use[0] == path and (len(use) == 1 or use[1] == name)
            for step in self.journal.state.the_plan.steps
            for use in step.uses
        )

    async def _refuse(self, work: SegmentWork, row: EffectRow, evidence: str) -> None:
        updated = row.model_copy(update={"state": "refused", "evidence": evidence})
        await self.journal.append(
            ev.EffectRefused(step=work.node, key=row.key, attempt=row.attempt, evidence=evidence),
            ev.Judged(
                step=work.node, phase="after", verdicts=(), judgement="unmet",
                drift="value_differs", reason=f"refused: {evidence}",
            ),
            effects=(EffectChange(expect=(row.state,), row=updated),),
            durable=True,
        )  # fmt: skip

    async def _free(self, work: SegmentWork, row: EffectRow, probed: Probed) -> None:
        evidence = f"{probed.evidence}, seen twice; the runner that sent it is gone"
        updated = row.model_copy(update={"state": "freed", "evidence": evidence, "by": "probe"})
        await self.journal.append(
            ev.EffectFreed(
                step=work.node, key=row.key, attempt=row.attempt, evidence=evidence, by="probe"
            ),
            effects=(EffectChange(expect=(row.state,), row=updated),),
            durable=True,
        )

    async def _unknown(self, node: str, row: EffectRow, evidence: str) -> None:
        updated = row.model_copy(update={"state": "unknown", "evidence": evidence})
        said = self.journal.state.nodes[node].reason
        reason = f"it was sent and cannot be known: {evidence}"
        if said:
            reason = f"{said}; {evidence}"
        await self.journal.append(
            ev.EffectUnknown(step=node, key=row.key, attempt=row.attempt, evidence=evidence),
            ev.StepFinished(
                step=node,
                state="unknown",
                drift="effect_unknown",
                reason=f"{reason}. Look at the site, then: webagent settle '{row.key}' "
                "--happened or --did-not, and webagent resume",
            ),
            effects=(EffectChange(expect=(row.state,), row=updated),),
            durable=True,
        )


def _unread(step: PlanStep, seen: Observation, failure: Failure | None) -> Told:
    """Why a probe could not be read: what the site says about itself, else it is merely not there.

    A probe is never regenerated, so nothing else is told apart.
    """
    told = classify(step.model_copy(update={"uses": ()}), seen, failure=failure)
    if told.drift in ("signed_out", "server_error", "blocked_by_site", "page_lost"):
        return told
    return Told("slow", failure.message if failure else f"{seen.url} answers {seen.status}")


# Where sites put what is wrong with a form.
_ERRORS = '[role=alert], [aria-invalid="true"], .error, .errorlist, .invalid-feedback'


def _path(url: str) -> str:
    """``**`` and the path of a URL without its query: what a learnt request is matched by."""
    rest = url.split("://", 1)[-1]
    return "**/" + rest.partition("/")[2].split("?", 1)[0]


def _shown(action: Commit) -> str:
    target = getattr(action.action, "target", None)
    return f"{action.action.verb} {target}" if target is not None else action.action.verb
