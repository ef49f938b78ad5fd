"""A changed site costs one segment, or is refused with nothing done: the table of `cases`.

A part of the table in every test run, all of it with DRIFT=all.
"""

from __future__ import annotations

import os

import pytest

from fixtures.changes import CHANGES
from tests.drift.cases import CASES, ERRANDS, QUICK, Case
from tests.drift.drive import Drift, faults_of

pytestmark = pytest.mark.browser

CHOSEN = [c for c in CASES if os.environ.get("DRIFT") == "all" or c.id in QUICK]


def test_the_table_is_about_every_change_and_has_each_case_once() -> None:
    assert {case.change for case in CASES} == set(CHANGES)
    assert len({case.id for case in CASES}) == len(CASES) >= 60
    assert {case.errand for case in CASES} == set(ERRANDS)
    assert {case.id for case in CASES} >= QUICK


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.id)
async def test_a_changed_site_costs_one_segment_or_is_refused(drift: Drift, case: Case) -> None:
    control = await drift.control(case.errand)
    assert faults_of(case, await drift.meet(case), control) == []
