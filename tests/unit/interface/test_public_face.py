"""`from webagent import …`: what is there, what it gives, and what it raises."""

from __future__ import annotations

from pathlib import Path

import pytest

import webagent
from tests.unit.cli.conftest import ASKING, COMPARING
from webagent import BadInput, Entry, InputInvalid, RecipeInvalid, UnknownRun


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asking.yaml").write_text(ASKING, "utf-8")
    path = tmp_path / "comparing.yaml"
    path.write_text(COMPARING, "utf-8")
    return path


def test_everything_that_is_promised_is_there():
    for name in webagent.__all__:
        assert getattr(webagent, name) is not None
    assert dir(webagent) == sorted(webagent.__all__)


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = webagent.nothing


def test_what_people_call_says_what_it_raises():
    for function in (webagent.load, webagent.check, webagent.run, webagent.resume, webagent.answer,
                     webagent.settle, webagent.result):  # fmt: skip
        assert "Raises:" in (function.__doc__ or "")


def test_run_sync_gives_a_typed_result(recipe: Path):
    result = webagent.run_sync(recipe, {"max_price": 2})
    assert result.ok
    assert result.status == "met"
    assert result["choose"].outputs["title"] == "blue"
    assert result.outputs["choose"]["price"] == 2


async def test_run_tells_each_event(recipe: Path):
    seen: list[Entry] = []
    result = await webagent.run(webagent.load(recipe), on_event=seen.append)
    assert [entry.seq for entry in seen] == list(range(1, len(seen) + 1))
    assert seen[0].event.type == "RunStarted"
    assert (await webagent.result(result.run)) == result
    assert [one.run for one in await webagent.runs()] == [result.run]


async def test_an_errand_waits_for_an_answer_and_goes_on(recipe: Path):
    first = await webagent.run("asking.yaml", store=recipe.parent / "elsewhere")
    assert (first.status, first.exit_code) == ("waiting", 3)
    store = recipe.parent / "elsewhere"
    with pytest.raises(InputInvalid, match="perhaps"):
        await webagent.answer("last", "colour", "perhaps", store=store)
    assert await webagent.answer("last", "colour", "no", store=store) == first.run
    second = await webagent.resume(first.run, store=store)
    assert second["colour"].outputs == {"answer": "no"}
    with pytest.raises(BadInput, match="does not wait"):
        await webagent.answer("last", "colour", "no", store=store)


async def test_what_is_wrong_raises_before_anything_begins(recipe: Path):
    with pytest.raises(InputInvalid, match="max_price"):
        await webagent.run(recipe, {"max_price": "cheap"})
    with pytest.raises(RecipeInvalid) as caught:
        webagent.check("nowhere.yaml")
    assert caught.value.problems[0].file == "nowhere.yaml"
    with pytest.raises(UnknownRun):
        await webagent.result()


def test_check_gives_a_plan_with_worst_cases(recipe: Path):
    plan = webagent.check(recipe)
    assert [one.steps for one in webagent.radii(plan)] == [1]
