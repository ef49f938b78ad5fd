"""The same for real applications, an Oscar shop and Django's admin: their databases judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.real_sites import APPS, SITES_BY_NAME, Running, running
from fixtures.server import SiteServer
from tests.journeys.journey import Journey

pytestmark = [pytest.mark.real_site, pytest.mark.timeout(400)]


def started(name: str, folder: Path) -> Iterator[Running]:
    site = SITES_BY_NAME[name]
    if not site.installed or not APPS.is_dir():
        pytest.skip(f"{name} is not prepared on this machine (make sites NAME={name})")
    with running(site, folder) as found:
        yield found


@pytest.fixture(params=["oscar-4"])
def oscar(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    yield from started(request.param, tmp_path)


@pytest.fixture(params=["admin-5"])
def admin(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    yield from started(request.param, tmp_path)


def journey_to(host: str, site: Running, sites: SiteServer, folder: Path, browser: Path) -> Journey:
    journey = Journey(sites, folder, {
        "WEBAGENT_BROWSER": str(browser), "ADMIN_PASSWORD": "admin",
        "NEW_PASSWORD": "blue-Harbour-77",
    })  # fmt: skip
    journey.env["WEBAGENT_HOSTS"] = f"{host}=127.0.0.1:{site.port}"
    return journey


async def test_a_guest_orders_once_in_oscar(
    oscar: Running, sites: SiteServer, tmp_path: Path, browser_path: Path
) -> None:
    journey = journey_to("oscar.test", oscar, sites, tmp_path, browser_path)
    result = await journey.run("order_in_oscar")
    assert (result.status, result.exit_code) == ("met", 0), result.reason
    assert len(result.outputs["search"]["offers"]) == 12
    assert result.outputs["choose"]["title"] == "Python guide volume 1"

    again = await journey.run("order_in_oscar")
    assert (again.status, again["order"].already) == ("met", True)
    orders = oscar.rows("SELECT number, total_incl_tax, guest_email FROM order_order")
    assert orders == [(result.outputs["order"]["number"], 10.99, "kim@example.org")]
    assert oscar.rows("SELECT quantity, title FROM order_line") == [(1, "Python guide volume 1")]


async def test_a_rehearsal_in_oscar_orders_nothing_and_leaves_the_basket_empty(
    oscar: Running, sites: SiteServer, tmp_path: Path, browser_path: Path
) -> None:
    journey = journey_to("oscar.test", oscar, sites, tmp_path, browser_path)
    result = await journey.run("order_in_oscar", rehearse=True)
    assert (result.status, result["order"].state) == ("met", "skipped")
    assert oscar.rows("SELECT count(*) FROM order_order") == [(0,)]
    assert oscar.rows("SELECT count(*) FROM basket_line") == [(0,)]


async def test_a_user_is_added_once_in_djangos_admin(
    admin: Running, sites: SiteServer, tmp_path: Path, browser_path: Path
) -> None:
    journey = journey_to("admin.test", admin, sites, tmp_path, browser_path)
    result = await journey.run("add_django_user", {"username": "ann"})
    assert (result.status, result.exit_code) == ("met", 0), result.reason
    assert result.outputs["search"] == {"users": [], "users_bad": []}
    added = "SELECT username FROM auth_user WHERE username = 'ann'"
    assert admin.rows(added) == [("ann",)]
    assert admin.rows("SELECT count(*) FROM auth_user") == [(32,)]

    again = await journey.run("add_django_user", {"username": "ann"})
    assert (again.status, again["add"].state) == ("met", "skipped")
    there = await journey.run("add_django_user", {"username": "user07"})
    assert (there.status, there["add"].state) == ("met", "skipped")
    assert admin.rows("SELECT count(*) FROM auth_user") == [(32,)]
