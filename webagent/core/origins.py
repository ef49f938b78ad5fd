"""Where a step works, as far as its literal URLs tell, and the sign-in that it therefore needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from webagent.core.action import Action, Commit, Goto
from webagent.core.plan import Step
from webagent.core.request_rules import origin_of
from webagent.core.scopes import Draft, Faults

_FIXED_ORIGIN = re.compile(r"(?P<origin>https?://[^/{}?#\s]+)([/?#].*)?", re.DOTALL | re.IGNORECASE)


def gotos(segment: Sequence[Action] | None) -> Iterator[tuple[int, Goto]]:
    """The gotos of a segment with their indexes, a committing one included."""
    for index, action in enumerate(segment or ()):
        if isinstance(action, Goto):
            yield index, action
        elif isinstance(action, Commit) and isinstance(action.action, Goto):
            yield index, action.action


def fixed_origin(url: str) -> str | None:
    """The origin of a URL whose host is written out, though its path may hold templates."""
    found = _FIXED_ORIGIN.fullmatch(url.strip())
    try:
        return origin_of(found["origin"]) or None if found else None
    except ValueError:
        return None


def set_origins(drafts: dict[str, Draft]) -> None:
    """Tell each step's origins: its scope, else its chain's literal gotos (probe and reset too)."""
    for draft in drafts.values():
        origins: set[str] = set()
        known = True
        for link in chain_of(draft, drafts):
            mine, certain = _own_origins(link.step)
            origins |= mine
            known = known and certain
        draft.origins, draft.origins_known = frozenset(origins), known and bool(origins)


def _own_origins(step: Step) -> tuple[set[str], bool]:
    if step.scope.origins is not None:
        return set(step.scope.origins), True
    found: set[str] = set()
    certain = True
    probe = step.probe.segment if step.probe is not None else ()
    for segment in (step.segment, probe, step.reset):
        for _, goto in gotos(segment):
            origin = fixed_origin(goto.url)
            if origin is None:
                certain = False
            else:
                found.add(origin)
    return found, certain


def chain_of(draft: Draft, drafts: dict[str, Draft]) -> list[Draft]:
    """The step and those whose page it goes on in, itself first; a ring ends where it closes."""
    chain = [draft]
    while (before := chain[-1].continues) is not None and before in drafts:
        if drafts[before] in chain:
            break
        chain.append(drafts[before])
    return chain


def add_sign_ins(drafts: dict[str, Draft], faults: Faults) -> None:
    """Give each step with an effect the sign-in of its origin; a step of none by ``session``."""
    sign_ins = [d for d in drafts.values() if d.step.do == "sign_in"]
    for draft in drafts.values():
        said, owner, at = _session(draft)
        if said == "none" or draft.broken:
            continue
        if said is not None:
            chosen = _named_sign_in(owner, said, at, drafts, faults)
        elif draft.step.effect == "none" or draft.step.do == "sign_in":
            continue
        else:
            chosen = _sign_in_by_origin(draft, sign_ins, drafts, faults)
        if chosen is None or chosen is draft:
            continue
        # The page that it goes on in has to be that of a signed-in visitor as well.
        for link in chain_of(draft, drafts):
            if link.sign_in is None and link.step.do != "sign_in" and _session(link)[0] is None:
                link.sign_in = chosen.path
                link.needs.setdefault(chosen.path)
        draft.sign_in = chosen.path
        draft.needs.setdefault(chosen.path)


def _session(draft: Draft) -> tuple[str | None, Draft, str]:
    """What ``session`` says at the step or at the nearest ``use`` around it, and where."""
    if draft.step.session is not None:
        return draft.step.session, draft, f"{draft.at}.session"
    place = draft.place
    while place.use is not None and place.parent is not None:
        if place.use.session is not None:
            around = Draft(place.parent, draft.name, draft.step)
            return place.use.session, around, f"{place.at}.session"
        place = place.parent
    return None, draft, ""


def _named_sign_in(
    owner: Draft, said: str, at: str, drafts: dict[str, Draft], faults: Faults
) -> Draft | None:
    path = owner.place.join(said.replace(".", "/"))
    inside = [d for d in drafts.values() if d.path == path or d.path.startswith(path + "/")]
    found = [d for d in inside if d.step.do == "sign_in"]
    if len(found) == 1:
        return found[0]
    if faults.known_bad(owner.place.recipe, f"steps.{said.split('.', maxsplit=1)[0]}"):
        return None
    known = [d.path.replace("/", ".") for d in drafts.values() if d.step.do == "sign_in"]
    message = f"{said!r} is no sign_in step" if inside else f"no step is named {said!r}"
    hint = "sign_in steps: " + ", ".join(known) if known else "session: none opts out"
    faults.add(owner.place.recipe, at, message, hint, "session")
    return None


def _sign_in_by_origin(
    draft: Draft, sign_ins: list[Draft], drafts: dict[str, Draft], faults: Faults
) -> Draft | None:
    before = [d for d in sign_ins if not _depends(d, draft, drafts)]
    if not before:
        return None
    at, recipe = draft.at, draft.place.recipe
    if not draft.origins:
        if any(d.broken for d in sign_ins):
            return None
        faults.add(
            recipe, at, "it cannot be told at which origin this step works",
            "say session: STEP, session: none, or scope: {origins: [..]}", "session",
        )  # fmt: skip
        return None
    fitting = [d for d in before if d.origins & draft.origins]
    near = [d for d in fitting if d.place is draft.place] or fitting
    if len(near) > 1:
        names = ", ".join(d.path.replace("/", ".") for d in near)
        faults.add(
            recipe, at, f"several sign_in steps fit: {names}", "say session: STEP", "session"
        )
        return None
    return near[0] if near else None


def _depends(one: Draft, on: Draft, drafts: dict[str, Draft]) -> bool:
    """Whether a step needs another, directly or not."""
    seen: set[str] = set()
    todo = [one.path]
    while todo:
        path = todo.pop()
        if path == on.path:
            return True
        if path in drafts and path not in seen:
            seen.add(path)
            todo.extend((*drafts[path].needs, *drafts[path].needs_any))
    return False
