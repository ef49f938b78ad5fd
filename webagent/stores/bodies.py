"""How events, rows and runners become JSON text and come back equal.

Knows nothing of a database. Two things that a plain ``dump_json`` would lose are kept: infinite
numbers (a limit may be infinite) and lone surrogates (the text of a page may hold them). A text
that was damaged since is a StoreError which names the row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from webagent.core.base import Json
from webagent.core.effect import EffectRow
from webagent.core.errors import StoreError
from webagent.core.event import EVENT, Entry, Event
from webagent.core.sighting import Sighting
from webagent.ports import Runner


def dump(model: BaseModel) -> str:
    """The JSON text of a model."""
    try:
        return model.model_dump_json()
    except PydanticSerializationError:  # a lone surrogate: JSON can escape it, UTF-8 cannot hold it
        return json.dumps(model.model_dump(mode="python"), separators=(",", ":"))


def load_event(text: str, run: str, seq: int) -> Event:
    """The event of a text that `dump` made: event ``seq`` of a run. Raises StoreError."""
    with _undamaged(f"Run {run}'s journal is damaged at event {seq}"):
        return EVENT.validate_python(json.loads(text))


def load_entry(text: str, run: str, seq: int, epoch: int, at: str) -> Entry:
    """The journal's line of an event's text and what stands beside it. Raises StoreError."""
    event = load_event(text, run, seq)
    with _undamaged(f"Run {run}'s journal is damaged at event {seq}"):
        return Entry(seq=seq, epoch=epoch, at=at, event=event)


def load_row(text: str, key: str = "") -> EffectRow:
    """The effect's row of a text that `dump` made. Raises StoreError."""
    with _undamaged(f"The record of effect {key!r} is damaged"):
        return EffectRow.model_validate(json.loads(text))


def load_runner(text: str | None, run: str = "") -> Runner | None:
    """The runner of a text that `dump` made. Raises StoreError."""
    if text is None:
        return None
    with _undamaged(f"The record of who works on run {run} is damaged"):
        return Runner.model_validate(json.loads(text))


def load_sighting(text: str, recipe_id: str = "") -> Sighting:
    """The sighting of a text that `dump` made. Raises StoreError."""
    with _undamaged(f"A sighting of recipe {recipe_id!r} is damaged"):
        return Sighting.model_validate(json.loads(text))


@contextmanager
def _undamaged(damage: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, RecursionError) as error:  # not JSON, or not of its shape
        why = " ".join(str(error).split()) if isinstance(error, json.JSONDecodeError) else ""
        raise StoreError(
            f"{damage}{f' ({why})' if why else ''}.",
            hint="Something else wrote to the store's file: put a backup of the store in its "
            "place. Without one, look at the sites before you repeat an errand that orders "
            "or sends something.",
        ) from None


def dump_value(value: Json) -> str:
    """The JSON text of a plain value."""
    return json.dumps(value, separators=(",", ":"))


def load_value(text: str) -> Any:
    """The value of a text that `dump_value` made."""
    return json.loads(text)
