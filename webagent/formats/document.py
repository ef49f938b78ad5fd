"""A document's parts with their places, and the faults found in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from webagent.core.errors import Problem
from webagent.core.recipe import Place

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """One part of a document with its place, counted from 1.

    ``text`` is a scalar as written, ``plain`` whether it stood without quotes. A map's pairs keep
    their order and hold the key's node, so that an error about a key can point at it.
    """

    kind: Literal["scalar", "list", "map"]
    line: int
    column: int
    value: Scalar = None
    text: str = ""
    plain: bool = False
    items: tuple[Node, ...] = ()
    pairs: tuple[tuple[Node, Node], ...] = ()

    def get(self, key: str) -> Node | None:
        """The value under a key of a map."""
        return next((value for name, value in self.pairs if name.text == key), None)

    def key(self, name: str) -> Node | None:
        """The node of a key itself."""
        return next((key for key, _ in self.pairs if key.text == name), None)

    def plain_value(self) -> Any:
        """The part as plain Python data."""
        if self.kind == "list":
            return [item.plain_value() for item in self.items]
        if self.kind == "map":
            return {key.text: value.plain_value() for key, value in self.pairs}
        return self.value

    def describe(self) -> str:
        """What this is, for a sentence such as "text is wanted, not a list"."""
        if self.kind != "scalar":
            return {"list": "a list", "map": "a mapping"}[self.kind]
        if self.value is None:
            return "nothing"
        if isinstance(self.value, bool):
            return "true or false"
        if isinstance(self.value, int | float):
            return f"the number {self.text}"
        return f"the text {self.text!r}" if len(self.text) <= 40 else "text"


@dataclass(slots=True)
class Report:
    """Collects what is wrong with one file, and where its parts stand.

    ``broken`` are paths of parts that were read only in part: what is found out later about what
    they lack would be a consequence, not a fault of its own.
    """

    file: str
    broken: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def problem(
        self, node: Node | None, at: str, message: str, hint: str = "", code: str = "invalid"
    ) -> None:
        """Note one fault at a node (None: of the file as a whole)."""
        line, column = (node.line, node.column) if node is not None else (1, 1)
        self.problems.append(
            Problem(message, path=at, file=self.file, line=line, column=column, hint=hint,
                    code=code)
        )  # fmt: skip

    def mark(self, at: str, node: Node) -> None:
        """Remember where a path stands."""
        self.places[at] = Place(file=self.file, line=node.line, column=node.column)
