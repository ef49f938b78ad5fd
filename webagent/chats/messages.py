"""A question as a request of the Messages interface, and its response as a reply. Pure.

Everything that is the same from call to call comes first on the wire: tools, system texts, then
the turns. A ``cached`` text ends a prefix that the server may keep (at most four of them).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from webagent.core.chat import ModelSpec, Question, Reply, Text, ToolCall, Turn, Usage
from webagent.core.errors import ModelError

Schema: TypeAlias = dict[str, Any]
# Makes of a schema the one that the server can hold the model to.
Strict: TypeAlias = Callable[[Schema], Schema]

# What the server takes at most in one request.
CACHE_MARKS = 4
STRICT_TOOLS, STRICT_OPTIONAL, STRICT_UNIONS = 20, 24, 16

_KINDS = (None, "object", "array", "string", "integer", "number", "boolean", "null")

_TOLD = (
    "Answer with one JSON value and nothing else: no words around it, no code fence. It has to be "
    "valid by this JSON Schema:\n"
)


def request(question: Question, spec: ModelSpec, strict: Strict) -> dict[str, Any]:
    """The arguments of ``messages.create`` for a question."""
    marks = _Marks(question)
    system = [block for text in question.system for block in marks.blocks(text)]
    made: dict[str, Any] = {
        "model": spec.model,
        "max_tokens": spec.max_tokens,
        "messages": [
            {"role": turn.role, "content": list(_content(turn, marks))} for turn in question.turns
        ],
    }
    output: dict[str, Any] = {} if spec.effort is None else {"effort": spec.effort}
    if question.schema_ is not None:
        plain = _unioned(question.schema_)
        if _fits(plain):
            output["format"] = {"type": "json_schema", "schema": strict(plain)}
        else:
            told = _TOLD + json.dumps(question.schema_, ensure_ascii=False, sort_keys=True)
            system.append({"type": "text", "text": told})
    elif question.tools:
        made["tools"] = _tools(question, strict)
        kind = "any" if question.must_use else "auto"
        made["tool_choice"] = {"type": kind, "disable_parallel_tool_use": True}
    if system:
        made["system"] = system
    if output:
        made["output_config"] = output
    return made


def countable(made: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``messages.count_tokens``: the request without what only answering needs."""
    return {key: value for key, value in made.items() if key != "max_tokens"}


def upper_estimate(made: Mapping[str, Any]) -> int:
    """More tokens than a request has, by its length alone: one for each two bytes, and 500.

    Texts have three to four bytes a token by the vendor's rule of thumb; what the server adds of
    its own for tools is some hundred tokens.
    """
    told = {k: v for k, v in made.items() if k not in {"model", "max_tokens"}}
    text = json.dumps(told, ensure_ascii=False)
    return math.ceil(len(text.encode("utf-8", "replace")) / 2) + 500


def reply_of(message: Mapping[str, Any], seconds: float = 0.0) -> Reply:
    """The reply in a response, not yet held against its question.

    Raises:
        ModelError: ``refused``, ``truncated`` or ``malformed``, with the usage.
    """
    usage = usage_of(message.get("usage"))
    content = message.get("content")
    if message.get("type") != "message" or not isinstance(content, list):
        raise ModelError("The server's answer is no message.", fault="malformed", usage=usage)
    match message.get("stop_reason"):
        case "refusal":
            details = message.get("stop_details")
            why = details.get("explanation") if isinstance(details, dict) else None
            told = f"The model declined to answer{f': {why}' if why else '.'}"
            raise ModelError(told, fault="refused", usage=usage)
        case "max_tokens" | "model_context_window_exceeded" as reason:
            place = "max_tokens" if reason == "max_tokens" else "the end of its context"
            told = f"The answer stopped at {place}, after {usage.tokens_out} tokens."
            hint = "Give the role a larger max_tokens." if reason == "max_tokens" else ""
            raise ModelError(told, fault="truncated", hint=hint, usage=usage)
        case "pause_turn":
            raise ModelError("The model paused its turn.", fault="malformed", usage=usage)
        case _:  # end_turn, tool_use, stop_sequence, and what a later server calls an end
            pass
    blocks = [block for block in content if isinstance(block, dict)]
    calls = tuple(
        ToolCall(
            id=str(block.get("id")),
            name=str(block.get("name")),
            input=block["input"] if isinstance(block.get("input"), dict) else {},
        )
        for block in blocks
        if block.get("type") == "tool_use"
    )
    return Reply(
        model=str(message.get("model")),
        text="".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text"),
        calls=calls,
        stop="tool_use" if calls else "end",
        usage=usage,
        seconds=seconds,
        id=str(message.get("id") or ""),
    )


def usage_of(told: Any) -> Usage:
    """What a server says that a call has used; 0 for what it does not say."""
    if not isinstance(told, dict):
        return Usage()

    def tokens(name: str) -> int:
        value = told.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    return Usage(
        tokens_in=tokens("input_tokens"),
        tokens_out=tokens("output_tokens"),
        cache_read=tokens("cache_read_input_tokens"),
        cache_write=tokens("cache_creation_input_tokens"),
    )


# --- texts ---------------------------------------------------------------------------------------


class _Marks:
    """Gives out the cache marks of a request: the first ones and the very last where too many."""

    def __init__(self, question: Question) -> None:
        texts = [*question.system, *(text for turn in question.turns for text in turn.texts)]
        self._left = sum(text.cached and bool(text.text) for text in texts)
        self._given = 0

    def blocks(self, text: Text) -> Iterator[dict[str, Any]]:
        """A text as a block; none for an empty one, which the server would not take."""
        if not text.text:
            return
        block: dict[str, Any] = {"type": "text", "text": _sendable(text.text)}
        if text.cached:
            self._left -= 1
            if self._given < CACHE_MARKS - 1 or self._left == 0:
                self._given += 1
                block["cache_control"] = {"type": "ephemeral"}
        yield block


def _sendable(text: str) -> str:
    """Halves of characters, which scripts of pages leave behind, are no text that can be sent."""
    return text.encode("utf-8", "replace").decode()


def _content(turn: Turn, marks: _Marks) -> Iterator[dict[str, Any]]:
    """Results stand first in a user's turn, calls last in the model's: the server wants it so."""
    for result in turn.results:
        yield {
            "type": "tool_result", "tool_use_id": result.id, "content": _sendable(result.text),
            "is_error": result.error,
        }  # fmt: skip
    for text in turn.texts:
        yield from marks.blocks(text)
    for call in turn.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}


# --- schemas -------------------------------------------------------------------------------------


def _tools(question: Question, strict: Strict) -> list[dict[str, Any]]:
    schemas = [_unioned(tool.schema_) for tool in question.tools]
    held = [_fits(schema) for schema in schemas]
    kept = [schema for schema, fits in zip(schemas, held, strict=True) if fits]
    if len(kept) > STRICT_TOOLS or not _few(kept):
        held = [False] * len(held)
    made = []
    for tool, schema, fits in zip(question.tools, schemas, held, strict=True):
        one: dict[str, Any] = {"name": tool.name, "description": tool.about}
        one["input_schema"] = strict(schema) if fits else tool.schema_
        made.append(one | {"strict": True} if fits else one)
    return made


def _unioned(schema: Any) -> Any:
    """The same schema with ``type: [a, b]`` written as ``anyOf``, which the server can hold to."""
    if isinstance(schema, list):
        return [_unioned(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return {k: v if k in {"enum", "const"} else _unioned(v) for k, v in schema.items()}
    rest = {k: v for k, v in schema.items() if k not in {"type", "description", "title"}}
    about = {k: schema[k] for k in ("description", "title") if k in schema}
    if "enum" in rest:
        return _unioned({**about, **rest})
    return {**about, "anyOf": [_unioned({"type": kind, **rest}) for kind in kinds]}


def _fits(schema: Any, *, root: bool = True) -> bool:
    """Whether a server can hold a model to it: closed objects, known types, no ring of references.

    A free map (an object without named properties) cannot be held to; the answer to it is checked
    here all the same.
    """
    if not isinstance(schema, dict) or schema.get("type") not in _KINDS:
        return False
    inner = [*schema.get("$defs", {}).values()]
    if root and (not _few([schema]) or _ringed(schema.get("$defs", {}))):
        return False
    if "$ref" in schema:
        return all(_fits(one, root=False) for one in inner)
    unions = [one for key in ("anyOf", "oneOf", "allOf") for one in schema.get(key, ())]
    inner += unions
    kind = schema.get("type")
    if kind == "object":
        if "properties" not in schema or schema.get("additionalProperties", False) is not False:
            return False
        inner += schema["properties"].values()
    elif kind == "array":
        if "items" not in schema:
            return False
        inner.append(schema["items"])
    elif kind is None and not unions and not schema.get("enum") and "const" not in schema:
        return False
    return all(_fits(one, root=False) for one in inner)


def _few(schemas: list[Any]) -> bool:
    """Whether they stay within what the server compiles in one request."""
    optional = unions = 0
    for node in (node for schema in schemas for node in _nodes(schema)):
        unions += "anyOf" in node or "oneOf" in node
        if node.get("type") == "object" and isinstance(node.get("properties"), dict):
            optional += len(set(node["properties"]) - set(node.get("required", ())))
    return optional <= STRICT_OPTIONAL and unions <= STRICT_UNIONS


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _nodes(inner)


def _ringed(definitions: Mapping[str, Any]) -> bool:
    refers = {
        name: {
            node["$ref"].rsplit("/", 1)[-1]
            for node in _nodes(schema)
            if isinstance(node.get("$ref"), str)
        }
        for name, schema in definitions.items()
    }

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        todo = set(refers.get(name, ()))
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo |= refers.get(one, set())
        return seen

    return any(name in reached(name) for name in refers)
