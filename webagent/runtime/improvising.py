"""The hands of an improvising executor: each move passes the checks of its step.

Called through the port `Hands` by whoever improvises. The moves are the step's own in the journal;
what may write is held at the guard as a healed action is (DESIGN 7: a heal must not commit).
"""

from __future__ import annotations

from collections.abc import Sequence

from webagent.core.action import PASSIVE, Action, Commit, Read
from webagent.core.brief import Brief
from webagent.core.errors import ExpressionError
from webagent.core.expect import Expectation, OutputIs
from webagent.core.page import Failure, Observation, Outcome, Pointed, PointedRow
from webagent.core.telling import outputs_wanted
from webagent.core.vetting import action_fault
from webagent.engine.bind import bind
from webagent.engine.classify import describe
from webagent.runtime.asking import OverLimitError
from webagent.runtime.context import LivePage
from webagent.runtime.segment import SegmentWork


class StepHands:
    """`ports.Hands` for one node on its page."""

    def __init__(
        self, work: SegmentWork, page: LivePage, brief: Brief, *, reading: bool = False
    ) -> None:
        self._work = work
        work.improvising = True
        self._page = page
        self._brief = brief
        self._reading = reading
        self._judged = False
        self._number = 0

    async def see(self) -> Observation:
        """The page with its outline."""
        self._work.stopping.check()
        seen = await self._page.tab.observe()
        return seen.model_copy(update={"outline": await self._page.tab.outline()})

    async def unmet(self) -> tuple[str, ...]:
        """What of the step's expectations does not hold yet, and which outputs are not read."""
        expected = self._expected()
        found = await self._work.verdicts(self._page.tab, expected, self._page.outputs)
        told = [describe(v) for v in found if v.judgement != "met"]
        if self._reading:
            told = []
        for name in outputs_wanted(self._brief.step):
            if name not in self._page.outputs and (
                self._reading or self._brief.step.effect != "once"
            ):
                told.append(f"output {name} was not read")
        return tuple(dict.fromkeys(told))

    def _expected(self) -> tuple[Expectation, ...]:
        """What can hold before the commit too: behind it stands what only the commit brings."""
        if self._brief.step.effect == "once" and not self._reading:
            return ()
        try:
            every = self._work.bound_expectations()
        except ExpressionError:
            return ()
        outputs = self._page.outputs
        return tuple(e for e in every if not isinstance(e, OutputIs) or e.name in outputs)

    async def point(self, ref: str, text: str = "") -> Pointed | None:
        """The element of a ref, or the part of it that holds a text."""
        return await self._page.tab.point(ref, text)

    async def point_row(
        self, ref: str, parts: Sequence[str], texts: Sequence[str] = ()
    ) -> PointedRow | None:
        """How the list of a row is read."""
        return await self._page.tab.point_row(ref, parts, texts)

    async def move(self, action: Action) -> Outcome:
        """Make one move, or say why it is refused."""
        work = self._work
        work.stopping.check()
        why = self._refusal(action)
        if why is not None:
            return Outcome(failure=Failure(kind="refused", message=why))
        if (hit := work.limit(self._page)) is not None:
            raise OverLimitError(hit, "executor")
        try:
            bound = bind(action, work.values(), work.step.place)
        except ExpressionError as error:
            return Outcome(failure=Failure(kind="invalid", message=error.message))
        if action.verb not in PASSIVE and not self._judged:
            self._judged = True
            if work.step.effect != "once":
                await work.judge_before(self._page, work.bound_expectations())
        index, self._number = self._number, self._number + 1
        return await work.perform(self._page, index, bound)

    def _refusal(self, action: Action) -> str | None:
        if isinstance(action, Commit):
            return "a commit is not sent by improvising"
        if self._reading and not isinstance(action, Read):
            return "behind the commit the page is only read"
        return action_fault(self._brief, action)
