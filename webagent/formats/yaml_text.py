"""Plain data as YAML: scalars quoted where they must be, collections in one line or as blocks.

It knows nothing of recipes. A person will read what it writes: quotes only where they are needed.
"""

from __future__ import annotations

import re
from typing import Any

from webagent.core.base import Json
from webagent.formats.document import Report
from webagent.formats.yaml_places import compose

# Longer lines are broken into a block where the place allows one.
WIDTH = 100
# What a reader of another YAML takes for something else than text.
_AMBIGUOUS = re.compile(r"(?i)y|n|yes|no|on|off|true|false|null|~|[-+.]?\d.*")


def scalar(value: Json, quote: str = "") -> str:
    """A scalar in YAML, good in a block and between braces, as a key and as a value.

    ``quote``: the sign it is put in even where it needs none (as what stood there before was).
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if not quote and _is_plain(value):
        return value
    printable = value.isprintable()
    if printable and "'" not in value and (quote == "'" or '"' in value or "\\" in value):
        return f"'{value}'"
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    named = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    if char in named:
        return named[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else (
        f"\\U{code:08x}"
    )  # fmt: skip


def _is_plain(text: str) -> bool:
    """Whether a text stands for itself without quotes, wherever it is put."""
    if not text or not text.isprintable() or text != text.strip() or _AMBIGUOUS.fullmatch(text):
        return False
    if not re.search(r"[-:#,\[\]{}&*!|>'\"%@`?=\\]|^\s|\s$", text):
        return True
    report = Report("")
    node = compose(
        f"- {text}: {text}\n- {{{text}: {text}, b: {text}}}\n- [{text}, {text}]\n", report
    )
    if node is None or report.problems or node.kind != "list":
        return False
    same: bool = node.plain_value() == [{text: text}, {text: text, "b": text}, [text, text]]
    return same


def written(data: Any) -> str:
    """Data in one line, collections in braces and brackets."""
    if isinstance(data, dict):
        pairs = (f"{scalar(key)}: {written(value)}" for key, value in data.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(data, list | tuple):
        return "[" + ", ".join(written(item) for item in data) + "]"
    return scalar(data)


def written_block(data: Any, indent: int) -> str:
    r"""Data as it stands at this column: a mapping's keys below each other, lists as dashes.

    The first line begins where it is put; the others have their indentation. Lines end in ``\\n``
    but for the last.
    """
    pad = "\n" + " " * indent
    if isinstance(data, dict) and data:
        return pad.join(written_pair(key, value, indent) for key, value in data.items())
    if isinstance(data, list | tuple) and data:
        return pad.join(f"- {written_block(item, indent + 2)}" for item in data)
    return written(data)


def written_pair(key: str, value: Any, indent: int) -> str:
    """One pair of a block mapping at this column."""
    head = f"{scalar(key)}:"
    if value is None:
        return head
    line = f"{head} {written(value)}"
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list | tuple) or not value:
        return line
    return f"{head}\n{' ' * (indent + 2)}{written_block(value, indent + 2)}"
