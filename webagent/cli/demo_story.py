"""The demo's story: two local shops, one order, a runner killed right after it was sent, a resume.

The shops live in this process, the runner in another, which is killed by SIGKILL from the shop's
own hook: after the order is in its ledger and before its answer. What is shown is read from the
journal on disk, as anybody else could read it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from webagent.cli import ending
from webagent.cli.progress import Lines, LiveTree, Silent, tree
from webagent.core.errors import StoreError, WebagentError
from webagent.core.event import Entry, PlanRevised
from webagent.demo.ledger import Write
from webagent.demo.serving import ShopServer
from webagent.engine.reuse import executed_again
from webagent.engine.state import RunState, advance
from webagent.interface.records import opened
from webagent.settings import Settings

RECIPES = ("recipe.yaml", "sign_in_shop_a.yaml")
PASSWORD = "alder-and-birch"  # of the demo's own shop, which lives as long as this command
# Longer than the kill takes: the shop's answer must never reach the runner that dies.
HELD_SECONDS = 2.0
RUN_SECONDS = 80.0
POLL_SECONDS = 0.08
PARK_SECONDS = 10.0


@dataclass(slots=True)
class Told:
    """What came of the demo. ``orders``: the shop's own count, not our journal's."""

    run: str = ""
    status: str = "failed"
    steps: dict[str, str] = field(default_factory=dict)
    revised: tuple[str, ...] = ()
    reexecuted: tuple[str, ...] = ()
    orders: int = 0
    order_number: str | None = None
    killed: bool = False

    @property
    def exit_code(self) -> int:
        """0 only when the errand is met, the kill took place and the ledger has one order."""
        good = self.status == "met" and self.killed and self.orders == 1
        return 0 if good else ending.EXIT_FAILED

    def as_json(self) -> dict[str, Any]:
        """The demo's last line."""
        return {
            "status": self.status, "steps": self.steps, "revised": list(self.revised),
            "reexecuted": list(self.reexecuted), "orders": self.orders, "run": self.run,
            "order_number": self.order_number, "killed": self.killed,
        }  # fmt: skip


def play(settings: Settings, console: Console, *, as_json: bool, still: bool = False) -> Told:
    """Play the whole demo. ``still``: without moving pictures.

    Raises:
        WebagentError: the runner could not even begin, for want of a browser say.
    """
    # The answer that is held for a dead runner is cut off at the end, which is no news.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    folder = Path(tempfile.mkdtemp(prefix="webagent-demo-"))
    recipe = _write_recipe(folder)
    apart = replace(settings, store=folder / "store", database=None)
    say = _Voice(console, quiet=as_json)
    with ShopServer() as shops:
        env = {
            **settings.env,
            "WEBAGENT_HOSTS": shops.hosts,
            "WEBAGENT_STORE": str(apart.store),
            "SHOP_PASSWORD": PASSWORD,
        }
        player = _Player(apart, env, say, console, moving=not (as_json or still))
        say(f"Two shops are open on this machine. The errand: {recipe}")
        killer = _Killer(shops)
        first = player.run(["run", str(recipe)], killer.aim_at)
        if not killer.done.is_set():
            raise _never_ordered(first)
        say(
            f"SIGKILL for runner {killer.pid}: the shop has the order in its ledger, "
            "and nobody has seen its answer."
        )
        killer.rest()
        say("A new runner resumes from the journal. What was met stays; it looks before it orders.")
        second = player.run(["resume", player.run_id])
        if "error" in second:
            raise _told_error(second)
        orders = shops.ledger.writes("order")
    told = _told(player, second, orders)
    say(f"Order number {told.order_number}. The shop's own ledger: {_orders(len(orders))}.")
    say(f"Validated steps that ran again: {', '.join(told.reexecuted) or 'none'}.")
    say(f"Look at it: WEBAGENT_STORE={shlex.quote(str(apart.store))} {_program()} show {told.run}")
    return told


def _program() -> str:
    """This program as a person can type it here: its path when it is not on the PATH."""
    if shutil.which("webagent") is not None:
        return "webagent"
    own = Path(sys.executable).with_name("webagent")
    return shlex.quote(str(own)) if own.exists() else f"{shlex.quote(sys.executable)} -m webagent"


def _write_recipe(folder: Path) -> Path:
    """The recipe as files that a person can read, change and run."""
    for name in RECIPES:
        text = (files("webagent.demo") / name).read_text("utf-8")
        (folder / name).write_text(text, "utf-8")
    return folder / RECIPES[0]


def _orders(count: int) -> str:
    return {0: "no order", 1: "exactly one order"}.get(count, f"{count} orders")


def _told(player: _Player, result: dict[str, Any], orders: Sequence[Write]) -> Told:
    steps: dict[str, Any] = result.get("steps", {})
    numbers = (step["outputs"].get("order_number") for step in steps.values())
    return Told(
        run=player.run_id,
        status=str(result.get("status", "failed")),
        steps={path: str(step["state"]) for path, step in steps.items()},
        revised=tuple(e.event.step for e in player.entries if isinstance(e.event, PlanRevised)),
        reexecuted=executed_again(player.entries),
        orders=len(orders),
        order_number=next((str(number) for number in numbers if number is not None), None),
        killed=True,
    )


def _never_ordered(result: dict[str, Any]) -> WebagentError:
    """Why there was nothing to kill at: the runner's own error, else how its run ended."""
    if "error" in result:
        return _told_error(result)
    told = result.get("reason") or result.get("status") or "it said nothing"
    return WebagentError(f"The runner ended before it ordered: {told}")


def _told_error(result: dict[str, Any]) -> WebagentError:
    error = result["error"]
    return WebagentError(str(error.get("message")), hint=str(error.get("hint", "")))


class _Voice:
    """Tells the story, unless a program listens."""

    def __init__(self, console: Console, *, quiet: bool) -> None:
        self._console = console
        self.quiet = quiet

    def __call__(self, *lines: str) -> None:
        if not self.quiet:
            for line in lines:
                self._console.print(Text(line, style="bold"), soft_wrap=True)


class _Killer:
    """Kills the runner in the moment that matters: the order is written, its answer is not sent."""

    def __init__(self, shops: ShopServer) -> None:
        self._shops = shops
        self._switch(HELD_SECONDS)
        self._stop = shops.ledger.on_write(self._wrote)
        self.pid = 0
        self.done = threading.Event()

    def aim_at(self, pid: int) -> None:
        """Which process to kill."""
        self.pid = pid

    def rest(self) -> None:
        """Kill no more, and let the shops answer at once."""
        self._stop()
        self._switch(None)

    def _switch(self, seconds: float | None) -> None:
        for shop in self._shops.sites:
            self._shops.set_fault(shop, "order_delay", seconds)
            # Else the emptied basket would hide a second order from the count.
            self._shops.set_fault(shop, "keep_basket", True)

    def _wrote(self, write: Write) -> None:
        if write.kind == "order" and self.pid and not self.done.is_set():
            os.kill(self.pid, signal.SIGKILL)
            self.done.set()


def _leave(process: subprocess.Popen[bytes]) -> None:
    """See that a runner has ended: by itself, else by parking it, else by force."""
    process.terminate()
    try:
        process.wait(PARK_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class _Player:
    """Starts runners as processes of their own and shows their journal as it grows."""

    def __init__(
        self,
        settings: Settings,
        env: dict[str, str],
        say: _Voice,
        console: Console,
        *,
        moving: bool,
    ) -> None:
        self._settings = settings
        self._env = env
        self._say = say
        self._console = console
        self._moving = moving
        self.run_id = ""
        self.entries: list[Entry] = []
        self._state: RunState | None = None
        self._latest = LiveTree(console)  # knows which action is under way, shown or not

    def run(self, command: list[str], aim: Callable[[int], None] | None = None) -> dict[str, Any]:
        """One runner from its start to its end; the JSON that it printed, {} if it was killed.

        Raises:
            StoreError: it did not end in time.
        """
        self._say(f"$ webagent {shlex.join(command)}")
        with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "webagent", *command, "--json"],
                env=self._env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C here ends the demo, which ends the runner
            )  # fmt: skip
            try:
                if aim is not None:
                    aim(process.pid)
                asyncio.run(self._follow(process))
            finally:
                _leave(process)
            out.seek(0)
            said = out.read()
        if self._state is not None and self._console.is_terminal and not self._say.quiet:
            self._console.print(tree(self._state, self._latest.acting, self._console))
        return json.loads(said) if said.strip() else {}

    async def _follow(self, process: subprocess.Popen[bytes]) -> None:
        """Show the journal until the process has ended."""
        shown = Silent()
        if self._moving:
            live = self._console.is_terminal
            shown = self._latest if live else Lines(self._console)
        state = self._state or RunState()
        loop = asyncio.get_running_loop()
        until = loop.time() + RUN_SECONDS
        async with opened(self._settings) as store:
            with shown:
                ended = False
                while not ended:
                    ended = process.poll() is not None
                    if not self.run_id and (runs := await store.runs(limit=1)):
                        self.run_id = runs[0].run
                    if self.run_id:
                        for entry in await store.entries(self.run_id, len(self.entries)):
                            self.entries.append(entry)
                            state = advance(state, entry)
                            self._latest(state, entry)
                            if shown is not self._latest:
                                shown(state, entry)
                    if loop.time() > until:
                        raise StoreError(f"The runner did not end within {RUN_SECONDS:.0f} s.")
                    await asyncio.sleep(POLL_SECONDS)
        self._state = state
