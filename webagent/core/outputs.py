"""What a step gives, as far as can be told before it runs.

Only for faults that a person would otherwise meet in the middle of a run: a misspelt output, an
attribute of a list, a price compared without its amount. What cannot be told is `ANY`, and allowed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from webagent.core.action import FieldRead, ListRead, ReadSpec, TableRead, outputs_of
from webagent.core.expect import OutputIs
from webagent.core.expr import Path
from webagent.core.scopes import Draft, Faults, Found, Place, either_paths, near, resolve

KindName: TypeAlias = Literal[
    "any", "text", "number", "boolean", "money", "list", "row", "file", "date"
]


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a value; ``fields`` of a row or of a list's rows, None when not known."""

    name: KindName
    fields: dict[str, Kind] | None = field(default=None, hash=False)


ANY = Kind("any")
_MONEY = {"amount": Kind("number"), "currency": Kind("text")}
_FILE = {"name": Kind("text"), "bytes": Kind("number"), "sha256": Kind("text"),
         "path": Kind("text")}  # fmt: skip
_READ_KINDS: dict[str, Kind] = {
    "text": Kind("text"), "html": Kind("text"), "url": Kind("text"), "date": Kind("date"),
    "number": Kind("number"), "boolean": Kind("boolean"), "money": Kind("money", _MONEY),
}  # fmt: skip
_WORDS = {"list": "a list", "row": "one row", "file": "a file", "money": "an amount of money"}
# A dotted path, or a sum of them: the expressions whose type can be told.
_SUM = re.compile(r"\s*(?:\{\{)?\s*(?P<terms>[\w.]+(?:\s*\+\s*[\w.]+)*)\s*(?:\}\})?\s*")


def of_read(spec: ReadSpec | None) -> Kind:
    """The kind of one reading (None: a download)."""
    match spec:
        case None:
            return Kind("file", _FILE)
        case FieldRead(fixed=True):
            return ANY
        case FieldRead(type=type_):
            return _READ_KINDS[type_]
        case ListRead(fields=fields):
            return Kind("list", {name: of_read(read) for name, read in fields.items()})
        case TableRead():
            return Kind("list")


def _expected(expected: OutputIs) -> Kind:
    """The kind of an output of which nothing is known but what is expected of it."""
    kinds: dict[str, Kind] = {
        "string": Kind("text"), "number": Kind("number"), "boolean": Kind("boolean"),
        "money": Kind("money", _MONEY), "list": Kind("list"),
    }  # fmt: skip
    return kinds.get(expected.bounds.type or "", ANY)


@dataclass(slots=True)
class Outputs:
    """The outputs of all steps of a plan, worked out when asked for."""

    drafts: dict[str, Draft]
    faults: Faults
    known: dict[str, dict[str, Kind] | None] = field(default_factory=dict)

    def of(self, path: str) -> dict[str, Kind] | None:
        """The outputs of a step by name; None when they cannot be told."""
        if path not in self.known:
            self.known[path] = None  # a ring of references ends here; it is reported elsewhere
            draft = self.drafts.get(path)
            self.known[path] = None if draft is None or draft.broken else self._of(draft)
        return self.known[path]

    def _of(self, draft: Draft) -> dict[str, Kind] | None:
        step = draft.step
        if step.do == "ask":
            kinds: dict[str, KindName] = {"string": "text", "file": "text"}
            type_ = step.question.type if step.question else "string"
            return {"answer": Kind(kinds.get(type_, cast("KindName", type_)))}
        if step.do == "compare":
            rows = self.rows(draft.place, step.source)
            if step.take == 1 and step.group is None:
                return rows
            return {"items": Kind("list", rows), "count": Kind("number")}
        if step.for_each is not None:
            rows = {"key": ANY, "item": Kind("row"), **self.own(draft)}
            failed = {"key": ANY, "item": Kind("row"), "reason": Kind("text")}
            return {"items": Kind("list", rows), "failed": Kind("list", failed),
                    "count": Kind("number")}  # fmt: skip
        return self.own(draft)

    def own(self, draft: Draft) -> dict[str, Kind]:
        """What the step's own segment reads, with the lists of bad rows.

        A step without a segment has to give what is expected of it.
        """
        made: dict[str, Kind] = {}
        if draft.step.segment is None:
            return {e.name: _expected(e) for e in draft.step.expect if isinstance(e, OutputIs)}
        for name, spec in outputs_of(draft.step.segment or ()).items():
            made[name] = of_read(spec)
            if isinstance(spec, ListRead | TableRead):
                made[f"{name}_bad"] = Kind("list")
        return made

    def kind(self, place: Place, path: Path) -> Kind:
        """The kind of what a reference stands for; ANY when it cannot be told."""
        found = resolve(place, path, self.faults)
        if found.input is not None and not found.fields:
            spec = place.recipe.inputs[found.input]
            return {"list": Kind("list"), "number": Kind("number"), "boolean": Kind("boolean"),
                    "date": Kind("date")}.get(spec.type, Kind("text"))  # fmt: skip
        if found.step is None or not found.fields:
            return ANY
        outputs = self.of(found.step)
        kind = ANY if outputs is None else outputs.get(found.fields[0], ANY)
        for name in found.fields[1:]:
            row = kind.fields if kind.name in ("row", "money", "file") else None
            kind = (row or {}).get(name, ANY)
        return kind

    def rows(self, place: Place, source: str | None) -> dict[str, Kind] | None:
        """The fields of the rows of a list expression, when all its lists' fields are known."""
        merged: dict[str, Kind] = {}
        paths = either_paths(source or "")
        for path in paths:
            kind = self.kind(place, path)
            if kind.name != "list" or kind.fields is None:
                return None
            for name, inner in kind.fields.items():
                merged[name] = inner if merged.get(name, inner) == inner else ANY
        return merged if paths else None

    def not_a_list(self, place: Place, source: object) -> str | None:
        """Why a list expression is none, when that can be told."""
        if not isinstance(source, str) or (found := _SUM.fullmatch(source)) is None:
            return None
        for term in found["terms"].split("+"):
            path = tuple(term.strip().split("."))
            kind = self.kind(place, path)
            if kind.name not in ("any", "list"):
                return f"{term.strip()} is {_WORDS.get(kind.name, kind.name)}, not a list"
        return None

    def fault(self, found: Found) -> tuple[str, str] | None:
        """Message and hint when a resolved reference names an output that is not there."""
        if found.step is None or not found.fields:
            return None
        outputs = self.of(found.step)
        if outputs is None:
            return None
        said = found.step.replace("/", ".")
        name = found.fields[0]
        if name not in outputs:
            return f"step {said} has no output {name!r}", near(name, list(outputs))
        return attribute_fault(f"{said}.{name}", outputs[name], found.fields[1:])


def attribute_fault(said: str, kind: Kind, rest: Path) -> tuple[str, str] | None:
    """Message and hint when a value cannot have these attributes."""
    for name in rest:
        if kind.name == "list" and name not in ("count", "index"):
            return f"{said} is a list: it has no {name!r}", f"write {said}[0].{name}, or compare"
        if kind.name in ("text", "date", "number", "boolean") and name in _MONEY:
            return f"{said} is {kind.name}: it has no {name!r}", "read it with type: money"
        if kind.name in ("money", "row", "file") and kind.fields and name not in kind.fields:
            return f"{said} has no {name!r}", near(name, list(kind.fields))
        kind = (kind.fields or {}).get(name, ANY) if kind.name != "list" else ANY
        said = f"{said}.{name}"
    return None
