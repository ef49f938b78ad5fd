"""The brief: the one place where what a planner or executor is told about a step is cut.

It holds the step, the values that the step itself refers to, the failure and the segments of this
step tried before. Nothing of any other step, and nothing that grows with the plan.
"""

from __future__ import annotations

from collections.abc import Iterable

from webagent.core.base import Json
from webagent.core.brief import Brief
from webagent.core.page import Observation
from webagent.core.plan import template_of
from webagent.core.revision import Rung
from webagent.core.sighting import Sighting
from webagent.engine.allowance import pages_of, seconds_of
from webagent.engine.bind import names
from webagent.engine.guard import origins, secrets_of
from webagent.engine.state import RunState


def make_brief(
    state: RunState,
    node_path: str,
    observation: Observation,
    now: float,
    *,
    rung: Rung = "regenerate",
    sightings: Iterable[Sighting] = (),
    documents: tuple[int, ...] = (),
) -> Brief:
    """All that may be told about a node that is not met.

    ``now``: seconds since the epoch. Of the recipe's ``sightings`` only the step's own are told;
    ``documents``: the actions of this entry that caused a new document.
    """
    node = state.nodes[node_path]
    step = state.the_plan.step(node_path)
    judged = node.judged
    return Brief(
        step=step,
        rung=rung,
        values=used_values(state, node_path),
        drift=node.drift or "wrong_page",
        failed_index=judged.failed_index if judged is not None else None,
        reason=node.reason,
        verdicts=judged.verdicts if judged is not None else (),
        observation=observation,
        tried=node.tried,
        sightings=tuple(s for s in sightings if s.step == template_of(node_path)),
        documents=documents,
        original=state.originals.get(template_of(node_path), step.segment or ()),
        origins=origins(state, node_path),
        secrets=secrets_of(state, node_path),
        pages_left=max(0, pages_of(step) - node.pages),
        seconds_left=max(0.0, seconds_of(step) - node.seconds_at(now)),
    )


def used_values(state: RunState, node_path: str) -> dict[str, Json]:
    """Just the fields that the step's own expressions name, not whole outputs."""
    step = state.the_plan.step(node_path)
    seen = names(state, node_path)
    found: dict[str, Json] = {}
    for use in step.uses:
        path = [use[0].removeprefix(f"{step.place}/"), *use[1:]] if use[0] else list(use[1:])
        value: Json = seen
        for part in [piece for name in path for piece in name.split("/")]:
            value = value.get(part) if isinstance(value, dict) else None
        found[".".join(path).replace("/", ".")] = value
    if "item" in seen:
        found["item"] = seen["item"]
    return found
