"""Which steps of a run an edited recipe leaves as they are: what `resume --recipe` keeps.

A step is kept when its own text and the inputs that it names are the same, and when nothing that it
names (a value, a written need, the page that it goes on in) is to be done again. A session that is
only implied is no reason: signing in again changes nobody's values. A step whose effect was
dispatched is kept whatever was edited, because it never runs again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webagent.core.action import Action
from webagent.core.event import Entry, RunResumed, StepFinished, StepReopened, StepStarted
from webagent.core.plan import Plan, PlanStep, SubPlan, template_of
from webagent.engine.state import Node, RunState

SPENT = frozenset({"dispatched", "confirmed", "unknown"})
# Places in the graph that follow from other steps' text; the text of the step itself stays.
_DERIVED = frozenset({"needs", "enterable", "sign_in", "outputs"})


def kept(state: RunState, plan: Plan) -> tuple[str, ...]:
    """The finished steps (and items of a for_each) that stay as they are under an edited plan.

    In the new plan's order, so that a need is looked at before its dependant.
    """
    old = state.the_plan
    keep: dict[str, None] = {}
    for step in plan.steps:
        node = state.nodes.get(step.path)
        if node is None or step.path not in old.by_path:
            continue
        items = [state.nodes[path] for path in state.items.get(step.path, ())]
        if any(_spent(one) for one in (node, *items)) or (
            node.state in ("met", "skipped", "waiting")
            and _same(old, plan, step, state.originals.get(step.path))
            and all(named in keep for named in _named(step))
        ):
            keep[step.path] = None
    return tuple(keep)


def lost_effects(state: RunState, plan: Plan) -> tuple[str, ...]:
    """Nodes whose effect was sent, and for which an edited plan has no step of this name any more.

    Without its step an effect would be forgotten, or, under a step of another name, sent again.
    """
    return tuple(
        path
        for path, node in state.nodes.items()
        if _spent(node) and template_of(path) not in plan.by_path
    )


def _spent(node: Node) -> bool:
    return node.effect is not None and node.effect.phase in SPENT


def _same(old: Plan, new: Plan, step: PlanStep, original: tuple[Action, ...] | None = None) -> bool:
    """Whether a step's text, and that of the inputs that it names, is the same in both plans.

    A step that was revised counts as unchanged with the segment that the recipe had (``original``)
    as well as with the new one, which was accepted.
    """
    before = old.by_path[step.path]
    if original is not None and step.segment == original:
        before = before.model_copy(update={"segment": original})
    if before.model_dump(exclude=set(_DERIVED)) != step.model_dump(exclude=set(_DERIVED)):
        return False
    # The outermost inputs were bound when the run began; a sub-plan's follow from the text.
    return step.place == "" or _inputs(old.subplans, step) == _inputs(new.subplans, step)


def _inputs(places: Mapping[str, SubPlan], step: PlanStep) -> list[object]:
    sub = places.get(step.place)
    if sub is None:
        return []
    named = sorted({use[1] for use in step.uses if not use[0] and len(use) > 1})
    return [(name, sub.with_.get(name), sub.inputs.get(name)) for name in named]


def _named(step: PlanStep) -> set[str]:
    """The steps that a step names: by value, by a written need, as the page to go on in."""
    named = {use[0] for use in step.uses if use[0]}
    named.update(need for need in step.declared_needs if need in {*step.needs, *step.needs_any})
    if step.continues is not None:
        named.add(step.continues)
    return named


def executed_again(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Validated nodes that were entered again from their start without being reopened by name.

    Promise 1 says that there are none; counted from the journal, for the demo and the benches.
    """
    met: set[str] = set()
    again: dict[str, None] = {}
    for entry in entries:
        event = entry.event
        match event:
            case StepFinished(state="met"):
                met.add(event.step)
            case StepReopened():
                met.discard(event.step)
                met -= {node for node in met if template_of(node) == event.step}
            case RunResumed(keep=keep) if keep is not None:
                met = {node for node in met if node in keep or template_of(node) in keep}
            case StepStarted(from_index=0) if event.step in met:
                again[event.step] = None
            case _:
                pass
    return tuple(again)
