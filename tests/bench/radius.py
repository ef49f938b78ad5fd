"""How much of a plan one failure takes along: `make bench NAME=radius`, `--sample N` for a part.

All 2,146 gold workflow graphs of WorFBench become plans; in each run one node fails once, every
node in its turn. What is real and what is scripted, and in which shares nodes fail how, is told by
`tests.bench.parts.failing` and `tests.bench.parts.worfbench`.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from tests.bench.parts import figures
from tests.bench.parts.failing import Counted, fail_each_node
from tests.bench.parts.figures import Bar, mean, median, percent
from tests.bench.parts.worfbench import CHAINED_SHARE, DATA, SHARES, Graph, load

SEED = 2
NAME = "radius"


def count(graphs: Sequence[Graph], seed: int, jobs: int = 1) -> list[Counted]:
    """Every node of these graphs failing once."""
    work = partial(count_graph, seed=seed)
    if jobs == 1:
        return [run for graph in graphs for run in work(graph)]
    # Spawned, so that no worker shares an event loop or a lock with its parent.
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        return [run for runs in pool.imap(work, graphs, chunksize=20) for run in runs]


def count_graph(graph: Graph, seed: int) -> list[Counted]:
    """Every node of one graph failing once."""
    return asyncio.run(fail_each_node(graph, seed))


def bars(runs: Sequence[Counted]) -> dict[str, Bar]:
    """What this bench promises."""
    branching = [r for r in runs if r.branching]
    below = mean([r.descendants for r in branching])
    ours = mean([r.ours for r in branching])
    return {
        "validated steps executed again without a reopening": Bar(
            sum(r.reexecuted for r in runs), 0, "equal"
        ),
        "runs that did not end met": Bar(sum(not r.met for r in runs), 0, "equal"),
        "our mean share on branching graphs, against node + descendants": Bar(ours, below, "below"),
    }


def print_all(runs: Sequence[Counted]) -> None:
    """The tables."""
    branching = [r for r in runs if r.branching]
    columns = ("", "all: mean", "median", "branching: mean", "median")
    ways: dict[str, Callable[[Counted], float]] = {
        "ours (executor's log)": lambda r: r.ours,
        "  of these reopened by name": lambda r: r.by_name,
        "  actions performed again": lambda r: r.actions,
        "node + descendants": lambda r: r.descendants,
        "suffix of the order": lambda r: r.suffix,
        "restart": lambda _: 1.0,
    }
    figures.print_table(
        "Share of the plan redone or regenerated after one failure", columns,
        [(name, *_spread(way, runs), *_spread(way, branching)) for name, way in ways.items()],
    )  # fmt: skip
    names = ("ours (executor's log)", "node + descendants", "suffix of the order", "restart")
    figures.print_table(
        "Share of the plan that had been executed when the failure was seen and is run again",
        columns,
        [
            (name, *_spread(partial(_done, i), runs), *_spread(partial(_done, i), branching))
            for i, name in enumerate(names)
        ],
    )
    rows = []
    groups: list[tuple[str, list[Counted]]] = [
        (kind, [r for r in runs if r.kind == kind]) for kind in SHARES
    ]
    groups.append(("in continues chains", [r for r in runs if r.chained]))
    for name, group in groups:
        rows.append((
            name, len(group), percent(mean([r.ours for r in group])),
            percent(mean([r.by_name for r in group])), sum(r.reexecuted for r in group),
            sum(r.asked for r in group),
        ))  # fmt: skip
    figures.print_table(
        "By what went wrong",
        ("", "runs", "ours: mean", "reopened", "executed again", "planner asked"), rows,
    )  # fmt: skip


def _done(index: int, run: Counted) -> float:
    return run.done[index]


def _spread(way: Callable[[Counted], float], runs: Iterable[Counted]) -> tuple[str, str]:
    values = [way(run) for run in runs]
    return percent(mean(values)), percent(median(values))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench NAME=radius", description=__doc__)
    parser.add_argument("--sample", type=int, help="so many graphs, evenly taken, instead of all")
    parser.add_argument(
        "--seed", type=int, default=SEED, help="of every choice (default %(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    asked = parser.parse_args(argv)
    if not DATA.is_file():
        print("Skipped: the graphs are not on this machine (../shared/data/plan_graphs).")
        return 0
    graphs = load(asked.sample)
    began = time.monotonic()
    runs = count(graphs, asked.seed, asked.jobs)
    took = time.monotonic() - began
    shares = ", ".join(f"{kind} {share:.0%}" for kind, share in SHARES.items())
    print(f"{figures.machine()}; {took:.0f} s in {asked.jobs} processes")
    print(f"{len(graphs)} graphs ({Counter(g.is_path for g in graphs)[False]} branch), "
          f"{len(runs)} runs, one failing node each; seed {asked.seed}")  # fmt: skip
    print(f"Failures drawn: {shares}; stale ones only where a predecessor named the page, "
          f"else early; {CHAINED_SHARE:.0%} of the paths are one continues chain.")  # fmt: skip
    print("Simulated: pages, clock and planner (the same segment again). Real: recipe parser, "
          "compiler, engine, runner, memory store.")  # fmt: skip
    print_all(runs)
    good = figures.print_end(
        NAME, bars(runs), graphs=len(graphs), runs=len(runs), seed=asked.seed,
        ours_mean=round(mean([r.ours for r in runs]), 4),
        ours_median=round(median([r.ours for r in runs]), 4),
    )  # fmt: skip
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
