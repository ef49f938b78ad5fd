"""Shapes: what may stand at a place of a document, told once.

Each shape can `read` a node into a value, reporting every fault with its place, and can tell its
JSON `schema`. The grammar of recipes (`grammar`) is made of them, so that parser and schema cannot
differ. They know nodes and problems; they know nothing of steps or pages.

A shape answers `BAD` when it reported a fault: whatever is built of a bad part is bad too, but its
siblings are read all the same, so that all faults of a file are told at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol, TypeAlias

from webagent.formats.document import Node, Report

Schema: TypeAlias = dict[str, Any]


class Bad:
    """The one value that says: already reported."""

    def __repr__(self) -> str:
        return "BAD"


BAD = Bad()


class Shape(Protocol):
    """What may stand at a place."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The value, or BAD with its faults reported."""
        ...

    def schema(self) -> Schema:
        """The same as JSON Schema."""
        ...


def suggestion(word: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """A did-you-mean, or what there is when nothing is near."""
    names = [str(name) for name in known]
    if near := get_close_matches(word, names, n=1, cutoff=0.6):
        return f"did you mean {near[0]!r}?"
    folded = {name.lower().replace("_", ""): name for name in names}
    if same := folded.get(re.sub(r"[-_ ]", "", word.lower())):
        return f"did you mean {same!r}?"
    return "there is: " + ", ".join(names) if names and len(names) <= 30 else ""


def wanted(what: str, node: Node, at: str, report: Report, hint: str = "") -> Bad:
    """Report that something else stands here."""
    report.problem(node, at, f"{what} is wanted here, not {node.describe()}", hint, "type")
    return BAD


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one shape. ``single``: one alone may stand without its list."""

    item: Shape
    single: bool = False
    least: int = 0

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A tuple."""
        if node.kind != "list":
            if self.single and (node.kind == "map" or node.value is not None):
                value = self.item.read(node, at, report)
                return BAD if value is BAD else (value,)
            return wanted("a list", node, at, report, "each item after a dash")
        if len(node.items) < self.least:
            report.problem(node, at, "an empty list", "", "empty")
            return BAD
        made = []
        for index, item in enumerate(node.items):
            here = f"{at}[{index}]"
            report.mark(here, item)
            made.append(self.item.read(item, here, report))
        return BAD if any(x is BAD for x in made) else tuple(made)

    def schema(self) -> Schema:
        """An array, or one alone."""
        array: Schema = {"type": "array", "items": self.item.schema()}
        if self.least:
            array["minItems"] = self.least
        return {"anyOf": [self.item.schema(), array]} if self.single else array


@dataclass(frozen=True, slots=True)
class MapOf:
    """Names chosen by the author, each with one shape."""

    item: Shape
    name: str = "a name"
    pattern: str = ""
    hint: str = ""
    least: int = 0
    keep: bool = False

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A dict in the order of the file; with ``keep`` what is good of it (BAD stays in it)."""
        if node.kind != "map":
            return wanted("a mapping", node, at, report, self.hint)
        if len(node.pairs) < self.least:
            report.problem(node, at, "an empty mapping", "", "empty")
            return BAD
        made: dict[str, Any] = {}
        bad = False
        for key, value in node.pairs:
            here = f"{at}.{key.text}" if at else key.text
            report.mark(here, value if value.kind == "scalar" and value.text else key)
            if self.pattern and not re.fullmatch(self.pattern, key.text):
                report.problem(key, here, f"{key.text!r} is not {self.name}", self.hint, "name")
                bad = True
                continue
            made[key.text] = self.item.read(value, here, report)
            if made[key.text] is BAD:
                report.broken.add(here)
                bad = True
        return BAD if bad and not self.keep else made

    def schema(self) -> Schema:
        """An object with free names."""
        made: Schema = {"type": "object", "additionalProperties": self.item.schema()}
        if self.pattern:
            made["propertyNames"] = {"pattern": f"^(?:{self.pattern})$"}
        if self.least:
            made["minProperties"] = self.least
        return made


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a mapping: its shape, what it is for, and whether it must be there."""

    shape: Shape
    doc: str = ""
    required: bool = False
    built: bool = True


@dataclass(frozen=True, slots=True)
class Keys:
    """A mapping with known keys, made into something by ``build``.

    ``build`` gets the read values by key and may report further faults; it is not called when a
    part is bad. ``lone`` names the key that a value which is no mapping stands for.
    """

    what: str
    keys: Mapping[str, Key]
    build: Callable[[dict[str, Any], Node, str, Report], Any] | None = None
    lone: str | None = None
    some: tuple[str, ...] = field(default=())

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A dict of the keys given, or what ``build`` makes of it."""
        if node.kind != "map":
            if self.lone is not None and (node.kind == "list" or node.value is not None):
                value = self.keys[self.lone].shape.read(node, at, report)
                return BAD if value is BAD else self._built({self.lone: value}, node, at, report)
            return wanted(self.what, node, at, report, "keys: " + ", ".join(self.keys))
        values, bad = self.read_keys(node, at, report)
        return BAD if bad else self._built(values, node, at, report)

    def read_keys(self, node: Node, at: str, report: Report) -> tuple[dict[str, Any], bool]:
        """The values that could be read, and whether any could not."""
        values: dict[str, Any] = {}
        bad = False
        for name, value in node.pairs:
            here = f"{at}.{name.text}" if at else name.text
            key = self.keys.get(name.text)
            if key is None:
                report.problem(
                    name, here, f"{self.what} has no key {name.text!r}",
                    suggestion(name.text, self.keys), "unknown_key",
                )  # fmt: skip
                bad = True
            elif not key.built:
                report.problem(name, here, f"{name.text} is not built yet", "", "not_built")
                bad = True
            else:
                report.mark(here, value if value.kind == "scalar" and value.text else name)
                made = key.shape.read(value, here, report)
                if made is BAD:
                    report.broken.add(here)
                    bad = True
                else:
                    values[name.text] = made
        for name_, key in self.keys.items():
            if key.required and node.get(name_) is None:
                report.problem(
                    node, at, f"{self.what} needs {name_}: {key.doc}".rstrip(": "), "", "missing"
                )
                bad = True
        if self.some and not any(node.get(name) for name in self.some):
            report.problem(
                node, at, f"{self.what} needs one of {', '.join(self.some)}", "", "missing"
            )
            bad = True
        return values, bad

    def _built(self, values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
        return values if self.build is None else self.build(values, node, at, report)

    def schema(self) -> Schema:
        """An object without further keys."""
        made: Schema = {"type": "object", "additionalProperties": False, "properties": {}}
        for name, key in self.keys.items():
            if key.built:
                inner = key.shape.schema()
                made["properties"][name] = inner | {"description": key.doc} if key.doc else inner
        if required := [name for name, key in self.keys.items() if key.required]:
            made["required"] = required
        if self.some:
            made["anyOf"] = [{"required": [name]} for name in self.some]
        if self.lone is not None:
            return {"anyOf": [self.keys[self.lone].shape.schema(), made]}
        return made


@dataclass(frozen=True, slots=True)
class Reference:
    """A shape that stands in the schema's ``$defs`` under a name, because it is used often."""

    name: str
    shape: Shape

    def read(self, node: Node, at: str, report: Report) -> Any:
        """As the shape itself."""
        return self.shape.read(node, at, report)

    def schema(self) -> Schema:
        """A reference."""
        return {"$ref": f"#/$defs/{self.name}"}
