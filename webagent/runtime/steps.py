"""The moves of single nodes: enter, climb, compute, expand, join, ask, conclude.

Each method carries out one move of `engine.decide` and leaves its outcome in the journal.
"""

from __future__ import annotations

from typing import assert_never

from webagent.core import event as ev
from webagent.core.base import Json
from webagent.core.errors import BrowserLost, ExpressionError
from webagent.core.expect import Finding, all_hold, judge
from webagent.core.page import Failure
from webagent.core.plan import PlanStep, Question
from webagent.core.revision import Cannot, RevisionRefusedError
from webagent.core.revision import apply as apply_revision
from webagent.core.values import fingerprint
from webagent.engine import decide
from webagent.engine.bind import bind_all, items_of, names, used_hashes
from webagent.engine.brief import make_brief
from webagent.engine.compare import compare
from webagent.engine.guard import origins, policy
from webagent.engine.ladder import Climb
from webagent.engine.state import FINAL
from webagent.runtime.browser import RunBrowser
from webagent.runtime.by_model import ByModel
from webagent.runtime.commit import Commits
from webagent.runtime.context import Deps, LivePage, Pages
from webagent.runtime.journal import Journal
from webagent.runtime.scouting import PageScout
from webagent.runtime.segment import SegmentWork, Stopping
from webagent.runtime.sightings import Sightings
from webagent.runtime.sign_in import Sessions


class StepMoves:
    """Carries out the moves of nodes for one run."""

    def __init__(
        self, deps: Deps, journal: Journal, browser: RunBrowser, pages: Pages, stopping: Stopping
    ) -> None:
        self.deps = deps
        self.journal = journal
        self.browser = browser
        self.pages = pages
        self.stopping = stopping
        self.commits = Commits(deps, journal, stopping, browser.open_tab, browser.keep_session)
        self.sessions = Sessions(deps, journal, browser, stopping)
        self.sightings = Sightings(deps, journal)
        self.by_model = ByModel(deps, journal, self._work, self.commits, self.sightings)

    async def carry_out(self, move: decide.NodeMove) -> None:
        """Do one move; its outcome is in the journal when this returns."""
        match move:
            case decide.Enter():
                await self._enter(move)
            case decide.TakeRung():
                await self._take_rung(move.node, move.climb)
            case decide.Compute():
                await self._compute(move.node)
            case decide.Ask():
                await self.journal.append(ev.PersonAsked(step=move.node, question=move.question))
            case decide.TakeAnswer():
                await self._take_answer(move.node)
            case decide.Expand():
                await self._expand(move.node)
            case decide.Join():
                await self._join(move.node)
            case decide.CheckEffect():
                await self.commits.check(move.node, self.pages.get(move.node))
            case decide.Conclude():
                await self._conclude(move)
            case decide.Reopen():
                await self.pages.close(move.node)
                await self.journal.append(
                    ev.StepReopened(step=move.node, cause=move.cause, by=move.by)
                )
            case _:
                assert_never(move)
        await self._tidy(move.node)

    def _work(self, node: str) -> SegmentWork:
        return SegmentWork(
            self.deps, self.journal, node, self.stopping, self.sessions.ended, self.sightings.writes
        )

    def _step(self, node: str) -> PlanStep:
        return self.journal.state.the_plan.step(node)

    # -- pages --------------------------------------------------------------------------------

    async def _enter(self, move: decide.Enter) -> None:
        node, step = move.node, self._step(move.node)
        if step.effect == "once" and not await self.commits.admit(node):
            return
        await self.browser.ready()
        await self.pages.close(node)
        self.sessions.entered(node)
        await self.journal.append(
            ev.StepStarted(
                step=node, attempt=move.attempt, used=used_hashes(self.journal.state, node)
            )
        )
        work = self._work(node)
        try:
            page = await self._page_for(node, step)
        except BrowserLost as lost:
            gone = Failure(kind="page_lost", message=lost.message)
            await work.report_unmet(None, failure=gone, failed_index=0)
            return
        if move.reset:
            await self._reset(work, page)
        if step.segment is None:
            await work.report_unwritten()
            return
        await work.work(page, 0, self.commits)

    async def _page_for(self, node: str, step: PlanStep) -> LivePage:
        state = self.journal.state
        allowed = policy(state.the_plan, step, origins(state, node), self.deps.named_hosts)
        if step.continues is not None:
            page = self.pages.hand_over(step.continues, node)
            if page is None:
                raise BrowserLost(f"the page that {step.continues} left is gone")
            await page.tab.set_policy(allowed, node)
            return page
        page = LivePage(
            await self.browser.open_tab(node, allowed), documents=state.nodes[node].pages
        )
        self.pages.live[node] = page
        return page

    async def _reset(self, work: SegmentWork, page: LivePage) -> None:
        step = work.step
        if step.reset:
            bound = bind_all(step.reset, work.values(), step.place)
            await work.perform_all(page, bound, part="reset", optional=True)

    async def _tidy(self, node: str) -> None:
        """After a move: keep the page only if it may be worked on, the session if it is met."""
        found = self.journal.state.nodes.get(node)
        if found is None or found.state not in FINAL or self.pages.get(node) is None:
            if found is not None and found.state in ("ready", "pending"):
                await self.pages.close(node)
            return
        if found.state == "met":
            page = self.pages.get(node)
            if page is not None and not found.already:
                await self.sightings.keep(node, page)
            state = self.journal.state
            # Only a run that may still go on is ever signed in again from what is kept.
            if any(n.state not in ("met", "skipped") for n in state.nodes.values()):
                await self.browser.keep_session()
            path = self._step(node).path
            following = [s.path for s in state.the_plan.steps if s.continues == path]
            if any(state.nodes[f].state not in FINAL for f in following):
                return
        await self.pages.close(node)

    # -- the ladder ---------------------------------------------------------------------------

    async def _take_rung(self, node: str, climb: Climb) -> None:
        taken = ev.RungTaken(
            step=node, rung=climb.rung, drift=climb.drift, nth=climb.nth, seconds=climb.seconds,
            redo_from=climb.redo_from, note=climb.note,
        )  # fmt: skip
        match climb.rung:
            case "wait":
                await self._wait(node, climb, taken)
            case "renew":
                await self._renew(node, climb, taken)
            case "reenter":
                await self.journal.append(taken)
            case "reopen":
                again = ev.StepReopened(step=climb.target, cause="stale_input", by=node)
                # Another step may have had it reopened already: then this one waits for it too.
                met = self.journal.state.nodes[climb.target].state == "met"
                once = self.journal.state.nodes[climb.target].reopened.get("stale_input", 0)
                await self.journal.append(taken, *((again,) if met and not once else ()))
            case "find_again" | "regenerate" | "split":
                await self._revise(node, climb, taken)
            case "model" | "compose" | "extract":
                await self.by_model.take(node, climb, taken, self.pages.get(node))
            case "ask":
                text = f"{climb.note}. Nothing was sent. Try again, or let the step fail?"
                question = Question(text=text, options=("again", "fail"))
                await self.journal.append(
                    taken, ev.PersonAsked(step=node, question=question, about="drift")
                )
            case _:
                reason = self.journal.state.nodes[node].reason or climb.note
                await self.journal.append(
                    ev.StepFinished(step=node, state="unmet", drift=climb.drift, reason=reason)
                )

    async def _wait(self, node: str, climb: Climb, taken: ev.RungTaken) -> None:
        await self.journal.append(taken)
        page = self.pages.get(node)
        work = self._work(node)
        if climb.seconds:
            await self.deps.clock.sleep(climb.seconds)
        if page is None:
            await work.report_unmet(
                None, failure=Failure(kind="page_lost", message="its page is gone")
            )
            return
        start = climb.redo_from or 0
        if start == 0:
            if self.journal.state.nodes[node].writes:
                await self._reset(work, page)
            page.begin_anew()
        await work.work(page, start, self.commits)

    async def _renew(self, node: str, climb: Climb, taken: ev.RungTaken) -> None:
        await self.pages.close(node)
        ok, reason = await self.sessions.renew(climb.target, node)
        if ok:
            await self.journal.append(taken)
            return
        await self.journal.append(
            ev.StepFinished(
                step=node, state="unmet", drift="signed_out",
                reason=f"signing in again by {climb.target} did not work: {reason}",
            )
        )  # fmt: skip

    async def _revise(self, node: str, climb: Climb, taken: ev.RungTaken) -> None:
        """Have the node's segment revised, and go on with it where the revision says."""
        page = self.pages.get(node)
        planner = self.deps.planner
        if planner is None or page is None:
            await self._refused(node, climb, "none", "no planner or no page")
            return
        seen = await page.tab.observe()
        now = self.deps.clock.now().timestamp()
        brief = make_brief(
            self.journal.state, node, seen, now, rung=climb.rung,
            sightings=await self.sightings.known(), documents=tuple(page.turned),
        )  # fmt: skip
        scout = PageScout(self.deps, self.journal, self.browser.open_tab, node, page, brief)
        try:
            answer = await planner.revise(brief, scout)
        finally:
            await scout.close()
        if answer is None or isinstance(answer, Cannot):
            why = "it cannot" if answer is None else answer.reason
            await self._refused(node, climb, "planner", why)
            return
        revision = answer.model_copy(update={"pages": answer.pages + scout.looked})
        state = self.journal.state
        done = frozenset(p for p, n in state.nodes.items() if n.state == "met")
        if revision.step != self._step(node).path:
            why = f"it is for {revision.step}"
            await self._refused(node, climb, revision.author, why)
            return
        try:
            plan = apply_revision(state.the_plan, revision, done=done)
        except RevisionRefusedError as refused:
            await self._refused(node, climb, revision.author, str(refused))
            return
        await self.journal.append(
            taken.model_copy(update={"redo_from": revision.redo_from, "note": revision.reason}),
            ev.PlanRevised(step=node, revision=revision, version=plan.version),
        )
        if revision.redo_from == 0:
            page.begin_anew()
        page.turned = [i for i in page.turned if i < revision.redo_from]
        await self._work(node).work(page, revision.redo_from, self.commits)

    async def _refused(self, node: str, climb: Climb, author: str, reason: str) -> None:
        await self.journal.append(
            ev.RevisionRefused(step=node, author=author, reason=reason, rung=climb.rung)
        )

    # -- without a page -----------------------------------------------------------------------

    async def _compute(self, node: str) -> None:
        state, step = self.journal.state, self._step(node)
        started = ev.StepStarted(
            step=node, attempt=state.nodes[node].attempt + 1, used=used_hashes(state, node)
        )
        try:
            made = compare(step, names(state, node))
        except ExpressionError as error:
            await self.journal.append(
                started,
                ev.StepFinished(
                    step=node, state="unmet", drift="output_invalid", reason=error.message
                ),
            )
            return
        if made.drift is not None:
            await self.journal.append(
                started,
                ev.StepFinished(step=node, state="unmet", drift=made.drift, reason=made.reason),
            )
            return
        outputs = dict(made.outputs)
        expected = bind_all(step.expect, {**names(state, node), **outputs}, step.place)
        found = tuple(judge(e, Finding(), outputs) for e in expected)
        judged = ev.Judged(
            step=node, phase="after", verdicts=found, judgement=all_hold(found),
            reason=f"{made.nulls} comparisons had null" if made.nulls else "",
        )  # fmt: skip
        unmet = [v for v in found if v.judgement != "met"]
        if unmet:
            finished = ev.StepFinished(
                step=node, state="unmet", drift="value_differs",
                reason=f"{unmet[0].expected.kind} is not as expected: {unmet[0].seen}",
            )  # fmt: skip
            await self.journal.append(started, finished)
            return
        await self.journal.append(started, judged, _met(node, outputs, judged.reason))

    async def _expand(self, node: str) -> None:
        state, step = self.journal.state, self._step(node)
        try:
            items = items_of(state, step)
        except ExpressionError as error:
            await self.journal.append(
                ev.StepFinished(
                    step=node, state="unmet", drift="precondition_unmet", reason=error.message
                )
            )
            return
        await self.journal.append(ev.ItemsExpanded(step=node, items=items))

    async def _join(self, node: str) -> None:
        state, step = self.journal.state, self._step(node)
        children = [state.nodes[path] for path in state.items[node]]
        rows: list[Json] = []
        failed: list[Json] = []
        for child in children:
            key = child.path[len(node) + 1 : -1]
            if child.state == "met":
                rows.append({"key": key, "item": child.item, **child.outputs})
            elif child.state != "skipped":
                failed.append({"key": key, "item": child.item, "reason": child.reason})
        outputs: dict[str, Json] = {"items": rows, "failed": failed, "count": len(rows)}
        unknown = [c for c in children if c.state == "unknown"]
        if unknown:
            await self.journal.append(
                ev.StepFinished(
                    step=node, state="unknown", drift="effect_unknown",
                    reason=f"{unknown[0].path}: {unknown[0].reason}",
                )
            )  # fmt: skip
            return
        allowed = _allowed_failures(step.allow_failed, len(children))
        if len(failed) > allowed:
            first = failed[0]
            reason = (
                f"{len(failed)} of {len(children)} items failed, {allowed} may: "
                f"{first['key']}: {first['reason']}"
            )
            await self.journal.append(
                ev.StepFinished(step=node, state="unmet", outputs=outputs, reason=reason)
            )
            return
        note = f"{len(failed)} of {len(children)} items failed" if failed else ""
        await self.journal.append(_met(node, outputs, note))

    async def _take_answer(self, node: str) -> None:
        state = self.journal.state
        found, step = state.nodes[node], self._step(node)
        if step.do == "ask":
            await self.journal.append(_met(node, {"answer": found.answer}, ""))
            return
        if found.about == "drift":
            await self._after_a_persons_word(node)
            return
        # The probe showed the effect but not this output: a person gave it.
        row = await self.deps.store.effect(found.effect.key) if found.effect else None
        outputs: dict[str, Json] = dict(row.outputs) if row is not None and row.outputs else {}
        missing = [name for name, value in outputs.items() if value is None]
        if missing:
            outputs[missing[0]] = found.answer
        await self.journal.append(_met(node, outputs, "an output was given by a person"))

    async def _after_a_persons_word(self, node: str) -> None:
        """A person was asked about a drift: enter the step again, or let it fail."""
        found = self.journal.state.nodes[node]
        drift = found.drift or "precondition_unmet"
        if found.answer == "again":
            nth = found.rungs.get("reenter", 0) + 1
            await self.journal.append(
                ev.RungTaken(step=node, rung="reenter", drift=drift, nth=nth, redo_from=0)
            )
        else:
            await self.journal.append(
                ev.StepFinished(step=node, state="unmet", drift=drift, reason=found.reason)
            )

    async def _conclude(self, move: decide.Conclude) -> None:
        step = self._step(move.node)
        if move.reset and step.reset:
            work = self._work(move.node)
            allowed = policy(
                self.journal.state.the_plan, step, origins(self.journal.state, move.node),
                self.deps.named_hosts,
            )  # fmt: skip
            tab = await self.browser.open_tab(move.node, allowed)
            try:
                await self._reset(work, LivePage(tab))
            finally:
                await tab.close()
        if step.continues is not None:
            await self.pages.close(step.continues)
        await self.journal.append(
            ev.StepFinished(step=move.node, state=move.state, reason=move.reason, drift=move.drift)
        )


def _met(node: str, outputs: dict[str, Json], reason: str) -> ev.StepFinished:
    return ev.StepFinished(
        step=node, state="met", outputs=outputs, digest=fingerprint(outputs), reason=reason
    )


def _allowed_failures(written: str | None, total: int) -> int:
    if written is None:
        return 0
    if written.endswith("%"):
        return int(total * float(written[:-1]) / 100)
    return int(written)


IMMEDIATE = (
    decide.Compute, decide.Ask, decide.TakeAnswer, decide.Expand, decide.Join, decide.Reopen,
)  # fmt: skip


def is_immediate(move: decide.Move) -> bool:
    """Whether a move needs no page, so that it is done at once and in order."""
    return isinstance(move, IMMEDIATE) or (isinstance(move, decide.Conclude) and not move.reset)
