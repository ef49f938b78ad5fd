"""The command line on real sites, in a process of its own: what it prints and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.journey import RECIPES, Journey, edited
from webagent.demo.ledger import Write

SECONDS = 60


@dataclass
class Said:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def ended(process: subprocess.Popen[str]) -> Said:
    out, err = process.communicate(timeout=SECONDS)
    return Said(process.returncode, out, err)


def recipe(name: str) -> str:
    return str(RECIPES / f"{name}.yaml")


def effect(journey: Journey) -> dict[str, Any]:
    [row] = ended(journey.command("effects", "--json")).json
    return dict(row)


def test_a_run_is_shown_line_by_line_and_looked_at_afterwards(journey: Journey):
    said = ended(journey.command("run", recipe("compare_and_order")))
    assert said.code == 0, said.out + said.err
    assert "order_a: met (order_number: " in said.out
    shown = ended(journey.command("show", "last"))
    assert "effect confirmed" in shown.out
    events = ended(journey.command("show", "last", "--step", "order_a")).out
    assert 'commit: click button "Place order"' in events
    assert effect(journey)["state"] == "confirmed"


def test_a_rehearsal_shows_the_form_and_sends_nothing(journey: Journey):
    said = ended(journey.command("run", recipe("compare_and_order"), "--rehearse"))
    assert said.code == 0, said.out + said.err
    assert "order_a would send:" in said.out
    assert "1 Alder Street" in said.out
    assert journey.sites.ledger.count("order") == 0
    assert ended(journey.command("effects", "--json")).json == []


def test_no_secret_is_printed_or_kept(journey: Journey, tmp_path: Path):
    said = ended(journey.command("run", recipe("compare_and_order"), "--json"))
    shown = ended(journey.command("show", "last", "--json"))
    secret = journey.env["SHOP_PASSWORD"]
    assert secret not in said.out + said.err + shown.out
    assert said.json["steps"]["order_a"]["state"] == "met"
    for path in (tmp_path / "store").rglob("*"):
        if path.is_file() and path.name != "session.json":
            assert secret.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_parks_a_run_and_resume_ends_it(journey: Journey, number: signal.Signals):
    journey.sites.set_face("shop-b.test", "slow")
    process = journey.command("run", recipe("compare_and_order"))
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "search_a: met" in line or "search_b: running" in line:
            break
    process.send_signal(number)
    rest = ended(process)
    assert rest.code == 130, rest.out + rest.err
    assert "parked" in rest.out
    assert journey.sites.ledger.count("order") == 0
    resumed = ended(journey.command("resume", "last", "--json"))
    assert resumed.code == 0
    assert journey.sites.ledger.count("order") == 1


def test_stop_parks_the_run_of_another_process(journey: Journey):
    journey.sites.set_face("shop-a.test", "slow")
    journey.sites.set_face("shop-b.test", "slow")
    # On a busy machine the two commands below take longer than the run: its order is held.
    journey.sites.set_fault("shop-a.test", "order_delay", 15.0)
    process = journey.command("run", recipe("compare_and_order"))
    assert process.stdout is not None
    for line in process.stdout:
        if ": running" in line:
            break
    shown = ended(journey.command("show", "last"))
    assert "webagent stop" in shown.out
    assert "interrupted" not in shown.out
    asked = ended(journey.command("stop", "last", "--json")).json
    assert asked["asked"] is True
    rest = ended(process)
    assert rest.code == 130, rest.out + rest.err
    assert ended(journey.command("runs", "--json")).json[0]["status"] == "parked"


def test_a_failed_step_leaves_evidence_that_show_names(journey: Journey, tmp_path: Path):
    changed = edited("compare_and_order", tmp_path, ('searchbox "Search"', 'slider "Volume"'))
    said = ended(journey.command("run", str(changed), "--until", "search_b"))
    assert said.code == 1
    assert "search_b: unmet (target_missing" in said.out
    told = ended(journey.command("show", "last", "--json")).json
    evidence = told["evidence"]["search_b"]
    assert Path(evidence["screenshot"]).read_bytes().startswith(b"\x89PNG")
    assert 'searchbox "Search"' in Path(evidence["outline"]).read_text("utf-8")
    assert evidence["screenshot"] in ended(journey.command("show", "last")).out
    step = ended(journey.command("show", "last", "--step", "search_b")).out
    assert evidence["screenshot"] in step
    assert evidence["outline"] in step


def test_an_effect_that_nobody_knows_of_ends_with_5_until_a_person_settles_it(journey: Journey):
    journey.sites.set_fault("shop-a.test", "order_fault", "503_after_write")

    def hide_the_list(write: Write) -> None:
        if write.kind == "order":
            journey.sites.set_fault("shop-a.test", "probe_down", True)

    journey.sites.ledger.on_write(hide_the_list)
    said = ended(journey.command("run", recipe("compare_and_order")))
    assert said.code == 5, said.out + said.err
    assert "webagent settle" in said.out
    key = effect(journey)["key"]
    assert ended(journey.command("settle", key, "--happened", "--note", "by e-mail")).code == 0
    resumed = ended(journey.command("resume", "last", "--json"))
    assert resumed.json["steps"]["order_a"]["state"] in ("met", "waiting")
    assert journey.sites.ledger.count("order") == 1


def test_a_budget_that_is_used_up_ends_with_4(journey: Journey, tmp_path: Path):
    changed = edited("compare_and_order", tmp_path, ("\nsteps:", "\nbudget: {pages: 1}\n\nsteps:"))
    said = ended(journey.command("run", str(changed)))
    assert said.code == 4, said.out + said.err
    assert journey.sites.ledger.count("order") == 0


@pytest.mark.parametrize(
    "target, code, says",
    [
        ('searchbox "Search"', 0, "unique"),
        ("article.product", 1, "of them: right for each:"),
        ("{css: article.product, nth: 1}", 0, "unique"),
        ('button "Buy"', 1, "nothing"),
    ],
)
def test_look_says_what_a_target_finds(journey: Journey, target: str, code: int, says: str):
    url = "http://shop-a.test/search?q=cable"
    said = ended(journey.command("look", url, "--find", target))
    assert said.code == code, said.out + said.err
    assert says in said.out


def test_look_prints_targets_to_copy(journey: Journey):
    things = ended(journey.command("look", "http://shop-a.test/", "--json")).json["things"]
    assert {"target": 'searchbox "Search"', "count": 1} in things


def test_doctor_finds_this_machine_able(journey: Journey):
    said = ended(journey.command("doctor", "--json"))
    assert said.code == 0, said.out
    checks = {check["name"]: check for check in said.json["checks"]}
    assert checks["browser"]["ok"]
    assert "starts in" in checks["browser"]["told"]
    installed = ended(journey.command("doctor", "--install"))
    assert installed.code == 0
    assert len(installed.out.splitlines()) == 1


def test_doctor_says_what_is_missing(journey: Journey, tmp_path: Path):
    broken = tmp_path / "broken-browser"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    journey.env["WEBAGENT_BROWSER"] = str(broken)
    said = ended(journey.command("doctor"))
    assert said.code == 1
    assert "BAD  browser" in said.out


def test_the_demo_orders_once_in_a_shop_reorganised_under_way_by_a_runner_that_is_killed(
    journey: Journey,
):
    told = ended(journey.command("demo", "--json"))
    assert told.code == 0, told.out + told.err
    assert len(told.out.splitlines()) == 1
    assert told.err == ""
    assert told.json["orders"] == 1
    assert told.json["revised"] == ["order_b"]
    assert told.json["reexecuted"] == []
    assert told.json["status"] == "met"
    assert set(told.json["steps"].values()) == {"met", "skipped"}
    assert told.json["order_number"] is not None


def test_the_demo_tells_its_story(journey: Journey):
    said = ended(journey.command("demo"))
    assert said.code == 0
    for part in (
        "is reorganised this moment",
        "page_moved at goto http://shop-b.test/basket",
        "the segment of order_b, by the local planner",
        '- click link "Checkout"',
        '+ click link "To the till"',
        "Entered once, and left as they were: account/sign_in, ",
        "SIGKILL for runner",
        "exactly one order",
        "webagent show ",
    ):
        assert part in said.out
