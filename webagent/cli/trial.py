"""What `doctor --model` does: one small question to each model that the settings name."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from webagent import wiring
from webagent.cli.health import Check, by_model
from webagent.core.chat import DEFAULT_MODEL, ModelSpec, Question, Role, Text, Tool, Turn, Usage
from webagent.core.errors import BadInput, ModelError
from webagent.ports import Chat
from webagent.settings import Settings

_WORD = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
_ASKED = (Turn(role="user", texts=(Text(text="Answer with the word: ready."),)),)


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of asking a model. ``money`` is None where its price is not known."""

    model: str
    roles: tuple[Role, ...]
    ok: bool
    told: str
    hint: str = ""
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    money: float | None = None

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        return asdict(self) | {"usage": self.usage.model_dump()}

    @property
    def check(self) -> Check:
        """As a line of `doctor`."""
        return Check(f"{', '.join(self.roles)}", self.ok, f"{self.model} {self.told}", self.hint)


async def ask_each(settings: Settings) -> list[Tried]:
    """Ask each distinct model once; `DEFAULT_MODEL` in roles that have none.

    Raises:
        BadInput: the settings of models are wrong, or models are switched off.
    """
    specs = wiring.model_specs(settings, default=True)
    chat = wiring.make_chat(settings, default=True)
    if chat is None:
        raise BadInput("Models are switched off (none).", hint=f"Name one, as {DEFAULT_MODEL}.")
    meant = wiring.model_specs(settings)
    return [
        await _ask(chat, spec, roles, default=not any(role in meant for role in roles))
        for spec, roles in by_model(specs)
    ]


async def _ask(chat: Chat, spec: ModelSpec, roles: tuple[Role, ...], *, default: bool) -> Tried:
    """By a tool where the model will use tools, else by a schema: as its roles will ask it."""
    role: Role = "executor" if "executor" in roles else roles[0]
    question = Question(role=role, turns=_ASKED)
    if role == "executor":
        tool = Tool(name="say", about="Say one word.", schema_=_WORD)
        question = question.model_copy(update={"tools": (tool,), "must_use": True})
    else:
        question = question.model_copy(update={"schema_": _WORD})
    try:
        reply = await chat.ask(question)
    except ModelError as error:
        usage = error.usage if isinstance(error.usage, Usage) else Usage()
        return Tried(
            spec.model, roles, False, f"does not work. {error.message}", error.hint, usage=usage
        )
    noted = " (nobody named it: it is the default)" if default else ""
    money = reply.usage.money(spec.price) if spec.price.known else None
    cost = "no price is given" if money is None else f"cost {money:.6f}"
    told = (
        f"answered in {reply.seconds:.1f} s, "
        f"{reply.usage.sent} tokens sent, {reply.usage.tokens_out} received, {cost}{noted}"
    )
    return Tried(
        spec.model, roles, True, told, seconds=round(reply.seconds, 3), usage=reply.usage,
        money=money,
    )  # fmt: skip
