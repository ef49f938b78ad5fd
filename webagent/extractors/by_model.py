"""Reading by a model's eyes, where the selectors of a step find nothing any more.

The model gives for each value the text on the page that it was read from. A quote that is not on
the page, or a value that is not in its quote, is refused: what cannot be shown is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from webagent.core.action import FieldRead, ListRead, Read, ReadSpec, ReadType, TableRead
from webagent.core.base import Json
from webagent.core.brief import Brief
from webagent.core.chat import Question, Text, Turn
from webagent.core.errors import ModelError
from webagent.core.revision import Cannot
from webagent.core.telling import failure_text, page_text, step_text
from webagent.ports import Chat

MOST_ROWS = 200
# A line of an outline: a role, perhaps a name in quotes, marks such as [ref=e1], perhaps a text.
_LINE = re.compile(
    r'/?[\w-]+(?P<name> "(?:[^"\\]|\\.)*")?(?: \[[^\]]*\])*(?:: ?(?P<text>.*))?', re.DOTALL
)
_KEY = re.compile(r"'(?P<key>(?:[^']|'')*)'(?P<rest>(?::.*)?)", re.DOTALL)
# What was left out of an outline (`core.outline`, the executor's own limit).
_IN_PART = re.compile(r"^\s*# (?:\d+ more like these|cut)", re.MULTILINE)

Parse = Callable[[str, ReadType], Json]


class _Refused(Exception):
    """A value that cannot be shown; the message says which."""


def prompt() -> str:
    """What a reading model is told first."""
    return Path(__file__).with_name("prompts").joinpath("extract.md").read_text("utf-8")


class ModelReading:
    """`ports.ModelReader`; ``parse`` makes a typed value of a text (ValueError: it holds none)."""

    def __init__(self, parse: Parse) -> None:
        self._parse = parse

    async def extract(
        self, brief: Brief, outline: str, chat: Chat
    ) -> tuple[dict[str, Json], dict[str, str]] | Cannot:
        """The outputs of the step's reads from the failing one on, each with its quote."""
        wanted = wanted_of(brief)
        if not wanted:
            return Cannot(reason="nothing is to be read here")
        if any(isinstance(spec, TableRead) and not _columns(spec) for spec in wanted.values()):
            return Cannot(reason="a table without named columns can only be read by its markup")
        asked = question(brief, wanted, outline)
        rows = [spec for spec in wanted.values() if not isinstance(spec, FieldRead)]
        if any(spec.pages is not None for spec in rows):
            return Cannot(reason="a list over several pages can only be read by its markup")
        if rows and _IN_PART.search(asked.turns[0].texts[-1].text):
            return Cannot(reason="the page is told in part only: a list of it may not be whole")
        try:
            reply = await chat.ask(asked)
        except ModelError as error:
            return Cannot(reason=f"no usable answer: {error.message}")
        shown = _folded(page_words(outline))
        outputs: dict[str, Json] = {}
        quotes: dict[str, str] = {}
        try:
            for name, spec in wanted.items():
                told = reply.data.get(name)
                outputs[name], quotes[name] = self._output(name, spec, told, shown)
        except _Refused as refused:
            return Cannot(reason=str(refused))
        return outputs, quotes

    def _output(self, name: str, spec: ReadSpec, told: Any, shown: str) -> tuple[Json, str]:
        if isinstance(spec, FieldRead):
            if spec.fixed:
                return spec.value, ""
            value = self._value(name, spec.type, told, shown, optional=spec.optional)
            return value, "" if value is None else str(told["quote"])
        fields = _columns(spec) if isinstance(spec, TableRead) else spec.fields
        rows: list[Json] = []
        given = (told or {}).get("rows", [])
        if len(given) > MOST_ROWS:
            msg = (
                f"{name} has {len(given)} rows: more than a model is trusted to copy ({MOST_ROWS})"
            )
            raise _Refused(msg)
        for index, row in enumerate(given):
            rows.append({
                field: f.value if f.fixed
                else self._value(f"{name}[{index}].{field}", f.type, row[field], shown,
                                 optional=f.optional)
                for field, f in fields.items()
            })  # fmt: skip
        if not rows and not spec.optional:
            msg = f"no row of {name} was found on the page"
            raise _Refused(msg)
        return rows, f"{len(rows)} rows"

    def _value(
        self, name: str, type_: ReadType, told: Mapping[str, Any], shown: str, *, optional: bool
    ) -> Json:
        if not told or not told.get("found"):
            if optional:
                return None
            msg = f"{name} was not found on the page"
            raise _Refused(msg)
        quote, value = _folded(str(told["quote"])), _folded(str(told["value"]))
        if not _within(quote, shown):
            msg = f"{name}: its quote {str(told['quote'])[:80]!r} is not on the page"
            raise _Refused(msg)
        if not _within(value, quote):
            msg = f"{name}: {str(told['value'])[:80]!r} is not in its quote"
            raise _Refused(msg)
        try:
            return self._parse(str(told["value"]), type_)
        except ValueError as error:
            msg = f"{name}: {error}"
            raise _Refused(msg) from error


def wanted_of(brief: Brief) -> dict[str, ReadSpec]:
    """The outputs that are read from the failing action on; all, where none failed."""
    segment = brief.step.segment or ()
    start = brief.failed_index or 0
    return {
        name: spec
        for action in segment[start:]
        if isinstance(action, Read)
        for name, spec in action.outputs.items()
    }


def question(brief: Brief, wanted: Mapping[str, ReadSpec], outline: str) -> Question:
    """What the reader is asked."""
    seen = brief.observation
    texts = (
        Text(text=step_text(brief), cached=True),
        Text(text=failure_text(brief, lambda action: action.verb)),
        Text(text=page_text(seen.url, seen.title, outline)),
    )
    return Question(
        role="reader",
        system=(Text(text=prompt(), cached=True),),
        turns=(Turn(role="user", texts=texts),),
        schema_=_object({name: _schema(spec) for name, spec in wanted.items()}),
    )


def _columns(spec: TableRead) -> dict[str, FieldRead]:
    """The fields of a table, as far as the recipe names them."""
    named = {new: FieldRead(type=spec.types.get(old, "text")) for old, new in spec.columns.items()}
    typed = {c: FieldRead(type=t) for c, t in spec.types.items() if c not in spec.columns}
    return {**named, **typed}


def _object(properties: Mapping[str, Any]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _schema(spec: ReadSpec) -> dict[str, Json]:
    match spec:
        case FieldRead():
            return _field_schema(spec)
        case ListRead() | TableRead():
            fields = _columns(spec) if isinstance(spec, TableRead) else spec.fields
            row = _object({n: _field_schema(f) for n, f in fields.items() if not f.fixed})
            return _object({"rows": {"type": "array", "items": row}})


def _field_schema(spec: FieldRead) -> dict[str, Json]:
    return {
        **_object({
            "found": {"type": "boolean"},
            "value": {"type": "string"},
            "quote": {"type": "string"},
        }),
        "description": f"{spec.type}; value and quote are empty where found is false",
    }  # fmt: skip


def page_words(outline: str) -> str:
    """The words of an outline: names and texts, without roles, refs and states."""
    return "\n".join(_words(line.strip()) for line in outline.split("\n"))


def _words(line: str) -> str:
    if line.startswith("#"):
        return ""
    item = line.removeprefix("- ")
    if item == line:
        return line
    if key := _KEY.fullmatch(item):
        item = key["key"].replace("''", "'") + key["rest"]
    found = _LINE.fullmatch(item)
    if found is None:
        return item
    name, text = (found["name"] or "").strip(), found["text"] or ""
    return f"{_unquoted(name)} {_unquoted(text)}"


def _unquoted(text: str) -> str:
    """A text as the page has it, where the outline put it into quotes."""
    if not (len(text) > 1 and text[0] == text[-1] == '"'):
        return text
    return re.sub(r'\\(["\\/])', r"\1", text[1:-1])


def _within(part: str, whole: str) -> bool:
    """Whether a text stands in another; a number not as a piece of a longer one."""
    before = r"(?<!\d)(?<!\d[.,])" if part[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if part[-1:].isdigit() else ""
    return bool(part) and re.search(before + re.escape(part) + after, whole) is not None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
