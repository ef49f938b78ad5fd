"""The items of a for_each: its rows with the key of each.

Beside the nouns, because a recipe's rows are also checked before there is any run to fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webagent.core.base import Json
from webagent.core.errors import ExpressionError
from webagent.core.expr import evaluate
from webagent.core.plan import PlanStep
from webagent.core.values import canonical


def pairs_of(
    step: PlanStep, rows: Sequence[Json], values: Mapping[str, Json]
) -> tuple[tuple[str, Json], ...]:
    """The (key, value) pairs of a for_each over these rows, with the names that its key may use.

    Raises:
        ExpressionError: a key is null, or two items have one key.
    """
    pairs: list[tuple[str, Json]] = []
    seen: set[str] = set()
    for index, row in enumerate(rows):
        raw = evaluate(step.key or "", {**values, "item": row})
        if raw is None or raw == "":
            msg = f"item {index + 1} of {step.path} has no key ({step.key})"
            raise ExpressionError(msg)
        key = raw if isinstance(raw, str) else canonical(raw)
        key = key.replace("[", "(").replace("]", ")")
        if key in seen:
            msg = f"two items of {step.path} have the key {key!r}"
            raise ExpressionError(msg)
        seen.add(key)
        pairs.append((key, row))
    return tuple(pairs)
