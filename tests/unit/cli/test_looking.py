"""`runs`, `show`, `effects`, `settle`, and beginnings of ids."""

import asyncio
from pathlib import Path

from tests.unit.cli.conftest import Command, Said
from webagent import wiring
from webagent.core.event import RunStarted
from webagent.core.page import Failure
from webagent.executors.scripted import Fault, ScriptedSite
from webagent.interface import records

ORDERING = """\
webagent: 1
id: ordering
errand: Order one
steps:
  order:
    do: submit
    goal: Order it
    once: one
    segment:
      - goto: http://a.test/checkout
      - commit: {click: button "Place order"}
    expect: [{text: Thank you}]
"""


def test_runs_lists_the_newest_first(webagent: Command):
    assert "no run in this store" in webagent("runs").out
    webagent("run", "comparing.yaml")
    webagent("run", "asking.yaml")
    listed = webagent("runs", "--json").json
    assert [(one["recipe_id"], one["status"]) for one in listed] == [
        ("asking", "waiting"),
        ("comparing", "met"),
    ]
    assert listed[0]["run"] in webagent("runs").out


def test_a_run_is_named_by_a_unique_beginning_or_last(webagent: Command):
    webagent("run", "comparing.yaml")
    run = webagent("runs", "--json").json[0]["run"]
    assert webagent("show", run[:4], "--json").json["run"] == run
    assert webagent("show", "last", "--json").json["run"] == run
    said = webagent("show", "nosuch")
    assert said.code == 2
    assert "no run" in said.err


def test_show_tells_states_and_outputs(webagent: Command):
    webagent("run", "comparing.yaml")
    said = webagent("show", "last")
    assert said.code == 0
    assert "choose.title: blue" in said.out
    assert "Files:" in said.out


def test_show_a_step_lists_its_events(webagent: Command):
    webagent("run", "comparing.yaml")
    said = webagent("show", "last", "--step", "choose")
    assert "StepStarted  attempt 1" in said.out.replace(
        "StepStarted attempt", "StepStarted  attempt"
    )
    assert "StepFinished" in said.out
    events = webagent("show", "last", "--step", "choose", "--json").json
    assert {entry["event"]["step"] for entry in events} == {"choose"}
    wrong = webagent("show", "last", "--step", "chose")
    assert wrong.code == 2
    assert "Did you mean 'choose'" in wrong.err


def test_an_unknown_effect_ends_with_5_and_is_settled_by_a_person(
    webagent: Command, folder: Path, scripted: list[ScriptedSite]
):
    (folder / "ordering.yaml").write_text(ORDERING)
    webagent("run", "reading.yaml")
    scripted[-1].faults["order"] = [Fault(at=None, times=99)]
    said = webagent("run", "ordering.yaml")
    assert said.code == 5
    assert "webagent settle 'ordering/order/one'" in said.out
    row = webagent("effects", "ordering/", "--json").json[0]
    assert row["state"] == "unknown"
    assert "ordering/order/one" in webagent("effects").out
    undecided = webagent("settle", "ordering/order/one")
    assert undecided.code == 2
    assert "--did-not" in undecided.err
    settled = webagent("settle", "ordering/order/one", "--happened", "--note", "saw it", "--json")
    assert settled.json["state"] == "confirmed"
    assert "saw it" in settled.json["evidence"]
    assert "@" in settled.json["by"]
    resumed = webagent("resume", "last", "--json").json
    assert resumed["steps"]["order"]["state"] == "met"
    assert scripted[0].ledger == ["order"]
    again = webagent("settle", "ordering/order/one", "--did-not")
    assert again.code == 2
    assert "webagent effects" in again.err


def test_settling_what_nobody_did_names_what_is_near(webagent: Command):
    said = webagent("settle", "nothing", "--happened")
    assert said.code == 2
    assert "webagent effects" in said.err


def test_a_run_that_somebody_works_on_is_no_fault_of_the_store(webagent: Command):
    assert webagent("run", "comparing.yaml").code == 0
    run = webagent("runs", "--json").json[0]["run"]

    async def held() -> Said:
        async with records.opened(wiring.settings()) as store:
            lease = await store.acquire(run, wiring.this_runner())
            try:
                return await asyncio.to_thread(webagent, "answer", run, "choose=1")
            finally:
                await store.release(lease)

    said = asyncio.run(held())
    assert said.code == 2
    assert f"webagent stop {run}" in said.err


def test_what_failed_for_its_text_is_edited_and_its_evidence_is_named(
    webagent: Command, scripted: list[ScriptedSite]
):
    assert webagent("run", "reading.yaml").code == 0
    missing = Failure(kind="target_missing", message="no .v")
    scripted[-1].faults["right"] = [Fault(at=1, failure=missing, times=9)]
    said = webagent("run", "reading.yaml")
    assert said.code == 1
    run = webagent("runs", "--json").json[0]["run"]
    assert f"webagent show {run} --step right" in said.out
    assert f"Edit reading.yaml, then go on: webagent resume {run} --recipe reading.yaml" in said.out


def test_a_run_whose_runner_is_gone_is_interrupted_everywhere(webagent: Command):
    async def begun() -> None:
        async with records.opened(wiring.settings()) as store:
            await store.create("r1", "reading", "")
            lease = await store.acquire("r1", wiring.this_runner())
            started = RunStarted(run="r1", recipe_id="reading", date="2026-11-30")
            await store.append(lease, 0, [started], [])
            await store.release(lease)

    asyncio.run(begun())
    assert webagent("runs", "--json").json[0]["status"] == "interrupted"
    assert webagent("show", "r1", "--json").json["status"] == "interrupted"
    assert "interrupted  run r1" in webagent("show", "r1").out
