"""What stands before a page or lies over it: banners, newsletters, interstitials."""

from __future__ import annotations

from webagent.core.action import Click, targets_of
from webagent.core.likeness import FAMILIES
from webagent.core.revision import Revision
from webagent.core.sighting import Element, Survey
from webagent.core.wording import closes, concepts, is_committing
from webagent.planners.local.situation import Situation, needed
from webagent.ports import Scout

# A page of few controls with one way on is no page of the errand.
FEW_CONTROLS = 8


async def over_the_page(situation: Situation, _scout: Scout) -> Revision | None:
    """Close what lies over the page, by the control that agrees to least."""
    at = situation.at
    here = situation.here
    if at is None or not here.overlay:
        return None
    action = situation.segment[at] if at < len(situation.segment) else None
    inside = [e for e in here.elements if e.row == here.overlay]
    wanted = [e for t in (targets_of(action) if action else ()) for e in situation.own(t, here)]
    if wanted and all(e in inside for e in wanted):
        return None  # what is wanted is in it
    ranked = sorted(
        (e for e in inside if e.shown and e.enabled and e.role in FAMILIES[0] and _closes(e)),
        key=lambda e: -_closes(e),
    )
    for element in ranked:
        target = situation.target_for(element, here)
        if target is None:
            continue
        # Closing it may load the page anew: what was filled in on it is filled in after that.
        start = situation.entered_from(at)
        click = Click(target=target, optional=True)
        found = situation.revision(
            situation.with_put_in(start, click), start,
            f"something lay over the page: click {target}",
        )  # fmt: skip
        if found is not None:
            return found
    return None


def _closes(element: Element) -> int:
    return max(
        closes(element.name), closes(element.attrs.get("aria-label", "")),
        closes(element.attrs.get("title", "")),
    )  # fmt: skip


async def before_the_page(situation: Situation, _scout: Scout) -> Revision | None:
    """Go on from a page that was put before the one that was meant."""
    index = _where_it_stands(situation)
    if situation.at is not None and any(
        situation.there(t, situation.here)
        for action in situation.segment[index:]
        for t in needed(action)
    ):
        return None
    commits = [i for i, a in enumerate(situation.segment) if a.verb == "commit"]
    if commits and index > commits[0]:
        return None
    way_on = _way_on(situation.here)
    if way_on is None or (
        situation.brief.step.effect == "none" and way_on.method.upper() == "POST"
    ):
        return None
    target = situation.target_for(way_on, situation.here)
    before = situation.segment[index - 1] if index else None
    if target is None or (isinstance(before, Click) and before.target.source == target.source):
        return None  # it led back here
    click = Click(target=target, optional=True)
    return situation.revision(
        situation.with_put_in(index, click), index, f"a page stood before it: click {target}"
    )


def _where_it_stands(situation: Situation) -> int:
    """The action before which the page stands: the failing one, or all that only look at it."""
    if situation.at is not None:
        return situation.at
    index = len(situation.segment)
    turned = situation.turned_before(index)
    while index > turned + 1 and situation.segment[index - 1].verb in ("read", "wait", "scroll"):
        index -= 1
    return index


def _way_on(here: Survey) -> Element | None:
    """The one control of a page of few controls that leads on."""
    acting = [
        e for e in here.elements
        if e.shown and e.enabled and e.role in FAMILIES[0] and not _is_chrome(e)
    ]  # fmt: skip
    fields = [e for e in here.elements if e.shown and e.role in FAMILIES[1]]
    if not acting or len(acting) > FEW_CONTROLS or len(fields) > 1:
        return None
    on = [e for e in acting if concepts(e.name) & {"next", "close", "product", "home"}
          and concepts(e.name) & {"next", "close"} and not is_committing(e.name)]  # fmt: skip
    return on[0] if len(on) == 1 else None


def _is_chrome(element: Element) -> bool:
    """Whether an element belongs to the frame of every page: navigation, header, footer."""
    roles = {c.split(" ", 1)[0] for c in element.container}
    return bool(roles & {"navigation", "nav", "header", "banner", "footer", "contentinfo"})
