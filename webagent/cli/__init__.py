"""The command line: parse, wire, call, show. One module for each group of commands.

Nothing heavy is imported here: a command loads its use case when it is called, so that
``webagent --help`` and ``webagent check`` answer at once.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated, NoReturn

import typer

from webagent.cli import demo, ending, healing, looking, machine, people, recipes, running
from webagent.core.errors import WebagentError

app = typer.Typer(
    name="webagent",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=ending.EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (recipes, running, looking, healing, people, machine, demo):
    group.register(app)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"webagent {version('webagent')}")
        raise typer.Exit


@app.callback()
def _webagent(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell the version.")
    ] = False,
) -> None:
    """Run errands on the web as a graph of steps: a failing step is redone, an order sent once."""
    del version


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        # A page's text is never a reason to end: what a terminal cannot show is shown escaped.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run_command(given))


def run_command(arguments: list[str]) -> int:
    """Run a command; its exit code. The one place where every exception ends."""
    as_json = ending.wants_json(arguments)
    try:
        typer.main.get_command(app).main(arguments, prog_name="webagent")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else ending.EXIT_FAILED
    except WebagentError as error:
        return ending.of_error(error, as_json=as_json)
    except KeyboardInterrupt:
        return ending.EXIT_PARKED
    except Exception as error:  # noqa: BLE001 - the face's last resort: a bug ends in one line
        return ending.of_crash(error, as_json=as_json)
    return 0
