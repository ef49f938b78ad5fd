"""Text that came from pages, made fit for a terminal; and the two consoles.

A page's text is never markup and never a control sequence here: it is put into `rich.text.Text`,
with control characters and direction overrides taken out.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from webagent.core.base import Json
    from webagent.runtime.result import ModelCost

# Other (control, format, surrogate, private, unassigned), and separators of lines and paragraphs.
_UNFIT = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def plain(text: str) -> str:
    """A text without control characters; its line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in _UNFIT else "\ufffd" for c in text
    )


def one_line(text: str, width: int = 80) -> str:
    """A text in one line of bounded length."""
    flat = " ".join(plain(text).split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def cost_text(cost: ModelCost) -> str:
    """What models cost, in a few words; money only where a price is known."""
    money = f", {cost.money:.4f} by the price table" if cost.money else ""
    calls = "1 call" if cost.calls == 1 else f"{cost.calls} calls"
    return f"{calls}, {cost.tokens:,} tokens{money}, {cost.seconds:.1f} s"


def short_value(value: Json, width: int = 40) -> str:
    """A value in a few words: a list by its length, money with its currency, text cut."""
    match value:
        case str():
            return one_line(value, width)
        case list() | tuple():
            return f"{len(value)} row" if len(value) == 1 else f"{len(value)} rows"
        case {"amount": amount, "currency": currency} if len(value) == 2:
            return f"{amount:g} {currency or ''}".strip() if amount is not None else "no amount"
        case _:
            return one_line(json.dumps(value, ensure_ascii=False, default=str), width)


def short_outputs(outputs: dict[str, Json], width: int = 60) -> str:
    """A step's outputs in one line: lists of bad rows only when there are any."""
    shown = [
        f"{name}: {short_value(value)}"
        for name, value in outputs.items()
        if value is not None and not is_empty_fault_list(name, value)
    ]
    return one_line(", ".join(shown), width)


def is_empty_fault_list(name: str, value: Json) -> bool:
    """Whether an output only says that no row was bad and no item failed."""
    return (name.endswith("_bad") or name == "failed") and value in ([], ())


@cache
def console() -> Console:
    """Standard output. Markup and highlighting are off: what is printed is what was said."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False)


def show(*renderables: RenderableType) -> None:
    """Print to standard output: texts as they are, without loading what draws tables."""
    for renderable in renderables:
        if isinstance(renderable, str):
            _write(sys.stdout, plain(renderable))
        else:
            console().print(renderable)


def to_stderr(text: str) -> None:
    """A line on standard error."""
    _write(sys.stderr, plain(text))


def _write(stream: TextIO, line: str) -> None:
    """A line, also where the terminal's encoding has not all of its letters."""
    encoding = stream.encoding or "utf-8"
    stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()
