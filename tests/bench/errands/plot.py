"""Plots as SVG, by a small writer: lines over errand sizes, bars over faults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.bench.errands.cells import Cell

# Told apart by brightness too; readable on white and on dark grey.
COLOURS = {
    "FULL": "#c2410c", "WINDOW": "#7c3aed", "RESTART": "#64748b", "SUFFIX": "#0891b2",
    "OURS": "#15803d",
}  # fmt: skip
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 300, 210, 54, 34, 34
Series = Mapping[str, Sequence[tuple[float, float]]]


def svg(width: int, height: int, inner: str, about: str) -> str:
    """A whole picture on white, with its description."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(about)}" font-family="sans-serif" font-size="11">'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>{inner}</svg>\n'
    )


def words(x: float, y: float, text: str, *, anchor: str = "start", more: str = "") -> str:
    """A text at a place."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#1f2937"{more}>'
        f"{escape(text)}</text>"
    )


def lines(title: str, series: Series, x: float, y: float, *, logarithmic: bool = True) -> str:
    """Lines over a logarithmic axis of sizes, within the box at ``x``, ``y``."""
    points = [p for line in series.values() for p in line]
    if not points:
        return ""
    sizes = sorted({size for size, _ in points})
    low, high = _range([v for _, v in points], logarithmic=logarithmic)
    across = _scale(sizes[0], sizes[-1], x + LEFT, x + WIDTH - 12, logarithmic=True)
    up = _scale(low, high, y + HEIGHT - BOTTOM, y + TOP, logarithmic=logarithmic)
    out = [words(x + LEFT, y + 18, title, more=' font-weight="bold"')]
    for tick in _ticks(low, high, logarithmic=logarithmic):
        out.append(
            f'<path d="M{x + LEFT:.1f} {up(tick):.1f}H{x + WIDTH - 12:.1f}" stroke="#e5e7eb"/>'
        )
        out.append(words(x + LEFT - 5, up(tick) + 4, _short(tick), anchor="end"))
    out += [words(across(s), y + HEIGHT - 18, f"{s:g}", anchor="middle") for s in sizes]
    for name, line in series.items():
        path = " ".join(f"{across(s):.1f},{up(v):.1f}" for s, v in sorted(line))
        wide = 2.6 if name == "OURS" else 1.6
        out.append(
            f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" '
            f'stroke-width="{wide}"/>'
        )
        out += [
            f'<circle cx="{across(s):.1f}" cy="{up(v):.1f}" r="2.4" fill="{COLOURS[name]}"/>'
            for s, v in line
        ]
    return "".join(out)


def legend(names: Sequence[str], x: float, y: float) -> str:
    """Names beside their colours, in one row."""
    out = []
    for index, name in enumerate(names):
        at = x + 120 * index
        out.append(f'<rect x="{at}" y="{y - 9}" width="18" height="9" fill="{_colour(name)}"/>')
        out.append(words(at + 23, y, name))
    return "".join(out)


def _colour(name: str) -> str:
    return COLOURS[name.split(",", maxsplit=1)[0]]


def ladder_svg(cells: Sequence[Cell]) -> str:
    """Tokens, price and longest prompt over errand sizes, a row for each shape."""
    columns: tuple[tuple[str, Callable[[Cell], float]], ...] = (
        ("tokens sent", lambda c: float(c.sent)),
        ("price (input tokens)", lambda c: c.price),
        ("longest prompt of a step", lambda c: float(c.peaks.get("executor", 1))),
    )
    shapes = list(dict.fromkeys(c.shape for c in cells))
    # SUFFIX lies on RESTART where nothing fails.
    agents = [a for a in dict.fromkeys(c.agent for c in cells) if a != "SUFFIX"]
    inner = []
    for row, shape in enumerate(shapes):
        for column, (title, of) in enumerate(columns):
            series = {
                agent: [
                    (float(c.size), of(c)) for c in cells if (c.agent, c.shape) == (agent, shape)
                ]
                for agent in agents
            }
            inner.append(lines(f"{shape}: {title}", series, 10 + WIDTH * column,
                               4 + HEIGHT * row))  # fmt: skip
    height = HEIGHT * len(shapes) + 34
    names = ["RESTART, SUFFIX" if a == "RESTART" else a for a in agents]
    inner.append(legend(names, 64, height - 12))
    about = "Tokens, price and longest prompt by number of steps, simulated model"
    return svg(20 + WIDTH * len(columns), height, "".join(inner), about)


def _range(values: Sequence[float], *, logarithmic: bool) -> tuple[float, float]:
    if not logarithmic:
        return 0.0, max([*values, 1.0])
    low, high = min(values), max(values)
    return 10 ** math.floor(math.log10(max(low, 1))), 10 ** math.ceil(math.log10(max(high, 10)))


def _scale(
    low: float, high: float, begin: float, end: float, *, logarithmic: bool
) -> Callable[[float], float]:
    def place(value: float) -> float:
        if logarithmic:
            value, first, last = (math.log10(max(v, 1e-9)) for v in (value, low, high))
        else:
            first, last = low, high
        share = (value - first) / (last - first) if last > first else 0.5
        return begin + share * (end - begin)

    return place


def _ticks(low: float, high: float, *, logarithmic: bool) -> list[float]:
    if not logarithmic:
        return [high * n / 4 for n in range(5)]
    return [10.0**n for n in range(round(math.log10(low)), round(math.log10(high)) + 1)]


def _short(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
