"""Sighting: what a target looked like when it was last found; and what a page shows, to compare.

Values of today (a product's title, a number) are kept as holes, so that tomorrow's value is looked
for in their place. Pure: who looks at pages is an executor, who compares is `core.likeness`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

from webagent.core.base import Frozen, Json

# Shorter values stand in too many words by chance to be called today's value.
SHORTEST_VALUE = 3
_HOLE = re.compile(r"⟦([^⟧]*)⟧")


class Element(Frozen):
    """One element as a person and as a page's author would describe it.

    ``ref``: its number within one survey, 0 in a sighting. ``text``: its visible text, cut.
    ``attrs``: id, name, class, title, data-testid and their like; never a field's value. ``href``
    is absolute. ``near``: the text that explains it (legend, heading, cell before it).
    ``container``: its landmarks from the nearest outwards (`form "Checkout"`, `navigation`).
    ``place``: the middle of its box as shares of the document's width and height. ``count``: how
    many siblings look the same (rows, cards). ``css``: a selector that finds it alone today.
    ``row``: the ref of the repeated element around it, 0 for none. ``submits``: a click on it sends
    its form; ``method`` is that form's.
    """

    ref: int = 0
    tag: str
    type: str = ""
    role: str = ""
    name: str = ""
    text: str = ""
    label: str = ""
    placeholder: str = ""
    attrs: dict[str, str] = {}
    href: str = ""
    near: str = ""
    container: tuple[str, ...] = ()
    place: tuple[float, float] = (0.0, 0.0)
    shown: bool = True
    enabled: bool = True
    required: bool = False
    filled: bool = False
    options: tuple[str, ...] = ()
    count: int = 1
    row: int = 0
    css: str = ""
    frame: str = ""
    form: int = 0
    submits: bool = False
    method: str = ""


class Survey(Frozen):
    """What one page shows: enough to find things again on it, cut to a number of elements.

    ``form`` numbers in elements tell which of them share a form. ``status``: the document's HTTP
    status, 0 for none. ``overlay``: the ref of an element that lies over the page and holds it
    (a cookie banner, a newsletter), 0 for none; its controls have it as their ``row``.
    """

    url: str
    title: str = ""
    status: int = 0
    sign_in: bool = False
    captcha: bool = False
    overlay: int = 0
    headings: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()


class Sighting(Frozen):
    """What a target looked like when its step was met.

    Kept by recipe id, the step's path in the plan (no items) and the target's text as written.
    ``url``: of the page it stood on, with holes. ``writes``: what a use of it sent, as
    ``POST /path`` with digits folded to ``#``. ``accepted``: False for a healed one that nobody has
    accepted yet. ``at``: UTC, ISO 8601.
    """

    recipe_id: str
    step: str
    target: str
    element: Element
    url: str = ""
    writes: tuple[str, ...] = ()
    accepted: bool = True
    run: str = ""
    at: str = ""


def leaves(values: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every single value of a brief as (dotted name, text), longest text first by `holed`."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from leaves(value, f"{name}.")
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            text = str(value).strip()
            if len(text) >= SHORTEST_VALUE:
                yield name, text


def holed(text: str, values: Mapping[str, Json]) -> str:
    """The text with today's values taken out: ``⟦name⟧`` stands in their place."""
    for name, value in sorted(leaves(values), key=lambda pair: -len(pair[1])):
        if value.startswith("⟦"):
            continue
        pattern = re.compile(re.escape(value), re.IGNORECASE)
        text = "".join(
            piece if piece.startswith("⟦") else pattern.sub(f"⟦{name}⟧", piece)
            for piece in re.split(r"(⟦[^⟧]*⟧)", text)
        )
    return text


def filled(text: str, values: Mapping[str, Json]) -> str:
    """The text with today's values in its holes; a hole without a value stays one."""
    known = dict(leaves(values))
    return _HOLE.sub(lambda found: known.get(found[1], found[0]), text)


def holed_url(url: str, values: Mapping[str, Json]) -> str:
    """An address without today's values, however they are written in it."""
    for name, value in sorted(leaves(values), key=lambda pair: -len(pair[1])):
        if value.startswith(("http://", "https://")):
            continue
        for written in dict.fromkeys((quote_plus(value), quote(value, safe=""), quote(value))):
            if written and "⟦" not in written:
                url = "".join(
                    piece if piece.startswith("⟦") else piece.replace(written, f"⟦{name}⟧")
                    for piece in re.split(r"(⟦[^⟧]*⟧)", url)
                )
    return url


def filled_url(url: str, values: Mapping[str, Json]) -> str:
    """An address with today's values in its holes: a space is + in the query, %20 in the path."""
    known = dict(leaves(values))

    def written(found: re.Match[str]) -> str:
        if found[1] not in known:
            return found[0]
        in_query = "?" in url[: found.start()]
        return quote_plus(known[found[1]]) if in_query else quote(known[found[1]], safe="")

    return _HOLE.sub(written, url)


def has_hole(text: str) -> bool:
    """Whether a text carries a value of its day."""
    return _HOLE.search(text) is not None


_TEXTS = ("name", "text", "label", "near")


def with_holes(element: Element, values: Mapping[str, Json]) -> Element:
    """An element as it is kept: without the values of its day and its place in a survey."""
    update: dict[str, object] = {f: holed(getattr(element, f), values) for f in _TEXTS}
    update["container"] = tuple(holed(c, values) for c in element.container)
    update["href"] = holed_url(element.href, values)
    return element.model_copy(update={**update, "ref": 0, "row": 0, "form": 0})


def with_values(element: Element, values: Mapping[str, Json]) -> Element:
    """A kept element as it should look today."""
    update: dict[str, object] = {f: filled(getattr(element, f), values) for f in _TEXTS}
    update["container"] = tuple(filled(c, values) for c in element.container)
    update["href"] = filled_url(element.href, values)
    return element.model_copy(update=update)
