"""The outline of a page as a model reads it: Playwright's AI snapshot, cut to what matters.

An outline is YAML-like, one line an element, indented by two spaces a level: ``- button "Send"
[ref=e12]``. What is cut is said in place, so that nobody takes a part for the whole.
"""

from __future__ import annotations

import re

LENGTH = 16_000
# Dropped first where a page is too long: what stands around every page of a site.
_AROUND = ("contentinfo", "banner", "navigation", "complementary")
# Kept before what they cover, wherever they stand in the document.
_OVER = ("dialog", "alertdialog")
_LINE = re.compile(r"^(?P<indent> *)- (?P<role>[\w-]+)")
_SAME_SHAPE = re.compile(r'"(?:[^"\\]|\\.)*"|\[[^\]]*\]|: .*$|\d+')
# Of a long run of alike siblings so many are shown at each end.
ROWS = 12


def cut(outline: str, length: int = LENGTH) -> str:
    """The outline in at most about ``length`` characters.

    First the middle of long runs of alike siblings goes, then what stands around the page's main
    part, then its end. Then a dialog goes before what it covers, and is never cut before it.
    """
    if len(outline) <= length:
        return outline
    lines = _folded(outline.split("\n"))
    for role in _AROUND:
        if _size(lines) <= length:
            break
        lines = _without(lines, role)
    if _size(lines) <= length:
        return "\n".join(lines)
    dialogs, covered = _apart(lines)
    # Most of the room is theirs, and some is left to what they cover.
    over = _begun(dialogs, length * 2 // 3)
    return "\n".join([*over, *_begun(covered, max(0, length - _size(over)))])


def _apart(lines: list[str]) -> tuple[list[str], list[str]]:
    """The dialogs with all that stands in them, and the rest."""
    dialogs: list[str] = []
    rest: list[str] = []
    index = 0
    while index < len(lines):
        found = _LINE.match(lines[index])
        end = index + 1
        if found is None or found["role"] not in _OVER:
            rest.append(lines[index])
        else:
            while end < len(lines) and _depth(lines[end]) > _depth(lines[index]):
                end += 1
            dialogs += lines[index:end]
        index = end
    return dialogs, rest


def _begun(lines: list[str], room: int) -> list[str]:
    """So many lines as there is room for, and how many are missing."""
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [*lines[:number], f"# cut here: {len(lines) - number} more lines"]
    return lines


def _size(lines: list[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _blocks(lines: list[str], start: int) -> list[tuple[int, int]]:
    """The siblings from ``start`` on, each as its lines' range."""
    depth = _depth(lines[start])
    found: list[tuple[int, int]] = []
    index = start
    while index < len(lines) and _depth(lines[index]) >= depth:
        end = index + 1
        while end < len(lines) and _depth(lines[end]) > depth:
            end += 1
        found.append((index, end))
        index = end
    return found


def _folded(lines: list[str]) -> list[str]:
    """Long runs of siblings of one shape, without their middle."""
    out: list[str] = []
    index = 0
    while index < len(lines):
        run = _run(lines, index)
        if len(run) <= 2 * ROWS:
            out.append(lines[index])
            index += 1
            continue
        for first, end in run[:ROWS]:
            out += lines[first:end]
        out.append(f"{' ' * _depth(lines[index])}# {len(run) - 2 * ROWS} more like these")
        for first, end in run[-ROWS:]:
            out += lines[first:end]
        index = run[-1][1]
    return out


def _run(lines: list[str], start: int) -> list[tuple[int, int]]:
    """The alike siblings that begin here; one where the sibling before was alike already."""
    shape = _shape(lines[start])
    run: list[tuple[int, int]] = []
    for first, end in _blocks(lines, start):
        if _shape(lines[first]) != shape:
            break
        run.append((first, end))
    return run


def _shape(line: str) -> str:
    return _SAME_SHAPE.sub("", line)


def _without(lines: list[str], role: str) -> list[str]:
    out: list[str] = []
    index = 0
    while index < len(lines):
        found = _LINE.match(lines[index])
        if found is None or found["role"] != role:
            out.append(lines[index])
            index += 1
            continue
        end = index + 1
        while end < len(lines) and _depth(lines[end]) > _depth(lines[index]):
            end += 1
        if end - index > 1:
            out.append(f"{found['indent']}# {role}: {end - index} lines left out")
        else:
            out.append(lines[index])
        index = end
    return out
