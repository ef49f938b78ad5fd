"""How readings are written: one value, a list of rows, a table.

::

    read:
      title: h1                                              # a target: its text
      price: {css: .price, type: money, optional: true}      # or any key of a target, or target:
      link: {css: a.buy, attr: href}
      site: {value: a}                                       # fixed
      offers:
        each: article.product
        key: link                                            # a field, or a target in the row
        fields: {title: h2, link: {css: a, attr: href}}
        pages: {next: link "Next", max: 5, until: rows | length >= 40}
      orders: {table: table.orders, types: {Total: money}, columns: {Order no: number}}

``until`` sees ``rows`` (all so far), ``new`` (this page's), ``page`` and the last row's fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, get_args

from webagent.core.action import (
    FieldRead,
    ListRead,
    Pages,
    ReadType,
    TableRead,
)
from webagent.core.target import KEYS as TARGET_KEYS
from webagent.formats.document import Node, Report
from webagent.formats.expressions import Expr
from webagent.formats.scalars import Choice, Flag, Number, TargetIs, Text, Value, target_of
from webagent.formats.shapes import BAD, Key, Keys, MapOf, Schema, suggestion

READ_TYPES: tuple[str, ...] = get_args(ReadType)
NAME = r"[A-Za-z_][A-Za-z0-9_]*"
NAME_HINT = "letters, digits and _ only, not beginning with a digit"
_READ_TYPE = Choice(READ_TYPES, "a type of reading")


def _field(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    """A mapping with keys of a target besides those of a reading: `css`, or any way of looking."""
    looking = {k: values.pop(k) for k in list(values) if k in TARGET_KEYS}
    if "target" in values and looking:
        key = next(iter(looking))
        report.problem(node.get(key), f"{at}.{key}", f"{key} goes inside target, or target away")
        return BAD
    if looking:
        target = target_of(looking, node, at, report)
        if target is BAD:
            return BAD
        values["target"] = target
    if "value" in values:
        return _fixed(values, node, at, report)
    if not values.get("target") and "attr" not in values and "type" not in values:
        report.problem(node, at, "this reads nothing", "give css, target, attr or value")
        return BAD
    return FieldRead(**values)


def _fixed(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    if set(values) & {"target", "attr"}:
        report.problem(node, at, "value is fixed: it goes without target and attr")
        return BAD
    return FieldRead(**values, fixed=True)


_FIELD_KEYS = {
    "target": Key(TargetIs(), "the element"),
    "attr": Key(Text(template=False), "this attribute instead of the text"),
    "type": Key(_READ_TYPE, "what it is read as"),
    "value": Key(Value(scalar=True), "a fixed value instead of reading"),
    "optional": Key(Flag(), "absent is null instead of a failure"),
    **{name: Key(Value(), "a way of looking, as in a target") for name in TARGET_KEYS},
}
_FIELD = Keys("a reading", _FIELD_KEYS, _field)


@dataclass(frozen=True, slots=True)
class FieldShape:
    """``TARGET`` or ``{css|target, attr, type, value, optional}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A FieldRead."""
        if node.kind == "map":
            return _FIELD.read(node, at, report)
        target = TargetIs().read(node, at, report)
        return BAD if target is BAD else FieldRead(target=target)

    def schema(self) -> Schema:
        """Text or the mapping."""
        return {"$ref": "#/$defs/field"}


_PAGES = Keys(
    "pages",
    {"next": Key(TargetIs(), "what is clicked for the next page", required=True),
     "max": Key(Number(least=1, most=1000), "at most so many pages; 10 when not given"),
     "until": Key(Expr(), "stop when this is true of the rows read so far")},
    lambda values, _n, _a, _r: Pages(**values),
)  # fmt: skip


def _list(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    """``key`` names a field, or is a target: that of a field, or one read beside the fields."""
    key, fields = values.get("key"), values["fields"]
    if key is None or key in fields:
        return ListRead(**values)
    same = [name for name, read in fields.items() if str(read.target) == key and not read.attr]
    if same:
        return ListRead(**{**values, "key": same[0]})
    where = node.get("key")
    if re.fullmatch(NAME, key):
        report.problem(where, f"{at}.key", f"key {key!r} is none of the fields",
                       suggestion(key, fields), "unknown_field")  # fmt: skip
        return BAD
    target = target_of(key, where or node, f"{at}.key", report)
    name = "key" if "key" not in fields else "row_key"
    if target is BAD:
        return BAD
    return ListRead(**{**values, "key": name, "fields": {**fields, name: FieldRead(target=target)}})


_LIST_KEYS: dict[str, Key] = {
    "each": Key(TargetIs(), "the rows", required=True),
    "key": Key(Text(template=False), "the field by which rows are told apart"),
    "fields": Key(
        MapOf(FieldShape(), "a field's name", NAME, NAME_HINT, least=1), "what is read of each row",
        required=True,
    ),
    "pages": Key(_PAGES, "how the list goes on"),
    "optional": Key(Flag(), "no rows at all is an empty list"),
    "shape": Key(Text(), built=False),
}  # fmt: skip
_LIST = Keys("a list", _LIST_KEYS, _list)
_TABLE = Keys(
    "a table",
    {"table": Key(TargetIs(), "the table", required=True),
     "key": Key(Text(template=False), "the column by which rows are told apart"),
     "types": Key(MapOf(_READ_TYPE), "types of columns, by header or new name"),
     "columns": Key(MapOf(Text(template=False)), "new names of columns, by header"),
     "pages": Key(_PAGES, "how the table goes on"),
     "optional": Key(Flag(), "no table at all is an empty list"),
     "shape": Key(Text(), built=False)},
    lambda values, _n, _a, _r: TableRead(**values),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadShape:
    """One output: a field, a list (it has ``each``) or a table."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A ReadSpec."""
        if node.kind == "map":
            words = {key.text for key, _ in node.pairs}
            if "shape" in words and not words & {"each", "table"}:
                report.problem(node.key("shape"), f"{at}.shape", "shape is not built yet", "",
                               "not_built")  # fmt: skip
                return BAD
            if "table" in words:
                return _TABLE.read(node, at, report)
            if words & {"each", "fields", "pages"}:
                return _LIST.read(node, at, report)
        return FieldShape().read(node, at, report)

    def schema(self) -> Schema:
        """One of the three."""
        return {"anyOf": [FieldShape().schema(), _LIST.schema(), _TABLE.schema()]}


def field_definition() -> Schema:
    """The schema behind ``#/$defs/field``."""
    return {"anyOf": [{"type": "string", "minLength": 1}, _FIELD.schema()]}
