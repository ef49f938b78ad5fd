"""A plan from a request in words: bought once, before anything runs.

The model answers with data; what it says becomes a recipe's text and is proven as any recipe is.
What does not pass goes back with the errors at most twice. The planner knows no YAML: whoever calls
gives what writes a draft down and what proves it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from webagent.core.chat import ModelSpec, Question, Text, Turn, Usage
from webagent.core.draft import (
    LONGEST_REQUEST,
    Draft,
    Drafted,
    DraftRequest,
    OutputType,
    named_origins,
    refusals,
)
from webagent.core.errors import BadInput, DraftFailed, ModelError, ModelUnavailable, Problem
from webagent.core.plan import InputType, StepKind
from webagent.core.telling import page_text, value_text
from webagent.ports import Chat

# How often a draft that does not pass goes back.
CORRECTIONS = 2
_MOST_TOLD = 30
_LONGEST_ANSWER = 40_000

Writer = Callable[[Drafted], str]
Prover = Callable[[str], Sequence[Problem]]

_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_COUNT: dict[str, Any] = {"type": "integer"}


def _enum(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _object(required: Sequence[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_TYPE = _enum(*get_args(OutputType))
_FIELD = _object(("name", "type"), name=_TEXT, type=_TYPE)
_OUTPUT = _object(
    ("name", "type", "fields", "min"), name=_TEXT, type=_TYPE, fields=_list(_FIELD), min=_COUNT
)
_STEP = _object(
    ("name", "do", "goal", "why", "expect"),
    name=_TEXT, do=_enum(*get_args(StepKind)), goal=_TEXT, why=_TEXT, start=_TEXT, origins=_TEXTS,
    needs=_TEXTS, when=_TEXT, continues=_TEXT, session=_TEXT, for_each=_TEXT, key=_TEXT,
    allow_failed=_TEXT,
    effect=_enum("none", "repeatable", "once"), once_name=_TEXT, once_key=_TEXT,
    before_commit=_TEXTS, expect=_TEXTS, outputs=_list(_OUTPUT), seconds=_COUNT, pages=_COUNT,
    question=_TEXT, options=_TEXTS, where=_TEXT, order=_TEXTS, take=_COUNT, **{"from": _TEXT},
)  # fmt: skip
SCHEMA = _object(
    ("errand", "inputs", "secrets", "steps"),
    errand=_TEXT,
    inputs=_list(
        _object(
            ("name", "type", "value", "file", "help"),
            name=_TEXT,
            type=_enum(*get_args(InputType)),
            value=_TEXT,
            file=_TEXT,
            help=_TEXT,
        )
    ),
    secrets=_list(_object(("name", "env", "origin"), name=_TEXT, env=_TEXT, origin=_TEXT)),
    steps=_list(_STEP),
)


def prompt() -> str:
    """What a drafting model is told first, the same for every request."""
    folder = Path(__file__).parent.with_name("prompts")
    return folder.joinpath("draft.md").read_text("utf-8")


def question(request: DraftRequest) -> Question:
    """What a model is asked: the fixed part, then pages as data, then the request."""
    told = [page_text(page.url, page.title, page.outline) for page in request.pages]
    lines = []
    if named := named_origins(request):
        lines.append("Sites that the person named: " + ", ".join(sorted(named)))
    if request.urls:
        lines.append("Start addresses: " + ", ".join(request.urls))
    if request.inputs:
        lines.append("Inputs given along:")
        lines += [f"- {name}: {value_text(v)}" for name, v in sorted(request.inputs.items())]
    lines.append(f"The request: {request.words}")
    texts = [Text(text=text) for text in (*told, "\n".join(lines))]
    return Question(
        role="planner",
        system=(Text(text=prompt(), cached=True),),
        turns=(Turn(role="user", texts=tuple(texts)),),
        schema_=SCHEMA,
    )


async def draft(
    request: DraftRequest, chat: Chat, written: Writer, proven: Prover, spec: ModelSpec
) -> Draft:
    """A recipe that passes.

    ``written`` makes a recipe's text of an answer, ``proven`` tells what is wrong in it.
    ``spec``: the planner's model; its budget holds for all calls together.

    Raises:
        BadInput: there is no request in it. ModelUnavailable: nobody there to ask.
        DraftFailed: the answers did not pass, the model declined, or its budget is used up.
    """
    if not request.words.strip() or len(request.words) > LONGEST_REQUEST:
        raise BadInput(
            f"A request has up to {LONGEST_REQUEST} characters, and says something.",
            hint="Such as: read the titles of the books on https://books.toscrape.com",
        )
    asked = question(request)
    work = _Work(request, written, proven)
    meter = _Meter(spec)
    for left in reversed(range(CORRECTIONS + 1)):
        await meter.check(chat, asked, work)
        answer = await _answered(chat, asked, work, meter)
        if work.read(answer):
            return Draft(
                recipe_id=request.recipe_id, text=work.text, spec=spec, calls=meter.calls,
                usage=meter.usage,
            )  # fmt: skip
        if left:
            asked = _corrected(question(request), answer, work.problems)
    tries = CORRECTIONS + 1
    raise work.failed(f"The model's plan does not pass after {tries} tries", meter)


async def _answered(chat: Chat, asked: Question, work: _Work, meter: _Meter) -> Any:
    """The data of an answer; None (with its problem noted) when it is not what was asked for."""
    try:
        reply = await chat.ask(asked)
    except ModelUnavailable:
        raise
    except ModelError as error:
        meter.add(error.usage)
        if error.fault == "malformed":
            work.problems = (Problem(error.message, code="malformed"),)
            return None
        raise work.failed(f"No plan: {error.message}", meter, error.hint) from error
    meter.add(reply.usage)
    return reply.data


class _Work:
    """The newest answer: its text as a recipe, and what is wrong with it."""

    def __init__(self, request: DraftRequest, written: Writer, proven: Prover) -> None:
        self._request = request
        self._written = written
        self._proven = proven
        self.text = ""
        self.problems: tuple[Problem, ...] = ()

    def read(self, answer: Any) -> bool:
        """Whether an answer passes."""
        if answer is None:
            return False
        try:
            drafted = Drafted.model_validate(answer)
        except ValidationError as error:
            told = error.errors(include_url=False, include_input=False)
            self.problems = tuple(
                Problem(e["msg"], path=".".join(map(str, e["loc"])), code="malformed") for e in told
            )
            return False
        refused = refusals(self._request, drafted)
        self.text = self._written(drafted)
        twice = any("given twice" in problem.message for problem in refused)
        found = refused if twice or not drafted.steps else [*refused, *self._proven(self.text)]
        self.problems = tuple(dict.fromkeys(found))
        return not self.problems

    def failed(self, what: str, meter: _Meter, hint: str = "") -> DraftFailed:
        """The end of it, with what is wrong with the last answer."""
        told = "\n".join(f"  {line}" for line in _told(self.problems))
        return DraftFailed(
            f"{what}{f':{chr(10)}{told}' if told else ''}", problems=self.problems,
            text=self.text, hint=hint, usage=meter.usage,
        )  # fmt: skip


class _Meter:
    """What drafting used so far; the call that would pass the planner's budget is not made."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self.calls = 0
        self.usage = Usage()

    def add(self, usage: object) -> None:
        """Count a call."""
        self.calls += 1
        if isinstance(usage, Usage):
            counted = {n: getattr(self.usage, n) + getattr(usage, n) for n in Usage.model_fields}
            self.usage = Usage(**counted)

    async def check(self, chat: Chat, asked: Question, work: _Work) -> None:
        """Raise DraftFailed if the next call could pass the budget."""
        budget, price = self._spec.budget, self._spec.price
        if budget.calls is not None and self.calls >= budget.calls:
            raise work.failed(f"The planner's budget is {budget.calls} calls", self)
        if budget.tokens is None and budget.money is None:
            return
        worst = Usage(tokens_in=await chat.count(asked), tokens_out=self._spec.max_tokens)
        tokens = self.usage.sent + self.usage.tokens_out + worst.sent + worst.tokens_out
        if budget.tokens is not None and tokens > budget.tokens:
            raise work.failed(
                f"The planner's budget is {budget.tokens} tokens; with the next call it could be "
                f"{tokens}", self,
            )  # fmt: skip
        money = self.usage.money(price) + worst.money(price)
        if budget.money is not None and money > budget.money:
            raise work.failed(
                f"The planner's budget is {budget.money:g}; with the next call it could be "
                f"{money:.4f}", self,
            )  # fmt: skip


def _told(problems: Sequence[Problem]) -> list[str]:
    lines = []
    for problem in problems[:_MOST_TOLD]:
        where = f"{problem.path}: " if problem.path else ""
        hint = f" ({problem.hint})" if problem.hint else ""
        lines.append(f"{where}{problem.message}{hint}")
    if len(problems) > _MOST_TOLD:
        lines.append(f"… and {len(problems) - _MOST_TOLD} more")
    return lines


def _corrected(asked: Question, answer: Any, problems: Sequence[Problem]) -> Question:
    """The question once more, with the answer before and what is wrong with it."""
    said = "" if answer is None else json.dumps(answer, ensure_ascii=False)[:_LONGEST_ANSWER]
    wrong = "\n".join(f"- {line}" for line in _told(problems))
    before = f"You answered:\n{said}\n" if said else ""
    turn = asked.turns[0]
    more = Text(text=f"{before}That does not pass:\n{wrong}\nAnswer with the whole plan again.")
    again = turn.model_copy(update={"texts": (*turn.texts, more)})
    return asked.model_copy(update={"turns": (again,)})
