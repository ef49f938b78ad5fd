"""A store on disk and real processes: races for a lease and a key, SIGKILL after an append."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from tests.contract.stage import SystemClock, change, done, started
from webagent.core.errors import EffectConflict, RunBusy
from webagent.stores.processes import this_runner
from webagent.stores.sql import open_store

SPAWN = multiprocessing.get_context("spawn")
RACERS = 4


def _acquire(folder: Path, barrier: Barrier, answers: Any, _number: int) -> None:
    import asyncio

    async def race() -> str:
        store = open_store(folder, SystemClock())
        barrier.wait(30)
        try:
            lease = await store.acquire("r1", this_runner())
        except RunBusy:
            return "busy"
        finally:
            barrier.wait(30)  # the holder stays alive until all have tried
            await store.close()
        return f"epoch {lease.epoch}"

    answers.put(asyncio.run(race()))


def _claim(folder: Path, barrier: Barrier, answers: Any, number: int) -> None:
    import asyncio

    async def race() -> str:
        store = open_store(folder, SystemClock())
        run = f"racer-{number}"
        await store.create(run, "cable", "race")
        lease = await store.acquire(run, this_runner())
        barrier.wait(30)
        try:
            for turn in range(5):
                claim = change(f"key-{turn}", "intended", None)
                try:
                    await store.append(lease, 0, [], [claim], durable=True)
                    answers.put((turn, run))
                except EffectConflict:
                    pass
        finally:
            barrier.wait(30)
            await store.close()
        return run

    asyncio.run(race())


def _race(work: Any, folder: Path) -> list[Any]:
    barrier, answers = SPAWN.Barrier(RACERS), SPAWN.Queue()
    racers = [SPAWN.Process(target=work, args=(folder, barrier, answers, n)) for n in range(RACERS)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(60)
        assert racer.exitcode == 0
    found = []
    while not answers.empty():
        found.append(answers.get())
    return found


async def test_of_processes_that_acquire_one_run_one_holds_it(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store", SystemClock())
    await store.create("r1", "cable", "race")
    found = _race(_acquire, tmp_path / "store")
    assert sorted(found) == ["busy"] * (RACERS - 1) + ["epoch 1"]
    assert await store.holder("r1") is None  # its process is gone: the lease ends with it
    await store.close()


async def test_of_processes_that_claim_one_key_one_has_it(tmp_path: Path) -> None:
    found = _race(_claim, tmp_path / "store")  # they also make the database together
    assert sorted(turn for turn, _ in found) == [0, 1, 2, 3, 4]
    store = open_store(tmp_path / "store", SystemClock())
    for turn, run in found:
        row = await store.effect(f"key-{turn}")
        assert row is not None
        assert row.run == run
    await store.close()


KILLED = """
    import asyncio, os, signal, sys
    from pathlib import Path
    from tests.contract.stage import SystemClock, change, done, started
    from webagent.stores.processes import this_runner
    from webagent.stores.sql import open_store

    async def main():
        store = open_store(Path(sys.argv[1]), SystemClock())
        await store.create("r1", "cable", "errand")
        lease = await store.acquire("r1", this_runner())
        durable = sys.argv[2] == "durable"
        await store.append(lease, 0, [started()])
        for n in range(20):
            await store.append(lease, 1 + n, [done(n)])
        await store.append(lease, 21, [done(20)], [change("k", "intended", None)], durable=durable)
        os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(main())
"""


def _killed(folder: Path, kind: str) -> int:
    script = [sys.executable, "-c", textwrap.dedent(KILLED), str(folder), kind]
    root = str(Path(__file__).parents[2])
    ended = subprocess.run(script, env={**os.environ, "PYTHONPATH": root}, check=False, timeout=60)
    return ended.returncode


@pytest.mark.crash
@pytest.mark.parametrize("kind", ["ordinary", "durable"])
async def test_what_append_returned_for_survives_sigkill(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "store"
    assert _killed(folder, kind) == -signal.SIGKILL
    store = open_store(folder, SystemClock())
    found = await store.entries("r1")
    assert [entry.seq for entry in found] == list(range(1, 23))
    assert [entry.event for entry in found] == [started(), *(done(n) for n in range(21))]
    row = await store.effect("k")
    assert row is not None
    assert row.state == "intended"
    lease = await store.acquire("r1", this_runner())  # at once: the holder is known to be gone
    assert lease.epoch == 2
    assert lease.previous is not None
    await store.close()
