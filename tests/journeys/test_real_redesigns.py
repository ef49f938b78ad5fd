"""Recipes made on an old version of a real application, then run on a new one in the same store.

What the first run saw (its sightings) is all that the second may know. The applications' databases
judge, and the journal says which steps had to be made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixtures.real_sites import APPS, SITES_BY_NAME, Running, running
from fixtures.server import SiteServer
from tests.journeys.journey import RECIPES, Journey
from tests.journeys.test_real_sites import journey_to
from webagent.core.event import PlanRevised
from webagent.engine.reuse import executed_again

pytestmark = [pytest.mark.real_site, pytest.mark.timeout(400)]

MADE_ON = Path(__file__).parent / "made_on"
ORDERS = "SELECT guest_email, total_incl_tax FROM order_order"
Start = Callable[[str], Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts an application by its name; one that is not installed skips the test, saying so."""
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(_started(name, tmp_path))


@contextmanager
def _started(name: str, folder: Path) -> Iterator[Running]:
    site = SITES_BY_NAME[name]
    if not site.installed or not APPS.is_dir():
        pytest.skip(f"{name} is not prepared on this machine (make sites NAME={name})")
    with running(site, folder) as found:
        yield found


def made(name: str) -> Path:
    own = MADE_ON / f"{name}.yaml"
    return own if own.exists() else RECIPES / f"{name}.yaml"


def revised(journey: Journey) -> set[str]:
    """The steps that were made anew in the last run; nothing that was met ran again."""
    assert executed_again(journey.entries) == ()
    return {e.event.step for e in journey.entries if isinstance(e.event, PlanRevised)}


@dataclass(frozen=True)
class Case:
    """A recipe, the versions that it was made and is run on, and the steps to be made anew."""

    recipe: str
    before: str
    after: str
    anew: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.recipe} {self.before} {self.after}"


@pytest.mark.parametrize(
    "case",
    [
        Case("oscar_2_by_names", "oscar-2", "oscar-4", frozenset({"search", "order"})),
        Case("oscar_3_by_classes", "oscar-3", "oscar-4"),
        Case("order_in_oscar", "oscar-3", "oscar-4"),
    ],
    ids=str,
)
async def test_a_shop_of_another_version_takes_one_order(
    start: Start, sites: SiteServer, tmp_path: Path, browser_path: Path, case: Case
) -> None:
    old, new = start(case.before), start(case.after)
    journey = journey_to("oscar.test", old, sites, tmp_path, browser_path)
    first = await journey.run(made(case.recipe))
    assert (first.status, revised(journey)) == ("met", set()), first.reason
    assert old.rows(ORDERS) == [("kim@example.org", 10.99)]

    journey.env["WEBAGENT_HOSTS"] = f"oscar.test=127.0.0.1:{new.port}"
    second = await journey.run(made(case.recipe), {"email": "lou@example.org"})
    assert (second.status, second.exit_code) == ("met", 0), second.reason
    assert revised(journey) == case.anew
    assert new.rows(ORDERS) == [("lou@example.org", 10.99)]
    assert new.rows("SELECT quantity, title FROM order_line") == [(1, "Python guide volume 1")]


@pytest.mark.parametrize("recipe", ["add_django_user", "admin_3_by_menus"])
async def test_an_office_of_another_version_adds_one_user_with_nothing_made_anew(
    start: Start, sites: SiteServer, tmp_path: Path, browser_path: Path, recipe: str
) -> None:
    old, new = start("admin-3"), start("admin-5")
    journey = journey_to("admin.test", old, sites, tmp_path, browser_path)
    first = await journey.run(made(recipe), {"username": "ann"})
    assert (first.status, revised(journey)) == ("met", set()), first.reason

    journey.env["WEBAGENT_HOSTS"] = f"admin.test=127.0.0.1:{new.port}"
    second = await journey.run(made(recipe), {"username": "bea"})
    assert (second.status, second.exit_code) == ("met", 0), second.reason
    assert revised(journey) == set()
    added = "SELECT username FROM auth_user WHERE username IN ('ann', 'bea')"
    assert new.rows(added) == [("bea",)]
    assert new.rows("SELECT count(*) FROM auth_user") == [(32,)]
