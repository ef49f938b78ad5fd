"""What a step may send: the policy value that the executor's guard enforces.

Only the value is made here; the rules are `core.request_rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webagent.core.base import Json
from webagent.core.errors import ExpressionError
from webagent.core.expr import render
from webagent.core.plan import Plan, PlanStep, SecretSpec
from webagent.core.request_rules import GuardPolicy, origin_of
from webagent.engine.bind import names
from webagent.engine.state import RunState


def origins(state: RunState, node_path: str) -> tuple[str, ...]:
    """The origins that a node may visit: its scope, else those of its gotos once bound.

    A step that continues another has that step's origins too. A goto that cannot be bound yet (its
    value is not there) adds nothing, which is the closed side. A goto may be bound from what a page
    said, so where the recipe names its sites no other origin is added by one.
    """
    plan = state.the_plan
    found: dict[str, None] = {}
    for path in plan.chain(plan.step(node_path).path):
        step = plan.by_path[path]
        if step.scope.origins is not None:
            found.update(dict.fromkeys(o.rstrip("/") for o in step.scope.origins))
            continue
        values = names(state, node_path if path == plan.step(node_path).path else path)
        bounds = _sites(plan, step.place)
        if step.segment is None and bounds:
            # Nobody has written yet where it goes: anywhere that its recipe does.
            found.update(
                dict.fromkeys(o for o in sorted(bounds[-1]) if all(o in b for b in bounds))
            )
        found.update(
            (origin, None)
            for origin in _goto_origins(step, values)
            if all(origin in sites for sites in bounds)
        )
    return tuple(found)


def secrets_of(state: RunState, node_path: str) -> tuple[str, ...]:
    """The secrets that a node may type, by name: its scope's, else those of its recipe."""
    step = state.the_plan.step(node_path)
    sub = state.the_plan.subplans.get(step.place)
    known = state.the_plan.secrets if not step.place else sub.secrets if sub is not None else {}
    if step.scope.secrets is not None:
        return tuple(name for name in step.scope.secrets if name in known)
    allowed = origins(state, node_path)
    return tuple(n for n, spec in known.items() if _typed_at(spec) in (*allowed, ""))


def _typed_at(spec: SecretSpec) -> str:
    return origin_of(spec.origin) if spec.origin else ""


def _sites(plan: Plan, place: str) -> list[frozenset[str]]:
    """The sites that bound a step: its own recipe's, and those of the recipes that use it."""
    named = [plan.sites]
    parts = place.split("/") if place else []
    for end in range(1, len(parts) + 1):
        sub = plan.subplans.get("/".join(parts[:end]))
        if sub is not None:
            named.append(sub.sites)
    return [frozenset(origin_of(site) for site in sites) for sites in named if sites]


def _goto_origins(step: PlanStep, values: Mapping[str, Json]) -> Iterable[str]:
    probe = step.probe.segment if step.probe is not None else ()
    for action in (*(step.segment or ()), *probe, *(step.reset or ())):
        goto = action.action if action.verb == "commit" else action
        if goto.verb != "goto":
            continue
        try:
            url = render(goto.url, values)
        except ExpressionError:
            continue
        if isinstance(url, str) and (origin := origin_of(url)):
            yield origin


def policy(
    plan: Plan, step: PlanStep, allowed: tuple[str, ...], named_hosts: tuple[str, ...]
) -> GuardPolicy:
    """The policy under which a step's tab begins."""
    return GuardPolicy(
        origins=allowed,
        effect=step.effect,
        allow_posts=step.allow_posts,
        allow_private=plan.allow_private,
        named_hosts=named_hosts,
        watch_all=step.effect == "once",
    )


def probe_policy(policy_of_step: GuardPolicy) -> GuardPolicy:
    """The policy of a probe: the same origins, and nothing written."""
    return policy_of_step.model_copy(update={"effect": "none", "allow_posts": ()})
