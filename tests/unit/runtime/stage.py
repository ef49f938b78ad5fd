"""A run on the scripted executor: a plan from YAML, a site, a store that can die at any append."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from webagent.core.base import Json, SecretUse
from webagent.core.compile import compile_plan
from webagent.core.effect import EffectChange
from webagent.core.event import Entry, Event
from webagent.core.plan import Plan
from webagent.executors.scripted import ScriptedExecutor, ScriptedSite
from webagent.formats.recipe_yaml import parse_recipe
from webagent.ports import Lease, Planner
from webagent.ports import Runner as Who
from webagent.runtime.context import Deps
from webagent.runtime.result import RunResult
from webagent.runtime.runner import Runner, Start
from webagent.stores.artifacts import FileArtifacts
from webagent.stores.memory import MemoryStore


class QuickClock:
    """Time that passes only when the runner waits for it, and a little at each look."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        self.seconds += 0.001
        return datetime(2026, 11, 30, 12, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        self.seconds += 0.05
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class NoSecrets:
    """No recipe here types a real secret."""

    async def value(self, use: SecretUse) -> str:
        return f"value of {use.secret}"

    def origin(self, use: SecretUse) -> str | None:
        del use
        return None

    def known(self) -> frozenset[str]:
        return frozenset()


class KilledError(BaseException):
    """The process died here (not an Exception: nothing may catch it)."""


class DyingStore(MemoryStore):
    """Dies before or after the n-th append, as a process would: then nothing more is kept."""

    def __init__(self, clock: QuickClock) -> None:
        super().__init__(clock, gone=lambda _runner: True)
        self.appends = 0
        self.die_at: int | None = None
        self.die_before = False
        self.dead = False
        # The number of the append that kept the first event of this type.
        self.tell_at = ""
        self.told_at: int | None = None

    async def append(
        self,
        lease: Lease,
        after: int,
        events: Sequence[Event],
        effects: Sequence[EffectChange] = (),
        *,
        durable: bool = False,
    ) -> tuple[Entry, ...]:
        self.appends += 1
        if self.dead or (self.die_at == self.appends and self.die_before):
            self.dead = True
            raise KilledError
        kept = await super().append(lease, after, events, effects, durable=durable)
        if self.told_at is None and any(e.type == self.tell_at for e in events):
            self.told_at = self.appends
        if self.die_at == self.appends:
            self.dead = True
            raise KilledError
        return kept


@dataclass
class Stage:
    """Everything that one scripted errand needs."""

    plan: Plan
    folder: Path
    site: ScriptedSite = field(init=False)
    clock: QuickClock = field(default_factory=QuickClock)
    store: DyingStore = field(init=False)
    planner: Planner | None = None
    inputs: dict[str, Json] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    pid: int = 1
    executors: list[ScriptedExecutor] = field(default_factory=list)
    redact: Callable[[str], str] = lambda text: text
    # What Deps is given beside: a chat, models, an adviser.
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.site = ScriptedSite(self.plan)
        self.store = DyingStore(self.clock)

    def executor(self, _run: str) -> ScriptedExecutor:
        self.executors.append(ScriptedExecutor(self.site))
        return self.executors[-1]

    def deps(self) -> Deps:
        self.pid += 1
        return Deps(
            store=self.store,
            artifacts=FileArtifacts(self.folder),
            executor=self.executor,
            secrets=NoSecrets(),
            runner=Who(host="here", boot="b", pid=self.pid, started=float(self.pid)),
            redact_text=self.redact,
            redact_event=lambda event: event,
            redact_effect=lambda change: change,
            planner=self.planner,
            clock=self.clock,
            end_runner=lambda _runner: True,
            **self.extra,
        )

    async def run(self, run: str = "r1", **options: Any) -> RunResult:
        start = Start(run=run, date="2026-11-30", inputs=self.inputs, **options)
        return await Runner(self.deps()).start(self.plan, start)

    async def resume(self, run: str = "r1", **options: Any) -> RunResult:
        return await Runner(self.deps()).resume(run, **options)

    async def run_and_die(self, at: int, *, before: bool) -> bool:
        """Run until the n-th append and die there; whether it came so far."""
        self.store.die_at, self.store.die_before = at, before
        try:
            await self.run()
        except KilledError:
            return True
        finally:
            self.store.die_at, self.store.dead = None, False
        return False

    async def entries(self, run: str = "r1") -> tuple[Entry, ...]:
        return await self.store.entries(run)

    async def types(self, run: str = "r1", step: str | None = None) -> list[str]:
        return [
            e.event.type for e in await self.entries(run) if step is None or e.event.step == step
        ]

    def performed(self, verb: str | None = None) -> Counter[str]:
        """How many actions (of a verb) each step performed, by the site's own log."""
        return Counter(p.step for p in self.site.log if verb is None or p.verb == verb)


def stage(text: str, folder: Path, **files: str) -> Stage:
    """A stage for a recipe given as YAML; ``files`` are the recipes it uses, by name."""
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(content, encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return Stage(compile_plan(parse_recipe(text, str(path))), folder)
