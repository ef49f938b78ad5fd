"""The local planner: the ways in which a segment is made fit for a changed page, in their order.

Each way is a function of the situation that gives a revision or None; the first revision that was
not tried before is proposed. Nothing here sends anything: what is proposed is performed by the
runner under the same checks as the recipe's own actions, and whatever drifts next is asked about
next, so that a page that moved twice is two small revisions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from webagent.core.brief import Brief
from webagent.core.page import Drift
from webagent.core.revision import Cannot, Revision, Rung
from webagent.planners.local import controls, exploring, obstacles, paging, places, reads
from webagent.planners.local.again import again, what_is_missing
from webagent.planners.local.situation import Situation
from webagent.ports import Scout

Way = Callable[[Situation, Scout], Awaitable[Revision | None]]

# The cheapest first, and what only looks before what clicks. A page that went on to something else
# is explored last: it costs pages.
_ANEW: tuple[Way, ...] = (
    obstacles.over_the_page, again, controls.changed, controls.hidden, reads.anew,
    paging.fewer_pages, paging.later, obstacles.before_the_page, paging.one_more_page,
    places.moved_place, exploring.moved_page,
)  # fmt: skip
# On a page that says itself that it is gone nothing is found, whatever resembles what.
_GONE: tuple[Way, ...] = (exploring.moved_page,)
# A page that holds what was expected of it, and reads otherwise, is the right page.
_READS: tuple[Way, ...] = (reads.anew, obstacles.before_the_page)
# What was refused, or came over the page, is no sign that the page has moved.
_UNEXPECTED: tuple[Way, ...] = (obstacles.over_the_page, again, controls.hidden)
_PAGES: tuple[Way, ...] = (paging.fewer_pages, paging.later, paging.one_more_page)
_BY_DRIFT: dict[Drift, tuple[Way, ...]] = {
    "output_invalid": _READS, "unexpected_event": _UNEXPECTED,
}  # fmt: skip
ERROR = 400


class LocalPlanner:
    """`ports.Planner` without a model."""

    rungs: frozenset[Rung] = frozenset({"find_again", "regenerate", "split"})

    async def revise(self, brief: Brief, scout: Scout) -> Revision | Cannot:
        """A revision of the brief's step, or why there is none."""
        here = await scout.here()
        situation = Situation(brief, here)
        ways: tuple[Way, ...] = (again,)
        if brief.rung == "regenerate":
            gone = here.status >= ERROR or brief.drift == "page_moved"
            ways = _GONE if gone else _BY_DRIFT.get(brief.drift, _ANEW)
        elif brief.rung == "split":
            ways = _PAGES
        for way in ways:
            found = await way(situation, scout)
            if found is not None:
                return found
        return Cannot(reason=what_is_missing(situation))
