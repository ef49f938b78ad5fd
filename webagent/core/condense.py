"""Moves that worked become a segment: dead ends go, today's values become references again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from webagent.core.action import Action, Back, Click, Commit, Fill, Goto, Read, Scroll, Select
from webagent.core.base import Frozen, Json
from webagent.core.expr import has_template
from webagent.core.sighting import SHORTEST_VALUE, holed, holed_url, leaves

_HOLE = re.compile(r"⟦([^⟧]*)⟧")


class Move(Frozen):
    """One action as it was made: ``wrote``: a write went out; ``documents``: how many it loaded."""

    action: Action
    wrote: bool = False
    documents: int = 0


def condensed(moves: Sequence[Move], values: Mapping[str, Json]) -> tuple[Action, ...]:
    """The segment that these moves amount to.

    - A goto makes what stood before it superfluous, unless something was written there or read
      there: the page that it leads to is reached without.
    - A click that was taken back at once goes with its back.
    - Of several entries into one field the last holds, of several reads of one output too.
    - Scrolling brought only something into view.
    """
    kept: list[Move] = []
    for move in moves:
        match move.action:
            case Goto():
                last = max(
                    (i for i, m in enumerate(kept) if m.wrote or isinstance(m.action, Read)),
                    default=-1,
                )
                del kept[last + 1 :]
                kept.append(move)
            case Back():
                if kept and isinstance(kept[-1].action, Click) and not kept[-1].wrote:
                    kept.pop()
                else:
                    kept.append(move)
            case Scroll():
                continue
            case Fill() | Select():
                kept = _without_same_target(kept, move)
                kept.append(move)
            case Read():
                names = set(move.action.outputs)
                kept = [
                    m
                    for m in kept
                    if not (isinstance(m.action, Read) and set(m.action.outputs) <= names)
                ]
                kept.append(move)
            case _:
                kept.append(move)
    return tuple(_referring(m.action, values) for m in kept)


def _without_same_target(kept: list[Move], move: Move) -> list[Move]:
    """Earlier entries of the same field in the same document go."""
    since = max((i for i, m in enumerate(kept) if m.documents), default=-1)
    target = _entered(move.action)
    return [m for i, m in enumerate(kept) if i <= since or _entered(m.action) != target]


def _entered(action: Action) -> str | None:
    match action:
        case Fill(entries=entries) | Select(entries=entries):
            return "\n".join(e.target.source for e in entries)
        case _:
            return None


def _referring(action: Action, values: Mapping[str, Json]) -> Action:
    """The action with today's values as references."""
    if isinstance(action, Commit):
        inner = _referring(action.action, values)
        return action.model_copy(update={"action": inner})
    data = _replaced(action.model_dump(), values)
    return type(action).model_validate(data)


def _replaced(data: Any, values: Mapping[str, Json], key: str = "") -> Any:
    if isinstance(data, Mapping):
        return {k: _replaced(v, values, str(k)) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return tuple(_replaced(v, values, key) for v in data)
    if not isinstance(data, str) or has_template(data):
        return data
    if key in ("verb", "kind", "type", "role", "attr", "css", "xpath"):
        return data
    if key == "value":
        return _whole(data, values)
    text = holed_url(data, values) if key == "url" else holed(data, values)
    quoted = " | urlencode" if key == "url" else ""
    return _HOLE.sub(lambda found: f"{{{{ {found[1]}{quoted} }}}}", text)


def _whole(text: str, values: Mapping[str, Json]) -> str:
    """What was entered: a whole value as its reference; else the values that stand in it."""
    for name, value in leaves(values):
        if value == text and len(text) >= 1:
            return f"{{{{ {name} }}}}"
    if len(text) < SHORTEST_VALUE:
        return text
    return _HOLE.sub(lambda found: f"{{{{ {found[1]} }}}}", holed(text, values))
