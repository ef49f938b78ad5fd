"""Writes results to a file by its suffix: .json is replaced, .jsonl and .csv grow by rows.

A file that grows keeps its columns: rows of other columns are refused with both named, before
anything is written. Cells are written as they are: a text that begins with ``=``, ``+``, ``-`` or
``@`` stays that text, because programs read these files too. Who opens a CSV of foreign data in a
spreadsheet should import it as text, or such a cell is run as a formula.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

from filelock import FileLock, Timeout

from webagent.core.base import Json
from webagent.core.errors import BadInput, StoreError
from webagent.sinks.rows import Row, columns_of, flat, rows_of

SUFFIXES = (".json", ".jsonl", ".csv")
LOCK_SECONDS = 30.0

_FRESH = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def check_out(path: Path) -> None:
    """Raise BadInput now, before a run has done anything, if results could not be written there."""
    if path.suffix.lower() not in SUFFIXES:
        raise BadInput(
            f"{path}: results are written as {', '.join(SUFFIXES)}, by the file's suffix.",
            hint=f"For example: --out {path.with_suffix('.json')}",
        )
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else f"the folder {path.parent} does not exist"
        raise BadInput(f"{path}: {what}.", hint="Give the path of a file in an existing folder.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BadInput(f"{path} cannot be written by this user.")


def write_outputs(path: Path, outputs: Mapping[str, Mapping[str, Json] | None]) -> int:
    """Write a run's outputs (by step); how many rows or, for .json, steps were written.

    For a table the caller gives the outputs of the last steps: those that no other step uses.

    Raises BadInput when the file's columns are others, StoreError when the disk refuses.
    """
    check_out(path)
    try:
        if path.suffix.lower() == ".json":
            replace_json(path, dict(outputs))
            return len(outputs)
        rows = rows_of(outputs)
        return _grow(path, [flat(row) for row in rows] if _is_csv(path) else rows)
    except OSError as error:
        raise StoreError(
            f"The results could not be written to {path}: {error.strerror or error}.",
            hint="They are in the store as well: webagent show last --json",
        ) from None


def replace_json(path: Path, value: Json) -> None:
    """Write a JSON file in one step: whoever reads it sees the old or the new one, never a half."""
    text = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(fresh, _FRESH, 0o666), "wb") as file:
            if path.exists():
                fresh.chmod(path.stat().st_mode & 0o777)
            file.write(text + b"\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _grow(path: Path, rows: Sequence[Row]) -> int:
    """Add rows behind those that are there, in one write under a lock."""
    if not rows:
        return 0
    new = columns_of(rows)
    is_csv = _is_csv(path)
    try:
        with FileLock(path.with_name(f".{path.name}.lock"), timeout=LOCK_SECONDS):
            old = (_csv_columns if is_csv else _jsonl_columns)(path) if path.exists() else None
            if old is not None and set(old) != set(new):
                raise _other_columns(path, old, new)
            columns = new if old is None else old
            text = (
                _as_csv(rows, columns, header=old is None) if is_csv else _as_jsonl(rows, columns)
            )
            _add(path, text.encode("utf-8", "backslashreplace"))
    except Timeout:
        raise StoreError(
            f"{path} was locked by another run for {LOCK_SECONDS:.0f} seconds.",
            hint="The results are in the store as well: webagent show last --json",
        ) from None
    return len(rows)


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _add(path: Path, content: bytes) -> None:
    with path.open("ab+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # edited by hand: its last line has no end
                content = b"\n" + content
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _csv_columns(path: Path) -> list[str] | None:
    """The header of a CSV; None for an empty file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file, strict=True), None)
    except (csv.Error, UnicodeDecodeError):
        raise _not_readable(path, "CSV in UTF-8") from None


def _jsonl_columns(path: Path) -> list[str] | None:
    """The keys of a JSONL file's rows; None for an empty file. Its last row has to be whole."""
    first = last = b""
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                first, last = first or line, line
    if not first:
        return None
    try:
        rows = [json.loads(first), json.loads(last)]
    except ValueError:
        raise _not_readable(path, "one JSON object a line") from None
    if not all(isinstance(row, dict) for row in rows):
        raise _not_readable(path, "one JSON object a line")
    return list(rows[-1])


def _as_jsonl(rows: Sequence[Row], columns: Sequence[str]) -> str:
    whole = ({name: row.get(name) for name in columns} for row in rows)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in whole)


def _as_csv(rows: Sequence[Row], columns: Sequence[str], *, header: bool) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(columns)
    for row in rows:
        writer.writerow(_cell(row.get(name)) for name in columns)
    return text.getvalue()


def _cell(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value.replace("\0", "\\x00")  # which a CSV reader would stop at
        case _:
            return json.dumps(value)


def _other_columns(path: Path, old: Sequence[str], new: Sequence[str]) -> BadInput:
    gone = [name for name in old if name not in new]
    more = [name for name in new if name not in old]
    says = [f"without {', '.join(gone)}"] if gone else []
    says += [f"with {', '.join(more)}, which it has not"] if more else []
    return BadInput(
        f"{path} has other columns: these rows come {' and '.join(says)}. Nothing was written.",
        hint="Give another file, or move this one away.",
    )


def _not_readable(path: Path, what: str) -> BadInput:
    return BadInput(
        f"{path} is not {what} (or its last line is cut short): nothing was added to it.",
        hint="Repair it, give another file, or move this one away.",
    )
