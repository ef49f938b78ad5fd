"""How much one step may use: what it says, else what every step may.

Apart from the ladder so that a recipe can be checked without loading journals and drifts.
"""

from __future__ import annotations

from webagent.core.limits import (
    ACTION_SECONDS,
    STEP_ATTEMPTS,
    STEP_PAGES,
    STEP_RETRIES,
    STEP_SECONDS,
)
from webagent.core.plan import PlanStep


def attempts_of(step: PlanStep) -> int:
    """How often the step's segment may be entered."""
    own = step.attempts if step.attempts is not None else step.budget.attempts
    return own if own is not None else STEP_ATTEMPTS


def retries_of(step: PlanStep) -> int:
    """How often it may wait and go on in place."""
    return step.retries if step.retries is not None else STEP_RETRIES


def seconds_of(step: PlanStep) -> float:
    """How long the step may take in all."""
    return step.budget.seconds if step.budget.seconds is not None else STEP_SECONDS


def pages_of(step: PlanStep) -> int:
    """How many documents the step may load."""
    return step.budget.pages if step.budget.pages is not None else STEP_PAGES


def timeout_of(step: PlanStep) -> float:
    """How long one action or the expectations of the step are waited for."""
    return step.timeout if step.timeout is not None else ACTION_SECONDS
