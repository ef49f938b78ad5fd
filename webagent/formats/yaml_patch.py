"""Edits of YAML text: from data as it was to data as it shall be, at the spans where it stands.

An edit is (start, end, new text). What is equal in both keeps its text, comments and quotes. Old
data is compared with new data, not with the text: a value that is only spelt in another way than
`yaml_text` would spell it is not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from webagent.formats.yaml_spans import (
    Span,
    column,
    dash,
    line_end,
    line_start,
    newline,
    only_comment,
)
from webagent.formats.yaml_text import WIDTH, scalar, written, written_block, written_pair

Edit: TypeAlias = tuple[int, int, str]


class Unpatchable(Exception):
    """The text is written in a way that cannot be changed in place; the message says which."""


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made; their line feeds become the text's own line ends."""
    ends = newline(text)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new.replace("\n", ends) + text[end:]
    return text


def patch(text: str, span: Span, old: Any, new: Any) -> list[Edit]:
    """The edits that turn what stands at a span from the old data into the new."""
    if _same(old, new):
        return []
    if isinstance(old, dict) and isinstance(new, dict) and span.kind == "map":
        names = [str(key.value) for key, _ in span.pairs]
        if names == list(old) and len(old) == len(new) and _aligned(old, new):
            edits: list[Edit] = []
            for (key, value), was, name in zip(span.pairs, old, new, strict=True):
                if was != name:
                    edits.append((key.start, key.end, scalar(name, _quote(text, key))))
                edits += _patch_value(text, key, value, old[was], new[name])
            return edits
        if set(names) == set(old) == set(new):
            return [
                edit
                for key, value in span.pairs
                for name in [str(key.value)]
                for edit in _patch_value(text, key, value, old[name], new[name])
            ]
        if names == list(old) and (more := _pairs_changed(text, span, old, new)) is not None:
            return more
    lists = isinstance(old, list) and isinstance(new, list) and span.kind == "list"
    if lists and new and len(span.items) == len(old):
        return patch_list(text, span, old, new)
    return [_replaced(text, span, new)]


def _same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)


def _aligned(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether keys that both have stand at one place, so that the others were renamed."""
    return all(a == b or (a not in new and b not in old) for a, b in zip(old, new, strict=True))


def _pairs_changed(
    text: str, span: Span, old: dict[str, Any], new: dict[str, Any]
) -> list[Edit] | None:
    """Pairs put into or taken out of a block mapping, each in lines of its own; None: not so."""
    kept = [name for name in new if name in old]
    if span.flow or not kept or kept != [name for name in old if name in new]:
        return None
    if next(iter(new)) not in old:
        return None  # nothing stands there to put it behind
    edits: list[Edit] = []
    indent = column(text, span.pairs[0][0].start)
    pairs = {str(key.value): (key, value) for key, value in span.pairs}
    for name, (key, value) in pairs.items():
        if name in new:
            edits += _patch_value(text, key, value, old[name], new[name])
            continue
        begin, end = line_start(text, key.start), line_end(text, max(key.end, value.end))
        if text[begin : key.start].strip() or not only_comment(text, value.end, end):
            return None
        edits.append((*_with_line_end(text, begin, end), ""))
    behind = ""
    added: dict[str, list[str]] = {}
    for name, given in new.items():
        if name in old:
            behind = name
        else:
            added.setdefault(behind, []).append(written_pair(name, given, indent))
    for name, told in added.items():
        at = line_end(text, max(part.end for part in pairs[name]))
        edits.append((at, at, "".join("\n" + " " * indent + line for line in told)))
    return edits


def _patch_value(text: str, key: Span, value: Span, old: Any, new: Any) -> list[Edit]:
    if _same(old, new):
        return []
    edits = patch(text, value, old, new)
    whole = len(edits) == 1 and edits[0][:2] == (value.start, value.end)
    if whole and (value.start == value.end or not isinstance(new, dict | list)):
        # What stood below its key, or was not there, comes up to the key's line.
        between = text[key.end : value.start]
        if value.start == value.end or (between.strip() == ":" and "\n" in between):
            return [(key.end, value.end, f": {edits[0][2]}")]
    return edits


def _quote(text: str, span: Span) -> str:
    sign = text[span.start : span.start + 1]
    return sign if span.kind == "scalar" and sign in ("'", '"') else ""


def _replaced(text: str, span: Span, new: Any) -> Edit:
    """A whole part anew: in one line, or as a block where one stood."""
    if not isinstance(new, dict | list):
        return span.start, span.end, scalar(new, _quote(text, span))
    if span.kind in ("map", "list") and not span.flow and not span.anchor:
        first = span.pairs[0][0].start if span.pairs else span.start
        if span.items:
            first = dash(text, span.items[0]) or span.start
        return first, span.end, written_block(new, column(text, first))
    return span.start, span.end, written(new)


# -- lists ----------------------------------------------------------------------------------------


def patch_list(text: str, span: Span, old: Sequence[Any], new: Sequence[Any]) -> list[Edit]:
    """The edits of a list: items that are equal stay, changed ones are changed in place."""
    items = span.items
    edits: list[Edit] = []
    gone: list[int] = []
    added: dict[int, list[Any]] = {}  # behind which item; -1: before the first
    for was, now in _pairs(old, new):
        if was is not None and now is not None:
            edits += _patch_item(text, span, items[was], old[was], new[now])
        elif was is not None:
            gone.append(was)
    last = -1
    for was, now in _pairs(old, new):
        if was is not None:
            last = was
        elif now is not None:
            added.setdefault(last, []).append(new[now])
    if span.flow:
        return edits + _flow_edits(span, gone, added)
    return edits + _block_edits(text, span, gone, added)


def _pairs(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[int | None, int | None]]:
    """Which old item becomes which new one, in order; None: it is gone, or new."""
    made: list[tuple[int | None, int | None]] = []
    whole = SequenceMatcher(None, [repr(x) for x in old], [repr(x) for x in new], autojunk=False)
    for tag, a, b, c, d in whole.get_opcodes():
        if tag == "equal":
            made += zip(range(a, b), range(c, d), strict=True)
            continue
        words = [_word(x) for x in old[a:b]], [_word(x) for x in new[c:d]]
        for kind, i, j, k, m in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
            was, now = range(a + i, a + j), range(c + k, c + m)
            both = min(len(was), len(now)) if kind in ("equal", "replace") else 0
            made += zip(was[:both], now[:both], strict=True)
            made += [(index, None) for index in was[both:]]
            made += [(None, index) for index in now[both:]]
    return made


def _word(item: Any) -> str:
    """What an item is about: an action's verb, an expectation's kind."""
    return str(next(iter(item), "")) if isinstance(item, dict) else str(item)


def _patch_item(text: str, span: Span, item: Span, old: Any, new: Any) -> list[Edit]:
    edits = patch(text, item, old, new)
    if span.flow or len(edits) != 1 or edits[0] != _replaced(text, item, new):
        return edits
    if not isinstance(new, dict) or item.start == item.end:
        return edits
    return [(item.start, item.end, _in_style(text, item, new))]


def _in_style(text: str, item: Span, new: Any) -> str:
    """A block list's item anew: ``{…}`` stays so when it fits in a line."""
    line = written(new)
    at = column(text, item.start)
    if item.flow and at + len(line) <= WIDTH:
        return line
    return written_block(new, at)


def _flow_edits(span: Span, gone: Sequence[int], added: dict[int, list[Any]]) -> list[Edit]:
    items = span.items
    kept = [index for index in range(len(items)) if index not in gone]
    if not kept:
        anew = [x for index in sorted(added) for x in added[index]]
        return [(items[0].start, items[-1].end, written(anew)[1:-1])]
    edits: list[Edit] = []
    for index in gone:
        if index < kept[0]:
            edits.append((items[index].start, items[index + 1].start, ""))
        else:
            edits.append((items[index - 1].end, items[index].end, ""))
    for behind, anew in added.items():
        told = ", ".join(written(x) for x in anew)
        if behind < kept[0]:
            edits.append((items[kept[0]].start, items[kept[0]].start, f"{told}, "))
        else:
            at = items[behind].end
            edits.append((at, at, f", {told}"))
    return edits


def _block_edits(
    text: str, span: Span, gone: Sequence[int], added: dict[int, list[Any]]
) -> list[Edit]:
    if not gone and not added:
        return []
    dashes = [dash(text, item) for item in span.items]
    starts = [at for at in dashes if at is not None]
    if len(starts) != len(span.items):
        raise Unpatchable("a list in it has something before a dash")
    indent = column(text, starts[0])
    edits: list[Edit] = []
    for index in gone:
        begin, end = line_start(text, starts[index]), line_end(text, span.items[index].end)
        if text[begin : starts[index]].strip() or not only_comment(
            text, span.items[index].end, end
        ):
            raise Unpatchable("an action shares its line with something else")
        edits.append((*_with_line_end(text, begin, end), ""))
    pad = " " * indent
    for behind, anew in added.items():
        told = "\n".join(f"{pad}- {written_block(x, indent + 2)}" for x in anew)
        if behind < 0:
            at = line_start(text, starts[0])
            edits.append((at, at, told + "\n"))
        else:
            at = line_end(text, span.items[behind].end)
            edits.append((at, at, "\n" + told))
    return _merged(edits)


def _with_line_end(text: str, begin: int, end: int) -> tuple[int, int]:
    """A whole line with the line end before it: the last line of a file may have none behind."""
    if begin == 0:
        return begin, end
    before = begin - 1
    if before > 0 and text[before - 1] == "\r":
        before -= 1
    return before, end


def _merged(edits: list[Edit]) -> list[Edit]:
    """An insertion at the end of what is taken away becomes a part of that."""
    taken = [edit for edit in edits if edit[0] != edit[1]]
    made: list[Edit] = []
    for start, end, new in taken:
        more = "".join(x[2] for x in edits if x[0] == x[1] == end)
        made.append((start, end, new + more))
    ends = {end for _, end, _ in taken}
    return made + [edit for edit in edits if edit[0] == edit[1] and edit[0] not in ends]


def set_key(text: str, parent: Span, name: str, new: Sequence[Any]) -> list[Edit]:
    """A list in full under a key that has none of its own (an alias, a merge)."""
    key = next((k for k, _ in parent.pairs if k.value == name), None)
    value = parent.get(name)
    if parent.flow:
        told = f"{name}: {written(new)}"
        if key is not None and value is not None:
            return [(key.start, value.end, told)]
        at = parent.pairs[-1][1].end
        return [(at, at, f", {told}")]
    indent = column(text, parent.pairs[0][0].start)
    pad = "\n" + " " * (indent + 2)
    told = f"{name}:{pad}{written_block(list(new), indent + 2)}"
    if key is not None and value is not None:
        return [(key.start, value.end, told)]
    at = line_end(text, parent.end)
    return [(at, at, "\n" + " " * indent + told)]
