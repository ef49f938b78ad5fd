"""A chat whose every call is kept: what was asked, what was answered, why not."""

from __future__ import annotations

from collections.abc import Callable

from webagent.core.base import Json
from webagent.core.chat import Question, Reply, call_record
from webagent.core.errors import ModelError
from webagent.ports import Chat


class KeptChat:
    """`ports.Chat` over another; ``keep`` is given each call when it is over."""

    def __init__(self, chat: Chat, keep: Callable[[dict[str, Json]], None]) -> None:
        self._chat = chat
        self._keep = keep

    async def ask(self, question: Question) -> Reply:
        """One call. Raises what the other raises."""
        try:
            reply = await self._chat.ask(question)
        except ModelError as error:
            self._keep(call_record(question, None, error.fault, error.message))
            raise
        self._keep(call_record(question, reply))
        return reply

    async def count(self, question: Question) -> int:
        """How many tokens the question has."""
        return await self._chat.count(question)
