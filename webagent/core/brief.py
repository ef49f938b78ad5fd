"""Brief: all that a planner or executor is ever told about a step."""

from __future__ import annotations

from webagent.core.action import Action
from webagent.core.base import Frozen, Json
from webagent.core.expect import Verdict
from webagent.core.page import Drift, Observation
from webagent.core.plan import PlanStep
from webagent.core.revision import Rung
from webagent.core.sighting import Sighting


class Brief(Frozen):
    """One step, the values it refers to, its failure and its own tries: nothing of any other step.

    ``rung``: what is asked for: its target found again, its segment anew, or a page more or less.
    ``sightings``: what this step's targets looked like. ``documents``: the indices of the actions
    that caused a new document in this entry. ``origins`` and ``secrets``: where it may go, and
    which secrets it may type, by name. ``original``: the segment as the recipe has it, where it was
    revised before in this run. Its size does not grow with the plan:
    `engine.brief.make_brief` is the one place that makes it.
    """

    step: PlanStep
    values: dict[str, Json] = {}
    rung: Rung = "regenerate"
    drift: Drift
    failed_index: int | None = None
    reason: str = ""
    verdicts: tuple[Verdict, ...] = ()
    observation: Observation = Observation()
    tried: tuple[tuple[Action, ...], ...] = ()
    sightings: tuple[Sighting, ...] = ()
    documents: tuple[int, ...] = ()
    original: tuple[Action, ...] = ()
    origins: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    pages_left: int = 0
    seconds_left: float = 0.0
