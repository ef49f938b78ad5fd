"""How segments are written: a list of actions, each a mapping from its verb to what it acts on.

::

    - goto: https://shop.example/
    - fill: {searchbox "Search": "{{ query }}", .max: 20}     # TARGET: VALUE, several at once
    - fill: [{target: {role: textbox, nth: 1}, value: x}]      # when the target is a mapping
    - select: {combobox "Size": [S, M]}
    - type: {textbox "Code": "{{ secrets.code | totp }}"}
    - upload: {input[type=file]: "{{ photo }}"}
    - press: Enter                                # or {key: Enter, target: TARGET}
    - click: button "Go"
      within: .results                            # every action: timeout, optional, within, frame
    - scroll: bottom                              # top, a TARGET, or {by: 500}
    - download: link "Invoice"                    # or {target: …, name: invoice}
    - drag: {from: .card, to: .column}
    - wait: .results                              # a TARGET, or one expectation {text: Done}
    - dialog: accept                              # dismiss, or {accept: "text for the prompt"}
    - tab: new                                    # first, close
    - back:
    - read: {title: h1, offers: {each: article, key: link, fields: {link: {css: a, attr: href}}}}
    - commit: {click: button "Place order", request: "POST **/orders"}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from webagent.core.action import (
    VERBS,
    Back,
    Check,
    Clear,
    Click,
    Commit,
    Dialog,
    DoubleClick,
    DownloadBy,
    Drag,
    Fill,
    Goto,
    Hover,
    Press,
    Read,
    Reload,
    Scroll,
    Select,
    Tab,
    Type,
    Uncheck,
    Upload,
    Wait,
)
from webagent.formats.action_shapes import (
    DialogShape,
    Entries,
    Nothing,
    ScrollShape,
    TargetOr,
    WaitShape,
)
from webagent.formats.document import Node, Report
from webagent.formats.expectation_grammar import METHODS
from webagent.formats.read_grammar import NAME, NAME_HINT, ReadShape
from webagent.formats.scalars import Choice, Duration, Flag, TargetIs, Text
from webagent.formats.shapes import BAD, Key, Keys, ListOf, MapOf, Schema, Shape, suggestion, wanted

_DOWNLOAD = TargetOr(
    Keys("download", {"target": Key(TargetIs(), "what is clicked", required=True),
                      "name": Key(Text(pattern=NAME, what="a name", hint=NAME_HINT),
                                  "the output that describes the file")})
)  # fmt: skip
_PRESS = Keys(
    "press",
    {"key": Key(Text(), "a key or chord by Playwright's names, such as Control+A", required=True),
     "target": Key(TargetIs(), "where it is pressed; else where the focus is")},
    lone="key",
)  # fmt: skip
_DRAG = Keys(
    "drag",
    {"from": Key(TargetIs(), "what is dragged", required=True),
     "to": Key(TargetIs(), "onto what", required=True)},
)  # fmt: skip
_TARGET = TargetIs()
_READ = MapOf(ReadShape(), "an output's name", NAME, NAME_HINT, least=1)
_REQUEST = Text(
    "METHOD and URL glob", template=True, pattern=rf"({'|'.join(METHODS)}) \S.*",
    hint='such as "POST **/orders"',
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: what stands under it, how an action is made of it, and what it does."""

    shape: Shape
    make: Callable[..., Any]
    doc: str
    field: str | None = None

    def action(self, value: Any, more: dict[str, Any]) -> Any:
        """The action; without a ``field`` the value is already its fields."""
        fields = {self.field: value} if self.field is not None else value
        return self.make(**fields, **more)


def _drag(**fields: Any) -> Drag:
    return Drag(target=fields.pop("from"), **fields)


COMMITTING = {
    "click": Verb(_TARGET, Click, "click an element", "target"),
    "double_click": Verb(_TARGET, DoubleClick, "click it twice", "target"),
    "press": Verb(_PRESS, Press, "press a key or chord"),
    "check": Verb(_TARGET, Check, "tick a checkbox, choose a radio button", "target"),
    "select": Verb(Entries(many=True), Select, "choose options", "entries"),
    "drag": Verb(_DRAG, _drag, "drag one element onto another"),
    "goto": Verb(Text("a URL"), Goto, "load a URL", "url"),
}


@dataclass(frozen=True, slots=True)
class CommitShape:
    """``{VERB: …, request: "METHOD glob"}``: exactly one verb that can cause an effect."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The fields of a Commit."""
        if node.kind != "map":
            return wanted("the committing action", node, at, report, 'such as {click: button "Go"}')
        request: Any = None
        found: list[Any] = []
        for key, value in node.pairs:
            here = f"{at}.{key.text}"
            if key.text == "request":
                request = _REQUEST.read(value, here, report)
                continue
            verb = COMMITTING.get(key.text)
            if verb is None:
                known = (*COMMITTING, "request")
                what = "cannot commit" if key.text in VERBS else "is no action"
                report.problem(key, here, f"{key.text!r} {what}", suggestion(key.text, known),
                               "unknown_key")  # fmt: skip
                found.append(BAD)
                continue
            made = verb.shape.read(value, here, report)
            found.append(BAD if made is BAD else verb.action(made, {}))
        if len(found) != 1:
            report.problem(node, at, "a commit is exactly one action", "write one of "
                           + ", ".join(COMMITTING))  # fmt: skip
            return BAD
        return BAD if BAD in (request, *found) else {"action": found[0], "request": request}

    def schema(self) -> Schema:
        """One verb and the request."""
        verbs = {name: verb.shape.schema() for name, verb in COMMITTING.items()}
        return {
            "type": "object", "additionalProperties": False,
            "properties": {**verbs, "request": _REQUEST.schema()},
            "oneOf": [{"required": [name]} for name in COMMITTING],
        }  # fmt: skip


ACTIONS: dict[str, Verb] = {
    **COMMITTING,
    "back": Verb(Nothing(), Back, "go back in the tab's history"),
    "reload": Verb(Nothing(), Reload, "load the document again"),
    "hover": Verb(_TARGET, Hover, "rest the pointer on an element", "target"),
    "fill": Verb(Entries(secret=True), Fill, "put values into fields", "entries"),
    "clear": Verb(_TARGET, Clear, "empty a field", "target"),
    "uncheck": Verb(_TARGET, Uncheck, "untick a checkbox", "target"),
    "type": Verb(Entries(secret=True), Type, "type text key by key", "entries"),
    "scroll": Verb(ScrollShape(), Scroll, "scroll"),
    "upload": Verb(Entries(many=True), Upload, "give files to a file field", "entries"),
    "download": Verb(_DOWNLOAD, DownloadBy, "click and keep the file that comes"),
    "wait": Verb(WaitShape(), Wait, "wait until this holds", "until"),
    "read": Verb(_READ, Read, "read values into the step's outputs", "outputs"),
    "dialog": Verb(DialogShape(), Dialog, "how the next dialog is answered"),
    "tab": Verb(Choice(("new", "first", "close"), "a tab"), Tab, "go on in another tab", "to"),
    "commit": Verb(CommitShape(), Commit, "the one action that causes the effect"),
}
MODIFIERS: dict[str, Key] = {
    "timeout": Key(Duration(), "how long this may take; 10 s when not given"),
    "optional": Key(Flag(), "its target may be absent"),
    "within": Key(TargetIs(), "look inside this element only"),
    "frame": Key(TargetIs(), "look inside this frame"),
}


@dataclass(frozen=True, slots=True)
class ActionShape:
    """One action: exactly one verb, and what every action may carry."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The action."""
        if node.kind == "scalar" and node.text in ("back", "reload"):
            return ACTIONS[node.text].action({}, {})
        if node.kind != "map":
            hint = 'such as - click: button "Go"'
            if node.kind == "scalar" and node.text in ACTIONS:
                hint = f"{node.text} needs what it acts on: {node.text}: …"
            elif found := re.match(r"(\w+):?\S", node.text or ""):
                hint = f"a space after the colon? {found[1]}: …" if ":" in node.text else hint
            return wanted("an action", node, at, report, hint)
        more: dict[str, Any] = {}
        verbs: list[tuple[Node, Any]] = []
        for key, value in node.pairs:
            here = f"{at}.{key.text}"
            if key.text in MODIFIERS:
                more[key.text] = MODIFIERS[key.text].shape.read(value, here, report)
            elif key.text in ACTIONS:
                report.mark(here, value if value.kind == "scalar" and value.text else key)
                verbs.append((key, ACTIONS[key.text].shape.read(value, here, report)))
            else:
                known = (*ACTIONS, *MODIFIERS)
                report.problem(key, here, f"there is no action {key.text!r}",
                               suggestion(key.text, known), "unknown_key")  # fmt: skip
                verbs.append((key, BAD))
        if len(verbs) > 1 and all(key.text in ACTIONS for key, _ in verbs):
            names = " and ".join(key.text for key, _ in verbs[:2])
            report.problem(
                verbs[1][0], at, f"{names} in one action", "begin a new item with a dash"
            )
            return BAD
        if not verbs:
            report.problem(node, at, "no verb in this action", "such as " + ", ".join(VERBS[:6]))
            return BAD
        if BAD in (*more.values(), *(value for _, value in verbs)):
            return BAD
        key, value = verbs[0]
        return ACTIONS[key.text].action(value, more)

    def schema(self) -> Schema:
        """A reference."""
        return {"$ref": "#/$defs/action"}


SEGMENT = ListOf(ActionShape(), least=1)


def action_definition() -> Schema:
    """The schema behind ``#/$defs/action``."""
    verbs = {
        name: verb.shape.schema() | {"description": verb.doc} for name, verb in ACTIONS.items()
    }
    more = {name: key.shape.schema() | {"description": key.doc} for name, key in MODIFIERS.items()}
    return {
        "anyOf": [
            {"enum": ["back", "reload"]},
            {"type": "object", "additionalProperties": False, "properties": verbs | more,
             "oneOf": [{"required": [name]} for name in ACTIONS]},
        ]
    }  # fmt: skip
