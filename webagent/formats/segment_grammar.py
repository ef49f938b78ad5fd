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
from typing import Any, get_args

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
    Entry,
    FieldRead,
    Fill,
    Goto,
    Hover,
    ListRead,
    Pages,
    Press,
    Read,
    ReadType,
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
from webagent.core.expect import ElementShown
from webagent.core.target import KEYS as TARGET_KEYS
from webagent.formats.expectation_grammar import KINDS, METHODS, read_kinds
from webagent.formats.shapes import (
    BAD,
    Choice,
    Duration,
    Expr,
    Flag,
    Key,
    Keys,
    ListOf,
    MapOf,
    Number,
    Schema,
    Shape,
    TargetIs,
    Text,
    Value,
    suggestion,
    target_of,
    wanted,
)
from webagent.formats.yaml_places import Node, Report

READ_TYPES: tuple[str, ...] = get_args(ReadType)
NAME = r"[A-Za-z_][A-Za-z0-9_]*"
NAME_HINT = "letters, digits and _ only, not beginning with a digit"
_READ_TYPE = Choice(READ_TYPES, "a type of reading")
TARGET = {"$ref": "#/$defs/target"}


# --- entries: fill, type, select, upload ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entries:
    """``{TARGET: VALUE, …}`` or a list of ``{target, value}``."""

    secret: bool = False
    many: bool = False

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A tuple of entries."""
        keys = _entry_keys(self._value())
        if node.kind == "list" and node.items:
            return ListOf(keys).read(node, at, report)
        if node.kind != "map" or not node.pairs:
            return wanted(
                "TARGET: VALUE", node, at, report, 'such as {textbox "Name": "{{ name }}"}'
            )
        if {key.text for key, _ in node.pairs} == {"target", "value"}:
            made = keys.read(node, at, report)
            return BAD if made is BAD else (made,)
        entries = []
        for index, (key, value) in enumerate(node.pairs):
            here = f"{at}[{index}]"
            report.mark(here, value if value.kind == "scalar" and value.text else key)
            target = target_of(key.text, key, here, report)
            given = self._value().read(value, here, report)
            bad = target is BAD or given is BAD
            entries.append(BAD if bad else Entry(target=target, value=given))
        return BAD if BAD in entries else tuple(entries)

    def _value(self) -> Shape:
        return _Given(secret=self.secret, many=self.many)

    def schema(self) -> Schema:
        """An object from targets to values, or a list."""
        value = self._value().schema()
        free = {"type": "object", "additionalProperties": value, "minProperties": 1}
        long = {
            "type": "object", "additionalProperties": False, "required": ["target", "value"],
            "properties": {"target": TARGET, "value": value},
        }  # fmt: skip
        return {"anyOf": [free, long, {"type": "array", "items": long, "minItems": 1}]}


@dataclass(frozen=True, slots=True)
class _Given:
    """The value of an entry: one, or for select and upload also several."""

    secret: bool
    many: bool

    def read(self, node: Node, at: str, report: Report) -> Any:
        if node.kind == "map" or (node.kind == "list" and not self.many):
            return wanted("a value", node, at, report, 'text, a number, or "{{ name }}"')
        if node.value is None and node.kind == "scalar":
            return wanted("a value", node, at, report, 'an empty text is ""')
        return Value(secret=self.secret).read(node, at, report)

    def schema(self) -> Schema:
        one: Schema = {"type": ["string", "number", "boolean"]}
        return {"anyOf": [one, {"type": "array", "items": one}]} if self.many else one


def _entry(values: dict[str, Any], _node: Node, _at: str, _report: Report) -> Any:
    return Entry(target=values["target"], value=values["value"])


def _entry_keys(value: Shape) -> Keys:
    return Keys(
        "an entry",
        {"target": Key(TargetIs(), "the control", required=True),
         "value": Key(value, "what goes into it", required=True)},
        _entry,
    )  # fmt: skip


# --- read -----------------------------------------------------------------------------------


def _field(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    """A mapping with keys of a target besides those of a reading: `css`, or any way of looking."""
    looking = {k: values.pop(k) for k in list(values) if k in TARGET_KEYS}
    if "target" in values and looking:
        key = next(iter(looking))
        report.problem(node.get(key), f"{at}.{key}", f"{key} goes inside target, or target away")
        return BAD
    if looking:
        target = target_of(looking, node, at, report)
        if target is BAD:
            return BAD
        values["target"] = target
    if "value" in values:
        return _fixed(values, node, at, report)
    if not values.get("target") and "attr" not in values and "type" not in values:
        report.problem(node, at, "this reads nothing", "give css, target, attr or value")
        return BAD
    return FieldRead(**values)


def _fixed(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    if set(values) & {"target", "attr"}:
        report.problem(node, at, "value is fixed: it goes without target and attr")
        return BAD
    return FieldRead(**values, fixed=True)


_FIELD_KEYS = {
    "target": Key(TargetIs(), "the element"),
    "attr": Key(Text(template=False), "this attribute instead of the text"),
    "type": Key(_READ_TYPE, "what it is read as"),
    "value": Key(Value(scalar=True), "a fixed value instead of reading"),
    "optional": Key(Flag(), "absent is null instead of a failure"),
    **{name: Key(Value(), "a way of looking, as in a target") for name in TARGET_KEYS},
}
_FIELD = Keys("a reading", _FIELD_KEYS, _field)


@dataclass(frozen=True, slots=True)
class FieldShape:
    """``TARGET`` or ``{css|target, attr, type, value, optional}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A FieldRead."""
        if node.kind == "map":
            return _FIELD.read(node, at, report)
        target = TargetIs().read(node, at, report)
        return BAD if target is BAD else FieldRead(target=target)

    def schema(self) -> Schema:
        """Text or the mapping."""
        return {"$ref": "#/$defs/field"}


_PAGES = Keys(
    "pages",
    {"next": Key(TargetIs(), "what is clicked for the next page", required=True),
     "max": Key(Number(least=1, most=1000), "at most so many pages; 10 when not given"),
     "until": Key(Expr(), "stop when this is true of the rows read so far")},
    lambda values, _n, _a, _r: Pages(**values),
)  # fmt: skip


def _list(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    """``key`` names a field, or is a target: that of a field, or one read beside the fields."""
    key, fields = values.get("key"), values["fields"]
    if key is None or key in fields:
        return ListRead(**values)
    same = [name for name, read in fields.items() if str(read.target) == key and not read.attr]
    if same:
        return ListRead(**{**values, "key": same[0]})
    where = node.get("key")
    if re.fullmatch(NAME, key):
        report.problem(where, f"{at}.key", f"key {key!r} is none of the fields",
                       suggestion(key, fields), "unknown_field")  # fmt: skip
        return BAD
    target = target_of(key, where or node, f"{at}.key", report)
    name = "key" if "key" not in fields else "row_key"
    if target is BAD:
        return BAD
    return ListRead(**{**values, "key": name, "fields": {**fields, name: FieldRead(target=target)}})


_LIST_KEYS: dict[str, Key] = {
    "each": Key(TargetIs(), "the rows", required=True),
    "key": Key(Text(template=False), "the field by which rows are told apart"),
    "fields": Key(
        MapOf(FieldShape(), "a field's name", NAME, NAME_HINT, least=1), "what is read of each row",
        required=True,
    ),
    "pages": Key(_PAGES, "how the list goes on"),
    "optional": Key(Flag(), "no rows at all is an empty list"),
    "shape": Key(Text(), built=False),
}  # fmt: skip
_LIST = Keys("a list", _LIST_KEYS, _list)
_TABLE = Keys(
    "a table",
    {"table": Key(TargetIs(), "the table", required=True),
     "key": Key(Text(template=False), "the column by which rows are told apart"),
     "types": Key(MapOf(_READ_TYPE), "types of columns, by header or new name"),
     "columns": Key(MapOf(Text(template=False)), "new names of columns, by header"),
     "pages": Key(_PAGES, "how the table goes on"),
     "optional": Key(Flag(), "no table at all is an empty list"),
     "shape": Key(Text(), built=False)},
    lambda values, _n, _a, _r: TableRead(**values),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadShape:
    """One output: a field, a list (it has ``each``) or a table."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A ReadSpec."""
        if node.kind == "map":
            words = {key.text for key, _ in node.pairs}
            if "shape" in words and not words & {"each", "table"}:
                report.problem(node.get("shape"), f"{at}.shape", "shape is not built yet", "",
                               "not_built")  # fmt: skip
                return BAD
            if "table" in words:
                return _TABLE.read(node, at, report)
            if words & {"each", "fields", "pages"}:
                return _LIST.read(node, at, report)
        return FieldShape().read(node, at, report)

    def schema(self) -> Schema:
        """One of the three."""
        return {"anyOf": [FieldShape().schema(), _LIST.schema(), _TABLE.schema()]}


# --- the verbs ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WaitShape:
    """One expectation, or a target for the element to come."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """An expectation."""
        if node.kind == "scalar":
            if isinstance(node.value, int | float) and not isinstance(node.value, bool):
                report.problem(node, at, "there is no waiting for a time", "wait for what comes")
                return BAD
            target = TargetIs().read(node, at, report)
            return BAD if target is BAD else ElementShown(target=target)
        words = {key.text for key, _ in node.pairs}
        if not words & set(KINDS) and words & set(TARGET_KEYS):
            target = TargetIs().read(node, at, report)
            return BAD if target is BAD else ElementShown(target=target)
        made = read_kinds(node, at, report)
        if BAD in made:
            return BAD
        if len(made) != 1:
            report.problem(node, at, "wait takes one expectation", "write a second wait")
            return BAD
        if made[0].kind == "output":
            report.problem(node, at, "wait looks at the page: an output is not there")
            return BAD
        return made[0]

    def schema(self) -> Schema:
        """A target or an expectation."""
        return {"anyOf": [TARGET, {"$ref": "#/$defs/expectation"}]}


@dataclass(frozen=True, slots=True)
class ScrollShape:
    """``top``, ``bottom``, a target, or ``{by: PIXELS}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The fields of a Scroll."""
        if node.kind == "scalar" and node.text in ("top", "bottom"):
            return {"edge": node.text}
        if node.kind == "map" and node.get("by") is not None:
            return Keys("scroll", {"by": Key(Number(least=None))}).read(node, at, report)
        target = TargetIs().read(node, at, report)
        return BAD if target is BAD else {"to": target}

    def schema(self) -> Schema:
        """One of the three."""
        by = {"type": "object", "properties": {"by": {"type": "integer"}}, "required": ["by"],
              "additionalProperties": False}  # fmt: skip
        return {"anyOf": [{"enum": ["top", "bottom"]}, by, TARGET]}


@dataclass(frozen=True, slots=True)
class DialogShape:
    """``accept``, ``dismiss`` or ``{accept: TEXT}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The fields of a Dialog."""
        if node.kind == "map":
            made = Keys("dialog", {"accept": Key(Text(), required=True)}).read(node, at, report)
            return BAD if made is BAD else {"answer": "accept", "text": made["accept"]}
        answer = Choice(("accept", "dismiss"), "an answer to a dialog").read(node, at, report)
        return BAD if answer is BAD else {"answer": answer}

    def schema(self) -> Schema:
        """A word, or the text for a prompt."""
        text = {"type": "object", "properties": {"accept": {"type": ["string", "number"]}},
                "required": ["accept"], "additionalProperties": False}  # fmt: skip
        return {"anyOf": [{"enum": ["accept", "dismiss"]}, text]}


@dataclass(frozen=True, slots=True)
class Nothing:
    """No value (``back:``), or ``true``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """An empty mapping."""
        if node.kind == "scalar" and (node.value is None or node.value is True):
            return {}
        return wanted("nothing", node, at, report, "write it without a value")

    def schema(self) -> Schema:
        """Null or true."""
        return {"enum": [None, True]}


@dataclass(frozen=True, slots=True)
class TargetOr:
    """A target, or a mapping with other keys as well: ``target`` tells which is meant."""

    keys: Keys

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The fields."""
        if node.kind == "map" and node.get("target") is not None:
            return self.keys.read(node, at, report)
        target = TargetIs().read(node, at, report)
        return BAD if target is BAD else {"target": target}

    def schema(self) -> Schema:
        """One of the two."""
        return {"anyOf": [TARGET, self.keys.schema()]}


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


def field_definition() -> Schema:
    """The schema behind ``#/$defs/field``."""
    return {"anyOf": [{"type": "string", "minLength": 1}, _FIELD.schema()]}
