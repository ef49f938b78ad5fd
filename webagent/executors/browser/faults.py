"""What Playwright's errors mean for an action, read from their texts.

Called wherever a Playwright call may fail. The texts are no API: Playwright is pinned, and
``tests/browser/test_dispatch.py`` produces each of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from playwright.async_api import Error
from playwright.async_api import TimeoutError as PlaywrightTimeout

from webagent.core.page import Failure, FailureKind

Dispatch: TypeAlias = Literal["no", "yes", "unknown"]

_DONE = re.compile(r"\b(?:click|dblclick|check|uncheck|hover|tap) action done")
_PERFORMING = re.compile(r"performing \w+ action")
_BEFORE = re.compile(
    r"attempting \w+ action|waiting for (?:locator|element|\w+\()|strict mode violation"
    r"|locator resolved to|not a valid|Unexpected token"
)
_LOST = re.compile(
    r"(?:page, context or browser|browser|context|page) has been closed|Target (?:page )?closed"
    r"|(?:Target|Page) crashed|Connection closed|Browser closed|Session closed|pipe closed"
    r"|Target closed|Process (?:unexpectedly )?closed"
)
_BAD_SELECTOR = re.compile(
    r"not a valid (?:selector|XPath)|Unexpected token|Unknown engine|Unknown pseudo-class"
    r"|Malformed selector|while parsing (?:css )?selector|Failed to execute 'querySelectorAll'"
    r"|Failed to execute 'evaluate' on 'Document'"
)
_GONE = re.compile(
    r"Execution context was destroyed|Cannot find (?:context|execution context)"
    r"|Frame was detached|frame got detached|because of a navigation|is not attached"
    r"|JSHandles can be evaluated only in the context"
)
_NETWORK = re.compile(r"net::(ERR_[A-Z0-9_]+)|chrome-error://|interrupted by another navigation")
_WRONG_USE = re.compile(
    r"Unknown key|Element is not an? <|Malformed value|Cannot type|Input of type"
    r"|Non-multiple file input|Not a checkbox|Cannot uncheck|Clicking the checkbox did not"
    r"|Cannot navigate to invalid URL|Invalid (?:URL|url)|unable to (?:adopt|find)"
)


class MoveFailedError(Exception):
    """An action failed in a way that is told to the engine as a value."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def fail(
    kind: FailureKind,
    message: str,
    *,
    dispatched: Dispatch = "no",
    candidates: tuple[str, ...] = (),
) -> MoveFailedError:
    """An error to raise, holding the failure."""
    return MoveFailedError(
        Failure(kind=kind, message=message, dispatched=dispatched, candidates=candidates)
    )


def document_went(error: Error) -> bool:
    """Whether the document under a look was replaced: looking again is right, nothing was sent."""
    return _GONE.search(error.message) is not None and not is_lost(error)


def is_lost(error: Error) -> bool:
    """Whether page, context or browser is gone."""
    return _LOST.search(error.message) is not None


def is_bad_selector(error: Error) -> bool:
    """Whether the target cannot be looked for as it is written."""
    return _BAD_SELECTOR.search(error.message) is not None


def click_dispatch(message: str) -> Dispatch:
    """Whether a failed pointer action had reached the page, by the call log in the error's text.

    "performing click action" stands in the log right before the input goes out; a click can land
    after the time-out, so the outcome is then unknown. A text that holds none of the known words
    is a new Playwright's: it is taken for dispatched.
    """
    if _DONE.search(message):
        return "yes"
    if _PERFORMING.search(message):
        return "unknown"
    return "no" if _BEFORE.search(message) else "unknown"


def failure_of(error: Error, dispatched: Dispatch, redact: Callable[[str], str]) -> Failure:
    """The failure that an error of Playwright stands for.

    Its text goes through the redactor: Playwright's call log repeats what was typed.
    """
    text = error.message
    message = redact(_first_lines(text))
    kind: FailureKind
    if is_lost(error):
        kind = "page_lost"
    elif "strict mode violation" in text:
        kind = "target_ambiguous"
    elif is_bad_selector(error) or _WRONG_USE.search(text):
        kind = "invalid"
    elif _NETWORK.search(text):
        kind = "navigation"
    elif isinstance(error, PlaywrightTimeout):
        kind = "not_actionable" if dispatched == "no" else "timeout"
    elif _GONE.search(text):
        kind = "timeout"
    else:
        kind = "not_actionable"
    return Failure(kind=kind, message=message, dispatched=dispatched)


def _first_lines(text: str) -> str:
    """The error and the end of its call log: what was waited for stands there."""
    head, _, log = text.partition("Call log:")
    steps = [line.strip(" -\t") for line in log.splitlines() if line.strip(" -\t")]
    tail = "; ".join(dict.fromkeys(steps[-4:]))
    head = " ".join(head.split())[:400]
    return f"{head} ({tail[:400]})" if tail else head
