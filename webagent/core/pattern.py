"""A recipe's regular expression against the text of a page, within a bounded time.

Some patterns take longer than the universe on the text of a hostile page, or of an unlucky one. The
standard library cannot be stopped there; `regex`, which reads the same patterns, can.
"""

from __future__ import annotations

SEARCH_SECONDS = 1.0
SEARCHED_CHARACTERS = 100_000


class PatternFaultError(ValueError):
    """Whether the pattern matches cannot be told; the message says why."""


def found_in(pattern: str, text: str) -> bool:
    """Whether the pattern matches somewhere in the first ``SEARCHED_CHARACTERS`` of the text.

    A match that ends where the text was cut does not count: the cut may have made it.

    Raises:
        PatternFaultError: it took more than ``SEARCH_SECONDS`` of CPU, or it is no pattern.
    """
    import regex  # noqa: PLC0415 - it would cost every command 20 ms

    try:
        found = regex.search(pattern, text[:SEARCHED_CHARACTERS], timeout=SEARCH_SECONDS)
    except TimeoutError:
        msg = f"the pattern {pattern!r} took more than {SEARCH_SECONDS:g} s on this text"
        raise PatternFaultError(msg) from None
    except (regex.error, OverflowError, RecursionError) as error:
        msg = f"{pattern!r} is not a regular expression: {error}"
        raise PatternFaultError(msg) from None
    if found is None:
        return False
    return len(text) <= SEARCHED_CHARACTERS or bool(found.end() < SEARCHED_CHARACTERS)
