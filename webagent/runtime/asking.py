"""Asking a model within a run: what it costs is limited, journaled and kept.

Adapters are given a `Chat` that is bound to one node. Before a call it is counted, and the call
that could pass a limit is not made; afterwards its cost is an event and the whole call, redacted, a
file of the run, so that a replay needs no model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from webagent.core import event as ev
from webagent.core.base import Json
from webagent.core.chat import ModelSpec, Question, Reply, Role, Usage, call_record
from webagent.core.errors import ModelError
from webagent.core.limits import Budget, LimitKind
from webagent.engine.state import RunState, Spent
from webagent.ports import Chat
from webagent.runtime.context import Deps
from webagent.runtime.journal import Journal


class OverLimitError(Exception):
    """The next call could pass a limit: it was not made. ``hit`` is the event that says so."""

    def __init__(self, hit: ev.LimitHit, role: Role) -> None:
        super().__init__(f"{hit.limit} of the {role}")
        self.hit = hit
        self.role = role


@dataclass(slots=True)
class _Held:
    """What calls under way may still cost."""

    tokens: int = 0
    money: float = 0.0
    calls: int = 0


@dataclass(slots=True)
class Asking:
    """The models of one run. `of` gives the chat that a node's planner or executor is handed."""

    deps: Deps
    journal: Journal
    _held: dict[tuple[str, Role], _Held] = field(default_factory=dict)

    def of(self, node: str) -> Chat:
        """A chat whose calls are the node's."""
        return _NodeChat(self, node)

    @property
    def chat(self) -> Chat:
        """The model's chat; only asked for where a rung says that there is one."""
        if self.deps.chat is None:
            msg = "no model is configured"
            raise ModelError(msg, fault="no_key")
        return self.deps.chat

    def spec(self, role: Role) -> ModelSpec:
        """Which model works in a role."""
        return self.deps.models.get(role) or ModelSpec(model="")

    async def ask(self, node: str, question: Question) -> Reply:
        """One call for a node."""
        question = redacted(question, self.deps.redact_text)
        spec = self.spec(question.role)
        tokens, money = await self._most(node, question, spec)
        held = self._held.setdefault((node, question.role), _Held())
        held.tokens, held.money, held.calls = (
            held.tokens + tokens, held.money + money, held.calls + 1,
        )  # fmt: skip
        began = self.deps.clock.monotonic()
        try:
            reply = await self.chat.ask(question)
        except ModelError as error:
            usage = error.usage if isinstance(error.usage, Usage) else Usage()
            await self._tell(node, question, usage, began, error=error)
            raise
        finally:
            held.tokens, held.money, held.calls = (
                held.tokens - tokens, held.money - money, held.calls - 1,
            )  # fmt: skip
        await self._tell(node, question, reply.usage, began, reply=reply)
        return reply

    async def _most(self, node: str, question: Question, spec: ModelSpec) -> tuple[int, float]:
        """Tokens and money that a call may cost at most. Raises OverLimitError if that is too much.

        To have a question counted is a request of its own: it is made only where a high guess from
        the question's length would pass a limit.
        """
        most = _at_most(_high_guess(question), spec)
        try:
            self._check(node, question.role, *most)
        except OverLimitError as over:
            if over.hit.limit not in ("tokens", "money"):
                raise
            most = _at_most(await self.chat.count(question), spec)
            self._check(node, question.role, *most)
        return most

    def _check(self, node: str, role: Role, tokens: int, money: float) -> None:
        state = self.journal.state
        for place, budget, spent, held in self._limits(state, node, role):
            uses: tuple[tuple[LimitKind, float | None, float], ...] = (
                ("tokens", budget.tokens, spent.tokens + held.tokens + tokens),
                ("money", budget.money, spent.money + held.money + money),
                ("calls", budget.calls, spent.calls + held.calls + 1),
                ("seconds", budget.seconds if place == "role" else None, spent.seconds),
            )
            for kind, allowed, used in uses:
                if allowed is not None and used > allowed:
                    step = node if place == "step" else ""
                    hit = ev.LimitHit(step=step, limit=kind, allowed=allowed, used=round(used, 6))
                    raise OverLimitError(hit, role)

    def _limits(
        self, state: RunState, node: str, role: Role
    ) -> Iterator[tuple[str, Budget, Spent, _Held]]:
        """The budgets that a call counts against, with what is spent and held of each."""
        step = state.the_plan.step(node)
        yield "step", step.budget, state.nodes[node].spent, self._sum(lambda n, _r: n == node)
        role_spent = state.spent.get(role, Spent())
        yield "role", self.spec(role).budget, role_spent, self._sum(lambda _n, r: r == role)
        yield "errand", state.the_plan.budget, _total(state), self._sum(lambda _n, _r: True)

    def _sum(self, counts: Callable[[str, Role], bool]) -> _Held:
        found = [h for (node, role), h in self._held.items() if counts(node, role)]
        return _Held(
            sum(h.tokens for h in found), sum(h.money for h in found), sum(h.calls for h in found)
        )

    async def _tell(
        self,
        node: str,
        question: Question,
        usage: Usage,
        began: float,
        *,
        reply: Reply | None = None,
        error: ModelError | None = None,
    ) -> None:
        spec = self.spec(question.role)
        model = reply.model if reply is not None else spec.model
        seconds = round(self.deps.clock.monotonic() - began, 3)
        fault, message = ("", "") if error is None else (error.fault, error.message)
        record = call_record(question, reply, fault, message)
        kept = {"step": node, "model": model, **record, "usage": usage.model_dump()}
        text = self.deps.redact_text(json.dumps(kept, ensure_ascii=False, indent=1))
        calls = sum(s.calls for s in self.journal.state.spent.values()) + 1
        name = f"call-{calls:04d}-{question.role}.json"
        file = self.deps.artifacts.keep(self.journal.lease.run, name, text.encode())
        await self.journal.append(
            ev.ModelCalled(
                step=node, role=question.role, model=model, tokens_in=usage.tokens_in,
                tokens_out=usage.tokens_out, tokens_cached=usage.cache_read,
                tokens_written=usage.cache_write, money=round(usage.money(spec.price), 8),
                seconds=seconds, fault=fault, file=file,
            )
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _NodeChat:
    """`ports.Chat` bound to one node."""

    asking: Asking
    node: str

    async def ask(self, question: Question) -> Reply:
        """One call, within the budgets. Raises OverLimitError beside what a chat raises."""
        return await self.asking.ask(self.node, question)

    async def count(self, question: Question) -> int:
        """How many tokens the question has."""
        return await self.asking.chat.count(question)


def _total(state: RunState) -> Spent:
    all_of = state.spent.values()
    return Spent(
        sum(s.calls for s in all_of), sum(s.tokens for s in all_of),
        sum(s.money for s in all_of), sum(s.seconds for s in all_of),
    )  # fmt: skip


def _at_most(prompt: int, spec: ModelSpec) -> tuple[int, float]:
    """Tokens and money of a call, if all of its answer is used and all of it has to be cached."""
    ways = (
        Usage(tokens_in=prompt, tokens_out=spec.max_tokens),
        Usage(cache_write=prompt, tokens_out=spec.max_tokens),
    )
    return prompt + spec.max_tokens, max(way.money(spec.price) for way in ways)


def _high_guess(question: Question) -> int:
    """More tokens than the question has: at two bytes each, and what a server adds."""
    return len(question.model_dump_json().encode()) // 2 + 500


def redacted(question: Question, redact: Callable[[str], str]) -> Question:
    """A question in whose texts no secret stands."""
    data = question.model_dump(by_alias=True)
    return Question.model_validate(_clean(data, redact))


def _clean(data: Json, redact: Callable[[str], str]) -> Json:
    if isinstance(data, str):
        return redact(data)
    if isinstance(data, Mapping):
        return {key: _clean(value, redact) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_clean(value, redact) for value in data]
    return data
