"""A model that works a step move by move: what it is told, what it may call, when it is stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from webagent.chats.scripted import ScriptedChat
from webagent.core.action import (
    Action,
    Click,
    Commit,
    FieldRead,
    Fill,
    ListRead,
    Read,
    Select,
    TableRead,
    Wait,
)
from webagent.core.brief import Brief
from webagent.core.chat import Question, Reply, ToolCall
from webagent.core.errors import ModelError
from webagent.core.expect import Bounds, OutputIs, TextShown
from webagent.core.page import (
    Failure,
    Happened,
    Observation,
    Outcome,
    Pointed,
    PointedRow,
    Response,
)
from webagent.core.plan import PlanStep, Scope
from webagent.core.revision import Cannot
from webagent.core.sighting import Element
from webagent.core.target import parse_target
from webagent.core.vetting import action_fault
from webagent.executors.improvise import (
    MOST_BAD_ANSWERS,
    MOST_IDLE,
    MOST_MOVES,
    TOLD_MOVES,
    ModelImproviser,
    tools_of,
)


class OwnHands:
    """`ports.Hands` on a page of buttons e1 to e9: every move works but those that were said."""

    def __init__(
        self, *unmet: str, failing: Sequence[str] = (), wanted: Sequence[str] = ()
    ) -> None:
        self.left = list(unmet)
        self.wanted = wanted
        self.failing = failing
        self.moved: list[Action] = []
        self.seen = 0
        self.happened = Happened()
        self.values: dict[str, Any] = {}
        self.texts: list[str] = []

    async def see(self) -> Observation:
        self.seen += 1
        outline = f'- main [ref=e0]:\n  - button "Look {self.seen}" [ref=e1] [cursor=pointer]'
        return Observation(url="http://a.test/", title="Shop", outline=outline)

    async def unmet(self) -> tuple[str, ...]:
        read = {n for action in self.moved if isinstance(action, Read) for n in action.outputs}
        return (*self.left, *(f"output {n} was not read" for n in self.wanted if n not in read))

    async def point(self, ref: str, text: str = "") -> Pointed | None:
        if text:
            self.texts.append(text)
        if len(ref) != 2 or not ref.startswith("e"):
            return None
        target = parse_target(f'button "Go {ref}"')
        return Pointed(
            element=Element(tag="button", role="button", name=f"Go {ref}"), target=target
        )

    async def point_row(
        self, ref: str, parts: Sequence[str], texts: Sequence[str] = ()
    ) -> PointedRow | None:
        self.texts += texts
        if ref != "e1":
            return None
        made = tuple(None if p == ref else parse_target(f".{p}") for p in parts)
        return PointedRow(each=parse_target(".row"), count=3, parts=made)

    async def move(self, action: Action) -> Outcome:
        self.moved.append(action)
        if action.verb in self.failing:
            return Outcome(failure=Failure(kind="not_actionable", message="it is\n disabled"))
        return Outcome(values=self.values, happened=self.happened)


def step(**more: Any) -> PlanStep:
    made: dict[str, Any] = {
        "path": "look", "do": "search", "goal": "Find {{ query }}",
        "expect": (
            TextShown(text="Results"), OutputIs(name="price", bounds=Bounds(type="money")),
        ),
    }  # fmt: skip
    return PlanStep(**{**made, **more})


def brief(**more: Any) -> Brief:
    return Brief(
        step=step(**more), values={"query": "broken lamp"}, drift="target_missing", pages_left=9,
        seconds_left=60.0, origins=("http://a.test",), secrets=("password",),
    )  # fmt: skip


def use(tool: str, **given: object) -> Reply:
    return Reply(model="m", calls=(ToolCall(id="1", name=tool, input=given),))


DONE, GO = use("done"), use("click", ref="e1")
BAD = ModelError("it is no JSON", fault="malformed")


async def compose(
    hands: OwnHands, *answers: Reply | ModelError, **more: Any
) -> tuple[tuple[Action, ...] | Cannot, ScriptedChat]:
    chat = ScriptedChat(answers)
    return await ModelImproviser().compose(brief(**more), hands, chat), chat


def told(question: Question) -> str:
    """What a question tells of the moves."""
    return question.turns[0].texts[1].text


def names(*args: Any, **more: Any) -> list[str]:
    return [tool.name for tool in tools_of(*args, **more)]


# -- tools -----------------------------------------------------------------------------------

MOVES = [
    "goto",
    "click",
    "fill",
    "select",
    "check",
    "uncheck",
    "press",
    "download",
    "back",
    "scroll",
]
MOVES += ["wait"]
READS = ["read", "read_list", "read_table"]
ENDS = ["done", "cannot"]


@pytest.mark.parametrize("effect, scope, tools", [
    ("none", None, [*MOVES, *READS, *ENDS]),
    ("repeatable", None, [*MOVES, *READS, *ENDS]),
    ("once", None, [*MOVES, *READS, "commit", *ENDS]),
    ("none", (), ENDS),
    ("none", ("goto", "read"), ["goto", *READS, *ENDS]),
    ("none", ("goto", "click", "fill"), ["goto", "click", "fill", *ENDS]),
    ("once", ("goto", "click", "commit"), ["goto", "click", "commit", *ENDS]),
    ("once", ("goto", "click"), ["goto", "click", *ENDS]),
    ("once", ("goto", "commit"), ["goto", *ENDS]),
])  # fmt: skip
def test_the_tools_are_cut_to_what_the_step_may_do(
    effect: str, scope: tuple[str, ...] | None, tools: list[str]
):
    made = brief(effect=effect, scope=Scope(tools=scope))
    assert names(made) == tools
    if "commit" in tools:
        action = Commit(action=Click(target=parse_target("#x")))
        assert action_fault(made, action) is None


@pytest.mark.parametrize("scope", [None, ("goto", "read"), ("click",), ()])
def test_behind_a_commit_there_is_reading_and_ending_and_nothing_else(
    scope: tuple[str, ...] | None,
):
    made = brief(effect="once", scope=Scope(tools=scope))
    reads = READS if scope is None or "read" in scope else []
    assert names(made, reading=True) == [*reads, *ENDS]


def test_every_tool_takes_its_inputs_and_no_others():
    for tool in tools_of(brief(effect="once")):
        schema: Any = tool.schema_
        assert schema["required"] == [p for p in schema["properties"] if p != "text_only"]
        assert schema["additionalProperties"] is False


# -- moves -----------------------------------------------------------------------------------


async def test_moves_are_made_and_become_the_segment():
    answer, _ = await compose(
        hands := OwnHands(),
        use("goto", url="http://a.test/"),
        use("fill", ref="e2", value="{{ query }}"),
        use("fill", ref="e3", value="{{ secrets.password }}"),
        use("select", ref="e4", option="Blue"),
        use("check", ref="e5"), use("uncheck", ref="e6"), use("press", key="Enter"),
        use("wait", text="Results"), use("scroll"), use("back"), GO,
        use("read", name="price", ref="e7", type="money"),
        DONE,
    )  # fmt: skip
    assert not isinstance(answer, Cannot)
    assert [a.verb for a in hands.moved] == [
        "goto", "fill", "fill", "select", "check", "uncheck", "press", "wait", "scroll", "back",
        "click", "read",
    ]  # fmt: skip
    assert [a.verb for a in answer] == [v for v in (a.verb for a in hands.moved) if v != "scroll"]
    assert [(type(a), getattr(a, "entries", ())) for a in answer[1:4]] == [
        (type(a), getattr(a, "entries", ())) for a in hands.moved[1:4]
    ]
    assert isinstance(answer[1], Fill)
    assert answer[1].entries[0].value == "{{ query }}"
    assert isinstance(answer[3], Select)
    assert isinstance(answer[7], Wait)


async def test_what_was_typed_word_by_word_becomes_a_reference():
    answer, _ = await compose(OwnHands(), use("fill", ref="e2", value="broken lamp"), DONE)
    assert not isinstance(answer, Cannot)
    assert isinstance(answer[0], Fill)
    assert answer[0].entries[0].value == "{{ query }}"


async def test_lists_and_tables_are_read_by_a_row_and_its_parts():
    fields = [
        {"name": "title", "ref": "e2", "type": "text", "attr": ""},
        {"name": "link", "ref": "e3", "type": "url", "attr": "href"},
        {"name": "all", "ref": "e1", "type": "text", "attr": ""},
    ]
    answer, chat = await compose(
        OwnHands(wanted=("rows", "table")),
        use("read_list", name="rows", row_ref="e1", fields=fields),
        use("read_table", name="table", ref="e4"), outputs=("rows", "table"),
    )  # fmt: skip
    assert not isinstance(answer, Cannot)
    first, second = answer
    assert isinstance(first, Read)
    assert first.outputs["rows"] == ListRead(each=parse_target(".row"), fields={
        "title": FieldRead(target=parse_target(".e2")),
        "link": FieldRead(target=parse_target(".e3"), type="url", attr="href"),
        "all": FieldRead(),
    })  # fmt: skip
    assert isinstance(second, Read)
    assert isinstance(second.outputs["table"], TableRead)
    assert "read list rows (3 rows): done" in told(chat.questions[1])


@pytest.mark.parametrize("call, why", [
    (use("click", ref="e99"), "there is no element e99"),
    (use("fill", ref="", value="x"), "there is no element"),
    (use("read", name="other", ref="e1", type="text"), "no output of this step (outputs: price)"),
    (use("read_table", name="other", ref="e1"), "no output of this step"),
    (use("read_list", name="other", row_ref="e1", fields=[]), "no output of this step"),
    (use("read_list", name="price", row_ref="e1", fields=[]), "not one row and parts of it"),
    (use("read_list", name="price", row_ref="e5", fields=[
        {"name": "a", "ref": "e1", "type": "text", "attr": ""}]), "not one row and parts of it"),
])  # fmt: skip
async def test_what_cannot_be_done_is_told_and_not_done(call: Reply, why: str):
    hands = OwnHands()
    answer, chat = await compose(hands, call, GO, DONE)
    assert not isinstance(answer, Cannot)
    assert [a.verb for a in hands.moved] == ["click"]
    assert why in told(chat.questions[1])


async def test_a_move_that_failed_is_told_on_one_line_and_is_not_in_the_segment():
    answer, chat = await compose(
        OwnHands(failing=["check"]), use("check", ref="e1"), GO, DONE
    )  # fmt: skip
    assert not isinstance(answer, Cannot)
    assert [a.verb for a in answer] == ["click"]
    assert '1. check button "Go e1": did not work: it is disabled\n' in told(chat.questions[1])


async def test_the_read_that_leaves_nothing_open_ends_the_work_without_a_call_more():
    read = use("read", name="price", ref="e1", type="text")
    answer, chat = await compose(OwnHands(wanted=("price",)), GO, read)
    assert not isinstance(answer, Cannot)
    assert [a.verb for a in answer] == ["click", "read"]
    assert len(chat.questions) == 2


async def test_what_was_read_is_told():
    hands = OwnHands("text Thank you")
    hands.values = {"price": {"amount": 12.5}}
    cannot = use("cannot", reason="no thanks")
    _, chat = await compose(hands, use("read", name="price", ref="e1", type="money"), cannot)
    assert '1. read price from button "Go e1": done; price = {"amount": 12.5}' in told(
        chat.questions[1]
    )


async def test_what_wrote_is_never_condensed_away():
    hands = OwnHands()
    hands.happened = Happened(
        responses=(Response(method="POST", url="http://a.test/add", status=200),)
    )
    answer, _ = await compose(hands, GO, use("goto", url="http://a.test/"), DONE)
    assert not isinstance(answer, Cannot)
    assert [a.verb for a in answer] == ["click", "goto"]


# -- endings ---------------------------------------------------------------------------------


async def test_done_is_believed_only_where_everything_holds():
    hands = OwnHands("text 'Results' is not shown")
    answer, chat = await compose(hands, GO, DONE, use("cannot", reason="no results"))
    assert answer == Cannot(reason="no results")
    assert "2. done: not yet: text 'Results' is not shown" in told(chat.questions[2])
    assert "Not there yet:\n- text 'Results' is not shown" in told(chat.questions[0])


async def test_done_without_a_move_is_no_segment():
    answer, chat = await compose(OwnHands(), DONE)
    assert answer == Cannot(reason="it was done without a single move")
    assert "- nothing: call done" in told(chat.questions[0])


async def test_a_commit_ends_the_work_and_is_not_sent():
    hands = OwnHands("an effect")
    answer, _ = await compose(hands, GO, use("commit", ref="e3"), effect="once")
    assert not isinstance(answer, Cannot)
    assert [a.verb for a in hands.moved] == ["click"]
    assert answer[-1] == Commit(action=Click(target=parse_target('button "Go e3"')))


async def test_a_step_with_an_effect_is_not_done_before_its_commit():
    answer, chat = await compose(OwnHands(), GO, DONE, use("commit", ref="e3"), effect="once")
    assert not isinstance(answer, Cannot)
    assert [a.verb for a in answer] == ["click", "commit"]
    assert "Not there yet:\n- the step's one effect: call commit" in told(chat.questions[0])
    assert "2. done: not yet: the step's one effect: call commit" in told(chat.questions[2])


async def test_a_commit_of_nothing_is_told_and_counts_as_idle():
    hands = OwnHands()
    calls = [use("commit", ref="gone")] * (MOST_IDLE + 3)
    answer, chat = await compose(hands, *calls, effect="once")
    assert isinstance(answer, Cannot)
    assert len(chat.questions) == MOST_IDLE
    assert "commit: there is no element gone" in told(chat.questions[1])


@pytest.mark.parametrize("call, failing", [
    (use("click", ref="e99"), ()),
    (use("check", ref="e1"), ("check",)),
    (use("read", name="other", ref="e1", type="text"), ()),
])  # fmt: skip
async def test_moves_that_bring_nothing_end_it(call: Reply, failing: tuple[str, ...]):
    hands = OwnHands("x", failing=failing)
    answer, chat = await compose(hands, *([call] * MOST_IDLE))
    assert answer == Cannot(reason=f"{MOST_IDLE} moves in a row brought nothing")
    assert len(chat.questions) == MOST_IDLE


async def test_the_same_move_on_the_same_page_again_and_again_ends_it():
    hands = OwnHands("x")
    answer, _ = await compose(hands, *([GO] * (MOST_IDLE + 1)))
    assert isinstance(answer, Cannot)
    assert len(hands.moved) == MOST_IDLE + 1


async def test_a_move_that_brings_something_begins_the_count_anew():
    lost = [use("click", ref="e99")] * (MOST_IDLE - 1)
    answer, _ = await compose(OwnHands(), *lost, GO, *lost, use("check", ref="e2"), DONE)
    assert not isinstance(answer, Cannot)


async def test_it_ends_after_so_many_moves_whatever_they_bring():
    refs = [use("fill", ref="e1", value=str(n)) for n in range(MOST_MOVES + 5)]
    answer, chat = await compose(OwnHands("x"), *refs)
    assert answer == Cannot(reason=f"it was not done after {MOST_MOVES} moves")
    assert len(chat.questions) == MOST_MOVES
    last = told(chat.questions[-1])
    assert f"({MOST_MOVES - 1 - TOLD_MOVES} earlier moves)" in last
    assert last.count("fill button") == TOLD_MOVES


@pytest.mark.parametrize("bad", [
    BAD, ModelError("cut", fault="truncated"), Reply(model="m", text="I would click."),
    use("fly", to="Rome"), use("click"), use("click", ref="e1", force=True), use("click", ref=1),
    use("commit", ref="e1"),
    Reply(model="m", calls=(ToolCall(id="1", name="done"), ToolCall(id="2", name="done"))),
])  # fmt: skip
async def test_answers_that_are_no_move_are_told_and_few_are_borne(bad: Reply | ModelError):
    answer, chat = await compose(OwnHands(), GO, *([bad] * MOST_BAD_ANSWERS), DONE)
    assert not isinstance(answer, Cannot)
    assert "2. (an answer that was no tool call of this step)" in told(chat.questions[2])
    answer, chat = await compose(OwnHands(), GO, *([bad] * (MOST_BAD_ANSWERS + 1)))
    assert isinstance(answer, Cannot)
    assert answer.reason.startswith("no usable answer: ")


@pytest.mark.parametrize("fault", ["refused", "timeout", "unreachable", "overloaded", "no_key"])
async def test_a_model_that_cannot_be_asked_is_not_asked_again(fault: Any):
    answer, chat = await compose(OwnHands(), ModelError("away", fault=fault))
    assert answer == Cannot(reason="no usable answer: away")
    assert len(chat.questions) == 1


async def test_no_text_of_a_cannot_is_endless():
    answer, _ = await compose(OwnHands(), use("cannot", reason="x" * 9_000))
    assert isinstance(answer, Cannot)
    assert len(answer.reason) == 500
    answer, _ = await compose(OwnHands(), use("cannot", reason=""))
    assert answer == Cannot(reason="it cannot")


# -- behind the commit -----------------------------------------------------------------------


async def test_behind_the_commit_outputs_are_read():
    chat = ScriptedChat([use("read", name="price", ref="e1", type="money"), DONE])
    reads = await ModelImproviser().read_after(brief(effect="once"), OwnHands(), chat)
    assert [a.verb for a in reads] == ["read"]
    assert [tool.name for tool in chat.questions[0].tools] == [*READS, *ENDS]


async def test_where_nothing_is_wanted_nothing_is_asked():
    chat = ScriptedChat([])
    made = brief(effect="once", expect=(TextShown(text="Thanks"),))
    assert await ModelImproviser().read_after(made, OwnHands(), chat) == ()


async def test_what_was_read_before_it_gave_up_is_kept():
    chat = ScriptedChat([
        use("read", name="price", ref="e1", type="money"), use("cannot", reason="enough"),
    ])  # fmt: skip
    reads = await ModelImproviser().read_after(brief(effect="once"), OwnHands("x"), chat)
    assert len(reads) == 1


# -- the question ----------------------------------------------------------------------------


async def test_a_question_in_full(snapshot: SnapshotAssertion):
    _, chat = await compose(
        OwnHands(), use("goto", url="http://a.test/"), use("click", ref="e99"),
        use("commit", ref="e3"), effect="once",
    )  # fmt: skip
    question = chat.questions[2]
    assert json.dumps(question.model_dump(), indent=1, ensure_ascii=False) == snapshot


async def test_what_is_kept_in_the_cache_is_the_same_in_every_question_of_a_step():
    moves = [use("click", ref=f"e{n}") for n in range(1, 9)]
    _, chat = await compose(OwnHands(), *moves, BAD, DONE)
    assert len(chat.questions) == 10
    heads = {
        (q.tools, q.system, q.turns[0].texts[0], len(q.turns), len(q.turns[0].texts))
        for q in map(_hashable, chat.questions)
    }
    assert len(heads) == 1
    for question in chat.questions:
        marks = [t.cached for t in (*question.system, *question.turns[0].texts)]
        assert marks == [True, True, False, False]
        assert question.must_use


def _hashable(question: Question) -> Question:
    """Tools hold mappings: compared by their text."""
    return question.model_copy(update={"tools": repr(question.tools)})


async def test_only_the_newest_outline_is_told():
    _, chat = await compose(OwnHands(), GO, use("click", ref="e2"), DONE)
    last = "\n".join(t.text for t in chat.questions[-1].turns[0].texts)
    assert "Look 3" in last
    assert "Look 1" not in last
    assert "Look 2" not in last


async def test_a_question_does_not_grow_with_the_moves_without_bound():
    calls = [use("fill", ref="e1", value=f"{n}" * 300) for n in range(10, 10 + MOST_MOVES)]
    _, chat = await compose(OwnHands("x"), *calls)
    assert max(len(told(q)) for q in chat.questions) < TOLD_MOVES * 420 + 200
