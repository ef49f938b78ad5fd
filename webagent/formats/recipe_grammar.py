"""How a recipe is written around its steps: head, inputs, secrets, sites, browser."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from webagent.core.plan import BrowserOptions, InputSpec, SecretSpec
from webagent.formats.document import Node, Report
from webagent.formats.model_grammar import MODELS
from webagent.formats.read_grammar import NAME, NAME_HINT
from webagent.formats.scalars import Choice, Flag, Number, Origin, Text, Value
from webagent.formats.shapes import BAD, Key, Keys, ListOf, MapOf, Schema, wanted
from webagent.formats.step_grammar import StepShape
from webagent.formats.step_keys import BUDGET, INPUT_TYPES

FORMAT = 1
ID = r"[A-Za-z0-9][A-Za-z0-9_.-]*"


# --- inputs -----------------------------------------------------------------------------------


def _input(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    type_ = values.get("type", "string")
    default = values.get("default")
    source = values.get("from")
    if source is not None and type_ != "list":
        report.problem(node.get("from"), f"{at}.from", "from goes with type: list only")
        return BAD
    default_node = node.get("default")
    if default is not None and (fault := default_fault(type_, default)):
        report.problem(default_node, f"{at}.default", *fault, "type")
        return BAD
    return InputSpec(
        type=type_, default=default, has_default=default_node is not None or source is not None,
        source=source, help=values.get("help", ""),
    )  # fmt: skip


def default_fault(type_: str, value: Any) -> tuple[str, str] | None:
    """Message and hint when a default is not of its input's type."""
    match type_:
        case "number":
            good, hint = isinstance(value, int | float) and not isinstance(value, bool), ""
        case "boolean":
            good, hint = isinstance(value, bool), "write true or false"
        case "list":
            good, hint = isinstance(value, list), "each item after a dash, or from: FILE.csv"
        case "date":
            good, hint = isinstance(value, str) and is_date(value), "write YYYY-MM-DD"
        case _:
            good, hint = isinstance(value, str), 'quote it: "…"'
    return None if good else (f"the default {value!r} is not a {type_}", hint)


def is_date(text: str) -> bool:
    """Whether this is a date as ISO writes it."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


_INPUT_KEYS = {
    "type": Key(Choice(INPUT_TYPES, "a type of input"), "string when not given"),
    "default": Key(Value(), "its value when none is given; without, it must be given"),
    "from": Key(Text("a CSV file", template=False), "a CSV beside the recipe, for a list"),
    "help": Key(Text(template=False), "what it is, for those who run the recipe"),
}


@dataclass(frozen=True, slots=True)
class InputShape:
    """``{type, default, from, help}``; nothing at all is a text that must be given."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """An InputSpec."""
        if node.kind == "scalar" and node.value is None:
            return InputSpec()
        if node.kind != "map":
            hint = f"write {{type: {node.text}}}" if node.text in INPUT_TYPES else ""
            hint = hint or f"write {{default: {node.text or '…'}}}"
            return wanted("a mapping", node, at, report, hint)
        return Keys("an input", _INPUT_KEYS, _input).read(node, at, report)

    def schema(self) -> Schema:
        """An object or nothing."""
        return {"anyOf": [{"type": "null"}, Keys("an input", _INPUT_KEYS).schema()]}


# --- secrets, browser -------------------------------------------------------------------------


def _secret(values: dict[str, Any], node: Node, at: str, report: Report) -> Any:
    sources = [name for name in _SOURCES if name in values]
    if len(sources) > 1:
        report.problem(node, at, f"one source, not both {sources[0]} and {sources[1]}")
        return BAD
    return SecretSpec(origin=values.pop("for", None), **values)


_SOURCES = ("env", "file", "keyring", "command")
_SECRET = Keys(
    "a secret",
    {
        "env": Key(Text(template=False), "the environment variable that holds it"),
        "file": Key(Text(template=False), "the file that holds it"),
        "keyring": Key(Text(template=False), "SERVICE/NAME in the system's keyring"),
        "command": Key(Text(template=False), "a command that prints it"),
        "for": Key(Origin(), "the one origin on which it may be typed"),
    },
    _secret,
    some=_SOURCES,
)


@dataclass(frozen=True, slots=True)
class Viewport:
    """``1280x720``, ``[1280, 720]`` or ``{width, height}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """(width, height)."""
        if node.kind == "map":
            sides = Keys("a viewport", _SIDES).read(node, at, report)
            return BAD if sides is BAD else (sides["width"], sides["height"])
        words = [x.text for x in node.items] if node.kind == "list" else node.text.split("x")
        if len(words) != 2 or not all(re.fullmatch(r"[1-9]\d{1,4}", w.strip()) for w in words):
            return wanted("a size", node, at, report, "such as 1280x720")
        return int(words[0]), int(words[1])

    def schema(self) -> Schema:
        """One of the three."""
        pair = {"type": "array", "items": _SIDE.schema(), "minItems": 2, "maxItems": 2}
        text = {"type": "string", "pattern": "^[1-9][0-9]{1,4} *x *[1-9][0-9]{1,4}$"}
        return {"anyOf": [text, pair, Keys("a viewport", _SIDES).schema()]}


_SIDE = Number(least=10, most=99999)
_SIDES = {"width": Key(_SIDE, required=True), "height": Key(_SIDE, required=True)}


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone by its IANA name."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The name."""
        if node.kind != "scalar" or not isinstance(node.value, str):
            return wanted("a time zone", node, at, report, "such as Europe/Berlin")
        try:
            ZoneInfo(node.text)
        except (OSError, ValueError, KeyError):  # also a folder of the zone database
            report.problem(node, at, f"no time zone {node.text!r}", "such as Europe/Berlin")
            return BAD
        return node.text

    def schema(self) -> Schema:
        """Text."""
        return {"type": "string"}


_CREDENTIAL = Value(secret=True, scalar=True)
_PROXY = Keys(
    "a proxy",
    {
        "server": Key(Text(), "its URL", required=True),
        "username": Key(_CREDENTIAL),
        "password": Key(_CREDENTIAL),
        "bypass": Key(Text(template=False), "hosts that go direct, with commas"),
    },
    lone="server",
)
_HTTP_AUTH = Keys(
    "http_auth",
    {
        "username": Key(_CREDENTIAL, required=True),
        "password": Key(_CREDENTIAL, required=True),
        "origin": Key(Origin(), "sent to this origin only"),
    },
)
_CERTIFICATE_NAMES = {"cert": "certPath", "key": "keyPath", "pfx": "pfxPath"}
_CERTIFICATE = Keys(
    "a certificate",
    {
        "origin": Key(Origin(), "where it is shown", required=True),
        "cert": Key(Text(template=False), "its PEM file"),
        "key": Key(Text(template=False), "its key's PEM file"),
        "pfx": Key(Text(template=False), "both in one PFX file"),
        "passphrase": Key(_CREDENTIAL, "the passphrase of key or pfx"),
    },
    lambda values, _n, _a, _r: {_CERTIFICATE_NAMES.get(k, k): v for k, v in values.items()},
    some=("cert", "pfx"),
)
BROWSER = Keys(
    "browser",
    {
        "proxy": Key(_PROXY, "a proxy for all requests"),
        "headers": Key(MapOf(Value(scalar=True)), "sent with every request; never a secret"),
        "locale": Key(
            Text("a locale", template=False, pattern=r"[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*"),
            "such as de-DE",
        ),
        "timezone": Key(Zone(), "such as Europe/Berlin"),
        "viewport": Key(Viewport(), "the window's size"),
        "http_auth": Key(_HTTP_AUTH, "HTTP authentication"),
        "ignore_https_errors": Key(Flag(), "for sites with certificates of their own"),
        "client_certificates": Key(ListOf(_CERTIFICATE), "certificates by origin"),
        "connect": Key(
            Text("a URL", template=False, pattern=r"(https?|wss?)://\S+"),
            "a browser that is already there, by its DevTools URL",
        ),
    },
    lambda values, _n, _a, _r: BrowserOptions(**values),
)


# --- the whole --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Version:
    """The format version: 1."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The number."""
        if node.value == FORMAT and not isinstance(node.value, bool):
            return node.value
        if isinstance(node.value, int) and node.value > FORMAT:
            report.problem(
                node, at, f"format version {node.text}: this program reads version {FORMAT}",
                "a newer webagent may read it", "version",
            )  # fmt: skip
            return BAD
        return wanted("the format version", node, at, report, f"write webagent: {FORMAT}")

    def schema(self) -> Schema:
        """A constant."""
        return {"const": FORMAT}


_FIELD_PATH = Text(
    "STEP.OUTPUT", template=False, pattern=r"[A-Za-z_]\w*([./][A-Za-z_]\w*)*",
    hint="such as watch.price",
)  # fmt: skip
STEPS = MapOf(StepShape(), "a step's name", NAME, NAME_HINT, least=1, keep=True)
RECIPE_KEYS: dict[str, Key] = {
    "webagent": Key(Version(), "the format version", required=True),
    "id": Key(
        Text("an id", template=False, pattern=ID, hint="letters, digits and . _ -"),
        "survives edits and renames; effects are kept under it",
        required=True,
    ),
    "errand": Key(Text("an errand"), "what is to be done, in a sentence"),
    "inputs": Key(
        MapOf(InputShape(), "an input's name", NAME, NAME_HINT, keep=True), "what changes per run"
    ),
    "secrets": Key(
        MapOf(_SECRET, "a secret's name", NAME, NAME_HINT, keep=True), "where secrets come from"
    ),
    "sites": Key(ListOf(Origin(), single=True), "the origins this errand works on"),
    "steps": Key(STEPS, "the errand's steps by name", required=True),
    "budget": Key(BUDGET, "limits of the whole run"),
    "models": Key(MODELS, "the models that may be asked, by role; none: no model"),
    "browser": Key(BROWSER, "how the browser is started"),
    "on_change": Key(
        ListOf(_FIELD_PATH, single=True), "outputs whose change since the last run matters"
    ),
    "allow_private": Key(Flag(), "private networks may be visited"),
    "max_radius": Key(Number(least=1), "unattended, no failure may redo more steps than this"),
    "keep_heals": Key(Choice(("never", "none"), "never or none"), "heals kept without asking"),
}
RECIPE = Keys("a recipe", RECIPE_KEYS)
