"""Finding a target again on the page as it stands: renamed, moved, wrapped, told apart anew."""

from __future__ import annotations

from collections.abc import Mapping

from webagent.core.action import Action, Commit, Read, targets_of
from webagent.core.likeness import ENOUGH, candidates
from webagent.core.revision import Revision
from webagent.core.sighting import Element, Survey
from webagent.core.target import Target
from webagent.planners.local.situation import Situation
from webagent.ports import Scout

_TURNING = frozenset({"click", "double_click", "press", "commit", "goto", "back", "reload"})


async def again(situation: Situation, _scout: Scout | None = None) -> Revision | None:
    """The failing action with each missing target found again; None if one of them is not."""
    at = situation.at
    if at is None or at >= len(situation.segment):
        return None
    action = situation.segment[at]
    if isinstance(action, Read):
        return None  # what is read is found again as a whole (`reads`)
    if situation.here.overlay and situation.brief.rung == "find_again":
        return None  # first what lies over the page goes
    found = found_again(situation, action, situation.here)
    if not found:
        return None
    segment = list(situation.segment)
    # What else is to be done on this page may find by its text what it does not mean.
    for index in range(at + 1, len(segment)):
        if segment[index - 1].verb in _TURNING or segment[index].verb == "goto":
            break
        found += [
            one for one in found_again(situation, segment[index], situation.here)
            if situation.contradicted(one[0], situation.here)
        ]  # fmt: skip
    new = {old.source: target for old, target, _ in found}
    if len({e.ref for _, _, e in found}) < len(found):
        return None  # two that are found in one are not found
    for index in range(at, len(segment)):
        segment[index] = with_targets(segment[index], new)
    told = ", ".join(f"{old} is now {target}" for old, target, _ in found)
    return situation.revision(
        segment, at, f"found again: {told}",
        healed=[(old.source, target.source) for old, target, _ in found],
    )  # fmt: skip


def found_again(
    situation: Situation, action: Action, survey: Survey
) -> list[tuple[Target, Target, Element]]:
    """(old, new, element) for each missing target of an action; empty unless all are found."""
    verb = action.verb
    out: list[tuple[Target, Target, Element]] = []
    used: set[int] = set()
    for target in targets_of(action):
        if situation.there(target, survey) and not situation.contradicted(target, survey):
            used.update(e.ref for e in situation.own(target, survey) if e.shown)
            continue
        match = situation.again(target, verb, survey)
        new = situation.target_for(match.element, survey) if match is not None else None
        if match is None or new is None:
            return []
        if new.source != target.source:
            out.append((target, new, match.element))
    # Two values do not go into one field.
    return [] if used & {e.ref for _, _, e in out} else out


def with_targets(action: Action, new: Mapping[str, Target]) -> Action:
    """An action with targets replaced, by the text of the old ones."""
    if isinstance(action, Commit):
        inner = with_targets(action.action, new)
        return action.model_copy(update={"action": inner})
    update: dict[str, object] = {}
    if hasattr(action, "entries"):
        update["entries"] = tuple(
            e.model_copy(update={"target": new.get(e.target.source, e.target)})
            for e in action.entries
        )
    for name in ("target", "to"):
        target = getattr(action, name, None)
        if isinstance(target, Target) and target.source in new:
            update[name] = new[target.source]
            # A region of the old page narrows nothing on the new one.
            update["within"] = None
    return action.model_copy(update=update)


def what_is_missing(situation: Situation) -> str:
    """Why nothing is proposed, for a person: what is missed and what comes nearest."""
    at = situation.at
    if at is None or at >= len(situation.segment):
        return "what the step expected is not on this page, and no way to it was found"
    action = situation.segment[at]
    for target in targets_of(action):
        if situation.there(target, situation.here):
            continue
        near = [
            m for w in situation.wanted(target, action.verb)
            for m in candidates(w, situation.here.elements)[:3]
        ]  # fmt: skip
        near.sort(key=lambda m: -m.score)
        if not near:
            return f"nothing on this page resembles {target}"
        told = ", ".join(
            f'{m.element.role or m.element.tag} "{m.element.name or m.element.text}"'
            f" ({m.score:.2f})"
            for m in near[:2]
        )
        if near[0].score < ENOUGH:
            return f"nothing on this page resembles {target} enough: {told}"
        return f"more than one thing on this page may be {target}: {told}"
    return "no way past this page was found"
