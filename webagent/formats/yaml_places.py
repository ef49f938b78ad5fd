"""YAML text as a tree in which every part knows where it stands.

It knows YAML and nothing of recipes. ruamel's parser gives the events; they are composed here and
not by ruamel, because ruamel stops at the first duplicate key, resolves ``012`` to 12 without a
word, and does not tell an explicit tag from an implied one. What is refused on top of YAML itself:

- tags (``!!python/…``, ``!anything``): a recipe is data;
- a number with a leading zero: YAML reads ``012`` as 12, which no author of a postal code means;
- duplicate keys, keys that are lists or mappings (a bare ``{{ x }}`` is one), several documents;
- aliases that refer to themselves, or that unfold to more than `MAX_NODES` parts.

Anchors and merge keys (``<<: *base``) are understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from webagent.formats.document import Node, Report, Scalar
from webagent.formats.yaml_slips import character_problem, syntax_problem

MAX_BYTES = 1_000_000
MAX_NODES = 50_000
MAX_DEPTH = 60

_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_HEX = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_WORDS: dict[str, Scalar] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


def resolve(text: str) -> Scalar:
    """A plain scalar's value by YAML 1.2's core schema (``yes`` and dates are text)."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) <= 30:
        return int(text)
    if _HEX.fullmatch(text) and len(text) <= 30:
        return int(text, 0)
    if _FLOAT.fullmatch(text) and len(text) <= 40:
        value = float(text)
        return value if abs(value) < 1e300 else text
    return text


def compose(text: str, report: Report) -> Node | None:
    """The tree of a YAML text; None when it cannot be read, with the reason in the report."""
    yaml = YAML(typ="safe", pure=True)
    try:
        return _Composer(report).document(yaml.parse(text))
    except MarkedYAMLError as error:
        syntax_problem(error, text, report)
    except YAMLError as error:
        character_problem(error, text, report)
    except (ValueError, RecursionError, IndexError, TypeError, AttributeError) as error:
        # ruamel answers some malformed directives and escapes by errors of Python's own.
        report.problem(None, "", f"not valid YAML ({type(error).__name__})", code="yaml")
    return None


class _StopError(ValueError):
    """Composing cannot go on; the problem is already reported."""


class _Composer:
    """Makes nodes of events, with a stack of its own: deep nesting ends in a message."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.anchors: dict[str, Node | None] = {}
        self.sizes: dict[int, int] = {}
        self.count = 0

    def document(self, events: Iterator[Any]) -> Node | None:
        try:
            return self._documents(events)
        except _StopError:
            return None

    def _documents(self, events: Iterator[Any]) -> Node | None:
        root: Node | None = None
        seen = 0
        for event in events:
            name = type(event).__name__
            if name == "DocumentStartEvent":
                seen += 1
                if seen > 1:
                    self._refuse(event, "a second document in one file", "remove the line ---")
            elif name not in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
                root = self._node(event, events, 0)
        return root

    def _refuse(self, event: Any, message: str, hint: str = "") -> NoReturn:
        self._fault(event, message, hint)
        raise _StopError

    def _fault(self, event: Any, message: str, hint: str = "") -> None:
        mark = event.start_mark
        node = Node("scalar", mark.line + 1, mark.column + 1)
        self.report.problem(node, "", message, hint, code="yaml")

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        name = type(event).__name__
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if depth > MAX_DEPTH:
            self._refuse(event, f"nested more than {MAX_DEPTH} levels deep")
        if name == "AliasEvent":
            return self._alias(event)
        self._grow(event, 1)
        anchor = event.anchor
        if anchor:
            self.anchors[anchor] = None
        tag = getattr(event, "tag", None)
        if tag:
            self._fault(event, f"a YAML tag ({tag})", "remove it: a recipe holds plain data only")
        start = self.count
        if name == "ScalarEvent":
            node = self._scalar(event, line, column)
        elif name == "SequenceStartEvent":
            items = []
            for inner in events:
                if type(inner).__name__ == "SequenceEndEvent":
                    break
                items.append(self._node(inner, events, depth + 1))
            node = Node("list", line, column, items=tuple(items))
        else:
            pairs, braces = self._pairs(event, events, depth)
            node = Node("map", line, column, pairs=pairs)
            if braces is not None:  # read on as what was meant
                node = Node("scalar", line, column, value=braces, text=braces)
        if anchor:
            self.anchors[anchor] = node
            self.sizes[id(node)] = self.count - start + 1
        return node

    def _grow(self, event: Any, by: int) -> None:
        self.count += by
        if self.count > MAX_NODES:
            self._refuse(
                event, f"more than {MAX_NODES} parts", "aliases count as often as they are used"
            )

    def _alias(self, event: Any) -> Node:
        name = event.anchor
        node = self.anchors.get(name)
        if node is None:
            known = name in self.anchors
            self._refuse(
                event,
                f"*{name} refers to itself" if known else f"no anchor &{name} before this",
                "" if known else f'text that begins with * is quoted: "*{name}"',
            )
        self._grow(event, self.sizes[id(node)])
        return node

    def _scalar(self, event: Any, line: int, column: int) -> Node:
        text: str = event.value
        plain = event.style in (None, "")
        if plain and _LEADING_ZERO.fullmatch(text):
            self._fault(
                event,
                f"{text} is a number with a leading zero",
                f'quote it, "{text}", or write {int(text.replace("_", ""))}',
            )
        value = resolve(text) if plain else text
        return Node("scalar", line, column, value=value, text=text, plain=plain)

    def _pairs(
        self, event: Any, events: Iterator[Any], depth: int
    ) -> tuple[tuple[tuple[Node, Node], ...], str | None]:
        """The pairs of a mapping; and the text that was meant if it is a bare ``{{ x }}``."""
        pairs: dict[str, tuple[Node, Node]] = {}
        merged: list[tuple[Node, Node]] = []
        braces: str | None = None
        for inner in events:
            if type(inner).__name__ == "MappingEndEvent":
                break
            key = self._node(inner, events, depth + 1)
            value = self._node(next(events), events, depth + 1)
            if value.kind == "scalar" and value.plain and not value.text:
                # The parser puts nothing at the next token; it is missing behind its key.
                value = Node("scalar", key.line, key.column, plain=True)
            if key.kind != "scalar":
                braces = self._odd_key(event, key)
            elif key.plain and key.text == "<<":
                merged.append((key, value))
            elif key.text in pairs:
                first = pairs[key.text][0]
                self.report.problem(
                    key, "", f"the key {key.text!r} stands twice",
                    f"it first stands in line {first.line}; YAML would keep only one",
                    code="duplicate_key",
                )  # fmt: skip
            else:
                pairs[key.text] = (key, value)
        for key, value in merged:
            for source in value.items if value.kind == "list" else (value,):
                if source.kind != "map":
                    self.report.problem(
                        key, "", "<< merges mappings only", "write <<: *ANCHOR", code="yaml"
                    )
                for name, part in source.pairs:
                    pairs.setdefault(name.text, (name, part))
        return tuple(pairs.values()), braces

    def _odd_key(self, event: Any, key: Node) -> str | None:
        if key.kind == "map" and len(key.pairs) == 1 and key.column == event.start_mark.column + 2:
            meant = f"{{{{ {key.pairs[0][0].text} }}}}"
            self._fault(event, "YAML reads a bare {{ … }} as a mapping", f'quote it: "{meant}"')
            return meant
        self.report.problem(
            key, "", f"a key is text, not {key.describe()}", "quote it", code="yaml"
        )
        return None
