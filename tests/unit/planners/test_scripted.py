"""The scripted planner answers by its script, and begins where a revision has to begin."""

from webagent.core.action import Action, Click, FieldRead, Goto, Read
from webagent.core.brief import Brief
from webagent.core.page import Drift
from webagent.core.plan import PlanStep
from webagent.core.revision import Revision
from webagent.core.target import parse_target
from webagent.planners.scripted import ScriptedPlanner, revision_of, where_to_begin

GOTO = Goto(url="http://a.test/")
CLICK = Click(target=parse_target('button "Next"'))
READ = Read(outputs={"value": FieldRead(target=parse_target(".v"))})
OTHER = Click(target=parse_target('button "Go on"'))


def brief(
    *segment: Action, drift: Drift = "target_missing", failed: int | None = None, path: str = "one"
) -> Brief:
    step = PlanStep(do="read", path=path, segment=segment)
    return Brief(step=step, drift=drift, failed_index=failed)


async def test_by_default_the_segment_is_given_again_from_the_action_that_failed() -> None:
    given = await ScriptedPlanner().revise(brief(GOTO, CLICK, READ, failed=1))
    assert given is not None
    assert given.segment == (GOTO, CLICK, READ)
    assert (given.first_wrong, given.redo_from, given.author) == (1, 1, "scripted")


def test_with_nothing_failed_it_begins_at_the_last_document() -> None:
    assert where_to_begin(brief(GOTO, CLICK, GOTO, CLICK, drift="wrong_page")) == (2, 2)
    assert where_to_begin(brief(CLICK, READ, drift="wrong_page")) == (0, 0)


def test_an_invalid_output_is_read_again_and_nothing_else() -> None:
    assert where_to_begin(brief(GOTO, CLICK, READ, drift="output_invalid")) == (2, 2)


async def test_answers_come_in_turn_and_then_the_default() -> None:
    whole = revision_of(brief(GOTO), (GOTO, OTHER))
    planner = ScriptedPlanner({"one": [None, (GOTO, OTHER), whole, lambda b: b.step.segment]})
    given = [await planner.revise(brief(GOTO, CLICK, failed=1)) for _ in range(5)]
    assert given[0] is None
    assert [g.segment for g in given[1:] if g] == [
        (GOTO, OTHER), (GOTO, OTHER), (GOTO, CLICK), (GOTO, CLICK),
    ]  # fmt: skip


async def test_a_planner_that_cannot_says_so_where_it_has_no_answer() -> None:
    planner = ScriptedPlanner({"two": [(GOTO,)]}, cannot=True)
    assert await planner.revise(brief(GOTO)) is None
    assert isinstance(await planner.revise(brief(GOTO, path="two")), Revision)


async def test_every_brief_is_kept() -> None:
    planner = ScriptedPlanner()
    for path in ("one", "two", "one"):
        await planner.revise(brief(GOTO, path=path))
    assert [b.step.path for b in planner.briefs] == ["one", "two", "one"]


async def test_a_shorter_segment_is_never_redone_behind_its_end() -> None:
    given = await ScriptedPlanner({"one": [(GOTO,)]}).revise(brief(GOTO, CLICK, READ, failed=2))
    assert given is not None
    assert (given.first_wrong, given.redo_from) == (0, 1)
