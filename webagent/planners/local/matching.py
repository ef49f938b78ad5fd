"""What a target's own text finds in a survey, as nearly as can be told without the page.

Role and name match as Playwright's: the name as a part, in any case, unless exact. Of CSS the last
compound is read (tag, id, classes, attributes), and what stands before it is taken for given; what
is read wrongly here is put right when the action is performed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from webagent.core.sighting import Element, Survey
from webagent.core.target import Target


def matches(target: Target, survey: Survey) -> list[Element]:
    """The elements of a survey that a bound target's own text means."""
    found = [e for e in survey.elements if _is(target, e, survey.elements)]
    if target.nth is not None:
        shown = [e for e in found if e.shown]
        index = target.nth if target.nth >= 0 else len(shown) + target.nth
        return shown[index : index + 1] if index >= 0 else []
    return found


# Of these a survey holds all that are shown: what stands before a selector's last part is there.
_SURVEYED = frozenset({"table", "tr", "li", "article", "h1", "h2", "h3", "h4", "h5", "h6", "a"})


def survey_has_above(css: str, elements: Sequence[Element]) -> bool:
    """Whether the outer parts of a selector are on a page, where a survey can tell."""
    if "," in css:
        return True
    plain = re.sub(r"\[[^\]]*\]", "", css.strip())
    *above, _last = [part for part in re.split(r"[\s>+~]+", plain) if part]
    return all(
        any(_is_compound(part, e) for e in elements)
        for part in above
        if re.split(r"[^a-z0-9]", part)[0] in _SURVEYED
    )


def _is(target: Target, e: Element, all_of: Sequence[Element]) -> bool:
    said = False
    if target.role is not None:
        if e.role != target.role and not (target.role == "textbox" and e.role == "searchbox"):
            return False
        said = True
        if target.name is not None and not _says(e.name, target.name, exact=target.exact):
            return False
        if target.name_regex is not None and not re.search(target.name_regex, e.name):
            return False
    for wanted, shown in (
        (target.label, e.label or e.attrs.get("aria-label", "")),
        (target.placeholder, e.placeholder),
        (target.text, e.text or e.name),
    ):
        if wanted is not None:
            said = True
            if not _says(shown, wanted, exact=target.exact):
                return False
    if target.test_id is not None:
        said = True
        if e.attrs.get("data-testid") != target.test_id:
            return False
    if target.css is not None:
        said = True
        if not survey_has_above(target.css, all_of):
            return False
        if not any(_is_compound(part, e) for part in _last_compounds(target.css)):
            return False
    return said


def _says(shown: str, wanted: str, *, exact: bool) -> bool:
    one, other = (" ".join(t.split()) for t in (shown, wanted))
    return one == other if exact else other.casefold() in one.casefold()


def _last_compounds(css: str) -> list[str]:
    """The last compound of each selector of a list."""
    plain = re.sub(r"\[[^\]]*\]", lambda m: m[0].replace(" ", "\x00").replace(",", "\x01"), css)
    return [
        re.split(r"[\s>+~]+", part.strip())[-1].replace("\x00", " ").replace("\x01", ",")
        for part in plain.split(",")
        if part.strip()
    ]


def _is_compound(compound: str, e: Element) -> bool:
    rest = re.sub(r"::?[\w-]+(\([^)]*\))?", "", compound)
    if not rest.strip("*"):
        return False
    tag = re.match(r"^[A-Za-z][\w-]*", rest)
    if tag is not None and tag[0].lower() != e.tag:
        return False
    ident = re.findall(r"#([\w-]+)", rest)
    if ident and e.attrs.get("id") != ident[-1]:
        return False
    classes = set(re.findall(r"\.([A-Za-z_-][\w-]*)", re.sub(r"\[[^\]]*\]", "", rest)))
    if not classes <= set(e.attrs.get("class", "").split()):
        return False
    for name, op, value in re.findall(r"\[([\w-]+)(?:([*^$~|]?=)[\"']?([^\"'\]]*)[\"']?)?\]", rest):
        have = e.type if name == "type" else e.href if name == "href" else e.attrs.get(name, "")
        if not _attr_is(have, op, value):
            return False
    return True


def _attr_is(have: str, op: str, value: str) -> bool:
    match op:
        case "":
            return bool(have)
        case "=":
            return have == value
        case "^=":
            return have.startswith(value)
        case "$=":
            return have.endswith(value)
        case _:
            return value in have
