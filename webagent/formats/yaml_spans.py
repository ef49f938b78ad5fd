"""YAML text as a tree of spans: which characters each part takes up, to change it and no other.

ruamel's events give the marks. Its round trip is not used: it writes a whole document anew, and
loses what a person notices (the width of lines, blanks, CRLF, the indentation of lists), while an
edit of spans leaves every other byte as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ruamel.yaml import YAML

from webagent.formats.document import Scalar
from webagent.formats.yaml_places import resolve

_DASH = re.compile(r"[ \t]*-(?:[ \t]*(?:[&!]\S+[ \t]*)*(?:#.*)?)?")


@dataclass(frozen=True, slots=True)
class Span:
    """One part: its kind, where it begins and where its last character ends.

    ``flow``: a collection in braces or brackets. An alias is of kind ``alias`` and has no value.
    """

    kind: Literal["scalar", "list", "map", "alias"]
    start: int
    end: int
    value: Scalar = None
    flow: bool = False
    anchor: bool = False
    items: tuple[Span, ...] = ()
    pairs: tuple[tuple[Span, Span], ...] = ()

    def get(self, key: str) -> Span | None:
        """What stands under a key."""
        return next((value for name, value in self.pairs if name.value == key), None)

    def data(self) -> Any:
        """The part as plain data; keys are texts."""
        if self.kind == "list":
            return [item.data() for item in self.items]
        if self.kind == "map":
            return {str(key.value): value.data() for key, value in self.pairs}
        return self.value


def spans(text: str) -> Span | None:
    """The tree of a text that is known to be valid; None for an empty one."""
    events = iter(YAML(typ="safe", pure=True).parse(text))
    for event in events:
        if type(event).__name__ not in ("StreamStartEvent", "DocumentStartEvent"):
            return _span(event, events, text, 0) if hasattr(event, "anchor") else None
    return None


def _span(event: Any, events: Iterator[Any], text: str, after: int) -> Span:
    """``after``: where the part before it ended, for a value that is not there."""
    start, end = event.start_mark.index, event.end_mark.index
    anchor = bool(event.anchor)
    match type(event).__name__:
        case "AliasEvent":
            return Span("alias", start, end)
        case "ScalarEvent":
            if not event.value and event.style in (None, ""):
                return Span("scalar", after, after, anchor=anchor)
            end = start + len(text[start:end].rstrip())
            plain = event.style in (None, "")
            value = resolve(event.value) if plain else event.value
            return Span("scalar", start, end, value=value, anchor=anchor)
        case "SequenceStartEvent":
            items: list[Span] = []
            for inner in events:
                if type(inner).__name__ == "SequenceEndEvent":
                    end = _end(inner, event, items, end)
                    break
                items.append(_span(inner, events, text, end))
            return Span(
                "list", start, end, flow=bool(event.flow_style), anchor=anchor, items=tuple(items)
            )
        case _:
            pairs: list[tuple[Span, Span]] = []
            for inner in events:
                if type(inner).__name__ == "MappingEndEvent":
                    end = _end(inner, event, [value for _, value in pairs], end)
                    break
                key = _span(inner, events, text, end)
                colon = text.find(":", key.end)
                value = _span(next(events), events, text, key.end if colon < 0 else colon + 1)
                pairs.append((key, value))
            return Span(
                "map", start, end, flow=bool(event.flow_style), anchor=anchor, pairs=tuple(pairs)
            )


def _end(event: Any, opened: Any, parts: list[Span], default: int) -> int:
    """A block ends with its last part, not where the next token is found."""
    if opened.flow_style:
        return int(event.end_mark.index)
    return max([part.end for part in parts], default=default)


# -- lines ----------------------------------------------------------------------------------------


def line_start(text: str, at: int) -> int:
    """Where the line of a character begins."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Where the line of a character ends, before LF or CRLF."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1] == "\r" else end


def column(text: str, at: int) -> int:
    """How many characters stand before it in its line."""
    return at - line_start(text, at)


def newline(text: str) -> str:
    """The line end that the text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def only_comment(text: str, start: int, end: int) -> bool:
    """Whether nothing but blanks and a comment stands there."""
    between = text[start:end].strip()
    return not between or between.startswith("#")


def dash(text: str, item: Span) -> int | None:
    """Where the dash of a block list's item stands; None if it cannot be told."""
    begin = line_start(text, item.start)
    before = text[begin : item.start]
    while True:
        if _DASH.fullmatch(before.rstrip("\r\n")):
            return begin + before.index("-")
        if not only_comment(before, 0, len(before)) or begin == 0:
            return None
        end, begin = begin, line_start(text, begin - 1)
        before = text[begin:end]
