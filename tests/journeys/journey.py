"""A recipe run for real: a real browser, a real store, and a fixture site that keeps a ledger."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import psutil

from fixtures.server import SiteServer
from webagent.core.base import Json
from webagent.core.event import Entry
from webagent.engine.state import RunState
from webagent.interface.errands import Terms, check, prepare
from webagent.interface.records import answer, opened
from webagent.interface.running import begin, go_on
from webagent.runtime.result import RunResult
from webagent.settings import Settings, load_settings
from webagent.wiring import Manner

RECIPES = Path(__file__).parent.parent.parent / "recipes"
SECRETS = {"SHOP_PASSWORD": "alder-and-birch", "BANK_PASSWORD": "seven-green-doors"}

Watch = Callable[[RunState, Entry], None]


@dataclass
class Journey:
    """Runs of recipes over one store. ``entries`` are those of the last run or resume."""

    sites: SiteServer
    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.env = {
            **os.environ,
            **SECRETS,
            "WEBAGENT_HOSTS": self.sites.hosts,
            "WEBAGENT_STORE": str(self.folder / "store"),
            **self.env,
        }

    @property
    def settings(self) -> Settings:
        return load_settings(self.env, self.folder)

    async def run(
        self,
        recipe: str | Path,
        inputs: Mapping[str, Json] | None = None,
        *,
        watch: Sequence[Watch] = (),
        file: Path | None = None,
        **terms: Any,
    ) -> RunResult:
        errand = prepare(recipe_at(recipe), inputs, file=file, terms=Terms(**terms))
        return await begin(errand, self.settings, self._manner(watch))

    async def resume(
        self, run: str, recipe: Path | None = None, *, watch: Sequence[Watch] = ()
    ) -> RunResult:
        edited = None if recipe is None else check(recipe)
        return await go_on(run, edited, self.settings, self._manner(watch))

    async def answer(self, run: str, step: str, value: Json) -> None:
        await answer(run, step, value, store=self.settings.store)

    async def journal(self, run: str) -> tuple[Entry, ...]:
        """All that is kept of a run, from its beginning."""
        async with opened(self.settings) as store:
            return await store.entries(run)

    def command(self, *arguments: str) -> Popen[str]:
        """``webagent …`` in a process of its own."""
        return Popen(
            [sys.executable, "-m", "webagent", *arguments],
            env=self.env, cwd=self.folder, stdout=PIPE, stderr=PIPE, text=True,
        )  # fmt: skip

    def _manner(self, watch: Sequence[Watch]) -> Manner:
        self.entries = []
        return Manner(watch=(lambda _state, entry: self.entries.append(entry), *watch))


def recipe_at(recipe: str | Path) -> Path:
    """A recipe of ``recipes/`` by its name, or any other by its path."""
    return recipe if isinstance(recipe, Path) else RECIPES / f"{recipe}.yaml"


def edited(recipe: str, folder: Path, *changes: tuple[str, str]) -> Path:
    """A copy of a recipe with what it uses, in which each text is replaced by another."""
    for file in RECIPES.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    path = folder / f"{recipe}.yaml"
    text = path.read_text("utf-8")
    for old, new in changes:
        assert old in text, f"{old!r} is not in {recipe}"
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    return path


@dataclass
class BrowserKiller:
    """Ends the browser of a run in this process, once, when the journal comes to a moment.

    Only processes that were not there when this was made are ended, and only a browser's main one.
    """

    moment: Callable[[Entry], bool]
    before: set[int] = field(default_factory=lambda: {p.pid for p in _children()})
    killed: int | None = None

    def __call__(self, _state: RunState, entry: Entry) -> None:
        if self.killed is None and self.moment(entry):
            ours = [p for p in _children() if p.pid not in self.before and _is_browser(p)]
            (main,) = [p for p in ours if not _is_browser(p.parent())]
            self.killed = main.pid
            main.kill()


def _children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _is_browser(process: psutil.Process | None) -> bool:
    try:
        return process is not None and "chrom" in process.name()
    except psutil.NoSuchProcess:
        return False
