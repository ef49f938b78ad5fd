"""Holds an answer against its question: of the schema, or one of the question's own tools.

Whoever the model is: each chat passes what came back through `checked`. What fails is told in a
sentence that can be sent back to the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from webagent.core.base import Json
from webagent.core.chat import Question, Reply
from webagent.core.errors import ModelError

_FENCE = re.compile(r"\s*```[a-z]*\s*\n(.*)\n\s*```\s*", re.DOTALL)
_SHOWN = 300


def checked(question: Question, reply: Reply) -> Reply:
    """The reply with its ``data`` parsed and its ``stop`` by whether it calls a tool.

    Raises:
        ModelError: fault ``malformed`` (with the reply's usage): no JSON, not of the schema, an
            unknown tool, an input not of its schema, more calls than one, or nothing at all.
    """
    if question.schema_ is not None:
        data = _parsed(reply)
        if fault := fault_in(data, question.schema_):
            raise _malformed(reply, f"The answer is not of the schema that was asked for: {fault}.")
        return reply.model_copy(update={"data": data})
    _check_calls(question, reply)
    if not reply.calls and (question.must_use or not reply.text.strip()):
        what = "uses none of the tools" if question.must_use else "is empty"
        raise _malformed(reply, f"The answer {what}.")
    return reply.model_copy(update={"stop": "tool_use" if reply.calls else "end"})


def fault_in(value: Json, schema: Mapping[str, Any]) -> str:
    """What is wrong with a value by a JSON Schema, with its place; "" when nothing is."""
    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is None:
        return ""
    place = error.json_path.removeprefix("$").removeprefix(".")
    return f"{_cut(error.message)}{f' (at {place})' if place else ''}"


def _parsed(reply: Reply) -> Json:
    fenced = _FENCE.fullmatch(reply.text)
    text = fenced[1] if fenced else reply.text
    if not text.strip():
        raise _malformed(reply, "The answer is empty: JSON was asked for.")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _malformed(reply, f"The answer is not JSON: {_cut(str(error))}.") from None


def _check_calls(question: Question, reply: Reply) -> None:
    if len(reply.calls) > 1:
        names = ", ".join(call.name for call in reply.calls)
        raise _malformed(reply, f"The answer uses {len(reply.calls)} tools ({names}), not one.")
    known = {tool.name: tool for tool in question.tools}
    for call in reply.calls:
        tool = known.get(call.name)
        if tool is None:
            there = ", ".join(known) or "none"
            raise _malformed(reply, f"There is no tool {_cut(call.name)!r}; there is: {there}.")
        if fault := fault_in(call.input, tool.schema_):
            raise _malformed(reply, f"The input of {call.name} is not of its schema: {fault}.")


def _malformed(reply: Reply, message: str) -> ModelError:
    return ModelError(message, fault="malformed", usage=reply.usage)


def _cut(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
