"""What one fault takes along: `make bench NAME=locality`, `SIZES=5 AGENTS=OURS,FULL` for a part.

Eleven faults, each at 10, 50 and 90 % of the way through a chain of steps of which every fifth
writes (`tests.bench.errands.faults`), for five agents. An errand is done once without a fault, so
that those who keep a plan have one (OURS its segments, RESTART and SUFFIX the moves of each step);
then again without a fault, which is the control, and with each fault. Counted: the journal's or the
agent's steps, the sites' own ledger, tokens and pages above the control.

Real: browser, pages over HTTP, the SDK, runner, store. Simulated: the model, which errs where its
prompt lacks a fact; whether it looks first or tries again after a write of unknown outcome falls by
the seed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.bench.errands import faulty
from tests.bench.errands.cells import AGENTS, OURS
from tests.bench.errands.faults import FAULTS, FaultKind
from tests.bench.errands.faulty import Row
from tests.bench.errands.plot import locality_svg
from tests.bench.parts import figures
from tests.bench.parts.figures import Bar, median
from webagent.core.errors import BrowserNotFound
from webagent.executors.browser import chromium

NAME = "locality"
SIZES, LARGE = (5, 20), (50, 200)
PLACES = (10, 50, 90)
# In large errands, where a run takes minutes: one of each kind of repair, half of the way.
SAMPLE: tuple[FaultKind, ...] = (
    "label changed", "wrong item preselected", "value gone upstream", "write applied, then 503"
)  # fmt: skip
Key = tuple[str, int, tuple[tuple[FaultKind, int], ...]]


def run(key: Key) -> list[Row]:
    """The rows of one agent and size, in a process of its own."""
    return faulty.measure(*key)


def cases(agent: str, size: int, kinds: Sequence[FaultKind], places: Sequence[int]) -> Key:
    """What one agent meets in an errand of one size."""
    if size in LARGE:
        return agent, size, tuple((kind, 50) for kind in kinds if size < 200 or kind in SAMPLE)
    return agent, size, tuple((kind, place) for kind in kinds for place in places)


def bars(rows: Sequence[Row]) -> dict[str, Bar]:
    """What this bench promises of OURS."""
    ours = [r for r in rows if r.agent == OURS]
    met = [r for r in ours if r.fault]
    stale = [r.replanned + r.reopened for r in met if r.fault == "value gone upstream"]
    others = [r.replanned + r.reopened for r in met if r.fault != "value gone upstream"]
    found = {
        "steps planned again, of one fault": Bar(max(others, default=0), 1),
        "the same, where a value went stale upstream": Bar(max(stale, default=0), 2),
        "steps executed again that were validated": Bar(sum(r.again for r in ours), 0, "equal"),
        "other steps whose plan is not byte for byte what it was": Bar(
            sum(r.changed for r in ours), 0, "equal"
        ),
        "writes repeated": Bar(sum(r.repeated for r in ours), 0, "equal"),
        "writes lost": Bar(sum(r.lost for r in ours), 0, "equal"),
        "writes that should not be": Bar(sum(r.wrong for r in ours), 0, "equal"),
        "cells that did not end as they should": Bar(sum(not r.good for r in ours), 0, "equal"),
        "false alarms on clean runs": Bar(
            sum(r.replanned + r.calls for r in ours if not r.fault), 0, "equal"
        ),
    }
    if (growth := _growth(ours)) is not None:
        found["extra tokens of a fault, in the largest errand against the smallest"] = growth
    return found


def _growth(ours: Sequence[Row]) -> Bar | None:
    """The largest ratio over the faults that took a model; each fault by the median of places."""
    sizes = sorted({r.size for r in ours})
    took: dict[tuple[str, int], list[float]] = defaultdict(list)
    for row in ours:
        if row.fault:
            took[row.fault, row.size].append(float(row.tokens))
    ratios = [
        median(took[fault, sizes[-1]]) / max(median(took[fault, sizes[0]]), 1.0)
        for fault, size in took
        if size == sizes[-1] and (fault, sizes[0]) in took and any(took[fault, sizes[-1]])
    ]
    return Bar(max(ratios), 1.1) if ratios and len(sizes) > 1 else None


def print_all(rows: Sequence[Row]) -> None:
    """The tables."""
    control = {(r.agent, r.size): r for r in rows if not r.fault}
    lines = []
    for (agent, size), base in control.items():
        met = [r for r in rows if (r.agent, r.size) == (agent, size) and r.fault]
        if not met:
            continue
        plans = agent not in ("FULL", "WINDOW")
        lines.append((
            agent, size, f"{sum(r.good for r in met)} of {len(met)}",
            _most(r.replanned for r in met) if plans else "no plan",
            _most(r.again for r in met), _most(r.reopened for r in met),
            _most(r.changed for r in met) if plans else "no plan",
            sum(r.repeated for r in met), sum(r.lost for r in met), sum(r.wrong for r in met),
            f"{median([float(r.tokens - base.tokens) for r in met]):,.0f}",
            f"{max(r.tokens - base.tokens for r in met):,}",
            f"{median([float(r.pages - base.pages) for r in met]):.0f}",
            base.replanned + base.again,
        ))  # fmt: skip
    figures.print_table(
        "One fault in an errand (steps: the mean, and the most, of a fault; tokens and pages: above"
        " the same errand without a fault)",
        ("", "steps", "ended as it should", "planned again", "executed again", "reopened",
         "others changed", "writes repeated", "lost", "wrong", "tokens: median", "most",
         "pages: median", "false alarms"), lines,
    )  # fmt: skip
    ours = [r for r in rows if r.agent == OURS]
    sizes = sorted({r.size for r in ours})
    figures.print_table(
        "OURS, by fault: steps planned again or reopened, tokens and pages above the control, by "
        "errand size (the worst of its places)",
        ("", *(f"{size}: {what}" for size in sizes for what in ("steps", "tokens", "pages"))),
        [
            (kind, *(cell for size in sizes for cell in _worst(ours, control, kind, size)))
            for kind in dict.fromkeys(r.fault for r in ours if r.fault)
        ],
    )
    for row in rows:
        if row.fault and not row.good and row.agent == OURS:
            print(f"not as it should be: {row.size} steps, {row.fault} at {row.number}: "
                  f"{row.reason}")  # fmt: skip


def _most(values: object) -> str:
    found = list(map(float, values))  # type: ignore[call-overload]  # an iterable of counts
    return f"{figures.mean(found):.1f} ({max(found):.0f})"


def _worst(
    ours: Sequence[Row], control: dict[tuple[str, int], Row], kind: str, size: int
) -> tuple[object, ...]:
    met = [r for r in ours if (r.fault, r.size) == (kind, size)]
    if not met:
        return "", "", ""
    base = control[OURS, size]
    return (
        max(r.replanned + r.reopened for r in met),
        f"{max(r.tokens - base.tokens for r in met):,}",
        max(r.pages - base.pages for r in met),
    )


def _chosen(name: str, known: Sequence[str]) -> str:
    return os.environ.get(name, "") or ",".join(known)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench NAME=locality", description=__doc__)
    parser.add_argument("--sizes", default=_chosen("SIZES", [str(n) for n in (*SIZES, *LARGE)]))
    parser.add_argument("--agents", default=_chosen("AGENTS", AGENTS))
    parser.add_argument("--faults", default=_chosen("FAULTS", [f.replace(",", "") for f in FAULTS]))
    parser.add_argument("--places", default=_chosen("PLACES", [str(n) for n in PLACES]))
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--plot", type=Path, help="draw the figures into this SVG")
    parser.add_argument("--keep", type=Path, help="keep the rows here, and measure only new ones")
    asked = parser.parse_args(argv)
    try:
        chromium.find(None)
    except BrowserNotFound as absent:
        print(f"Skipped: {absent}")
        return 0
    began = time.monotonic()
    kinds = [f for f in FAULTS if f.replace(",", "") in asked.faults.split(",")]
    places = [int(place) for place in asked.places.split(",")]
    sizes = [int(size) for size in asked.sizes.split(",")]
    keys = [
        cases(agent, size, kinds, places)
        for size in sizes
        for agent in asked.agents.split(",")
        if size not in LARGE or agent == OURS
    ]
    rows = _kept(asked.keep)
    done = {(r.agent, r.size) for r in rows}
    # Spawned, so that no worker shares an event loop or a server with its parent.
    with multiprocessing.get_context("spawn").Pool(asked.jobs, maxtasksperchild=1) as pool:
        left = [key for key in keys if key[:2] not in done]
        for found in pool.imap(run, left, chunksize=1):
            rows += found
            _keep(asked.keep, found)
    print(f"{figures.machine()}; {time.monotonic() - began:.0f} s in {asked.jobs} processes")
    print(f"{sum(bool(r.fault) for r in rows)} runs with a fault, {len(kinds)} kinds of fault")
    print("Simulated: the model, its tokens and its cache; the sites, on loopback. Real: browser, "
          "SDK, runner, store.")  # fmt: skip
    print_all(rows)
    if asked.plot:
        asked.plot.write_text(locality_svg(rows), "utf-8")
    held = figures.print_end(NAME, bars(rows), runs=len(rows), kinds=len(kinds))
    return 0 if held else 1


def _kept(file: Path | None) -> list[Row]:
    if file is None or not file.exists():
        return []
    return [Row(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def _keep(file: Path | None, rows: Sequence[Row]) -> None:
    if file is not None:
        with file.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(asdict(row)) + "\n" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
