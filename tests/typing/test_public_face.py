"""The public face as a user's type checker sees it: mypy proves these, running them is cheap."""

from typing import assert_type

from webagent import (
    Plan,
    Recipe,
    RevisionShown,
    RunResult,
    StepResult,
    accept,
    check,
    load,
    reject,
    resume,
    revisions,
    run,
    run_sync,
)


def use_of_the_face(path: str) -> None:
    recipe = load(path)
    assert_type(recipe, Recipe)
    assert_type(check(recipe), Plan)
    result = run_sync(recipe, {"query": "cable"}, unattended=True)
    assert_type(result, RunResult)
    assert_type(result["order"], StepResult)
    assert_type(result.exit_code, int)


async def use_of_the_async_face(path: str) -> None:
    assert_type(await run(path, until="choose"), RunResult)
    assert_type(await resume("last", recipe=path), RunResult)


async def use_of_what_a_run_healed() -> None:
    assert_type(await revisions("last"), tuple[RevisionShown, ...])
    accepted = await accept("last", ["find"], recipe="shop.yaml")
    assert_type(accepted.files, tuple[str, ...])
    rejected = await reject("last")
    assert_type(rejected.steps, tuple[str, ...])


def test_the_types_are_shipped():
    from importlib.resources import files

    assert (files("webagent") / "py.typed").is_file()
