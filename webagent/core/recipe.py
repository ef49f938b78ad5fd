"""Recipe: the errand as a person wrote it, parsed, with the place of every part in its file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from webagent.core.base import Frozen, Json
from webagent.core.chat import Models
from webagent.core.limits import Budget
from webagent.core.plan import BrowserOptions, InputSpec, SecretSpec, Step


class Place(Frozen):
    """A position in a file, counted from 1."""

    file: str
    line: int
    column: int


class Use(Frozen):
    """A whole recipe as one step: ``use: FILE`` with its inputs, needs and condition."""

    recipe: Recipe
    file: str
    with_: dict[str, Json] = Field(default={}, alias="with")
    goal: str = ""
    needs: tuple[str, ...] = ()
    needs_any: tuple[str, ...] = ()
    when: str | None = None
    session: str | None = None
    budget: Budget = Budget()


class Recipe(Frozen):
    """The YAML file from which an errand is made; ``id`` survives edit, rename and accepted heals.

    ``places`` maps a path in the document (``steps.order_a.expect[0]``) to where it stands, for
    errors that are found after parsing. ``digest`` is the hash of the file's text.
    """

    id: str
    errand: str = ""
    inputs: dict[str, InputSpec] = {}
    secrets: dict[str, SecretSpec] = {}
    sites: tuple[str, ...] = ()
    steps: dict[str, Step | Use]
    budget: Budget = Budget()
    browser: BrowserOptions = BrowserOptions()
    on_change: tuple[str, ...] = ()
    allow_private: bool = False
    max_radius: int | None = None
    keep_heals: Literal["never", "none"] = "never"
    models: Models = Models()
    file: str = ""
    digest: str = ""
    places: dict[str, Place] = Field(default={}, repr=False)

    def place(self, path: str) -> Place | None:
        """Where a path stands; the nearest enclosing part that has a place when it has none."""
        while path:
            if path in self.places:
                return self.places[path]
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return self.places.get("")
