"""A model works a step, regenerates a segment, reads outputs: what it may, what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runtime.stage import Stage, stage
from webagent.chats.scripted import ScriptedChat
from webagent.core import event as ev
from webagent.core.action import Goto
from webagent.core.chat import ModelSpec, Price, Question, Reply, Role, ToolCall, question_text
from webagent.core.errors import ModelError
from webagent.core.limits import Budget
from webagent.core.page import Failure, Observation
from webagent.executors.improvise import ModelImproviser
from webagent.executors.scripted import Fault
from webagent.extractors.by_model import ModelReading
from webagent.formats.actions_text import actions_from_texts
from webagent.formats.segment_text import action_data
from webagent.planners.claude.revise import ClaudeAdviser
from webagent.runtime.result import RunResult

RECIPE = """
webagent: 1
id: tickets
errand: Close a ticket
inputs:
  query: {type: string, default: broken lamp}
sites: [http://a.test]
steps:
  before:
    do: read
    goal: Something of another step, told to nobody else
    segment:
      - goto: http://a.test/secret-plan
      - read: {note: .note}
    expect: [{output: {note: {type: string}}}]
  look:
    do: search
    goal: Find the ticket about {{ query }}
    needs: [before]
    segment:
      - goto: http://a.test/
      - fill: {searchbox "Search": "{{ query }}"}
      - press: Enter
      - read: {number: .number}
    expect:
      - text: Results
      - output: {number: {type: string}}
  close:
    do: submit
    goal: Close ticket {{ look.number }}
    once: "{{ look.number }}"
    segment:
      - goto: http://a.test/close
      - commit: {click: button "Close"}
    expect: [{text: Closed}]
"""


def bare(made: Stage, *paths: str, **changes: Any) -> Stage:
    """The stage with some steps' segments taken away."""
    steps = tuple(
        s.model_copy(update={"segment": None, **changes}) if s.path in paths else s
        for s in made.plan.steps
    )
    made.plan = made.plan.model_copy(update={"steps": steps})
    made.site.plan = made.plan
    return made


def equip(
    made: Stage, answer: Callable[[Question], Reply | ModelError], **specs: ModelSpec
) -> ScriptedChat:
    """Give the stage models in all roles."""
    made.inputs = {"query": "broken lamp"}
    chat = ScriptedChat(answer)
    roles: tuple[Role, ...] = ("planner", "executor", "reader")
    made.extra = {
        "chat": chat,
        "models": {role: specs.get(role, ModelSpec(model="simulated")) for role in roles},
        "adviser": ClaudeAdviser(action_data, actions_from_texts),
        "improviser": ModelImproviser(),
        "reader": ModelReading(lambda text, _type: text),
    }
    return chat


def use(tool: str, **given: object) -> Reply:
    return Reply(
        model="simulated", calls=(ToolCall(id="1", name=tool, input=given),), stop="tool_use"
    )


def moves(*calls: Reply) -> Callable[[Question], Reply]:
    left = list(calls)
    return lambda _question: left.pop(0)


LOOK = (
    use("goto", url="http://a.test/"),
    use("fill", ref="e1", value="{{ query }}"),
    use("press", key="Enter"),
    use("read", name="number", ref="e2", type="text"),
    use("done"),
)
CLOSE = (use("goto", url="http://a.test/close"), use("commit", ref="e3"))


def told(answer: str, **more: Any) -> Reply:
    """A planner's answer."""
    data = {
        "answer": answer, "first_wrong": 0, "segment": [], "step": "", "question": "",
        "reason": "because", **more,
    }  # fmt: skip
    return Reply(model="simulated", data=data, text=json.dumps(data))


async def events(made: Stage, kind: type[Any]) -> list[Any]:
    return [e.event for e in await made.entries() if isinstance(e.event, kind)]


# -- improvised ---------------------------------------------------------------------------------


async def test_a_step_without_a_segment_is_worked_and_its_segment_proven_by_running_it(
    tmp_path: Path,
):
    made = bare(stage(RECIPE, tmp_path), "look")
    equip(made, moves(*LOOK))
    result = await made.run()
    assert result.ok
    assert result.proposed == ("look",)
    (revised,) = await events(made, ev.PlanRevised)
    assert [action_data(a) for a in revised.revision.segment] == [
        {"goto": "http://a.test/"}, {"fill": {"#e1": "{{ query }}"}}, {"press": "Enter"},
        {"read": {"number": "#e2"}},
    ]  # fmt: skip
    # Once to find the way, once more from the segment alone.
    assert made.performed("press")["look"] == 2


async def test_a_commit_is_proposed_by_the_model_and_sent_once_through_the_gate(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "close")
    equip(made, moves(*CLOSE))
    result = await made.run()
    assert result.ok
    assert made.site.ledger == ["close"]
    intended = await events(made, ev.EffectIntended)
    assert len(intended) == 1


async def test_a_model_that_clicks_for_ever_is_stopped_and_the_step_fails(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look")
    chat = equip(made, lambda _q: use("read", name="nothing", ref="e1", type="text"))
    result = await made.run()
    assert result["look"].state == "unmet"
    assert "brought nothing" in result["look"].reason
    assert len(chat.questions) < 20


async def test_done_is_not_believed_while_something_is_missing(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look")
    equip(made, moves(use("goto", url="http://a.test/"), use("done"), *LOOK[1:]))
    assert (await made.run()).ok


@pytest.mark.parametrize(
    "move, why",
    [
        (use("goto", url="http://evil.test/"), "outside the step's scope"),
        (use("goto", url="javascript:alert(1)"), "not an address"),
        (use("fill", ref="e1", value="{{ secrets.password }}"), "may not type the secret"),
        (use("fill", ref="e1", value="{{ before.note }}"), "not among the step's values"),
        (use("fill", ref="e1", value="{% for x in y %}"), "not a plain reference"),
        (use("read", name="other", ref="e1", type="text"), "no output of this step"),
    ],
)
async def test_a_move_outside_the_brief_is_not_made_and_told(tmp_path: Path, move: Reply, why: str):
    made = bare(stage(RECIPE, tmp_path), "look")
    chat = equip(made, moves(move, *LOOK))
    assert (await made.run()).ok
    assert why in question_text(chat.questions[1])
    assert not [p for p in made.site.log if isinstance(p.action, Goto) and "evil" in p.action.url]


async def test_a_step_that_has_no_effect_is_offered_no_commit(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look", "close")
    chat = equip(made, moves(*LOOK, *CLOSE))
    assert (await made.run()).ok
    for question in chat.questions:
        offered = "commit" in [tool.name for tool in question.tools]
        assert offered == ("Step: close" in question_text(question))


async def test_what_a_model_is_told_holds_nothing_of_another_step(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look")
    chat = equip(made, moves(*LOOK))
    await made.run()
    for question in chat.questions:
        text = question_text(question)
        assert "secret-plan" not in text
        assert "another step" not in text


async def test_the_questions_of_one_step_do_not_grow_with_the_plan(tmp_path: Path):
    sizes = []
    for more in (1, 40):
        extra = "".join(
            f"  filler{i}:\n    do: read\n    goal: Filler\n    segment:\n"
            f"      - goto: http://a.test/{i}\n      - read: {{x: .x}}\n"
            f"    expect: [{{output: {{x: {{type: string}}}}}}]\n"
            for i in range(more)
        )
        made = bare(stage(RECIPE + extra, tmp_path / str(more)), "look")
        chat = equip(made, moves(*LOOK))
        await made.run()
        sizes.append([len(question_text(q)) for q in chat.questions])
    assert sizes[0] == sizes[1]


# -- a segment regenerated ----------------------------------------------------------------------

GONE = Fault(
    at=1,
    failure=Failure(kind="target_missing", message="nothing matches"),
    seen=Observation(url="http://a.test/"),
)


def gone() -> Fault:
    return Fault(at=GONE.at, failure=GONE.failure, seen=GONE.seen)


SEGMENT = [
    "goto: http://a.test/", 'fill: {textbox "Find": "{{ query }}"}', "press: Enter",
    "read: {number: .number}",
]  # fmt: skip


async def failing(
    tmp_path: Path, answer: Reply | ModelError, **specs: ModelSpec
) -> tuple[Stage, RunResult]:
    made = stage(RECIPE, tmp_path)
    made.site.faults["look"] = [gone()]
    equip(made, lambda _q: answer, **specs)
    return made, await made.run()


async def test_a_model_s_segment_is_done_from_its_first_new_action_on(tmp_path: Path):
    made, result = await failing(tmp_path, told("segment", first_wrong=1, segment=SEGMENT))
    assert result.ok
    (revised,) = await events(made, ev.PlanRevised)
    assert (revised.revision.author, revised.revision.redo_from) == ("claude", 1)
    assert made.performed("goto")["look"] == 1
    assert made.performed("goto")["before"] == 1


@pytest.mark.parametrize(
    "segment, why",
    [
        (["goto: http://evil.test/", *SEGMENT[1:]], "outside the step's scope"),
        (SEGMENT[:-1], "no longer reads number"),
        ([*SEGMENT[:-1], "read: {number: {target: .number, optional: true}}"], "optional"),
        ([*SEGMENT[:-1], "read: {number: {value: 12}}"], "fixed value"),
        ([*SEGMENT, 'commit: {click: button "Close"}'], "no commit"),
        ([SEGMENT[0], 'fill: {textbox "Find": "{{ secrets.x }}"}', *SEGMENT[2:]], "secret"),
        ([*SEGMENT, "upload: {'#file': /etc/passwd}"], "given away"),
        ([], "cannot be read"),
        (["this is: no action"], "cannot be read"),
    ],
)
async def test_a_segment_that_goes_too_far_is_refused_with_its_reason(
    tmp_path: Path, segment: list[str], why: str
):
    made, result = await failing(tmp_path, told("segment", segment=segment))
    assert result["look"].state == "unmet"
    refused = [e for e in await events(made, ev.RevisionRefused) if e.rung == "model"]
    assert why in refused[0].reason
    assert not await events(made, ev.PlanRevised)


@pytest.mark.parametrize("fault", ["refused", "truncated", "malformed", "overloaded", "timeout"])
async def test_a_model_that_does_not_answer_is_a_step_that_failed_not_a_crash(
    tmp_path: Path, fault: str
):
    made, result = await failing(tmp_path, ModelError("no", fault=fault))
    assert result.status == "failed"
    assert result["look"].state == "unmet"
    (called, *_rest) = await events(made, ev.ModelCalled)
    assert called.fault == fault


async def test_what_may_have_been_written_already_is_not_done_again(tmp_path: Path):
    recipe = RECIPE.replace(
        "      - commit:", '      - click: button "Add"\n      - click: link "On"\n      - commit:'
    )
    made = stage(recipe, tmp_path)
    lost = gone()
    lost.at = 2
    made.site.faults["close"] = [lost]
    segment = [
        "goto: http://a.test/close", 'click: button "Add one"', 'click: link "On"',
        'commit: {click: button "Close"}',
    ]  # fmt: skip
    equip(made, lambda _q: told("segment", first_wrong=1, segment=segment))
    result = await made.run()
    assert result["close"].state == "unmet"
    refused = [e for e in await events(made, ev.RevisionRefused) if e.rung == "model"]
    assert "written already" in refused[0].reason
    assert made.performed("click")["close"] == 1


async def test_a_model_may_have_the_step_reopened_that_gave_an_old_value(tmp_path: Path):
    made = stage(RECIPE, tmp_path)
    made.site.faults["close"] = [gone()]
    equip(made, lambda _q: told("reopen", step="look"))
    result = await made.run()
    assert result.ok
    assert [e.step for e in await events(made, ev.StepReopened)] == ["look"]


async def test_a_model_has_no_other_step_reopened(tmp_path: Path):
    made = stage(RECIPE, tmp_path)
    made.site.faults["close"] = [gone()]
    equip(made, lambda _q: told("reopen", step="before"))
    result = await made.run()
    assert result["close"].state == "unmet"
    assert not await events(made, ev.StepReopened)


async def test_a_model_may_have_a_person_asked(tmp_path: Path):
    _made, result = await failing(tmp_path, told("ask", question="Which of the two lamps?"))
    assert result.exit_code == 3
    assert "Which of the two lamps?" in result.reason


# -- outputs read -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, quote, read",
    [
        ("4711", "Ticket no. 4711", True),
        ("4711", "Ticket no. 4712", False),
        ("4712", "Ticket no. 4711", False),
        ("", "", False),
    ],
)
async def test_a_reader_s_value_counts_only_with_a_quote_that_is_on_the_page(
    tmp_path: Path, value: str, quote: str, read: bool
):
    made = stage(RECIPE.replace("      - text: Results\n", ""), tmp_path)
    lost = gone()
    lost.at, lost.times = 3, 9
    made.site.faults["look"] = [lost]
    made.site.outlines["look"] = "- paragraph [ref=e4]: Ticket no. 4711, open"
    said = {"number": {"found": True, "value": value, "quote": quote}}

    def answer(question: Question) -> Reply:
        if question.role == "planner":
            return told("cannot")
        return Reply(model="simulated", data=said, text=json.dumps(said))

    equip(made, answer)
    result = await made.run()
    assert result.ok == read
    assert result["look"].outputs == ({"number": "4711"} if read else {})


# -- budgets ------------------------------------------------------------------------------------


async def test_the_call_that_could_pass_a_limit_is_not_made_and_the_run_parks(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look")
    spec = ModelSpec(model="simulated", max_tokens=10, budget=Budget(calls=2))
    chat = equip(made, moves(*LOOK), executor=spec)
    result = await made.run()
    assert (result.exit_code, result.status) == (4, "limit")
    assert len(chat.questions) == 2
    (hit,) = await events(made, ev.LimitHit)
    assert (hit.limit, hit.allowed) == ("calls", 2)

    larger = ModelSpec(model="simulated", max_tokens=10, budget=Budget(calls=20))
    equip(made, moves(*LOOK), executor=larger)
    result = await made.resume()
    assert result.ok
    assert made.performed("goto")["before"] == 1


@pytest.mark.parametrize(
    "budget, kind", [(Budget(tokens=100), "tokens"), (Budget(money=0.0000001), "money")]
)
async def test_tokens_and_money_are_limited_for_the_errand_too(
    tmp_path: Path, budget: Budget, kind: str
):
    made = bare(stage(RECIPE, tmp_path), "look")
    made.plan = made.plan.model_copy(update={"budget": budget})
    spec = ModelSpec(model="simulated", price=Price(input=1.0, output=5.0))
    chat = equip(made, moves(*LOOK), executor=spec)
    result = await made.run()
    assert result.exit_code == 4
    assert not chat.questions
    assert [e.limit for e in await events(made, ev.LimitHit)] == [kind]


async def test_a_step_s_own_budget_ends_the_step(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look", budget=Budget(calls=1))
    equip(made, moves(*LOOK))
    result = await made.run()
    assert result["look"].state == "unmet"
    assert result.exit_code == 4


async def test_every_call_is_told_by_role_and_step_and_kept_whole(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look")
    spec = ModelSpec(model="simulated", price=Price(input=2.0, output=10.0))
    equip(made, moves(*LOOK), executor=spec)
    result = await made.run()
    assert result.models["executor"].calls == 4
    cost = result["look"].models
    assert cost is not None
    assert cost.money == pytest.approx(result.models["executor"].money)
    assert cost.money > 0
    called = await events(made, ev.ModelCalled)
    for event in called:
        kept = json.loads((made.folder / "r1" / event.file).read_text("utf-8"))
        assert kept["question"]["turns"][0]["texts"][0]["text"].startswith("Step: look")
        assert kept["reply"]["calls"]


async def test_no_secret_reaches_a_question_or_what_is_kept_of_it(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look")
    made.site.outlines["look"] = "- text: hunter2 was here"
    chat = equip(made, moves(*LOOK))
    made.redact = lambda text: text.replace("hunter2", "[secret]")
    await made.run()
    assert "hunter2" not in "".join(question_text(q) for q in chat.questions)
    kept = [p.read_text("utf-8") for p in (made.folder / "r1").glob("call-*.json")]
    assert kept
    assert "hunter2" not in "".join(kept)


async def test_without_a_model_a_step_without_a_segment_fails_and_says_so(tmp_path: Path):
    made = bare(stage(RECIPE, tmp_path), "look")
    result = await made.run()
    assert result["look"].state == "unmet"
    assert "no segment" in result["look"].reason
