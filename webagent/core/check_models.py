"""Whether money can be counted where it is limited."""

from __future__ import annotations

from collections.abc import Iterable

from webagent.core.chat import Models, Role
from webagent.core.limits import Budget
from webagent.core.plan import Step
from webagent.core.recipe import Recipe
from webagent.core.scopes import Faults


def money_limited(budget: Budget, steps: Iterable[Step]) -> bool:
    """Whether a run or one of its steps may cost so much only."""
    return budget.money is not None or any(step.budget.money is not None for step in steps)


def unpriced(models: Models, *, all_roles: bool = False) -> list[Role]:
    """The roles without a price of those whose own budget limits money, or of all."""
    return [
        role
        for role, spec in models.named.items()
        if not spec.price.known and (all_roles or spec.budget.money is not None)
    ]


def check_models(recipe: Recipe, steps: Iterable[Step], faults: Faults) -> None:
    """A recipe that limits money tells the price of each model that it names."""
    missing = unpriced(recipe.models, all_roles=money_limited(recipe.budget, steps))
    if missing:
        told = ", ".join(missing)
        faults.add(
            recipe, f"models.{missing[0]}",
            f"a money budget needs the price of each model: there is none for {told}",
            "write price: {input: …, output: …}, for a million tokens", "no_price",
        )  # fmt: skip
