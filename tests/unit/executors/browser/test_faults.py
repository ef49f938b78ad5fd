"""Playwright's errors become failures; their texts are redacted."""

from __future__ import annotations

import pytest
from playwright.async_api import Error
from playwright.async_api import TimeoutError as PlaywrightTimeout

from webagent.core.page import FailureKind
from webagent.executors.browser.faults import click_dispatch, document_went, failure_of

LOG = "\nCall log:\n  - waiting for locator('#a')\n  - fill(\"geheim\")\n"


@pytest.mark.parametrize(
    "error, kind",
    [
        (Error("Page.goto: net::ERR_CONNECTION_REFUSED at http://a/"), "navigation"),
        (Error("Locator.click: Target page, context or browser has been closed"), "page_lost"),
        (Error("Page.goto: Page crashed"), "page_lost"),
        (Error("Locator.click: Error: strict mode violation: resolved to 2"), "target_ambiguous"),
        (Error("Locator.count: SyntaxError: 'b[' is not a valid selector."), "invalid"),
        (Error('Keyboard.press: Unknown key: "Entr"'), "invalid"),
        (PlaywrightTimeout("Locator.click: Timeout 10ms exceeded."), "not_actionable"),
    ],
)
def test_an_error_is_told_by_its_kind(error: Error, kind: FailureKind) -> None:
    assert failure_of(error, "no", str).kind == kind


def test_a_timeout_after_the_input_is_a_timeout() -> None:
    error = PlaywrightTimeout("Locator.click: Timeout 10ms exceeded.")
    assert failure_of(error, "unknown", str).kind == "timeout"


def test_the_call_log_is_kept_short_and_redacted() -> None:
    failure = failure_of(
        PlaywrightTimeout("Locator.fill: Timeout" + LOG), "no", lambda t: t.replace("geheim", "•")
    )
    assert "geheim" not in failure.message
    assert 'fill("•")' in failure.message


@pytest.mark.parametrize(
    "log, wanted",
    [
        ("attempting click action\n  - waiting for element to be visible", "no"),
        ("performing click action", "unknown"),
        ("performing click action\n  - click action done", "yes"),
        ("performing dblclick action", "unknown"),
        ("a text that nobody has seen before", "unknown"),
    ],
)
def test_the_log_tells_whether_a_click_was_sent(log: str, wanted: str) -> None:
    assert click_dispatch(log) == wanted


def test_a_replaced_document_is_looked_at_again_but_a_lost_page_is_not() -> None:
    assert document_went(Error("Locator.count: Execution context was destroyed"))
    assert not document_went(Error("Frame was detached: Target closed"))
