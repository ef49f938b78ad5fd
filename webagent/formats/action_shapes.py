"""The shapes of what stands under an action's verb, where it is more than a target or a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from webagent.core.action import (
    Entry,
)
from webagent.core.expect import ElementShown
from webagent.core.target import KEYS as TARGET_KEYS
from webagent.formats.document import Node, Report
from webagent.formats.expectation_grammar import KINDS, read_kinds
from webagent.formats.scalars import Choice, Number, TargetIs, Text, Value, target_of
from webagent.formats.shapes import BAD, Key, Keys, ListOf, Schema, Shape, wanted

TARGET = {"$ref": "#/$defs/target"}


@dataclass(frozen=True, slots=True)
class Entries:
    """``{TARGET: VALUE, …}`` or a list of ``{target, value}``."""

    secret: bool = False
    many: bool = False

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A tuple of entries."""
        keys = _entry_keys(self._value())
        if node.kind == "list" and node.items:
            return ListOf(keys).read(node, at, report)
        if node.kind != "map" or not node.pairs:
            return wanted(
                "TARGET: VALUE", node, at, report, 'such as {textbox "Name": "{{ name }}"}'
            )
        if {key.text for key, _ in node.pairs} == {"target", "value"}:
            made = keys.read(node, at, report)
            return BAD if made is BAD else (made,)
        entries = []
        for index, (key, value) in enumerate(node.pairs):
            here = f"{at}[{index}]"
            report.mark(here, value if value.kind == "scalar" and value.text else key)
            target = target_of(key.text, key, here, report)
            given = self._value().read(value, here, report)
            bad = target is BAD or given is BAD
            entries.append(BAD if bad else Entry(target=target, value=given))
        return BAD if BAD in entries else tuple(entries)

    def _value(self) -> Shape:
        return _Given(secret=self.secret, many=self.many)

    def schema(self) -> Schema:
        """An object from targets to values, or a list."""
        value = self._value().schema()
        free = {"type": "object", "additionalProperties": value, "minProperties": 1}
        long = {
            "type": "object", "additionalProperties": False, "required": ["target", "value"],
            "properties": {"target": TARGET, "value": value},
        }  # fmt: skip
        return {"anyOf": [free, long, {"type": "array", "items": long, "minItems": 1}]}


@dataclass(frozen=True, slots=True)
class _Given:
    """The value of an entry: one, or for select and upload also several."""

    secret: bool
    many: bool

    def read(self, node: Node, at: str, report: Report) -> Any:
        if node.kind == "map" or (node.kind == "list" and not self.many):
            return wanted("a value", node, at, report, 'text, a number, or "{{ name }}"')
        if node.value is None and node.kind == "scalar":
            return wanted("a value", node, at, report, 'an empty text is ""')
        return Value(secret=self.secret).read(node, at, report)

    def schema(self) -> Schema:
        one: Schema = {"type": ["string", "number", "boolean"]}
        return {"anyOf": [one, {"type": "array", "items": one}]} if self.many else one


def _entry(values: dict[str, Any], _node: Node, _at: str, _report: Report) -> Any:
    return Entry(target=values["target"], value=values["value"])


def _entry_keys(value: Shape) -> Keys:
    return Keys(
        "an entry",
        {"target": Key(TargetIs(), "the control", required=True),
         "value": Key(value, "what goes into it", required=True)},
        _entry,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WaitShape:
    """One expectation, or a target for the element to come."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """An expectation."""
        if node.kind == "scalar":
            if isinstance(node.value, int | float) and not isinstance(node.value, bool):
                report.problem(node, at, "there is no waiting for a time", "wait for what comes")
                return BAD
            target = TargetIs().read(node, at, report)
            return BAD if target is BAD else ElementShown(target=target)
        words = {key.text for key, _ in node.pairs}
        if not words & set(KINDS) and words & set(TARGET_KEYS):
            target = TargetIs().read(node, at, report)
            return BAD if target is BAD else ElementShown(target=target)
        made = read_kinds(node, at, report)
        if BAD in made:
            return BAD
        if len(made) != 1:
            report.problem(node, at, "wait takes one expectation", "write a second wait")
            return BAD
        if made[0].kind == "output":
            report.problem(node, at, "wait looks at the page: an output is not there")
            return BAD
        return made[0]

    def schema(self) -> Schema:
        """A target or an expectation."""
        return {"anyOf": [TARGET, {"$ref": "#/$defs/expectation"}]}


@dataclass(frozen=True, slots=True)
class ScrollShape:
    """``top``, ``bottom``, a target, or ``{by: PIXELS}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The fields of a Scroll."""
        if node.kind == "scalar" and node.text in ("top", "bottom"):
            return {"edge": node.text}
        if node.kind == "map" and node.get("by") is not None:
            return Keys("scroll", {"by": Key(Number(least=None))}).read(node, at, report)
        target = TargetIs().read(node, at, report)
        return BAD if target is BAD else {"to": target}

    def schema(self) -> Schema:
        """One of the three."""
        by = {"type": "object", "properties": {"by": {"type": "integer"}}, "required": ["by"],
              "additionalProperties": False}  # fmt: skip
        return {"anyOf": [{"enum": ["top", "bottom"]}, by, TARGET]}


@dataclass(frozen=True, slots=True)
class DialogShape:
    """``accept``, ``dismiss`` or ``{accept: TEXT}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The fields of a Dialog."""
        if node.kind == "map":
            made = Keys("dialog", {"accept": Key(Text(), required=True)}).read(node, at, report)
            return BAD if made is BAD else {"answer": "accept", "text": made["accept"]}
        answer = Choice(("accept", "dismiss"), "an answer to a dialog").read(node, at, report)
        return BAD if answer is BAD else {"answer": answer}

    def schema(self) -> Schema:
        """A word, or the text for a prompt."""
        text = {"type": "object", "properties": {"accept": {"type": ["string", "number"]}},
                "required": ["accept"], "additionalProperties": False}  # fmt: skip
        return {"anyOf": [{"enum": ["accept", "dismiss"]}, text]}


@dataclass(frozen=True, slots=True)
class Nothing:
    """No value (``back:``), or ``true``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """An empty mapping."""
        if node.kind == "scalar" and (node.value is None or node.value is True):
            return {}
        return wanted("nothing", node, at, report, "write it without a value")

    def schema(self) -> Schema:
        """Null or true."""
        return {"enum": [None, True]}


@dataclass(frozen=True, slots=True)
class TargetOr:
    """A target, or a mapping with other keys as well: ``target`` tells which is meant."""

    keys: Keys

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The fields."""
        if node.kind == "map" and node.get("target") is not None:
            return self.keys.read(node, at, report)
        target = TargetIs().read(node, at, report)
        return BAD if target is BAD else {"target": target}

    def schema(self) -> Schema:
        """One of the two."""
        return {"anyOf": [TARGET, self.keys.schema()]}
