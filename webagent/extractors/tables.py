"""Rows of a table by their header; spanned cells count in every row and column they cover."""

from __future__ import annotations

from dataclasses import dataclass

from bs4 import Tag

from webagent.core.action import TableRead
from webagent.core.base import Json
from webagent.extractors.fields import bad_row
from webagent.extractors.markup import HIDDEN, region, text_of
from webagent.extractors.typed import Reading, parse

MAX_SPAN = 1000  # HTML's own limit for colspan; pages can write more
_CELLS = ["td", "th"]


@dataclass(frozen=True, slots=True)
class _Line:
    """One row: the cell in each column (a spanned cell more than once), None where none reaches."""

    cells: tuple[Tag | None, ...]
    head: bool


def read_table(spec: TableRead, html: str, how: Reading) -> tuple[list[Json], list[Json]]:
    """Good and bad rows. Columns are named by their header text, or as ``columns`` renames them.

    ``types`` may name a column by its header or by its new name.

    Raises:
        ValueError: there is no header row, or a column that the read names is not in it.
    """
    table = region(html)
    if table.name != "table" and isinstance(inner := table.find("table"), Tag):
        table = inner
    lines = _lines(table)
    header, body = _split(lines)
    names = _names(header)
    _check(spec, names)
    good: list[Json] = []
    bad: list[Json] = []
    for index, line in enumerate(body):
        values, reasons = _read(spec, names, line, how)
        if reasons:
            raw = " | ".join(text_of(cell) for cell in line.cells if cell is not None)
            bad.append(bad_row(index, reasons, raw, values))
        else:
            good.append(values)
    return good, bad


def _lines(table: Tag) -> list[_Line]:
    """The rows of this table (not of tables inside it) as a grid."""
    lines: list[_Line] = []
    reaching: dict[int, tuple[int, Tag]] = {}
    for row in table.find_all("tr"):
        if row.find_parent("table") is not table or row.has_attr(HIDDEN):
            continue
        cells: dict[int, Tag] = {}
        following: dict[int, tuple[int, Tag]] = {}
        for column, (left, cell) in reaching.items():
            cells[column] = cell
            if left > 1:
                following[column] = (left - 1, cell)
        column = 0
        own = [cell for cell in row.find_all(_CELLS) if cell.find_parent("tr") is row]
        for cell in own:
            while column in cells:
                column += 1
            down = _span(cell, "rowspan")
            for _ in range(_span(cell, "colspan")):
                cells[column] = cell
                if down > 1:
                    following[column] = (down - 1, cell)
                column += 1
        reaching = following
        width = max(cells, default=-1) + 1
        head = row.find_parent("thead") is not None or (
            bool(own) and all(cell.name == "th" for cell in own)
        )
        lines.append(_Line(tuple(cells.get(i) for i in range(width)), head))
    return lines


def _span(cell: Tag, attribute: str) -> int:
    text = str(cell.get(attribute) or "1").strip()
    return min(max(int(text), 1), MAX_SPAN) if text.isdigit() else 1


def _split(lines: list[_Line]) -> tuple[list[_Line], list[_Line]]:
    """Header rows (thead or rows of th at the top, else the first row) and the rest."""
    count = 0
    while count < len(lines) and lines[count].head:
        count += 1
    count = count or 1
    return lines[:count], [line for line in lines[count:] if not line.head and line.cells]


def _names(header: list[_Line]) -> list[str]:
    """One name a column: header rows joined top to bottom; an empty or repeated one is numbered."""
    width = max((len(line.cells) for line in header), default=0)
    names: list[str] = []
    for column in range(width):
        parts: list[str] = []
        for line in header:
            cell = line.cells[column] if column < len(line.cells) else None
            text = text_of(cell) if cell is not None else ""
            if text and text not in parts:
                parts.append(text)
        name = " ".join(parts) or f"column {column + 1}"
        names.append(name if name not in names else f"{name} ({column + 1})")
    return names


def _check(spec: TableRead, names: list[str]) -> None:
    if not names:
        raise ValueError(f"{spec.table} has no header row")
    known = {*names, *spec.columns.values()}
    for name in (*spec.columns, *spec.types):
        if name not in known:
            raise ValueError(f"{spec.table} has no column {name!r}; it has: {', '.join(names)}")


def _read(
    spec: TableRead, names: list[str], line: _Line, how: Reading
) -> tuple[dict[str, Json], dict[str, str]]:
    values: dict[str, Json] = {}
    reasons: dict[str, str] = {}
    for column, name in enumerate(names):
        renamed = spec.columns.get(name, name)
        type_ = spec.types.get(name, spec.types.get(renamed, "text"))
        cell = line.cells[column] if column < len(line.cells) else None
        if cell is None:
            reasons[renamed] = "the row has no such cell"
            continue
        raw = str(cell) if type_ == "html" else text_of(cell)
        if type_ == "url" and isinstance(link := cell.find("a", href=True), Tag):
            raw = str(link.get("href"))
        try:
            values[renamed] = parse(raw, type_, how)
        except ValueError as error:
            reasons[renamed] = str(error)
    extra = len(line.cells) - len(names)
    if extra > 0:
        reasons["row"] = f"{extra} cells more than the header"
    return values, reasons
