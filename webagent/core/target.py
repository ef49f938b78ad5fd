"""How an action names an element, and the notation in which people write it.

A target is parsed before values are bound: its strings may still hold ``{{ }}``. The text as the
author wrote it is kept, because sightings are keyed by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from webagent.core.base import Frozen

# The roles of WAI-ARIA 1.2 that Playwright's get_by_role takes (abstract ones left out).
_ROLES = """
    alert alertdialog application article banner blockquote button caption cell checkbox code
    columnheader combobox complementary contentinfo definition deletion dialog directory document
    emphasis feed figure form generic grid gridcell group heading img insertion link list listbox
    listitem log main marquee math meter menu menubar menuitem menuitemcheckbox menuitemradio
    navigation none note option paragraph presentation progressbar radio radiogroup region row
    rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong
    subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip
    tree treegrid treeitem"""
ROLES = frozenset(_ROLES.split())
# Those that are an HTML element too. The others, bare, are a slip: as CSS they find nothing.
_ELEMENTS = """article blockquote button caption code dialog figure form img link main mark math
    menu meter option search strong table time"""
BARE_ROLES = ROLES - frozenset(_ELEMENTS.split())

KEYS = (
    "role", "name", "exact", "within", "nth", "label", "text", "placeholder", "test_id",
    "css", "xpath", "frame",
)  # fmt: skip

_ARIA = re.compile(r"^(?P<role>[A-Za-z]+)\s+(?P<rest>[\"/].*)$", re.DOTALL)
_QUOTED = re.compile(r'^"(?P<name>(?:[^"\\]|\\.)*)"$', re.DOTALL)
_REGEX = re.compile(r"^/(?P<name>(?:[^/\\]|\\.)+)/(?P<flags>[a-z]*)$", re.DOTALL)


class TargetSyntaxError(ValueError):
    """A target's notation is wrong; ``hint`` says how to write it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Target(Frozen):
    """How an action names an element: one way of looking, narrowed by the others."""

    source: str
    role: str | None = None
    name: str | None = None
    name_regex: str | None = None
    exact: bool = False
    nth: int | None = None
    label: str | None = None
    text: str | None = None
    placeholder: str | None = None
    test_id: str | None = None
    css: str | None = None
    xpath: str | None = None
    within: Target | None = None
    frame: Target | None = None

    def __str__(self) -> str:
        return self.source


def parse_target(raw: object) -> Target:
    """Read a target as it stands in a recipe: a string or a mapping of `KEYS`.

    Raises:
        TargetSyntaxError: with a sentence for the person and a hint.
    """
    if isinstance(raw, str):
        return _from_text(raw)
    if isinstance(raw, Mapping):
        return _from_mapping(raw)
    msg = f"a target is text or a mapping, not {type(raw).__name__}"
    raise TargetSyntaxError(msg, 'write it as button "Place order", a CSS selector or {role: …}')


def _from_text(raw: str) -> Target:
    text = raw.strip()
    if not text:
        raise TargetSyntaxError("an empty target")
    found = _ARIA.match(text)
    if found is None:
        if text.count('"') % 2:
            raise TargetSyntaxError(
                f"an unclosed quote in {text!r}",
                "quote this line: in YAML a # after a space begins a comment",
            )
        if text.lower() in BARE_ROLES:
            raise TargetSyntaxError(
                f"{text!r} is a role: as CSS it finds nothing",
                f'write {{role: {text.lower()}}}, or {text.lower()} "its name"',
            )
        return Target(source=text, css=text)
    role, rest = found["role"], found["rest"]
    if role.lower() not in ROLES:
        near = get_close_matches(role.lower(), ROLES, n=1)
        raise TargetSyntaxError(
            f"{role!r} is not an ARIA role", f"did you mean {near[0]!r}?" if near else ""
        )
    if quoted := _QUOTED.match(rest):
        name = re.sub(r"\\(.)", r"\1", quoted["name"])
        return Target(source=text, role=role.lower(), name=name)
    if regex := _REGEX.match(rest):
        return Target(source=text, role=role.lower(), name_regex=_compiled(regex))
    kind, closing = ("quote", '"') if rest.startswith('"') else ("slash", "/")
    if rest.count(closing) > 1:
        raise TargetSyntaxError(
            f"more after the name in {text!r}",
            f"to narrow further write {{role: {role.lower()}, name: …, within: …, nth: …}}",
        )
    raise TargetSyntaxError(
        f"an unclosed {kind} in {text!r}",
        "quote this line: in YAML a # after a space begins a comment",
    )


def _compiled(found: re.Match[str]) -> str:
    """The pattern with its flags folded in, proven to compile."""
    flags = found["flags"]
    if bad := set(flags) - set("ims"):
        raise TargetSyntaxError(f"unknown regex flag {''.join(sorted(bad))!r}", "i, m and s exist")
    pattern = (f"(?{flags})" if flags else "") + found["name"].replace("\\/", "/")
    if "{{" not in pattern:
        try:
            re.compile(pattern)
        except re.error as error:
            raise TargetSyntaxError(f"not a regular expression: {error}") from error
    return pattern


def _from_mapping(raw: Mapping[Any, Any]) -> Target:
    for key in raw:
        if key not in KEYS:
            near = get_close_matches(str(key), KEYS, n=1)
            raise TargetSyntaxError(
                f"a target has no key {key!r}",
                f"did you mean {near[0]!r}?" if near else "keys: " + ", ".join(KEYS),
            )
    fields: dict[str, Any] = {k: v for k, v in raw.items() if v is not None}
    nested: dict[str, Any] = {
        k: parse_target(fields.pop(k)) for k in ("within", "frame") if k in fields
    }
    if not set(fields) & {"role", "label", "text", "placeholder", "test_id", "css", "xpath"}:
        raise TargetSyntaxError(
            "a target mapping names no element",
            "give one of role, label, text, placeholder, test_id, css, xpath",
        )
    for key, kind in (("exact", bool), ("nth", int)):
        if key in fields and (
            not isinstance(fields[key], kind) or (kind is int and isinstance(fields[key], bool))
        ):
            raise TargetSyntaxError(f"{key} is {'true or false' if kind is bool else 'a number'}")
    for key in ("role", "name", "label", "text", "placeholder", "test_id", "css", "xpath"):
        if key in fields and not isinstance(fields[key], str):
            raise TargetSyntaxError(f"{key} is text, not {fields[key]!r}", f'quote it: {key}: "…"')
    if "role" in fields and fields["role"].lower() not in ROLES:
        near = get_close_matches(fields["role"].lower(), ROLES, n=1)
        raise TargetSyntaxError(
            f"{fields['role']!r} is not an ARIA role", f"did you mean {near[0]!r}?" if near else ""
        )
    if "name" in fields and "role" not in fields:
        raise TargetSyntaxError("name goes with role", "add role: …, or use label or text")
    name = fields.get("name", "")
    if regex := _REGEX.match(name):
        del fields["name"]
        fields["name_regex"] = _compiled(regex)
    return Target(source=_canonical(raw), **fields, **nested)


def _canonical(raw: Mapping[Any, Any]) -> str:
    parts = []
    for key in KEYS:
        value = raw.get(key)
        if value is not None:
            text = _canonical(value) if isinstance(value, Mapping) else str(value)
            parts.append(f"{key}: {text}")
    return "{" + ", ".join(parts) + "}"
