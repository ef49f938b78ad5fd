"""A run under a person's hand: progress while it goes on, signals that park it, its end shown."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import typer

from webagent.cli import ending, showing
from webagent.cli.progress import LiveTree, Silent, progress_for
from webagent.cli.summary import show_result
from webagent.core.ends import ends
from webagent.core.errors import BadInput, StoreError
from webagent.core.event import Entry
from webagent.core.plan import Plan
from webagent.engine.state import RunState
from webagent.runtime.result import RunResult
from webagent.runtime.runner import Runner
from webagent.wiring import Manner, left_out, write_outputs

Hold: TypeAlias = Callable[[Runner], None]
Work: TypeAlias = Callable[[Manner, Hold], Awaitable[RunResult]]


@dataclass(frozen=True, slots=True)
class Shown:
    """How a run is shown, and where its outputs go."""

    as_json: bool = False
    headed: bool = False
    pause: bool = False
    out: Path | None = None


def drive(work: Work, how: Shown) -> None:
    """Do the work of a run with progress shown, show what came of it, and end with its code.

    Raises:
        typer.Exit: always, with the run's exit code; 1 when only its file could not be written.
    """
    console = showing.console()
    progress = progress_for(console, as_json=how.as_json)
    seen = _LastState()
    on_failure = _pause(progress) if how.pause else None
    manner = Manner(headed=how.headed, watch=(seen, progress), on_failure=on_failure)
    with progress:
        result = driven(lambda hold: work(manner, hold))
    written = None if how.out is None else _write_out(how.out, result, seen.state.plan)
    code = ending.EXIT_FAILED if written is not None and written.failed else result.exit_code
    if how.as_json:
        told = result_json(result)
        if written is not None:
            told |= {"ok": code == 0, "exit_code": code, **written.as_json()}
        ending.write_json(told)
    else:
        show_result(result, seen.state, console)
    if written is not None and (not how.as_json or code != 0):
        _tell_written(written)
    raise typer.Exit(code)


class _LastState:
    """Remembers the newest state of a run, for its summary."""

    def __init__(self) -> None:
        self.state = RunState()

    def __call__(self, state: RunState, entry: Entry) -> None:
        del entry
        self.state = state


def driven(work: Callable[[Hold], Awaitable[RunResult]]) -> RunResult:
    """Run the work in a loop; the first signal parks the run, the second ends it, the third kills.

    SIGTERM counts like Ctrl-C: a machine that shuts down parks its runs.

    Raises:
        KeyboardInterrupt: it was ended before it could park.
    """
    runner: list[Runner] = []
    count = 0

    async def main() -> RunResult:
        task = asyncio.ensure_future(work(runner.append))
        loop = asyncio.get_running_loop()

        def asked() -> None:
            nonlocal count
            count += 1
            if count == 1 and runner:
                runner[0].stop()
            elif count <= 2:
                task.cancel()
            else:
                os._exit(ending.EXIT_PARKED)

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, asked)
        return await task

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _pause(progress: Silent) -> Callable[[str], Awaitable[None]]:
    """What waits for a person before a failed page is closed. Raises BadInput without a person."""
    if not sys.stdin.isatty():
        raise BadInput(
            "--pause-on-failure waits for Enter, and standard input is no terminal.",
            hint="Leave it out; a failed step's screenshot is kept: webagent show last",
        )

    async def wait(node: str) -> None:
        with progress.paused() if isinstance(progress, LiveTree) else nullcontext():
            showing.to_stderr(f"{showing.one_line(node)} failed; its page is open. Enter goes on. ")
            await asyncio.to_thread(sys.stdin.readline)

    return wait


def result_json(result: RunResult) -> dict[str, object]:
    """A run's result for a program."""
    return {"ok": result.exit_code == 0, **result.model_dump(mode="json")}


@dataclass(frozen=True, slots=True)
class _Written:
    """What came of ``--out``: lines for a person, and whether a met run's file is missing."""

    file: Path
    lines: tuple[str, ...] = ()
    count: int = 0
    failed: bool = False
    hint: str = ""

    def as_json(self) -> dict[str, object]:
        """For a program."""
        told = {"file": str(self.file), "written": self.count, "notes": list(self.lines)}
        return {"out": told | ({"hint": self.hint} if self.hint else {})}


def _write_out(out: Path, result: RunResult, plan: Plan | None) -> _Written:
    """Write what the last steps gave; a table would not know what to do with the ones between."""
    if result.exit_code != 0:
        return _Written(out, (f"{out} was not written: the run is {result.status}.",))
    outputs = result.outputs
    as_table = out.suffix.lower() != ".json"
    if as_table and plan is not None:
        last = ends(plan, outputs.keys())
        outputs = {path: values for path, values in outputs.items() if path in last and values}
    try:
        count = write_outputs(out, outputs)
    except (BadInput, StoreError) as error:
        again = f"webagent resume {result.run} --out {out.with_suffix('.json')}"
        return _Written(
            out, (error.message, "The run itself is met; only the file is missing."), failed=True,
            hint=f"Write it again, it runs nothing twice: {again}",
        )  # fmt: skip
    lines = [f"{count} {'rows' if as_table else 'steps'} written to {out}"]
    if as_table and not count:
        from_ = ", ".join(outputs) or "the steps that ran"
        lines = [f"0 rows: {from_} gave none, so nothing was written to {out}."]
    if as_table:
        lines += [f"{n} of {name} left out: they failed" for name, n in left_out(outputs).items()]
    return _Written(out, tuple(lines), count)


def _tell_written(written: _Written) -> None:
    """The first line of a file that was written on standard output, all else on standard error."""
    lines = list(written.lines)
    if written.count:
        showing.show(lines.pop(0))
    for line in lines:
        showing.to_stderr(line)
    if written.hint:
        showing.to_stderr(f"    {written.hint}")
