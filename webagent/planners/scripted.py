"""A shipped fake of the Planner port: it answers from a script and keeps every brief it was given.

Tests, property tests and benches run the real runner on it. By default it gives the step's own
segment again, which heals nothing on a real page but is all that a scripted site asks for: its
faults end after so many times. The kept briefs are the witness for "a brief holds one step".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from webagent.core.action import Action, Goto, Read
from webagent.core.brief import Brief
from webagent.core.revision import Revision, Rung
from webagent.ports import Scout

# One answer: a new segment, a whole revision, what makes one from the brief, or None ("I cannot").
Answer: TypeAlias = (
    Revision | tuple[Action, ...] | Callable[[Brief], "Revision | tuple[Action, ...] | None"] | None
)


class ScriptedPlanner:
    """`ports.Planner` from a script.

    ``answers``: by step path, one answer for each time it is asked, in turn; a step without any
    (left) gets its segment again, or with ``cannot`` the answer "I cannot".
    """

    def __init__(
        self, answers: Mapping[str, Iterable[Answer]] | None = None, *, cannot: bool = False
    ) -> None:
        self._answers = {step: deque(given) for step, given in (answers or {}).items()}
        self._cannot = cannot
        self.rungs: frozenset[Rung] = frozenset({"regenerate"})
        self.briefs: list[Brief] = []

    async def revise(self, brief: Brief, scout: Scout | None = None) -> Revision | None:
        """The next answer for the brief's step; no page is looked at."""
        del scout
        self.briefs.append(brief)
        left = self._answers.get(brief.step.path)
        if not left:
            return None if self._cannot else revision_of(brief, brief.step.segment or ())
        answer = left.popleft()
        if callable(answer):
            answer = answer(brief)
        if answer is None or isinstance(answer, Revision):
            return answer
        return revision_of(brief, answer)


def revision_of(brief: Brief, segment: tuple[Action, ...]) -> Revision:
    """A revision to this segment that begins where DESIGN section 12 says a revision begins."""
    first_wrong, redo_from = where_to_begin(brief)
    return Revision(
        step=brief.step.path,
        segment=segment,
        first_wrong=min(first_wrong, max(len(segment) - 1, 0)),
        redo_from=min(redo_from, len(segment)),
        cause=brief.drift,
        author="scripted",
        reason="from a script",
    )


def where_to_begin(brief: Brief) -> tuple[int, int]:
    """The first wrong action of a brief's segment, and the action to redo from, as indices.

    The action that failed is the first wrong one, and the page stands where it was to be made: what
    was rightly done before it stays done. When all actions were carried out, an invalid output is
    the fault of its read; anything else that of the last document change, so that it is loaded
    again. Which click changed the document a brief does not tell: only a goto is taken for one.
    """
    segment = brief.step.segment or ()
    if brief.failed_index is not None:
        return brief.failed_index, brief.failed_index
    wanted: tuple[type[Action], ...] = (Read,) if brief.drift == "output_invalid" else (Goto,)
    for index in reversed(range(len(segment))):
        if isinstance(segment[index], wanted):
            return index, index
    return 0, 0
