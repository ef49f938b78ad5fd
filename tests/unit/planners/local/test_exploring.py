"""Looking for a moved page: the old address first, never along what may do something."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.planners.local.test_planner import (
    SITE,
    Eyes,
    brief,
    el,
    fields,
    page,
    parts,
    refused,
    revised,
)
from webagent.core.action import Goto
from webagent.core.brief import Brief
from webagent.core.sighting import Element, Sighting

OLD = f"{SITE}/people/new"
FORM = el(1, "textbox", "Name")


def moved(url: str = OLD, **more: Any) -> Brief:
    return brief(Goto(url=url), fields("Name"), failed=1, drift="page_moved", documents=(0,),
                 **more)  # fmt: skip


def link(ref: int, name: str, path: str) -> Element:
    return el(ref, "link", name, href=f"{SITE}{path}" if path.startswith("/") else path)


HARMFUL = [
    link(1, "Log out", "/bye"), link(2, "Bye", "/logout"), link(3, "Remove", "/people/new1"),
    link(4, "Add person", "/people/add"), link(5, "Cancel", "/c"), link(6, "Abmelden", "/ab"),
    link(7, "Name", "/people?token=abc"), link(8, "Name", "/people?action=delete"),
    link(9, "Unsubscribe", "/u"), link(10, "Jetzt kaufen", "/k"),
]  # fmt: skip


async def test_no_link_that_may_do_something_is_ever_opened():
    eyes = Eyes(page(*HARMFUL, status=404), left=30)
    await refused(moved(), eyes)
    assert eyes.looked == [OLD, f"{SITE}/"]


async def test_harmful_links_of_pages_found_on_the_way_are_not_opened_either():
    eyes = Eyes(page(status=404), {f"{SITE}/": page(*HARMFUL, url=f"{SITE}/")}, left=30)
    await refused(moved(), eyes)
    assert eyes.looked == [OLD, f"{SITE}/"]


async def test_no_other_origin_is_looked_at():
    away = [link(2, "People", "http://away.test/people"), link(3, "People", "//away.test/people")]
    eyes = Eyes(page(*away, status=404), left=30)
    await refused(moved(), eyes)
    assert all(url.startswith(f"{SITE}/") for url in eyes.looked)


async def test_where_the_target_was_seen_last_is_looked_at_before_anything():
    last = f"{SITE}/staff/form"
    kept = Sighting(
        recipe_id="r", step="s", target='textbox "Name"', element=FORM, url=last, at="2026"
    )
    eyes = Eyes(page(link(2, "New person", "/people/create"), status=404),
                {last: page(FORM, url=last)})  # fmt: skip
    made = await revised(moved(sightings=(kept,)), eyes)
    assert parts(made)[0] == Goto(url=last)
    assert eyes.looked == [last]


async def test_the_old_address_comes_first_and_what_resembles_it_next():
    here = page(
        link(2, "Imprint", "/imprint"), link(3, "New", "/people/create"), link(4, "Help", "/help"),
        status=404,
    )  # fmt: skip
    eyes = Eyes(here, left=30)
    await refused(moved(), eyes)
    assert eyes.looked[:2] == [OLD, f"{SITE}/people/create"]


async def test_of_a_pattern_of_addresses_only_so_many_are_looked_at():
    many = [link(n, f"Person {n}", f"/people/{n}") for n in range(2, 40)]
    eyes = Eyes(page(*many, status=404), left=30)
    await refused(moved(), eyes)
    assert len([u for u in eyes.looked if u.removeprefix(f"{SITE}/people/").isdigit()]) <= 2
    assert len(eyes.looked) == len(set(eyes.looked))


async def test_todays_item_is_looked_at_though_others_of_its_kind_were():
    many = [link(n, f"Person {n}", f"/people/{n}") for n in range(2, 9)]
    found = f"{SITE}/people/4711"
    eyes = Eyes(page(*many, link(9, "Ann", "/people/4711"), status=404),
                {found: page(FORM, url=found)})  # fmt: skip
    made = await revised(moved(f"{SITE}/old/{{{{ id }}}}", values={"id": "4711"}), eyes)
    assert parts(made)[0] == Goto(url=f"{SITE}/people/{{{{ id }}}}")


@pytest.mark.parametrize("update", [{"status": 404}, {"status": 500}, {"captcha": True}])
async def test_an_error_page_or_a_captcha_is_not_the_page_whatever_it_shows(update: dict[str, Any]):
    found = f"{SITE}/people/create"
    shown = page(FORM, url=found).model_copy(update=update)
    eyes = Eyes(page(link(2, "New", "/people/create"), status=404), {found: shown})
    await refused(moved(), eyes)
    assert found in eyes.looked


async def test_a_search_that_posts_is_not_asked():
    box = el(1, "searchbox", "Search", attrs={"name": "q", "action": "/find"}, method="POST")
    eyes = Eyes(page(box, status=404), left=30)
    await refused(moved(values={"query": "usb cable"}), eyes)
    assert not [url for url in eyes.looked if "/find" in url]


async def test_the_sites_own_list_is_asked_last_and_its_harmless_pages_looked_at():
    found = f"{SITE}/staff/create"

    class Listed(Eyes):
        async def sitemap(self, origin: str) -> tuple[str, ...]:
            self.looked.append(f"{origin}/sitemap.xml")
            return (f"{SITE}/imprint", found)

    eyes = Listed(page(status=404), {found: page(FORM, url=found)}, left=30)
    made = await revised(moved(), eyes)
    assert parts(made)[0] == Goto(url=found)
    assert eyes.looked[:3] == [OLD, f"{SITE}/", f"{SITE}/sitemap.xml"]
