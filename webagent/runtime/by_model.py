"""The rungs that ask a model: a segment regenerated, a step improvised, outputs read.

Each rung hands the model's adapter a brief and a chat that is bound to the node, looks through what
comes back, and goes on in the page as the revision says. What a model proposes is performed under
the same checks as a heal of the local planner.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from webagent.core import event as ev
from webagent.core.action import PASSIVE, Action, commit_index
from webagent.core.brief import Brief
from webagent.core.page import Failure
from webagent.core.plan import Question
from webagent.core.revision import (
    AskPerson,
    Cannot,
    Reopen,
    Revision,
    RevisionRefusedError,
)
from webagent.core.revision import apply as apply_revision
from webagent.core.telling import outputs_wanted
from webagent.core.vetting import fault
from webagent.engine.brief import make_brief
from webagent.engine.ladder import Climb, may_reopen
from webagent.runtime.asking import Asking, OverLimitError
from webagent.runtime.commit import Commits
from webagent.runtime.context import Deps, LivePage
from webagent.runtime.improvising import StepHands
from webagent.runtime.journal import Journal
from webagent.runtime.segment import SegmentWork
from webagent.runtime.sightings import Sightings

AUTHOR = "claude"


class ByModel:
    """Takes the rungs behind which a model stands, for the nodes of one run."""

    def __init__(
        self,
        deps: Deps,
        journal: Journal,
        work: Callable[[str], SegmentWork],
        commits: Commits,
        sightings: Sightings,
    ) -> None:
        self.deps = deps
        self.journal = journal
        self.asking = Asking(deps, journal)
        self._work = work
        self._commits = commits
        self._sightings = sightings

    async def take(
        self, node: str, climb: Climb, taken: ev.RungTaken, page: LivePage | None
    ) -> None:
        """Take one rung; its outcome is in the journal when this returns."""
        if page is None:
            await self._refused(node, climb, "its page is gone")
            return
        try:
            match climb.rung:
                case "model":
                    await self._advise(node, climb, taken, page)
                case "compose":
                    await self._compose(node, climb, taken, page)
                case _:
                    await self._extract(node, climb, taken, page)
        except OverLimitError as over:
            await self._over(node, over)

    async def _over(self, node: str, over: OverLimitError) -> None:
        """A limit of the step ends the step; one of the role or the errand parks the run."""
        if over.hit.step:
            await self._work(node).end_by_limit(over.hit)
        else:
            await self.journal.append(over.hit)

    async def _brief(self, node: str, climb: Climb, page: LivePage) -> Brief:
        return make_brief(
            self.journal.state, node, await page.tab.observe(),
            self.deps.clock.now().timestamp(), rung=climb.rung,
            sightings=await self._sightings.known(), documents=tuple(page.turned),
        )  # fmt: skip

    async def _refused(self, node: str, climb: Climb, reason: str, author: str = AUTHOR) -> None:
        await self.journal.append(
            ev.RevisionRefused(step=node, author=author, reason=reason, rung=climb.rung)
        )

    # -- one segment regenerated --------------------------------------------------------------

    async def _advise(self, node: str, climb: Climb, taken: ev.RungTaken, page: LivePage) -> None:
        adviser = self.deps.adviser
        if adviser is None:
            await self._refused(node, climb, "no model plans here", "none")
            return
        brief = await self._brief(node, climb, page)
        answer = await adviser.revise(brief, await page.tab.outline(), self.asking.of(node))
        match answer:
            case Cannot():
                await self._refused(node, climb, answer.reason)
            case Reopen():
                await self._reopen(node, climb, taken, answer)
            case AskPerson():
                await self._ask(node, climb, taken, answer)
            case Revision():
                await self._apply(node, climb, taken, page, brief, answer)

    async def _reopen(self, node: str, climb: Climb, taken: ev.RungTaken, answer: Reopen) -> None:
        state = self.journal.state
        step = state.the_plan.step(node)
        path = answer.step if not step.place else f"{step.place}/{answer.step}"
        if path not in step.needs or not may_reopen(state, path, step.path):
            await self._refused(node, climb, f"{answer.step} cannot be reopened from here")
            return
        await self.journal.append(
            taken.model_copy(update={"rung": "reopen", "note": answer.reason}),
            ev.StepReopened(step=path, cause="stale_input", by=node),
        )

    async def _ask(self, node: str, climb: Climb, taken: ev.RungTaken, answer: AskPerson) -> None:
        started = self.journal.state.started
        if started is not None and started.unattended:
            await self._refused(node, climb, f"only a person could say: {answer.question}")
            return
        text = f"{answer.question} Nothing was sent. Try again, or let the step fail?"
        question = Question(text=text, options=("again", "fail"))
        await self.journal.append(
            taken.model_copy(update={"rung": "ask", "note": answer.reason}),
            ev.RevisionRefused(
                step=node, author=AUTHOR, reason=f"a person has to say: {answer.question}",
                rung=climb.rung,
            ),
            ev.PersonAsked(step=node, question=question, about="drift"),
        )  # fmt: skip

    async def _apply(
        self,
        node: str,
        climb: Climb,
        taken: ev.RungTaken,
        page: LivePage,
        brief: Brief,
        revision: Revision,
    ) -> None:
        why = self._fault(node, brief, revision)
        if why is not None:
            await self._refused(node, climb, why, revision.author)
            return
        version = self.journal.state.the_plan.version + 1
        await self.journal.append(
            taken.model_copy(update={"redo_from": revision.redo_from, "note": revision.reason}),
            ev.PlanRevised(step=node, revision=revision, version=version),
        )
        if revision.redo_from == 0:
            page.begin_anew()
        page.turned = [i for i in page.turned if i < revision.redo_from]
        await self._work(node).work(page, revision.redo_from, self._commits)

    def _fault(self, node: str, brief: Brief, revision: Revision) -> str | None:
        """Why a model's revision is refused, if it is."""
        state = self.journal.state
        if revision.step != state.the_plan.step(node).path:
            return f"it is for {revision.step}"
        found = state.nodes[node]
        segment = brief.step.segment or ()
        stands = len(segment) if brief.failed_index is None else brief.failed_index
        back = found.writes and any(
            a.verb not in PASSIVE for a in segment[revision.redo_from : stands]
        )
        undone = revision.redo_from == 0 and brief.step.reset is not None
        if back and not undone and brief.step.effect == "once":
            return "it would do again what may have been written already"
        why = fault(brief, revision.segment)
        if why is not None:
            return why
        done = frozenset(p for p, n in state.nodes.items() if n.state == "met")
        try:
            apply_revision(state.the_plan, revision, done=done)
        except RevisionRefusedError as refused:
            return str(refused)
        return None

    # -- a step improvised --------------------------------------------------------------------

    async def _compose(self, node: str, climb: Climb, taken: ev.RungTaken, page: LivePage) -> None:
        improviser = self.deps.improviser
        if improviser is None:
            await self._refused(node, climb, "no model improvises here", "none")
            return
        brief = await self._brief(node, climb, page)
        await self.journal.append(taken)
        work = self._work(node)
        hands = StepHands(work, page, brief)
        answer = await improviser.compose(brief, hands, self.asking.of(node))
        if isinstance(answer, Cannot):
            await self._refused(node, climb, answer.reason)
            await work.report_unmet(
                page, failure=Failure(kind="target_missing", message=answer.reason),
                drift="target_missing", reason=f"improvised in vain: {answer.reason}",
            )  # fmt: skip
            return
        revision = Revision(
            step=brief.step.path, segment=answer, first_wrong=0,
            redo_from=self._goes_on_at(brief, answer), cause="target_missing", author="claude",
            reason=f"improvised in {len(answer)} actions",
        )  # fmt: skip
        why = self._fault(node, brief, revision)
        if why is not None:
            await self._refused(node, climb, why)
            await work.report_unmet(
                page, failure=Failure(kind="invalid", message=why), drift="target_missing",
                reason=f"what was improvised is refused: {why}",
            )  # fmt: skip
            return
        version = self.journal.state.the_plan.version + 1
        await self.journal.append(ev.PlanRevised(step=node, revision=revision, version=version))
        if revision.redo_from == 0:
            page.begin_anew()
        if brief.step.effect == "once":
            page.behind_commit = self._reading_behind(node, brief, page)
        await self._work(node).work(page, revision.redo_from, self._commits)

    @staticmethod
    def _goes_on_at(brief: Brief, segment: tuple[Action, ...]) -> int:
        """Where a composed segment is begun.

        Without an effect it is run once more from its start, which proves it; what has written is
        judged as the page stands; a commit is still to be made.
        """
        if brief.step.effect == "none" and segment[0].verb == "goto":
            return 0
        commit = commit_index(segment)
        return len(segment) if commit is None else commit

    def _reading_behind(
        self, node: str, brief: Brief, page: LivePage
    ) -> Callable[[], Awaitable[None]]:
        """Reads, behind the commit, what the step has to give; they become part of its segment."""

        async def read() -> None:
            page.behind_commit = None
            improviser = self.deps.improviser
            step = self.journal.state.the_plan.step(node)
            if improviser is None or not set(outputs_wanted(step)) - set(page.outputs):
                return
            work = self._work(node)
            hands = StepHands(work, page, brief, reading=True)
            try:
                reads = await improviser.read_after(brief, hands, self.asking.of(node))
            except OverLimitError:
                reads = ()  # the commit was sent: what it brought is judged all the same
            if not reads:
                return
            segment = (*(step.segment or ()), *reads)
            revision = Revision(
                step=step.path, segment=segment, first_wrong=len(step.segment or ()),
                redo_from=len(segment), cause="target_missing", author="claude",
                reason="reads behind the commit",
            )  # fmt: skip
            version = self.journal.state.the_plan.version + 1
            await self.journal.append(ev.PlanRevised(step=node, revision=revision, version=version))

        return read

    # -- outputs read -------------------------------------------------------------------------

    async def _extract(self, node: str, climb: Climb, taken: ev.RungTaken, page: LivePage) -> None:
        reader = self.deps.reader
        if reader is None:
            await self._refused(node, climb, "no model reads here", "none")
            return
        brief = await self._brief(node, climb, page)
        answer = await reader.extract(brief, await page.tab.outline(), self.asking.of(node))
        if isinstance(answer, Cannot):
            await self._refused(node, climb, answer.reason)
            return
        outputs, quotes = answer
        page.outputs.update(outputs)
        told = "; ".join(f"{name} from {quote!r}" for name, quote in quotes.items() if quote)
        note = f"read by a model: {told}"[:1000]
        redo = len(brief.step.segment or ())
        await self.journal.append(taken.model_copy(update={"redo_from": redo, "note": note}))
        await self._work(node).work(page, redo, self._commits)
