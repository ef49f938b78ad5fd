"""`demo`: the command; its story is in `demo_story`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from webagent.cli import ending, showing
from webagent.cli.options import JsonOption


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(demo)


def demo(
    as_json: JsonOption = False,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", hidden=True, help="Save it as an SVG.")
    ] = None,
) -> None:
    """Order once in two shops, though one is reorganised and the runner is killed."""
    from rich.console import Console

    from webagent.cli.demo_story import play
    from webagent.wiring import settings

    console = showing.console()
    if picture is not None:
        console = Console(
            record=True, width=100, force_terminal=True, markup=False, highlight=False, emoji=False
        )
    told = play(settings(), console, as_json=as_json, still=picture is not None)
    if picture is not None:
        # Without the web font, a picture in a README asks nobody else's server.
        svg = re.sub(
            r"@font-face \{.*?\}", "", console.export_svg(title="webagent demo"), flags=re.S
        )
        picture.write_text(svg, "utf-8")
    if as_json:
        ending.write_json_line(told.as_json())
    raise typer.Exit(told.exit_code)
