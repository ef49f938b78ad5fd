"""The JSON Schema of recipes, for editors: made of the same grammar tables that the parser reads.

It is a help while typing, so it is a little wider than the parser: what needs more than one place
to judge (names, graphs, a template's syntax) is told by `check`.
"""

from __future__ import annotations

from typing import Any

from webagent.formats.expectation_grammar import expectation_definition
from webagent.formats.read_grammar import field_definition
from webagent.formats.recipe_grammar import FORMAT, RECIPE
from webagent.formats.scalars import target_definition
from webagent.formats.segment_grammar import SEGMENT, action_definition
from webagent.formats.step_grammar import StepShape

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def recipe_json_schema() -> dict[str, Any]:
    """The schema, draft 2020-12."""
    schema = RECIPE.schema()
    schema["properties"]["steps"]["additionalProperties"] = {"$ref": "#/$defs/step"}
    return {
        "$schema": DRAFT,
        "title": f"A webagent recipe, format {FORMAT}",
        **schema,
        "$defs": {
            "step": StepShape().schema(),
            "segment": SEGMENT.schema(),
            "action": action_definition(),
            "field": field_definition(),
            "expectation": expectation_definition(),
            "target": target_definition(),
        },
    }
