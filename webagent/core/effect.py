"""Effects: what a step does to the world, and the row that keeps it to once."""

from __future__ import annotations

from typing import Literal, TypeAlias

from webagent.core.base import Frozen, Json

EffectKind: TypeAlias = Literal["none", "repeatable", "once"]
EFFECT_ORDER: tuple[EffectKind, ...] = ("none", "repeatable", "once")

EffectState: TypeAlias = Literal[
    "intended", "dispatched", "confirmed", "refused", "unknown", "freed"
]

# freed: dispatched, then shown not to have happened (by settle or a person); refused: the site said
# no. Both may be intended again as the next attempt. dispatched and unknown may never be.
EFFECT_TRANSITIONS: dict[EffectState | None, frozenset[EffectState]] = {
    None: frozenset({"intended", "confirmed"}),
    "intended": frozenset({"intended", "dispatched", "freed"}),
    "dispatched": frozenset({"confirmed", "refused", "unknown", "freed"}),
    "unknown": frozenset({"confirmed", "refused", "freed", "unknown"}),
    "refused": frozenset({"intended"}),
    "freed": frozenset({"intended"}),
    "confirmed": frozenset(),
}


def stronger(one: EffectKind, two: EffectKind) -> EffectKind:
    """The stronger of two effects."""
    return max(one, two, key=EFFECT_ORDER.index)


class EffectRow(Frozen):
    """The state of one effect key in the store; the one truth about whether it may be done.

    ``attempt`` counts from 1. ``baseline`` is the probe's keyed list read before the commit (None
    without a probe). ``request`` is method and path of the commit's request when known or learnt.
    """

    key: str
    state: EffectState
    attempt: int = 1
    run: str = ""
    step: str = ""
    epoch: int = 0
    baseline: Json = None
    payload: Json = None
    outputs: Json = None
    evidence: str = ""
    request: str | None = None
    by: str = ""
    changed_at: str = ""


class EffectChange(Frozen):
    """A change of one row, made in the same transaction as the events that tell it.

    ``expect`` are the states from which it is allowed (None: no row yet); otherwise the store
    raises EffectConflict and keeps neither events nor change.
    """

    expect: tuple[EffectState | None, ...]
    row: EffectRow
