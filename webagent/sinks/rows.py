"""A run's outputs as rows: what a table can hold of them.

Pure. The rows are the items of the one list among the outputs; without a list, all outputs make one
row. In a flat row, values inside values get a column of their own: ``price.amount``. What failed is
no second table: rows that a read could not type, and items of a for_each that failed, stand apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from webagent.core.base import Json
from webagent.core.errors import BadInput

Row: TypeAlias = dict[str, Json]

# Rows of a read that failed their types: kept apart by the read, and apart from the result as well.
BAD_ROWS = "_bad"
# The outputs of a for_each: a row for each item that is met, one for each that failed, how many.
_OF_FOR_EACH = {"items", "failed", "count"}


def rows_of(outputs: Mapping[str, Mapping[str, Json] | None]) -> list[Row]:
    """The rows of outputs by step. Raises BadInput when several lists could be meant."""
    lists: dict[str, list[Row]] = {}
    single: Row = {}
    for step, values in outputs.items():
        for name, value in (values or {}).items():
            if _stands_apart(name, values or {}):
                continue
            if isinstance(value, list) and all(isinstance(item, dict) for item in value):
                lists[f"{step}.{name}"] = _items(value) if _is_for_each(values or {}) else value
            else:
                single[f"{step}.{name}"] = value
    if len(lists) > 1:
        raise BadInput(
            f"The outputs hold {len(lists)} lists ({', '.join(lists)}): one table cannot "
            "show which row is whose.",
            hint="Write a .json file, which holds them all, or join them in a compare step.",
        )
    if not lists:
        return [single] if single else []
    return [item for items in lists.values() for item in items]


def left_out(outputs: Mapping[str, Mapping[str, Json] | None]) -> dict[str, int]:
    """How many rows or items a table of these outputs leaves out because they failed, by list."""
    return {
        f"{step}.{name}": len(value)
        for step, values in outputs.items()
        for name, value in (values or {}).items()
        if _stands_apart(name, values or {}) and isinstance(value, list) and value
    }


def _is_for_each(values: Mapping[str, Json]) -> bool:
    return values.keys() == _OF_FOR_EACH


def _stands_apart(name: str, values: Mapping[str, Json]) -> bool:
    return name.endswith(BAD_ROWS) or (name == "failed" and _is_for_each(values))


def _items(rows: Sequence[Row]) -> list[Row]:
    """The rows of a for_each without what each item's own reads left apart."""
    return [{k: v for k, v in row.items() if not k.endswith(BAD_ROWS)} for row in rows]


def flat(value: Mapping[str, Json], before: str = "") -> Row:
    """A mapping without mappings in it; a list in it becomes its JSON text."""
    row: Row = {}
    for name, item in value.items():
        path = f"{before}{name}"
        match item:
            case dict() if item:
                row |= flat(item, f"{path}.")
            case dict() | list():
                row[path] = json.dumps(item, ensure_ascii=False)
            case _:
                row[path] = item
    return row


def columns_of(rows: Sequence[Row]) -> list[str]:
    """All columns of the rows, in the order in which they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row))
