"""A request in words: `plan "…"` drafts a recipe, `run "…"` drafts it and asks before it runs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webagent.cli import showing
from webagent.core.errors import BadInput

if TYPE_CHECKING:
    from webagent.core.draft import Draft

UrlOption = Annotated[
    list[str] | None,
    typer.Option("--url", metavar="URL", help="A site that a request in words is about."),
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="The model that drafts a request in words."),
]


@dataclass(frozen=True, slots=True)
class Wish:
    """A request in words with what was given along."""

    words: str
    urls: tuple[str, ...] = ()
    model: str | None = None


def is_request(text: str) -> bool:
    """Whether this is a request in words rather than a file's name."""
    if len(text.split()) < 2 or text.strip().lower().endswith((".yaml", ".yml")):
        return False
    try:
        return not Path(text).exists()
    except (OSError, ValueError):  # longer than a file's name may be
        return True


def only_for_requests(urls: list[str] | None, model: str | None, *, force: bool = False) -> None:
    """Raise BadInput for options that a recipe's file has no use for."""
    given = [n for n, there in (("--url", urls), ("--model", model), ("--force", force)) if there]
    if given:
        raise BadInput(
            f"{given[0]} goes with a request in words, and this is a recipe's file.",
            hint='Such as: webagent plan "read the titles on https://books.toscrape.com"',
        )


def drafted(wish: Wish, inputs: Mapping[str, str] | None = None) -> Draft:
    """Have the recipe drafted, and say what it cost."""
    from webagent import wiring

    settings = wiring.settings()
    draft = asyncio.run(
        wiring.draft_recipe(settings, wish.words, wish.urls, model=wish.model, inputs=inputs)
    )
    usage = draft.usage
    named = "a model" if draft.spec is None else draft.spec.model
    price = draft.spec.price if draft.spec is not None else None
    money = f", {usage.money(price):.4f}" if price is not None and price.known else ""
    calls = f"{draft.calls} call{'s' if draft.calls != 1 else ''}"
    showing.to_stderr(
        f"drafted by {showing.plain(named)}: {calls}, {usage.sent} tokens sent, "
        f"{usage.tokens_out} received{money}"
    )
    return draft


def keep(draft: Draft, out: Path | None, *, force: bool = False) -> Path:
    """Write a drafted recipe to a file, or into the store where none was named."""
    from webagent import wiring

    if out is None:
        return wiring.keep_draft(wiring.settings(), draft.recipe_id, draft.text)
    try:
        with out.open("w" if force else "x", encoding="utf-8") as file:
            file.write(draft.text)
    except OSError as error:
        # It was paid for: it is not lost.
        kept = wiring.keep_draft(wiring.settings(), draft.recipe_id, draft.text)
        why = "is there already" if isinstance(error, FileExistsError) else "cannot be written"
        raise BadInput(f"{out} {why}.", hint=f"The drafted recipe is kept in {kept}.") from None
    return out


def refuse_overwriting(out: Path | None, *, force: bool) -> None:
    """Raise BadInput before a model is asked, if its draft could not be kept where it should."""
    if out is None:
        return
    if out.exists() and not force:
        raise BadInput(f"{out} is there already.", hint="Give another file, or --force.")
    folder = out.parent
    if out.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BadInput(
            f"{out} cannot be written.", hint="Give a file in an existing folder: -o recipe.yaml"
        )


def draft_to_run(wish: Wish, inputs: Mapping[str, str], *, yes: bool, as_json: bool) -> Path:
    """A drafted recipe in a file of this folder, which a person agreed to run.

    Raises:
        BadInput: there is nobody to agree. typer.Exit: the person did not.
    """
    from webagent.core.show import plan_text
    from webagent.interface.errands import check

    asks = not yes and sys.stdin.isatty() and not as_json
    draft = drafted(wish, inputs)
    file = keep(draft, _free(draft.recipe_id))
    plan = check(file)
    (showing.to_stderr if as_json else showing.show)(plan_text(plan).rstrip("\n"))
    showing.to_stderr(f"written to {file}")
    if yes:
        return file
    if not asks:
        raise BadInput(
            "Nothing runs before a person agrees to the plan, and nobody can be asked here.",
            hint=f"Read {file}, then run it: webagent run {file} (or give --yes)",
        )
    if not typer.confirm("Run it?", default=False, err=True):
        showing.to_stderr(f"Not run. Edit it and run it later: webagent run {file}")
        raise typer.Exit(0)
    return file


def _free(name: str) -> Path:
    """A name of this folder that no file has."""
    numbers = ("", *(f"-{number}" for number in range(2, 1000)))
    return next(path for n in numbers if not (path := Path(f"{name}{n}.yaml")).exists())
