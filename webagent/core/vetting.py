"""What a model may propose for a step: its answer is looked through before anything of it is done.

A segment from a model is text that a page may have had a hand in. It may use the values, secrets
and origins of its own brief and nothing else; it may not make an expectation easier to meet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from webagent.core.action import (
    Action,
    Commit,
    Dialog,
    FieldRead,
    Goto,
    ListRead,
    Read,
    TableRead,
    Upload,
    outputs_of,
)
from webagent.core.brief import Brief
from webagent.core.errors import ExpressionError
from webagent.core.expr import has_template, references, secret_use
from webagent.core.request_rules import HARMLESS_SCHEMES, origin_of, url_parts

MOST_ACTIONS = 60


def fault(brief: Brief, segment: Sequence[Action]) -> str | None:
    """Why a proposed segment is refused, as one sentence; None when it may be tried.

    What the recipe's own segment holds already is its author's business and passes.
    """
    if not segment:
        return "it has no actions"
    if len(segment) > MOST_ACTIONS:
        return f"it has {len(segment)} actions; {MOST_ACTIONS} are the most"
    known = (*brief.original, *(brief.step.segment or ()))
    for action in segment:
        if action in known:
            continue
        why = action_fault(brief, action)
        if why is not None:
            return why
    return _outputs_fault(brief, segment)


def action_fault(brief: Brief, action: Action) -> str | None:
    """Why one action that is not the recipe's own is refused."""
    tools = brief.step.scope.tools
    inner = action.action if isinstance(action, Commit) else action
    for verb in dict.fromkeys((action.verb, inner.verb)):
        if tools is not None and verb not in tools:
            return f"the step may not use {verb}"
    if isinstance(action, Commit) and brief.step.effect != "once":
        return f"a step of effect {brief.step.effect} has no commit"
    if isinstance(inner, Goto) and (why := _goto_fault(brief, inner.url)):
        return why
    if isinstance(action, Upload):
        return "which files are given away is for the recipe's author to say"
    if isinstance(action, Dialog):
        return "how a dialog is answered is for the recipe's author to say"
    return _template_fault(brief, inner) or _read_fault(action)


def _goto_fault(brief: Brief, url: str) -> str | None:
    if has_template(url):
        return None  # its values are the brief's, and the guard looks at where it leads
    scheme = url_parts(url).scheme.lower()
    if scheme in HARMLESS_SCHEMES or scheme not in ("http", "https"):
        return f"{scheme or url[:40]!r} is not an address that may be opened"
    if origin_of(url) not in brief.origins:
        return f"{origin_of(url)} is outside the step's scope ({', '.join(brief.origins)})"
    return None


def _template_fault(brief: Brief, action: Any) -> str | None:
    names = {name.split(".")[0] for name in brief.values} | {"run"}
    for text in _strings(action.model_dump()):
        if "{%" in text or "{#" in text:
            return f"{text[:60]!r} is not a plain reference"
        secret = secret_use(text)
        if secret is not None:
            if action.verb not in ("fill", "type"):
                return f"a secret is only typed into a field, not used in {action.verb}"
            if secret.secret not in brief.secrets:
                return f"the step may not type the secret {secret.secret!r}"
            continue
        if not has_template(text):
            continue
        try:
            used = references(text)
        except ExpressionError as error:
            return f"{text[:60]!r}: {error.message}"
        for path in used:
            if path[0] not in names:
                return f"{text[:60]!r} refers to {path[0]!r}, which is not among the step's values"
    return None


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)


def _read_fault(action: Action) -> str | None:
    """A read has to read: neither fixed words nor what need not be there count as found."""
    if not isinstance(action, Read):
        return None
    for name, spec in action.outputs.items():
        if spec.optional:
            return f"output {name} may not become optional"
        for field in _fields(spec):
            if field.fixed:
                return f"output {name} may not be given a fixed value"
    return None


def _fields(spec: FieldRead | ListRead | TableRead) -> Iterable[FieldRead]:
    match spec:
        case FieldRead():
            return (spec,)
        case ListRead():
            return spec.fields.values()
        case TableRead():
            return ()


def _outputs_fault(brief: Brief, segment: Sequence[Action]) -> str | None:
    wanted, given = outputs_of(brief.step.segment or ()), outputs_of(tuple(segment))
    missing = [name for name in wanted if name not in given]
    return f"it no longer reads {', '.join(missing)}" if missing else None


# A reference in the recipe's notation, as a model may write it.
REFERENCE = re.compile(r"\{\{\s*[A-Za-z_][\w.]*\s*\}\}")
