"""The demo's story: two local shops, one of which is reorganised under way; one order, one kill.

The shops live in this process, the runner in another. One shop is reorganised in the moment in
which the runner comes for the chosen product. The runner is killed by SIGKILL from the shop's own
hook: after the order is in its ledger and before its answer. What is shown is read from the
journal on disk, as anybody else could read it.
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from webagent.cli import ending
from webagent.cli.demo_runner import Player, Voice
from webagent.cli.repairs import entered_once, repair_lines, repairs
from webagent.core.errors import WebagentError
from webagent.core.event import Entry
from webagent.demo.ledger import Write
from webagent.demo.serving import ShopServer
from webagent.demo.shop_kinds import BIRCH
from webagent.engine.reuse import executed_again
from webagent.settings import Settings

# The shop that has the cheaper offer, and the step that orders there.
SHOP, SHOP_NAME, ORDER_STEP = "shop-b.test", BIRCH.name, "order_b"
RECIPES = ("recipe.yaml", "sign_in_shop_a.yaml")
PASSWORD = "alder-and-birch"  # of the demo's own shop, which lives as long as this command
# Longer than the kill takes: the shop's answer must never reach the runner that dies.
HELD_SECONDS = 2.0


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
        """0 only when all of it took place: the repair of one step, the kill and one order."""
        good = (
            self.status == "met"
            and self.killed
            and self.orders == 1
            and self.revised == (ORDER_STEP,)
            and not self.reexecuted
        )
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
    say = Voice(console, quiet=as_json)
    with ShopServer(cheaper=BIRCH.letter) as shops:
        env = {
            **settings.env,
            "WEBAGENT_HOSTS": shops.hosts,
            "WEBAGENT_STORE": str(apart.store),
            "SHOP_PASSWORD": PASSWORD,
        }
        player = Player(apart, env, say, console, moving=not (as_json or still))
        say(f"Two shops are open on this machine. The errand: {recipe}")
        killer = _Killer(shops)
        shops.set_fault(SHOP, "reorganise_at_product", True)
        first = player.run(["run", str(recipe)], killer.aim_at, _Announced(shops, say))
        if not killer.done.is_set():
            raise _never_ordered(first)
        say.show(*_repair_story(player.entries))
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
    say(f"Steps whose segment was made anew: {', '.join(told.revised) or 'none'}.")
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


def _told(player: Player, result: dict[str, Any], orders: Sequence[Write]) -> Told:
    steps: dict[str, Any] = result.get("steps", {})
    numbers = (step["outputs"].get("order_number") for step in steps.values())
    return Told(
        run=player.run_id,
        status=str(result.get("status", "failed")),
        steps={path: str(step["state"]) for path, step in steps.items()},
        revised=tuple(repair.step for repair in repairs(player.entries)),
        reexecuted=executed_again(player.entries),
        orders=len(orders),
        order_number=next((str(number) for number in numbers if number is not None), None),
        killed=True,
    )


def _repair_story(entries: Sequence[Entry]) -> list[Text]:
    """What drifted, the one segment that was made anew and how, and what was left alone."""
    lines: list[Text] = []
    for repair in repairs(entries):
        lines += [Text(f"{repair.step} met a shop that it did not know:", style="bold")]
        lines += repair_lines(repair)
    others = [step for step in entered_once(entries) if step != ORDER_STEP]
    if lines:
        lines.append(Text(f"Entered once, and left as they were: {', '.join(others)}.", "bold"))
    return lines


def _never_ordered(result: dict[str, Any]) -> WebagentError:
    """Why there was nothing to kill at: the runner's own error, else how its run ended."""
    if "error" in result:
        return _told_error(result)
    told = result.get("reason") or result.get("status") or "it said nothing"
    return WebagentError(f"The runner ended before it ordered: {told}")


def _told_error(result: dict[str, Any]) -> WebagentError:
    error = result["error"]
    return WebagentError(str(error.get("message")), hint=str(error.get("hint", "")))


class _Announced:
    """Says that the shop was reorganised, once, when it was."""

    def __init__(self, shops: ShopServer, say: Voice) -> None:
        self._shops = shops
        self._say = say
        self._said = False

    def __call__(self) -> None:
        if not self._said and self._shops.site(SHOP).switches.markup == "reorganised":
            self._said = True
            self._say(
                f"{SHOP_NAME} is reorganised this moment: other addresses, menus and classes,",
                '"Checkout" is now "To the till", and the address is asked on a further page.',
            )


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
