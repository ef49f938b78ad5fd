"""`init`, `schema`, `check` and `plan`: all about a recipe before it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webagent.cli import drafting, ending, showing
from webagent.cli.drafting import ModelOption, UrlOption
from webagent.cli.options import JsonOption
from webagent.core.errors import BadInput, RecipeInvalid

if TYPE_CHECKING:
    from rich.table import Table

    from webagent.core.plan import Plan
    from webagent.core.show import WorstCase
    from webagent.engine.radius import Radius

RecipeArgument = Annotated[Path, typer.Argument(metavar="RECIPE", help="The recipe's YAML file.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(init)
    app.command()(schema)
    app.command()(check)
    app.command()(plan)


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to begin.")] = Path(),
    as_json: JsonOption = False,
) -> None:
    """Write a small working recipe to begin with. Nothing is ever overwritten."""
    from webagent.cli.first_recipe import write_into

    made, kept = write_into(folder)
    if as_json:
        ending.write_json({"made": [str(p) for p in made], "kept": [str(p) for p in kept]})
        return
    for path in made:
        showing.show(f"made {path}")
    for path in kept:
        showing.show(f"kept {path}, which was there")
    first = folder / "first.yaml"
    showing.show("", f"Check it: webagent check {first}", f"Run it:   webagent run {first}")


def schema(
    as_json: Annotated[
        bool, typer.Option("--json", help="It is JSON with and without this.")
    ] = False,
) -> None:
    """Print the JSON Schema of recipes, for editors."""
    from webagent.wiring import recipe_schema

    del as_json
    ending.write_json(recipe_schema())


def check(recipe: RecipeArgument, as_json: JsonOption = False) -> None:
    """Prove a recipe, and say for each step what a failure there would cost at worst."""
    from webagent.engine.radius import radii
    from webagent.interface.errands import check as proven

    try:
        found = proven(recipe)
    except RecipeInvalid as error:
        if as_json:
            problems = [ending.problem_json(problem) for problem in error.problems]
            ending.write_json(
                {"ok": False, "recipe": str(recipe), "problems": problems, "exit_code": 2}
            )
        else:
            for problem in error.problems:
                showing.show(str(problem))
            count = len(error.problems)
            showing.to_stderr(f"{count} problem{'s' if count > 1 else ''} in {recipe}")
        raise typer.Exit(error.exit_code) from None
    worst = radii(found)
    if as_json:
        ending.write_json(_check_json(recipe, found, worst))
    else:
        _show_worst(recipe, found, worst)


def _check_json(recipe: Path, plan: Plan, worst: tuple[Radius, ...]) -> dict[str, Any]:
    return {
        "ok": True,
        "recipe": str(recipe),
        "id": plan.recipe_id,
        "errand": plan.errand,
        "inputs": {n: s.model_dump(mode="json") for n, s in plan.inputs.items()},
        "secrets": sorted(plan.secrets),
        "max_radius": plan.max_radius,
        "largest_radius": max((one.steps for one in worst), default=0),
        "steps": [{**one.model_dump(mode="json"), "steps": one.steps} for one in worst],
        "exit_code": 0,
    }


def _show_worst(recipe: Path, plan: Plan, worst: tuple[Radius, ...]) -> None:
    from webagent.core.show import worst_case_text
    from webagent.engine.radius import worst_cases

    rows = worst_cases(plan)
    steps = f"{len(plan.steps)} step{'s' if len(plan.steps) != 1 else ''}"
    showing.show(f"{recipe} is right: {plan.recipe_id}, {steps}. If a step fails, at worst:", "")
    if sys.stdout.isatty():
        showing.show(_worst_table(rows))
    else:
        showing.show(worst_case_text(rows))
    if any(step.effect == "once" for step in plan.steps):
        showing.show("A once effect is never repeated, whatever it may reach.")
    largest = max((one.steps for one in worst), default=0)
    limit = "no max_radius is set" if plan.max_radius is None else f"max_radius {plan.max_radius}"
    over = plan.max_radius is not None and largest > plan.max_radius
    told = "; it will not run unattended" if over else ""
    showing.show(f"Largest: {largest} ({limit}{told}).")


def _worst_table(rows: tuple[WorstCase, ...]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from webagent.core.show import worst_case_table

    head, *lines = worst_case_table(rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, title in enumerate(head):
        number = 0 < index < len(head) - 2
        table.add_column(title, justify="right" if number else "left", overflow="fold")
    for cells in lines:
        table.add_row(*(Text(showing.plain(cell)) for cell in cells))
    return table


def plan(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE|REQUEST",
            help="A recipe's YAML file, or what is to be done in words, in quotes.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="Write it to a file; of a request, the recipe."
        ),
    ] = None,
    url: UrlOption = None,
    model: ModelOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite FILE with the drafted recipe.")
    ] = False,
    mermaid: Annotated[
        bool, typer.Option("--mermaid", help="As a graph in mermaid's notation.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print a recipe's plan: its steps, with every need. Or have one drafted from a request."""
    import json

    from webagent.core.show import plan_json, plan_mermaid, plan_text
    from webagent.interface.errands import check as proven

    if mermaid and as_json:
        raise BadInput("--mermaid and --json are two forms of one plan: give one of them.")
    kept: Path | None = None
    if drafting.is_request(recipe):
        drafting.refuse_overwriting(out, force=force)
        draft = drafting.drafted(drafting.Wish(recipe, tuple(url or ()), model))
        kept = drafting.keep(draft, out, force=force)
        found = proven(kept)
    else:
        drafting.only_for_requests(url, model, force=force)
        found = proven(recipe)
    if as_json:
        text = json.dumps(plan_json(found), ensure_ascii=False, indent=2) + "\n"
    else:
        text = plan_mermaid(found) if mermaid else plan_text(found)
    if kept is not None:
        showing.to_stderr(f"the recipe is written to {kept}")
    if out is None or kept is not None:
        showing.show(text.rstrip("\n")) if not as_json else ending.write_json(plan_json(found))
        return
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(
            f"{out} cannot be written: {error.strerror or error}.",
            hint="Give a file in an existing folder, or leave -o out to print the plan.",
        ) from None
    showing.to_stderr(f"written to {out}")
