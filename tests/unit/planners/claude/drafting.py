"""A model that answers by a list, and drafting with it as the program does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from webagent.chats.scripted import ScriptedChat
from webagent.core.chat import Models, ModelSpec, Reply
from webagent.core.compile import compile_plan
from webagent.core.draft import Draft, DraftRequest
from webagent.core.errors import ModelError, Problem, RecipeInvalid
from webagent.formats.recipe_draft import recipe_text
from webagent.formats.recipe_yaml import parse_recipe
from webagent.planners.claude.draft import draft

MODEL = "claude-test"


def said(*answers: Any) -> ScriptedChat:
    """A chat that gives these answers: data as JSON, a text as it is, or an error."""
    return ScriptedChat(
        [
            one
            if isinstance(one, ModelError)
            else Reply(model=MODEL, text=one if isinstance(one, str) else json.dumps(one))
            for one in answers
        ]
    )


def proven(text: str) -> Sequence[Problem]:
    """What `check` says of a recipe's text."""
    try:
        compile_plan(parse_recipe(text, "draft.yaml"), Models())
    except RecipeInvalid as error:
        return error.problems
    return ()


async def drafted(
    words: str, chat: ScriptedChat, *urls: str, spec: ModelSpec | None = None
) -> Draft:
    """Drafting from words."""
    request = DraftRequest(words=words, urls=urls, models=MODEL)
    return await draft(
        request, chat, lambda made: recipe_text(made, request, MODEL), proven,
        spec or ModelSpec(model=MODEL),
    )  # fmt: skip
