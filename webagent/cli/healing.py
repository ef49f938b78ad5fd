"""`revisions`, `accept`, `reject`: what a run changed in its steps, and a person's word on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webagent.cli import ending, showing
from webagent.cli.options import JsonOption, RunArgument

if TYPE_CHECKING:
    from rich.text import Text

    from webagent.interface.revisions import Evidence, RevisionShown

StepsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="STEP", help="Only these; else all that wait for a word."),
]
RecipeOption = Annotated[
    Path | None,
    typer.Option("--recipe", metavar="FILE", help="The recipe, if it is not where it was."),
]

STATES = {
    "proposed": "proposed: it was met with this",
    "unproven": "not met with this either: it cannot be accepted",
    "accepted": "accepted",
    "rejected": "rejected",
}
_STYLES = (("---", "bold"), ("+++", "bold"), ("@@", "cyan"), ("-", "red"), ("+", "green"))


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(revisions)
    app.command()(accept)
    app.command()(reject)


def revisions(run: RunArgument, recipe: RecipeOption = None, as_json: JsonOption = False) -> None:
    """Show what a run changed in its steps: a diff of the recipe, why, and both pictures."""
    import asyncio

    from webagent.interface import revisions as use

    found = asyncio.run(use.revisions(run, recipe=recipe))
    if as_json:
        ending.write_json([one.model_dump(mode="json") for one in found])
        return
    if not found:
        showing.show("This run revised nothing: its steps went as the recipe says.")
        return
    for one in found:
        showing.console().print(_told(one), soft_wrap=True)
    if waiting := [one.step for one in found if one.state == "proposed"]:
        alone = f"   (or one: webagent accept {run} {waiting[0]})" if len(waiting) > 1 else ""
        showing.show(f"Write it into the recipe: webagent accept {run}{alone}")
        showing.show(f"Leave the recipe as it is: webagent reject {run}")


def _told(one: RevisionShown) -> Text:
    from rich.text import Text

    text = Text()
    text.append(showing.one_line(one.step, 200), "bold")
    text.append(f"  effect {one.effect}, {STATES[one.state]}\n")
    for change in one.changes:
        cost = [f"{change.pages} pages looked at" if change.pages != 1 else "1 page looked at"]
        cost += [f"{change.tokens} tokens"] if change.tokens else []
        found = f": {showing.one_line(change.found, 300)}" if change.found else ""
        text.append(f"  failed   {change.cause}{found}\n")
        how = showing.one_line(change.reason, 300) or "its segment was made anew"
        text.append(f"  healed   {how} ({change.author}, {', '.join(cost)})\n")
        if change.failed is not None:
            text.append(_picture("before", change.failed))
    if one.healed is not None:
        text.append(_picture("after", one.healed))
    if one.blocked:
        text.append(f"  by hand  {showing.one_line(one.blocked, 400)}\n", "yellow")
    text.append("\n")
    for line in one.diff.splitlines():
        style = next((style for sign, style in _STYLES if line.startswith(sign)), "")
        text.append(showing.plain(line) + "\n", style)
    return text


def _picture(word: str, seen: Evidence) -> str:
    """Where a page is kept, a file a line."""
    lines = [f"  {word:<8} {showing.one_line(seen.url, 300)}\n"]
    lines += [
        f"           {showing.one_line(file, 400)}\n"
        for file in (seen.screenshot, seen.outline)
        if file
    ]
    return "".join(lines)


def accept(
    run: RunArgument,
    steps: StepsArgument = None,
    recipe: RecipeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run's revised steps into the recipe; comments and all other text stay."""
    import asyncio

    from webagent.interface import revisions as use

    done = asyncio.run(use.accept(run, steps or (), recipe=recipe))
    if as_json:
        ending.write_json({"ok": True, **done.model_dump(mode="json")})
        return
    for step in done.steps:
        showing.show(f"accepted {step}")
    for file in done.files:
        showing.show(f"written  {file}")
    if not done.files:
        showing.show("The recipe has this text already.")
    if done.sidecar:
        showing.show(f"written  {done.sidecar}: commit it with the recipe, so that clones heal too")


def reject(run: RunArgument, steps: StepsArgument = None, as_json: JsonOption = False) -> None:
    """Leave the recipe as it is, and forget what a run's healed targets looked like."""
    import asyncio

    from webagent.interface import revisions as use

    done = asyncio.run(use.reject(run, steps or ()))
    if as_json:
        ending.write_json({"ok": True, **done.model_dump(mode="json")})
        return
    for step in done.steps:
        showing.show(f"rejected {step}")
