"""Actions and expectations as a recipe writes them: the parsers of `segment_grammar` the other way.

Each function gives plain data (mappings, lists, scalars) in the shortest form that reads back as
the same value; `yaml_text` makes YAML of such data. Templates stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, assert_never

from webagent.core.action import (
    Action,
    Back,
    Check,
    Clear,
    Click,
    Commit,
    Dialog,
    DoubleClick,
    DownloadBy,
    Drag,
    Entry,
    FieldRead,
    Fill,
    Goto,
    Hover,
    ListRead,
    Pages,
    Press,
    Read,
    ReadSpec,
    Reload,
    Scroll,
    Select,
    Tab,
    TableRead,
    Type,
    Uncheck,
    Upload,
    Wait,
)
from webagent.core.base import Json
from webagent.core.expect import (
    Bounds,
    CountIs,
    DialogShown,
    DownloadCame,
    ElementAbsent,
    ElementShown,
    Expectation,
    OutputIs,
    ResponseCame,
    RowsAre,
    StatusIs,
    TextShown,
    TitleIs,
    UrlIs,
    ValueIs,
)
from webagent.core.target import KEYS, Target, TargetSyntaxError, parse_target


def target_data(target: Target) -> Any:
    """A target: its notation when that reads back as the same, else a mapping."""
    if not target.source.startswith("{"):
        try:
            if parse_target(target.source) == target:
                return target.source
        except TargetSyntaxError:
            pass
    made: dict[str, Any] = {}
    for key in KEYS:
        value = getattr(target, key)
        if key == "name" and target.name_regex is not None:
            value = _regex(target.name_regex)
        if isinstance(value, Target):
            value = target_data(value)
        if value is not None and value is not False:
            made[key] = value
    return made


def _regex(pattern: str) -> str:
    found = re.match(r"\(\?([ims]+)\)", pattern)
    flags, rest = (found[1], pattern[found.end() :]) if found else ("", pattern)
    return "/" + rest.replace("/", "\\/") + "/" + flags


def _number(value: float) -> float:
    return int(value) if value == int(value) else value


def action_data(action: Action) -> Any:
    """One action of a segment."""
    more: dict[str, Any] = {}
    if action.timeout is not None:
        more["timeout"] = _number(action.timeout)
    if action.optional:
        more["optional"] = True
    for name in ("within", "frame"):
        if (target := getattr(action, name)) is not None:
            more[name] = target_data(target)
    value = _under(action)
    if value is None:
        return {action.verb: None, **more} if more else action.verb
    return {action.verb: value, **more}


def _under(action: Action) -> Any:  # noqa: C901 - one arm a verb
    """What stands under an action's verb; None for nothing."""
    match action:
        case Goto():
            return action.url
        case Back() | Reload():
            return None
        case Click() | DoubleClick() | Hover() | Clear() | Check() | Uncheck():
            return target_data(action.target)
        case Fill() | Select() | Type() | Upload():
            return _entries(action.entries)
        case Press():
            if action.target is None:
                return action.key
            return {"key": action.key, "target": target_data(action.target)}
        case Scroll():
            if action.edge is not None:
                return action.edge
            return {"by": action.by} if action.to is None else target_data(action.to)
        case DownloadBy():
            target = target_data(action.target)
            return target if action.name == "download" else {"target": target, "name": action.name}
        case Drag():
            return {"from": target_data(action.target), "to": target_data(action.to)}
        case Wait():
            return _wait(action.until)
        case Read():
            return {name: read_data(spec) for name, spec in action.outputs.items()}
        case Dialog():
            return action.answer if action.text is None else {"accept": action.text}
        case Tab():
            return action.to
        case Commit():
            request = {} if action.request is None else {"request": action.request}
            return {action.action.verb: _under(action.action), **request}
        case _:
            assert_never(action)


def _entries(entries: Sequence[Entry]) -> Any:
    targets = [target_data(entry.target) for entry in entries]
    words = {target for target in targets if isinstance(target, str)}
    if len(words) == len(entries) and words != {"target", "value"}:
        return {t: _plain(e.value) for t, e in zip(targets, entries, strict=True)}
    return [{"target": t, "value": _plain(e.value)} for t, e in zip(targets, entries, strict=True)]


def _plain(value: Json) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _wait(until: Expectation) -> Any:
    if isinstance(until, ElementShown) and isinstance(short := target_data(until.target), str):
        return short
    return expectation_data(until)


def read_data(spec: ReadSpec) -> Any:
    """One output of a read."""
    match spec:
        case FieldRead():
            return _field(spec)
        case ListRead():
            made: dict[str, Any] = {"each": target_data(spec.each)}
            if spec.key is not None:
                made["key"] = spec.key
            made["fields"] = {name: _field(field) for name, field in spec.fields.items()}
        case TableRead():
            made = {"table": target_data(spec.table)}
            if spec.key is not None:
                made["key"] = spec.key
            made |= {n: dict(v) for n in ("types", "columns") if (v := getattr(spec, n))}
        case _:
            assert_never(spec)
    if spec.pages is not None:
        made["pages"] = _pages(spec.pages)
    if spec.optional:
        made["optional"] = True
    return made


def _pages(pages: Pages) -> dict[str, Any]:
    made: dict[str, Any] = {"next": target_data(pages.next), "max": pages.max}
    if pages.until is not None:
        made["until"] = pages.until
    return made


def _field(spec: FieldRead) -> Any:
    made: dict[str, Any] = {}
    if spec.attr is not None:
        made["attr"] = spec.attr
    if spec.type != "text":
        made["type"] = spec.type
    if spec.fixed:
        made["value"] = spec.value
    if spec.optional:
        made["optional"] = True
    if spec.target is None:
        return made if set(made) - {"optional"} else {"type": "text", **made}
    target = target_data(spec.target)
    if isinstance(target, dict):
        return {**target, **made}
    return {"target": target, **made} if made else target


def expectation_data(expected: Expectation) -> dict[str, Any]:
    """One expectation as a mapping from its kind."""
    return {expected.kind: _expected(expected)}


def _expected(expected: Expectation) -> Any:
    match expected:
        case UrlIs() | TitleIs() | DialogShown():
            return expected.glob
        case TextShown():
            if expected.within is None:
                return expected.text
            return {"text": expected.text, "within": target_data(expected.within)}
        case ElementShown() | ElementAbsent():
            return target_data(expected.target)
        case CountIs() | RowsAre() | ValueIs():
            return {_as_key(expected.target): _bounds(expected.bounds)}
        case OutputIs():
            bounds = _bounds(expected.bounds)
            return expected.name if bounds == {} else {expected.name: bounds}
        case DownloadCame():
            if expected.min_bytes == 1:
                return expected.glob
            return {"name": expected.glob, "min_bytes": expected.min_bytes}
        case StatusIs():
            codes = list(expected.codes)
            return codes[0] if len(codes) == 1 else codes
        case ResponseCame():
            made: dict[str, Any] = {"url": expected.glob}
            if expected.method is not None:
                made["method"] = expected.method
            if expected.codes != ("2xx", "3xx"):
                made["status"] = list(expected.codes)
            return made if len(made) > 1 else expected.glob
        case _:
            assert_never(expected)


def _as_key(target: Target) -> str:
    # These kinds are written by a target's text alone, so that is all they ever hold.
    return target.source


def _bounds(bounds: Bounds) -> Any:
    given = {name: value for name, value in bounds.__dict__.items() if value is not None}
    if list(given) == ["equals"] and not isinstance(given["equals"], dict | list):
        return given["equals"]
    return given
