"""One fault in one errand, met by one agent: what it costs beside the same errand without it.

Who can keep a plan has one from a first, clean run: OURS the segments that were improvised, RESTART
and SUFFIX the moves of each step. FULL and WINDOW keep nothing. Then the errand is done again
without a fault (the control) and once for each fault.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from tests.bench.errands import agents, ours
from tests.bench.errands.cells import FULL, OURS, RESTART, WINDOW, Stage, stage
from tests.bench.errands.faults import WRITE_FAULTS, Books, Fault, FaultKind
from tests.bench.errands.hands import Hands
from tests.bench.errands.meter import Meter, Metered
from tests.bench.errands.planned import Planned, Scripts
from tests.bench.errands.task import Errand, make_errand
from webagent.core.plan import Plan

End = Literal["met", "refused", "failed"]
# What no agent can or may get past: the step has to end without its write.
HOPELESS: frozenset[FaultKind] = frozenset({"price changed", "write refused"})


@dataclass(slots=True)
class Row:
    """One run; ``fault`` "": the control.

    Steps: ``replanned``, ``again`` (executed although they were done), ``reopened``; ``changed``:
    those beside them whose plan is no longer what it was. Of the ledger: slots booked twice,
    bookings that are missing, bookings that should not be there.
    """

    agent: str
    size: int
    fault: str
    place: int
    number: int
    end: str
    reason: str
    replanned: int
    again: int
    reopened: int
    changed: int
    repeated: int
    lost: int
    wrong: int
    tokens: int
    calls: int
    pages: int

    @property
    def good(self) -> bool:
        """Whether it ended as it should."""
        return self.end == ("refused" if self.fault in HOPELESS else "met")


def fault_at(errand: Errand, kind: FaultKind, place: int) -> Fault:
    """A fault at so many per cent of the way: at the nearest step where it can happen."""
    wanted = max(2, round(place * errand.size / 100))
    fit = [t.number for t in errand.tasks if _fits(errand, t.number, kind)]
    return Fault(kind, min(fit, key=lambda number: (abs(number - wanted), number)))


def _fits(errand: Errand, number: int, kind: FaultKind) -> bool:
    task = errand.task(number)
    if kind in WRITE_FAULTS:
        return task.kind == "booking"
    if kind == "value gone upstream":
        upstream = [errand.task(n).kind for n in task.needs]
        return task.kind == "ticket" and upstream == ["ticket"]
    return task.kind == "ticket"


def measure(agent: str, size: int, faults: Sequence[tuple[FaultKind, int]]) -> list[Row]:
    """The control and every fault (kind, per cent of the way), in this process."""
    return asyncio.run(measured(agent, size, faults))


async def measured(agent: str, size: int, faults: Sequence[tuple[FaultKind, int]]) -> list[Row]:
    """The control and every fault."""
    errand = make_errand("chain", size)
    rows: list[Row] = []
    seen: set[Fault] = set()
    with stage() as here:
        once = await (_ours(here, errand) if agent == OURS else _other(agent, here, errand))
        rows.append(await once(None, 0))
        for kind, place in faults:
            fault = fault_at(errand, kind, place)
            if fault not in seen:
                seen.add(fault)
                rows.append(await once(fault, place))
    return rows


# -- the project ------------------------------------------------------------------------------


class _Ours:
    """Reruns of what a first run has found, each under the keys of another round."""

    def __init__(self, here: Stage, errand: Errand, plan: Plan) -> None:
        self.here, self.errand, self.plan = here, errand, plan
        self._round = 0

    async def __call__(self, fault: Fault | None, place: int) -> Row:
        self._round += 1
        books = self.here.sites.begin(self.errand, fault)
        recipe = self.here.folder / "errand.yaml"
        run = await ours.run(
            recipe, self.here.settings, plan=self.plan, round_=f"round {self._round}"
        )
        meter = Meter()
        run.tell(meter)
        before, now = self.plan.by_path, run.plan.by_path
        changed = [p for p, step in now.items() if step != before[p] and p not in run.revised]
        return _row(
            _Done(OURS, self.errand, fault, place), books, meter,
            (len(run.revised), len(run.again), len(run.reopened), len(changed)),
            "" if run.result.exit_code == 0 else run.result.reason or "not met",
        )  # fmt: skip


async def _ours(here: Stage, errand: Errand) -> _Ours:
    here.sites.begin(errand)
    recipe = here.folder / "errand.yaml"
    recipe.write_text(await ours.draft(errand, here.chat, Meter()), "utf-8")
    first = await ours.run(recipe, here.settings)
    if first.result.exit_code:
        msg = f"the first run, without a fault, ended {first.result.reason}"
        raise AssertionError(msg)
    return _Ours(here, errand, first.plan.model_copy(update={"version": 1}))


# -- the others -------------------------------------------------------------------------------


class _Other:
    """Runs of one of the other agents, each in a browser of its own."""

    def __init__(self, agent: str, here: Stage, errand: Errand, scripts: Scripts) -> None:
        self.agent, self.here, self.errand, self.scripts = agent, here, errand, scripts

    async def __call__(self, fault: Fault | None, place: int) -> Row:
        books = self.here.sites.begin(self.errand, fault)
        meter = Meter()
        async with _hands(self.here) as hands:
            ended, _ = await _run(
                self.agent, self.errand, hands, Metered(self.here.chat, meter), self.scripts
            )
        return _row(
            _Done(self.agent, self.errand, fault, place), books, meter,
            (ended.replanned, ended.again + ended.redone, 0, ended.lost),
            "" if ended.done else ended.reason or "not met",
        )  # fmt: skip


async def _other(agent: str, here: Stage, errand: Errand) -> _Other:
    if agent in (FULL, WINDOW):
        return _Other(agent, here, errand, {})
    here.sites.begin(errand)
    async with _hands(here) as hands:
        chat = Metered(here.chat, Meter())
        _, kept = await _run(agent, errand, hands, chat, {})
    return _Other(agent, here, errand, kept)


@asynccontextmanager
async def _hands(here: Stage) -> AsyncIterator[Hands]:
    async with Hands(here.settings) as hands:
        yield hands


async def _run(
    agent: str, errand: Errand, hands: Hands, chat: Metered, scripts: Scripts
) -> tuple[agents.Ended, Scripts]:
    if agent in (FULL, WINDOW):
        make = agents.full if agent == FULL else agents.window
        return await make(errand, hands, chat).run(), {}
    way: Literal["restart", "suffix"] = "restart" if agent == RESTART else "suffix"
    planned = Planned(errand, hands, chat, way, dict(scripts))
    return await planned.run(), planned.kept


# -- what the sites' ledger says --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Done:
    """Which run it was."""

    agent: str
    errand: Errand
    fault: Fault | None
    place: int


def _row(
    done: _Done, books: Books, meter: Meter, steps: tuple[int, int, int, int], failed: str
) -> Row:
    """``steps``: the four counts of steps; ``failed``: why it did not end met, if it did not."""
    fault = done.fault
    hopeless = fault is not None and fault.kind in HOPELESS
    number = fault.number if fault is not None else 0
    # In a chain nothing behind a step that cannot be done is to be done either.
    wanted = [t.item for t in done.errand.bookings if not hopeless or t.number < number]
    counted = Counter(slot for slot, _, _ in books.bookings)
    end: End = "met" if not failed else "refused" if hopeless else "failed"
    return Row(
        done.agent, done.errand.size, "" if fault is None else fault.kind, done.place, number,
        end, failed[:200], *steps,
        repeated=sum(counted[slot] - 1 for slot in counted),
        lost=sum(not counted[slot] for slot in wanted),
        wrong=sum(counted[slot] for slot in counted if slot not in wanted),
        tokens=meter.sent + meter.answered, calls=sum(meter.calls.values()),
        pages=len(books.pages),
    )  # fmt: skip
