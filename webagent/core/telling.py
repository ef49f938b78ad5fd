"""A brief in words: all that a prompt about a step is made of.

The one place where what a model reads is written. It takes a brief and nothing else: what is not in
the brief cannot reach a prompt, and its length does not grow with the plan. What a page says
stands in a block of its own that the page cannot close.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from webagent.core.action import Action, Read
from webagent.core.base import Json
from webagent.core.brief import Brief
from webagent.core.errors import ExpressionError
from webagent.core.expect import OutputIs
from webagent.core.expr import has_template, render
from webagent.core.outline import cut
from webagent.core.plan import PlanStep
from webagent.core.show import expectation_text

Written = Callable[[Action], Json]

# Stands for < where a page's text would end its block.
_LIKE_LESS = "\u2039"
LONGEST_VALUE = 2_000
LONGEST_REASON = 1_000
MOST_TRIED = 3

_EFFECTS = {
    "none": "none: this step changes nothing on the site",
    "repeatable": "repeatable: this step may write what may be written again",
    "once": "once: this step causes one effect, by its commit",
}


def step_text(brief: Brief) -> str:
    """The step: goal, values, what must hold, where it may go, what is left of its budget."""
    step = brief.step
    lines = [f"Step: {step.name} ({step.do})", f"Goal: {told_goal(step, brief.values)}"]
    lines.append(f"Effect: {_EFFECTS[step.effect]}")
    lines.append("May go to: " + (", ".join(brief.origins) or "no address yet"))
    if brief.secrets:
        named = ", ".join(f"{{{{ secrets.{name} }}}}" for name in brief.secrets)
        lines.append(f"Secrets, typed by name only: {named}")
    if brief.values:
        lines.append("Values:")
        lines += [f"- {name}: {value_text(value)}" for name, value in sorted(brief.values.items())]
    if step.expect:
        lines.append("What must hold when the step is done:")
        lines += [f"- {_expected(e, brief.values)}" for e in step.expect]
    if wanted := outputs_wanted(step):
        lines.append("Outputs: " + ", ".join(wanted))
    lines.append(f"Left: {brief.pages_left} pages, {brief.seconds_left:.0f} seconds")
    return "\n".join(lines)


def failure_text(brief: Brief, written: Written) -> str:
    """What went wrong: the drift, the failing action, unmet expectations, this step's own tries."""
    segment = brief.step.segment or ()
    lines = [f"What went wrong: {brief.drift}: {_flat(brief.reason[:LONGEST_REASON])}"]
    if segment:
        lines.append("The step's actions now (number: action):")
        for index, action in enumerate(segment):
            mark = "   <- failed" if index == brief.failed_index else ""
            lines.append(f"{index}: {_line(written(action))}{mark}")
    if brief.documents:
        loaded = ", ".join(map(str, brief.documents))
        lines.append(f"Actions that loaded a new document: {loaded}")
    unmet = [v for v in brief.verdicts if v.judgement != "met"]
    if unmet:
        lines.append("Not met:")
        lines += [
            f"- {_flat(expectation_text(v.expected))}; seen: {_flat(v.seen[:300])}" for v in unmet
        ]
    for number, tried in enumerate([t for t in brief.tried if t][-MOST_TRIED:], 1):
        lines.append(f"Tried before without success ({number}):")
        lines += [f"- {_line(written(action))}" for action in tried]
    return "\n".join(lines)


def page_text(url: str, title: str, outline: str) -> str:
    """What a page shows, in a block that nothing in it can end."""
    # Where the pointer is tells nothing of what may be done.
    lean = re.sub(r" \[(?:cursor=pointer|active)\]", "", outline)
    inside = re.sub(r"<(?=\s*/?\s*page\b)", _LIKE_LESS, cut(lean), flags=re.IGNORECASE)
    where, what = (
        json.dumps(text, ensure_ascii=False).replace("<", _LIKE_LESS).replace(">", "")
        for text in (url[:500], title[:200])
    )
    return f"<page url={where} title={what}>\n{inside}\n</page>"


def moves_text(moves: Iterable[str]) -> str:
    """The moves made so far in this step."""
    told = [f"{number}. {move}" for number, move in enumerate(moves, 1)]
    return "\n".join(["Moves so far:", *told]) if told else "Moves so far: none"


def told_goal(step: PlanStep, values: Mapping[str, Json]) -> str:
    """The goal with its values put in."""
    goal = step.goal or f"{step.do} {step.name}".replace("_", " ")
    if not has_template(goal):
        return goal
    try:
        return _flat(str(render(goal, nested(values))))
    except ExpressionError:
        return goal


def nested(values: Mapping[str, Json]) -> dict[str, Any]:
    """Dotted names as expressions see them."""
    tree: dict[str, Any] = {}
    for name, value in values.items():
        *above, last = name.split(".")
        inner = tree
        for part in above:
            below = inner.get(part, {})
            if not isinstance(below, dict):
                break
            # A copy: the mapping may be a value of the brief.
            inner[part] = inner = dict(below)
        else:
            inner.setdefault(last, value)
    return tree


def value_text(value: Json) -> str:
    """A value as JSON, the middle of a long list left out."""
    if isinstance(value, list) and len(value) > 10:
        shown = [value_text(v) for v in value[:10]]
        return f"[{', '.join(shown)}, … {len(value)} in all]"[:LONGEST_VALUE]
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… (cut)"


def outputs_wanted(step: PlanStep) -> tuple[str, ...]:
    """The outputs that a step has to give: those it reads, and those that are expected of it."""
    read = [n for a in step.segment or () if isinstance(a, Read) for n in a.outputs]
    expected = [e.name for e in step.expect if isinstance(e, OutputIs)]
    return tuple(dict.fromkeys([*step.outputs, *read, *expected]))


def _expected(expected: Any, values: Mapping[str, Json]) -> str:
    text = expectation_text(expected)
    if not has_template(text):
        return _flat(text)
    try:
        return _flat(str(render(text, nested(values))))
    except ExpressionError:
        return _flat(text)


def _flat(text: str) -> str:
    """On one line: what a page gave begins none of its own among ours."""
    return " ".join(text.split())


def _line(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False)
