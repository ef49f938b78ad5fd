"""The radius bench on twenty graphs, so that it still runs when it is wanted."""

from pathlib import Path

from tests.bench import radius
from tests.bench.parts.worfbench import load


def test_twenty_graphs_execute_no_validated_step_again(shared_data: Path) -> None:
    assert shared_data.is_dir()
    runs = radius.count(load(20), radius.SEED)
    assert len(runs) > 50
    assert sum(run.reexecuted for run in runs) == 0
    assert all(run.met for run in runs)
    assert all(bar.holds for bar in radius.bars(runs).values())
