"""Whether the rows of a list input fit the steps that go through them; nothing is opened."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from webagent.core.base import Json
from webagent.core.ends import steps_until
from webagent.core.errors import ExpressionError, InputInvalid
from webagent.core.expr import Path, expression_references, references
from webagent.core.items import pairs_of
from webagent.core.plan import Plan, PlanStep
from webagent.core.step_values import Written, written_values

# A for_each that goes through an input as it is; of others the rows are not known yet.
_INPUT = re.compile(r"\s*(?:\{\{\s*(?P<templated>\w+)\s*\}\}|(?P<bare>\w+))\s*")


def check_rows(plan: Plan, inputs: Mapping[str, Json], until: str | None = None) -> None:
    """Raise InputInvalid for a column that no row has, a row without a key, and two with one.

    Only for steps that surely run: one under a condition may never look at its rows.
    """
    todo = steps_until(plan, until)
    for step in plan.steps:
        if step.path not in todo or step.place or step.when or step.for_each is None:
            continue
        match = _INPUT.fullmatch(step.for_each)
        name = (match["templated"] or match["bare"]) if match is not None else ""
        rows = inputs.get(name)
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            _check_columns(step, name, rows)
            _check_keys(step, name, rows, inputs)


def _check_columns(step: PlanStep, name: str, rows: Sequence[Mapping[str, Json]]) -> None:
    has = list(dict.fromkeys(column for row in rows for column in row))
    for wanted in sorted(_columns(step)):
        if wanted not in has:
            near = get_close_matches(wanted, has, n=1)
            said = f"did you mean {near[0]!r}? " if near else ""
            raise InputInvalid(
                f"the input {name!r}: {step.path} uses item.{wanted}, and no row has {wanted!r}; "
                f"rows have: {', '.join(has)}",
                hint=f"{said}Name the column {wanted!r} in what is given, or edit the recipe.",
            )


def _columns(step: PlanStep) -> set[str]:
    return {
        path[1]
        for written in written_values(step)
        if written.item
        for path in _references(written)
        if path[0] == "item" and len(path) > 1
    }


def _references(written: Written) -> frozenset[Path]:
    if written.form == "value":
        return references(written.raw)
    return expression_references(str(written.raw))


def _check_keys(
    step: PlanStep, name: str, rows: Sequence[Json], inputs: Mapping[str, Json]
) -> None:
    uses = {path[0] for path in expression_references(step.key or "")}
    if not uses <= {"item", *inputs}:
        return
    try:
        pairs_of(step, rows, inputs)
    except ExpressionError as error:
        raise InputInvalid(
            f"the input {name!r}: {error.message}",
            hint=f"Each row needs a {step.key} of its own.",
        ) from None
