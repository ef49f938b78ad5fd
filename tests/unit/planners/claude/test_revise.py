"""One segment regenerated: what is asked, how an answer is read, where it is gone on from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from webagent.chats.scripted import ScriptedChat
from webagent.core.action import Action, Click, FieldRead, Goto, Read
from webagent.core.brief import Brief
from webagent.core.chat import Reply, Usage
from webagent.core.errors import ModelError
from webagent.core.expect import TextShown, Verdict
from webagent.core.page import Observation
from webagent.core.plan import PlanStep
from webagent.core.revision import AskPerson, Cannot, Reopen, Revision
from webagent.core.target import parse_target
from webagent.formats.actions_text import actions_from_texts
from webagent.formats.segment_text import action_data
from webagent.planners.claude.revise import CORRECTIONS, ClaudeAdviser, redo_from

OUTLINE = '- main [ref=e1]:\n  - button "Go on" [ref=e2]'
TEXTS = ("goto: http://a.test/", 'click: button "Next"', "read: {x: .x}", 'click: button "End"')
NEW = 'click: button "Go on"'
ADVISER = ClaudeAdviser(action_data, actions_from_texts)


def acts(*texts: str) -> tuple[Action, ...]:
    return actions_from_texts(texts)


SEGMENT = acts(*TEXTS)


def brief(segment: tuple[Action, ...] = SEGMENT, **more: Any) -> Brief:
    made: dict[str, Any] = {
        "step": PlanStep(
            path="look", do="read", goal="Read {{ query }}", segment=segment,
            expect=(TextShown(text="Results"),),
        ),
        "values": {"query": "lamp"}, "drift": "target_missing", "failed_index": 1,
        "reason": 'no button "Next"', "documents": (0,), "origins": ("http://a.test",),
        "observation": Observation(url="http://a.test/", title="Shop"), "pages_left": 9,
        "seconds_left": 60.0,
    }  # fmt: skip
    return Brief(**{**made, **more})


def told(answer: str, *segment: str, **more: Any) -> Reply:
    data = {
        "answer": answer, "first_wrong": 1, "segment": list(segment), "step": "", "question": "",
        "reason": "it is called so now", **more,
    }  # fmt: skip
    return Reply(model="m", text=json.dumps(data), usage=Usage(tokens_in=90, tokens_out=10))


FIXED = told("segment", TEXTS[0], NEW, *TEXTS[2:])


async def revised(*replies: Reply | ModelError, **more: Any) -> tuple[Any, ScriptedChat]:
    chat = ScriptedChat(replies)
    return await ADVISER.revise(brief(**more), OUTLINE, chat), chat


# -- the question ----------------------------------------------------------------------------


def test_a_question_in_full(snapshot: SnapshotAssertion):
    verdict = Verdict(expected=TextShown(text="Results"), judgement="unmet", seen="0 shown")
    made = brief(verdicts=(verdict,), tried=(SEGMENT,), secrets=("password",))
    question = ADVISER.question(made, OUTLINE)
    assert json.dumps(question.model_dump(), indent=1, ensure_ascii=False) == snapshot


def test_what_stays_the_same_stands_first_and_is_marked():
    first = ADVISER.question(brief(), OUTLINE)
    second = ADVISER.question(brief(failed_index=3, reason="other"), '- text: "new"')
    assert first.system == second.system
    assert first.turns[0].texts[0] == second.turns[0].texts[0]
    marks = [t.cached for t in (*first.system, *first.turns[0].texts)]
    assert marks == [True, True, False, False]


# -- answers ---------------------------------------------------------------------------------


async def test_a_segment_becomes_a_revision_of_this_step():
    answer, chat = await revised(FIXED)
    assert answer == Revision(
        step="look", segment=acts(TEXTS[0], NEW, *TEXTS[2:]), first_wrong=1, redo_from=1,
        cause="target_missing", author="claude", reason="it is called so now", tokens=100,
    )  # fmt: skip
    assert len(chat.questions) == 1


@pytest.mark.parametrize("reply, answer", [
    (told("cannot"), Cannot(reason="it is called so now")),
    (told("cannot", reason=""), Cannot(reason="it cannot")),
    (told("reopen", step="search"), Reopen(step="search", reason="it is called so now")),
    (
        told("ask", question="Which?"),
        AskPerson(question="Which?", reason="it is called so now"),
    ),
    (
        told("ask", question=""),
        AskPerson(question="it is called so now", reason="it is called so now"),
    ),
    (told("segment", *TEXTS), Cannot(reason="it gave a segment that was tried already")),
])  # fmt: skip
async def test_each_kind_of_answer_is_read(reply: Reply, answer: object):
    assert (await revised(reply))[0] == answer


async def test_a_segment_that_was_tried_before_is_not_tried_again():
    tried = acts(TEXTS[0], NEW, *TEXTS[2:])
    answer, _ = await revised(FIXED, tried=((), tried))
    assert answer == Cannot(reason="it gave a segment that was tried already")


async def test_reasons_and_questions_are_cut():
    answer, _ = await revised(told("ask", question="q" * 9_000, reason="r" * 9_000))
    assert isinstance(answer, AskPerson)
    assert (len(answer.question), len(answer.reason)) == (500, 500)


@pytest.mark.parametrize("fault", ["refused", "timeout", "malformed", "truncated", "rejected"])
async def test_a_model_that_gives_no_answer_cannot(fault: Any):
    answer, chat = await revised(ModelError("no good", fault=fault))
    assert answer == Cannot(reason="no usable answer: no good")
    assert len(chat.questions) == 1


# -- corrected -------------------------------------------------------------------------------

UNREADABLE = [
    told("segment", TEXTS[0], "klick: button"), told("segment"), told("segment", "click: ["),
    told("segment", "click: e12"), told("segment", ""), told("segment", "read: {x: f1e12}"),
    told("segment", "- click: a\n- click: b"),
    told("segment", "commit: {commit: {click: x}}"), told("segment", "fill: x"),
]  # fmt: skip


@pytest.mark.parametrize("bad", UNREADABLE)
async def test_what_cannot_be_read_goes_back_once_with_its_error(bad: Reply):
    answer, chat = await revised(bad, FIXED)
    assert isinstance(answer, Revision)
    first, second = chat.questions
    assert second.system == first.system
    assert second.turns[0].texts[:-1] == first.turns[0].texts
    said = second.turns[0].texts[-1]
    assert not said.cached
    assert said.text.startswith(f"You answered:\n{bad.text}\nThat cannot be read:\n")


@pytest.mark.parametrize("bad", UNREADABLE)
async def test_what_cannot_be_read_twice_is_no_answer(bad: Reply):
    answer, chat = await revised(bad, *([bad] * CORRECTIONS))
    assert isinstance(answer, Cannot)
    assert answer.reason.startswith("its actions cannot be read: ")
    assert len(chat.questions) == 1 + CORRECTIONS == 2


async def test_an_endless_answer_is_sent_back_in_part():
    bad = told("segment", "klick: " + "x" * 50_000)
    _, chat = await revised(bad, FIXED)
    assert len(chat.questions[1].turns[0].texts[-1].text) < 6_200


# -- where it goes on ------------------------------------------------------------------------

CLICK = Click(target=parse_target("#a"))
GOTO = Goto(url="http://a.test/")
READ = Read(outputs={"x": FieldRead(target=parse_target(".x"))})


@pytest.mark.parametrize("new, failed, documents, wrong, redo", [
    # Nothing was loaded since the first wrong action: its page stands.
    ((GOTO, CLICK, READ), 1, (0,), 1, 1),
    ((GOTO, CLICK, READ), 2, (0,), 1, 1),
    ((GOTO, CLICK, READ), 2, (0, 1), 2, 2),
    ((CLICK, READ), 1, (), 0, 0),
    ((GOTO, CLICK, READ), None, (0,), 2, 2),
    # What the failing action itself did is behind it.
    ((GOTO, CLICK, READ), 1, (0, 1), 1, 1),
    # Its page is gone: from the goto that led there.
    ((GOTO, CLICK, READ), 2, (0, 1), 1, 0),
    ((GOTO, CLICK, CLICK, READ), 3, (0, 2), 1, 0),
    ((GOTO, CLICK, GOTO, CLICK, READ), 4, (0, 2, 3), 3, 2),
    ((GOTO, CLICK, GOTO, CLICK, READ), None, (0, 1, 2), 1, 0),
    # The wrong action is the goto itself.
    ((GOTO, CLICK, READ), 2, (0,), 0, 0),
    # Nothing leads there.
    ((CLICK, CLICK, READ), 2, (0,), 0, None),
    ((CLICK, GOTO, READ), 2, (0, 1), 0, None),
    ((CLICK, READ), None, (0,), 0, None),
])  # fmt: skip
def test_it_goes_on_in_its_page_or_from_the_goto_that_led_there(
    new: tuple[Action, ...], failed: int | None, documents: tuple[int, ...], wrong: int,
    redo: int | None,
):  # fmt: skip
    made = brief((CLICK,) * len(new), failed_index=failed, documents=documents)
    assert redo_from(made, new, wrong) == redo


async def test_a_page_that_is_gone_and_cannot_be_reached_is_told():
    reply = told("segment", NEW, *TEXTS[1:], first_wrong=0)
    segment = acts('click: button "Old"', *TEXTS[1:])
    answer, _ = await revised(reply, step=brief(segment).step, documents=(0,))
    assert answer == Cannot(reason="the page in which it would begin is gone")


@pytest.mark.parametrize("claimed, begins", [(-5, 0), (0, 0), (1, 1), (2, 1), (99, 1)])
async def test_where_the_lists_part_is_a_fact_and_a_later_number_no_claim(
    claimed: int, begins: int
):
    answer, _ = await revised(told("segment", TEXTS[0], NEW, *TEXTS[2:], first_wrong=claimed))
    assert isinstance(answer, Revision)
    assert answer.first_wrong == begins


async def test_nothing_between_the_failed_action_and_the_new_one_is_skipped():
    """The second action failed; the answer changes the last: all in between is still to be done."""
    reply = told("segment", *TEXTS[:3], 'click: button "Finish"', first_wrong=3)
    answer, _ = await revised(reply)
    assert isinstance(answer, Revision)
    assert answer.first_wrong <= 1
    assert answer.redo_from <= 1


async def test_a_longer_list_after_all_was_done_goes_on_behind_it():
    reply = told("segment", *TEXTS, NEW, first_wrong=4)
    answer, _ = await revised(reply, failed_index=None, drift="wrong_page")
    assert isinstance(answer, Revision)
    assert (answer.first_wrong, answer.redo_from) == (4, 4)


async def test_a_shorter_list_is_taken_up_where_the_old_one_goes_on():
    answer, _ = await revised(told("segment", *TEXTS[:1], first_wrong=1))
    assert isinstance(answer, Revision)
    assert (answer.first_wrong, answer.redo_from) == (1, 1)
