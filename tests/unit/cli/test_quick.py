"""The quick commands stay quick by what they load; `make bench NAME=overhead` has their CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("playwright", "sqlalchemy", "starlette", "uvicorn", "dateparser", "bs4", "networkx")


def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.yaml"
    path.write_text(
        "webagent: 1\nid: quick\nsteps:\n  one:\n    do: read\n"
        '    segment: [{goto: "https://a.example/"}, {read: {title: h1}}]\n'
        "    expect: [{text: Hello}]\n"
    )
    return path


@pytest.mark.parametrize("command", ["--help", "check"])
def test_the_quick_commands_load_nothing_heavy(tmp_path: Path, command: str):
    arguments = [command] if command == "--help" else [command, str(recipe(tmp_path))]
    code = (
        "import sys\nfrom webagent.cli import run_command\n"
        f"assert run_command({arguments!r}) == 0\n"
        f"print('LOADED', *(m for m in {HEAVY!r} if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["LOADED"]


def test_importing_the_package_loads_nothing():
    heavy = ("pydantic", "asyncio", "typer")
    code = f"import sys, webagent; print(*(m for m in {heavy!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_terminal_of_few_letters_is_no_reason_to_end(tmp_path: Path):
    path = tmp_path / "odd.yaml"
    path.write_text(
        "webagent: 1\nid: odd\nerrand: Größtes Stück ✔\n"
        "inputs: {rows: {type: list, default: [{name: Stück 3 €}]}}\n"
        'steps:\n  one:\n    do: compare\n    from: "{{ rows }}"\n    take: 1\n',
        "utf-8",
    )
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "WEBAGENT_STORE": str(tmp_path / "store")}
    for arguments in (["run", str(path)], ["run", str(path), "--json"], ["show", "last"]):
        done = subprocess.run(
            [sys.executable, "-m", "webagent", *arguments],
            capture_output=True,
            env=env,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()
        if "--json" in arguments:
            told = json.loads(done.stdout)
            assert told["steps"]["one"]["outputs"]["name"] == "Stück 3 €"


def test_the_shell_can_complete_commands():
    env = {**os.environ, "_WEBAGENT_COMPLETE": "complete_bash", "COMP_WORDS": "webagent re",
           "COMP_CWORD": "1"}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "webagent"], capture_output=True, text=True, env=env, check=False
    )
    assert "resume" in done.stdout
