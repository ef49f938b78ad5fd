"""A control that became another: a field a choice, a date three fields, a link a menu's entry."""

from __future__ import annotations

import re
from datetime import date

from webagent.core.action import Action, Check, Click, Entry, Fill, Goto, Select, targets_of
from webagent.core.likeness import ENOUGH, FAMILIES, likeness, texts
from webagent.core.revision import Revision
from webagent.core.sighting import Element
from webagent.core.target import Target, TargetSyntaxError, parse_target
from webagent.core.wording import fold, is_committing, is_harmful_link
from webagent.planners.local.situation import Situation
from webagent.ports import Scout

_DAY = frozenset(["day", "dd", "tag", "jour", "dia", "d"])
_MONTH = frozenset(["month", "mm", "monat", "mois", "mes", "m"])
_YEAR = frozenset(["year", "yyyy", "jahr", "annee", "ano", "y", "yy"])
SAME = 0.7
MOST_OPENERS = 2


async def changed(situation: Situation, _scout: Scout) -> Revision | None:
    """Put the value in by the control that there is now: radio buttons, or a date's three parts."""
    at = situation.at
    if at is None or at >= len(situation.segment):
        return None
    action = situation.segment[at]
    if isinstance(action, Check):
        return _list_instead(situation, at, action)
    if not isinstance(action, Fill | Select):
        return None
    for number, entry in enumerate(action.entries):
        if situation.there(entry.target, situation.here):
            continue
        instead = _choice(situation, entry) or _date_parts(situation, entry)
        if not instead:
            continue
        before, after = action.entries[:number], action.entries[number + 1 :]
        parts: list[Action] = []
        if before:
            parts.append(action.model_copy(update={"entries": before}))
        parts.extend(instead)
        if after:
            parts.append(action.model_copy(update={"entries": after}))
        # What stands before it was filled in already by the action that failed there.
        return situation.revision(
            (*situation.segment[:at], *parts, *situation.segment[at + 1 :]),
            at,
            f"{entry.target} is now {', '.join(_told(i) for i in instead)}",
        )
    return None


def _list_instead(situation: Situation, at: int, action: Check) -> Revision | None:
    """Choose from a list what was a radio button, by the button's name."""
    bound = situation.bound(action.target)
    if bound is None or bound.role != "radio" or not bound.name:
        return None
    lists = [
        e for e in situation.here.elements
        if e.shown and e.tag == "select" and fold(bound.name) in {fold(o) for o in e.options}
    ]  # fmt: skip
    target = situation.target_for(lists[0], situation.here) if len(lists) == 1 else None
    if target is None:
        return None
    chosen = Select(entries=(Entry(target=target, value=action.target.name),))
    return situation.revision(
        (*situation.segment[:at], chosen, *situation.segment[at + 1 :]), at,
        f"{action.target} is now an option of {target}",
    )  # fmt: skip


def _told(action: Action) -> str:
    return f"{action.verb} {', '.join(str(t) for t in targets_of(action))}"


def _choice(situation: Situation, entry: Entry) -> list[Action]:
    """The radio button that says today's value, in a group that is named like the field."""
    value = situation.text_of(entry.value)
    if not value:
        return []
    radios = [e for e in situation.here.elements if e.role == "radio"]
    named = [e for e in radios if _group_is(situation, e, entry.target)]
    hits = [
        e for e in named
        if fold(value) in (fold(e.name), fold(e.label), fold(e.attrs.get("value", "")))
    ]  # fmt: skip
    if len(hits) != 1:
        return []
    target = situation.target_for(hits[0], situation.here)
    if target is None:
        return []
    if isinstance(entry.value, str) and "{{" in entry.value:
        # The choice follows the value: tomorrow it is another radio button.
        role_name = f'radio "{entry.value}"'
        try:
            target = parse_target(role_name)
        except TargetSyntaxError:
            return []
        if not situation.there(target, situation.here):
            return []
    return [Check(target=target)]


def _group_is(situation: Situation, element: Element, target: Target) -> bool:
    """Whether a control's group is called as the target was."""
    names = [w.element.name or w.element.label for w in situation.wanted(target, "fill")]
    said = [element.near, element.attrs.get("name", ""), *element.container]
    return any(
        texts(name, s.split(' "', 1)[-1].rstrip('"')) >= SAME for name in names for s in said
    )


def _date_parts(situation: Situation, entry: Entry) -> list[Action]:
    """Fill or choose day, month and year, where there was one date."""
    value = situation.text_of(entry.value)
    found = _as_date(value) if value else None
    if found is None or value is None:
        return []
    parts: dict[str, list[Element]] = {"day": [], "month": [], "year": []}
    for element in situation.here.elements:
        if element.role not in FAMILIES[1] or not element.shown:
            continue
        part = _part_of(element)
        if part and (
            _group_is(situation, element, entry.target) or _named(situation, element, entry)
        ):
            parts[part].append(element)
    if not all(len(elements) == 1 for elements in parts.values()):
        return []
    out: list[Action] = []
    for part, span in (("day", (8, 10)), ("month", (5, 7)), ("year", (0, 4))):
        element = parts[part][0]
        target = situation.target_for(element, situation.here)
        if target is None:
            return []
        made = _part_value(entry.value, value, span, element, found, part)
        if made is None:
            return []
        kind = Select if element.tag == "select" else Fill
        out.append(kind(entries=(Entry(target=target, value=made),)))
    return out


def _named(situation: Situation, element: Element, entry: Entry) -> bool:
    words = set(fold(f"{element.name} {element.attrs.get('name', '')}").split())
    rest = " ".join(words - _DAY - _MONTH - _YEAR)
    names = [w.element.name or w.element.label for w in situation.wanted(entry.target, "fill")]
    return bool(rest) and any(texts(name, rest) >= SAME for name in names)


def _part_of(element: Element) -> str:
    words = set(
        fold(f"{element.name} {element.attrs.get('name', '')} {element.placeholder}").split()
    )
    for part, known in (("day", _DAY), ("month", _MONTH), ("year", _YEAR)):
        if words & known:
            return part
    return ""


def _as_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _part_value(
    raw: object, value: str, span: tuple[int, int], element: Element, day: date, part: str
) -> str | None:
    """One part of the date: as the template's slice, or of a literal its text."""
    start, end = span
    inner = re.fullmatch(r"\s*\{\{(.+)\}\}\s*", raw) if isinstance(raw, str) else None
    text = value[start:end]
    options = [o for o in element.options if o.strip()]
    names = [o for o in options if not re.search(r"\d", o)]
    if part == "month" and len(names) >= 12:
        months = names[-12:]
        if any(re.search(r"['\\{}%]", m) for m in months):
            return None  # a page's text is never made into an expression
        if inner is None:
            return months[day.month - 1]
        listed = ", ".join(f"'{m}'" for m in months)
        return f"{{{{ [{listed}][({inner[1].strip()})[5:7] | int - 1] }}}}"
    bare = bool(options) and str(int(text)) in options
    if inner is None:
        return str(int(text)) if bare else text
    sliced = f"({inner[1].strip()})[{start}:{end}]"
    return f"{{{{ {sliced} | int }}}}" if bare else f"{{{{ {sliced} }}}}"


async def hidden(situation: Situation, _scout: Scout) -> Revision | None:
    """Reach what is there but hidden: a link by its address, anything else by opening its menu."""
    at = situation.at
    if at is None or at >= len(situation.segment):
        return None
    action = situation.segment[at]
    targets = [t for t in targets_of(action) if not situation.there(t, situation.here)]
    if not targets or action.verb == "read":
        return None
    target = targets[0]
    element = _the_hidden(situation, target, action.verb)
    if element is None:
        return None
    leads = action.verb == "click" and element.role == "link" and element.href.startswith("http")
    if leads and not is_harmful_link(element.name, element.href):
        goto = Goto(url=situation.templated(element.href))
        return situation.revision(
            (*situation.segment[:at], goto, *situation.segment[at + 1 :]), at,
            f"{target} is hidden: its address is opened instead",
        )  # fmt: skip
    for opener in _openers(situation, element):
        opens = situation.target_for(opener, situation.here)
        if opens is None:
            continue
        found = situation.revision(
            situation.with_put_in(at, Click(target=opens)), at,
            f"{target} is there but hidden: click {opens}",
        )  # fmt: skip
        if found is not None:
            return found
    return None


def _the_hidden(situation: Situation, target: Target, verb: str) -> Element | None:
    own = [e for e in situation.own(target, situation.here) if not e.shown]
    if len(own) == 1:
        return own[0]
    scored = [
        (likeness(w.element, e)[0], e)
        for w in situation.wanted(target, verb)
        for e in situation.here.elements
        if not e.shown and (not w.roles or e.role in w.roles)
    ]
    good = [e for score, e in scored if score >= ENOUGH]
    return good[0] if len({e.ref for e in good}) == 1 else None


def _openers(situation: Situation, element: Element) -> list[Element]:
    """The shown controls that may open what hides the element; none where many may."""
    buttons = [
        e for e in situation.here.elements
        if e.shown and e.enabled and e.role in FAMILIES[0] and not e.submits
        and not is_committing(e.name)
    ]  # fmt: skip
    named = [
        e for e in buttons
        if e.attrs.get("aria-expanded") == "false" or e.attrs.get("aria-haspopup")
        or e.tag == "summary"
    ]  # fmt: skip
    plain = [e for e in buttons if e.tag == "button" and "navigation" not in e.container]
    found = named or plain
    near = [e for e in found if set(e.container) & set(element.container)] or found
    return near if len(near) <= MOST_OPENERS else []
