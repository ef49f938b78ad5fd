"""`doctor` and `look`: is this machine able, and what does a page look like to us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from webagent.cli import ending, showing
from webagent.cli.options import HeadedOption, JsonOption

if TYPE_CHECKING:
    from webagent.cli.glance import Glance
    from webagent.cli.health import Check


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(doctor)
    app.command()(look)


def doctor(
    install: Annotated[
        bool, typer.Option("--install", help="Get a browser by the best way, if there is none.")
    ] = False,
    model: Annotated[
        bool,
        typer.Option("--model", help="Ask each named model once: a small call that costs money."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell whether this machine has all that runs need."""
    from webagent.cli import health
    from webagent.wiring import install_browser, settings

    if install:
        say = showing.to_stderr
        browser = install_browser(settings(), say)
        if as_json:
            ending.write_json({"ok": True, "browser": str(browser.path), "kind": browser.kind})
        else:
            showing.show(str(browser))
        return
    if model:
        _try_models(as_json=as_json)
        return
    checks = health.look()
    ok = all(check.ok for check in checks if check.needed)
    if as_json:
        ending.write_json({"ok": ok, "checks": [check.as_json() for check in checks]})
    else:
        for check in checks:
            _show_check(check)
    raise typer.Exit(0 if ok else ending.EXIT_FAILED)


def _try_models(*, as_json: bool) -> None:
    import asyncio

    from webagent.cli.trial import ask_each
    from webagent.wiring import settings

    tried = asyncio.run(ask_each(settings()))
    ok = all(one.ok for one in tried)
    if as_json:
        ending.write_json({"ok": ok, "models": [one.as_json() for one in tried]})
    else:
        for one in tried:
            _show_check(one.check)
    raise typer.Exit(0 if ok else ending.EXIT_FAILED)


def _show_check(check: Check) -> None:
    mark = "ok  " if check.ok else ("BAD " if check.needed else "note")
    showing.show(f"{mark} {check.name}: {check.told}")
    if check.hint and not check.ok:
        showing.show(f"     {check.hint}")


def look(
    url: Annotated[str, typer.Argument(metavar="URL", help="The page to look at.")],
    find: Annotated[
        str | None, typer.Option(metavar="TARGET", help="Say what this target finds there.")
    ] = None,
    headed: HeadedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Open a page and print what is on it as targets to copy into a recipe."""
    import asyncio

    from webagent.cli.glance import glance
    from webagent.wiring import settings

    seen = asyncio.run(glance(settings(), url, find, headed=headed))
    if as_json:
        ending.write_json(seen.as_json())
    else:
        _show_glance(seen)
    raise typer.Exit(seen.exit_code)


def _show_glance(seen: Glance) -> None:
    showing.show(f"{seen.url}  {seen.status or ''}  {seen.title}".rstrip())
    if seen.sought is not None:
        showing.show(f"{seen.sought.target}: {seen.sought.told}")
        for name in seen.sought.near:
            showing.show(f"  there is: {name}")
        return
    for thing in seen.things:
        count = "" if thing.count == 1 else f"   # {thing.count} of these: add nth or within"
        showing.show(f"{thing.target}{count}")
