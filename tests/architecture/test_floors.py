"""Imports go downwards only, and the contracts that say so are shown to bite."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.house import PACKAGE, ROOT

# Loaded by none of the quick commands: each costs a good part of a second.
HEAVY = (
    "playwright",
    "sqlalchemy",
    "anthropic",
    "dbos",
    "starlette",
    "uvicorn",
    "dateparser",
    "bs4",
)

# Made empty in the copy where they do not exist yet, so that each contract can be broken.
ROOMS = ["core", "engine", "planners", "executors", "extractors", "formats", "stores", "secrets"]
ROOMS += ["chats", "sinks", "runtime", "settings", "wiring", "cli"]


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter as `make check` does, on the package found in ``root``."""
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as l; l()",
         "--no-cache"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_floors_hold():
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize(
    "module, line, contract",
    [
        ("core/breach.py", "import webagent.ports", "Imports go downwards only"),
        ("core/breach.py", "import os", "Core and engine know no world"),
        ("engine/breach.py", "import time", "Core and engine know no world"),
        ("engine/breach.py", "import webagent.ports", "Imports go downwards only"),
        ("runtime/breach.py", "import webagent.stores", "The runtime knows ports, not adapters"),
        ("stores/breach.py", "import webagent.executors", "Imports go downwards only"),
        ("stores/breach.py", "import webagent.engine", "Adapters know neither engine nor settings"),
        ("stores/breach.py", "import webagent.settings", "Imports go downwards only"),
        ("runtime/breach.py", "import webagent.wiring", "Imports go downwards only"),
        ("utterly_new.py", "", "Imports go downwards only"),
        ("core/ring_a.py", "import webagent.core.ring_b", "Siblings form no ring"),
    ],
)
def test_the_contract_bites(tmp_path: Path, module: str, line: str, contract: str):
    shutil.copytree(PACKAGE, tmp_path / "webagent", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for room in ROOMS:
        if not (tmp_path / "webagent" / f"{room}.py").exists():
            (tmp_path / "webagent" / room).mkdir(exist_ok=True)
            (tmp_path / "webagent" / room / "__init__.py").touch()
    path = tmp_path / "webagent" / module
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n\ndef breach() -> None:\n    {line or 'return'}\n")
    if "ring_a" in module:
        path.with_name("ring_b.py").write_text("import webagent.core.ring_a\n")
    done = lint_imports(tmp_path)
    assert done.returncode != 0
    assert f"{contract} BROKEN" in done.stdout or f"\n{contract}\n" in done.stdout, done.stdout


@pytest.mark.skipif(not importlib.util.find_spec("webagent.cli"), reason="there is no CLI yet")
def test_the_command_line_loads_nothing_heavy():
    code = f"import sys, webagent.cli; print(*(m for m in {HEAVY} if m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == []
