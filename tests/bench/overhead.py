"""What webagent costs beside plain Playwright: `make bench NAME=overhead`, `--rounds N`.

Thirty actions on the fixture sites (`parts/errand.yaml`) as `webagent run --unattended` does them:
SQLite on disk, guard, judging, the session kept after each step. Beside it the same actions in
plain Playwright (`parts/plain.py`) with the same browser and arguments. Both sides and every
variant take turns within a round, so that what else the machine does hits all alike; a figure is
the median over the rounds of the ratio (or difference) within a round. The sites are served by
another process.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.parts import figures, ours, plain
from tests.bench.parts.figures import Bar, median
from tests.bench.parts.ours import VARIANTS, Took
from webagent.core.errors import BrowserNotFound
from webagent.executors.browser import chromium

NAME = "overhead"
ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "recipes" / "compare_and_order.yaml"
ROUNDS = 11
PLAIN_TABS = "plain, a tab for each step"
MOST_TIMES_PLAIN = 1.25
MOST_CPU = 0.5
COMMANDS = {"webagent --help": ["--help"], "webagent check": ["check", str(RECIPE)]}


class Sites:
    """The fixture sites in a process of their own."""

    def __init__(self, hosts: str) -> None:
        self.hosts = hosts
        self.port = int(hosts.rsplit(":", 1)[1])
        pairs = [pair.split("=") for pair in hosts.split(",")]
        rules = [f"MAP {name}:80 {place}" for name, place in pairs]
        self.rules = ", ".join([*rules, "MAP * ~NOTFOUND"])

    def reset(self) -> None:
        """Everything as at the start: no run finds the people of another."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("POST", "/reset", headers={"Host": "control.test"})
        connection.getresponse().read()
        connection.close()


@contextmanager
def serving() -> Iterator[Sites]:
    """The sites, until the bench is over."""
    served = subprocess.Popen(
        [sys.executable, "-m", "fixtures.server"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert served.stdout is not None
        yield Sites(served.stdout.readline().strip().removeprefix("WEBAGENT_HOSTS="))
    finally:
        served.terminate()
        served.wait()


async def measure(rounds: int, executable: str) -> list[dict[str, Took]]:
    """So many rounds, after one that only warms up; in each every side once, in turning order."""
    found = []
    sides = ["plain", PLAIN_TABS, *VARIANTS]
    with serving() as sites:
        for number in range(rounds + 1):
            turn = number % len(sides)
            took: dict[str, Took] = {}
            for side in (*sides[turn:], *sides[:turn]):
                sites.reset()
                if side in ("plain", PLAIN_TABS):
                    tabs = side == PLAIN_TABS
                    took[side] = Took(*await plain.run(executable, sites.rules, tabs=tabs))
                else:
                    with tempfile.TemporaryDirectory(prefix="webagent-bench-") as folder:
                        took[side] = await ours.run(Path(folder), sites.hosts, side)
            if number:
                found.append(took)
    return found


def times_plain(rounds: Sequence[dict[str, Took]], side: str, what: str) -> float:
    """The median over rounds of a side against plain Playwright in the same round."""
    return median([getattr(r[side], what) / getattr(r["plain"], what) for r in rounds])


def print_rounds(rounds: Sequence[dict[str, Took]]) -> None:
    """The tables of the sides and of the features."""
    rows: list[tuple[str, ...]] = [
        (
            side,
            f"{1000 * median([r[side].inside for r in rounds]):.0f}",
            f"{times_plain(rounds, side, 'inside'):.2f}",
            f"{1000 * median([r[side].whole for r in rounds]):.0f}",
            f"{times_plain(rounds, side, 'whole'):.2f}",
        )
        for side in ("plain", PLAIN_TABS, *VARIANTS)
    ]
    figures.print_table(
        f"Thirty actions, {len(rounds)} rounds, medians",
        ("", "ms", "times plain", "ms with browser start and end", "times plain"), rows,
    )  # fmt: skip
    features = {
        "journal on disk": "journal in memory", "guard": "no guard", "judging": "no judging",
        "session kept": "session not kept", "all four": "none of these",
    }  # fmt: skip
    rows = []
    for feature, side in features.items():
        more = [r["default"].inside - r[side].inside for r in rounds]
        share = [ms / r["plain"].inside for ms, r in zip(more, rounds, strict=True)]
        rows.append((feature, f"{1000 * median(more):.0f}", f"{median(share):.2f}"))
    figures.print_table(
        "What each feature costs: default less the variant without it, within a round",
        ("", "ms", "times plain"), rows,
    )  # fmt: skip


def cpu_of(arguments: Sequence[str]) -> tuple[float, bool]:
    """The CPU seconds of one command, and whether it imported Playwright."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "webagent", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "webagent", *arguments],
        check=True, capture_output=True, text=True, cwd=ROOT,
    ).stderr  # fmt: skip
    return cpu, "playwright" in told


def measure_commands(times: int) -> tuple[dict[str, float], list[str]]:
    """The least CPU seconds of each command, and those that imported Playwright."""
    cpu, loaded = {}, []
    for name, arguments in COMMANDS.items():
        taken = [cpu_of(arguments) for _ in range(times)]
        # Another process can only make the same work cost more: the least is nearest the truth.
        cpu[name] = min(seconds for seconds, _ in taken)
        if any(found for _, found in taken):
            loaded.append(name)
    figures.print_table(
        f"Commands that need no browser, the least of {times}",
        ("", "CPU s", "imports Playwright"),
        [(name, f"{taken:.2f}", "yes" if name in loaded else "no") for name, taken in cpu.items()],
    )  # fmt: skip
    return cpu, loaded


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench NAME=overhead", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    asked = parser.parse_args(argv)
    try:
        browser = chromium.find(None)
    except BrowserNotFound as absent:
        print(f"Skipped: {absent}")
        return 0
    print(f"{figures.machine()}; {browser}")
    print("Simulated: the sites, on loopback. Real: browser, recipe, engine, runner, executor, "
          "guard, SQLite on disk.")  # fmt: skip
    rounds = asyncio.run(measure(asked.rounds, str(browser.path)))
    print_rounds(rounds)
    cpu, loaded = measure_commands(max(3, asked.rounds // 2))
    bars = {
        "thirty actions, times plain Playwright": Bar(
            times_plain(rounds, "default", "inside"), MOST_TIMES_PLAIN
        ),
        **{f"{name}: CPU seconds": Bar(seconds, MOST_CPU) for name, seconds in cpu.items()},
        "commands that import Playwright": Bar(len(loaded), 0, "equal"),
    }
    good = figures.print_end(
        NAME, bars, rounds=len(rounds),
        with_browser_start=round(times_plain(rounds, "default", "whole"), 3),
    )  # fmt: skip
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
