"""`run`, `resume` and `stop`: the commands that set a run going and end it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webagent.cli import drafting, ending, showing
from webagent.cli.drafting import ModelOption, UrlOption
from webagent.cli.options import (
    HeadedOption,
    JsonOption,
    OutOption,
    PauseOption,
    RunArgument,
)
from webagent.core.errors import BadInput

if TYPE_CHECKING:
    from webagent.core.plan import Plan


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(run)
    app.command()(resume)
    app.command()(stop)


def run(  # noqa: PLR0913 - the options of a command are its parameters
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE|REQUEST",
            help="A recipe's YAML file, or what is to be done in words, in quotes.",
            show_default=False,
        ),
    ],
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
        bool,
        typer.Option(
            "--unattended",
            help="Nobody is there: refuse a plan above max_radius; ask nobody about failures.",
        ),
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
    url: UrlOption = None,
    model: ModelOption = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Run what was drafted from a request without asking.")
    ] = False,
) -> None:
    """Run a recipe; or one that a model drafts from a request, once a person agrees to it."""
    from webagent import wiring
    from webagent.cli.driving import Shown, drive
    from webagent.interface import errands, records, running

    terms = errands.Terms(
        unattended, rehearse, until, tuple(again or ()), by=records.person() if again else ""
    )
    if out is not None:
        wiring.check_out(out)
    named = _named(given or [])
    file = Path(recipe)
    if drafting.is_request(recipe):
        wish = drafting.Wish(recipe, tuple(url or ()), model)
        file = drafting.draft_to_run(wish, named, yes=yes, as_json=as_json)
    else:
        drafting.only_for_requests(url, model)
    errand = errands.prepare(file, named, file=inputs, terms=terms)
    if out is not None and not rehearse:
        _one_table(out, errand.plan, until)
    settings = wiring.settings()
    drive(
        lambda manner, hold: running.begin(errand, settings, manner, hold),
        Shown(as_json=as_json, headed=headed, pause=pause, out=out),
    )


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
    from webagent.cli.driving import Shown, drive
    from webagent.interface import errands, running

    if out is not None:
        wiring.check_out(out)
    edited = None if recipe is None else errands.check(recipe)
    settings = wiring.settings()
    drive(
        lambda manner, hold: running.go_on(run, edited, settings, manner, hold),
        Shown(as_json=as_json, headed=headed, pause=pause, out=out),
    )


def stop(run: RunArgument, as_json: JsonOption = False) -> None:
    """Park a run at the next boundary between two actions."""
    import asyncio

    from webagent.interface import records

    found, asked = asyncio.run(records.stop(run))
    if as_json:
        ending.write_json({"run": found, "asked": asked})
    elif asked:
        showing.show(f"Run {found} was asked to park; resume it with: webagent resume {found}")
    else:
        showing.show(f"Nobody is working on run {found}.")


def _one_table(out: Path, plan: Plan, until: str | None) -> None:
    """Raise BadInput when a table is wanted of a plan that surely ends in several lists."""
    from webagent.core.ends import sure_lists

    if out.suffix.lower() == ".json" or len(lists := sure_lists(plan, until)) < 2:
        return
    step = lists[0].rsplit(".", 1)[0]
    raise BadInput(
        f"{out}: the recipe ends in {len(lists)} lists ({', '.join(lists)}): one table cannot "
        "show which row is whose.",
        hint=f"Write --out {out.with_suffix('.json')}, which holds them all, or choose a step that "
        f"gives one list, such as: --until {step}",
    )


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
