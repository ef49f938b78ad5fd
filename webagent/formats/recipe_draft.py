"""A drafted plan as a recipe that a person reads: YAML, with the model's reasons as comments.

What is written here is no recipe until it was read and proven as any other: a draft may hold
whatever a model wrote, and what is wrong with it is told by the same errors, at the same places.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from webagent.core.base import Json
from webagent.core.draft import (
    Drafted,
    DraftedInput,
    DraftedOutput,
    DraftedStep,
    DraftRequest,
    is_private,
    origins_of,
)
from webagent.core.plan import KIND_EFFECTS, PAGELESS
from webagent.core.request_rules import origin_of
from webagent.formats.document import Report
from webagent.formats.recipe_grammar import FORMAT
from webagent.formats.yaml_places import compose, resolve
from webagent.formats.yaml_text import written, written_block, written_pair

_WIDTH = 96
# Types that are expected of an output. A text is not: a number that was read where a text was
# planned is no reason to doubt an order that was sent.
_TYPES = {"number": "number", "money": "money", "boolean": "boolean", "list": "list"}
_KIND = re.compile(r"\s*-?\s*([a-z_]+)\s*:\s+(\S.*)", re.DOTALL)


def recipe_text(drafted: Drafted, request: DraftRequest, by: str) -> str:
    """The recipe. ``by`` is the model that drafted it."""
    once = any(_effect(step) == "once" for step in drafted.steps)
    lines = [
        *_comment(f"Drafted by a model ({by}) from: {request.words}"),
        "#",
        *_comment(
            "Read it before you run it. No step has a segment yet: a model works each one within "
            "its goal, its sites and what it expects; the moves that worked are proposed for this "
            "file (webagent revisions RUN, webagent accept RUN): from then on it needs no model."
        ),
    ]
    if once:
        lines += _comment(
            "A once step sends what it sends at most once. It has no probe yet: should the answer "
            "get lost, the run stops and asks a person."
        )
    errand = _line(drafted.errand) or _line(request.words)
    head: dict[str, Any] = {"webagent": FORMAT, "id": request.recipe_id, "errand": errand}
    lines += [written_pair(key, value, 0) for key, value in head.items()]
    lines += _inputs(drafted)
    lines += _secrets(drafted)
    sites = _sites(drafted)
    if sites:
        lines.append(written_pair("sites", list(sites), 0))
    if any(map(is_private, sites)):
        lines.append("allow_private: true  # the request names an address of a private network")
    if request.models:
        lines.append(written_pair("models", request.models, 0))
    else:
        lines.append("# models: those of the settings work the steps")
    lines += ["", "steps:"]
    for step in drafted.steps:
        lines += [*(_comment(step.why, 2) if step.why.strip() else ()), *_step(step), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


# --- the head ---------------------------------------------------------------------------------


def _inputs(drafted: Drafted) -> Iterator[str]:
    if drafted.inputs:
        yield "inputs:"
    for given in drafted.inputs:
        made: dict[str, Any] = {"type": given.type}
        if given.file:
            made["from"] = given.file
        elif given.value:
            made["default"] = _default(given)
        if given.help:
            made["help"] = _line(given.help)
        yield f"  {written(given.name)}: {written(made)}"


def _default(given: DraftedInput) -> Json:
    match given.type:
        case "number" | "boolean":
            return resolve(given.value.strip())
        case "list":
            try:
                return json.loads(given.value)
            except ValueError:
                return given.value
        case _:
            return given.value


def _secrets(drafted: Drafted) -> Iterator[str]:
    if drafted.secrets:
        yield "secrets:"
    for secret in drafted.secrets:
        yield f"  {written(secret.name)}: {written({'env': secret.env, 'for': secret.origin})}"


def _sites(drafted: Drafted) -> tuple[str, ...]:
    told = [origin for step in drafted.steps for origin in origins_of(step)]
    told += [origin_of(secret.origin) for secret in drafted.secrets]
    return tuple(dict.fromkeys(origin for origin in told if origin))


# --- a step -----------------------------------------------------------------------------------


def _step(step: DraftedStep) -> Iterator[str]:
    yield f"  {written(step.name)}:"
    for key, value in _data(step).items():
        if key == "goal" and len(value) > _WIDTH - 12:
            yield "    goal: >-"
            yield from textwrap.wrap(
                value, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
        elif key in ("expect", "before_commit"):
            yield f"    {key}:"
            yield f"      {written_block(value, 6)}"
        else:
            yield f"    {written_pair(key, value, 4)}"


def _data(step: DraftedStep) -> dict[str, Any]:
    """The step's keys in the order in which they are read."""
    paged = step.do not in PAGELESS
    made: dict[str, Any] = {"do": step.do, "goal": goal_text(step)}
    made["needs"] = list(step.needs)
    made["when"] = step.when
    made["continues"] = step.continues
    if paged:
        made["session"] = step.session
    made["for_each"] = step.for_each
    made["key"] = step.key
    made["allow_failed"] = step.allow_failed
    if step.effect and step.effect != KIND_EFFECTS[step.do]:
        made["effect"] = step.effect
    if step.once_key or step.once_name:
        named = {"name": step.once_name, "key": step.once_key}
        made["once"] = named if step.once_name else step.once_key
    made["from"] = step.source
    made["where"] = step.where
    made["order"] = list(step.order)
    made["take"] = step.take
    made["question"] = step.question
    made["options"] = list(step.options)
    if paged:
        made["scope"] = {"origins": list(origins)} if (origins := origins_of(step)) else {}
        limits = {"seconds": step.seconds, "pages": step.pages}
        made["budget"] = {name: limit for name, limit in limits.items() if limit}
    made["before_commit"] = [expectation(text) for text in step.before_commit]
    made["expect"] = _expected(step)
    return {key: value for key, value in made.items() if value not in ("", [], {}, 0)}


def _effect(step: DraftedStep) -> str:
    return "once" if step.once_key else step.effect or KIND_EFFECTS[step.do]


def _expected(step: DraftedStep) -> list[Any]:
    """What a step expects, and that it gives its outputs: one of a name, the drafted one first."""
    told = [expectation(text) for text in step.expect]
    named: set[str] = set()
    for one in told:
        outputs = one.get("output") if isinstance(one, dict) else None
        named |= {outputs} if isinstance(outputs, str) else set(outputs or ())
        if isinstance(outputs, dict):
            types = {o.name: _TYPES[o.type] for o in step.outputs if o.type in _TYPES}
            for name, bounds in outputs.items():
                if isinstance(bounds, dict) and name in types:
                    bounds.setdefault("type", types[name])
    if step.do in PAGELESS:
        return told
    return told + [{"output": _given(o)} for o in step.outputs if o.name not in named]


def _given(output: DraftedOutput) -> Any:
    kind = _TYPES.get(output.type)
    if kind is None:
        return output.name
    bounds = {"type": kind, "min": output.min} if kind == "list" and output.min else {"type": kind}
    return {output.name: bounds}


def goal_text(step: DraftedStep) -> str:
    """The goal, with where to begin and what to read: a segment would say it, and there is none."""
    goal = _line(step.goal)
    told = [goal if not goal or goal[-1] in ".!?" else f"{goal}."] if _more(step) else [goal]
    if step.do in PAGELESS:
        return goal
    if step.start:
        told.append(f"Begin at {step.start}.")
    for output in step.outputs:
        if output.type == "list" and output.fields:
            fields = ", ".join(
                f.name if f.type == "text" else f"{f.name} ({f.type})" for f in output.fields
            )
            told.append(f"Read {output.name}, a list whose rows have {fields}.")
        elif output.type in ("date", "url"):
            told.append(f"Read {output.name} as a {output.type}.")
    return " ".join(told)


def _more(step: DraftedStep) -> bool:
    return bool(step.start or step.outputs) and step.do not in PAGELESS


def expectation(text: str) -> Any:
    """One expectation as a model writes it: in the recipe's notation, `kind: …` in a text.

    Quotes that YAML wants and the text lacks are forgiven: what follows the kind is then taken as
    it stands. What is no expectation stays a text, which `check` refuses at its place.
    """
    report = Report("")
    node = compose(text.strip().removeprefix("- "), report)
    found = _KIND.fullmatch(text)
    if node is not None and not report.problems and node.kind == "map":
        # A # behind a space begins a comment in YAML, but not in a text that a model means.
        commented = found is not None and " #" in found[2] and node.pairs[0][1].plain
        if not commented:
            return node.plain_value()
    return {found[1]: found[2].strip()} if found else _line(text)


# --- texts ------------------------------------------------------------------------------------


def _line(text: str) -> str:
    """A text in one line: nothing in it can begin another."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())


def _comment(text: str, indent: int = 0) -> Iterator[str]:
    head = " " * indent + "# "
    yield from textwrap.wrap(
        _line(text), _WIDTH, initial_indent=head, subsequent_indent=head, break_on_hyphens=False
    )
