"""Expectations, and the judging of them.

An expectation is a typed predicate that must hold after a step. The executor only reports what it
sees (`Finding`); the verdict is made here, so that live runs, tests and replays judge alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Literal, TypeAlias, assert_never

from pydantic import Field

from webagent.core.base import Frozen, Json
from webagent.core.pattern import PatternFaultError, found_in
from webagent.core.target import Target
from webagent.core.values import ValueFaultError, as_number, kind_of


class Bounds(Frozen):
    """What a value must be. All given conditions must hold. Values may hold templates until bound.

    ``min`` and ``max`` bound a number or an amount of money, and the length of a list.
    """

    equals: Json = None
    min: Json = None
    max: Json = None
    matches: str | None = None
    contains: str | None = None
    type: str | None = None


class UrlIs(Frozen):
    """The page's URL matches a glob (``**`` crosses slashes, ``?`` is itself); a place."""

    kind: Literal["url"] = "url"
    glob: str


class TitleIs(Frozen):
    """The page's title matches a glob, or contains the text when there is no ``*``; a place."""

    kind: Literal["title"] = "title"
    glob: str


class TextShown(Frozen):
    """The text is visible on the page (white space folded), or within a target."""

    kind: Literal["text"] = "text"
    text: str
    within: Target | None = None


class ElementShown(Frozen):
    """At least one visible element matches."""

    kind: Literal["element"] = "element"
    target: Target


class ElementAbsent(Frozen):
    """No visible element matches."""

    kind: Literal["absent"] = "absent"
    target: Target


class CountIs(Frozen):
    """So many visible elements match."""

    kind: Literal["count"] = "count"
    target: Target
    bounds: Bounds


class RowsAre(Frozen):
    """A table or list has so many rows (header rows do not count)."""

    kind: Literal["rows"] = "rows"
    target: Target
    bounds: Bounds


class ValueIs(Frozen):
    """The text, or for a control the value, of one element is within bounds."""

    kind: Literal["value"] = "value"
    target: Target
    bounds: Bounds


class OutputIs(Frozen):
    """One of the step's outputs is within bounds."""

    kind: Literal["output"] = "output"
    name: str
    bounds: Bounds


class DownloadCame(Frozen):
    """A file was downloaded whose name matches the glob."""

    kind: Literal["download"] = "download"
    glob: str = "*"
    min_bytes: int = 1


class StatusIs(Frozen):
    """The document's HTTP status is one of these: ``200``, or a class such as ``2xx``."""

    kind: Literal["status"] = "status"
    codes: tuple[str, ...]


class ResponseCame(Frozen):
    """A response of this step matches URL glob, method and status."""

    kind: Literal["response"] = "response"
    glob: str
    method: str | None = None
    codes: tuple[str, ...] = ("2xx", "3xx")


class DialogShown(Frozen):
    """A dialog was shown whose message matches the glob, or contains the text."""

    kind: Literal["dialog"] = "dialog"
    glob: str


Expectation: TypeAlias = Annotated[
    UrlIs
    | TitleIs
    | TextShown
    | ElementShown
    | ElementAbsent
    | CountIs
    | RowsAre
    | ValueIs
    | OutputIs
    | DownloadCame
    | StatusIs
    | ResponseCame
    | DialogShown,
    Field(discriminator="kind"),
]

# What a moved page may change without the content having changed (DESIGN 12, Judging).
PLACE_KINDS = frozenset({"url", "title"})


class Finding(Frozen):
    """What the executor saw for one expectation; it does not say whether that is right.

    ``texts``: url or title; the value of each match; ``METHOD STATUS URL`` of each response; name
    and ``bytes`` of downloads; messages of dialogs. ``count``: matches, rows, or the status.
    ``error``: why it could not be looked at (page lost, invalid selector).
    """

    count: int = 0
    texts: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    error: str | None = None


Judgement: TypeAlias = Literal["met", "unmet", "unknown"]


class Verdict(Frozen):
    """Whether one expectation holds, with the evidence."""

    expected: Expectation
    judgement: Judgement
    seen: str = ""
    by_probe: bool = False


def judge(expected: Expectation, finding: Finding, outputs: Mapping[str, Json]) -> Verdict:
    """Compare one bound expectation with what was seen."""
    if finding.error is not None and expected.kind != "output":
        return Verdict(expected=expected, judgement="unknown", seen=finding.error)
    holds, seen = _holds(expected, finding, outputs)
    return Verdict(expected=expected, judgement="met" if holds else "unmet", seen=seen)


def _holds(
    expected: Expectation, finding: Finding, outputs: Mapping[str, Json]
) -> tuple[bool, str]:
    first = finding.texts[0] if finding.texts else ""
    match expected:
        case UrlIs(glob=glob):
            return url_matches(glob, first), first
        case TitleIs(glob=glob):
            return text_matches(glob, first), first
        case TextShown() | ElementShown():
            return finding.count > 0, f"{finding.count} shown"
        case ElementAbsent():
            return finding.count == 0, f"{finding.count} shown"
        case CountIs(bounds=bounds) | RowsAre(bounds=bounds):
            return _bounded(finding.count, bounds, f"{finding.count}")
        case ValueIs(bounds=bounds):
            if finding.count != 1:
                return False, f"{finding.count} elements"
            return _bounded(first, bounds, first)
        case OutputIs(name=name, bounds=bounds):
            if name not in outputs:
                return False, "no such output"
            value = outputs[name]
            return _bounded(value, bounds, _short(value))
        case DownloadCame(glob=glob, min_bytes=least):
            pairs = list(zip(finding.texts, finding.sizes, strict=False))
            good = any(fnmatchcase(name, glob) and size >= least for name, size in pairs)
            return good, ", ".join(f"{n} ({s} bytes)" for n, s in pairs) or "no download"
        case StatusIs(codes=codes):
            return status_matches(finding.count, codes), str(finding.count)
        case ResponseCame(glob=glob, method=method, codes=codes):
            return _response_came(finding, glob, method, codes)
        case DialogShown(glob=glob):
            return any(text_matches(glob, t) for t in finding.texts), "; ".join(finding.texts)
        case _:
            assert_never(expected)


def _response_came(
    finding: Finding, glob: str, method: str | None, codes: tuple[str, ...]
) -> tuple[bool, str]:
    for line in finding.texts:
        verb, status, url = line.split(" ", 2)
        if url_matches(glob, url) and (method is None or method == verb):
            return status_matches(int(status), codes), line
    return False, f"none of {len(finding.texts)} responses"


def status_matches(status: int, codes: tuple[str, ...]) -> bool:
    """Whether a status is among codes such as ``200``, ``3xx``."""
    text = str(status)
    return any(c == text or (c.endswith("xx") and c[0] == text[0]) for c in codes)


def url_matches(glob: str, url: str) -> bool:
    """Glob over a URL: ``**`` any text, ``*`` within a path segment, all else is itself.

    A glob with no scheme and no leading ``*`` is a path: it is compared with the URL's end.
    """
    pattern = "".join(
        ".*" if part == "**" else "[^/]*" if part == "*" else re.escape(part)
        for part in re.split(r"(\*\*|\*)", glob)
    )
    if glob.startswith("/"):
        pattern = r"[a-z]+://[^/]+" + pattern
    return re.fullmatch(pattern, url, re.DOTALL) is not None


def text_matches(glob: str, text: str) -> bool:
    """Glob over a text; without ``*`` the text must contain it. White space is folded."""
    folded = " ".join(text.split())
    if "*" in glob:
        pattern = ".*".join(re.escape(p) for p in " ".join(glob.split()).split("*"))
        return re.fullmatch(pattern, folded, re.DOTALL) is not None
    return " ".join(glob.split()) in folded


def within_bounds(value: Json, bounds: Bounds) -> bool:
    """Whether a value meets all of the given bounds; null meets only an absent bound.

    A pattern that takes too long on the value does not hold.
    """
    return _bounded(value, bounds, "")[0]


def _bounded(value: Json, bounds: Bounds, seen: str) -> tuple[bool, str]:
    """Whether it holds, and what was seen: with the reason where a pattern could not tell."""
    try:
        return _meets(value, bounds), seen
    except PatternFaultError as fault:
        return False, f"{fault}: {_short(seen)}"


def _meets(value: Json, bounds: Bounds) -> bool:
    if bounds.equals is not None and not _equal(value, bounds.equals):
        return False
    if bounds.type is not None and kind_of(value) != bounds.type:
        return False
    if bounds.contains is not None and (value is None or bounds.contains not in str(value)):
        return False
    if bounds.matches is not None and (value is None or not found_in(bounds.matches, str(value))):
        return False
    if bounds.min is None and bounds.max is None:
        return bounds != Bounds() or value is not None
    try:
        size = float(len(value)) if isinstance(value, list | tuple) else as_number(value)
        low = None if bounds.min is None else as_number(bounds.min)
        high = None if bounds.max is None else as_number(bounds.max)
    except ValueFaultError:
        return False
    return (low is None or size >= low) and (high is None or size <= high)


def _equal(value: Json, wanted: Json) -> bool:
    if isinstance(value, str) and not isinstance(wanted, str):
        try:
            return as_number(value) == as_number(wanted)
        except ValueFaultError:
            return False
    if isinstance(value, str) and isinstance(wanted, str):
        return " ".join(value.split()) == " ".join(wanted.split())
    return bool(value == wanted)


def _short(value: Json) -> str:
    text = f"{len(value)} items" if isinstance(value, list) else str(value)
    return text if len(text) <= 200 else text[:199] + "…"


def all_hold(verdicts: tuple[Verdict, ...]) -> Judgement:
    """The judgement of a step by its verdicts alone: unmet beats unknown beats met."""
    kinds = {v.judgement for v in verdicts}
    return "unmet" if "unmet" in kinds else "unknown" if "unknown" in kinds else "met"


def turned_true(before: tuple[Verdict, ...], after: tuple[Verdict, ...]) -> bool:
    """Whether one expectation holds after the step that did not hold before it.

    ``before`` and ``after`` are in the same order. One that could not be judged before (unknown)
    does not count: it may have been true anyway. Nor does a place that a revision has changed.
    """
    return any(
        b.judgement == "unmet" and a.judgement == "met" and b.expected == a.expected
        for b, a in zip(before, after, strict=False)
    )
