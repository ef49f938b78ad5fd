"""Commands run in this process, in a folder and with a store of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from webagent import wiring
from webagent.cli import run_command
from webagent.executors.scripted import ScriptedExecutor, ScriptedSite


@dataclass
class Said:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which has to be one JSON document and nothing else."""
        return json.loads(self.out)


Command = Callable[..., Said]

# A recipe that opens no page: what a person has to say is asked, the rest is computed.
ASKING = """\
webagent: 1
id: asking
errand: Take the cheaper that a person may pay for
inputs:
  offers: {type: list, default: [{title: red, price: 3}, {title: blue, price: 2}]}
  max_price: {type: number, default: 9}
steps:
  choose:
    do: compare
    from: "{{ offers }}"
    where: price <= max_price
    order: [price]
    take: 1
  colour:
    do: ask
    question: "Take {{ choose.title }}?"
    options: ["yes", "no"]
"""

COMPARING = """\
webagent: 1
id: comparing
errand: Take the cheapest
inputs:
  offers: {type: list, default: [{title: red, price: 3}, {title: blue, price: 2}]}
  max_price: {type: number, default: 9}
steps:
  choose:
    do: compare
    from: "{{ offers }}"
    where: price <= max_price
    order: [price]
    take: 1
"""

READING = """\
webagent: 1
id: reading
errand: Read two pages
steps:
  left:
    do: read
    goal: Left
    segment: [{goto: "http://l.test/"}, {read: {value: .v}}]
    expect: [{text: Left}]
  right:
    do: read
    goal: Right
    segment: [{goto: "http://r.test/{{ left.value }}"}, {read: {value: .v}}]
    expect: [{text: Right}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with the store below it."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("asking", ASKING), ("comparing", COMPARING), ("reading", READING)):
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def webagent(folder: Path, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command line: ``webagent("run", "asking.yaml")``."""
    assert folder.is_dir()

    def run(*arguments: str) -> Said:
        capfd.readouterr()
        code = run_command(list(arguments))
        out, err = capfd.readouterr()
        return Said(code, out, err)

    return run


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> list[ScriptedSite]:
    """Runs get a scripted browser; the sites that were made for them, the newest last."""
    made: list[ScriptedSite] = []

    def factory(_settings: Any, plan: Any, _source: Any, _redactor: Any) -> Any:
        site = ScriptedSite(plan)
        if made:  # a resume works on the same site
            site.faults, site.values, site.ledger = (
                made[-1].faults,
                made[-1].values,
                made[-1].ledger,
            )
        made.append(site)
        return lambda _run: ScriptedExecutor(site)

    monkeypatch.setattr(wiring, "browser_factory", factory)
    return made
