"""The runner is killed by SIGKILL around every append; the shop's own ledger is the judge.

Each case has a shop and a store of its own: run until the n-th append kills the process, then
resume in a new process. The ledger must count one order, and no step that was met may run again.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from fixtures.server import SiteServer
from webagent.core.event import ActionDispatched, Entry, Judged, StepFinished
from webagent.runtime.clock import SystemClock
from webagent.stores.sql import open_store

HERE = Path(__file__).parent
RECIPE = HERE / "recipe.yaml"
AT_ONCE = 2

pytestmark = pytest.mark.timeout(900)


class Zygotes:
    """Processes that fork runs (`dying_run`); as many runs at once as there are of them."""

    def __init__(self) -> None:
        self.free: asyncio.Queue[asyncio.subprocess.Process] = asyncio.Queue()
        self.all: list[asyncio.subprocess.Process] = []

    async def __aenter__(self) -> Zygotes:
        for _ in range(AT_ONCE):
            zygote = await asyncio.create_subprocess_exec(
                sys.executable, str(HERE / "dying_run.py"),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            self.all.append(zygote)
            self.free.put_nowait(zygote)
        return self

    async def __aexit__(self, *_: object) -> None:
        for zygote in self.all:
            if zygote.stdin is not None:
                zygote.stdin.close()
            await zygote.wait()


class Case:
    """One errand with a shop and a store of its own."""

    def __init__(self, folder: Path, sites: SiteServer, zygotes: Zygotes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.store = folder / "store"
        self.out = folder / "out"
        self.sites = sites
        self.zygotes = zygotes
        self.pid = 0

    async def finish(self, what: str, at: int = 0, when: str = "") -> tuple[int, str]:
        """Run to the end, or to its death: exit code (negative: the signal) and what it said."""
        zygote = await self.zygotes.free.get()
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        try:
            wanted = {
                "recipe": str(RECIPE), "store": str(self.store), "what": what, "at": at,
                "before": when == "before", "out": str(self.out),
                "env": {
                    "WEBAGENT_HOSTS": self.sites.hosts,
                    "SHOP_PASSWORD": "alder-and-birch",
                },
            }  # fmt: skip
            zygote.stdin.write(json.dumps(wanted).encode() + b"\n")
            await zygote.stdin.drain()
            self.pid = int((await zygote.stdout.readline()).split()[1])
            line = await asyncio.wait_for(zygote.stdout.readline(), 120)
            return int(line.split()[1]), self.out.read_text(encoding="utf-8")
        finally:
            self.zygotes.free.put_nowait(zygote)

    async def entries(self) -> tuple[Entry, ...]:
        store = open_store(self.store, SystemClock())
        try:
            return await store.entries(await store.find("last"))
        finally:
            await store.close()

    @property
    def orders(self) -> int:
        return self.sites.ledger.count("order")


def met(entries: tuple[Entry, ...]) -> set[str]:
    return {
        e.event.step
        for e in entries
        if isinstance(e.event, StepFinished) and e.event.state == "met"
    }


def acted(entries: tuple[Entry, ...]) -> Counter[str]:
    """Actions dispatched by each step's own segment."""
    return Counter(
        e.event.step
        for e in entries
        if isinstance(e.event, ActionDispatched) and e.event.segment == "step"
    )


async def test_killed_at_every_append_there_is_one_order_and_no_met_step_again(
    tmp_path: Path,
) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(at: int, when: str) -> bool:
        async with turns:
            with SiteServer() as sites:
                case = Case(tmp_path / f"{at}-{when}", sites, zygotes)
                return await killed_and_resumed(case, at, when)

    async with Zygotes() as zygotes:
        with SiteServer() as sites:
            whole = Case(tmp_path / "whole", sites, zygotes)
            code, said = await whole.finish("run")
            assert code == 0, said
            assert whole.orders == 1
            # Entries of one append have one time.
            total = len({e.at for e in await whole.entries()})
        jobs = [one(at, when) for at in range(1, total + 4) for when in ("before", "after")]
        deaths = sum(await asyncio.gather(*jobs))
    assert deaths >= 2 * total - 4, (deaths, total)


async def killed_and_resumed(case: Case, at: int, when: str) -> bool:
    """Whether the run came so far as to be killed; asserts what must hold after the resume."""
    label = f"{when} append {at}"
    code, said = await case.finish("run", at, when)
    if code != -signal.SIGKILL:
        assert code == 0, (label, said)
        return False
    entries = await case.entries()
    if not any(e.event.type == "PlanMade" for e in entries):
        return True
    done, before = met(entries), acted(entries)
    code, said = await case.finish("resume")
    assert code == 0, (label, said)
    assert case.orders == 1, label
    again = {s for s in acted(await case.entries()) - before if s in done}
    assert not again, (label, again)
    assert case.sites.ledger.count("sign_in") <= 2, label
    return True


async def test_killed_right_after_the_shop_wrote_the_order_it_is_met_by_the_probe(
    tmp_path: Path,
) -> None:
    async with Zygotes() as zygotes:
        with SiteServer() as sites:
            case = Case(tmp_path, sites, zygotes)
            sites.set_fault("shop-a.test", "order_delay", 30.0)
            sites.ledger.on_write(
                lambda write: os.kill(case.pid, signal.SIGKILL) if write.kind == "order" else None
            )
            code, said = await case.finish("run")
            assert code == -signal.SIGKILL, said
            sites.set_fault("shop-a.test", "order_delay", None)
            code, said = await case.finish("resume")
            assert code == 0, said
            assert case.orders == 1
        verdicts = [
            v
            for e in await case.entries()
            if isinstance(e.event, Judged) and e.event.step == "order" and e.event.phase == "after"
            for v in e.event.verdicts
        ]
    assert verdicts
    assert all(v.by_probe for v in verdicts)
