"""A page that is the right one at another address."""

from __future__ import annotations

import re

from webagent.core.expect import PLACE_KINDS, Expectation, TitleIs, UrlIs
from webagent.core.request_rules import url_parts
from webagent.core.revision import Revision
from webagent.planners.local.situation import Situation
from webagent.ports import Scout


async def moved_place(situation: Situation, _scout: Scout) -> Revision | None:
    """Expect the new address, where all else that was expected is there.

    The content must have held: a page is not the right one because it is there.
    """
    brief = situation.brief
    if situation.at is not None or brief.drift not in ("wrong_page", "page_moved"):
        return None
    unmet = [v for v in brief.verdicts if v.judgement != "met"]
    content = [e for e in brief.step.expect if e.kind not in PLACE_KINDS]
    if not unmet or not content or any(v.expected.kind not in PLACE_KINDS for v in unmet):
        return None
    if any(brace in situation.here.url + situation.here.title for brace in ("{", "}")):
        return None  # a page's braces never become a reference
    places: list[Expectation] = []
    kinds = {v.expected.kind for v in unmet}
    for expected in brief.step.expect:
        match expected:
            case UrlIs() if "url" in kinds:
                places.append(UrlIs(glob=_glob(situation.here.url)))
            case TitleIs() if "title" in kinds:
                places.append(TitleIs(glob=situation.here.title.replace("*", "?")))
            case UrlIs() | TitleIs():
                places.append(expected)
            case _:
                pass
    end = len(situation.segment)
    if not situation.segment or tuple(places) == tuple(
        e for e in brief.step.expect if e.kind in PLACE_KINDS
    ):
        return None
    return Revision(
        step=brief.step.path, segment=situation.segment, first_wrong=end - 1, redo_from=end,
        cause="page_moved", author="local", places=tuple(places),
        reason=f"the page is now at {situation.here.url}",
    )  # fmt: skip


def _glob(url: str) -> str:
    """The address as an expectation: its path, digits and query left open."""
    parts = url_parts(url)
    path = re.sub(r"[0-9]+", "*", parts.path) or "/"
    return f"**{path}{'?*' if parts.query else ''}"
