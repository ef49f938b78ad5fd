"""What came of a run, for a person: the tree as it ended, what was read, what to do next."""

from __future__ import annotations

import shlex

from rich.console import Console
from rich.text import Text

from webagent.cli.progress import STATUS_STYLES, tree
from webagent.cli.showing import cost_text, is_empty_fault_list, one_line, short_value
from webagent.core.page import Drift
from webagent.core.plan import Question, template_of
from webagent.engine.state import RunState
from webagent.runtime.result import RunResult, StepResult

# What a plain resume would only meet again: the page, or what is read of it, is not as written.
TO_EDIT: frozenset[Drift] = frozenset({
    "target_missing", "target_ambiguous", "wrong_page", "page_moved", "output_invalid",
    "precondition_unmet",
})  # fmt: skip


def show_result(
    result: RunResult, state: RunState, console: Console, *, held: bool = False
) -> None:
    """Print a run's end, or how it stands while somebody works on it (``held``)."""
    if console.is_terminal and state.plan is not None:
        console.print(tree(state, {}, console))
    counts: dict[str, int] = {}
    for step in result.steps.values():
        if "[" not in step.path:
            counts[step.state] = counts.get(step.state, 0) + 1
    told = ", ".join(f"{count} {state}" for state, count in counts.items())
    head = Text(result.status, style=STATUS_STYLES[result.status])
    head.append(f"  run {result.run}  {told}")
    console.print(head, soft_wrap=True)
    if result.reason and not held:
        console.print(Text(f"  {one_line(result.reason, 400)}"), soft_wrap=True)
    for step in result.steps.values():
        for line in _worth_saying(step, used=_used(state)):
            console.print(Text(f"  {line}"), soft_wrap=True)
    for role, cost in result.models.items():
        console.print(Text(f"Model as {role}: {cost_text(cost)}"), soft_wrap=True)
    if result.accepted:
        told = one_line(", ".join(result.accepted), 200)
        console.print(Text(f"Healed and kept in the recipe: {told}"), soft_wrap=True)
    for line in next_steps(result, held=held):
        console.print(Text(line), soft_wrap=True)


def _used(state: RunState) -> frozenset[str]:
    if state.plan is None:
        return frozenset()
    return frozenset(use[0] for step in state.plan.steps for use in step.uses)


def _worth_saying(step: StepResult, used: frozenset[str]) -> list[str]:
    """The outputs of the last steps; a rehearsed step's form in full, since it is to be read."""
    if step.state == "skipped" and step.outputs:
        lines = [f"{step.path} would send:"]
        form = step.outputs.get("form")
        if isinstance(form, dict):
            lines += [f"    {one_line(k, 40)}: {short_value(v, 100)}" for k, v in form.items()]
        lines += [f"    {one_line(str(step.outputs.get('commit', '')), 120)}"]
        return lines
    if "[" in step.path or step.state != "met" or step.path in used:
        return []
    return [
        f"{step.path}.{name}: {short_value(value, 100)}"
        for name, value in step.outputs.items()
        if not is_empty_fault_list(name, value)
    ]


def next_steps(result: RunResult, *, held: bool = False) -> list[str]:
    """What a person can do now."""
    lines = [f"Look at it: webagent show {result.run}"]
    if held:
        return [*lines, f"Park it: webagent stop {result.run}"]
    if result.proposed:
        told = one_line(", ".join(result.proposed), 200)
        lines.append(f"See what was healed ({told}): webagent revisions {result.run}")
    for step in result.steps.values():
        if step.question is not None:
            lines.append(f"Answer it: {_answer(result.run, step.path, step.question)}")
    doubtful = [s for s in result.steps.values() if s.state == "unknown" and s.effect_key]
    for step in doubtful:
        lines.append(
            f"Look whether it happened, then: webagent settle '{step.effect_key}' "
            "--happened (or --did-not)"
        )
    if (edited := _to_edit(result)) is not None:
        path, file = shlex.quote(edited.path), shlex.quote(result.recipe_file or "RECIPE")
        return [
            f"Look at it: webagent show {result.run} --step {path}",
            *lines[1:],
            f"Edit {file}, then go on: webagent resume {result.run} --recipe {file}",
        ]
    if result.status == "limit" and result.models:
        file = shlex.quote(result.recipe_file or "RECIPE")
        lines.append(
            f"Go on with a larger budget: edit {file}, webagent resume {result.run} --recipe {file}"
        )
        return lines
    if result.status != "met":
        lines.append(f"Go on: webagent resume {result.run}")
    return lines


def _answer(run: str, path: str, question: Question) -> str:
    """The command that answers, and what may be answered."""
    fits = ", ".join(question.options) or f"a {question.type}"
    return f"webagent answer {run} {shlex.quote(path)}=…   ({one_line(fits, 200)})"


def _to_edit(result: RunResult) -> StepResult | None:
    """The first step that failed in a way that only another text of the recipe cures."""
    if result.status != "failed":
        return None
    failed = (s for s in result.steps.values() if s.state == "unmet" and s.drift in TO_EDIT)
    return next((s for s in failed if not _is_let(result, s)), None)


def _is_let(result: RunResult, step: StepResult) -> bool:
    """Whether this is an item that its for_each lets fail."""
    template = template_of(step.path)
    return template != step.path and result.steps[template].state == "met"
