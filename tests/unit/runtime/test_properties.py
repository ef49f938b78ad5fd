"""Promises 1 to 4 on random graphs with random failures, crashes and resumes.

What is counted comes from witnesses beside the journal (`tests.unit.runtime.witness`): the scripted
site's log and ledger, its answers to the expectations, the briefs that the planner was given.
`EXAMPLES=2000 python -m pytest tests/unit/runtime/test_properties.py --timeout 0` looks longer.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.runtime.graphs import Errand, Mishaps, deaths, errands, goal_of, mishaps
from tests.unit.runtime.test_prefixes import MISSING
from tests.unit.runtime.witness import World, executed_after_validation, world
from webagent.core import event as ev
from webagent.core.action import first_acting
from webagent.core.brief import Brief
from webagent.core.event import Entry
from webagent.core.plan import Plan, template_of
from webagent.core.values import fingerprint
from webagent.engine import decide
from webagent.engine.ladder import Capabilities
from webagent.engine.state import RunState, advance
from webagent.executors.scripted import Fault
from webagent.runtime.result import RunResult, StepResult

few = settings(max_examples=int(os.environ.get("EXAMPLES", "15")))
# Found cases are made small before they are told, which on a busy machine takes its time.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drawn")


def cases() -> st.SearchStrategy[tuple[Errand, Mishaps]]:
    return errands().flatmap(lambda errand: st.tuples(st.just(errand), mishaps(errand)))


@few
@given(cases(), deaths, st.booleans())
async def test_the_promises_hold_through_failures_deaths_and_resumes(
    folder: Path, case, deaths, planned: bool
) -> None:
    ours = world(case[0], folder, case[1])
    ours.planner = ours.scripted if planned else None
    result = await ours.live(deaths)
    entries = await ours.entries()
    assert executed_after_validation(ours.marks, ours.site.log) == []
    assert all(times == 1 for times in ours.happened().values()), ours.site.ledger
    check_success(ours, result, entries)
    check_untouched(ours.plan, entries)
    check_prefixes(entries, Capabilities(planner=planned))
    for brief in ours.scripted.briefs:
        check_brief(ours, brief)


@few
@given(errands(), deaths)
async def test_deaths_alone_change_nothing_in_the_end(folder: Path, errand: Errand, deaths) -> None:
    undisturbed, ours = world(errand, folder), world(errand, folder)
    wanted = await undisturbed.live()
    found = await ours.live(deaths)
    assert (wanted.exit_code, found.exit_code) == (0, 0), found.reason
    assert stand(found) == stand(wanted)
    assert executed_after_validation(ours.marks, ours.site.log) == []
    assert ours.happened() == undisturbed.happened()
    again = performed_more_often(ours, undisturbed)
    dead = sum(1 for e in await ours.entries() if e.event.type == "RunResumed")
    assert dead or not again, again


@few
@given(cases())
async def test_what_a_failure_does_not_touch_is_done_as_if_it_had_not_been(
    folder: Path, case: tuple[Errand, Mishaps]
) -> None:
    errand, found = case
    found.changing = frozenset()
    undisturbed, ours = world(errand, folder), world(errand, folder, found)
    ours.planner = ours.scripted
    wanted, result = await undisturbed.live(), await ours.live(resumes=0)
    touched = set(found.faults) | set(found.true_anyway)
    # A browser that dies takes along what other steps were doing in it.
    touched |= {p for p, s in result.steps.items() if s.reopened or s.rungs.get("reenter")}
    # An effect that several steps share is done by whichever comes first.
    touched |= {n for n in errand.nodes() if errand.keys.get(template_of(n)) == "shared"}
    again = set(performed_more_often(ours, undisturbed))
    near = touched | {template_of(t) for t in touched}
    assert not {s for s in again if not {s, template_of(s)} & near}, again
    # No value changes here, so nobody's dependants have a reason to run again.
    assert not [p for p, s in result.steps.items() if s.reopened.get("upstream_reopened")]
    for path, step in result.steps.items():
        if step.state == "met" and wanted[path].state == "met" and path not in touched:
            below = any(path in ours.plan.descendants(template_of(t)) for t in touched)
            if not below and template_of(path) not in {template_of(t) for t in touched}:
                assert fingerprint(step.outputs) == fingerprint(wanted[path].outputs), path


@pytest.mark.parametrize("beside", [1, 10, 100])
async def test_a_brief_is_as_long_in_a_plan_of_any_length(folder: Path, beside: int) -> None:
    lengths = {await length_of_brief(folder, many) for many in (0, beside)}
    assert len(lengths) == 1
    assert lengths.pop() < 4_000


async def length_of_brief(folder: Path, beside: int) -> int:
    """The brief of one failing step, with so many steps before, beside and behind it."""
    errand = Errand()
    read = [{"goto": "http://h1.test/page"}, {"read": {"value": ".value"}}]
    expect = [{"text": "Shown"}]
    errand.steps["first"] = {"do": "read", "segment": read, "expect": expect}
    for number in range(beside):
        after = f"early{number - 1}" if number else "first"
        errand.steps[f"early{number}"] = {
            "do": "read", "goal": "early", "needs": [after], "segment": read, "expect": expect,
        }  # fmt: skip
    errand.steps["failing"] = {
        "do": "read", "goal": "Fails", "expect": expect,
        "segment": [{"goto": "http://h2.test/{{ first.value }}"}, {"read": {"value": ".value"}}],
    }  # fmt: skip
    for number in range(beside):
        errand.steps[f"late{number}"] = {
            "do": "read", "goal": "late", "needs": ["failing"], "segment": read, "expect": expect,
        }  # fmt: skip
    ours = world(errand, folder, Mishaps(faults={"failing": [Fault(at=1, failure=MISSING)]}))
    ours.planner = ours.scripted
    assert (await ours.live()).exit_code == 0
    (brief,) = ours.scripted.briefs
    # Time goes on while other steps work: the seconds left are a number of another length.
    return len(brief.model_copy(update={"seconds_left": 0.0}).model_dump_json())


# -- what the properties ask ------------------------------------------------------------------


def stand(result: RunResult) -> dict[str, tuple[str, str]]:
    """How each step ended, and its outputs."""
    return {p: (s.state, fingerprint(s.outputs)) for p, s in result.steps.items()}


def performed_more_often(ours: World, other: World) -> Counter[str]:
    """Which steps performed a kind of action more often here than there."""
    mine = Counter((p.step, p.verb) for p in ours.site.log)
    theirs = Counter((p.step, p.verb) for p in other.site.log)
    return Counter(step for (step, _), _ in (mine - theirs).items())


def check_success(ours: World, result: RunResult, entries: Sequence[Entry]) -> None:
    """Promise 4: a run that reports success met every expectation, and one turned true in each."""
    if result.status != "met":
        return
    probed = {
        e.event.step
        for e in entries
        if isinstance(e.event, ev.Judged) and any(v.by_probe for v in e.event.verdicts)
    }
    for path, step in result.steps.items():
        if step.state == "skipped":
            assert may_skip(ours, result, path), path
        elif step.state in ("unmet", "blocked"):
            assert "[" in path, path
            assert ours.plan.step(path).allow_failed, path
            assert result[template_of(path)].state == "met"
        else:
            assert step.state == "met", (path, step.state)
            check_met(ours, step, by_effect=step.already or path in probed)


def check_met(ours: World, step: StepResult, *, by_effect: bool) -> None:
    """A step stands met because its page showed it, or because its effect is known to be there."""
    written = ours.plan.step(step.path)
    if written.for_each is not None and "[" not in step.path:
        return
    if written.effect == "once":
        assert ours.happened()[ours.key(step.path)] == 1, step.path
    if written.do == "compare" or by_effect:
        return
    looks = ours.looks[step.path]
    assert looks[-1], step.path
    if first_acting(written.segment or ()) is not None:
        assert False in looks, f"{step.path} was true anyway"


def may_skip(ours: World, result: RunResult, path: str) -> bool:
    """Whether a condition or a skipped need is there to explain a skipped step."""
    step = ours.plan.step(path)
    needs = [result[n].state for n in step.needs]
    alternatives = {result[n].state for n in step.needs_any}
    condition = step.when is not None and step.when != "go"
    return condition or "skipped" in needs or alternatives == {"skipped"}


def check_untouched(plan: Plan, entries: Sequence[Entry]) -> None:
    """A revision changes one step's text; frozen outputs stay as they are till a reopening."""
    texts = {s.path: s.model_dump_json() for s in plan.steps}
    state, frozen = RunState(), dict[str, str]()
    for entry in entries:
        event = entry.event
        state = advance(state, entry)
        if isinstance(event, ev.PlanRevised):
            now = {s.path: s.model_dump_json() for s in state.the_plan.steps}
            assert {p for p in now if now[p] != texts[p]} <= {template_of(event.step)}
            assert frozen.get(event.step) is None, "a validated step was revised"
            texts = now
        elif isinstance(event, ev.StepFinished) and event.state == "met":
            assert event.step not in frozen
            assert event.digest == fingerprint(event.outputs)
            frozen[event.step] = event.digest
        elif isinstance(event, ev.StepReopened):
            for node in [n for n in frozen if template_of(n) == event.step]:
                del frozen[node]
    for node, digest in frozen.items():
        assert fingerprint(dict(state.nodes[node].outputs)) == digest, node


def check_prefixes(entries: Sequence[Entry], can: Capabilities) -> None:
    """Every prefix folds, and who takes over there enters nothing that is met or was dispatched."""
    dispatched: set[str] = set()
    state = RunState()
    for entry in entries:
        match entry.event:
            case ev.EffectDispatched(step=step):
                dispatched.add(step)
            case ev.EffectFreed(step=step) | ev.EffectRefused(step=step):
                dispatched.discard(step)
            case _:
                pass
        state = advance(state, entry)
        if state.plan is None or state.finished is not None:
            continue
        met = {p for p, n in state.nodes.items() if n.state == "met"}
        moves = decide.next_moves(taken_over(state), can, now=0.0)
        entered = {m.node for m in moves if isinstance(m, decide.Enter | decide.Compute)}
        assert not entered & dispatched, (entry.seq, entered & dispatched)
        assert not entered & met, (entry.seq, entered & met)


def taken_over(state: RunState) -> RunState:
    """The state of a runner that takes over here, with a new browser."""
    for event in (ev.RunResumed(gone_epochs=(1,)), ev.BrowserStarted()):
        entry = Entry(seq=state.seq + 1, epoch=2, at="2026-11-30T13:00:00+00:00", event=event)
        state = advance(state, entry)
    return state


def check_brief(ours: World, brief: Brief) -> None:
    """Promise 2: no goal, no page and no value of a step that the brief's own does not refer to."""
    text = brief.model_dump_json()
    mine = template_of(brief.step.path)
    others = {s.path for s in ours.plan.steps} - {mine}
    assert not [s for s in others if goal_of(s) in text]
    # A chain works in one page: the address it stands at was named by the step that opened it.
    elsewhere = others - set(ours.plan.chain(mine))
    assert not [s for s in elsewhere if re.search(rf"page-of-{s}\b", text)]
    # So may a value be that this address was made of.
    known = {s for step in ours.plan.chain(mine) for s in sources(ours.plan, step)}
    strange = {f"s{n}" for n in re.findall(r"\bv(\d+)\.", text)} - known - {mine}
    assert not strange, (mine, strange)


def sources(plan: Plan, path: str) -> set[str]:
    """The steps whose values a step's own values may hold: those it names, through comparisons."""
    found: set[str] = set()
    todo = [path]
    while todo:
        for use in plan.by_path[todo.pop()].uses:
            if use[0] and use[0] not in found:
                found.add(use[0])
                if plan.by_path[use[0]].do == "compare":
                    todo.append(use[0])
    return found
