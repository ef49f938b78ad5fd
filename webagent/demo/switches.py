"""The faces and faults of a site: what a test or a person turns while the site runs.

Values are validated where they are set, so that a misspelt fault in a test is an error there
and not a site that silently behaves well.
"""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

Face = Literal["v1", "v2", "reorganised", "slow", "flaky"]
"""v1 as built; v2 redesigned (markup, words, paths); reorganised (shops only) is v1 with its
navigation and markup made anew and its checkout split; slow and flaky are v1 behaving badly."""

Markup = Literal["v1", "v2", "reorganised"]

OrderFault = Literal[
    "none",
    "503_after_write",
    "cut_after_write",
    "cut_kept_after_write",
    "refuse_422",
    "double_submit_script",
]
"""cut_after_write: the connection closes without an answer; the browser has sent one request.
cut_kept_after_write: the same on a connection kept from the page before; Chromium then sends
the POST a second time by itself, below anything that a page or a debugger sees."""


class UnknownSwitch(ValueError):
    """A face or fault that the site does not have, or a value that it cannot take."""


class Switches(BaseModel):
    """The state of one site's face and faults; each field but `face` is a fault by its name."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    markups: ClassVar[tuple[Markup, ...]] = ("v1", "v2")
    """Those that the site has templates and paths for."""

    face: Face = "v1"
    logout_after: int | None = Field(default=None, ge=0)
    """After this many more requests all sessions are dropped, once."""
    refuse_next: int = Field(default=0, ge=0)
    """So many of the next documents answer 503 with Retry-After: 1."""

    @property
    def markup(self) -> Markup:
        """Which templates and paths are served."""
        return self.face if self.face in ("v2", "reorganised") else "v1"

    @field_validator("face")
    @classmethod
    def _has_face(cls, face: Face) -> Face:
        if face == "reorganised" and face not in cls.markups:
            raise ValueError("this site is never reorganised")
        return face

    def set(self, name: str, value: object) -> None:
        """Set one fault (or the face); None means its default.

        Raises:
            UnknownSwitch: there is no such fault on this site, or the value does not fit.
        """
        fields = type(self).model_fields
        if name not in fields:
            raise UnknownSwitch(f"no fault {name!r} here; there are {', '.join(sorted(fields))}")
        if value is None:
            value = fields[name].get_default(call_default_factory=True, validated_data={})
        try:
            setattr(self, name, value)
        except ValidationError as error:
            raise UnknownSwitch(f"{name}: {error.errors()[0]['msg']} (got {value!r})") from error

    def fresh(self) -> Self:
        """The same switches, all at their defaults."""
        return type(self)()


class ShopSwitches(Switches):
    """What can go wrong in a shop."""

    markups: ClassVar[tuple[Markup, ...]] = ("v1", "v2", "reorganised")

    reorganise_at_product: bool = False
    """The next visit of a product's page, in v1, finds the shop reorganised and is sent on."""
    order_delay: float = Field(default=0, ge=0)
    """Seconds for which the answer to an order is held back after the order was recorded."""
    order_fault: OrderFault = "none"
    probe_down: bool = False
    """The list of orders answers 503."""
    keep_basket: bool = False
    """An order leaves the basket as it is, so that sending it again would order again."""
    move_evidence: bool = False
    """v2 also renames what tells of success: the basket's name, totals, the list of orders."""
    price_change: dict[str, Decimal] = Field(default_factory=dict)
    """Product slug to its new price."""
    sold_out: list[str] = Field(default_factory=list)
    """Slugs of products that are gone from the shelf but still have their page."""
    withdrawn: list[str] = Field(default_factory=list)
    """Slugs of products whose page is 404 and which no search finds."""
