"""A page that is the right one at another address is told by its content."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.planners.local.test_planner import GOTO, SITE, Eyes, brief, page, revised, step
from webagent.core.expect import Expectation, TextShown, TitleIs, UrlIs, Verdict
from webagent.core.revision import Revision
from webagent.planners.local import LocalPlanner

AT, CALLED, HITS = UrlIs(glob="**/people"), TitleIs(glob="People*"), TextShown(text="Hits")


def judged(expect: tuple[Expectation, ...], unmet: tuple[Expectation, ...]) -> Any:
    verdicts = tuple(
        Verdict(expected=e, judgement="unmet" if e in unmet else "met") for e in expect
    )
    return brief(failed=None, step=step(GOTO, expect=expect), drift="wrong_page", verdicts=verdicts)


@pytest.mark.parametrize(
    "url, glob",
    [
        ("/staff", "**/staff"),
        ("/staff/17/list", "**/staff/*/list"),
        ("/staff?page=2", "**/staff?*"),
        ("", "**/"),
    ],
)
async def test_a_page_with_all_that_was_expected_is_at_its_new_address(url: str, glob: str):
    made = await revised(judged((AT, HITS), (AT,)), Eyes(page(url=f"{SITE}{url}")))
    assert made.places == (UrlIs(glob=glob),)
    assert (made.cause, made.segment, made.redo_from) == ("page_moved", (GOTO,), 1)


async def test_only_the_place_that_changed_is_expected_otherwise():
    here = page(url=f"{SITE}/people", title="Staff * all")
    made = await revised(judged((AT, CALLED, HITS), (CALLED,)), Eyes(here))
    assert made.places == (AT, TitleIs(glob="Staff ? all"))


@pytest.mark.parametrize(
    "expect, unmet",
    [((AT,), (AT,)), ((AT, HITS), (AT, HITS)), ((AT, HITS), (HITS,))],
    ids=["no content", "content missing too", "only content missing"],
)
async def test_without_its_content_no_page_is_the_right_one(
    expect: tuple[Expectation, ...], unmet: tuple[Expectation, ...]
):
    eyes = Eyes(page(url=f"{SITE}/staff"), left=0)
    answer = await LocalPlanner().revise(judged(expect, unmet), eyes)
    assert not isinstance(answer, Revision) or answer.places is None
