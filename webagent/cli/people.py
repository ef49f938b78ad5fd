"""`answer`, `effects` and `settle`: what a person says to a run, and what runs did to the world."""

from __future__ import annotations

from typing import Annotated

import typer

from webagent.cli import ending, showing
from webagent.cli.options import JsonOption, RunArgument
from webagent.core.errors import BadInput


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(answer)
    app.command()(effects)
    app.command()(settle)


def answer(
    run: RunArgument,
    said: Annotated[
        str, typer.Argument(metavar="STEP=VALUE", help="The waiting step and the answer.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Answer a step that waits for a person."""
    import asyncio

    from webagent.interface import records

    step, equals, value = said.partition("=")
    if not equals:
        raise BadInput(f"{said!r} is not STEP=VALUE.", hint="webagent show RUN says who waits.")
    found = asyncio.run(records.answer(run, step.strip(), value))
    if as_json:
        ending.write_json({"ok": True, "run": found, "step": step.strip()})
    else:
        showing.show(f"Kept. Go on with: webagent resume {found}")


def effects(
    prefix: Annotated[
        str, typer.Argument(metavar="[PREFIX]", help="Only keys that begin so.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """List what runs did, or may have done, to the world: each key happens at most once."""
    import asyncio

    from webagent.interface import records

    found = asyncio.run(records.effects(prefix))
    if as_json:
        ending.write_json([row.model_dump(mode="json") for row in found])
        return
    if not found:
        showing.show("No effect is known here.")
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if not showing.console().is_terminal:
        for row in found:
            told = f"{row.state}\t{row.key}\t{row.run}\t{row.changed_at[:19]}\t{row.evidence}"
            showing.show(told.replace("\n", " "))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("state", "key", "try", "run", "changed (UTC)", "evidence"):
        table.add_column(title, overflow="fold")
    for row in found:
        when, evidence = row.changed_at[:19].replace("T", " "), showing.one_line(row.evidence, 120)
        cells = (row.state, row.key, str(row.attempt), row.run, when, evidence)
        table.add_row(*(Text(showing.plain(cell)) for cell in cells))
    showing.show(table)


def settle(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="The whole key, as `effects` shows it.")
    ],
    happened: Annotated[
        bool | None,
        typer.Option("--happened/--did-not", help="What you found out.", show_default=False),
    ] = None,
    note: Annotated[str, typer.Option(help="How you know.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Say of an unknown effect whether it happened; it is kept with your name."""
    import asyncio

    from webagent.interface import records

    if happened is None:
        raise BadInput(
            "Say what you found out: --happened or --did-not.",
            hint="Look on the site itself; nobody else can know.",
        )
    row = asyncio.run(records.settle(key, happened=happened, note=note))
    if as_json:
        ending.write_json(row.model_dump(mode="json"))
        return
    showing.show(f"{row.key}: {row.state}, {row.evidence}")
    if row.run:
        showing.show(f"Go on with: webagent resume {row.run}")
