"""Runners of the demo: started as processes of their own and shown by their journal as it grows."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

from webagent.cli.progress import Lines, LiveTree, Silent, tree
from webagent.core.errors import StoreError
from webagent.core.event import Entry
from webagent.engine.state import RunState, advance
from webagent.interface.records import opened
from webagent.settings import Settings

RUN_SECONDS = 80.0
POLL_SECONDS = 0.08
PARK_SECONDS = 10.0


class Voice:
    """Tells the story, unless a program listens."""

    def __init__(self, console: Console, *, quiet: bool) -> None:
        self._console = console
        self.quiet = quiet

    def __call__(self, *lines: str) -> None:
        """Tell it."""
        if not self.quiet:
            for line in lines:
                self._console.print(Text(line, style="bold"), soft_wrap=True)

    def show(self, *lines: Text) -> None:
        """Tell it in its own style."""
        if not self.quiet:
            for line in lines:
                self._console.print(line, soft_wrap=not self._console.is_terminal)


def _leave(process: subprocess.Popen[bytes]) -> None:
    """See that a runner has ended: by itself, else by parking it, else by force."""
    process.terminate()
    try:
        process.wait(PARK_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Player:
    """Starts runners as processes of their own and shows their journal as it grows."""

    def __init__(
        self,
        settings: Settings,
        env: dict[str, str],
        say: Voice,
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

    def run(
        self,
        command: list[str],
        aim: Callable[[int], None] | None = None,
        look: Callable[[], None] | None = None,
    ) -> dict[str, Any]:
        """One runner from its start to its end; the JSON that it printed, {} if it was killed.

        ``look`` is called again and again meanwhile.

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
                asyncio.run(self._follow(process, look))
            finally:
                _leave(process)
            out.seek(0)
            said = out.read()
        if self._state is not None and self._console.is_terminal and not self._say.quiet:
            self._console.print(tree(self._state, self._latest.acting, self._console))
        return json.loads(said) if said.strip() else {}

    async def _follow(
        self, process: subprocess.Popen[bytes], look: Callable[[], None] | None
    ) -> None:
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
                    if look is not None:
                        look()
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
