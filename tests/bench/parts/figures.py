"""How a bench tells its figures: a table for people, and as its last line one JSON object."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Bar:
    """What a bench promises: a value, and what it may at most (or must at least, or exactly) be."""

    value: float
    bar: float
    must: Literal["at most", "below", "at least", "equal"] = "at most"

    @property
    def holds(self) -> bool:
        match self.must:
            case "at most":
                return self.value <= self.bar
            case "below":
                return self.value < self.bar
            case "at least":
                return self.value >= self.bar
            case "equal":
                return self.value == self.bar


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table in Markdown, so that it can stand in docs/benchmarks.md as it is."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    print(f"\n{title}\n")
    print(_line(columns, widths))
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for line in cells:
        print(_line(line, widths))


def print_end(name: str, bars: dict[str, Bar], **more: Any) -> bool:
    """The bars in words, then the JSON line; whether all bars hold."""
    print()
    for bar, found in bars.items():
        said = "holds" if found.holds else "DOES NOT HOLD"
        print(f"{bar}: {_cell(found.value)} ({found.must} {_cell(found.bar)}) {said}")
    told = {
        bar: {"value": round(found.value, 4), "bar": round(found.bar, 4), "holds": found.holds}
        for bar, found in bars.items()
    }
    print(json.dumps({"name": name, "bars": told, **more}), flush=True)
    return all(found.holds for found in bars.values())


def machine() -> str:
    """What kind of machine this is and which versions ran, for the head of a table."""
    names = ("playwright", "pydantic", "SQLAlchemy")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    day = datetime.now(UTC).date().isoformat()
    cores = os.cpu_count()
    return (
        f"{day}, {cores} cores, {platform.system()}, Python {platform.python_version()}, {versions}"
    )


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return statistics.fmean(values) if values else 0.0


def median(values: Sequence[float]) -> float:
    """The median; 0 of nothing."""
    return statistics.median(values) if values else 0.0


def percent(value: float) -> str:
    """A share with one decimal."""
    return f"{100 * value:.1f} %"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.ljust(width) if index == 0 else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "| " + " | ".join(padded) + " |"


def _cell(value: object) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
