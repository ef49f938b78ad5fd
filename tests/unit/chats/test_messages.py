"""A question on the wire: what is marked for the cache, and which schemas are held to."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import transform_schema

from fixtures.messages.requests import request_fault
from webagent.chats.messages import request
from webagent.core.chat import ModelSpec, Question, Text, Tool, Turn

SPEC = ModelSpec(model="claude-test", effort="low", max_tokens=77)


def made(schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    turns = (Turn(role="user", texts=(Text(text="Hello"),)),)
    return request(
        Question(**{"turns": turns, **more}, role="reader", schema_=schema), SPEC, strict
    )


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    return transform_schema(schema)


def test_model_limits_and_effort_are_those_of_the_role():
    sent = made()

    assert (sent["model"], sent["max_tokens"]) == ("claude-test", 77)
    assert sent["output_config"] == {"effort": "low"}
    assert "system" not in sent


def test_marks_are_at_most_four_and_the_last_one_is_kept():
    texts = tuple(Text(text=f"part {n}", cached=n != 2) for n in range(8))
    sent = made(system=texts)

    marked = [b["text"] for b in sent["system"] if "cache_control" in b]
    assert marked == ["part 0", "part 1", "part 3", "part 7"]
    assert request_fault(sent) == ""


HELD: list[tuple[str, dict[str, Any], bool]] = [
    ("closed object", {"type": "object", "properties": {"a": {"type": "string"}}}, True),
    ("bounds", {"type": "array", "items": {"type": "integer", "minimum": 3}, "maxItems": 9}, True),
    ("two types", {"type": ["string", "null"]}, True),
    ("two types of words", {"type": ["string", "null"], "enum": ["a", None]}, True),
    ("no input", {"type": "object", "properties": {}}, True),
    ("reference", {"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}, True),
    ("free map", {"type": "object", "additionalProperties": {"type": "string"}}, False),
    ("open object", {"type": "object", "properties": {}, "additionalProperties": True}, False),
    ("anything", {}, False),
    ("list of anything", {"type": "array"}, False),
    (
        "ring",
        {
            "$ref": "#/$defs/a",
            "$defs": {
                "a": {"type": "object", "properties": {"inner": {"$ref": "#/$defs/b"}}},
                "b": {"type": "array", "items": {"$ref": "#/$defs/a"}},
            },
        },
        False,
    ),
    (
        "too many optional keys",
        {"type": "object", "properties": {f"k{n}": {"type": "string"} for n in range(25)}},
        False,
    ),
]


@pytest.mark.parametrize("name, schema, held", HELD)
def test_a_schema_is_held_to_where_a_server_can_and_told_in_words_elsewhere(
    name: str, schema: dict[str, Any], held: bool
):
    sent = made(schema)

    assert ("format" in sent["output_config"]) is held
    assert ("by this JSON Schema" in str(sent.get("system"))) is not held
    assert request_fault(sent) == ""


@pytest.mark.parametrize(
    "name, schema, held", [case for case in HELD if case[1].get("type") == "object"]
)
def test_a_tool_is_strict_where_its_schema_allows_it(name: str, schema: dict[str, Any], held: bool):
    sent = made(tools=(Tool(name="go", about="Go.", schema_=schema),), must_use=True)

    assert sent["tools"][0].get("strict", False) is held
    assert sent["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}
    assert request_fault(sent) == ""
