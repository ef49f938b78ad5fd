"""The blast radius: what would run again if one step failed, in the worst case.

A failing step is redone alone, but a step that can only be reached through the page of another
takes that chain along, and one whose outputs come out differently takes along the dependants that
were already met: in the worst case (a value found wrong late) every dependant. The chain's own
dependants do not count: a chain that is entered again must come out equal, or the step fails.
"""

from __future__ import annotations

from webagent.core.base import Frozen
from webagent.core.effect import EffectKind
from webagent.core.plan import PAGELESS, Plan, PlanStep
from webagent.core.show import WorstCase
from webagent.engine.allowance import pages_of, seconds_of


class Radius(Frozen):
    """The worst case of a failure at one step.

    ``again``: the steps that would run again, in plan order, itself included. ``chain``: those of
    them that are redone only to reach its page. ``pages`` and ``seconds``: the budgets of all of
    them. ``effects``: the once steps among them and whatever they wrote; a confirmed effect is
    never repeated, so these are at stake only before their commit. ``entry``: how the step is
    entered again. ``tokens``: what models may cost, 0 where none is asked, None without a limit.
    ``each_item``: a for_each is among them, and its pages and seconds hold for each item.
    """

    step: str
    again: tuple[str, ...]
    chain: tuple[str, ...] = ()
    pages: int = 0
    seconds: float = 0.0
    tokens: int | None = 0
    effects: tuple[tuple[str, EffectKind], ...] = ()
    entry: str = ""
    each_item: bool = False

    @property
    def steps(self) -> int:
        """The number that ``max_radius`` bounds."""
        return len(self.again)


def radius(plan: Plan, path: str) -> Radius:
    """The worst case of a failure at a step."""
    chain = _chain_to_entry(plan, path)
    again = {*chain, *plan.descendants(path)}
    steps = [step for step in plan.steps if step.path in again]
    paged = [step for step in steps if step.do not in PAGELESS]
    return Radius(
        step=path,
        again=tuple(step.path for step in steps),
        chain=chain[:-1],
        pages=sum(pages_of(step) for step in paged),
        seconds=sum(seconds_of(step) for step in paged),
        tokens=_tokens(plan, paged),
        effects=tuple((step.path, step.effect) for step in steps if step.effect != "none"),
        entry=_entry(plan.by_path[path], chain),
        each_item=any(step.for_each is not None for step in steps),
    )


def _tokens(plan: Plan, steps: list[PlanStep]) -> int | None:
    """What models may cost for these steps, by their budgets and the errand's."""
    if not plan.models.named:
        return 0
    own = [step.budget.tokens for step in steps]
    whole = plan.budget.tokens
    if any(limit is None for limit in own):
        return whole
    total = sum(limit for limit in own if limit is not None)
    return total if whole is None else min(total, whole)


def radii(plan: Plan) -> tuple[Radius, ...]:
    """The worst case of every step, in plan order."""
    return tuple(radius(plan, step.path) for step in plan.steps)


def largest_radius(plan: Plan) -> Radius | None:
    """The step whose failure would redo the most; None for a plan without steps."""
    return max(radii(plan), key=lambda one: one.steps, default=None)


def over_max_radius(plan: Plan) -> Radius | None:
    """The largest radius when it is above the recipe's ``max_radius``: not to be run unattended."""
    largest = largest_radius(plan)
    if plan.max_radius is None or largest is None or largest.steps <= plan.max_radius:
        return None
    return largest


def _chain_to_entry(plan: Plan, path: str) -> tuple[str, ...]:
    """The steps from the last one that can be entered by URL to this one."""
    chain = plan.chain(path)
    entries = [i for i, link in enumerate(chain) if plan.by_path[link].enterable]
    return chain[entries[-1] if entries else 0 :]


def _entry(step: PlanStep, chain: tuple[str, ...]) -> str:
    if step.do in PAGELESS:
        return "no page"
    if len(chain) == 1:
        return "by URL"
    return "through the chain " + " → ".join(chain)


def worst_cases(plan: Plan) -> tuple[WorstCase, ...]:
    """The worst case of every step, as rows for the person who reads the plan."""
    return tuple(
        WorstCase(
            step=one.step,
            steps=one.steps,
            pages=one.pages,
            seconds=one.seconds,
            tokens=one.tokens,
            effects=", ".join(f"{path} ({effect})" for path, effect in one.effects),
            entry=one.entry + (", pages and seconds for each item" if one.each_item else ""),
        )
        for one in radii(plan)
    )
