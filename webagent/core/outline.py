"""The outline of a page as a model reads it: Playwright's AI snapshot, cut to what matters.

An outline is YAML-like, one line an element, indented by two spaces a level: ``- button "Send"
[ref=e12]``. What is cut is said in place, so that nobody takes a part for the whole.
"""

from __future__ import annotations

import re

LENGTH = 16_000
# Dropped first where a page is too long: what stands around every page of a site.
_AROUND = ("contentinfo", "banner", "navigation", "complementary")
_LINE = re.compile(r"^(?P<indent> *)- (?P<role>[\w-]+)")
_SAME_SHAPE = re.compile(r'"(?:[^"\\]|\\.)*"|\[[^\]]*\]|: .*$|\d+')
# Of a long run of alike siblings so many are shown at each end.
ROWS = 12


def cut(outline: str, length: int = LENGTH) -> str:
    """The outline in at most about ``length`` characters.

    First the middle of long runs of alike siblings goes, then what stands around the page's main
    part, then its end. A dialog is never cut before what it covers.
    """
    if len(outline) <= length:
        return outline
    lines = _folded(outline.splitlines())
    for role in _AROUND:
        if _size(lines) <= length:
            break
        lines = _without(lines, role)
    kept: list[str] = []
    room = length
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            kept.append(f"# cut here: {len(lines) - number} more lines")
            break
        kept.append(line)
    return "\n".join(kept)


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
