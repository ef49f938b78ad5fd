"""Every chat keeps the port's promises: the scripted one, and the real SDK on the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from fixtures.messages import KEY, Function, MessagesServer, text, tool_use
from webagent.chats.claude import ClaudeChat
from webagent.chats.kept import KeptChat
from webagent.chats.scripted import ScriptedChat
from webagent.core.chat import (
    ModelSpec,
    Question,
    Reply,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from webagent.core.errors import ModelError
from webagent.ports import Chat

SCHEMA = {
    "type": "object",
    "properties": {"price": {"type": "number", "minimum": 0}, "shop": {"type": "string"}},
    "required": ["price"],
    "additionalProperties": False,
}
FREE = {"type": "object", "additionalProperties": {"type": "number"}}
CLICK = Tool(
    name="click",
    about="Click what has this ref.",
    schema_={"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]},
)


def asked(**more: Any) -> Question:
    turns = (Turn(role="user", texts=(Text(text="What does it cost?"),)),)
    return Question(role="planner", system=(Text(text="You read prices."),), turns=turns, **more)


@dataclass
class Rig:
    """A chat whose next answers are given as they would be by a model."""

    kind: str
    server: MessagesServer | None = None
    answers: list[Reply] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)

    def chat(self, *answers: Reply) -> Chat:
        self.answers = list(answers)
        if self.server is None:
            scripted = ScriptedChat(answers)
            return KeptChat(scripted, self.kept.append) if self.kind == "kept" else scripted
        return ClaudeChat(
            {"planner": ModelSpec(model="claude-test")}, api_key=KEY, base_url=self.server.base_url
        )

    def blocks(self, _request: Any) -> list[dict[str, Any]]:
        answer = self.answers.pop(0)
        said = [text(answer.text)] if answer.text else []
        return said + [tool_use(call.name, call.input) for call in answer.calls]


@pytest.fixture(params=["scripted", "kept", "claude"])
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    made = Rig(request.param)
    if made.kind != "claude":
        yield made
        return
    with MessagesServer(Function(made.blocks)) as made.server:
        yield made


def said(words: str) -> Reply:
    return Reply(model="claude-test", text=words)


def used(name: str, **given: Any) -> Reply:
    return Reply(model="claude-test", calls=(ToolCall(id="t1", name=name, input=given),))


async def test_words_come_back_with_what_they_cost(rig: Rig):
    reply = await rig.chat(said("4.20 euros")).ask(asked())

    assert (reply.text, reply.stop, reply.data, reply.calls) == ("4.20 euros", "end", None, ())
    assert reply.usage.tokens_in > 0
    assert reply.usage.tokens_out > 0


async def test_json_of_the_schema_comes_back_parsed(rig: Rig):
    reply = await rig.chat(said('{"price": 4.2}')).ask(asked(schema_=SCHEMA))

    assert reply.data == {"price": 4.2}


async def test_a_free_map_is_asked_for_in_words_and_checked_all_the_same(rig: Rig):
    good = await rig.chat(said('{"a": 1}')).ask(asked(schema_=FREE))
    assert good.data == {"a": 1}

    with pytest.raises(ModelError, match="not of the schema") as caught:
        await rig.chat(said('{"a": "one"}')).ask(asked(schema_=FREE))
    assert caught.value.fault == "malformed"


async def test_a_bound_that_no_server_holds_to_is_checked_here(rig: Rig):
    with pytest.raises(ModelError, match="less than the minimum") as caught:
        await rig.chat(said('{"price": -1}')).ask(asked(schema_=SCHEMA))

    assert caught.value.fault == "malformed"
    assert caught.value.usage is not None


async def test_a_tool_is_used_with_its_input(rig: Rig):
    reply = await rig.chat(used("click", ref="e7")).ask(asked(tools=(CLICK,), must_use=True))

    assert reply.stop == "tool_use"
    assert [(call.name, call.input) for call in reply.calls] == [("click", {"ref": "e7"})]


async def test_words_are_an_answer_where_no_tool_has_to_be_used(rig: Rig):
    reply = await rig.chat(said("No.")).ask(asked(tools=(CLICK,)))

    assert (reply.text, reply.calls) == ("No.", ())


async def test_what_went_before_is_told_with_its_calls_and_results(rig: Rig):
    question = asked(tools=(CLICK,))
    call = ToolCall(id="t9", name="click", input={"ref": "e1"})
    talk = (
        *question.turns,
        Turn(role="assistant", texts=(Text(text="I look."),), calls=(call,)),
        Turn(
            role="user",
            texts=(Text(text=""), Text(text="Go on.")),
            results=(ToolResult(id="t9", text="no such ref \ud83d", error=True),),
        ),
    )

    reply = await rig.chat(used("click", ref="e2")).ask(question.model_copy(update={"turns": talk}))

    assert reply.calls[0].input == {"ref": "e2"}


@pytest.mark.parametrize(
    "answer, question, told",
    [
        (said("4.20"), {"tools": (CLICK,), "must_use": True}, "uses none of the tools"),
        (used("press", key="F5"), {"tools": (CLICK,)}, "no tool 'press'; there is: click"),
        (said("  "), {}, "is empty"),
    ],
)
async def test_what_is_not_an_answer_says_so(
    rig: Rig, answer: Reply, question: dict[str, Any], told: str
):
    with pytest.raises(ModelError, match=told) as caught:
        await rig.chat(answer).ask(asked(**question))

    assert caught.value.fault == "malformed"


@pytest.mark.parametrize("more", [{}, {"schema_": SCHEMA}, {"tools": (CLICK,)}])
async def test_counting_grows_with_the_question(rig: Rig, more: dict[str, Any]):
    chat = rig.chat()
    question = asked(**more)
    longer = question.model_copy(update={"system": (Text(text="You read prices. " * 50),)})

    assert 0 < await chat.count(question) < await chat.count(longer)


async def test_a_counted_question_costs_no_more_than_was_counted(rig: Rig):
    chat = rig.chat(said('{"price": 1}'))
    question = asked(schema_=SCHEMA)

    assert (await chat.ask(question)).usage.sent <= await chat.count(question)


async def test_a_script_may_answer_by_the_question():
    chat = ScriptedChat(lambda question: said(question.role))

    assert (await chat.ask(asked())).text == "planner"


async def test_a_script_that_is_used_up_fails_who_asked():
    chat = ScriptedChat([ModelError("no", fault="refused")])
    with pytest.raises(ModelError):
        await chat.ask(asked())

    with pytest.raises(AssertionError, match="no answer is left for question 2 of the planner"):
        await chat.ask(asked())
    assert chat.questions == [asked(), asked()]
