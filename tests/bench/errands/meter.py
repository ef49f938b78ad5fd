"""What an agent's calls cost: tokens, price by the published ratios, the longest prompt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from webagent.core.chat import Price, Question, Reply, Role, Usage
from webagent.ports import Chat

MODEL = "simulated"
# In units of one uncached input token: a read from the cache 0.1, a write 1.25, an output token 5.
RATIOS = Price(input=1_000_000.0, output=5_000_000.0, cache_read=100_000.0, cache_write=1_250_000.0)


@dataclass(slots=True)
class Meter:
    """The calls of one run, by role. ``peaks``: the longest prompt of each role, in tokens."""

    calls: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    answered: int = 0
    price: float = 0.0
    peaks: dict[str, int] = field(default_factory=dict)

    def add(self, role: Role, usage: Usage) -> None:
        """One more call."""
        self.calls[role] += 1
        self.sent += usage.sent
        self.answered += usage.tokens_out
        self.price += usage.money(RATIOS)
        self.peaks[role] = max(self.peaks.get(role, 0), usage.sent)


@dataclass(frozen=True, slots=True)
class Metered:
    """A chat whose calls are counted."""

    chat: Chat
    meter: Meter

    async def ask(self, question: Question) -> Reply:
        """One call."""
        reply = await self.chat.ask(question)
        self.meter.add(question.role, reply.usage)
        return reply

    async def count(self, question: Question) -> int:
        """How many tokens the question has."""
        return await self.chat.count(question)
