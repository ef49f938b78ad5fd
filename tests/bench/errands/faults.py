"""What can go wrong on the errand sites, and what they keep of all that was done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

FaultKind: TypeAlias = Literal[
    "element moved",        # the form stands elsewhere on the page, in other elements
    "label changed",        # a field and the button have other names
    "page inserted",        # a notice comes first, with a link onwards
    "page moved",           # 404, with a link to where it went
    "session lost",         # the desk has forgotten who is signed in
    "wrong item preselected",  # a new choice in the form, with another ticket chosen in it
    "price changed",        # the slot costs more than was agreed
    "value gone upstream",  # the code from before is no longer valid: its ticket has a new one
    "write applied, then 503",
    "write applied, then cut",
    "write refused",        # the slot is closed: 409, always
]  # fmt: skip
FAULTS: tuple[FaultKind, ...] = get_args(FaultKind)
WRITE_FAULTS = frozenset({
    "price changed", "write applied, then 503", "write applied, then cut", "write refused"
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong at which step."""

    kind: FaultKind
    number: int


@dataclass(slots=True)
class Books:
    """What the sites keep: bookings (slot, price, code) in order, and pages that were loaded."""

    bookings: list[tuple[str, str, str]] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    attempts: int = 0

    def writes(self, slot: str) -> int:
        """How often a slot was booked."""
        return sum(booked == slot for booked, _, _ in self.bookings)
