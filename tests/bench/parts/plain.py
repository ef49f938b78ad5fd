"""The thirty actions of `errand.yaml` in plain Playwright: the other side of the overhead bench.

Written as a person would write it who wants no journal, guard or judging: one page for all, the
library's own waits, and no check but that what is read is there.
"""

from __future__ import annotations

import time
from typing import Any

from playwright.async_api import Page, async_playwright

ACTIONS = 30


async def run(executable: str, rules: str, *, tabs: bool = False) -> tuple[float, float]:
    """The actions in a browser of their own: seconds without, and with, its start and end.

    ``tabs``: each of the five steps in a tab of its own, as webagent's steps are.
    """
    began = time.perf_counter()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable, args=[f"--host-resolver-rules={rules}"]
        )
        context = await browser.new_context(service_workers="block")
        page = await context.new_page()
        ready = time.perf_counter()
        await thirty_actions(page, tabs=tabs)
        done = time.perf_counter()
        await browser.close()
    return done - ready, time.perf_counter() - began


async def _next(page: Page, tabs: bool) -> Page:
    """The page of the next step: the same, or a new one in place of the old."""
    if not tabs:
        return page
    await page.close()
    return await page.context.new_page()


async def thirty_actions(page: Page, *, tabs: bool = False) -> dict[str, Any]:
    """What the errand's five steps do, action by action."""
    read: dict[str, Any] = {}
    # search
    await page.goto("http://shop-b.test/", wait_until="domcontentloaded")
    await page.get_by_role("searchbox", name="Search").fill("cable")
    await page.get_by_role("searchbox", name="Search").press("Enter")
    await page.locator("article.product").first.wait_for()
    read["offers"] = await page.locator("article.product").evaluate_all(
        "(rows) => rows.map((r) => ({title: r.querySelector('h2').innerText,"
        " price: r.querySelector('.price').innerText}))"
    )
    # basket
    page = await _next(page, tabs)
    await page.goto("http://shop-b.test/product/c-kabel-100", wait_until="domcontentloaded")
    await page.get_by_role("combobox", name="Quantity").select_option("2")
    await page.get_by_role("button", name="Add to basket").click()
    read["total"] = await page.locator(".total").inner_text()
    # register
    page = await _next(page, tabs)
    await page.goto("http://forms.test/register", wait_until="domcontentloaded")
    await page.get_by_role("textbox", name="Full name").fill("Kim Alder")
    await page.get_by_role("textbox", name="E-mail").fill("kim@example.com")
    await page.get_by_role("spinbutton", name="Age").fill("41")
    await page.locator("input[type=date]").fill("1985-04-12")
    await page.get_by_role("textbox", name="Message").fill("Please call in the morning.")
    await page.get_by_role("combobox", name="Country").select_option("Estonia")
    await page.get_by_role("listbox", name="Languages").select_option(["English", "Estonian"])
    await page.get_by_role("radio", name="Phone").check()
    await page.get_by_role("checkbox", name="I accept the terms").check()
    await page.get_by_role("checkbox", name="Send me news").check()
    await page.get_by_role("textbox", name="Notes").fill("Ring twice")
    await page.get_by_role("button", name="Send registration").click()
    read["number"] = await page.locator(".ref-no").inner_text()
    # person
    page = await _next(page, tabs)
    await page.goto("http://forms.test/people/new", wait_until="domcontentloaded")
    await page.get_by_role("textbox", name="Name").fill("Lou Winter")
    await page.get_by_role("textbox", name="E-mail").fill("lou@example.com")
    await page.get_by_role("textbox", name="City").fill("Graz")
    await page.get_by_role("button", name="Add person").click()
    read["person"] = await page.locator(".ref-no").inner_text()
    # people
    page = await _next(page, tabs)
    await page.goto("http://forms.test/people", wait_until="domcontentloaded")
    await page.locator("table.people").wait_for()
    read["people"] = await page.locator("table.people tr").evaluate_all(
        "(rows) => rows.map((r) => [...r.cells].map((c) => c.innerText))"
    )
    missing = [name for name, value in read.items() if not value]
    if missing:
        msg = f"plain Playwright read nothing for {missing}: it is not the same errand"
        raise AssertionError(msg)
    return read
