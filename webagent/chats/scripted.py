"""A model whose answers are given beforehand: for tests, benches and trying a plan without one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

from webagent.chats.answers import checked
from webagent.core.chat import Question, Reply, Usage, question_text
from webagent.core.errors import ModelError

Answer: TypeAlias = Reply | ModelError


class ScriptedChat:
    """The port `Chat` over a list of answers, or a function that makes one of each question.

    Every question is kept in ``questions``, in the order of asking. An answer is held against its
    question as a real one is: a wrong one raises ``malformed``. A reply without usage gets one by
    `count`'s rule, so that budgets have something to count. When the answers are used up, asking
    again fails the test that did it: AssertionError.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[Question], Answer]) -> None:
        self.questions: list[Question] = []
        if callable(answers):
            self._answer = answers
        else:
            left = iter(answers)
            self._answer = lambda _question: next(left)

    async def ask(self, question: Question) -> Reply:
        """The next answer. Raises ModelError when that is what was scripted, or it does not fit."""
        self.questions.append(question)
        try:
            answer = self._answer(question)
        except StopIteration:
            msg = f"no answer is left for question {len(self.questions)} of the {question.role}"
            raise AssertionError(msg) from None
        if isinstance(answer, ModelError):
            raise answer
        if answer.usage == Usage():
            answered = answer.text + "".join(json.dumps(call.input) for call in answer.calls)
            usage = Usage(tokens_in=_tokens(_all_of(question)), tokens_out=_tokens(answered))
            answer = answer.model_copy(update={"usage": usage})
        return checked(question, answer)

    async def count(self, question: Question) -> int:
        """A token for each four characters of all texts, tools and schemas, rounded up."""
        return _tokens(_all_of(question))


def _all_of(question: Question) -> str:
    parts = [question_text(question)]
    parts += [json.dumps(call.input) for turn in question.turns for call in turn.calls]
    parts += [f"{tool.name} {tool.about} {json.dumps(tool.schema_)}" for tool in question.tools]
    if question.schema_ is not None:
        parts.append(json.dumps(question.schema_))
    return "\n".join(parts)


def _tokens(text: str) -> int:
    return math.ceil(len(text) / 4)
