"""Nothing that a page says becomes a template, nor opens what may do something."""

from __future__ import annotations

import pytest

from tests.unit.planners.local.test_planner import (
    GOTO,
    MONTHS,
    SITE,
    Eyes,
    brief,
    el,
    fields,
    page,
    step,
    t,
)
from webagent.core.action import Click, Entry, Fill, Goto
from webagent.core.brief import Brief
from webagent.core.expect import TextShown, TitleIs, Verdict
from webagent.core.revision import Revision
from webagent.core.sighting import Survey
from webagent.planners.local import LocalPlanner

BRACES = "{{ secrets.pw }}"
# A browser keeps braces in a query as they are (not in a path, and no spaces).
QUERY = "{{people}}"


async def made(given: Brief, eyes: Eyes) -> str:
    """All that a revision puts into the plan, if there is one."""
    answer = await LocalPlanner().revise(given, eyes)
    if not isinstance(answer, Revision):
        return ""
    return answer.model_dump_json(include={"segment", "places"})


async def test_the_address_of_a_page_that_is_found_makes_no_template():
    url = f"{SITE}/people/create?x={QUERY}"
    eyes = Eyes(page(el(2, "link", "New", href=url), status=404),
                {url: page(el(1, "textbox", "Name"), url=url)})  # fmt: skip
    given = brief(Goto(url=f"{SITE}/people/new"), fields("Name"), failed=1, drift="page_moved",
                  documents=(0,))  # fmt: skip
    assert QUERY not in await made(given, eyes)


async def test_the_address_of_a_hidden_link_makes_no_template():
    link = el(1, "link", "Orders", href=f"{SITE}/orders?x={QUERY}", shown=False)
    given = brief(GOTO, Click(target=t('link "Orders"')), failed=1, drift="unexpected_event")
    assert QUERY not in await made(given, Eyes(page(link)))


@pytest.mark.parametrize(
    "value, said",
    [("1984-11-03", BRACES), ("{{ born }}", "N' ~ secrets.pw ~ '")],
    ids=["braces in a literal's place", "a quote in a template's"],
)
async def test_the_options_of_a_list_make_no_template(value: str, said: str):
    months = (*MONTHS[:10], said, MONTHS[11])
    here = page(
        el(1, "textbox", "Day of birth"),
        el(2, "combobox", "Month of birth", options=months),
        el(3, "textbox", "Year of birth"),
    )
    fill = Fill(entries=(Entry(target=t('textbox "Birth"'), value=value),))
    given = brief(GOTO, fill, failed=1, values={"born": "1984-11-03"})
    found = await made(given, Eyes(here))
    assert BRACES not in found
    assert "~ secrets.pw ~" not in found


async def test_the_title_of_a_page_makes_no_template():
    called, hits = TitleIs(glob="People"), TextShown(text="Hits")
    verdicts = (
        Verdict(expected=called, judgement="unmet"), Verdict(expected=hits, judgement="met"),
    )  # fmt: skip
    here: Survey = page(title=f"Staff {BRACES}")
    given = brief(failed=None, step=step(GOTO, expect=(called, hits)), drift="wrong_page",
                  verdicts=verdicts)  # fmt: skip
    assert "secrets" not in await made(given, Eyes(here))


async def test_the_sites_own_list_of_pages_opens_nothing_that_may_do_something():
    class Listed(Eyes):
        async def sitemap(self, origin: str) -> tuple[str, ...]:
            return (f"{origin}/people/delete", f"{origin}/logout", f"{origin}/u?token=abc")

    eyes = Listed(page(status=404), left=30)
    given = brief(Goto(url=f"{SITE}/people/new"), fields("Name"), failed=1, drift="page_moved",
                  documents=(0,))  # fmt: skip
    assert await made(given, eyes) == ""
    assert eyes.looked == [f"{SITE}/people/new", f"{SITE}/"]
