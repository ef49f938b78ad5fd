"""How events, rows and runners become JSON text and come back equal.

Knows nothing of a database. Two things that a plain ``dump_json`` would lose are kept: infinite
numbers (a limit may be infinite) and lone surrogates (the text of a page may hold them).
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from webagent.core.base import Json
from webagent.core.effect import EffectRow
from webagent.core.event import EVENT, Event
from webagent.ports import Runner


def dump(model: BaseModel) -> str:
    """The JSON text of a model."""
    try:
        return model.model_dump_json()
    except PydanticSerializationError:  # a lone surrogate: JSON can escape it, UTF-8 cannot hold it
        return json.dumps(model.model_dump(mode="python"), separators=(",", ":"))


def load_event(text: str) -> Event:
    """The event of a text that `dump` made."""
    return EVENT.validate_python(json.loads(text))


def load_row(text: str) -> EffectRow:
    """The effect's row of a text that `dump` made."""
    return EffectRow.model_validate(json.loads(text))


def load_runner(text: str | None) -> Runner | None:
    """The runner of a text that `dump` made."""
    return None if text is None else Runner.model_validate(json.loads(text))


def dump_value(value: Json) -> str:
    """The JSON text of a plain value."""
    return json.dumps(value, separators=(",", ":"))


def load_value(text: str) -> Any:
    """The value of a text that `dump_value` made."""
    return json.loads(text)
