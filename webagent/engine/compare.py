"""The compare step: choose among rows that other steps read. It never opens a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webagent.core.base import Json
from webagent.core.errors import ExpressionError
from webagent.core.expr import NullCount, evaluate, expression_references, has_template, render
from webagent.core.page import Drift
from webagent.core.plan import PlanStep


@dataclass(frozen=True, slots=True)
class Compared:
    """What a compare step gives: its outputs, or the drift and reason for which it has none.

    ``nulls``: how many comparisons had null in them (they were false, nulls sort last).
    """

    outputs: Mapping[str, Json]
    drift: Drift | None = None
    reason: str = ""
    nulls: int = 0


def compare(step: PlanStep, values: Mapping[str, Json]) -> Compared:
    """Filter, order and take rows by the step's keys.

    With ``take: 1`` the outputs are the row's own fields, otherwise ``items`` and ``count``. With
    ``group`` order and take hold within each group.

    Raises:
        ExpressionError: from, where or order do not evaluate.
    """
    source = step.source or ""
    rows = render(source, values) if has_template(source) else evaluate(source, values)
    if not isinstance(rows, list | tuple):
        msg = f"from of {step.path} is not a list but {type(rows).__name__}"
        raise ExpressionError(msg)
    if mixed := _mixed_currencies(step, rows):
        return Compared({}, "output_invalid", mixed)
    counter = NullCount()
    kept = [row for row in rows if _holds(step.where, row, values, counter)]
    ordered = _ordered(step, kept, values, counter)
    if step.take is not None:
        ordered = _taken(step, ordered, values)
    nulls = counter.ordered
    if not ordered:
        reason = f"none of {len(rows)} rows is left" + (
            f" by where: {step.where}" if step.where else ""
        )
        if nulls:
            reason += f"; {nulls} comparisons had null"
        return Compared({}, "value_differs", reason, nulls)
    if step.take == 1 and step.group is None:
        first = ordered[0]
        outputs = dict(first) if isinstance(first, Mapping) else {"value": first}
    else:
        outputs = {"items": ordered, "count": len(ordered)}
    return Compared(outputs, nulls=nulls)


def _scope(row: Json, values: Mapping[str, Json]) -> dict[str, Json]:
    fields = row if isinstance(row, Mapping) else {}
    return {**values, **fields, "item": row}


def _holds(where: str | None, row: Json, values: Mapping[str, Json], counter: NullCount) -> bool:
    return where is None or bool(evaluate(where, _scope(row, values), counter))


def _ordered(
    step: PlanStep, rows: list[Json], values: Mapping[str, Json], counter: NullCount
) -> list[Json]:
    # Stable sorts from the last key to the first, so that descending keys need no negation of text.
    for written in reversed(step.order):
        down = written.startswith("-")
        path = written.removeprefix("-").strip()
        keyed = [(_sort_value(evaluate(path, _scope(row, values))), row) for row in rows]
        nulls = [row for value, row in keyed if value is None]
        rest = [(value, row) for value, row in keyed if value is not None]
        counter.ordered += len(nulls)
        try:
            rest.sort(key=lambda pair: pair[0], reverse=down)
        except TypeError as error:
            msg = f"order {written!r} of {step.path}: values of different types ({error})"
            raise ExpressionError(msg) from error
        rows = [row for _, row in rest] + nulls
    return rows


def _sort_value(value: Json) -> Json:
    if isinstance(value, Mapping) and "amount" in value:
        return value["amount"]
    return value.casefold() if isinstance(value, str) else value


def _taken(step: PlanStep, rows: list[Json], values: Mapping[str, Json]) -> list[Json]:
    take = step.take or 0
    if step.group is None:
        return rows[:take]
    count: dict[str, int] = {}
    kept = []
    for row in rows:
        group = str(evaluate(step.group, _scope(row, values)))
        count[group] = count.get(group, 0) + 1
        if count[group] <= take:
            kept.append(row)
    return kept


def _mixed_currencies(step: PlanStep, rows: Sequence[Json]) -> str:
    """A sentence when a field that is compared as money stands in several currencies."""
    compared: set[str] = set()
    for source in (step.where, *(o.removeprefix("-") for o in step.order)):
        if source:
            compared |= {path[0] for path in expression_references(source)}
    for name in sorted(compared):
        currencies = {
            row[name].get("currency")
            for row in rows
            if isinstance(row, Mapping)
            and isinstance(row.get(name), Mapping)
            and "amount" in row[name]
        }
        if len(currencies) > 1:
            shown = ", ".join(sorted(str(c or "no currency") for c in currencies))
            return f"{name} is in several currencies ({shown}): amounts cannot be compared"
    return ""
