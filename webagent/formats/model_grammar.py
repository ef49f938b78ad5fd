"""How models are written, in a recipe and in the settings: none, a name, or a mapping by role."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, get_args

from webagent.core.chat import ROLES, Effort, Models, ModelSpec, Price
from webagent.core.errors import BadInput
from webagent.core.limits import Budget
from webagent.formats.document import Node, Report
from webagent.formats.scalars import Choice, Duration, Number, Text
from webagent.formats.shapes import BAD, Key, Keys, Schema, wanted

OFF = "none"
_HINT = f"or {OFF}, or a mapping with {', '.join(ROLES)}"
_PRICE_HINT = "such as 0.50, in the currency of the prices"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount above nothing, without its currency."""

    zero: bool = False

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The amount."""
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return wanted("an amount", node, at, report, _PRICE_HINT)
        if not math.isfinite(value) or value < 0 or (value == 0 and not self.zero):
            least = "nothing or more" if self.zero else "more than nothing"
            report.problem(node, at, f"{node.text} is not {least}", _PRICE_HINT, "range")
            return BAD
        return float(value)

    def schema(self) -> Schema:
        """A number."""
        return {"type": "number", "minimum" if self.zero else "exclusiveMinimum": 0}


_PRICE = Keys(
    "a price",
    {
        "input": Key(Money(zero=True), "for a million tokens sent", required=True),
        "output": Key(Money(zero=True), "for a million tokens received", required=True),
        "cache_read": Key(Money(zero=True), "read from the cache; 0.1 of input when not given"),
        "cache_write": Key(Money(zero=True), "kept in the cache; 1.25 of input when not given"),
    },
    lambda values, _n, _a, _r: Price(**values),
)
_BUDGET = Keys(
    "a model's budget",
    {
        "tokens": Key(Number(least=1), "sent and received in a run, cached ones too"),
        "money": Key(Money(), "what it may cost in a run, by its price"),
        "calls": Key(Number(least=1), "how often it may be asked in a run"),
        "seconds": Key(Duration(), "how long its calls may take in a run, all together"),
    },
    lambda values, _n, _a, _r: Budget(**values),
)
_NAME = Text(
    "a model's name", template=False, pattern=r"[A-Za-z0-9][\w.:/@+-]*",
    hint="such as claude-sonnet-5-5, or none",
)  # fmt: skip
MODEL = Keys(
    "a model",
    {
        "model": Key(_NAME, "its name", required=True),
        "max_tokens": Key(Number(least=1, most=1_000_000), "at most in one answer"),
        "effort": Key(Choice(get_args(Effort), "an effort"), "how hard it is to think"),
        "seconds": Key(Duration(), "for one call, tries that failed included"),
        "price": Key(_PRICE, "what a million tokens cost"),
        "budget": Key(_BUDGET, "limits of the role in a run"),
    },
    lambda values, _n, _a, _r: ModelSpec(**values),
    lone="model",
)
_BY_ROLE = Keys(
    "models",
    {
        "planner": Key(MODEL, "drafts plans, and finds another way when a step fails"),
        "executor": Key(MODEL, "works a step that has no segment, one action at a time"),
        "reader": Key(MODEL, "reads values where selectors fail"),
    },
    lambda values, _n, _a, _r: Models(**values),
    some=ROLES,
)


@dataclass(frozen=True, slots=True)
class ModelsShape:
    """``none``, one model for all roles (a name or a mapping with ``model``), or one by role."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """`Models`."""
        if node.kind == "scalar" and node.text == OFF:
            return Models(off=True)
        if node.kind == "list" or (node.kind == "scalar" and node.value is None):
            return wanted("a model's name", node, at, report, _HINT)
        if node.kind != "map" or node.get("model") is not None:
            spec = MODEL.read(node, at, report)
            return BAD if spec is BAD else Models.all(spec)
        return _BY_ROLE.read(node, at, report)

    def schema(self) -> Schema:
        """One of the three."""
        return {"anyOf": [{"const": OFF}, MODEL.schema(), _BY_ROLE.schema()]}


MODELS = ModelsShape()


def models_of_settings(table: Any, where: str, name: str | None = None) -> Models:
    """The models of a settings file's table; ``name`` goes before it, in every role.

    What the table says else of a role stays; its price only if the model stays the same.

    Raises:
        BadInput: with the first fault, and where it is.
    """
    models = Models() if table is None else _read(table, where)
    if name is None:
        return models
    named = _read(name, "WEBAGENT_MODEL")
    if named.off or models.off:
        return named
    return Models(
        planner=_renamed(models.planner, name),
        executor=_renamed(models.executor, name),
        reader=_renamed(models.reader, name),
    )


def _renamed(spec: ModelSpec | None, name: str) -> ModelSpec:
    if spec is None or spec.model == name:
        return spec or ModelSpec(model=name)
    return spec.model_copy(update={"model": name, "price": Price()})


def _read(value: Any, where: str) -> Models:
    report = Report(where)
    made = MODELS.read(_node(value), "models", report)
    if isinstance(made, Models):
        return made
    first = report.problems[0]
    raise BadInput(f"{where}: {first.message} (at {first.path}).", hint=first.hint)


def _node(value: Any) -> Node:
    """Plain data as a part of a document; its places are not known."""
    if isinstance(value, dict):
        pairs = tuple((_node(str(key)), _node(inner)) for key, inner in value.items())
        return Node("map", 0, 0, pairs=pairs)
    if isinstance(value, list):
        return Node("list", 0, 0, items=tuple(_node(inner) for inner in value))
    scalar = value if isinstance(value, str | int | float | bool) else str(value)
    return Node("scalar", 0, 0, value=scalar, text=str(value))
