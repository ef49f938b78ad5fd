"""A plan to be read before it runs: as text, as JSON data, as a mermaid graph.

Pure functions from values to text; the faces decide on colours and files. Data dependencies and
page continuity are told apart everywhere: a need can be met by a stored value, a continued page
cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webagent.core.base import Frozen, Json
from webagent.core.expect import Bounds, Expectation
from webagent.core.plan import Plan, PlanStep


def plan_text(plan: Plan) -> str:
    """The whole plan as readable text: a head, then a paragraph for each step in plan order."""
    head = [f"{plan.recipe_id}: {plan.errand}" if plan.errand else plan.recipe_id]
    for name, spec in plan.inputs.items():
        default = f" = {spec.default}" if spec.has_default and spec.source is None else ""
        source = f" from {spec.source}" if spec.source is not None else ""
        must = "" if spec.has_default else ", must be given"
        head.append(f"  input {name}: {spec.type}{default}{source}{must}")
    for name, secret in plan.secrets.items():
        head.append(f"  secret {name}: only on {secret.origin or 'no page'}")
    if plan.sites:
        head.append("  sites: " + ", ".join(plan.sites))
    for place, sub in plan.subplans.items():
        given = ", ".join(f"{k}: {v}" for k, v in sub.with_.items())
        head.append(f"  {place} uses {sub.recipe_id}" + (f" with {given}" if given else ""))
    blocks = ["\n".join(head), *("\n".join(step_lines(plan, step)) for step in plan.steps)]
    return "\n\n".join(blocks) + "\n"


def step_lines(plan: Plan, step: PlanStep) -> list[str]:
    """One step's paragraph."""
    title = f"{step.path}  [{step.do}, effect {step.effect}]"
    lines = [title]
    if step.goal:
        lines.append(f"  goal: {step.goal}")
    lines.extend(f"  {word}: {text}" for word, text in _facts(step))
    lines.extend(f"  expects {expectation_text(e)}" for e in step.expect)
    lines.extend(f"  before the commit {expectation_text(e)}" for e in step.before_commit)
    if users := plan.dependants[step.path]:
        lines.append("  needed by: " + ", ".join(users))
    return lines


def _facts(step: PlanStep) -> Iterator[tuple[str, str]]:
    if step.needs:
        yield "needs", ", ".join(need_text(step, need) for need in step.needs)
    if step.needs_any:
        yield "needs one of", ", ".join(step.needs_any)
    if step.continues is not None:
        yield (
            "page",
            f"goes on where {step.continues} left it"
            + (", and can be entered by URL too" if step.enterable else ""),
        )
    if step.sign_in is not None:
        yield "session", step.sign_in
    for place, source in step.outer_when:
        yield "when", f"{source}" + (f" (in {place})" if place else "")
    if step.when is not None:
        yield "when", step.when
    if step.for_each is not None:
        yield "for each", f"{step.for_each}, told apart by {step.key}"
    if step.source is not None:
        parts = [step.source]
        parts += [f"where {step.where}"] if step.where else []
        parts += ["order " + ", ".join(step.order)] if step.order else []
        parts += [f"group {step.group}"] if step.group else []
        parts += [f"take {step.take}"] if step.take is not None else []
        yield "from", "; ".join(parts)
    if step.question is not None:
        yield "question", step.question.text
    if step.once is not None:
        yield "once", f"{step.once.name or step.path}: {step.once.key}"
    if step.probe is not None:
        yield (
            "probe",
            "tells whether it happened"
            + (f", absence settles after {step.probe.settle:g} s" if step.probe.settle else ""),
        )
    if step.segment is not None:
        yield "segment", " · ".join(action.verb for action in step.segment)
    if step.outputs:
        yield "gives", ", ".join(step.outputs)


def need_text(step: PlanStep, need: str) -> str:
    """A need, marked when a reference, the page or a session implies it."""
    if need in step.declared_needs:
        return need
    if need == step.continues:
        return f"{need} (its page)"
    if need == step.sign_in and not any(use[0] == need for use in step.uses):
        return f"{need} (its session)"
    return f"{need} (implied)"


def expectation_text(expected: Expectation) -> str:
    """An expectation as a short phrase."""
    match expected.kind:
        case "url" | "title" | "dialog":
            return f"{expected.kind} {expected.glob}"
        case "text":
            return f"text {expected.text!r}" + (f" in {expected.within}" if expected.within else "")
        case "element":
            return f"element {expected.target}"
        case "absent":
            return f"no {expected.target}"
        case "count" | "rows" | "value":
            return f"{expected.kind} of {expected.target} {bounds_text(expected.bounds)}"
        case "output":
            return f"output {expected.name} {bounds_text(expected.bounds)}"
        case "download":
            return f"a download {expected.glob}"
        case "status":
            return "status " + " or ".join(expected.codes)
        case "response":
            return f"a response {expected.method or ''} {expected.glob}".replace("  ", " ")


def bounds_text(bounds: Bounds) -> str:
    """Bounds as a short phrase."""
    words = {"equals": "=", "min": "≥", "max": "≤", "matches": "matches", "contains": "contains",
             "type": "is a"}  # fmt: skip
    parts = [
        f"{words[name]} {value}" for name, value in bounds.__dict__.items() if value is not None
    ]
    return " and ".join(parts) or "is there"


def plan_json(plan: Plan) -> dict[str, Json]:
    """The plan as JSON data: everything in it, with needs and pages told apart for each step."""
    steps = []
    for step in plan.steps:
        edges = [{"step": need, "why": why} for need in step.needs for why in [_why(step, need)]]
        data = _lean(step)
        data["needs"] = edges
        data["needed_by"] = list(plan.dependants[step.path])
        steps.append(data)
    return {**_lean(plan), "steps": steps}


def _why(step: PlanStep, need: str) -> str:
    if need in step.declared_needs:
        return "written"
    if need == step.continues:
        return "page"
    if need == step.sign_in and not any(use[0] == need for use in step.uses):
        return "session"
    return "implied"


def _lean(model: Frozen) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def plan_mermaid(plan: Plan) -> str:
    """The graph in mermaid's notation: data as arrows, a continued page as a thick one."""
    ids = {step.path: f"s{index}" for index, step in enumerate(plan.steps)}
    lines = ["flowchart TD"]
    for place in ("", *plan.subplans):
        inside = [step for step in plan.steps if step.place == place]
        indent = "  "
        if place and inside:
            lines.append(f'  subgraph {_safe_id(place)}["{_quoted(place)}"]')
            indent = "    "
        lines.extend(f"{indent}{ids[step.path]}{_box(step)}" for step in inside)
        if place and inside:
            lines.append("  end")
    for step in plan.steps:
        for need in step.needs:
            if need != step.continues:
                lines.append(f"  {ids[need]} --> {ids[step.path]}")
        lines.extend(f"  {ids[need]} -. any .-> {ids[step.path]}" for need in step.needs_any)
        if step.continues is not None:
            lines.append(f"  {ids[step.continues]} == page ==> {ids[step.path]}")
    for effect in ("repeatable", "once"):
        if named := [ids[step.path] for step in plan.steps if step.effect == effect]:
            lines.append(f"  class {','.join(named)} {effect}")
    lines.append("  classDef repeatable stroke-dasharray:4")
    lines.append("  classDef once stroke-width:3px")
    return "\n".join(lines) + "\n"


def _box(step: PlanStep) -> str:
    text = f"{_quoted(step.name)}<br/>{step.do}"
    if step.for_each is not None:
        text += " each"
    if step.do == "compare":
        return "{{" + f'"{text}"' + "}}"
    if step.do == "ask":
        return f'(["{text}"])'
    return f'["{text}"]'


def _safe_id(place: str) -> str:
    return "p_" + place.replace("/", "__")


def _quoted(text: str) -> str:
    return text.replace('"', "#quot;")


class WorstCase(Frozen):
    """One row of the worst-case table: what a failure at this step would redo, at most."""

    step: str
    steps: int
    pages: int
    seconds: float
    tokens: int | None
    effects: str
    entry: str


_HEAD = ("step", "steps again", "pages", "seconds", "tokens", "may reach", "entered")
_TOKENS = _HEAD.index("tokens")


def worst_case_table(rows: tuple[WorstCase, ...]) -> list[tuple[str, ...]]:
    """The table's head and rows as cells; without tokens where no step uses any."""
    table = [_HEAD, *(_worst_case_cells(row) for row in rows)]
    if any(row.tokens != 0 for row in rows):
        return table
    return [line[:_TOKENS] + line[_TOKENS + 1 :] for line in table]


def _worst_case_cells(row: WorstCase) -> tuple[str, ...]:
    tokens = "no limit" if row.tokens is None else str(row.tokens)
    return (
        row.step, str(row.steps), str(row.pages), f"{row.seconds:g}", tokens,
        row.effects or "none", row.entry,
    )  # fmt: skip


def worst_case_text(rows: tuple[WorstCase, ...]) -> str:
    """The table as plain text."""
    table = worst_case_table(rows)
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        + "\n"
        for line in table
    )
