"""Takes secret values out of texts and events before they are stored, shown or sent to a model.

Pure: it is told the values and knows nothing of where they come from. A value is also found in the
forms in which pages and protocols carry it: URL-encoded, base64 (in any alignment, so also inside
``user:password``), hex, JSON- and HTML-escaped, and, of six characters or more, in capitals or in
small letters (a style sheet's text-transform, a host's name).

What is *not* searched for inside other text, because it would tear up everything around it:

- values of fewer than four characters, and values that are part of the mark itself: they are
  replaced only where they are a whole string;
- values of digits alone (PIN, one-time code) inside a longer number: ``482913`` is replaced in
  ``code 482913!`` and kept in ``order 74829135``.

Names are left alone: of runs, steps, items, effect keys, and digests (`NAMES`). They are what the
journal is read back by, and two keys that became one would undo "at most once". They hold no
secret: templates may use one only as the whole value of what is typed.

The text of a `Plan` is left alone. It is the recipe as its author wrote it, holds secrets by name
only, and is read back to go on: a password that is also a word of the page (``search``) would
break it.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from webagent.core.base import Json, SecretUse
from webagent.core.event import Event, ItemsExpanded
from webagent.core.plan import Plan

MARK = "[secret]"
SHORTEST = 4
SHORTEST_RECASED = 6

NAMES = frozenset(
    {"step", "run", "recipe_id", "recipe_digest", "key", "digest", "used", "until", "again", "keep"}
)

M = TypeVar("M", bound=BaseModel)

# What encoders leave as it is: Python's quote (two ways), encodeURIComponent, encodeURI, forms.
_SAFE = ("", "/", "!'()*", ";,/?:@&=+$#!'()*", "*")


class Redactor:
    """Replaces the values that ``known`` gives (more of them as time goes) by `MARK`."""

    def __init__(self, known: Callable[[], frozenset[str]]) -> None:
        self._known = known
        self._prepared: frozenset[str] = frozenset()
        self._whole: frozenset[str] = frozenset()
        self._forms: tuple[str, ...] = ()

    def text(self, text: str) -> str:
        """A text without secrets; the same object when there is none in it."""
        self._prepare()
        return self._text(text)

    def json(self, value: Json) -> Json:
        """A JSON value without secrets in its strings, its keys and its numbers."""
        self._prepare()
        return self._json(value) if self._prepared else value

    def model(self, model: M) -> M:
        """A model without secrets in its texts; the very same when there is none in it.

        Its structure stays: words of a closed list, names of fields, typed numbers are no secrets.
        """
        self._prepare()
        return self._model(model) if self._prepared else model

    def redact_event(self, event: Event) -> Event:
        """An event that may be stored."""
        return self.model(event)

    def _prepare(self) -> None:
        known = self._known()
        if known == self._prepared:
            return
        values = {value for value in known if value.strip()}
        self._whole = frozenset(values)
        inside = [value for value in values if len(value) >= SHORTEST and value not in MARK]
        self._forms = _longest_first(form for value in inside for form in forms_of(value))
        self._prepared = known

    def _text(self, text: str) -> str:
        if text in self._whole:
            return MARK
        for form in self._forms:
            if form in text:
                text = _replaced(text, form)
        return text

    def _json(self, value: Json) -> Json:
        match value:
            case str():
                return self._text(value)
            case bool() | None:
                return value
            case int() | float():
                return MARK if str(value) in self._whole else value
            case dict():
                return _same_or(value, self._mapping(value))
            case list() | tuple():
                return _same_or(value, type(value)(self._json(item) for item in value))
            case BaseModel():
                return self._model(value)
            case _:
                return value

    def _mapping(self, value: dict[Any, Json]) -> dict[Any, Json]:
        found: dict[Any, Json] = {}
        for key, item in value.items():
            name = self._text(key) if isinstance(key, str) else key
            number = 2
            while name is not key and name in found:  # two keys that differed only in a secret
                name, number = f"{self._text(str(key))} {number}", number + 1
            found[name] = self._json(item)
        return found

    def _model(self, model: M) -> M:
        if isinstance(model, Plan | SecretUse):
            return model
        if isinstance(model, ItemsExpanded):
            items = tuple(_same_or(item, (item[0], self._json(item[1]))) for item in model.items)
            return (
                model if _same_or(model.items, items) is model.items else _with(model, items=items)
            )
        changed: dict[str, Any] = {}
        for name, field in type(model).model_fields.items():
            if name in NAMES:
                continue
            old = getattr(model, name)
            new = self._typed(old, field.annotation)
            if new is not old:
                changed[name] = new
        return _with(model, **changed) if changed else model

    def _typed(self, value: Any, annotation: Any) -> Any:
        """A field's value: as its type allows. `Any` is a JSON value, whose numbers count too."""
        if annotation is Any:
            return self._json(value)
        match value:
            case str():
                return value if _is_closed(annotation, value) else self._text(value)
            case BaseModel():
                return self._model(value)
            case tuple() | list():
                kinds = _item_types(annotation, len(value))
                new = type(value)(self._typed(v, k) for v, k in zip(value, kinds, strict=True))
                return _same_or(value, new)
            case dict():  # the names in it are the author's
                kind = _value_type(annotation)
                return _same_or(value, {k: self._typed(v, kind) for k, v in value.items()})
            case _:
                return value


def _with(model: M, **changed: Any) -> M:
    return model.model_copy(update=changed)


def forms_of(value: str) -> frozenset[str]:
    """The forms in which a value may stand in a text, itself included."""
    raw = value.encode("utf-8", "surrogatepass")
    found = {value, " ".join(value.split()), raw.hex(), raw.hex().upper()}
    for safe in _SAFE:
        once = quote(raw, safe=safe)
        found |= {once, once.replace("~", "%7E"), quote(once, safe="")}
    found |= {quote_plus(raw), quote_plus(raw).replace("~", "%7E"), quote_plus(raw, safe="*")}
    found |= {_lower_hex(form) for form in found}
    for ascii_only in (True, False):
        escaped = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        found |= {escaped, json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]}
    attribute = value.replace("&", "&amp;").replace('"', "&quot;")
    strict = html.escape(value)
    found |= {attribute, strict, html.escape(value, quote=False), strict.replace("&#x27;", "&#39;")}
    found |= set(_base64_forms(raw))
    if len(value) >= SHORTEST_RECASED:
        plain = (value, " ".join(value.split()), quote(raw, safe=""), quote_plus(raw))
        found |= {form.upper() for form in plain} | {form.lower() for form in plain}
    return frozenset(form for form in found if len(form) >= SHORTEST)


def _base64_forms(raw: bytes) -> Iterable[str]:
    """What of the value shows in the base64 of any text around it: one form per alignment."""
    for before in range(3):
        bits = (8 * before, 8 * (before + len(raw)))
        first, last = -(-bits[0] // 6), bits[1] // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * before + raw + b"\0\0")[first:last].decode("ascii")


def _lower_hex(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), text)


def _longest_first(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({form for form in forms if form not in MARK}, key=lambda f: (-len(f), f)))


def _replaced(text: str, form: str) -> str:
    if not form.isdecimal():
        return text.replace(form, MARK)
    return re.sub(rf"(?<!\d){re.escape(form)}(?!\d)", MARK, text)


def _same_or(old: Any, new: Any) -> Any:
    """The old container when nothing in it is new, so that "unchanged" stays cheap to see."""
    if isinstance(old, dict):
        pairs = zip(old.items(), new.items(), strict=True)
        return old if all(a[0] is b[0] and a[1] is b[1] for a, b in pairs) else new
    return old if all(a is b for a, b in zip(old, new, strict=True)) else new


def _is_closed(annotation: Any, value: str) -> bool:
    """Whether the value is a word of a closed list by its type (a Literal, or a union with one)."""
    origin = get_origin(annotation)
    if origin is Literal:
        return value in get_args(annotation)
    if origin in (Union, UnionType):
        return any(_is_closed(part, value) for part in get_args(annotation))
    return False


def _item_types(annotation: Any, count: int) -> tuple[Any, ...]:
    for part in _parts(annotation):
        if get_origin(part) in (tuple, list):
            kinds = get_args(part)
            if len(kinds) == count and Ellipsis not in kinds:
                return kinds
            return (kinds[0],) * count
    return (str,) * count


def _value_type(annotation: Any) -> Any:
    for part in _parts(annotation):
        if get_origin(part) is dict:
            return get_args(part)[1]
    return Any


def _parts(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
