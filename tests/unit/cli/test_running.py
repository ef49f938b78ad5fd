"""`run`, `resume`, `stop`: what is printed, what is kept, and with which code each ends."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command
from webagent.core.page import Failure
from webagent.executors.scripted import Fault, ScriptedSite


def test_a_met_run_ends_with_0_and_its_outputs(webagent: Command):
    said = webagent("run", "comparing.yaml")
    assert said.code == 0
    assert "choose: met (title: blue, price: 2)" in said.out
    assert "choose.title: blue" in said.out


def test_json_is_all_that_is_printed(webagent: Command):
    said = webagent("run", "comparing.yaml", "--json", "-i", "max_price=2.5")
    told = said.json
    assert told["ok"]
    assert told["status"] == "met"
    assert told["exit_code"] == 0
    assert told["steps"]["choose"]["outputs"]["title"] == "blue"
    assert said.err == ""


def test_a_step_that_is_not_met_ends_with_1(webagent: Command):
    said = webagent("run", "comparing.yaml", "-i", "max_price=1")
    assert said.code == 1
    assert "choose: unmet" in said.out
    assert "webagent resume" in said.out


def test_a_question_parks_with_3_and_its_answer_goes_on(webagent: Command):
    said = webagent("run", "asking.yaml")
    assert said.code == 3
    assert "Take blue?" in said.out
    run = webagent("runs", "--json").json[0]["run"]
    assert f"Answer it: webagent answer {run} colour=…   (yes, no)" in said.out
    shown = webagent("show", "last", "--json").json
    question = {"text": "Take blue?", "type": "string", "options": ["yes", "no"]}
    assert shown["steps"]["colour"]["question"] == question
    assert shown["reason"] == "colour waits for an answer: Take blue?"
    wrong = webagent("answer", "last", "colour=perhaps")
    assert wrong.code == 2
    assert "One of: yes, no" in wrong.err
    assert webagent("answer", "last", "colour=yes").code == 0
    assert webagent("show", "last", "--json").json["steps"]["colour"]["question"] is None
    told = webagent("resume", "last", "--json").json
    assert told["steps"]["colour"]["outputs"] == {"answer": "yes"}
    assert told["exit_code"] == 0


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["-i", "max_price=cheap"], "a number, not 'cheap'"),
        (["-i", "max_prize=3"], "did you mean 'max_price'"),
        (["-i", "max_price"], "not NAME=VALUE"),
        (["-i", "max_price=1", "-i", "max_price=2"], "given twice"),
        (["--inputs", "nowhere.yaml"], "nowhere.yaml"),
        (["--until", "chose"], "Did you mean 'choose'"),
        (["--again", "choose"], "no effect that happens once"),
        (["--out", "rows.xlsx"], ".csv"),
        (["--out", "no/where.csv"], "does not exist"),
    ],
)
def test_bad_input_ends_with_2_before_a_run_begins(
    webagent: Command, arguments: list[str], says: str
):
    said = webagent("run", "comparing.yaml", *arguments)
    assert said.code == 2
    assert says in said.err
    assert webagent("runs", "--json").json == []


def test_a_missing_secret_ends_with_2_before_a_run_begins(webagent: Command, folder: Path):
    text = (
        (folder / "reading.yaml")
        .read_text()
        .replace("steps:", 'secrets:\n  pin: {env: THE_PIN, for: "http://l.test"}\nsteps:')
    )
    text = text.replace("{read: {value: .v}}]", '{fill: {"#pin": "{{ secrets.pin }}"}}]', 1)
    text = text.replace("do: read\n    goal: Left", "do: fill\n    goal: Left").replace(
        "{{ left.value }}", ""
    )
    (folder / "secret.yaml").write_text(text)
    said = webagent("run", "secret.yaml")
    assert said.code == 2
    assert "THE_PIN is not set" in said.err
    assert webagent("runs", "--json").json == []


def test_unattended_refuses_a_plan_above_its_radius(
    webagent: Command, folder: Path, scripted: list[ScriptedSite]
):
    text = (folder / "reading.yaml").read_text().replace("steps:", "max_radius: 1\nsteps:")
    (folder / "wide.yaml").write_text(text)
    said = webagent("run", "wide.yaml", "--unattended")
    assert said.code == 2
    assert "left could redo 2 steps" in said.err
    assert webagent("run", "wide.yaml").code == 0


def test_outputs_go_to_a_file_by_its_suffix(webagent: Command, folder: Path):
    assert webagent("run", "comparing.yaml", "--out", "out.json", "--json").code == 0
    assert json.loads((folder / "out.json").read_text())["choose"]["title"] == "blue"
    for _ in range(2):
        said = webagent("run", "comparing.yaml", "--out", "out.csv")
        assert "1 rows written to out.csv" in said.out
    lines = (folder / "out.csv").read_text().splitlines()
    assert lines[1:] == ["blue,2", "blue,2"]


def test_a_run_that_failed_writes_no_file(webagent: Command, folder: Path):
    said = webagent("run", "comparing.yaml", "-i", "max_price=1", "--out", "out.json")
    assert said.code == 1
    assert "was not written" in said.err
    assert not (folder / "out.json").exists()


def test_a_failed_run_is_resumed_at_its_failed_step(
    webagent: Command, folder: Path, scripted: list[ScriptedSite]
):
    missing = Failure(kind="target_missing", message="no .v")
    assert webagent("run", "reading.yaml", "--json").code == 0
    scripted[-1].faults["right"] = [Fault(at=0, failure=missing)]
    failed = webagent("run", "reading.yaml", "--json").json
    assert (failed["exit_code"], failed["steps"]["right"]["drift"]) == (1, "target_missing")
    again = webagent("resume", "last", "--json").json
    assert again["run"] == failed["run"]
    assert again["exit_code"] == 0
    assert {p.step for p in scripted[-1].log} == {"right"}


def test_an_edited_recipe_keeps_what_it_did_not_touch(
    webagent: Command, folder: Path, scripted: list[ScriptedSite]
):
    missing = Failure(kind="target_missing", message="no .v")
    assert webagent("run", "reading.yaml").code == 0
    scripted[-1].faults["right"] = [Fault(at=1, failure=missing)]
    assert webagent("run", "reading.yaml").code == 1
    edited = (folder / "reading.yaml").read_text().replace("text: Right", "text: Rechts")
    (folder / "edited.yaml").write_text(edited)
    assert webagent("resume", "last", "--recipe", "edited.yaml").code == 0
    assert {p.step for p in scripted[-1].log} == {"right"}


def test_another_recipe_is_not_an_edit(webagent: Command):
    assert webagent("run", "comparing.yaml", "-i", "max_price=1").code == 1
    said = webagent("resume", "last", "--recipe", "asking.yaml")
    assert said.code == 2
    assert "another recipe is another run" in said.err


def test_until_works_on_what_the_step_needs(webagent: Command, scripted: list[ScriptedSite]):
    told = webagent("run", "reading.yaml", "--until", "left", "--json").json
    assert (told["exit_code"], told["status"]) == (0, "parked")
    assert told["steps"]["right"]["state"] in ("pending", "ready")
    assert webagent("resume", "last", "--json").json["status"] == "met"
    assert {p.step for p in scripted[-1].log} == {"right"}


def test_stopping_a_run_that_nobody_works_on_says_so(webagent: Command):
    webagent("run", "comparing.yaml")
    assert "Nobody is working on" in webagent("stop", "last").out
    assert webagent("stop", "last", "--json").json["asked"] is False
    assert webagent("stop", "zzz").code == 2


def test_pausing_without_a_terminal_is_refused(webagent: Command):
    said = webagent("run", "comparing.yaml", "--pause-on-failure")
    assert said.code == 2
    assert "no terminal" in said.err


ADDING = """\
webagent: 1
id: adding
errand: Look at each
inputs:
  people: {type: list, default: [{mail: a@x, name: Ann}, {mail: b@x, name: Bob}]}
steps:
  look:
    do: read
    goal: Look at one
    for_each: "{{ people }}"
    key: item.mail
    allow_failed: 1
    segment: [{goto: "http://l.test/{{ item.name }}"}, {read: {value: .v}}]
    expect: [{text: Left}]
"""

TWO_LISTS = """\
webagent: 1
id: two
errand: Two lists
inputs:
  offers: {type: list, default: [{title: red, price: 3}, {title: blue, price: 2}]}
steps:
  cheap: {do: compare, from: "{{ offers }}", where: price <= 9}
  cheaper: {do: compare, from: "{{ cheap.items }}", where: price <= 2}
  dear: {do: compare, from: "{{ offers }}", where: price > 2}
"""


def test_a_for_each_is_one_table_and_what_failed_is_counted(
    webagent: Command, folder: Path, scripted: list[ScriptedSite]
):
    (folder / "adding.yaml").write_text(ADDING)
    assert webagent("run", "adding.yaml", "--out", "met.csv").code == 0
    lines = (folder / "met.csv").read_text().splitlines()
    assert lines == [
        "key,item.mail,item.name,value",
        "a@x,a@x,Ann,value of look[a@x]",
        "b@x,b@x,Bob,value of look[b@x]",
    ]
    missing = Failure(kind="target_missing", message="no .v")
    scripted[-1].faults["look[b@x]"] = [Fault(at=1, failure=missing, times=99)]
    said = webagent("run", "adding.yaml", "--out", "one.jsonl")
    assert said.code == 0
    assert "1 rows written to one.jsonl" in said.out
    assert "1 of look.failed left out" in said.err


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_plan_that_ends_in_two_lists_is_refused_before_it_runs(
    webagent: Command, folder: Path, suffix: str
):
    (folder / "two.yaml").write_text(TWO_LISTS)
    said = webagent("run", "two.yaml", "--out", f"out.{suffix}")
    assert said.code == 2
    assert "cheaper.items, dear.items" in said.err
    assert "--out out.json" in said.err
    assert "no run" in webagent("runs").out
    assert webagent("run", "two.yaml", "--out", "out.json").code == 0


def test_until_a_step_that_others_use_writes_its_rows(webagent: Command, folder: Path):
    (folder / "two.yaml").write_text(TWO_LISTS)
    said = webagent("run", "two.yaml", "--until", "cheap", "--out", "cheap.csv")
    assert said.code == 0
    assert (folder / "cheap.csv").read_text() == "title,price\nred,3\nblue,2\n"


def test_no_rows_are_explained(webagent: Command, folder: Path, scripted: list[ScriptedSite]):
    (folder / "adding.yaml").write_text(ADDING)
    said = webagent("run", "adding.yaml", "-i", "people=[]", "--out", "none.csv")
    assert said.code == 0
    assert "0 rows: look gave none, so nothing was written to none.csv" in said.err
    assert not (folder / "none.csv").exists()


def test_a_file_that_cannot_be_written_does_not_make_a_met_run_bad_input(
    webagent: Command, folder: Path
):
    (folder / "out.csv").write_text("other,columns\n")
    said = webagent("run", "comparing.yaml", "--out", "out.csv")
    assert said.code == 1
    assert said.out.startswith("choose: met") or "met  run" in said.out
    assert "The run itself is met" in said.err
    way = said.err.split("webagent resume ")[1].split()
    assert way[1:] == ["--out", "out.json"]
    assert webagent("resume", *way).code == 0
    assert json.loads((folder / "out.json").read_text())["choose"]["title"] == "blue"
    told = webagent("run", "comparing.yaml", "--out", "out.csv", "--json").json
    assert (told["ok"], told["exit_code"], told["status"]) == (False, 1, "met")
    assert "other columns" in told["out"]["notes"][0]


def test_a_rehearsal_shows_the_form_of_each_item(
    webagent: Command, folder: Path, scripted: list[ScriptedSite]
):
    send = ADDING.replace("do: read", "do: submit\n    once: '{{ item.mail }}'").replace(
        "{read: {value: .v}}", '{commit: {click: button "Send"}}'
    )
    (folder / "sending.yaml").write_text(send)
    said = webagent("run", "sending.yaml", "--rehearse")
    assert said.code == 0
    assert "look[a@x] would send:" in said.out
    assert "look[b@x] would send:" in said.out
    assert scripted[-1].ledger == []


@pytest.mark.parametrize(
    "rows, says",
    [
        ("email,name\na@x,Ann\n", "rows have: email, name"),
        ("mial,name\na@x,Ann\n", "did you mean 'mial'?"),
        ("mail,name\na@x,Ann\na@x,Bob\n", "two items of look have the key 'a@x'"),
        ("mail,name\na@x,Ann\n,Bob\n", "item 2 of look has no key"),
    ],
)
def test_rows_that_do_not_fit_are_told_before_anything_is_opened(
    webagent: Command, folder: Path, scripted: list[ScriptedSite], rows: str, says: str
):
    (folder / "adding.yaml").write_text(ADDING)
    (folder / "rows.csv").write_text(rows)
    said = webagent("run", "adding.yaml", "--inputs", "rows.csv")
    assert said.code == 2
    assert says in said.err
    assert scripted == []
    assert "no run" in webagent("runs").out


def test_rows_that_fit_run(webagent: Command, folder: Path, scripted: list[ScriptedSite]):
    (folder / "adding.yaml").write_text(ADDING)
    (folder / "rows.csv").write_text("mail,name,more\nc@x,Cid,1\n")
    assert webagent("run", "adding.yaml", "--inputs", "rows.csv").code == 0
