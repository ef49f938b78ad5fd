"""Plots as SVG, by a small writer: lines over errand sizes, bars over faults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.bench.errands.cells import Cell
    from tests.bench.errands.faulty import Row

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
        at = x + 138 * index
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


def locality_svg(rows: Sequence[Row]) -> str:
    """By agent: steps done or planned again, writes repeated and lost, tokens above the control."""
    sizes = sorted({r.size for r in rows})
    agents = [a for a in COLOURS if any(r.agent == a for r in rows)]
    base = {(r.agent, r.size): r for r in rows if not r.fault}
    columns: tuple[tuple[str, Callable[[Row], float]], ...] = (
        ("steps planned again", lambda r: float(r.replanned + r.reopened)),
        ("steps executed again", lambda r: float(r.again)),
        ("writes repeated or wrong, per 100 faults", lambda r: 100.0 * (r.repeated + r.wrong)),
        ("extra tokens", lambda r: float(max(r.tokens - base[r.agent, r.size].tokens, 0))),
    )
    inner = []
    for column, (title, of) in enumerate(columns):
        bars: dict[str, list[tuple[str, float]]] = {}
        for agent in agents:
            for size in sizes:
                found = [of(r) for r in rows if (r.agent, r.size) == (agent, size) and r.fault]
                if found and not (column == 0 and agent in ("FULL", "WINDOW")):
                    bars.setdefault(agent, []).append((f"{size}", sum(found) / len(found)))
        x, y = 10 + 330 * (column % 2), 4 + 240 * (column // 2)
        inner.append(_bars(title, bars, x, y))
    inner.append(legend(agents, 24, 510))
    about = "What one fault costs, by agent and number of steps, simulated model"
    return svg(680, 522, "".join(inner), about)


def _bars(title: str, groups: Mapping[str, Sequence[tuple[str, float]]], x: int, y: int) -> str:
    """Groups of bars over their labels; each bar's value stands on it."""
    every = [value for bars in groups.values() for _, value in bars]
    most, left = max([*every, 1e-9]), float(x + 14)
    slot = 300 / max(len(every) + len(groups), 1)
    floor, height = y + 200.0, 150.0
    out = [words(x + 14, y + 18, f"{title} (mean)", more=' font-weight="bold"')]
    out.append(f'<path d="M{x + 14} {floor}H{x + 318}" stroke="#9ca3af"/>')
    for name, bars in groups.items():
        for label, value in bars:
            tall = height * value / most
            out.append(
                f'<rect x="{left:.1f}" y="{floor - tall:.1f}" width="{slot - 3:.1f}" '
                f'height="{tall:.1f}" fill="{COLOURS[name]}"/>'
            )
            small = ' font-size="9"'
            at = left + (slot - 3) / 2
            out.append(
                words(at, floor - tall - 4, _short_value(value), anchor="middle", more=small)
            )
            out.append(words(at, floor + 13, label, anchor="middle", more=small))
            left += slot
        left += slot
    out.append(words(x + 166, floor + 27, "steps of the errand", anchor="middle"))
    return "".join(out)


def _short_value(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.0f}{unit}"
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
