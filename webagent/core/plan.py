"""Plan and Step: the graph that is written down before it runs.

A `Step` is a node as the author wrote it. A `PlanStep` is the same node placed in the graph: with
its full path, all its needs (written and implied) and how it can be entered. The plan is immutable;
a revision makes a new one (`core.revision.apply`) in which every other step's text is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

from pydantic import ConfigDict, Field

from webagent.core.action import Action
from webagent.core.base import Frozen, Json
from webagent.core.chat import Models
from webagent.core.effect import EffectKind
from webagent.core.expect import Expectation
from webagent.core.limits import Budget

StepKind: TypeAlias = Literal[
    "open", "search", "read", "compare", "fill", "submit", "sign_in", "ask"
]
KIND_EFFECTS: dict[str, EffectKind] = {
    "open": "none", "search": "none", "read": "none", "compare": "none", "ask": "none",
    "fill": "repeatable", "sign_in": "repeatable", "submit": "once",
}  # fmt: skip
# Kinds that never open a page.
PAGELESS = frozenset({"compare", "ask"})

InputType: TypeAlias = Literal["string", "number", "boolean", "date", "file", "list"]


class InputSpec(Frozen):
    """One input of an errand, required without default. ``source`` (``from:``): a list's CSV."""

    type: InputType = "string"
    default: Json = None
    has_default: bool = False
    source: str | None = None
    help: str = ""


class SecretSpec(Frozen):
    """Where a secret comes from, and the one origin (``for:``) on which it may be typed."""

    env: str | None = None
    file: str | None = None
    keyring: str | None = None
    command: str | None = None
    origin: str | None = None


class Once(Frozen):
    """The key under which an effect happens at most once (``name`` default: the step's path)."""

    name: str | None = None
    key: str


class Probe(Frozen):
    """A read-only segment that tells whether the effect happened; ``settle`` in seconds."""

    segment: tuple[Action, ...]
    settle: float | None = None


class Scope(Frozen):
    """What a step may use: origins, tools (verbs) and secrets. None: what its gotos imply."""

    origins: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    secrets: tuple[str, ...] | None = None


class Question(Frozen):
    """What an ask step wants to know from a person."""

    text: str
    type: InputType = "string"
    options: tuple[str, ...] = ()


class Step(Frozen):
    """One node of the errand as written: what it does, what it needs, what must hold after it."""

    do: StepKind
    goal: str = ""
    needs: tuple[str, ...] = ()
    needs_any: tuple[str, ...] = ()
    when: str | None = None
    for_each: str | None = None
    key: str | None = None
    allow_failed: str | None = None
    effect: EffectKind = "none"
    once: Once | None = None
    segment: tuple[Action, ...] | None = None
    continues: str | None = None
    before_commit: tuple[Expectation, ...] = ()
    expect: tuple[Expectation, ...] = ()
    probe: Probe | None = None
    reset: tuple[Action, ...] | None = None
    approve: bool = False
    allow_posts: tuple[str, ...] = ()
    fresh: float | None = None
    budget: Budget = Budget()
    scope: Scope = Scope()
    timeout: float | None = None
    retries: int | None = None
    attempts: int | None = None
    session: str | None = None
    source: str | None = None
    where: str | None = None
    order: tuple[str, ...] = ()
    take: int | None = None
    group: str | None = None
    question: Question | None = None


class PlanStep(Step):
    """A step in its place in the graph.

    ``path``: ``outer/inner``. ``place``: the sub-plan it stands in ("" for the root), in whose
    names its expressions are read. ``needs``: paths, written and implied, all of which must be met.
    ``needs_any``: paths of which one must be met when all have ended. ``uses``: what its values
    refer to, as (path of step or "" for an input, field path…). ``outer_when``: conditions of the
    sub-plans around it, outermost first, each with the place whose names it is read in.
    """

    path: str
    place: str = ""
    uses: tuple[tuple[str, ...], ...] = ()
    outer_when: tuple[tuple[str, str], ...] = ()
    enterable: bool = True
    sign_in: str | None = None
    outputs: tuple[str, ...] = ()
    declared_needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name inside its own recipe."""
        return self.path.rsplit("/", 1)[-1]


class SubPlan(Frozen):
    """A recipe used inside another: its inputs bound by ``with``, its secrets its own."""

    place: str
    recipe_id: str
    inputs: dict[str, InputSpec] = {}
    with_: dict[str, Json] = Field(default={}, alias="with")
    secrets: dict[str, SecretSpec] = {}
    sites: tuple[str, ...] = ()


class BrowserOptions(Frozen):
    """How the browser is started for this recipe. Credentials are `SecretUse` texts until bound."""

    proxy: Json = None
    headers: dict[str, Json] = {}
    locale: str | None = None
    timezone: str | None = None
    viewport: tuple[int, int] | None = None
    http_auth: Json = None
    ignore_https_errors: bool = False
    client_certificates: Json = None
    connect: str | None = None


class Plan(Frozen):
    """The errand's graph of steps: immutable, versioned, readable before it runs.

    ``steps`` are in an order in which every need stands before its dependant.
    """

    model_config = ConfigDict(ignored_types=(cached_property,))

    version: int = 1
    recipe_id: str
    errand: str = ""
    inputs: dict[str, InputSpec] = {}
    secrets: dict[str, SecretSpec] = {}
    sites: tuple[str, ...] = ()
    subplans: dict[str, SubPlan] = {}
    steps: tuple[PlanStep, ...]
    budget: Budget = Budget()
    models: Models = Models()
    browser: BrowserOptions = BrowserOptions()
    on_change: tuple[str, ...] = ()
    allow_private: bool = False
    max_radius: int | None = None
    keep_heals: Literal["never", "none"] = "never"

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Plan:
        """A copy with changes; what was computed from the old steps does not come along."""
        copy = super().model_copy(update=update, deep=deep)
        for name in ("by_path", "dependants"):
            copy.__dict__.pop(name, None)
        return copy

    @cached_property
    def by_path(self) -> dict[str, PlanStep]:
        """The steps by their path."""
        return {step.path: step for step in self.steps}

    @cached_property
    def dependants(self) -> dict[str, tuple[str, ...]]:
        """For each step the paths of those that need it directly, in plan order."""
        found: dict[str, list[str]] = {step.path: [] for step in self.steps}
        for step in self.steps:
            for need in (*step.needs, *step.needs_any):
                found[need].append(step.path)
        return {path: tuple(dict.fromkeys(paths)) for path, paths in found.items()}

    def descendants(self, path: str) -> tuple[str, ...]:
        """Every step that needs this one, directly or not, in plan order."""
        seen: set[str] = set()
        todo = [path]
        while todo:
            for nxt in self.dependants[todo.pop()]:
                if nxt not in seen:
                    seen.add(nxt)
                    todo.append(nxt)
        return tuple(step.path for step in self.steps if step.path in seen)

    def chain(self, path: str) -> tuple[str, ...]:
        """The steps whose page this one goes on in, from the one that can be entered on, to it."""
        chain = [path]
        while (before := self.by_path[chain[0]].continues) is not None:
            chain.insert(0, before)
        return tuple(chain)

    def step(self, node: str) -> PlanStep:
        """The step of a node; for an item of a for_each (``step[key]``) its template."""
        return self.by_path[template_of(node)]


def template_of(node: str) -> str:
    """The path of the step that a node is an item of, or the node itself."""
    return node.split("[", 1)[0]


def item_node(path: str, key: Any) -> str:
    """The node of one item of a for_each step."""
    return f"{path}[{key}]"
