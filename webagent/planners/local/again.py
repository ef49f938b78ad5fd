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


async def again(situation: Situation, _scout: Scout | None = None) -> Revision | None:
    """The failing action with each missing target found again; None if one of them is not."""
    at = situation.at
    if at is None or at >= len(situation.segment):
        return None
    action = situation.segment[at]
    if isinstance(action, Read):
        return None  # what is read is found again as a whole (`reads`)
    found = found_again(situation, action, situation.here)
    if not found:
        return None
    new = with_targets(action, {old.source: new for old, new, _ in found})
    told = ", ".join(f"{old} is now {new}" for old, new, _ in found)
    return situation.revision(
        (*situation.segment[:at], new, *situation.segment[at + 1 :]),
        at,
        f"found again: {told}",
        healed=[(old.source, new.source) for old, new, _ in found],
    )


def found_again(
    situation: Situation, action: Action, survey: Survey
) -> list[tuple[Target, Target, Element]]:
    """(old, new, element) for each missing target of an action; empty unless all are found."""
    verb = action.verb
    out: list[tuple[Target, Target, Element]] = []
    for target in targets_of(action):
        if situation.there(target, survey):
            continue
        match = situation.again(target, verb, survey)
        new = situation.target_for(match.element, survey) if match is not None else None
        if match is None or new is None:
            return []
        if new.source != target.source:
            out.append((target, new, match.element))
    return out


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
