"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write all outputs to a .json, or add the last steps' rows to a .jsonl or .csv.",
    ),
]
