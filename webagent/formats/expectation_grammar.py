"""How expectations are written: the kinds of DESIGN section 3, each with its short and long form.

An expectation stands as a mapping from its kind to what is expected. A mapping with several kinds
is several expectations, all of which must hold::

    expect:
      - url: "**/search?*"
      - text: Thank you                        # or {text: …, within: TARGET}
      - {element: .order-no, absent: .error}
      - count: {article.product: {min: 1}}     # TARGET: a number, or {min, max}
      - rows: {table "Basket": 1}
      - value: {.total: {max: "{{ max_price }}"}}
      - output: {order_number: {matches: "[0-9]+"}}
      - download: "*.csv"                      # or {name: …, min_bytes: …}
      - status: 2xx                            # or a list
      - response: {url: "**/api/orders", method: POST, status: 201}
      - dialog: Saved
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from webagent.core.expect import (
    Bounds,
    CountIs,
    DialogShown,
    DownloadCame,
    ElementAbsent,
    ElementShown,
    OutputIs,
    ResponseCame,
    RowsAre,
    StatusIs,
    TextShown,
    TitleIs,
    UrlIs,
    ValueIs,
)
from webagent.formats.document import Node, Report
from webagent.formats.expressions import template_fault
from webagent.formats.scalars import Choice, Number, TargetIs, Text, Value, target_of
from webagent.formats.shapes import BAD, Key, Keys, Schema, Shape, suggestion, wanted

OUTPUT_TYPES = ("string", "number", "boolean", "money", "list", "mapping")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression, proven to compile unless it holds a template."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The pattern."""
        if node.kind != "scalar" or node.value is None:
            return wanted("a regular expression", node, at, report)
        if template_fault(node.text, node, at, report):
            return BAD
        if "{{" not in node.text:
            try:
                re.compile(node.text)
            except (re.error, OverflowError, RecursionError) as error:
                report.problem(node, at, f"not a regular expression: {error}", "", "regex")
                return BAD
        return node.text

    def schema(self) -> Schema:
        """Text."""
        return {"type": ["string", "number"]}


def _bounds(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    low, high = values.get("min"), values.get("max")
    numbers = [x for x in (low, high) if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(numbers) == 2 and numbers[0] > numbers[1]:
        report.problem(node, at, f"min {low} is more than max {high}", "", "range")
        return BAD
    for name in ("min", "max"):
        edge = values.get(name)
        if name in values and (edge is None or isinstance(edge, bool | list | dict)):
            report.problem(node.get(name), f"{at}.{name}", f"{name} is a number or an amount")
            return BAD
    return Bounds(**values)


_COUNT_KEYS = {
    "min": Key(Value(scalar=True), "at least"),
    "max": Key(Value(scalar=True), "at most"),
    "equals": Key(Value(scalar=True), "exactly"),
}
_VALUE_KEYS = {
    "equals": Key(Value(), "exactly this value"),
    "min": Key(Value(scalar=True), "at least, as a number or an amount of money"),
    "max": Key(Value(scalar=True), "at most, as a number or an amount of money"),
    "matches": Key(Regex(), "a regular expression found in it"),
    "contains": Key(Text(), "text found in it"),
}
_OUTPUT_KEYS = {**_VALUE_KEYS, "type": Key(Choice(OUTPUT_TYPES, "a type of output"), "its type")}


@dataclass(frozen=True, slots=True)
class BoundsShape:
    """A value to equal, or a mapping of bounds."""

    keys: Keys
    number: bool = False

    def read(self, node: Node, at: str, report: Report) -> Any:
        """Bounds."""
        if node.kind == "map":
            return self.keys.read(node, at, report)
        if node.kind == "list":
            return wanted("a value or bounds", node, at, report, "write {min: …} or a value")
        value = Value(scalar=True).read(node, at, report)
        if value is BAD:
            return BAD
        if value is None:
            return wanted("a value or bounds", node, at, report, "write {min: 1} or a value")
        if self.number and not isinstance(value, int) and "{{" not in node.text:
            return wanted("a whole number", node, at, report)
        return Bounds(equals=value)

    def schema(self) -> Schema:
        """A scalar or the mapping."""
        scalar = {"type": ["string", "number", "boolean"]}
        return {"anyOf": [scalar, self.keys.schema()]}


COUNT_BOUNDS = BoundsShape(
    Keys("count", _COUNT_KEYS, _bounds, some=("min", "max", "equals")), number=True
)
VALUE_BOUNDS = BoundsShape(Keys("value", _VALUE_KEYS, _bounds, some=tuple(_VALUE_KEYS)))
OUTPUT_BOUNDS = BoundsShape(Keys("output", _OUTPUT_KEYS, _bounds, some=tuple(_OUTPUT_KEYS)))


@dataclass(frozen=True, slots=True)
class ByTarget:
    """``{TARGET: BOUNDS, …}``: one expectation for each target."""

    kind: type[CountIs] | type[RowsAre] | type[ValueIs]
    bounds: BoundsShape

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A list of expectations."""
        if node.kind != "map" or not node.pairs:
            return wanted("TARGET: VALUE", node, at, report, 'such as {table "Basket": 1}')
        made: list[Any] = []
        for key, value in node.pairs:
            target = target_of(key.text, key, at, report)
            bounds = self.bounds.read(value, at, report)
            if target is BAD or bounds is BAD:
                made.append(BAD)
            else:
                made.append(self.kind(target=target, bounds=bounds))
        return BAD if BAD in made else made

    def schema(self) -> Schema:
        """An object from targets to bounds."""
        return {"type": "object", "additionalProperties": self.bounds.schema(), "minProperties": 1}


@dataclass(frozen=True, slots=True)
class ByOutput:
    """``{NAME: BOUNDS, …}`` of outputs; a name alone asks that it is there."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A list of expectations."""
        if node.kind == "scalar" and isinstance(node.value, str):
            return [OutputIs(name=node.value, bounds=Bounds())]
        if node.kind != "map" or not node.pairs:
            return wanted("NAME: VALUE", node, at, report, "such as {offers: {min: 1}}")
        made = []
        for key, value in node.pairs:
            bounds = OUTPUT_BOUNDS.read(value, f"{at}.{key.text}", report)
            made.append(BAD if bounds is BAD else OutputIs(name=key.text, bounds=bounds))
        return BAD if BAD in made else made

    def schema(self) -> Schema:
        """An object from names to bounds."""
        return {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": OUTPUT_BOUNDS.schema(),
                 "minProperties": 1},
            ]
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Codes:
    """A status, a class of them such as ``2xx``, or a list."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A tuple of codes as text."""
        if node.kind == "map" or (node.kind == "list" and not node.items):
            return wanted("a status", node, at, report, "such as 200, 2xx or [200, 404]")
        made = []
        for item in node.items if node.kind == "list" else (node,):
            if item.kind == "scalar" and re.fullmatch(r"[1-5](\d\d|xx)", item.text):
                made.append(item.text)
            else:
                wanted("a status", item, at, report, "such as 200, 2xx or [200, 404]")
                made.append("")
        return tuple(made) if all(made) else BAD

    def schema(self) -> Schema:
        """A number, a class, or a list of them."""
        one: Schema = {
            "anyOf": [
                {"type": "integer", "minimum": 100, "maximum": 599},
                {"type": "string", "pattern": "^[1-5]([0-9][0-9]|xx)$"},
            ]
        }
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


def _response(values: dict[str, Any], _node: Node, _at: str, _report: Report) -> Any:
    codes = {"codes": values["status"]} if "status" in values else {}
    return ResponseCame(glob=values["url"], method=values.get("method"), **codes)


_TEXT = Keys(
    "text",
    {"text": Key(Text(), "what is shown", required=True),
     "within": Key(TargetIs(), "inside this element only")},
    lone="text",
)  # fmt: skip
_DOWNLOAD = Keys(
    "download",
    {"name": Key(Text(), "a glob over the file's name"),
     "min_bytes": Key(Number(least=0), "at least so large")},
    lone="name",
)  # fmt: skip
_RESPONSE = Keys(
    "response",
    {"url": Key(Text(), "a glob over the URL", required=True),
     "method": Key(Choice(METHODS, "a method"), "its method"),
     "status": Key(Codes(), "its status; 2xx or 3xx when not given")},
    _response, lone="url",
)  # fmt: skip

KINDS: dict[str, tuple[Shape, str]] = {
    "url": (Text(), "the page's URL matches this glob (** crosses slashes)"),
    "title": (Text(), "the page's title matches this glob, or contains the text"),
    "text": (_TEXT, "the text is visible"),
    "element": (TargetIs(), "a visible element matches"),
    "absent": (TargetIs(), "no visible element matches"),
    "count": (ByTarget(CountIs, COUNT_BOUNDS), "so many elements match"),
    "rows": (ByTarget(RowsAre, COUNT_BOUNDS), "a table or list has so many rows"),
    "value": (ByTarget(ValueIs, VALUE_BOUNDS), "an element's text or value"),
    "output": (ByOutput(), "an output of this step"),
    "download": (_DOWNLOAD, "a file was downloaded"),
    "status": (Codes(), "the document's HTTP status"),
    "response": (_RESPONSE, "a response came"),
    "dialog": (Text(), "a dialog with this message was shown"),
}


def _made(kind: str, value: Any) -> list[Any]:
    match kind:
        case "url":
            return [UrlIs(glob=value)]
        case "title":
            return [TitleIs(glob=value)]
        case "text":
            return [TextShown(text=value["text"], within=value.get("within"))]
        case "element":
            return [ElementShown(target=value)]
        case "absent":
            return [ElementAbsent(target=value)]
        case "download":
            least = {"min_bytes": value["min_bytes"]} if "min_bytes" in value else {}
            return [DownloadCame(glob=value.get("name", "*"), **least)]
        case "status":
            return [StatusIs(codes=value)]
        case "dialog":
            return [DialogShown(glob=value)]
        case "response":
            return [value]
        case _:  # count, rows, value, output are lists already
            return list(value)


def read_kinds(node: Node, at: str, report: Report) -> list[Any]:
    """The expectations of one mapping; BAD among them for each that is wrong."""
    if node.kind != "map" or not node.pairs:
        return [wanted("an expectation", node, at, report, "such as {text: Thank you}")]
    made: list[Any] = []
    for key, value in node.pairs:
        entry = KINDS.get(key.text)
        if entry is None:
            report.problem(
                key, at, f"there is no expectation {key.text!r}",
                suggestion(key.text, KINDS), "unknown_key",
            )  # fmt: skip
            made.append(BAD)
            continue
        read = entry[0].read(value, f"{at}.{key.text}", report)
        made.extend([BAD] if read is BAD else _made(key.text, read))
    return made


@dataclass(frozen=True, slots=True)
class Expectations:
    """A list of expectations; one mapping alone is a list of those in it."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A tuple. Paths count expectations, not list items, as the step's own tuple does."""
        if node.kind == "scalar" or (node.kind == "list" and not node.items):
            return wanted("a list of expectations", node, at, report, "such as - text: Thank you")
        made: list[Any] = []
        for item in node.items if node.kind == "list" else (node,):
            index = len(made)
            report.mark(f"{at}[{index}]", item)
            made.extend(read_kinds(item, f"{at}[{index}]", report))
            for extra in range(index + 1, len(made)):
                report.mark(f"{at}[{extra}]", item)
        return BAD if BAD in made else tuple(made)

    def schema(self) -> Schema:
        """A list, or one alone."""
        return EXPECTATION_LIST


EXPECTATION = {"$ref": "#/$defs/expectation"}
EXPECTATION_LIST: Schema = {
    "anyOf": [EXPECTATION, {"type": "array", "items": EXPECTATION, "minItems": 1}]
}
EXPECTATIONS = Expectations()


def expectation_definition() -> Schema:
    """The schema behind ``#/$defs/expectation``."""
    return {
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "properties": {
            kind: shape.schema() | {"description": doc} for kind, (shape, doc) in KINDS.items()
        },
    }
