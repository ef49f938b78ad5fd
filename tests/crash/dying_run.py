"""Runs in processes of their own that are killed by SIGKILL before or after their n-th append.

One process loads everything and then forks for each line of JSON that it reads on its standard
input, ``{"recipe", "store", "what": "run" | "resume", "env", "out", "at", "before"}``: it answers
``pid N`` and, when that process has ended, ``ended CODE`` (negative: by this signal). Loading once
saves a second of CPU for each of some hundred deaths.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

import webagent
import webagent.executors.browser.session  # loaded before forking
import webagent.runtime.runner
from webagent.stores.sql import SqlStore

if TYPE_CHECKING:
    from webagent.core.effect import EffectChange
    from webagent.core.event import Entry, Event
    from webagent.ports import Lease


def die() -> None:
    """As `kill -9` would: no handler, no flush, no close."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying(at: int, *, before: bool) -> None:
    """Make every append from here on count, and the n-th the last."""
    keep = SqlStore.append
    count = 0

    async def append(
        self: SqlStore,
        lease: Lease,
        after: int,
        events: Sequence[Event],
        effects: Sequence[EffectChange] = (),
        *,
        durable: bool = False,
    ) -> tuple[Entry, ...]:
        nonlocal count
        count += 1
        if count == at and before:
            die()
        kept = await keep(self, lease, after, events, effects, durable=durable)
        if count == at:
            die()
        return kept

    SqlStore.append = append  # type: ignore[method-assign]  # this process is here to be killed


async def main(recipe: str, store: str, what: str) -> int:
    if what == "resume":
        result = await webagent.resume("last", store=store)
    else:
        result = await webagent.run(recipe, store=store, unattended=True)
    print(result.exit_code, result.reason)  # noqa: T201 - read by the test
    return result.exit_code


def child(wanted: dict[str, str | int | bool | dict[str, str]]) -> int:
    """Be the run: its output goes to a file, its environment is what the test says."""
    out = os.open(str(wanted["out"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    env = wanted["env"]
    assert isinstance(env, dict)
    os.environ.update(env)
    if wanted.get("at"):
        dying(int(str(wanted["at"])), before=bool(wanted["before"]))
    return asyncio.run(main(str(wanted["recipe"]), str(wanted["store"]), str(wanted["what"])))


def serve() -> None:
    """Fork for each line, one after the other."""
    for line in sys.stdin:
        wanted = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                code = child(wanted)
            except BaseException:  # noqa: BLE001 - the forked process must end here, saying why
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        print("pid", pid, flush=True)  # noqa: T201 - the protocol
        _, status = os.waitpid(pid, 0)
        print("ended", os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - the protocol


if __name__ == "__main__":
    serve()
