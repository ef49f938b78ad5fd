"""Each thing that can go wrong between a question and its answer ends in its own fault."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from fixtures.messages import KEY, FaultKind, MessagesServer, Smallest
from webagent.chats.claude import ClaudeChat
from webagent.chats.messages import request, upper_estimate
from webagent.core.chat import ModelSpec, Question, Role, Text, Tool, Turn, Usage
from webagent.core.errors import ModelError, ModelUnavailable

SCHEMA = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
WORDS = Question(role="executor", turns=(Turn(role="user", texts=(Text(text="Hello"),)),))
DATA = WORDS.model_copy(update={"schema_": SCHEMA})
TOOLS = WORDS.model_copy(
    update={"tools": (Tool(name="click", about="Click.", schema_=SCHEMA),), "must_use": True}
)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(Smallest()) as made:
        yield made


def chat(server: MessagesServer, *, key: str | None = KEY, retries: int = 1, **spec: Any):
    specs: dict[Role, ModelSpec] = {"executor": ModelSpec(model="claude-test", **spec)}
    return ClaudeChat(specs, api_key=key, base_url=server.base_url, retries=retries)


# The fault, the question, what it ends in, and whether the server told what it cost.
FAULTS: list[tuple[FaultKind, Question, str, bool]] = [
    ("rate_limited", WORDS, "overloaded", False),
    ("overloaded", WORDS, "overloaded", False),
    ("broken", WORDS, "overloaded", False),
    ("rejected", WORDS, "rejected", False),
    ("forbidden", WORDS, "rejected", False),
    ("unknown_model", WORDS, "rejected", False),
    ("too_large", WORDS, "rejected", False),
    ("echoing_key", WORDS, "rejected", False),
    ("refusal", WORDS, "refused", True),
    ("truncated", WORDS, "truncated", True),
    ("truncated", DATA, "truncated", True),
    ("truncated", TOOLS, "truncated", True),
    ("context_full", WORDS, "truncated", True),
    ("malformed", DATA, "malformed", True),
    ("wrong_schema", DATA, "malformed", True),
    ("empty", DATA, "malformed", True),
    ("empty", WORDS, "malformed", True),
    ("empty", TOOLS, "malformed", True),
    ("unknown_tool", TOOLS, "malformed", True),
    ("wrong_input", TOOLS, "malformed", True),
    ("no_tool", TOOLS, "malformed", True),
    ("two_tools", TOOLS, "malformed", True),
    ("not_json", WORDS, "malformed", False),
    ("no_message", WORDS, "malformed", True),
    ("cut", WORDS, "unreachable", False),
    ("cut_midway", WORDS, "unreachable", False),
]


@pytest.mark.parametrize("kind, question, fault, usage", FAULTS)
async def test_a_fault_has_its_name_and_tells_what_it_cost(
    server: MessagesServer, kind: FaultKind, question: Question, fault: str, usage: bool
):
    server.fault(kind, times=2, retry_after=0.01)

    with pytest.raises(ModelError) as caught:
        await chat(server).ask(question)

    assert caught.value.fault == fault
    assert isinstance(caught.value.usage, Usage) is usage
    assert "executor" in caught.value.message
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", ["rate_limited", "overloaded", "broken", "cut", "cut_midway"])
async def test_what_passes_is_tried_again(server: MessagesServer, kind: FaultKind):
    server.fault(kind, retry_after=0.01)

    assert (await chat(server).ask(WORDS)).text == "OK"
    assert len(server.requests) == 2


@pytest.mark.parametrize("kind", ["rejected", "refusal", "malformed", "truncated"])
async def test_what_does_not_pass_is_not_tried_again(server: MessagesServer, kind: FaultKind):
    server.fault(kind)

    with pytest.raises(ModelError):
        await chat(server, retries=5).ask(DATA)
    assert len(server.requests) == 1


async def test_it_comes_again_when_the_server_says(server: MessagesServer):
    server.fault("rate_limited", retry_after=0.3)
    began = time.monotonic()

    await chat(server).ask(WORDS)

    assert time.monotonic() - began >= 0.3


async def test_a_slow_answer_is_waited_for_no_longer_than_allowed(server: MessagesServer):
    server.fault("slow", seconds=5)
    began = time.monotonic()

    with pytest.raises(ModelError, match=r"gave no answer within 0\.3 s") as caught:
        await chat(server, seconds=0.3).ask(WORDS)

    assert caught.value.fault == "timeout"
    assert time.monotonic() - began < 3


async def test_retries_end_with_the_seconds_and_are_told_as_overload(server: MessagesServer):
    server.fault("overloaded", times=9, retry_after=30)

    with pytest.raises(ModelError, match=r"overloaded: status 529 for 0\.3 s") as caught:
        await chat(server, seconds=0.3, retries=9).ask(WORDS)
    assert caught.value.fault == "overloaded"


async def test_a_wrong_key_is_rejected_and_not_shown(server: MessagesServer):
    mine = chat(server, key="sk-mine-and-wrong")
    server.fault("echoing_key")
    server._key = None

    with pytest.raises(ModelError, match="does not accept the key") as caught:
        await mine.ask(WORDS)

    assert "[secret]" in caught.value.message
    for shown in (str(caught.value), repr(caught.value), repr(mine)):
        assert "sk-mine-and-wrong" not in shown


async def test_a_token_goes_as_bearer(server: MessagesServer):
    specs: dict[Role, ModelSpec] = {"executor": ModelSpec(model="claude-test")}
    mine = ClaudeChat(specs, auth_token=KEY, base_url=server.base_url)

    assert (await mine.ask(WORDS)).text == "OK"


async def test_without_a_key_it_says_what_still_works(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-that-lies-about")
    mine = ClaudeChat({"executor": ModelSpec(model="claude-test")})

    with pytest.raises(ModelUnavailable, match="no key for the executor's model") as caught:
        await mine.ask(WORDS)

    assert caught.value.fault == "no_key"
    assert "ANTHROPIC_API_KEY" in caught.value.hint
    assert "local planner" in caught.value.hint


async def test_a_named_server_may_need_no_key():
    with MessagesServer(Smallest(), key=None) as server:
        assert (await chat(server, key=None).ask(WORDS)).text == "OK"


async def test_a_role_without_a_model_cannot_be_asked(server: MessagesServer):
    with pytest.raises(ModelUnavailable, match="No model is named for the reader"):
        await chat(server).ask(WORDS.model_copy(update={"role": "reader"}))


async def test_a_server_that_is_not_there_is_unreachable(server: MessagesServer):
    mine = chat(server, retries=0)
    server.stop()

    with pytest.raises(ModelUnavailable, match="No connection to") as caught:
        await mine.ask(WORDS)
    assert caught.value.fault == "unreachable"


async def test_the_sdk_reads_neither_key_nor_server_from_the_environment(
    server: MessagesServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "wrong")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "wrong")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")

    assert (await chat(server).ask(WORDS)).text == "OK"


async def test_a_model_that_cannot_be_forced_is_asked_once_and_then_left_to_choose():
    with MessagesServer(Smallest(), forces=False) as server:
        mine = chat(server)
        for _ in range(2):
            assert (await mine.ask(TOOLS)).calls[0].name == "click"

    assert [asked.body["tool_choice"]["type"] for asked in server.requests] == [
        "any", "auto", "auto",
    ]  # fmt: skip


async def test_a_server_that_does_not_count_is_asked_once_and_overestimated():
    with MessagesServer(Smallest(), counts=False) as server:
        mine = chat(server)
        first, second = await mine.count(DATA), await mine.count(DATA)
        used = (await mine.ask(DATA)).usage

    assert first == second > used.sent


async def test_counting_without_a_key_needs_no_server():
    mine = ClaudeChat({"executor": ModelSpec(model="claude-test")})
    made = request(WORDS, ModelSpec(model="claude-test"), dict)

    assert await mine.count(WORDS) == upper_estimate(made)


async def test_what_is_said_again_is_read_from_the_cache(server: MessagesServer):
    rules = Text(text="Be careful. " * 500, cached=True)
    question = WORDS.model_copy(update={"system": (rules,)})
    mine = chat(server)

    first, second = (await mine.ask(question)).usage, (await mine.ask(question)).usage

    assert first.cache_read == second.cache_write == 0
    assert first.cache_write == second.cache_read > 1024
    assert first.sent == second.sent
