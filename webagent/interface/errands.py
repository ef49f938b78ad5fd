"""Before a run: a recipe is read, proven, and joined with its inputs. Nothing is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from webagent import wiring
from webagent.core.base import Json
from webagent.core.compile import compile_plan
from webagent.core.errors import BadInput
from webagent.core.plan import PAGELESS, Plan, Step
from webagent.core.recipe import Recipe, Use
from webagent.engine.radius import over_max_radius
from webagent.interface.given_rows import check_rows

Where: TypeAlias = str | Path


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a run is begun.

    ``unattended``: nobody is there to be asked. ``rehearse``: all up to each commit, nothing sent.
    ``until``: only this step and what it needs. ``again``: steps whose effect is wanted once more,
    in the name of ``by``.
    """

    unattended: bool = False
    rehearse: bool = False
    until: str | None = None
    again: tuple[str, ...] = ()
    by: str = ""


@dataclass(frozen=True, slots=True)
class Errand:
    """A recipe with its plan and typed inputs: checked, and ready to be begun. Nothing is open."""

    recipe: Recipe
    plan: Plan
    inputs: dict[str, Json]
    terms: Terms = field(default_factory=Terms)


def load(path: Where) -> Recipe:
    """Read a recipe and all that it uses.

    Args:
        path: the recipe's YAML file.

    Raises:
        RecipeInvalid: with every problem and its place in ``problems``.
    """
    return wiring.load_recipe(path)


def _compiled(recipe: Recipe) -> Plan:
    """The plan; the settings are asked for models only where a step has no segment."""
    unwritten = any(_is_unwritten(step) for step in recipe.steps.values())
    return compile_plan(recipe, wiring.settings_models()) if unwritten else compile_plan(recipe)


def _is_unwritten(step: Step | Use) -> bool:
    if isinstance(step, Use):
        return any(_is_unwritten(inner) for inner in step.recipe.steps.values())
    return step.segment is None and step.do not in PAGELESS


def check(recipe: Where | Recipe) -> Plan:
    """The plan of a recipe, proven: acyclic, typed, every effect keyed, every step falsifiable.

    Args:
        recipe: a recipe, or the path of one.

    Raises:
        RecipeInvalid: with every problem and its place in ``problems``.
    """
    return _compiled(recipe if isinstance(recipe, Recipe) else load(recipe))


def prepare(
    recipe: Where | Recipe,
    inputs: Mapping[str, Json] | None = None,
    *,
    file: Where | None = None,
    terms: Terms | None = None,
) -> Errand:
    """Check everything about a run that can be known before it begins.

    Args:
        recipe: a recipe, or the path of one.
        inputs: values by name, as text or typed.
        file: one YAML or JSON mapping of inputs, or a CSV for the one list input.
        terms: how it is to be run.

    Raises:
        RecipeInvalid: the recipe is not right. InputInvalid: the inputs are not.
        BadInput: no such step; or it may not run unattended.
    """
    made = recipe if isinstance(recipe, Recipe) else load(recipe)
    plan = _compiled(made)
    terms = terms or Terms()
    base = Path(made.file).parent if made.file else Path()
    bound = wiring.bind_inputs(plan.inputs, inputs, file, base)
    for name in (*terms.again, *((terms.until,) if terms.until is not None else ())):
        _known_step(plan, name)
    for name in terms.again:
        if plan.step(name).effect != "once":
            raise BadInput(
                f"{name} has no effect that happens once: it runs in every run anyway.",
                hint="--again is for a step with once:",
            )
    check_rows(plan, bound, terms.until)
    if terms.unattended:
        _small_enough(plan)
    return Errand(made, plan, bound, terms)


def _known_step(plan: Plan, name: str) -> None:
    known = [step.path for step in plan.steps]
    if name in known or any(path.startswith(f"{name}/") for path in known):
        return
    near = get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Steps: {', '.join(known)}"
    raise BadInput(f"There is no step {name!r} in {plan.recipe_id}.", hint=hint)


def _small_enough(plan: Plan) -> None:
    if (worst := over_max_radius(plan)) is not None:
        raise BadInput(
            f"A failure at {worst.step} could redo {worst.steps} steps; the recipe allows "
            f"{plan.max_radius} (max_radius), so it does not run unattended.",
            hint="See `webagent check`; make steps enterable by URL, or raise max_radius.",
        )
