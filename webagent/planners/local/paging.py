"""A page more or less than before: one more "continue", one less, fields that moved to a later one.

The step stays one step with its id and outputs; its segment takes the pages as they are now.
"""

from __future__ import annotations

from webagent.core.action import Action, Click, Fill, Select
from webagent.core.likeness import FAMILIES
from webagent.core.revision import Revision
from webagent.core.sighting import Element
from webagent.core.target import Target
from webagent.core.wording import goes_on, is_committing
from webagent.planners.local.again import found_again
from webagent.planners.local.situation import Situation, needed
from webagent.ports import Scout


def _here(situation: Situation, action: Action) -> bool:
    """Whether all that an action needs is on the page, by its text or found again."""
    targets = needed(action)
    if not targets:
        return False
    missing = [t for t in targets if not situation.there(t, situation.here)]
    return not missing or bool(found_again(situation, action, situation.here))


async def fewer_pages(situation: Situation, _scout: Scout) -> Revision | None:
    """Leave out a click that led on to a page which is here already."""
    at = situation.at
    if at is None or at + 1 >= len(situation.segment):
        return None
    action = situation.segment[at]
    if not isinstance(action, Click) or situation.again(action.target, "click", situation.here):
        return None
    led_on = goes_on(action.target.name or "") or situation.was_link(action.target)
    following = situation.segment[at + 1]
    if not led_on or following.verb == "commit" or not _here(situation, following):
        return None
    return situation.revision(
        (*situation.segment[:at], *situation.segment[at + 1 :]),
        at,
        f"a page less: {action.target} is not needed any more",
    )


async def later(situation: Situation, _scout: Scout) -> Revision | None:
    """Put off what is not on this page yet, and do first what is."""
    at = situation.at
    if at is None or at >= len(situation.segment):
        return None
    action = situation.segment[at]
    if isinstance(action, Fill | Select):
        here = [e for e in action.entries if _entry_here(situation, action, e.target)]
        there = [e for e in action.entries if e not in here]
        if here and there:
            now = action.model_copy(update={"entries": tuple(here)})
            put_off = action.model_copy(update={"entries": tuple(there)})
            return situation.revision(
                (*situation.segment[:at], now, put_off, *situation.segment[at + 1 :]),
                at,
                f"{', '.join(str(e.target) for e in there)}: not on this page",
            )
    if action.verb not in ("fill", "select", "check", "uncheck", "type"):
        return None
    last = at + 1
    while last < len(situation.segment) and situation.segment[last].verb in (
        "fill", "select", "check", "uncheck", "type",
    ) and _here(situation, situation.segment[last]):  # fmt: skip
        last += 1
    if last == at + 1:
        return None
    before = situation.segment[at + 1 : last]
    return situation.revision(
        (*situation.segment[:at], *before, action, *situation.segment[last:]),
        at,
        "a field moved to a later page: what is here is filled in first",
    )


def _entry_here(situation: Situation, action: Action, target: Target) -> bool:
    return (
        situation.there(target, situation.here)
        or situation.again(target, action.verb, situation.here) is not None
    )


async def one_more_page(situation: Situation, _scout: Scout) -> Revision | None:
    """Go on from a page of the same form which does not hold what comes next."""
    at = situation.at
    if at is None or at >= len(situation.segment):
        return None
    action = situation.segment[at]
    if action.verb == "goto" or not needed(action):
        return None
    buttons = [e for e in situation.here.elements if _leads_on(e, situation)]
    if len(buttons) != 1:
        return None
    target = situation.target_for(buttons[0], situation.here)
    before = situation.segment[at - 1] if at else None
    if target is None or (isinstance(before, Click) and before.target.source == target.source):
        return None  # it led back here: the page does not take what was filled in
    return situation.revision(
        situation.with_put_in(at, Click(target=target)), at, f"a page more: click {target}"
    )


def _leads_on(element: Element, situation: Situation) -> bool:
    """Whether a control goes on to the form's next page, and surely does nothing more.

    A pager of a list also says "next": only what sends a form, or stands in one, leads on.
    """
    if not (element.shown and element.enabled and element.role in FAMILIES[0]):
        return False
    if not goes_on(element.name) or is_committing(element.name):
        return False
    if situation.brief.step.effect == "none" and element.method.lower() == "post":
        return False
    return element.submits or element.form > 0 or element.role == "button"
