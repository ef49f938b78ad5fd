"""`runs` and `show`: looking back at what happened, from the journal alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webagent.cli import ending, showing
from webagent.cli.options import JsonOption, RunArgument
from webagent.core.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from webagent.core.event import Entry
    from webagent.engine.state import RunState
    from webagent.ports import RunSummary


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(runs)
    app.command()(show)


def runs(
    limit: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the newest runs."""
    import asyncio

    from webagent.interface import records

    found = asyncio.run(records.runs(limit=limit))
    if as_json:
        ending.write_json(
            [{**one.model_dump(mode="json"), "status": standing(one)} for one in found]
        )
        return
    if not found:
        showing.show("There is no run in this store yet. Start one: webagent run RECIPE")
        return
    titles = ("run", "status", "recipe", "started (UTC)", "events", "errand")
    rows = [_cells(one) for one in found]
    if not sys.stdout.isatty():
        showing.show(*("\t".join(cells) for cells in rows))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        table.add_column(title, no_wrap=title != "errand")
    for cells in rows:
        table.add_row(*(Text(cell) for cell in cells))
    showing.show(table)


def _cells(one: RunSummary) -> tuple[str, ...]:
    """A run's line."""
    return (
        one.run,
        standing(one),
        showing.one_line(one.recipe_id, 40),
        one.started_at[:19].replace("T", " "),
        str(one.events),
        showing.one_line(one.errand, 50),
    )


def standing(one: RunSummary) -> str:
    """A run's status; one that says running and is held by nobody was interrupted."""
    return "interrupted" if one.status == "running" and not one.held else one.status


def show(
    run: RunArgument,
    step: Annotated[
        str | None, typer.Option(metavar="STEP", help="Every event of this step (or item).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a run stands: states, reasons, outputs, and where the evidence is."""
    import asyncio

    from webagent import wiring
    from webagent.cli.driving import result_json
    from webagent.cli.evidence import evidence_of
    from webagent.engine.state import fold
    from webagent.interface import records
    from webagent.runtime.result import result_of

    settings = wiring.settings()

    async def read() -> tuple[str, Sequence[Entry], bool]:
        async with records.opened(settings) as store:
            found = await store.find(run)
            held = await store.holder(found) is not None
            return found, await store.entries(found), held

    found, entries, held = asyncio.run(read())
    state = fold(entries)
    folder = wiring.artifacts(settings).folder(found)
    if step is not None:
        _show_step(state, entries, step, as_json=as_json, folder=folder)
        return
    evidence = evidence_of(entries, folder)
    if as_json:
        told = result_json(result_of(state, held=held))
        ending.write_json(
            {**told, "run": found, "held": held, "folder": str(folder), "evidence": evidence}
        )
        return
    _show_run(state, evidence, folder, held=held)


def _show_run(
    state: RunState, evidence: dict[str, dict[str, Any]], folder: Path, *, held: bool
) -> None:
    from rich.text import Text

    from webagent.cli.progress import tree
    from webagent.cli.summary import show_result
    from webagent.runtime.result import result_of

    console = showing.console()
    result = result_of(state, held=held)
    if not console.is_terminal:
        console.print(tree(state, {}, console), soft_wrap=True)
    show_result(result, state, console, held=held)
    for path, one in result.steps.items():
        told = [
            f"ran {one.executions} times" if one.executions > 1 else "",
            *(f"reopened: {cause} ({count})" for cause, count in one.reopened.items()),
            *(f"rung {rung} ({count})" for rung, count in one.rungs.items() if count < 100),
            f"effect {one.effect}: {one.effect_key}" if one.effect else "",
            f"models: {showing.cost_text(one.models)}" if one.models is not None else "",
        ]
        if any(told):
            text = f"{path}: {'; '.join(t for t in told if t)}"
            console.print(Text(showing.one_line(text, 400)), soft_wrap=True)
    for path, files in evidence.items():
        _show_evidence(path, files)
    console.print(Text(f"Files: {folder}"), soft_wrap=True)


def _show_evidence(path: str, files: dict[str, Any]) -> None:
    """What a step's last failure left: the page, its screenshot and outline, console, requests."""
    showing.show(f"Evidence of {path}:")
    for name, value in files.items():
        for line in value if isinstance(value, list) else [value]:
            showing.show(f"  {name}: {showing.one_line(str(line), 300)}")


def _show_step(
    state: RunState, entries: Sequence[Entry], step: str, *, as_json: bool, folder: Path
) -> None:
    """The events of one step, of its items, or of the steps of its sub-plan."""
    from difflib import get_close_matches

    from webagent.cli.evidence import event_text, evidence_of

    if step not in state.nodes and not any(p.startswith(f"{step}/") for p in state.nodes):
        near = get_close_matches(step, state.nodes, n=1)
        raise BadInput(
            f"This run has no step {step!r}.",
            hint=f"Did you mean {near[0]!r}?" if near else f"Steps: {', '.join(state.nodes)}",
        )
    mine = [
        entry
        for entry in entries
        if entry.event.step == step or entry.event.step.startswith((f"{step}[", f"{step}/"))
    ]
    if as_json:
        ending.write_json([entry.model_dump(mode="json") for entry in mine])
        return
    for entry in mine:
        where = "" if entry.event.step == step else f" {entry.event.step[len(step) :]}"
        text = f"{entry.seq:>4} {entry.at[11:23]}{where} {event_text(entry.event)}"
        showing.show(showing.one_line(text, 400))
    for path, files in evidence_of(mine, folder).items():
        _show_evidence(path, files)
