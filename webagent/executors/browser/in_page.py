"""The functions that run inside pages; their source is in ``js/``, one file each.

Each answers one question in one round trip, and answers with a JSON string: Playwright's own
encoding of objects costs three to five times as much (FACTS.md). None of them changes the page,
but for the last ones, which run before the page's own scripts.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).with_name("js")
# Parts that scripts have in common; a part may have parts of its own.
_PARTS = ("features", "selectors", "about")


def _source(name: str, *, bare: bool = False) -> str:
    """A script, its comment lines left out: every call sends the text to the browser.

    ``bare``: without what tells how an element looks, which is longer than all the rest.
    """
    text = (_FOLDER / f"{name}.js").read_text()
    for part in _PARTS:
        known = "" if bare and part != "about" else (_FOLDER / f"{part}.js").read_text()
        text = text.replace(f"/*{part}*/", known)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


LOOK = _source("look", bare=True)
LOOK_AND_SIGHT = _source("look")
SIGHT = _source("sight")
INNER = _source("inner")
ROW = _source("row")
SURVEY = _source("survey")
FINDINGS = _source("findings")
TEXT = _source("text")
NAMES = _source("names")
STIR = _source("stir")
QUIET = _source("quiet")
FACTS = _source("facts")
FORM = _source("form")
STATUS = _source("status")
SHOWN = _source("shown")
PLACES = _source("places")
REGIONS = _source("regions")
NO_SPECULATION = _source("no_speculation")
NO_SIDE_DOORS = _source("no_side_doors")
SESSION_STORAGE = _source("session_storage")
RESTORE_SESSION_STORAGE = _source("restore_session_storage")
