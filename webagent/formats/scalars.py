"""The shapes of single values: texts, numbers, words, durations, origins, targets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from webagent.core.request_rules import origin_of
from webagent.core.step_values import texts
from webagent.core.target import KEYS as TARGET_KEYS
from webagent.core.target import TargetSyntaxError, parse_target
from webagent.formats.document import Node, Report
from webagent.formats.expressions import template_fault
from webagent.formats.shapes import BAD, Schema, suggestion, wanted


@dataclass(frozen=True, slots=True)
class Text:
    """Text, kept as written. ``template``: its {{ }} are filled in later."""

    what: str = "text"
    template: bool = True
    pattern: str = ""
    hint: str = ""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The text; a number keeps the digits as written."""
        if node.kind != "scalar" or node.value is None:
            return wanted(self.what, node, at, report, self.hint)
        text = node.text
        if not text.strip():
            report.problem(node, at, f"{self.what} is empty", self.hint)
            return BAD
        if self.template and template_fault(text, node, at, report):
            return BAD
        if not self.template and "{{" in text:
            report.problem(node, at, f"{self.what} is fixed: no {{{{ }}}} here")
            return BAD
        if self.pattern and not re.fullmatch(self.pattern, text):
            report.problem(node, at, f"{text!r} is not {self.what}", self.hint)
            return BAD
        return text

    def schema(self) -> Schema:
        """A string; what YAML reads as a number is text too."""
        if self.pattern:
            return {"type": "string", "pattern": f"^(?:{self.pattern})$"}
        return {"type": ["string", "number"]}


@dataclass(frozen=True, slots=True)
class Value:
    """Any JSON value, with templates in its texts. ``secret``: may be a whole secret."""

    secret: bool = False
    scalar: bool = False

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The value as plain data."""
        if node.kind == "scalar":
            bad = isinstance(node.value, str) and template_fault(
                node.value, node, at, report, secret=self.secret
            )
            return BAD if bad else node.value
        if self.scalar:
            return wanted("one value", node, at, report)
        if node.kind == "list":
            items = [self.read(x, f"{at}[{i}]", report) for i, x in enumerate(node.items)]
            return BAD if BAD in items else items
        pairs = {k.text: self.read(v, f"{at}.{k.text}", report) for k, v in node.pairs}
        return BAD if BAD in pairs.values() else pairs

    def schema(self) -> Schema:
        """Anything."""
        return {"type": ["string", "number", "boolean", "null"]} if self.scalar else {}


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A boolean."""
        if isinstance(node.value, bool):
            return node.value
        word = node.text.lower() if node.kind == "scalar" else ""
        meant = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(word)
        hint = f"write {meant}: in YAML 1.2 {node.text} is text" if meant else ""
        return wanted("true or false", node, at, report, hint)

    def schema(self) -> Schema:
        """A boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number, by default a whole one, within bounds."""

    least: float | None = 0
    most: float | None = None
    whole: bool = True

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The number."""
        value = node.value
        what = "a whole number" if self.whole else "a number"
        good = isinstance(value, int) or (not self.whole and isinstance(value, float))
        if not good or isinstance(value, bool) or not isinstance(value, int | float):
            return wanted(what, node, at, report)
        if self.least is not None and value < self.least:
            report.problem(node, at, f"{node.text} is less than {self.least:g}", "", "range")
            return BAD
        if self.most is not None and value > self.most:
            report.problem(node, at, f"{node.text} is more than {self.most:g}", "", "range")
            return BAD
        return value

    def schema(self) -> Schema:
        """A number with its bounds."""
        made: Schema = {"type": "integer" if self.whole else "number"}
        if self.least is not None:
            made["minimum"] = self.least
        if self.most is not None:
            made["maximum"] = self.most
        return made


_DURATION = re.compile(r"(?P<n>\d+(?:\.\d+)?)\s*(?P<unit>ms|s|m|h|d)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time: seconds, or with a unit: ``500ms``, ``30s``, ``5m``, ``2h``, ``1d``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """Seconds."""
        found = _DURATION.fullmatch(node.text.strip()) if node.kind == "scalar" else None
        if found is None:
            return wanted("a duration", node, at, report, "such as 30s, 5m, 2h or plain seconds")
        seconds = float(found["n"]) * _UNITS[found["unit"] or "s"]
        if not 0 < seconds <= 366 * 86400:
            report.problem(node, at, f"{node.text} is not between nothing and a year", "", "range")
            return BAD
        return seconds

    def schema(self) -> Schema:
        """Seconds, or text with a unit."""
        unit = {"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h|d)?$"}
        return {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, unit]}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these words."""

    words: tuple[str, ...]
    what: str = "one of these words"

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The word."""
        if node.kind == "scalar" and node.text in self.words:
            return node.text
        if node.kind != "scalar" or node.value is None:
            return wanted(self.what, node, at, report, ", ".join(self.words))
        hint = suggestion(node.text, self.words)
        report.problem(node, at, f"{node.text!r} is not {self.what}", hint, "unknown_word")
        return BAD

    def schema(self) -> Schema:
        """An enumeration."""
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Origin:
    """An origin: ``https://host`` with a port if it is not the usual one."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The origin in its one spelling."""
        if node.kind != "scalar" or not isinstance(node.value, str):
            return wanted("an origin", node, at, report, "such as https://shop.example")
        text = node.text.strip()
        try:
            origin = origin_of(text)
        except ValueError:
            origin = ""
        if not re.match(r"https?://", text, re.IGNORECASE) or not origin or "*" in origin:
            report.problem(
                node, at, f"{text!r} is not an origin", "write https://HOST, whole and fixed"
            )
            return BAD
        if text.rstrip("/").count("/") > 2 or "?" in text or "#" in text or "@" in text:
            report.problem(
                node, at, f"{text!r} is more than an origin", f"write {origin}", "origin"
            )
            return BAD
        return origin

    def schema(self) -> Schema:
        """A URL without a path."""
        return {"type": "string", "pattern": "^[hH][tT][tT][pP][sS]?://[^/?#@*]+/*$"}


def target_of(raw: Any, node: Node, at: str, report: Report) -> Any:
    """The parsed `Target`, with the templates in it checked; or BAD."""
    try:
        target = parse_target(raw)
    except TargetSyntaxError as error:
        report.problem(node, at, str(error), error.hint, "target")
        return BAD
    except (TypeError, ValueError) as error:
        report.problem(node, at, f"not a target: {error}", "", "target")
        return BAD
    if any(template_fault(text, node, at, report) for text in texts(target)):
        return BAD
    return target


@dataclass(frozen=True, slots=True)
class TargetIs:
    """A target: ARIA notation, CSS, or a mapping."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The parsed target."""
        if node.kind == "list" or (node.kind == "scalar" and not isinstance(node.value, str)):
            return wanted(
                "a target", node, at, report, 'such as button "Place order", .css or {role: …}'
            )
        return target_of(node.plain_value(), node, at, report)

    def schema(self) -> Schema:
        """Text or the mapping."""
        return {"$ref": "#/$defs/target"}


def target_definition() -> Schema:
    """The schema behind ``#/$defs/target``."""
    nested = {"$ref": "#/$defs/target"}
    kinds: Schema = {"exact": {"type": "boolean"}, "nth": {"type": "integer"}}
    kinds |= {"within": nested, "frame": nested}
    mapping = {k: kinds.get(k, {"type": "string"}) for k in TARGET_KEYS}
    return {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "object", "properties": mapping, "additionalProperties": False,
             "minProperties": 1},
        ]
    }  # fmt: skip
