"""The values of a step in which names stand, each with the place where it is written.

The one list of them: what is checked for unknown names, what makes a need, and what early cut-off
compares must not differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from webagent.core.base import Frozen, Json
from webagent.core.plan import Step
from webagent.core.target import Target

Form: TypeAlias = Literal["value", "expression", "list", "row"]


@dataclass(frozen=True, slots=True)
class Written:
    """One value: ``at`` is its path in the step, ``form`` how its names are read.

    *value*: a text with templates. *expression*: bare. *list*: either. *row*: bare, and the fields
    of a compared row come first. ``item``: whether the item of a for_each may be named.
    """

    at: str
    form: Form
    raw: Json
    item: bool = True


def written_values(step: Step) -> Iterator[Written]:
    """All values of a step that may hold names."""
    yield Written("goal", "value", step.goal)
    if step.when is not None:
        yield Written("when", "expression", step.when, item=False)
    if step.for_each is not None:
        yield Written("for_each", "list", step.for_each, item=False)
    if step.key is not None:
        yield Written("key", "expression", step.key)
    if step.once is not None:
        yield Written("once.key", "value", step.once.key)
    yield from _each("segment", step.segment or ())
    yield from _each("before_commit", step.before_commit)
    yield from _each("expect", step.expect)
    if step.probe is not None:
        yield from _each("probe", step.probe.segment)
    yield from _each("reset", step.reset or ())
    yield from _pageless(step)


def _pageless(step: Step) -> Iterator[Written]:
    if step.source is not None:
        yield Written("from", "list", step.source)
    if step.where is not None:
        yield Written("where", "row", step.where)
    for index, key in enumerate(step.order):
        yield Written(f"order[{index}]", "row", key.removeprefix("-"))
    if step.group is not None:
        yield Written("group", "row", step.group)
    if step.question is not None:
        yield Written("question", "value", [step.question.text, *step.question.options])


def _each(at: str, models: Sequence[Frozen]) -> Iterator[Written]:
    for index, model in enumerate(models):
        verb = getattr(model, "verb", None)
        here = f"{at}[{index}].{verb or getattr(model, 'kind', '')}"
        entries = getattr(model, "entries", None)
        if entries is None:
            yield Written(here, "value", list(texts(model)))
            continue
        for number, entry in enumerate(entries):
            yield Written(f"{here}[{number}]", "value", list(texts(entry)))
        rest = [x for name in ("within", "frame") for x in texts(getattr(model, name))]
        yield Written(here, "value", rest)


# Kept as written when a model is bound: the target's own text, and the condition of paging.
_NOT_BOUND = frozenset({"kind", "verb", "until"})


def texts(value: Json) -> Iterator[str]:
    """Every text in a model, as deep as it goes."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Frozen):
        skip = {"source"} if isinstance(value, Target) else set()
        for name, inner in value.__dict__.items():
            if name not in skip and not (name in _NOT_BOUND and isinstance(inner, str)):
                yield from texts(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts(inner)
