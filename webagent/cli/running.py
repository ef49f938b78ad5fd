"""`run`, `resume` and `stop`: the commands that set a run going and end it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webagent.cli import ending, showing
from webagent.core.errors import BadInput

if TYPE_CHECKING:
    from webagent.cli.progress import LiveTree, Silent
    from webagent.core.plan import Plan
    from webagent.runtime.result import RunResult
    from webagent.runtime.runner import Runner
    from webagent.wiring import Manner

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Its id, a unique beginning of it, or `last`.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on standard output.")]
HeadedOption = Annotated[bool, typer.Option("--headed", help="Show the browser's window.")]
PauseOption = Annotated[
    bool,
    typer.Option("--pause-on-failure", help="Hold a failed page open until you press Enter."),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write the outputs to a .json, .jsonl or .csv."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(run)
    app.command()(resume)
    app.command()(stop)


def run(  # noqa: PLR0913 - the options of a command are its parameters
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="The recipe's YAML file.")],
    *,
    given: Annotated[
        list[str] | None, typer.Option("-i", "--input", metavar="NAME=VALUE", help="An input.")
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="One YAML or JSON mapping of inputs, or a CSV for the list input."
        ),
    ] = None,
    out: OutOption = None,
    headed: HeadedOption = False,
    unattended: Annotated[
        bool, typer.Option("--unattended", help="Nobody is there: a question parks the run.")
    ] = False,
    as_json: JsonOption = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="All up to each commit; nothing is sent.")
    ] = False,
    until: Annotated[
        str | None, typer.Option(metavar="STEP", help="Only this step and what it needs.")
    ] = None,
    pause: PauseOption = False,
    again: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP", help="Want this step's once-only effect once more."),
    ] = None,
) -> None:
    """Run a recipe."""
    from webagent import wiring
    from webagent.interface import errands, records, running

    terms = errands.Terms(
        unattended, rehearse, until, tuple(again or ()), by=records.person() if again else ""
    )
    if out is not None:
        wiring.check_out(out)
    errand = errands.prepare(recipe, _named(given or []), file=inputs, terms=terms)
    settings = wiring.settings()
    _end_run(
        lambda manner, hold: running.begin(errand, settings, manner, hold),
        as_json=as_json, headed=headed, pause=pause, out=out,
    )  # fmt: skip


def resume(
    run: RunArgument,
    recipe: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An edited recipe: unchanged met steps stay met."),
    ] = None,
    out: OutOption = None,
    headed: HeadedOption = False,
    as_json: JsonOption = False,
    pause: PauseOption = False,
) -> None:
    """Go on with a run: what is met stays as it is."""
    from webagent import wiring
    from webagent.interface import errands, running

    if out is not None:
        wiring.check_out(out)
    edited = None if recipe is None else errands.check(recipe)
    settings = wiring.settings()
    _end_run(
        lambda manner, hold: running.go_on(run, edited, settings, manner, hold),
        as_json=as_json, headed=headed, pause=pause, out=out,
    )  # fmt: skip


def stop(run: RunArgument, as_json: JsonOption = False) -> None:
    """Park a run at the next boundary between two actions."""
    from webagent.interface import records

    found, asked = asyncio.run(records.stop(run))
    if as_json:
        ending.write_json({"run": found, "asked": asked})
    elif asked:
        showing.show(f"Run {found} was asked to park; resume it with: webagent resume {found}")
    else:
        showing.show(f"Nobody is working on run {found}.")


def _named(given: list[str]) -> dict[str, str]:
    """``-i NAME=VALUE`` as a mapping. Raises BadInput for what is none."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"-i {text!r} is not NAME=VALUE.", hint="Such as: -i query='usb cable'")
        if name.strip() in found:
            raise BadInput(f"The input {name.strip()!r} is given twice.")
        found[name.strip()] = value
    return found


Hold = Callable[["Runner"], None]
Work = Callable[["Manner", Hold], Awaitable["RunResult"]]


def _end_run(work: Work, *, as_json: bool, headed: bool, pause: bool, out: Path | None) -> None:
    """Do the work of a run with progress shown, show what came of it, and end with its code."""
    from webagent.cli.progress import progress_for
    from webagent.cli.summary import show_result
    from webagent.wiring import Manner

    shown = progress_for(showing.console(), as_json=as_json)
    seen = _LastPlan()
    manner = Manner(
        headed=headed,
        watch=(seen, shown),
        on_failure=_pause(shown) if pause else None,
    )
    with shown:
        result = _driven(lambda hold: work(manner, hold))
    if as_json:
        ending.write_json(result_json(result))
    else:
        show_result(result, seen.state, showing.console())
    if out is not None:
        _write_out(out, result, seen.plan, quiet=as_json)
    raise typer.Exit(result.exit_code)


class _LastPlan:
    """Remembers the newest state of a run, for its summary."""

    def __init__(self) -> None:
        from webagent.engine.state import RunState

        self.state = RunState()

    @property
    def plan(self) -> Plan | None:
        return self.state.plan

    def __call__(self, state: object, entry: object) -> None:
        del entry
        self.state = state  # type: ignore[assignment]  # a RunState: named only when it is needed


def _driven(work: Callable[[Hold], Awaitable[RunResult]]) -> RunResult:
    """Run the work in a loop; the first signal parks the run, the second ends it, the third kills.

    SIGTERM counts like Ctrl-C: a machine that shuts down parks its runs.
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

    return asyncio.run(main())


def _pause(shown: Silent | LiveTree) -> Callable[[str], Awaitable[None]]:
    """What waits for a person before a failed page is closed. Raises BadInput without a person."""
    from contextlib import nullcontext

    from webagent.cli.progress import LiveTree

    if not sys.stdin.isatty():
        raise BadInput(
            "--pause-on-failure waits for Enter, and standard input is no terminal.",
            hint="Leave it out; a failed step's screenshot is kept: webagent show last",
        )

    async def wait(node: str) -> None:
        with shown.paused() if isinstance(shown, LiveTree) else nullcontext():
            showing.to_stderr(f"{showing.one_line(node)} failed; its page is open. Enter goes on. ")
            await asyncio.to_thread(sys.stdin.readline)

    return wait


def result_json(result: RunResult) -> dict[str, object]:
    """A run's result for a program."""
    return {"ok": result.ok, **result.model_dump(mode="json")}


def _write_out(out: Path, result: RunResult, plan: Plan | None, *, quiet: bool) -> None:
    """Write what the last steps gave; a table would not know what to do with the ones between."""
    from webagent.wiring import write_outputs

    if result.exit_code != 0:
        showing.to_stderr(f"{out} was not written: the run is {result.status}.")
        return
    outputs = result.outputs
    if out.suffix.lower() != ".json" and plan is not None:
        used = {use[0] for step in plan.steps for use in step.uses}
        outputs = {path: values for path, values in outputs.items() if path not in used and values}
    count = write_outputs(out, outputs)
    if not quiet:
        what = "steps" if out.suffix.lower() == ".json" else "rows"
        showing.show(f"{count} {what} written to {out}")
