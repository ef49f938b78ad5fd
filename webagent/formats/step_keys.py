"""The keys of steps, by the kind of step that they go with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, get_args

from webagent.core.action import VERBS
from webagent.core.effect import EFFECT_ORDER
from webagent.core.limits import Budget
from webagent.core.plan import (
    InputType,
    Once,
    Probe,
    Scope,
    StepKind,
)
from webagent.formats.document import Node, Report
from webagent.formats.expectation_grammar import EXPECTATIONS
from webagent.formats.expressions import Expr, ItemKey, ListExpr
from webagent.formats.model_grammar import Money
from webagent.formats.scalars import Choice, Duration, Flag, Number, Origin, Text, Value
from webagent.formats.segment_grammar import SEGMENT
from webagent.formats.shapes import BAD, Key, Keys, ListOf, MapOf, Reference, Schema, wanted

KINDS: tuple[str, ...] = get_args(StepKind)
INPUT_TYPES: tuple[str, ...] = get_args(InputType)
STEP_NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:[./][A-Za-z_][A-Za-z0-9_]*)*"

_NAME = Text("a step's name", template=False, pattern=STEP_NAME, hint="the step's key")


@dataclass(frozen=True, slots=True)
class Needs:
    """A name, a list of names, or ``any: [names]``; a list may hold one ``any`` beside names."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """(all, any): two tuples of names."""
        every: list[Any] = []
        some: list[Any] = []
        alternatives = 0
        for index, item in enumerate(node.items if node.kind == "list" else (node,)):
            here = f"{at}[{index}]" if node.kind == "list" else at
            report.mark(here, item)
            if item.kind == "map":
                alternatives += 1
                some.append(_ANY.read(item, here, report))
            else:
                every.append(_NAME.read(item, here, report))
        if BAD in (*every, *some):
            return BAD
        if alternatives > 1:
            report.problem(node, at, "more than one any", "put the alternatives in one list")
            return BAD
        return tuple(every), tuple(some[0]["any"]) if some else ()

    def schema(self) -> Schema:
        """Text, a list, or any."""
        one = {"anyOf": [_NAME.schema(), _ANY.schema()]}
        return {"anyOf": [*one["anyOf"], {"type": "array", "items": one}]}


_ANY = Keys("needs", {"any": Key(ListOf(_NAME, single=True, least=1), required=True)})


@dataclass(frozen=True, slots=True)
class Allowed:
    """How many items of a for_each may fail: ``3``, or ``10%``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The text."""
        found = re.fullmatch(r"(\d+)\s*(%?)", node.text.strip()) if node.kind == "scalar" else None
        if found is None:
            return wanted("a number of items", node, at, report, "such as 3 or 10%")
        if found[2] and int(found[1]) > 100:
            report.problem(node, at, f"{node.text} is more than all", "", "range")
            return BAD
        return found[1] + found[2]

    def schema(self) -> Schema:
        """A number or a percentage."""
        return {"anyOf": [{"type": "integer", "minimum": 0},
                          {"type": "string", "pattern": "^[0-9]+ *%?$"}]}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """What a person may answer, as texts."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A tuple of texts."""
        return ListOf(Text("an option"), least=1).read(node, at, report)

    def schema(self) -> Schema:
        """An array."""
        return {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1}


def _probe(values: dict[str, Any], _node: Node, _at: str, _report: Report) -> Any:
    return Probe(**values)


def _once(values: dict[str, Any], _node: Node, _at: str, _report: Report) -> Any:
    return Once(**values)


BUDGET = Keys(
    "a budget",
    {
        "attempts": Key(Number(least=1, most=100), "entries of a segment"),
        "seconds": Key(Duration(), "time, also as 5m"),
        "pages": Key(Number(least=1), "top-level documents"),
        "tokens": Key(Number(least=1), "of models: sent and received, cached ones too"),
        "money": Key(Money(), "what models may cost, by their prices"),
        "calls": Key(Number(least=1), "how often models may be asked"),
    },
    lambda values, _n, _a, _r: Budget(**values),
)
_SCOPE = Keys(
    "a scope",
    {
        "origins": Key(ListOf(Origin(), single=True, least=1), "where it may go"),
        "tools": Key(ListOf(Choice(VERBS, "an action"), single=True), "actions it may use"),
        "secrets": Key(ListOf(Text(template=False), single=True), "secrets it may type"),
    },
    lambda values, _n, _a, _r: Scope(**values),
    lone="origins",
)
_ONCE = Keys(
    "once",
    {
        "name": Key(
            Text("a name", template=False, pattern=r"[\w.-]+", hint="letters, digits, _ . -"),
            "steps that share it have one effect between them",
        ),
        "key": Key(Text("a key"), "what makes this effect this one", required=True),
    },
    _once,
    lone="key",
)
_PROBE = Keys(
    "a probe",
    {
        "segment": Key(SEGMENT, "reads whether it happened, in a fresh tab", required=True),
        "settle": Key(Duration(), "absence seen twice over this frees another attempt"),
    },
    _probe,
    lone="segment",
)
_ORDER = ListOf(Expr(prefix="-"), single=True, least=1)

# Keys by the steps they belong to. `goal`, `needs` and `when` go with every step.
SHARED: dict[str, Key] = {
    "goal": Key(Text("a goal"), "what this step is for, in a sentence"),
    "needs": Key(Needs(), "steps that must be met before; any: [..] joins alternatives"),
    "when": Key(Expr(), "an expression; the step is skipped when it is false"),
}
WORK: dict[str, Key] = {
    "session": Key(
        Text("a step's name or none", template=False, pattern=STEP_NAME),
        "the sign_in step it works under; none opts out",
    ),
    "budget": Key(BUDGET, "limits"),
}
USE_KEYS: dict[str, Key] = {
    **WORK,
    "use": Key(Text("a file", template=False), "a recipe that is carried out as this step"),
    "with": Key(MapOf(Value()), "its inputs"),
}
EVERY: dict[str, Key] = {
    "do": Key(Choice(KINDS, "a kind of step"), "the kind of step"),
    "expect": Key(EXPECTATIONS, "what must hold after it"),
}
PAGED: dict[str, Key] = {
    **WORK,
    "for_each": Key(ListExpr(), 'one node for each item: "{{ list }}"'),
    "key": Key(ItemKey(), "tells the items apart: item.id"),
    "allow_failed": Key(Allowed(), "how many items may fail: N or N%"),
    "effect": Key(Choice(EFFECT_ORDER, "an effect"), "what it does to the world"),
    "once": Key(_ONCE, "the key under which its effect happens at most once"),
    "segment": Key(Reference("segment", SEGMENT), "the actions"),
    "continues": Key(_NAME, "goes on in the page where that step left it"),
    "before_commit": Key(EXPECTATIONS, "checked right before the commit; unmet: no commit"),
    "probe": Key(_PROBE, "read-only: did the effect happen?"),
    "reset": Key(Reference("segment", SEGMENT), "undoes what was written before the commit"),
    "approve": Key(Flag(), "a person approves the commit", built=False),
    "allow_posts": Key(
        ListOf(Text("a URL glob", template=False), single=True), "writes that do not count"
    ),
    "fresh": Key(Duration(), "how long its outputs stay good"),
    "scope": Key(_SCOPE, "what it may use"),
    "timeout": Key(Duration(), "how long its expectations may take"),
    "retries": Key(Number(most=100), "waits in place; 2 when not given"),
    "attempts": Key(Number(least=1, most=100), "entries of its segment; 3 when not given"),
}
COMPARE: dict[str, Key] = {
    "from": Key(ListExpr(), 'the items: "{{ a.offers + b.offers }}"'),
    "where": Key(Expr(), "keeps the items for which it is true"),
    "order": Key(_ORDER, "fields to sort by; - before one for descending"),
    "take": Key(Number(least=1), "how many; 1 gives the item itself"),
    "group": Key(Expr(), "order and take hold within each group"),
}
ASK: dict[str, Key] = {
    "question": Key(Text("a question"), "what a person is asked"),
    "type": Key(Choice(INPUT_TYPES, "a type"), "the type of the answer"),
    "options": Key(Options(), "the answers to choose from"),
}
STEP_KEYS: dict[str, Key] = {**EVERY, **USE_KEYS, **SHARED, **PAGED, **COMPARE, **ASK}
