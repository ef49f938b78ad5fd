"""How much an element of today looks like what a target looked like when it was last found.

A weighted comparison of what identifies a control to a person (role, name, label, what stands
before it) and to the page's author (id, name, test id, class, address, place). Only what the
sighting knows is compared, so that a bare target (its role and name as written) can be looked for
too. The idea of weighing many weak properties is that of similarity-based locators (M. Nass et al.,
"Similarity-based web element localization for robust test automation", TOSEM 2023); the weights
here are our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from webagent.core.request_rules import url_parts
from webagent.core.sighting import Element
from webagent.core.target import Target
from webagent.core.wording import alike, concepts, fold, is_for_good

# Roles that a redesign exchanges for one another; a control never turns into one of another family.
FAMILIES: tuple[frozenset[str], ...] = (
    frozenset({"button", "link", "menuitem", "tab", "summary", "option"}),
    frozenset({"textbox", "searchbox", "combobox", "spinbutton", "listbox", "slider", "date"}),
    frozenset({"checkbox", "radio", "switch"}),
)
ENOUGH = 0.58
MARGIN = 0.08
LIKELY = 0.4
# A name that says the same leaves little doubt: then less of the rest has to agree.
SAME_NAME = 0.8
OTHERWISE = 0.2

_WEIGHTS = {
    "name": 5.0, "label": 2.0, "placeholder": 1.0, "text": 1.5, "id": 2.0, "test": 3.0,
    "attr_name": 3.0, "autocomplete": 1.5, "itemprop": 3.0, "class": 1.5, "href": 2.5, "near": 1.5,
    "container": 1.0, "place": 0.75, "tag": 0.75, "type": 0.75,
    "submits": 1.0, "action": 2.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate with its score (0 to 1), that of the runner-up, and what agreed."""

    element: Element
    score: float
    runner_up: float = 0.0
    agreed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for: a sighting with today's values put in, or a bare target.

    ``must_say``: today's values that the candidate has to show (in name, text, href or what stands
    before it). ``commits``: the action is the commit, so that its name may be committing.
    ``submits``: it sent a form, which a link to another page does not do.
    """

    element: Element
    must_say: tuple[str, ...] = ()
    commits: bool = False
    submits: bool = False
    roles: frozenset[str] = field(default_factory=frozenset)


def family(role: str) -> frozenset[str]:
    """The roles that may stand for one another."""
    return next((f for f in FAMILIES if role in f), frozenset({role}))


def _may_be(was: str, role: str) -> bool:
    """Whether a role may stand for another: a control for its like, a text for any text."""
    if not was or any(was in f for f in FAMILIES):
        return not was or role in family(was)
    return not any(role in f for f in FAMILIES[1:])


def texts(one: str, other: str) -> float:
    """How alike two short texts are, by letters or by what they mean, from 0 to 1.

    Letters count only from half on: below, likeness is chance.
    """
    a, b = fold(one), fold(other)
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    letters = SequenceMatcher(None, a, b, autojunk=False).ratio()
    words = " ".join(sorted(a.split())), " ".join(sorted(b.split()))
    letters = max(letters, 0.95 * SequenceMatcher(None, *words, autojunk=False).ratio())
    found = max(0.0, 2 * letters - 1, alike(one, other))
    said, others = concepts(one), concepts(other)
    # "Sign in" and "Sign up" share their letters and mean two things.
    return min(found, OTHERWISE) if said and others and not said & others else found


def likeness(wanted: Element, seen: Element) -> tuple[float, tuple[str, ...]]:
    """The score of one candidate and what agreed; 0 for another family of roles."""
    if not _may_be(wanted.role, seen.role):
        return 0.0, ()
    parts = dict(_compared(wanted, seen))
    if not parts:
        return 0.0, ()
    whole = sum(_WEIGHTS[name] for name in parts)
    score = sum(_WEIGHTS[name] * value for name, value in parts.items()) / whole
    agreed = tuple(name for name, value in parts.items() if value >= SAME_NAME)
    named = max(parts.get("name", 0.0), parts.get("label", 0.0))
    strong = {"test", "attr_name", "itemprop", "id"} & set(agreed)
    if parts.get("href") == 1.0 and url_parts(wanted.href).path.strip("/"):
        strong.add("href")
    if named >= SAME_NAME:
        # A name of two or three words that says the same is worth more than moved furniture.
        score = max(score, 0.5 + 0.4 * named * score + 0.1 * named)
    elif strong and parts.get("tag", 0.0) == 1.0:
        score = max(score, 0.45 + 0.45 * score)
    return min(score, 1.0), agreed


def _compared(w: Element, s: Element) -> Iterable[tuple[str, float]]:
    if w.name:
        yield "name", max(texts(w.name, s.name), 0.9 * texts(w.name, s.label))
    if w.label and fold(w.label) != fold(w.name):
        yield "label", max(texts(w.label, s.label), 0.9 * texts(w.label, s.name))
    if w.placeholder and fold(w.placeholder) != fold(w.name):
        yield "placeholder", texts(w.placeholder, s.placeholder)
    if w.text and fold(w.text) != fold(w.name):
        yield "text", max(texts(w.text, s.text), shape_alike(w.text, s.text))
    for attr, part in (
        ("id", "id"), ("data-testid", "test"), ("name", "attr_name"),
        ("autocomplete", "autocomplete"), ("itemprop", "itemprop"),
    ):  # fmt: skip
        if (value := w.attrs.get(attr, "")) and not _is_made_up(value):
            yield part, _idents(value, s.attrs.get(attr, ""))
    if classes := _classes(w.attrs.get("class", "")):
        others = _classes(s.attrs.get("class", ""))
        yield "class", len(classes & others) / len(classes | others)
    if w.href:
        yield "href", _paths(w.href, s.href)
    if w.near:
        yield "near", texts(w.near, s.near)
    if w.container:
        yield "container", _chains(w.container, s.container)
    if w.place != (0.0, 0.0):
        away = abs(w.place[0] - s.place[0]) + abs(w.place[1] - s.place[1])
        yield "place", max(0.0, 1 - 2 * away)
    yield "tag", float(w.tag == s.tag) if w.tag else 0.5
    if w.type:
        yield "type", float(w.type == s.type)
    if w.submits:
        yield "submits", float(s.submits)
    if action := w.attrs.get("action", ""):
        yield "action", float(action == s.attrs.get("action", ""))


def _is_made_up(ident: str) -> bool:
    """Whether an id was made by a machine: long digits, hex, a framework's counter."""
    return bool(re.search(r"\d{3,}|[0-9a-f]{8,}|^:r|^ember|^react|^mui|__[A-Za-z0-9]{5,}$", ident))


def _idents(one: str, other: str) -> float:
    if not other:
        return 0.0
    if one == other:
        return 1.0
    a, b = (re.sub(r"([a-z])([A-Z])", r"\1 \2", i).replace("_", " ") for i in (one, other))
    found = texts(a, b)
    return found if found >= 0.6 else 0.0


def _classes(text: str) -> frozenset[str]:
    return frozenset(c for c in text.split() if not _is_made_up(c))


def _paths(one: str, other: str) -> float:
    if not other:
        return 0.0
    if one == other:
        return 1.0
    a, b = url_parts(one), url_parts(other)
    if a.path == b.path and a.query == b.query:
        return 1.0
    x, y = (re.findall(r"[^/]+", re.sub(r"\d+", "#", p.path)) for p in (a, b))
    if not x or not y:
        return 0.0
    same = len(set(x) & set(y)) / max(len(x), len(y))
    last = texts(x[-1], y[-1])
    return max(0.0, 0.9 * (0.5 * same + 0.5 * last))


def _chains(one: Sequence[str], other: Sequence[str]) -> float:
    if not other:
        return 0.0
    roles = [c.split(" ", 1)[0] for c in one], [c.split(" ", 1)[0] for c in other]
    nearest = float(one[0] == other[0]) * 0.3 + float(roles[0][0] == roles[1][0]) * 0.3
    common = len(set(roles[0]) & set(roles[1])) / max(len(set(roles[0])), len(set(roles[1])))
    return min(1.0, nearest + 0.4 * common)


_MONEY = re.compile(
    r"(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF)\b)\s*\d|\d\s*(?:[€$£¥]|(?:EUR|USD|GBP|CHF)\b)"
)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[./ ](?:\d{1,2}|[A-Za-z]{3,9})[./ ]\d{2,4}\b")


def amounts(text: str) -> int:
    """How many amounts of money a text names."""
    return len(_MONEY.findall(text))


def shape(text: str) -> str:
    """What kind of value a text is: money, date, number, code, word or sentence."""
    plain = text.strip()
    if _MONEY.search(plain):
        return "money"
    if _DATE.search(plain):
        return "date"
    if re.fullmatch(r"[\d.,\s%+-]+", plain) and plain:
        return "number"
    if re.fullmatch(r"(?=.*\d)[A-Za-z0-9/#-]{3,24}", plain):
        return "code"
    return "word" if len(plain.split()) <= 2 else "sentence"


def shape_alike(one: str, other: str) -> float:
    """1 for two values of one telling kind (two prices are alike whatever they say), else 0."""
    kind = shape(one)
    if not other or kind in ("word", "sentence"):
        return 0.0
    return 0.85 if kind == shape(other) else 0.0


def of_target(target: Target) -> Element:
    """A bare target as an element to look for: what its text says and no more."""
    attrs: dict[str, str] = {}
    tag = ""
    if target.test_id:
        attrs["data-testid"] = target.test_id
    if target.css:
        last = re.split(r"[\s>+~]+", target.css.strip())[-1]
        if found := re.match(r"^[a-zA-Z][\w-]*", last):
            tag = found[0].lower()
        if ids := re.findall(r"#([\w-]+)", last):
            attrs["id"] = ids[-1]
        if classes := re.findall(r"\.([A-Za-z_][\w-]*)", last):
            attrs["class"] = " ".join(classes)
        for name, value in re.findall(r"\[([\w-]+)=[\"']?([^\"'\]]*)", last):
            attrs[name] = value
    name = target.name or target.label or ""
    return Element(
        tag=tag, role=target.role or "", name=name, label=target.label or "",
        placeholder=target.placeholder or "", text=target.text or "", attrs=attrs,
        type=attrs.pop("type", ""),
    )  # fmt: skip


def says(element: Element, value: str) -> bool:
    """Whether a candidate shows one of today's values, as a person or in its address."""
    wanted = fold(value)
    shown = (element.name, element.text, element.label, element.near)
    return any(wanted in fold(text) for text in shown) or value in element.href


def candidates(wanted: Wanted, elements: Iterable[Element]) -> list[Match]:
    """Every element that may be meant, best first. None that would commit where none is meant."""
    found: list[Match] = []
    for element in elements:
        if not element.shown or not all(says(element, value) for value in wanted.must_say):
            continue
        if wanted.roles and element.role not in wanted.roles:
            continue
        if _does_otherwise(wanted, element):
            continue
        if not wanted.commits and _commits_more(wanted.element, element):
            continue
        score, agreed = likeness(wanted.element, element)
        if score > 0:
            found.append(Match(element, score, agreed=agreed))
    return sorted(found, key=lambda match: -match.score)


def _does_otherwise(wanted: Wanted, seen: Element) -> bool:
    """Whether a candidate leads away where the wanted one sent a form, or the other way round."""
    if wanted.submits and seen.role == "link" and seen.tag == "a":
        target = seen.href.split("#", 1)
        return bool(target[0]) and len(target) == 1 and target[0].startswith("http")
    if wanted.element.role == "link" and not wanted.submits:
        return seen.submits and seen.method.upper() == "POST"
    return False


def _commits_more(wanted: Element, seen: Element) -> bool:
    """Whether a candidate's name says that it does for good what the wanted one did not."""
    if seen.role not in FAMILIES[0]:
        return False
    more = concepts(seen.name) - concepts(f"{wanted.name} {wanted.text}")
    return is_for_good(" ".join(more)) and not is_for_good(wanted.name or wanted.text)


def best(wanted: Wanted, elements: Iterable[Element]) -> Match | None:
    """The one candidate that is good enough and clearly ahead of all others; else None.

    Two elements that lead to the same address are one candidate.
    """
    found = candidates(wanted, elements)
    if not found or found[0].score < ENOUGH:
        return None
    first = found[0]
    others = [m for m in found[1:] if not _same_link(first.element, m.element)]
    if any(m.score >= LIKELY and _looks_the_same(first.element, m.element) for m in others):
        return None  # what a person could not tell apart, an address behind it does not decide
    runner = others[0].score if others else 0.0
    if first.score - runner < MARGIN:
        return None
    return Match(first.element, first.score, runner, first.agreed)


def _looks_the_same(one: Element, other: Element) -> bool:
    """Whether two controls say the same in the same place."""
    if one.role not in FAMILIES[0] or one.role != other.role or not one.name:
        return False
    return (fold(one.name), one.container) == (fold(other.name), other.container) and (
        one.row == other.row
    )


def _same_link(one: Element, other: Element) -> bool:
    return bool(one.href) and one.href == other.href and one.role == other.role == "link"
