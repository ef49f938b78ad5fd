"""One errand done once by one agent, with sites, model server and browser of its own."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fixtures.messages import KEY, MessagesServer
from tests.bench.errands import agents, ours
from tests.bench.errands.faults import Books
from tests.bench.errands.hands import Hands
from tests.bench.errands.meter import MODEL, Meter, Metered
from tests.bench.errands.model import SimulatedModel
from tests.bench.errands.planned import Planned
from tests.bench.errands.served import DeskServer
from tests.bench.errands.task import Errand, Shape, make_errand
from webagent.chats.claude import ClaudeChat
from webagent.core.chat import ROLES, ModelSpec
from webagent.settings import Settings

FULL, WINDOW, RESTART, SUFFIX, OURS = AGENTS = ("FULL", "WINDOW", "RESTART", "SUFFIX", "OURS")
# A drafted plan of 200 steps is long.
SPEC = ModelSpec(model=MODEL, max_tokens=64_000, seconds=300.0)


@dataclass(slots=True)
class Stage:
    """The servers of one cell, and a folder."""

    sites: DeskServer
    models: MessagesServer
    folder: Path

    @property
    def chat(self) -> ClaudeChat:
        """The SDK's chat with the stand-in."""
        return ClaudeChat(dict.fromkeys(ROLES, SPEC), api_key=KEY, base_url=self.models.base_url)

    @property
    def settings(self) -> Settings:
        """The settings of a run here."""
        return ours.settings_of(self.folder, self.sites.hosts, self.models.base_url, KEY)


@contextmanager
def stage(seed: int = 4) -> Iterator[Stage]:
    """Sites and models, for as long as it is open."""
    model = SimulatedModel(seed)
    with (
        DeskServer() as sites,
        MessagesServer(model, counts=False, keep=4) as models,
        tempfile.TemporaryDirectory(prefix="webagent-bench-") as folder,
    ):
        yield Stage(sites, models, Path(folder))


@dataclass(slots=True)
class Cell:
    """What one agent took for one errand.

    Seconds are wall-clock; ``critical`` and ``bound``: see `ours.Run.bound`.
    """

    agent: str
    shape: Shape
    size: int
    met: bool
    reason: str
    sent: int
    answered: int
    price: float
    peaks: dict[str, int]
    calls: dict[str, int]
    pages: int
    seconds: float
    critical: float = 0.0
    bound: float = 0.0
    writes: list[str] = field(default_factory=list)


def measure(agent: str, shape: Shape, size: int, seed: int = 4) -> Cell:
    """One cell of the ladder, in this process."""
    return asyncio.run(measured(agent, shape, size, seed))


async def measured(agent: str, shape: Shape, size: int, seed: int = 4) -> Cell:
    """One cell of the ladder."""
    errand = make_errand(shape, size, seed)
    with stage(seed) as here:
        books = here.sites.begin(errand)
        if agent == OURS:
            return await _ours(here, errand, books)
        return await _other(agent, here, errand, books)


async def _other(agent: str, here: Stage, errand: Errand, books: Books) -> Cell:
    meter = Meter()
    async with Hands(here.settings) as hands:
        began = time.monotonic()
        ended = await run_other(agent, errand, hands, Metered(here.chat, meter))
        seconds = time.monotonic() - began
    met = ended.done and all_booked(here, books)
    return _cell(agent, errand, meter, books, met=met, reason=ended.reason, seconds=seconds)


async def run_other(agent: str, errand: Errand, hands: Hands, chat: Metered) -> agents.Ended:
    """The errand by one of the other agents."""
    match agent:
        case "FULL":
            return await agents.full(errand, hands, chat).run()
        case "WINDOW":
            return await agents.window(errand, hands, chat).run()
        case "RESTART":
            return await Planned(errand, hands, chat, "restart").run()
        case _:
            return await Planned(errand, hands, chat, "suffix").run()


async def _ours(here: Stage, errand: Errand, books: Books) -> Cell:
    meter = Meter()
    recipe = here.folder / "errand.yaml"
    recipe.write_text(await ours.draft(errand, here.chat, meter), "utf-8")
    run = await ours.run(recipe, here.settings)
    run.tell(meter)
    makespan, critical, bound = run.bound()
    met = run.result.exit_code == 0 and all_booked(here, books)
    reason = run.result.reason
    cell = _cell(OURS, errand, meter, books, met=met, reason=reason, seconds=makespan)
    cell.critical, cell.bound = critical, bound
    return cell


def all_booked(here: Stage, books: Books) -> bool:
    """Whether the ledger holds every booking of the errand once, and no other."""
    return sorted(slot for slot, _, _ in books.bookings) == sorted(here.sites.desk.wanted())


def _cell(
    agent: str,
    errand: Errand,
    meter: Meter,
    books: Books,
    *,
    met: bool,
    reason: str,
    seconds: float,
) -> Cell:
    return Cell(
        agent, errand.shape, errand.size, met, reason, meter.sent, meter.answered,
        round(meter.price, 1), dict(meter.peaks), dict(meter.calls), len(books.pages),
        round(seconds, 2), writes=[slot for slot, _, _ in books.bookings],
    )  # fmt: skip
