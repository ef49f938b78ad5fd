"""Reading anew what is shown otherwise: a table that became cards, classes that were renamed.

Rows are the elements of a page that repeat. A field is found in every row by one selector, by what
its sighting looked like: its kind of value (two prices are alike, whatever they say), its tag, its
classes and the words before it. A list is regenerated only as a whole, and only if every field that
is not optional is found in each row.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from webagent.core.action import Action, FieldRead, ListRead, Read, ReadSpec, TableRead
from webagent.core.likeness import ENOUGH, Wanted, amounts, candidates, likeness, shape, texts
from webagent.core.revision import Revision
from webagent.core.sighting import Element, Survey
from webagent.core.target import Target, TargetSyntaxError, parse_target
from webagent.core.wording import fold
from webagent.planners.local.matching import matches
from webagent.planners.local.situation import Situation
from webagent.ports import Scout

DRAW = 0.05
APART = 0.15
HALF = 0.5
# Of the rows of a list so many must have a field: one product may lack its price.
MOST_WITHOUT = 0.34
LONGEST_LABEL = 30
SHORT = 16


async def anew(situation: Situation, _scout: Scout | None = None) -> Revision | None:
    """The failing read with what it reads found again."""
    at = situation.at
    if at is None:
        if situation.brief.drift != "output_invalid":
            return None
        at = next(
            (
                i
                for i, a in enumerate(situation.segment)
                if isinstance(a, Read) and _blamed(situation, a)
            ),
            None,
        )
    if at is None or at >= len(situation.segment):
        return None
    action = situation.segment[at]
    if not isinstance(action, Read):
        return None
    made = read_anew(situation, action, situation.here)
    if made is None:
        return None
    new, told = made
    segment = (*situation.segment[:at], new, *situation.segment[at + 1 :])
    # A list of many pages stands at its last: it is read from its first again.
    turned = situation.turned_before(at)
    paged = any(s.kind != "field" and s.pages is not None for s in new.outputs.values())
    first = turned if paged and turned >= 0 and segment[turned].verb == "goto" else at
    return situation.revision(segment, first, f"read anew: {told}", first_wrong=at)


def _blamed(situation: Situation, action: Read) -> bool:
    names = {
        getattr(v.expected, "name", "") for v in situation.brief.verdicts if v.judgement != "met"
    }
    return bool(names & set(action.outputs))


def could_read(situation: Situation, action: Action, page: Survey) -> int | None:
    """How tellingly a page holds what a read wants; None if it does not hold it."""
    assert isinstance(action, Read)
    telling = 0
    for spec in action.outputs.values():
        if spec.optional:
            continue
        target = _head(spec)
        if not isinstance(spec, FieldRead) and spec.pages is not None:
            following = spec.pages.next
            if not situation.own(following, page) and not situation.again(following, "click", page):
                return None
        if target is not None and situation.own(target, page):
            telling += 1
            continue
        if _anew(situation, spec, page) is None:
            return None
        telling += 1
    return telling


def read_anew(situation: Situation, action: Read, page: Survey) -> tuple[Read, str] | None:
    """A read of the same outputs from a page as it is; None if one of them is not found."""
    outputs: dict[str, ReadSpec] = {}
    told: list[str] = []
    for name, spec in action.outputs.items():
        found = _anew(situation, spec, page)
        if found is None:
            if _stands(situation, spec, page) or spec.optional:
                outputs[name] = spec
                continue
            return None
        outputs[name] = found
        told.append(f"{name} from {_head(found)}")
    return (action.model_copy(update={"outputs": outputs}), ", ".join(told)) if told else None


def _head(spec: ReadSpec) -> Target | None:
    match spec:
        case FieldRead():
            return spec.target
        case ListRead():
            return spec.each
        case TableRead():
            return spec.table


def _stands(situation: Situation, spec: ReadSpec, page: Survey) -> bool:
    """Whether a read finds what it wants as it is."""
    target = _head(spec)
    if target is None:
        return True
    own = [e for e in situation.own(target, page) if e.shown]
    return bool(own) if isinstance(spec, ListRead) else len(own) == 1


def _anew(situation: Situation, spec: ReadSpec, page: Survey) -> ReadSpec | None:
    match spec:
        case FieldRead():
            return _field(situation, spec, page)
        case ListRead():
            return _list(situation, spec, page)
        case TableRead():
            return _table(situation, spec, page)


def _field(situation: Situation, spec: FieldRead, page: Survey) -> FieldRead | None:
    """One value: what looks as its target did, showing the same kind of value."""
    if spec.target is None or spec.fixed or _stands(situation, spec, page):
        return None
    found: list[tuple[float, Element]] = []
    for wanted in situation.wanted(spec.target, "read"):
        kind = shape(wanted.element.text or wanted.element.name) if wanted.element.text else ""
        for match in candidates(wanted, page.elements):
            shown = match.element.text or match.element.name
            if kind not in ("", "word", "sentence") and shape(shown) != kind:
                continue
            if spec.type in ("money", "number", "date") and not _is_of(spec.type, shown):
                continue
            found.append((match.score, match.element))
    found.sort(key=lambda pair: -pair[0])
    if not found or found[0][0] < ENOUGH:
        return None
    others = [s for s, e in found[1:] if e.ref != found[0][1].ref and e.text != found[0][1].text]
    if others and found[0][0] - others[0] < 0.1:
        return None
    target = situation.target_for(found[0][1], page)
    return spec.model_copy(update={"target": target}) if target is not None else None


def _is_of(kind: str, text: str) -> bool:
    said = shape(text)
    return (
        said == kind
        or (kind == "number" and said in ("number", "code"))
        or (kind == "money" and said == "number")
    )


# -- lists ------------------------------------------------------------------------------------


def _list(situation: Situation, spec: ListRead, page: Survey) -> ListRead | None:
    """A list whose rows are the repeated elements in which every field is found."""
    pages = spec.pages
    if pages is not None and not any(e.shown for e in situation.own(pages.next, page)):
        match = situation.again(pages.next, "click", page)
        following = situation.target_for(match.element, page) if match is not None else None
        if following is not None:
            pages = pages.model_copy(update={"next": following})
    fields = {n: f for n, f in spec.fields.items() if not f.fixed}
    cells = {e.row for e in page.elements if e.tag == "td"}
    heads = {e.row for e in page.elements if e.tag == "th"} - cells
    own = [e for e in situation.own(spec.each, page) if e.shown and e.ref not in heads]
    groups = [own] if own else _row_groups(page)
    found: list[tuple[float, ListRead]] = []
    for rows in groups:
        made = _fields_in(situation, fields, rows, page)
        each = spec.each if own else _selector(rows, page)
        if made is None or each is None:
            continue
        new, score = made
        score += 0.5 * _like_rows(situation, spec.each, rows)
        update = {"each": each, "fields": {**spec.fields, **new}, "pages": pages}
        found.append((score, spec.model_copy(update=update)))
    found.sort(key=lambda pair: -pair[0])
    # A draw is no find.
    if not found or (len(found) > 1 and found[0][0] - found[1][0] < DRAW):
        return None
    return found[0][1] if found[0][1] != spec else None


def _table(situation: Situation, spec: TableRead, page: Survey) -> ListRead | None:
    """Cards with the table's headers before each value, where the table was."""
    headers = tuple(dict.fromkeys((*spec.columns, *spec.types)))
    if not headers or _stands(situation, spec, page):
        return None
    # Types may go by the new name of a column.
    headers = tuple(h for h in headers if h not in spec.columns.values() or h in spec.columns)
    found: list[ListRead] = []
    for rows in _row_groups(page):
        members = _members(page, rows)
        if not all(_labelled(row, h) for row in members.values() for h in headers):
            continue
        each = _selector(rows, page)
        if each is None:
            continue
        fields: dict[str, FieldRead] = {}
        for header in headers:
            name = spec.columns.get(header, header)
            target = _parsed_css({"xpath": _after_label(header)})
            kind = spec.types.get(name, spec.types.get(header, "text"))
            if target is None:
                return None
            fields[name] = FieldRead(target=target, type=kind)
        found.append(
            ListRead(each=each, key=spec.key, fields=fields, pages=spec.pages,
                     optional=spec.optional)
        )  # fmt: skip
    return found[0] if len(found) == 1 else None


def _labelled(row: Sequence[Element], header: str) -> bool:
    return sum(fold(e.near.rstrip(":")) == fold(header) and bool(e.text) for e in row) == 1


def _after_label(label: str) -> str:
    quote = "'" if '"' in label else '"'
    said = f"normalize-space()={quote}{label}{quote} or normalize-space()={quote}{label}:{quote}"
    return f".//*[{said}]/following-sibling::*[1]"


def _parsed_css(raw: object) -> Target | None:
    try:
        return parse_target(raw)
    except TargetSyntaxError:
        return None


def _row_groups(page: Survey) -> list[list[Element]]:
    """Elements that repeat: of one tag and one set of classes, within the same containers."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[Element]] = defaultdict(list)
    holders = {e.row for e in page.elements if e.row}
    for element in page.elements:
        if element.shown and element.ref in holders and element.ref != page.overlay:
            key = (element.tag, element.attrs.get("class", ""), element.container)
            groups[key].append(element)
    heads = {e.row for e in page.elements if e.tag == "th"}
    cells = {e.row for e in page.elements if e.tag == "td"}
    body = ([r for r in rows if r.ref not in heads - cells] for rows in groups.values())
    return [rows for rows in body if rows]


def _members(page: Survey, rows: Sequence[Element]) -> dict[int, list[Element]]:
    """What stands in each row, at any depth, by the row's ref."""
    parents = {e.ref: e.row for e in page.elements}
    refs = {row.ref for row in rows}
    out: dict[int, list[Element]] = {ref: [] for ref in refs}
    for element in page.elements:
        above, steps = element.row, 0
        while above and above not in refs and steps < 20:
            above, steps = parents.get(above, 0), steps + 1
        if above in refs:
            out[above].append(element)
    return out


def _like_rows(situation: Situation, each: Target, rows: Sequence[Element]) -> float:
    scores = [
        likeness(w.element.model_copy(update={"text": "", "name": "", "role": ""}), rows[0])[0]
        for w in situation.wanted(each, "read")
    ]
    return max(scores, default=0.0)


def _fields_in(
    situation: Situation, fields: dict[str, FieldRead], rows: Sequence[Element], page: Survey
) -> tuple[dict[str, FieldRead], float] | None:
    """For each field a selector that finds one element in nearly every row, and how surely."""
    members = _members(page, rows)
    out: dict[str, FieldRead] = {}
    total = 0.0
    taken: set[str] = set()
    for name, field in fields.items():
        if field.target is None:
            out[name] = field
            continue
        if _own_column(situation, field.target, members):
            taken.add(f"{field.target.source}|{field.attr}")
            out[name] = field
            total += 1.0
            continue
        found = _column(situation, name, field, members, taken)
        if found is None:
            continue
        new, score = found
        taken.add(f"{new.source}|{field.attr}")
        out[name] = field.model_copy(update={"target": new})
        total += score
    for name, field in fields.items():
        if name in out:
            continue
        if (target := _said_the_same(situation, field, fields, out)) is not None:
            out[name] = field.model_copy(update={"target": target})
            total += 0.5
        elif field.optional:
            out[name] = field
        else:
            return None
    return {name: out[name] for name in fields}, total / max(1, len(fields))


def _own_column(situation: Situation, target: Target, members: dict[int, list[Element]]) -> bool:
    """Whether a field's own target finds one element in nearly every row."""
    bound = situation.bound(target)
    if bound is None or bound.css is None or len(members) == 0:
        return False
    # Of what stands before the last part of a selector, something has to be in the row.
    *above, _last = re.split(r"\s*[\s>+~]\s*", re.sub(r"\[[^\]]*\]", "", bound.css.strip()))
    for part in above:
        outer = Target(source=part, css=part or "*")
        if part and not any(
            matches(outer, Survey(url="", elements=tuple(row))) for row in members.values()
        ):
            return False
    hits = [len(matches(bound, Survey(url="", elements=tuple(row)))) for row in members.values()]
    return max(hits) <= 1 and sum(hits) >= len(hits) * (1 - MOST_WITHOUT)


def _said_the_same(
    situation: Situation,
    field: FieldRead,
    fields: dict[str, FieldRead],
    found: dict[str, FieldRead],
) -> Target | None:
    """The target of a field that showed the same words when both were last read."""
    if field.attr is not None or field.target is None:
        return None
    text = _text_seen(situation, field.target)
    for name, other in found.items():
        old = fields[name].target
        if text and old is not None and _text_seen(situation, old) == text:
            return other.target
    return None


def _text_seen(situation: Situation, target: Target) -> str:
    return next((s.element.text for s in situation.sightings(target)), "")


def _column(
    situation: Situation, name: str, field: FieldRead, members: dict[int, list[Element]],
    taken: set[str],
) -> tuple[Target, float] | None:  # fmt: skip
    """The selector of one field: tried are those that its likeliest element in the rows offers."""
    wanted = situation.wanted(field.target, "read") if field.target is not None else []
    rows = list(members.values())
    votes: Counter[str] = Counter()
    scores: dict[str, float] = {}
    for row in rows:
        for element in row:
            score = _cell_score(field, name, wanted, element)
            if score <= 0:
                continue
            for selector in _relative(element):
                votes[selector] += 1
                scores[selector] = max(scores.get(selector, 0.0), score)
    good: list[tuple[float, str, frozenset[int]]] = []
    for selector, count in votes.items():
        if f"{selector}|{field.attr}" in taken or count < len(rows) * (1 - MOST_WITHOUT):
            continue
        hits = [[e.ref for e in row if selector in _relative(e)] for row in rows]
        if all(len(found) <= 1 for found in hits):
            refs = frozenset(ref for found in hits for ref in found)
            bonus = 0.02 if "." in selector or "[" in selector else 0.0
            good.append((scores[selector] + bonus, selector, refs))
    good.sort(key=lambda one: -one[0])
    if not good:
        return None
    # Two columns that may be the price are none: neither is taken.
    others = [one for one in good[1:] if not one[2] & good[0][2]]
    if field.type in ("money", "number", "date") and others and good[0][0] - others[0][0] < APART:
        return None
    score, selector, _refs = good[0]
    kind = "xpath" if selector.startswith(".//") else "css"
    target = _parsed_css({kind: selector})
    return None if target is None else (target, score)


def _cell_score(field: FieldRead, name: str, wanted: Iterable[Wanted], element: Element) -> float:
    """How much an element of a row looks like the field: by its value's kind first."""
    text = element.text or element.name
    if field.attr == "href" or field.type == "url":
        if not element.href or element.tag != "a":
            return 0.0
    elif field.attr is not None:
        if not element.attrs.get(field.attr) and field.attr not in ("src",):
            return 0.0
    elif not text:
        return 0.0
    if (
        field.type in ("money", "number", "date")
        and field.attr is None
        and not _is_of(field.type, text)
    ):
        return 0.0
    if _is_former(element) and not any(_is_former(w.element) for w in wanted):
        return 0.0
    if field.type == "money" and amounts(text) > 1:
        return 0.0
    telling = field.type in ("money", "date") or field.attr == "href"
    # A price alone tells more than a line in which one stands.
    base = 0.0 if not telling else 0.45 if len(text) <= SHORT or field.attr == "href" else 0.3
    said = [element.attrs.get("class", ""), element.attrs.get("itemprop", ""), element.near,
            element.attrs.get("data-label", "")]  # fmt: skip
    base += 0.5 * max((texts(name.replace("_", " "), s) for s in said if s), default=0.0)
    likest = 0.0
    for w in wanted:
        plain = w.element.model_copy(update={"role": ""})
        kind = shape(plain.text or plain.name)
        if kind in ("money", "date") and shape(text) != kind:
            continue
        score = likeness(plain, element)[0]
        if w.element.role == element.role:
            score += 0.1
        if kind in ("word", "sentence") and texts(w.element.text, text) >= HALF:
            score += 0.3
        likest = max(likest, score)
    found = base + likest
    return found if found >= 0.35 else 0.0


_FORMER = re.compile(r"\b(old|was|before|former|rrp|msrp|list.?price|regular|statt|uvp|strike)\b")


def _is_former(element: Element) -> bool:
    """Whether a value is one that no longer holds: struck out, or said to be the old one."""
    # "before" is what the struck price is called; "before € 99" stands before the one that holds.
    label = "" if re.search(r"\d", element.near) else element.near
    said = f"{element.attrs.get('class', '')} {label}".replace("-", " ").replace("_", " ")
    return element.tag in ("s", "del", "strike") or bool(_FORMER.search(said.lower()))


def _relative(element: Element) -> list[str]:
    """Selectors by which an element may be found inside its row, the most telling first."""
    out: list[str] = []
    if prop := element.attrs.get("itemprop"):
        out.append(f'[itemprop="{prop}"]')
    if test := element.attrs.get("data-testid"):
        out.append(f'[data-testid="{test}"]')
    classes = [
        c for c in element.attrs.get("class", "").split() if re.fullmatch(r"[A-Za-z_-][\w-]*", c)
    ]
    out += [f"{element.tag}.{c}" for c in classes if not re.search(r"\d", c)]
    out.append(element.tag)
    # A class made by a machine may be another one tomorrow: taken only where nothing else tells.
    out += [f"{element.tag}.{c}" for c in classes if re.search(r"\d", c)]
    if element.near and len(element.near) <= LONGEST_LABEL and "{" not in element.near:
        out.append(_after_label(element.near.rstrip(":")))
    return out


def _selector(rows: Sequence[Element], page: Survey) -> Target | None:
    """The selector that finds just these rows."""
    first = rows[0]
    if first.tag == "tr":
        bodies = [
            e.ref for e in page.elements
            if e.tag == "tr" and any(c.row == e.ref and c.tag == "td" for c in page.elements)
        ]  # fmt: skip
        if set(bodies) == {row.ref for row in rows}:
            return _parsed_css("tr:has(td)")
    classes = [
        c for c in first.attrs.get("class", "").split() if re.fullmatch(r"[A-Za-z_-][\w-]*", c)
    ]
    refs = {row.ref for row in rows}
    options = [f"{first.tag}.{c}" for c in classes] or []
    if len(classes) > 1:
        options.append(first.tag + "".join(f".{c}" for c in classes))
    options.append(first.tag)
    for css in options:
        try:
            target = parse_target(css)
        except TargetSyntaxError:
            continue
        if {e.ref for e in matches(target, page) if e.shown} == refs:
            return target
    stem = re.sub(r":nth-(child|of-type)\(\d+\)$", "", first.css)
    return parse_target({"css": stem}) if stem and stem != first.css else None
