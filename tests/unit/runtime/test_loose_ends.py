"""Ends that random graphs found loose: items that were forgotten, loops, values of another type."""

import asyncio
from pathlib import Path

import pytest

from tests.unit.runtime.stage import Stage, stage
from webagent.core import event as ev
from webagent.core.page import Failure, Observation
from webagent.engine import decide
from webagent.engine.state import fold
from webagent.executors.scripted import Fault, Turns
from webagent.runtime.journal import Journal, OvertakenError
from webagent.runtime.steps import StepMoves

MISSING = Failure(kind="target_missing", message="nothing matches")


async def test_an_item_that_reopened_its_source_goes_on_when_that_is_met(tmp_path: Path) -> None:
    ours = stage(
        """
webagent: 1
id: t
errand: t
steps:
  list:
    do: read
    segment: [{goto: "http://a.test/"}, {read: {rows: {each: li, key: id, fields: {id: .id}}}}]
    expect: [{text: List}]
  visit:
    do: read
    for_each: "{{ list.rows }}"
    key: item.id
    segment: [{goto: "http://a.test/{{ list.rows | length }}/{{ item.id }}"}, {read: {value: .v}}]
    expect: [{text: Page}]
""",
        tmp_path,
    )
    rows = [{"id": "a"}, {"id": "b"}]
    ours.site.values = {"list": {"rows": rows}}
    gone = Observation(url="http://a.test/2/a", status=404)
    ours.site.faults = {"visit[a]": [Fault(at=0, failure=MISSING, seen=gone)]}
    result = await ours.run()
    assert result["list"].reopened == {"stale_input": 1}
    assert {p: s.state for p, s in result.steps.items()} == {
        "list": "met", "visit": "met", "visit[a]": "met", "visit[b]": "met",
    }  # fmt: skip


async def test_a_number_stands_where_a_text_is_wanted_and_null_does_not(tmp_path: Path) -> None:
    text = """
webagent: 1
id: t
errand: t
steps:
  one:
    do: read
    segment: [{goto: "http://a.test/"}, {read: {count: {css: .n, type: number}}}]
    expect: [{text: One}]
  two:
    do: read
    segment: [{goto: "http://b.test/"}, {wait: {text: "{{ one.count }}"}}, {read: {value: .v}}]
    expect: [{text: "{{ one.count }}"}]
"""
    good, bad = stage(text, tmp_path), stage(text, tmp_path)
    good.site.values, bad.site.values = {"one": {"count": 3}}, {"one": {"count": None}}
    assert (await good.run()).exit_code == 0
    result = await bad.run()
    assert result["two"].state == "unmet"
    assert result["two"].drift == "precondition_unmet"
    assert "came out as null" in result["two"].reason


async def test_moves_that_change_nothing_end_the_run_instead_of_looping(
    fan: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forgetful(_self: StepMoves, _move: object) -> None:
        """A move whose outcome is not journaled."""

    monkeypatch.setattr(StepMoves, "carry_out", forgetful)
    with pytest.raises(AssertionError, match="no progress"):
        await asyncio.wait_for(fan.run(), 5)


async def test_a_run_never_ends_over_a_step_that_did_not(
    fan: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decide, "_of_pending", lambda *_: iter(()))
    fan.site.faults = {"left": [Fault(at=0, failure=MISSING, times=99)]}
    with pytest.raises(AssertionError, match="middle, final did not"):
        await fan.run()
    state = fold(await fan.entries())
    assert decide.next_moves(state) == (decide.Finish("failed", 1),)


async def test_what_does_not_fold_is_never_kept(fan: Stage) -> None:
    await fan.run()
    before = await fan.entries()
    deps = fan.deps()
    lease = await fan.store.acquire("r1", deps.runner)
    journal = Journal(fan.store, lease, deps.redact_event, deps.redact_effect)
    await journal.load()
    with pytest.raises(OvertakenError, match="left cannot go from met to running"):
        await journal.append(ev.StepStarted(step="left", attempt=2))
    assert await fan.entries() == before
    assert fold(before).seq == journal.state.seq


async def test_steps_that_share_an_effect_do_it_one_after_the_other(tmp_path: Path) -> None:
    step = """
  {name}:
    do: submit
    once: {{name: order, key: one}}
    segment:
      - goto: http://{name}.test/
      - commit: {{click: button "Order"}}
      - read: {{no: .no}}
    expect: [{{text: Thanks}}]
    probe:
      - goto: http://{name}.test/orders
      - read: {{orders: {{each: tr, key: no, fields: {{no: .no}}}}}}
"""
    text = "webagent: 1\nid: t\nerrand: t\nsteps:" + "".join(
        step.format(name=name) for name in ("a", "b", "c")
    )
    ours = stage(text, tmp_path)
    ours.site.reads = lambda _step, name: [] if name == "orders" else "17"
    ours.site.pause = 0.001
    result = await ours.run()
    assert (result.exit_code, len(ours.site.ledger)) == (0, 1)
    assert sorted(s.already for s in result.steps.values()) == [False, True, True]
    assert {str(s.outputs) for s in result.steps.values()} == {"{'no': '17'}"}


async def test_two_steps_that_find_one_value_stale_have_its_source_asked_once(
    tmp_path: Path,
) -> None:
    ours = stage(
        """
webagent: 1
id: t
errand: t
steps:
  source:
    do: read
    segment: [{goto: "http://a.test/"}, {read: {value: .v}}]
    expect: [{text: Source}]
  one:
    do: read
    segment: [{goto: "http://b.test/{{ source.value }}"}, {read: {value: .v}}]
    expect: [{text: One}]
  two:
    do: read
    segment: [{goto: "http://c.test/{{ source.value }}"}, {read: {value: .v}}]
    expect: [{text: Two}]
""",
        tmp_path,
    )
    gone = Observation(url="http://b.test/", status=404)
    for step in ("one", "two"):
        ours.site.faults[step] = [Fault(at=0, failure=MISSING, seen=gone)]
    ours.site.values = {"source": {"value": Turns(("old", "new"))}}
    ours.site.pause = 0.001
    result = await ours.run()
    assert result.exit_code == 0
    assert result["source"].reopened == {"stale_input": 1}
    assert ours.performed("goto") == {"source": 2, "one": 1, "two": 1}
