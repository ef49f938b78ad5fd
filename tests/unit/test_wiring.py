"""The composition root: ids, dates, what a browser may know, what is ended in a take-over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from fixtures.messages import KEY, MessagesServer, Smallest
from webagent import wiring
from webagent.core.base import SecretUse
from webagent.core.chat import DEFAULT_MODEL, Models, ModelSpec, Question, Text, Turn
from webagent.core.compile import compile_plan
from webagent.core.errors import BadInput
from webagent.core.limits import Budget
from webagent.core.plan import BrowserOptions, Plan
from webagent.formats.recipe_yaml import parse_recipe
from webagent.ports import Runner
from webagent.settings import Settings
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


# --- models ---

PRICED = {"model": "claude-m", "price": {"input": 3, "output": 15}, "max_tokens": 99}


def models(found: dict[str, Any] | str | None = None, recipe: Models | None = None, **more: Any):
    """The models by role when the settings say so, and the recipe."""
    budget = Budget(money=more.pop("money", None))
    plan = Plan(recipe_id="x", steps=(), models=recipe or Models(), budget=budget)
    settings = Settings(Path(), Path(), models=found, models_at="webagent.toml", **more)
    return {role: spec.model for role, spec in wiring.model_specs(settings, plan).items()}


ALL = {"planner": "claude-x", "executor": "claude-x", "reader": "claude-x"}


def test_without_a_name_no_model_is_asked():
    assert models() == {}
    assert wiring.make_chat(Settings(Path(), Path(), api_key="sk-that-lies-about")) is None


def test_a_command_that_needs_one_takes_the_default():
    found = wiring.model_specs(Settings(Path(), Path(), models={"reader": "mine"}), default=True)
    assert {role: spec.model for role, spec in found.items()} == {
        "planner": DEFAULT_MODEL, "executor": DEFAULT_MODEL, "reader": "mine",
    }  # fmt: skip
    assert wiring.model_specs(Settings(Path(), Path(), models="none"), default=True) == {}


def test_the_default_is_a_model_that_the_sdk_knows():
    from anthropic.types import model_param

    assert DEFAULT_MODEL in get_args(get_args(model_param.ModelParam)[0])


def test_models_are_named_for_all_roles_or_by_role():
    assert models("claude-x") == models({"model": "claude-x"}) == models(model="claude-x") == ALL
    assert models({"planner": "claude-x"}) == {"planner": "claude-x"}


def test_the_recipe_goes_before_the_settings_role_by_role():
    recipe = Models(planner=ModelSpec(model="big"))
    assert models("claude-x", recipe) == ALL | {"planner": "big"}


@pytest.mark.parametrize(
    "found, recipe, name",
    [
        ("claude-x", Models(off=True), None),
        ("none", Models(planner=ModelSpec(model="big")), None),
        ({"planner": "claude-x"}, Models(planner=ModelSpec(model="big")), "none"),
    ],
)
def test_none_anywhere_is_none(found: Any, recipe: Models, name: str | None):
    assert models(found, recipe, model=name) == {}


def test_the_variable_goes_before_the_file_and_drops_the_price_of_another_model():
    settings = Settings(Path(), Path(), models={"planner": PRICED}, model="claude-x")
    planner = wiring.model_specs(settings)["planner"]
    assert (planner.model, planner.max_tokens, planner.price.known) == ("claude-x", 99, False)
    same = wiring.model_specs(replace(settings, model="claude-m"))["planner"]
    assert same.price.input == 3


@pytest.mark.parametrize(
    "found, says",
    [
        ({"planer": "x"}, "webagent.toml: models has no key 'planer'"),
        ({"planner": {"model": "x", "effort": "hihg"}}, "did you mean 'high'?"),
        ({"planner": {"modle": "x"}}, "did you mean 'model'?"),
        ({"planner": {"model": "x", "seconds": -1}}, "a duration is wanted here"),
        ([1], "a model's name is wanted here, not a list"),
        ({"planner": {"model": "x", "budget": {"money": 1}}}, "at models.planner"),
    ],
)
def test_a_wrong_models_table_is_named(found: Any, says: str):
    with pytest.raises(BadInput) as caught:
        models(found)
    assert says in str(caught.value)


def test_money_is_limited_only_where_prices_are_known():
    assert models({"planner": PRICED}, money=1.0) == {"planner": "claude-m"}
    with pytest.raises(BadInput, match="there is none for executor"):
        models({"planner": PRICED, "executor": "x"}, money=1.0)


def test_the_models_key_is_taken_out_of_all_that_is_kept():
    settings = Settings(Path(), Path(), api_key="sk-of-kim", auth_token="token-of-kim")
    _, redactor = wiring.secret_source(settings, Plan(recipe_id="x", steps=()))
    told = redactor.text("sk-of-kim and token-of-kim")
    assert "of-kim" not in told
    assert wiring.redact_all("Bearer token-of-kim") == "Bearer [secret]"


async def test_a_chat_is_made_of_the_settings():
    with MessagesServer(Smallest()) as server:
        settings = Settings(
            Path(), Path(), models="claude-x", api_key=KEY, base_url=server.base_url
        )
        chat = wiring.make_chat(settings)
        assert chat is not None
        turns = (Turn(role="user", texts=(Text(text="Hello"),)),)
        assert (await chat.ask(Question(role="reader", turns=turns))).text == "OK"


def test_neither_help_nor_check_loads_the_sdk():
    code = (
        "import sys; import webagent.cli, webagent.wiring as w; w.recipe_schema();"
        "sys.exit('anthropic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
