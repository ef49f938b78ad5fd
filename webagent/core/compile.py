"""Recipe -> Plan: the steps of all used recipes in one graph, with every need and every fault told.

Called by the faces after a recipe was parsed. The order of work: places are laid out and their
names checked; each step's written needs and references become needs (`core.link`); sign-ins are
added; the single steps are checked (`core.check`); then the graph is put in order. Each stage
reports into one list, so that all faults of a recipe are told at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from webagent.core.chat import Models, ModelSpec
from webagent.core.check import check_recipe, check_step
from webagent.core.check_models import check_models
from webagent.core.errors import Problem, RecipeInvalid
from webagent.core.link import Linker, lay_out, places
from webagent.core.origins import add_sign_ins, set_origins
from webagent.core.outputs import Outputs
from webagent.core.plan import PAGELESS, Plan, PlanStep, Step, SubPlan
from webagent.core.recipe import Recipe
from webagent.core.scopes import (
    Draft,
    Faults,
    Place,
)

NO_MODELS = Models()
# Which models the settings name is not looked at before a recipe can be read.
SOME_MODEL = Models.all(ModelSpec(model="unknown"))


def compile_plan(recipe: Recipe, models: Models = NO_MODELS) -> Plan:
    """The plan of a recipe. ``models``: those that the settings name, below the recipe's own.

    Raises:
        RecipeInvalid: with every problem and its place.
    """
    compiler = _Compiler(recipe, Faults(), models)
    compiler.run()
    if compiler.faults.problems:
        raise RecipeInvalid(in_order(compiler.faults.problems, recipe.file))
    return compiler.plan()


def problems_of(
    recipe: Recipe, broken: Mapping[str, frozenset[str]], models: Models = SOME_MODEL
) -> list[Problem]:
    """What is wrong with a recipe of which parts could not be read.

    ``broken``: by file, the paths of those parts; nothing is said about them or for want of them.
    """
    compiler = _Compiler(recipe, Faults(broken=broken), models)
    compiler.run()
    return in_order(compiler.faults.problems, recipe.file)


def in_order(problems: list[Problem], first: str) -> list[Problem]:
    """Each problem once, the main file's first, by line."""
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (p.file != first, p.file, p.line, p.column))


class _Compiler:
    """One compilation: the places and drafts, and the faults found on the way."""

    def __init__(self, recipe: Recipe, faults: Faults, models: Models) -> None:
        self.recipe = recipe
        self.models = recipe.models.over(models)
        self.faults = faults
        self.root = lay_out(recipe)
        self.drafts: dict[str, Draft] = {}
        for place, name, step in self.root.steps():
            draft = Draft(place, name, step, faults.known_bad(place.recipe, f"steps.{name}"))
            self.drafts[draft.path] = draft
        self.outputs = Outputs(self.drafts, faults)
        self.sorted: list[str] = list(self.drafts)

    def run(self) -> None:
        """All stages."""
        for place in places(self.root):
            check_recipe(place, self.faults)
        linker = Linker(self.root, self.drafts, self.outputs)
        linker.link()
        set_origins(self.drafts)
        add_sign_ins(self.drafts, self.faults)
        for draft in self.drafts.values():
            if not draft.broken:
                check_step(draft, self.drafts, self.outputs, self.models, self.faults)
        check_models(self.recipe, [draft.step for draft in self.drafts.values()], self.faults)
        for index, name in enumerate(self.recipe.on_change):
            linker.output_named(f"on_change[{index}]", name)
        self._sort()

    def _sort(self) -> None:
        graph: dict[str, list[str]] = {
            path: [*draft.needs, *draft.needs_any] for path, draft in self.drafts.items()
        }
        sorter = TopologicalSorter(graph)
        try:
            sorter.prepare()
        except CycleError as error:
            ring: list[str] = list(reversed(error.args[1]))
            first = min(ring[:-1], key=list(self.drafts).index)
            turn = ring.index(first)
            ring = [*ring[turn:-1], *ring[:turn], first]
            draft = self.drafts[first]
            said = " needs ".join(path.replace("/", ".") for path in ring)
            self.faults.add(
                draft.place.recipe, draft.at, f"steps need each other in a ring: {said}",
                "a step's needs are what it writes and what its values refer to", "cycle",
            )  # fmt: skip
            return
        # The author's order where the needs leave a choice.
        place = {path: index for index, path in enumerate(self.drafts)}
        ready, done = list(sorter.get_ready()), []
        while ready:
            ready.sort(key=place.__getitem__, reverse=True)
            path = ready.pop()
            done.append(path)
            sorter.done(path)
            ready.extend(sorter.get_ready())
        self.sorted = done

    def plan(self) -> Plan:
        """The plan; only when there are no faults."""
        recipe = self.recipe
        shared = ("errand", "inputs", "secrets", "sites", "budget", "browser", "on_change",
                  "allow_private", "max_radius", "keep_heals", "models")  # fmt: skip
        return Plan(
            recipe_id=recipe.id,
            steps=tuple(self._step(self.drafts[path]) for path in self.sorted),
            subplans={p.path: _sub_plan(p) for p in places(self.root) if p.use is not None},
            **{name: getattr(recipe, name) for name in shared},
        )

    def _step(self, draft: Draft) -> PlanStep:
        outputs = self.outputs.of(draft.path)
        written = {name: getattr(draft.step, name) for name in Step.model_fields}
        written |= {
            "needs": tuple(draft.needs),
            "needs_any": draft.needs_any,
            "continues": draft.continues,
        }
        return PlanStep(
            **written,
            path=draft.path,
            place=draft.place.path,
            uses=tuple(draft.uses),
            outer_when=draft.outer_when,
            enterable=draft.step.do in PAGELESS or draft.enterable,
            sign_in=draft.sign_in,
            outputs=tuple(outputs or ()),
            declared_needs=tuple(draft.declared),
        )


def _sub_plan(place: Place) -> SubPlan:
    recipe, use = place.recipe, place.use
    return SubPlan(
        place=place.path, recipe_id=recipe.id, inputs=recipe.inputs,
        with_=dict(use.with_) if use is not None else {}, secrets=recipe.secrets,
        sites=recipe.sites,
    )  # fmt: skip
