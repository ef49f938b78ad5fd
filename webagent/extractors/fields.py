"""Rows of a list: one mapping for each region, its fields by target, attribute and type.

A row in which a field is missing or not of its type is bad: it comes back apart, with the reasons
and its raw text. Nothing is guessed and nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urljoin

from bs4 import Tag

from webagent.core.action import FieldRead, ListRead, ReadType
from webagent.core.base import Json
from webagent.core.values import canonical
from webagent.extractors import markup
from webagent.extractors.markup import HIDDEN, select, text_of
from webagent.extractors.typed import Reading, parse

RAW_LENGTH = 500
_ADDRESSES = frozenset({"href", "src", "action", "poster"})


class FieldFaultError(ValueError):
    """One field of a row cannot be read."""


def read_rows(
    spec: ListRead, regions: Sequence[str], how: Reading
) -> tuple[list[Json], list[Json]]:
    """Good rows and bad rows, each in order. A bad row: ``{row, reasons, raw, ...fields read}``.

    Raises:
        UnreadableTargetError: a field's selector is not understood (that is no fault of a row).
    """
    good: list[Json] = []
    bad: list[Json] = []
    for index, root in enumerate(markup.regions(regions)):
        values: dict[str, Json] = {}
        reasons: dict[str, str] = {}
        for name, field in spec.fields.items():
            try:
                values[name] = read_field(root, field, how)
            except FieldFaultError as error:
                reasons[name] = str(error)
        if reasons:
            bad.append(bad_row(index, reasons, text_of(root), values))
        else:
            good.append(values)
    return good, bad


def bad_row(index: int, reasons: dict[str, str], raw: str, values: dict[str, Json]) -> Json:
    """What stands in ``NAME_bad`` for one row; ``row`` counts from 0 on its page."""
    return {"row": index, "reasons": reasons, "raw": raw[:RAW_LENGTH], "values": values}


def read_field(root: Tag, field: FieldRead, how: Reading) -> Json:
    """One value of a row. Raises FieldFaultError: missing, several, or not of its type."""
    if field.fixed:
        return field.value
    if field.target is None:
        node: Tag | None = root
    else:
        found = select(root, field.target)
        node = _one(found, field)
    if node is None:
        if field.optional:
            return None
        raise FieldFaultError(f"{field.target} is not there")
    raw = _raw(node, field, how)
    if raw is None or (not raw.strip() and field.type != "html" and field.attr is None):
        if field.optional:
            return None
        if raw is None:
            raise FieldFaultError(f"no {field.attr} on {field.target or 'the row'}")
    return _typed(raw, field.type, how)


def _one(found: Sequence[Tag], field: FieldRead) -> Tag | None:
    """The first element with something to read: rows repeat a price, a link, a picture.

    Unlike an action, which must not pick, a field of a row is the first of its matches in the row,
    because that is what a recipe's ``price: .price`` means; elements that are not shown come last.
    """
    if not found:
        return None
    shown = [node for node in found if not node.has_attr(HIDDEN)]
    return (shown or list(found))[0]


def _raw(node: Tag, field: FieldRead, how: Reading) -> str | None:
    if field.attr is not None:
        value = node.get(field.attr)
        if value is None:
            return None
        text = " ".join(value) if isinstance(value, list) else str(value)
        return urljoin(how.base_url, text) if field.attr in _ADDRESSES else text
    if field.type == "html":
        return str(node)
    if field.type == "url" and (link := _link(node)) is not None:
        return link
    if node.name == "time" and field.type == "date" and (stamp := node.get("datetime")):
        return str(stamp)
    if node.name == "meta":
        return None if node.get("content") is None else str(node.get("content"))
    if node.name == "select":
        return ", ".join(text_of(o) for o in node.find_all("option") if o.has_attr("selected"))
    if node.name == "input":
        if node.get("type") in ("checkbox", "radio"):
            return "true" if node.has_attr("checked") else "false"
        return str(node.get("value") or "")
    return text_of(node)


def _link(node: Tag) -> str | None:
    for one in (node, node.find("a", href=True), node.find_parent("a", href=True)):
        if isinstance(one, Tag) and one.get("href"):
            return str(one.get("href"))
    return None


def _typed(raw: str | None, type_: ReadType, how: Reading) -> Json:
    try:
        return parse(raw or "", type_, how)
    except ValueError as error:
        raise FieldFaultError(str(error)) from error


def unique(key: str, rows: Sequence[Json]) -> tuple[list[Json], list[Json]]:
    """Rows told apart by a field: later rows of a key met before, and rows without one, are bad."""
    good: list[Json] = []
    bad: list[Json] = []
    seen: set[str] = set()
    for index, row in enumerate(rows):
        value = row.get(key) if isinstance(row, dict) else None
        mark = canonical(value)
        if value is None:
            reason = {key: "the key is missing"}
        elif mark in seen:
            reason = {key: f"the key {value!r} is there already"}
        else:
            seen.add(mark)
            good.append(row)
            continue
        bad.append(bad_row(index, reason, canonical(row), row if isinstance(row, dict) else {}))
    return good, bad
