"""Moves that worked become a segment: dead ends go, today's values become references again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

from webagent.core.action import (
    Action,
    Back,
    Check,
    Click,
    Commit,
    Fill,
    Goto,
    Read,
    Scroll,
    Select,
    Uncheck,
)
from webagent.core.base import Frozen, Json
from webagent.core.expr import has_template
from webagent.core.sighting import leaves

# What a reference can be written of: a row may be named by whatever stands in a table's header.
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_ADDRESS = re.compile(r"(?P<lead>\w[\w+.-]*://[^/?#]*)(?P<path>[^?#]*)(?P<rest>.*)", re.DOTALL)
_KEPT = frozenset(("verb", "kind", "type", "role", "attr", "css", "xpath"))


class Move(Frozen):
    """One action as it was made: ``wrote``: a write went out; ``documents``: how many it loaded."""

    action: Action
    wrote: bool = False
    documents: int = 0


def condensed(moves: Sequence[Move], values: Mapping[str, Json]) -> tuple[Action, ...]:
    """The segment that these moves amount to.

    - Of several reads of one output the last holds. Scrolling brought only something into view.
    - What was taken back at once goes with its back.
    - A goto makes what stood before it superfluous, unless something was written there or read
      there, or somebody goes back there.
    - Of several entries into one field the last holds, where nothing was done between them.
    """
    kept = [m for m in moves if not isinstance(m.action, Scroll)]
    shorter = _shorter(kept)
    # Whom nobody goes back to any more is superfluous too.
    while len(shorter) < len(kept):
        kept, shorter = shorter, _shorter(shorter)
    known = _known(values)
    return tuple(_referring(m.action, known) for m in kept)


def _shorter(moves: Sequence[Move]) -> list[Move]:
    return _last_entries(_from_gotos(_without_turns(_last_reads(moves))))


def _last_reads(moves: Sequence[Move]) -> list[Move]:
    kept: list[Move] = []
    for move in reversed(moves):
        if isinstance(move.action, Read):
            names = set(move.action.outputs)
            if any(isinstance(m.action, Read) and names <= set(m.action.outputs) for m in kept):
                continue
        kept.insert(0, move)
    return kept


def _without_turns(moves: Sequence[Move]) -> list[Move]:
    kept: list[Move] = []
    for move in moves:
        last = kept[-1] if kept else None
        if isinstance(move.action, Back) and last is not None and _left_only(last):
            kept.pop()
        else:
            kept.append(move)
    return kept


def _left_only(move: Move) -> bool:
    """Whether a move did nothing but leave its page."""
    return isinstance(move.action, Click | Goto) and not move.wrote and move.documents == 1


def _from_gotos(moves: Sequence[Move]) -> list[Move]:
    kept: list[Move] = []
    for index, move in enumerate(moves):
        returns = any(isinstance(later.action, Back) for later in moves[index:])
        if isinstance(move.action, Goto) and not returns:
            used = (i for i, m in enumerate(kept) if m.wrote or isinstance(m.action, Read))
            del kept[max(used, default=-1) + 1 :]
        kept.append(move)
    return kept


def _last_entries(moves: Sequence[Move]) -> list[Move]:
    kept: list[Move] = []
    for move in moves:
        target = _entered(move.action)
        if target is not None:
            since = max((i for i, m in enumerate(kept) if _used(m)), default=-1)
            kept = [m for i, m in enumerate(kept) if i <= since or _entered(m.action) != target]
        kept.append(move)
    return kept


def _used(move: Move) -> bool:
    """Whether a move may have made something of what had been entered before it."""
    entry = isinstance(move.action, Fill | Select | Check | Uncheck)
    return not entry or move.wrote or move.documents > 0


def _entered(action: Action) -> str | None:
    match action:
        case Fill(entries=entries) | Select(entries=entries):
            return "\n".join(e.target.source for e in entries)
        case _:
            return None


def _known(values: Mapping[str, Json]) -> dict[str, str]:
    """Today's values that a reference can be written for, the longest first, with their names."""
    known: dict[str, str] = {}
    for name, value in sorted(leaves(values), key=lambda pair: -len(pair[1])):
        if _NAME.fullmatch(name):
            known.setdefault(value, name)
    return known


def _referring(action: Action, known: Mapping[str, str]) -> Action:
    """The action with today's values as references."""
    if isinstance(action, Commit):
        return action.model_copy(update={"action": _referring(action.action, known)})
    return type(action).model_validate(_replaced(action.model_dump(), known))


def _replaced(data: Any, known: Mapping[str, str], key: str = "", *, exact: bool = False) -> Any:
    if isinstance(data, Mapping):
        # A selector stays as it was written, and so does its text.
        kept = {*_KEPT, "source"} if data.get("css") or data.get("xpath") else _KEPT
        exact = bool(data.get("exact"))
        return {
            k: v if k in kept else _replaced(v, known, str(k), exact=exact) for k, v in data.items()
        }
    if isinstance(data, list | tuple):
        return tuple(_replaced(v, known, key, exact=exact) for v in data)
    if not isinstance(data, str) or has_template(data):
        return data
    if key == "url":
        return _address(data, known)
    # What is typed is typed as it stands; names are looked for in any case, but for exact ones.
    return _text(data, known, exact=exact or key in ("value", "test_id"))


def _text(text: str, known: Mapping[str, str], *, exact: bool) -> str:
    names = {value if exact else value.casefold(): name for value, name in known.items()}
    return _put(
        text, known, lambda found: names.get(found if exact else found.casefold()),
        exact=exact, form="{{{{ {} }}}}",
    )  # fmt: skip


def _address(url: str, known: Mapping[str, str]) -> str:
    """An address with references behind its host: rendered, it leads where it led."""
    if url in known:
        return f"{{{{ {known[url]} }}}}"
    found = _ADDRESS.fullmatch(url)
    if found is None:
        return url
    # A slash that is part of a value is one in a query, and in a path it would part it.
    path = {quote(value): name for value, name in known.items()}
    query = {
        written: name
        for value, name in known.items()
        for written in (quote(value, safe=""), quote_plus(value), quote(value))
    }
    made = [found["lead"]]
    for part, names in ((found["path"], path), (found["rest"], query)):
        made.append(_put(part, names, names.get, exact=True, form="{{{{ {} | urlencode }}}}"))
    return "".join(made)


def _put(
    text: str, written: Iterable[str], name_of: Callable[[str], str | None], *, exact: bool,
    form: str,
) -> str:  # fmt: skip
    """A text with references where a value stands as words of its own."""
    longest = sorted((w for w in written if w), key=len, reverse=True)
    if not longest:
        return text
    pattern = re.compile(
        rf"(?:(?<=%[0-9A-F]{{2}})|(?<!\w))(?<!\d[.,])(?:{'|'.join(map(re.escape, longest))})"
        r"(?!\w)(?![.,]\d)",
        re.NOFLAG if exact else re.IGNORECASE,
    )

    def put(found: re.Match[str]) -> str:
        name = name_of(found[0])
        return found[0] if name is None else form.format(name)

    return pattern.sub(put, text)
