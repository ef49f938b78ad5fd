"""What a model may propose for a step: its answer is looked through before anything of it is done.

A segment from a model is text that a page may have had a hand in. It may use the values, secrets
and origins of its own brief and nothing else; it may not make an expectation easier to meet.
"""

from __future__ import annotations

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
    ReadSpec,
    TableRead,
    Upload,
    outputs_of,
)
from webagent.core.brief import Brief
from webagent.core.errors import ExpressionError
from webagent.core.expr import (
    check_expression,
    check_template,
    expression_references,
    has_template,
    references,
    secret_use,
)
from webagent.core.limits import STEP_PAGES
from webagent.core.request_rules import origin_of, url_parts

MOST_ACTIONS = 60
# Nobody looks at a step's limits while one of its actions waits.
LONGEST_WAIT = 120.0


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
    if action.timeout is not None and not 0 < action.timeout <= LONGEST_WAIT:
        return f"an action waits for at most {LONGEST_WAIT:.0f} seconds, not {action.timeout:.0f}"
    if action.optional and isinstance(action, Read | Commit):
        return f"a {action.verb} may not be optional"
    if isinstance(action, Commit) and brief.step.effect != "once":
        return f"a step of effect {brief.step.effect} has no commit"
    if isinstance(inner, Goto) and (why := _goto_fault(brief, inner.url)):
        return why
    if isinstance(action, Upload):
        return "which files are given away is for the recipe's author to say"
    if isinstance(action, Dialog):
        return "how a dialog is answered is for the recipe's author to say"
    return _template_fault(brief, inner) or _read_fault(brief, action)


def _goto_fault(brief: Brief, url: str) -> str | None:
    # What stands before the first value; the guard looks at where the whole leads.
    head = url.partition("{{")[0] if has_template(url) else url
    if not head.strip() and has_template(url):
        return None
    parts = url_parts(head)
    if parts.scheme.lower() not in ("http", "https"):
        return f"{parts.scheme or url[:40]!r} is not an address that may be opened"
    # Browsers take a backslash for a slash: the host that they go to is another.
    if "\\" in head or "@" in parts.netloc:
        return f"{url[:60]!r} hides where it leads"
    if has_template(url) and not (parts.path or parts.query or parts.fragment):
        return None
    if origin_of(head) not in brief.origins:
        return f"{origin_of(head)} is outside the step's scope ({', '.join(brief.origins)})"
    return None


def _template_fault(brief: Brief, action: Any) -> str | None:
    for text, typed in _texts(action):
        if "{%" in text or "{#" in text:
            return f"{text[:60]!r} is not a plain reference"
        secret = secret_use(text)
        if secret is not None:
            if not typed:
                return f"a secret is only typed into a field, not used in {action.verb}"
            if secret.secret not in brief.secrets:
                return f"the step may not type the secret {secret.secret!r}"
            continue
        if not has_template(text):
            continue
        try:
            check_template(text)
            used = references(text)
        except ExpressionError as error:
            return f"{text[:60]!r}: {error.message}"
        for path in sorted(used):
            if not _told(brief, path):
                name = ".".join(path)
                return f"{text[:60]!r} refers to {name!r}, which is not among the step's values"
    return None


def _told(brief: Brief, path: Sequence[str]) -> bool:
    """Whether a reference is to a value of the brief or to a part of one."""
    parts = (".".join(path[:length]) for length in range(1, len(path) + 1))
    return path[0] == "run" or any(part in brief.values for part in parts)


def _texts(action: Any) -> Iterator[tuple[str, bool]]:
    """Every text of an action, and whether it is what is typed into a field."""
    data = action.model_dump()
    if action.verb in ("fill", "type"):
        for entry in data["entries"]:
            if isinstance(entry["value"], str):
                yield entry.pop("value"), True
    for text in _strings(data):
        yield text, False


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)


def _read_fault(brief: Brief, action: Action) -> str | None:
    """A read has to read: neither fixed words nor what need not be there count as found.

    What the recipe itself fixes or lets be absent may stay so.
    """
    if not isinstance(action, Read):
        return None
    own = {**outputs_of(brief.step.segment or ()), **outputs_of(brief.original)}
    for name, spec in action.outputs.items():
        old = own.get(name)
        if spec.optional and not (old is not None and old.optional):
            return f"output {name} may not become optional"
        was = dict(_fields(old)) if old is not None else {}
        for field, new in _fields(spec):
            before = was.get(field)
            if new.optional and field and not (before is not None and before.optional):
                return f"{field} of output {name} may not become optional"
            if new.fixed and not (
                before is not None and before.fixed and before.value == new.value
            ):
                return f"output {name} may not be given a fixed value"
        if why := _until_fault(name, spec) or _kind_fault(name, spec, old):
            return why
    return None


def _kind_fault(name: str, spec: ReadSpec, old: ReadSpec | None) -> str | None:
    """What is read stays of its kind: others compute with it, and rows are told apart by it."""
    if not isinstance(spec, FieldRead) and spec.pages is not None:
        own = 0 if old is None or isinstance(old, FieldRead) or not old.pages else old.pages.max
        most = max(own, STEP_PAGES)
        if spec.pages.max > most:
            return f"output {name} may go on for at most {most} pages"
    if old is None:
        return None
    if isinstance(spec, FieldRead) != isinstance(old, FieldRead):
        kind = "one value" if isinstance(spec, FieldRead) else "a list"
        return f"output {name} may not become {kind}"
    if not isinstance(spec, FieldRead) and not isinstance(old, FieldRead) and spec.key != old.key:
        return f"the rows of output {name} are told apart by {old.key or 'nothing'}, as they were"
    was = dict(_fields(old))
    for field, new in _fields(spec):
        before = was.get(field)
        if before is not None and before.type != new.type:
            told = f"{name}.{field}" if field else name
            return f"output {told} is read as {before.type}, not as {new.type}"
    return None


def _until_fault(name: str, spec: ReadSpec) -> str | None:
    """The condition of paging sees what was read so far, and nothing else."""
    pages = None if isinstance(spec, FieldRead) else spec.pages
    if pages is None or pages.until is None:
        return None
    try:
        check_expression(pages.until)
        used = expression_references(pages.until)
    except ExpressionError as error:
        return f"until of output {name}: {error.message}"
    known = {"rows", "new", "page", *(field for field, _ in _fields(spec))}
    for path in sorted(used):
        if path[0] not in known and not isinstance(spec, TableRead):
            return f"until of output {name} does not see {path[0]!r}"
    return None


def _fields(spec: ReadSpec) -> Iterable[tuple[str, FieldRead]]:
    """The values that a read takes by their field's name; "" for a single one."""
    match spec:
        case FieldRead():
            return (("", spec),)
        case ListRead():
            return spec.fields.items()
        case TableRead():
            return ()


def _outputs_fault(brief: Brief, segment: Sequence[Action]) -> str | None:
    wanted, given = outputs_of(brief.step.segment or ()), outputs_of(tuple(segment))
    missing = [name for name in wanted if name not in given]
    for name, old in wanted.items():
        new = given.get(name)
        if isinstance(old, ListRead) and isinstance(new, ListRead):
            missing += [f"{name}.{field}" for field in old.fields if field not in new.fields]
    return f"it no longer reads {', '.join(missing)}" if missing else None
