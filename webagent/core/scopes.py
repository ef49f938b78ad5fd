"""Names and what they stand for while a recipe becomes a plan.

A *place* is one recipe in the plan: "" the outermost, ``outer`` the one that ``use`` puts at the
step ``outer``. Names are read in their own place; a used recipe sees nothing of the outer one but
what ``with`` gives it. Faults of all places are collected here, each with its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from webagent.core.errors import ExpressionError, Problem
from webagent.core.expr import Path, has_template, references
from webagent.core.plan import Step
from webagent.core.recipe import Recipe, Use

SPECIAL = ("run", "last", "item", "secrets")
RUN_FIELDS = ("date", "id")
# Names that an input or a step may not have: they mean something in expressions or in keys.
_KEYWORDS = (
    "true false null none and or not in is if else elif for set filter import from with "
    "recursive self dict"
)
RESERVED = frozenset((*SPECIAL, "loop", "any", *_KEYWORDS.split()))


def near(word: str, known: Iterator[str] | list[str] | tuple[str, ...]) -> str:
    """A did-you-mean, or what there is."""
    names = sorted(set(known))
    if found := get_close_matches(word, names, n=1, cutoff=0.6):
        return f"did you mean {found[0]!r}?"
    return "there is: " + ", ".join(names) if 0 < len(names) <= 20 else ""


@dataclass(slots=True)
class Faults:
    """Collects problems; ``broken`` are, by file, the paths that were already found faulty."""

    problems: list[Problem] = field(default_factory=list)
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def add(
        self, recipe: Recipe, at: str, message: str, hint: str = "", code: str = "check"
    ) -> None:
        """Note a fault at a path of a recipe."""
        place = recipe.place(at)
        self.problems.append(
            Problem(
                message, path=at, hint=hint, code=code,
                file=place.file if place else recipe.file,
                line=place.line if place else 0, column=place.column if place else 0,
            )
        )  # fmt: skip

    def broken_in(self, recipe: Recipe) -> frozenset[str]:
        """The paths of a recipe that were already found faulty."""
        return self.broken.get(recipe.file, frozenset())

    def known_bad(self, recipe: Recipe, at: str) -> bool:
        """Whether this part, or all of its kind, was already found faulty."""
        bad = self.broken_in(recipe)
        return at in bad or at.split(".", 1)[0] in bad - {"steps", "inputs", "secrets"}


@dataclass(slots=True, eq=False)
class Place:
    """One recipe in the plan, with the ``use`` that put it there."""

    path: str
    recipe: Recipe
    parent: Place | None = None
    use: Use | None = None
    at: str = ""  # the path of the use in the parent's document
    inner: dict[str, Place] = field(default_factory=dict)

    def join(self, name: str) -> str:
        """The path in the plan of a step of this place."""
        return f"{self.path}/{name}" if self.path else name

    def names(self) -> list[str]:
        """What may be referred to here."""
        return [*self.recipe.inputs, *self.recipe.steps, "run", "last"]

    def steps(self) -> Iterator[tuple[Place, str, Step]]:
        """All steps of this place and of those in it."""
        for name, step in self.recipe.steps.items():
            if isinstance(step, Use):
                yield from self.inner[name].steps()
            else:
                yield self, name, step


@dataclass(slots=True, eq=False)
class Draft:
    """A step on its way into the plan."""

    place: Place
    name: str
    step: Step
    broken: bool = False
    needs: dict[str, None] = field(default_factory=dict)
    declared: dict[str, None] = field(default_factory=dict)
    needs_any: tuple[str, ...] = ()
    uses: dict[tuple[str, ...], None] = field(default_factory=dict)
    outer_when: tuple[tuple[str, str], ...] = ()
    continues: str | None = None
    enterable: bool = True
    sign_in: str | None = None
    origins: frozenset[str] = frozenset()
    origins_known: bool = True

    @property
    def path(self) -> str:
        """Its path in the plan."""
        return self.place.join(self.name)

    @property
    def at(self) -> str:
        """Its path in its document."""
        return f"steps.{self.name}"


@dataclass(frozen=True, slots=True)
class Found:
    """What a reference stands for.

    ``step`` with the fields behind it; or the names of an input; or several steps (a whole used
    recipe). ``fault`` and ``hint`` when it stands for nothing.
    """

    step: str | None = None
    fields: Path = ()
    input: str | None = None
    several: tuple[str, ...] = ()
    special: str | None = None
    fault: str = ""
    hint: str = ""


def resolve(place: Place, path: Path, faults: Faults) -> Found:
    """What a dotted name stands for in a place."""
    head, rest = path[0], path[1:]
    if head in SPECIAL:
        return _special(place, head, rest)
    if head in place.recipe.inputs:
        return Found(input=head, fields=rest)
    step = place.recipe.steps.get(head)
    if isinstance(step, Step):
        return Found(step=place.join(head), fields=rest)
    if isinstance(step, Use):
        return _inside(place.inner[head], head, rest, faults)
    if any(faults.known_bad(place.recipe, f"{kind}.{head}") for kind in ("steps", "inputs")):
        return Found(special="broken")
    if {"inputs", "steps"} & faults.broken_in(place.recipe):
        return Found(special="broken")
    return Found(fault=f"no input or step is named {head!r}", hint=near(head, place.names()))


def _special(place: Place, head: str, rest: Path) -> Found:
    if head == "run" and (not rest or rest[0] not in RUN_FIELDS):
        what = f"run.{rest[0]}" if rest else "run alone"
        return Found(fault=f"there is no {what}", hint="run.date is this run's date")
    if head == "last" and rest and rest[0] not in place.recipe.steps:
        return Found(
            fault=f"last.{rest[0]}: no step is named {rest[0]!r}",
            hint=near(rest[0], list(place.recipe.steps)),
        )
    return Found(special=head, fields=rest)


def _inside(inner: Place, said: str, rest: Path, faults: Faults) -> Found:
    if not rest:
        return Found(several=tuple(p.join(n) for p, n, _ in inner.steps()))
    name = rest[0]
    step = inner.recipe.steps.get(name)
    if isinstance(step, Use):
        return _inside(inner.inner[name], f"{said}.{name}", rest[1:], faults)
    if step is not None:
        return Found(step=inner.join(name), fields=rest[1:])
    if faults.known_bad(inner.recipe, f"steps.{name}"):
        return Found(special="broken")
    return Found(
        fault=f"the recipe behind {said} has no step {name!r}",
        hint=near(name, list(inner.recipe.steps)),
    )


def behind_input(place: Place, name: str, faults: Faults) -> Iterator[Found]:
    """The outer steps that an input's value comes from through ``with``."""
    if place.use is None or place.parent is None or name not in place.use.with_:
        return
    for path in safe_references(place.use.with_[name]):
        found = resolve(place.parent, path, faults)
        if found.input is not None:
            yield from behind_input(place.parent, found.input, faults)
        else:
            yield found


def safe_references(raw: Any) -> frozenset[Path]:
    """The references of a value; none when it does not parse, which was reported before."""
    try:
        return references(raw)
    except ExpressionError:
        return frozenset()


def expression_paths(source: str) -> frozenset[Path]:
    """As `safe_references`, for a bare expression."""
    return safe_references("{{ " + source + " }}")


def either_paths(source: str) -> frozenset[Path]:
    """The references of a list expression, which stands bare or in {{ }}."""
    return safe_references(source) if has_template(source) else expression_paths(source)
