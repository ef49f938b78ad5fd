"""The last steps of a plan: whose outputs a table holds, and whether one table can hold them. Pure.

Only what is sure is refused before a run: a step under a condition may be skipped, and then its
list is not there.
"""

from __future__ import annotations

from collections.abc import Collection

from webagent.core.action import ListRead, TableRead, outputs_of
from webagent.core.plan import Plan, PlanStep


def ends(plan: Plan, ran: Collection[str]) -> tuple[str, ...]:
    """Of the steps that ran, those whose outputs no other of them uses, in plan order."""
    used = {use[0] for step in plan.steps if step.path in ran for use in step.uses}
    return tuple(s.path for s in plan.steps if s.path in ran and s.path not in used)


def steps_until(plan: Plan, until: str | None) -> frozenset[str]:
    """The steps that a run works on: all, or with ``until`` that step and what it needs."""
    if until is None:
        return frozenset(plan.by_path)
    todo = [p for p in plan.by_path if p == until or p.startswith(f"{until}/")]
    seen = set(todo)
    while todo:
        step = plan.by_path[todo.pop()]
        new = [need for need in (*step.needs, *step.needs_any) if need not in seen]
        seen.update(new)
        todo += new
    return frozenset(seen)


def sure_lists(plan: Plan, until: str | None = None) -> tuple[str, ...]:
    """The lists (``step.output``) that a met run surely ends in."""
    doubtful = {s.path for s in plan.steps if s.when or s.outer_when or s.needs_any}
    doubtful |= {below for path in doubtful for below in plan.descendants(path)}
    return tuple(
        f"{path}.{name}"
        for path in ends(plan, steps_until(plan, until))
        if path not in doubtful
        for name in _lists(plan.by_path[path])
    )


def _lists(step: PlanStep) -> tuple[str, ...]:
    if step.for_each is not None:
        return ("items",)
    if step.do == "compare":
        return () if step.take == 1 and step.group is None else ("items",)
    made = outputs_of(step.segment or ())
    return tuple(name for name, spec in made.items() if isinstance(spec, ListRead | TableRead))
