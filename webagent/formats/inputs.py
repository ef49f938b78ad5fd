"""Inputs bound to an errand's declarations: what ``-i name=value`` and ``--inputs FILE`` give.

A file is one YAML or JSON mapping of input names, or a CSV with the rows of the one list input.
What ``-i`` gives wins over the file. Nothing else is an input: a misspelt name is an error, because
the errand would otherwise quietly run with a default.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any

from webagent.core.base import Json
from webagent.core.errors import InputInvalid, Problem
from webagent.core.plan import InputSpec
from webagent.core.values import kind_of
from webagent.formats.document import Node, Report
from webagent.formats.recipe_grammar import is_date
from webagent.formats.recipe_yaml import UnreadableError, read_text
from webagent.formats.yaml_places import compose

MAX_ROWS = 100_000
_FILE_HINT = "give the path of a CSV, or of a YAML or JSON mapping of inputs"
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,3})?")


class _Faults:
    """Collects what is wrong, each with its place when it came from a file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, message: str, hint: str = "", where: Problem | None = None) -> None:
        """Note one fault; ``where`` carries file, line and column."""
        place = where or Problem("")
        self.problems.append(
            Problem(
                message, path=place.path, hint=hint, file=place.file, line=place.line,
                column=place.column, code="input",
            )
        )  # fmt: skip

    def raise_if_any(self) -> None:
        """Raise InputInvalid with all of them."""
        if self.problems:
            raise InputInvalid("\n".join(str(p) for p in self.problems), problems=self.problems)


def bind_inputs(
    specs: Mapping[str, InputSpec],
    given: Mapping[str, str] | None = None,
    file: str | Path | None = None,
    base: str | Path = ".",
) -> dict[str, Json]:
    """The typed value of every declared input.

    ``base`` is the recipe's folder: ``from:`` files are relative to it. Files given by a person are
    relative to where they stand, and are stored absolute.

    Raises:
        InputInvalid: with everything that is wrong.
    """
    faults = _Faults()
    values: dict[str, Json] = {}
    if file is not None:
        values.update(_from_file(specs, Path(file), faults))
    for name, text in (given or {}).items():
        spec = specs.get(name)
        if spec is None:
            faults.add(f"there is no input {name!r}", _near(name, specs))
            continue
        values[name] = _typed(name, spec, text, Path(), faults, None)
    for name, spec in specs.items():
        if name not in values:
            values[name] = _missing(name, spec, Path(base), faults)
    faults.raise_if_any()
    return {name: values[name] for name in specs}


def _near(name: str, specs: Mapping[str, InputSpec]) -> str:
    if near := get_close_matches(name, specs, n=1):
        return f"did you mean {near[0]!r}?"
    return "inputs: " + ", ".join(specs) if specs else "this recipe has no inputs"


def _missing(name: str, spec: InputSpec, base: Path, faults: _Faults) -> Json:
    if spec.source is not None:
        return _rows(base / spec.source, faults, f"input {name}: ")
    if not spec.has_default:
        about = f" ({spec.help})" if spec.help else ""
        faults.add(f"the input {name!r}{about} is missing", f"give it: -i {name}=…")
        return None
    if spec.type == "file" and isinstance(spec.default, str):
        return _file(name, spec.default, base, faults, None)
    return spec.default


# --- one value --------------------------------------------------------------------------------


def _typed(
    name: str, spec: InputSpec, raw: Json, base: Path, faults: _Faults, where: Problem | None
) -> Json:
    """A value of the input's type, made of text or of a file's value."""
    match spec.type:
        case "string":
            return _text(name, raw, faults, where)
        case "number":
            return _number(name, raw, faults, where)
        case "boolean":
            return _boolean(name, raw, faults, where)
        case "date":
            if isinstance(raw, str) and is_date(raw.strip()):
                return raw.strip()
            return _wrong(name, raw, "a date", "write it as YYYY-MM-DD", faults, where)
        case "file":
            return _file(name, raw, base, faults, where)
        case "list":
            return _list(name, raw, base, faults, where)


def _wrong(
    name: str, raw: Json, what: str, hint: str, faults: _Faults, where: Problem | None
) -> None:
    shown = repr(raw) if len(repr(raw)) <= 60 else kind_of(raw)
    faults.add(f"the input {name!r} is {what}, not {shown}", hint, where)


def _text(name: str, raw: Json, faults: _Faults, where: Problem | None) -> Json:
    if isinstance(raw, str):
        return raw
    return _wrong(name, raw, "a text", f'quote it: "{raw}"', faults, where)


def _number(name: str, raw: Json, faults: _Faults, where: Problem | None) -> Json:
    value: Json = raw
    if isinstance(raw, str) and _NUMBER.fullmatch(text := raw.strip()):
        value = _value_of(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if _is_finite(value):
            return value
        return _wrong(name, raw, "a number below 1e308", "", faults, where)
    return _wrong(name, raw, "a number", "write it as 1234.5", faults, where)


def _value_of(text: str) -> int | float:
    value = float(text)
    if not isfinite(value) or "." in text or value != int(value):
        return value
    return int(value) if "e" in text.lower() else int(text)


def _is_finite(value: Json) -> bool:
    """Whether each number in a value is one that the arithmetic of recipes and JSON can hold."""
    match value:
        case int() | float():
            try:
                return isfinite(value)
            except OverflowError:  # an integer of more than 308 digits
                return False
        case list():
            return all(map(_is_finite, value))
        case dict():
            return all(map(_is_finite, value.values()))
        case _:
            return True


def _boolean(name: str, raw: Json, faults: _Faults, where: Problem | None) -> Json:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.strip().lower() in _TRUE | _FALSE:
        return raw.strip().lower() in _TRUE
    return _wrong(name, raw, "true or false", "", faults, where)


def _file(name: str, raw: Json, base: Path, faults: _Faults, where: Problem | None) -> Json:
    if not isinstance(raw, str) or not raw:
        return _wrong(name, raw, "a file", "", faults, where)
    path = base / Path(raw).expanduser()
    try:
        there = path.is_file()
    except (OSError, ValueError):
        there = False
    if not there:
        faults.add(f"the input {name!r}: there is no file {path}", "", where)
        return None
    return str(path.resolve())


def _list(name: str, raw: Json, base: Path, faults: _Faults, where: Problem | None) -> Json:
    if isinstance(raw, list):
        return raw
    if isinstance(raw, str):
        text = raw.strip()
        if text.startswith("["):
            try:
                rows: list[Json] = list(json.loads(text))
                finite = _is_finite(rows)
            except (ValueError, RecursionError) as error:
                return _wrong(name, raw, "a list", f"as JSON: {error}", faults, where)
            if finite:
                return rows
            hint = "numbers are finite and below 1e308"
            return _wrong(name, raw, "a list", hint, faults, where)
        if text.lower().endswith(".csv"):
            return _rows(base / text, faults, f"input {name}: ")
    hint = f"give a CSV: -i {name}=rows.csv, or JSON: -i {name}='[…]'"
    return _wrong(name, raw, "a list", hint, faults, where)


# --- files ------------------------------------------------------------------------------------


def _from_file(specs: Mapping[str, InputSpec], file: Path, faults: _Faults) -> dict[str, Json]:
    if file.suffix.lower() == ".csv":
        lists = [name for name, spec in specs.items() if spec.type == "list"]
        if len(lists) != 1:
            found = "no list input" if not lists else "several: " + ", ".join(lists)
            faults.add(f"a CSV gives the rows of the one list input; this recipe has {found}")
            return {}
        return {lists[0]: _rows(file, faults, "")}
    try:
        text = read_text(str(file))
    except UnreadableError as error:
        faults.add(str(error), error.hint or _FILE_HINT)
        return {}
    report = Report(str(file))
    node = compose(text, report)
    faults.problems.extend(report.problems)
    if node is None or node.kind != "map":
        if not report.problems:
            what = node.describe() if node is not None else "nothing"
            faults.add(f"{file} holds {what}", "it is one mapping of inputs: NAME: VALUE")
        return {}
    return _from_mapping(specs, node, file, faults)


def _from_mapping(
    specs: Mapping[str, InputSpec], node: Node, file: Path, faults: _Faults
) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for key, value in node.pairs:
        where = Problem("", path=key.text, file=str(file), line=value.line, column=value.column)
        spec = specs.get(key.text)
        if spec is None:
            at_key = Problem("", path=key.text, file=str(file), line=key.line, column=key.column)
            faults.add(f"there is no input {key.text!r}", _near(key.text, specs), at_key)
            continue
        raw: Json = value.plain_value()
        if spec.type == "string" and value.kind == "scalar" and value.plain and raw is not None:
            raw = value.text  # 2024 and true are texts where a text is wanted
        values[key.text] = _typed(key.text, spec, raw, file.parent, faults, where)
    return values


def _rows(path: Path, faults: _Faults, about: str) -> list[Json]:
    """A CSV's rows as mappings by its header; every value is text."""
    try:
        text = read_text(str(path))
    except UnreadableError as error:
        faults.add(f"{about}{error}", error.hint or _FILE_HINT)
        return []
    delimiter = (
        ";" if text.split("\n", 1)[0].count(";") > text.split("\n", 1)[0].count(",") else ","
    )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return _checked_rows(reader, path, faults)
    except csv.Error as error:
        where = Problem("", file=str(path), line=reader.line_num, column=1)
        faults.add(f"{about}not valid CSV: {error}", "", where)
        return []


def _checked_rows(reader: Any, path: Path, faults: _Faults) -> list[Json]:
    header: list[str] | None = next(reader, None)
    if not header:
        faults.add(f"{path} is empty", "its first line names the columns")
        return []
    names = [name.strip() for name in header]
    for index, name in enumerate(names):
        if not name or name in names[:index]:
            what = "has no name" if not name else f"is the second named {name!r}"
            where = Problem("", file=str(path), line=1, column=index + 1)
            faults.add(f"column {index + 1} {what}", "give every column its own name", where)
            return []
    rows: list[Json] = []
    for line in reader:
        if not any(cell.strip() for cell in line):
            continue
        if len(line) != len(names):
            where = Problem("", file=str(path), line=reader.line_num, column=1)
            faults.add(f"{len(line)} cells under {len(names)} columns", "quote commas", where)
            continue
        rows.append(dict(zip(names, (cell.strip() for cell in line), strict=True)))
        if len(rows) > MAX_ROWS:
            faults.add(f"{path} has more than {MAX_ROWS} rows")
            return []
    return rows
