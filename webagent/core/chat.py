"""What is asked of a model and what it answers, whoever the model is.

A chat is stateless: each question carries all that the model is told. What a step's model
knows is what stands in its brief: no history grows behind it. Texts are laid out with what stays
the same first; ``cached`` marks where a common beginning ends.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from webagent.core.base import Frozen, Json
from webagent.core.limits import Budget

Role: TypeAlias = Literal["planner", "executor", "reader"]
ROLES: tuple[Role, ...] = ("planner", "executor", "reader")
Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
# What a call may be told not to pass where nobody said more.
MAX_TOKENS = 4096
# For what a person asks of a model without naming one (`plan "…"`, `doctor --model`); never for a
# run, which asks only models that are named.
DEFAULT_MODEL = "claude-sonnet-5-5"


class Price(Frozen):
    """Money for a million tokens of each kind, in whatever currency the budget counts.

    ``cache_read`` and ``cache_write``: None takes the published ratios, 0.1 and 1.25 of ``input``.
    """

    input: float = 0.0
    output: float = 0.0
    cache_read: float | None = None
    cache_write: float | None = None

    @property
    def known(self) -> bool:
        """Whether money can be counted with it."""
        return self.input > 0 or self.output > 0


class ModelSpec(Frozen):
    """Which model works in a role, and what it may cost.

    ``seconds``: how long one call may take, retries included. ``budget``: of this role over a whole
    run (tokens, money, calls as attempts, seconds).
    """

    model: str
    max_tokens: int = MAX_TOKENS
    effort: Effort | None = None
    seconds: float = 120.0
    price: Price = Price()
    budget: Budget = Budget()


class Models(Frozen):
    """Which model works in which role; None: this level names none. ``off``: none may work."""

    planner: ModelSpec | None = None
    executor: ModelSpec | None = None
    reader: ModelSpec | None = None
    off: bool = False

    @classmethod
    def all(cls, spec: ModelSpec) -> Models:
        """One model in all roles."""
        return cls(planner=spec, executor=spec, reader=spec)

    @property
    def named(self) -> dict[Role, ModelSpec]:
        """The roles that have a model."""
        if self.off:
            return {}
        found = {role: getattr(self, role) for role in ROLES}
        return {role: spec for role, spec in found.items() if spec is not None}

    def over(self, below: Models) -> Models:
        """What holds when this goes before another, role by role; off in either is off."""
        if self.off or below.off:
            return Models(off=True)
        return Models(
            planner=self.planner or below.planner,
            executor=self.executor or below.executor,
            reader=self.reader or below.reader,
        )


class Usage(Frozen):
    """Tokens of one call. ``tokens_in`` were neither read from nor written to the cache."""

    tokens_in: int = 0
    tokens_out: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def sent(self) -> int:
        """All tokens of the prompt, cached or not."""
        return self.tokens_in + self.cache_read + self.cache_write

    def money(self, price: Price) -> float:
        """What the call cost by a price table."""
        read = price.cache_read if price.cache_read is not None else 0.1 * price.input
        write = price.cache_write if price.cache_write is not None else 1.25 * price.input
        whole = self.tokens_in * price.input + self.tokens_out * price.output
        return (whole + self.cache_read * read + self.cache_write * write) / 1_000_000


class Text(Frozen):
    """A piece of a prompt; ``cached``: everything up to its end is worth keeping in the cache."""

    text: str
    cached: bool = False


class Tool(Frozen):
    """Something that a model may do; ``schema_`` is the JSON Schema of its input (an object)."""

    name: str
    about: str
    schema_: dict[str, Json] = Field(alias="schema")


class ToolCall(Frozen):
    """A tool that the model wants used."""

    id: str
    name: str
    input: dict[str, Json] = {}


class ToolResult(Frozen):
    """What using a tool gave."""

    id: str
    text: str
    error: bool = False


class Turn(Frozen):
    """One turn of a talk: what we said (texts, tool results), or the model (text, tool calls)."""

    role: Literal["user", "assistant"]
    texts: tuple[Text, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


class Question(Frozen):
    """One call of a model.

    ``schema_``: the answer has to be JSON of this schema (then ``tools`` is empty). ``tools``: the
    model may (with ``must_use``: has to) answer by using one of them.
    """

    role: Role
    system: tuple[Text, ...] = ()
    turns: tuple[Turn, ...]
    schema_: dict[str, Json] | None = Field(default=None, alias="schema")
    tools: tuple[Tool, ...] = ()
    must_use: bool = False


StopReason: TypeAlias = Literal["end", "tool_use"]


class Reply(Frozen):
    """What a model answered. ``data``: the parsed JSON where a schema was asked for."""

    model: str
    text: str = ""
    data: Json = None
    calls: tuple[ToolCall, ...] = ()
    stop: StopReason = "end"
    usage: Usage = Usage()
    seconds: float = 0.0
    id: str = ""


ChatFault: TypeAlias = Literal[
    "no_key",        # nothing to sign in with
    "rejected",      # the request is not accepted as it stands (400, 401, 403, 404, 413)
    "refused",       # the model declined to answer
    "truncated",     # the answer stopped at max_tokens
    "malformed",     # the answer is not what was asked for (JSON, schema, an unknown tool)
    "overloaded",    # 429, 5xx or 529 to the last try
    "timeout",       # no answer in time
    "unreachable",   # no connection to the server
]  # fmt: skip


def question_text(question: Question) -> str:
    """All that a model is told, as one text: for counting, for tests, for a person."""
    parts = [t.text for t in question.system]
    for turn in question.turns:
        parts += [t.text for t in turn.texts]
        parts += [r.text for r in turn.results]
    return "\n".join(parts)


def call_record(
    question: Question, reply: Reply | None, fault: str = "", message: str = ""
) -> dict[str, Json]:
    """One whole call as it is kept: enough to answer the same question again without a model."""
    return {
        "role": question.role,
        "question": question.model_dump(mode="json", by_alias=True),
        "reply": None if reply is None else reply.model_dump(mode="json"),
        "fault": fault,
        "message": message,
    }
