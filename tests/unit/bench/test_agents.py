"""The agents that the project is held against do a small errand, and a fault costs them as told."""

import pytest

from tests.bench.errands import cells, faulty
from tests.bench.errands.cells import FULL, OURS, RESTART, SUFFIX, WINDOW

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("agent", [FULL, WINDOW, RESTART, OURS])
async def test_each_agent_does_a_small_errand(agent: str) -> None:
    cell = await cells.measured(agent, "fan-in", 4)
    assert cell.met, cell.reason


async def test_a_suffix_keeps_what_was_done_before_the_fault() -> None:
    control, faulted = await faulty.measured(SUFFIX, 4, [("label changed", 90)])
    assert (control.replanned, control.calls) == (0, 0)
    assert (faulted.end, faulted.replanned, faulted.again) == ("met", 1, 0)


async def test_a_restart_does_everything_again() -> None:
    _, faulted = await faulty.measured(RESTART, 4, [("label changed", 90)])
    assert (faulted.end, faulted.replanned, faulted.again) == ("met", 4, 3)
