"""What an errand costs as it grows: `make bench NAME=ladder`, `SIZES=5,10 AGENTS=OURS,FULL` a part.

Errands of 5 to 200 steps in three shapes (`tests.bench.errands.task`), on local sites, without a
recipe and without sightings, by five agents in the same browser with the same outlines and tools.
Real: browser, pages over HTTP, the SDK, runner, store. Simulated: the model, which errs where its
prompt lacks a fact, its tokens (3.5 bytes each) and its cache (by the documented rules).

RESTART and SUFFIX differ only where something fails: here nothing does, so they are run once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.bench.errands import cells
from tests.bench.errands.cells import AGENTS, FULL, OURS, RESTART, SUFFIX, WINDOW, Cell
from tests.bench.errands.plot import ladder_svg
from tests.bench.errands.task import SHAPES, Shape
from tests.bench.parts import figures
from tests.bench.parts.figures import Bar
from webagent.core.errors import BrowserNotFound
from webagent.executors.browser import chromium

NAME = "ladder"
SIZES = (5, 10, 20, 50, 100, 200)
Key = tuple[str, Shape, int]


def run(key: Key) -> Cell:
    """One cell, in a process of its own."""
    return cells.measure(*key)


def bars(found: dict[Key, Cell]) -> dict[str, Bar]:
    """What this bench promises, as far as it was measured."""
    made: dict[str, Bar] = {}

    def worst(name: str, bar: Bar, values: Iterable[float]) -> None:
        ratios = list(values)
        if ratios:
            made[name] = Bar(max(ratios), bar.bar, bar.must)

    def against(
        other: str, of: Callable[[Cell], float], sizes: Callable[[int], bool]
    ) -> list[float]:
        return [
            of(cell) / of(found[other, shape, size])
            for (agent, shape, size), cell in found.items()
            if agent == OURS and sizes(size) and (other, shape, size) in found
        ]

    ours = [cell for cell in found.values() if cell.agent == OURS]
    worst("tokens against FULL, from 50 steps", Bar(0, 0.18),
          against(FULL, tokens, lambda n: n >= 50))  # fmt: skip
    worst("tokens against WINDOW, from 50 steps", Bar(0, 1.0, "below"),
          against(WINDOW, tokens, lambda n: n >= 50))  # fmt: skip
    worst("tokens against WINDOW, at 5 steps", Bar(0, 1.1),
          against(WINDOW, tokens, lambda n: n == 5))  # fmt: skip
    worst("price against FULL, from 20 steps", Bar(0, 1.0, "below"),
          against(FULL, lambda c: c.price, lambda n: n >= 20))  # fmt: skip
    worst("longest prompt of a step, largest errand against smallest", Bar(0, 1.1), _growth(ours))
    worst("makespan against what graph and tabs allow", Bar(0, 1.1),
          (c.seconds / c.bound for c in ours if c.bound))  # fmt: skip
    made["errands of ours that did not end met"] = Bar(sum(not c.met for c in ours), 0, "equal")
    return made


def tokens(cell: Cell) -> float:
    """What a cell cost in tokens of prompts."""
    return float(cell.sent)


def _growth(ours: Sequence[Cell]) -> list[float]:
    sizes = sorted({c.size for c in ours})
    peaks = {(c.shape, c.size): c.peaks["executor"] for c in ours}
    shapes = {c.shape for c in ours}
    return [
        peaks[s, sizes[-1]] / peaks[s, sizes[0]]
        for s in shapes
        if (s, sizes[-1]) in peaks and (s, sizes[0]) in peaks
    ]


def print_all(found: Sequence[Cell]) -> None:
    """The tables."""
    figures.print_table(
        "Each errand by each agent (price in thousands of uncached input tokens: a cache read 0.1, "
        "a write 1.25, an output token 5)",
        ("", "steps", "agent", "met", "tokens sent", "price", "longest prompt", "planner's",
         "calls: executor", "planner", "pages", "seconds", "critical path"),
        [
            (
                c.shape, c.size, c.agent, "yes" if c.met else f"no: {c.reason[:60]}",
                f"{c.sent:,}", f"{c.price / 1000:.1f}", f"{c.peaks.get('executor', 0):,}",
                f"{c.peaks.get('planner', 0):,}", c.calls.get("executor", 0),
                c.calls.get("planner", 0), c.pages, c.seconds,
                f"{c.critical:.1f} ({c.bound:.1f})" if c.critical else "",
            )
            for c in found
        ],
    )  # fmt: skip
    print_crossover(found)


def print_crossover(found: Sequence[Cell]) -> None:
    """Where a simpler agent is cheaper: the sizes at which each costs less than OURS."""
    at = {(c.agent, c.shape, c.size): c for c in found}
    rows = []
    for agent in dict.fromkeys(c.agent for c in found if c.agent != OURS):
        for shape in dict.fromkeys(c.shape for c in found):
            pairs = [
                (c, at[OURS, shape, c.size])
                for c in found
                if c.agent == agent and c.shape == shape and (OURS, shape, c.size) in at
            ]
            fewer = [c.size for c, our in pairs if c.sent < our.sent]
            cheaper = [c.size for c, our in pairs if c.price < our.price]
            rows.append((agent, shape, _list(fewer), _list(cheaper)))
    figures.print_table(
        "Where a simpler agent is cheaper than OURS, by errand size",
        ("", "shape", "fewer tokens at", "lower price at"), rows,
    )  # fmt: skip


def _list(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes)) or "never"


def chosen(name: str, known: Sequence[str]) -> list[str]:
    """A list from the environment (``SIZES=5,10``), else all."""
    asked = [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
    return asked or list(known)


def twins(found: Iterable[Cell]) -> list[Cell]:
    """The cells with SUFFIX's beside RESTART's: without a fault they are one and the same."""
    both: list[Cell] = []
    for cell in found:
        both.append(cell)
        if cell.agent == RESTART:
            both.append(Cell(**{**asdict(cell), "agent": SUFFIX}))
    return both


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench NAME=ladder", description=__doc__)
    parser.add_argument("--sizes", default=",".join(chosen("SIZES", [str(n) for n in SIZES])))
    parser.add_argument("--agents", default=",".join(chosen("AGENTS", AGENTS)))
    parser.add_argument("--shapes", default=",".join(chosen("SHAPES", SHAPES)))
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--plot", type=Path, help="draw the figures into this SVG")
    parser.add_argument("--keep", type=Path, help="keep the cells here, and measure only new ones")
    asked = parser.parse_args(argv)
    try:
        chromium.find(None)
    except BrowserNotFound as absent:
        print(f"Skipped: {absent}")
        return 0
    began = time.monotonic()
    wanted = [a for a in asked.agents.split(",") if a != SUFFIX or RESTART not in asked.agents]
    keys: list[Key] = [
        (agent, shape, int(size))
        for size in asked.sizes.split(",")
        for shape in SHAPES
        if shape in asked.shapes.split(",")
        for agent in wanted
    ]
    found = {key: cell for key, cell in _kept(asked.keep).items() if key in keys}
    # Spawned, so that no worker shares an event loop or a server with its parent.
    with multiprocessing.get_context("spawn").Pool(asked.jobs, maxtasksperchild=1) as pool:
        left = [key for key in keys if key not in found]
        for key, cell in zip(left, pool.imap(run, left, chunksize=1), strict=True):
            found[key] = cell
            _keep(asked.keep, cell)
    print(f"{figures.machine()}; {time.monotonic() - began:.0f} s in {asked.jobs} processes")
    print("Simulated: the model, its tokens and its cache; the sites, on loopback. Real: browser, "
          "SDK, runner, store.")  # fmt: skip
    all_of = twins(found[key] for key in keys)
    print_all(all_of)
    if asked.plot:
        asked.plot.write_text(ladder_svg(all_of), "utf-8")
    cells_told = [[c.agent, c.shape, c.size, c.sent, c.price, c.pages, c.seconds] for c in all_of]
    held = figures.print_end(NAME, bars(found), cells=cells_told)
    return 0 if held else 1


def _kept(file: Path | None) -> dict[Key, Cell]:
    if file is None or not file.exists():
        return {}
    cells_of = [Cell(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    return {(c.agent, c.shape, c.size): c for c in cells_of}


def _keep(file: Path | None, cell: Cell) -> None:
    if file is not None:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(cell)) + "\n")


if __name__ == "__main__":
    sys.exit(main())
