"""The composition root: ids, dates, what a browser may know, what is ended in a take-over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from webagent import wiring
from webagent.core.base import SecretUse
from webagent.core.compile import compile_plan
from webagent.core.errors import BadInput
from webagent.core.plan import BrowserOptions, Plan
from webagent.formats.recipe_yaml import parse_recipe
from webagent.ports import Runner
from webagent.stores import processes

NOW = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)


def plan(**browser: str) -> Plan:
    return Plan(recipe_id="x", steps=(), browser=BrowserOptions(**browser))  # type: ignore[arg-type]  # by name, as a recipe gives them


def test_later_runs_sort_behind_earlier_ones():
    moments = [NOW + timedelta(milliseconds=7 * n, days=n) for n in range(50)]
    ids = [wiring.new_run_id(moment) for moment in moments]
    assert ids == sorted(ids)
    assert {len(one) for one in ids} == {11}


def test_runs_that_begin_together_have_their_own_ids():
    assert len({wiring.new_run_id(NOW) for _ in range(40)}) > 35


def test_run_date_is_the_recipe_zones_day():
    assert wiring.run_date(plan(timezone="Asia/Tokyo"), {}, NOW) == "2026-12-01"
    assert wiring.run_date(plan(timezone="America/Lima"), {}, NOW) == "2026-11-30"
    assert wiring.run_date(plan(timezone="{{ zone }}"), {"zone": "Asia/Tokyo"}, NOW) == "2026-12-01"
    assert wiring.run_date(plan(), {}, NOW) == NOW.astimezone().date().isoformat()


def test_a_zone_that_is_none_is_bad_input():
    with pytest.raises(BadInput, match="Mars/Olympus"):
        wiring.run_date(plan(timezone="Mars/Olympus"), {}, NOW)


def test_a_browser_is_not_told_the_environment():
    env = {"HOME": "/h", "DISPLAY": ":0", "LC_ALL": "C", "SHOP_PASSWORD": "x", "AWS_TOKEN": "y"}
    assert wiring.browser_environment(env) == {"HOME": "/h", "DISPLAY": ":0", "LC_ALL": "C"}


def test_the_secrets_that_steps_use_are_found_with_their_place():
    text = """\
webagent: 1
id: x
secrets:
  pin: {env: PIN, for: "http://a.test"}
  unused: {env: NOBODY, for: "http://a.test"}
steps:
  enter:
    do: sign_in
    segment:
      - goto: http://a.test/
      - fill: {"#pin": "{{ secrets.pin | totp }}"}
      - click: button "Go"
    expect: [{text: Hello}]
"""
    assert wiring.used_secrets(compile_plan(parse_recipe(text))) == (SecretUse(secret="pin"),)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands for a hung runner or its browser."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def runner(**changed: object) -> Runner:
    return wiring.this_runner().model_copy(update=changed)


def test_a_take_over_ends_the_former_runner_and_its_browser(sleeper: subprocess.Popen[bytes]):
    started = processes.start_time(sleeper.pid)
    former = runner(pid=1 << 22, started=1.0, browser_pid=sleeper.pid, browser_started=started)
    assert wiring.end_runner(former)
    assert processes.start_time(sleeper.pid) is None


def test_a_process_that_only_has_the_number_is_left_alone(sleeper: subprocess.Popen[bytes]):
    assert wiring.end_runner(runner(pid=sleeper.pid, started=1.0))
    assert sleeper.poll() is None


def test_what_ran_elsewhere_is_not_known_to_be_gone(sleeper: subprocess.Popen[bytes]):
    started = processes.start_time(sleeper.pid)
    assert not wiring.end_runner(runner(host="elsewhere", pid=sleeper.pid, started=started))
    assert wiring.end_runner(runner(boot="before", pid=sleeper.pid, started=started))
    assert sleeper.poll() is None


def test_this_very_process_is_never_ended():
    assert not wiring.end_runner(wiring.this_runner())
    assert os.getpid()
