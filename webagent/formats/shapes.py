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

from webagent.core.errors import ExpressionError
from webagent.core.expr import (
    check_expression,
    check_template,
    has_template,
    references,
    secret_use,
    whole_value,
)
from webagent.core.request_rules import origin_of
from webagent.core.target import KEYS as TARGET_KEYS
from webagent.core.target import TargetSyntaxError, parse_target
from webagent.formats.yaml_places import Node, Report

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


def template_fault(text: str, node: Node, at: str, report: Report, *, secret: bool = False) -> bool:
    """Report what is wrong with the templates of a text; whether anything is."""
    if not has_template(text):
        if "}}" in text and "{{" not in text:
            report.problem(node, at, "}} without {{", "write {{ name }}", "expression")
            return True
        return False
    try:
        check_template(text)
        names = references(text)
    except ExpressionError as error:
        report.problem(node, at, error.message, error.hint, error.code)
        return True
    if any(path[0] == "secrets" for path in names):
        if secret and secret_use(text) is not None:
            return False
        report.problem(
            node, at,
            "a secret stands only as the whole value of fill or type, or as a browser credential",
            "write it alone: \"{{ secrets.NAME }}\" or \"{{ secrets.NAME | totp }}\"",
            "secret_misplaced",
        )  # fmt: skip
        return True
    return False


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
class Expr:
    """A bare expression. ``prefix``: a sign that may stand before it (``-`` for descending)."""

    prefix: str = ""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The expression's text."""
        if node.kind == "scalar" and isinstance(node.value, bool | int | float):
            return node.text.lower() if isinstance(node.value, bool) else node.text
        if node.kind != "scalar" or not isinstance(node.value, str) or not node.text.strip():
            return wanted("an expression", node, at, report, "such as price.amount <= max_price")
        text = node.text.strip()
        if has_template(text):
            report.problem(
                node, at, "an expression stands bare here", "write it without {{ }}", "expression"
            )
            return BAD
        try:
            check_expression(text.removeprefix(self.prefix) if self.prefix else text)
            names = references("{{ " + text + " }}")
        except ExpressionError as error:
            report.problem(node, at, error.message, error.hint, error.code)
            return BAD
        if any(path[0] == "secrets" for path in names):
            report.problem(node, at, "a secret cannot be looked at", "", "secret_misplaced")
            return BAD
        return text

    def schema(self) -> Schema:
        """Text."""
        return {"type": ["string", "boolean", "number"]}


@dataclass(frozen=True, slots=True)
class ListExpr:
    """An expression that gives a list, bare or as a whole ``{{ }}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The text as written."""
        if node.kind != "scalar" or not isinstance(node.value, str) or not node.text.strip():
            hint = 'make it an input of type: list, and write "{{ NAME }}"'
            return wanted("an expression for a list", node, at, report, hint)
        if not has_template(node.text):
            return Expr().read(node, at, report)
        if whole_value(node.text) is None:
            report.problem(
                node, at, "text around {{ }} is no list", 'write "{{ a + b }}"', "expression"
            )
            return BAD
        return BAD if template_fault(node.text, node, at, report) else node.text.strip()

    def schema(self) -> Schema:
        """Text."""
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class ItemKey:
    """An expression over ``item``; a whole ``{{ }}`` around it is taken off."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The bare expression."""
        if node.kind != "scalar" or not has_template(node.text):
            return Expr().read(node, at, report)
        inner = whole_value(node.text)
        if inner is None:
            report.problem(
                node, at, "a key is one expression", "such as item.name ~ '-' ~ item.size",
                "expression",
            )  # fmt: skip
            return BAD
        return BAD if template_fault(node.text, node, at, report) else inner.strip()

    def schema(self) -> Schema:
        """Text."""
        return {"type": "string"}


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
    texts = raw.values() if isinstance(raw, Mapping) else (raw,)
    for text in texts:
        if isinstance(text, str) and template_fault(text, node, at, report):
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
            report.problem(node, at, "an empty mapping", self.hint, "empty")
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
