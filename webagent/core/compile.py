"""Recipe -> Plan: the steps of all used recipes in one graph, with every need and every fault told.

Called by the faces after a recipe was parsed. The order of work: places are laid out and their
names checked; each step's written needs and references become needs (`_Compiler.link`); sign-ins
are added; the single steps are checked (`core.check`); then the graph is put in order. Each stage
reports into one list, so that all faults of a recipe are told at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from webagent.core.check import check_recipe, check_step
from webagent.core.errors import Problem, RecipeInvalid
from webagent.core.expr import Path
from webagent.core.origins import add_sign_ins, set_origins
from webagent.core.outputs import Outputs, attribute_fault
from webagent.core.plan import PAGELESS, Plan, PlanStep, Step, SubPlan
from webagent.core.recipe import Recipe, Use
from webagent.core.scopes import (
    Draft,
    Faults,
    Found,
    Place,
    behind_input,
    either_paths,
    expression_paths,
    near,
    resolve,
    safe_references,
)
from webagent.core.step_values import Written, written_values


def compile_plan(recipe: Recipe) -> Plan:
    """The plan of a recipe.

    Raises:
        RecipeInvalid: with every problem and its place.
    """
    compiler = _Compiler(recipe, Faults())
    compiler.run()
    if compiler.faults.problems:
        raise RecipeInvalid(in_order(compiler.faults.problems, recipe.file))
    return compiler.plan()


def problems_of(recipe: Recipe, broken: Mapping[str, frozenset[str]]) -> list[Problem]:
    """What is wrong with a recipe of which parts could not be read.

    ``broken``: by file, the paths of those parts; nothing is said about them or for want of them.
    """
    compiler = _Compiler(recipe, Faults(broken=broken))
    compiler.run()
    return in_order(compiler.faults.problems, recipe.file)


def in_order(problems: list[Problem], first: str) -> list[Problem]:
    """Each problem once, the main file's first, by line."""
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (p.file != first, p.file, p.line, p.column))


class _Compiler:
    """One compilation: the places and drafts, and the faults found on the way."""

    def __init__(self, recipe: Recipe, faults: Faults) -> None:
        self.recipe = recipe
        self.faults = faults
        self.root = _lay_out(recipe)
        self.drafts: dict[str, Draft] = {}
        for place, name, step in self.root.steps():
            draft = Draft(place, name, step, faults.known_bad(place.recipe, f"steps.{name}"))
            self.drafts[draft.path] = draft
        self.outputs = Outputs(self.drafts, faults)
        self.sorted: list[str] = list(self.drafts)

    def run(self) -> None:
        """All stages."""
        for place in _places(self.root):
            check_recipe(place, self.faults)
            self._uses(place)
        for draft in self.drafts.values():
            self._written_needs(draft)
            self._continues(draft)
        for draft in self.drafts.values():
            self._references(draft)
        set_origins(self.drafts)
        add_sign_ins(self.drafts, self.faults)
        for draft in self.drafts.values():
            if not draft.broken:
                check_step(draft, self.drafts, self.outputs, self.faults)
        self._on_change()
        self._sort()

    # --- used recipes -----------------------------------------------------------------------

    def _uses(self, place: Place) -> None:
        """Check what ``with`` gives to each used recipe."""
        for name, step in place.recipe.steps.items():
            if not isinstance(step, Use):
                continue
            at, inner = f"steps.{name}", place.inner[name].recipe
            for given, raw in step.with_.items():
                if given not in inner.inputs:
                    self.faults.add(
                        place.recipe, f"{at}.with.{given}",
                        f"the recipe {step.file} has no input {given!r}",
                        near(given, list(inner.inputs)), "unknown_input",
                    )  # fmt: skip
                self._names(place, f"{at}.with.{given}", safe_references(raw))
            for wanted, spec in inner.inputs.items():
                if not spec.has_default and wanted not in step.with_:
                    self.faults.add(
                        place.recipe, at, f"the recipe {step.file} needs the input {wanted!r}",
                        f"add with: {{{wanted}: …}}", "missing_input",
                    )  # fmt: skip

    def _names(self, place: Place, at: str, paths: frozenset[Path]) -> list[Found]:
        """Resolve names of a used step's own values, reporting those that stand for nothing."""
        found = [resolve(place, path, self.faults) for path in sorted(paths)]
        for one in found:
            self._report(place, at, one)
        return found

    def _report(self, place: Place, at: str, found: Found) -> bool:
        if found.fault:
            self.faults.add(place.recipe, at, found.fault, found.hint, "unknown_name")
            return True
        if fault := self.outputs.fault(found):
            self.faults.add(place.recipe, at, *fault, "unknown_output")
            return True
        return False

    # --- needs ------------------------------------------------------------------------------

    def _written_needs(self, draft: Draft) -> None:
        """What the author wrote: at the step, and at each ``use`` around it."""
        step = draft.step
        draft.declared = dict.fromkeys(self._named(draft.place, draft.at, step.needs))
        draft.needs_any = self._alternatives(draft.place, draft.at, step.needs_any)
        place = draft.place
        outer: list[tuple[str, str]] = []
        while place.use is not None and place.parent is not None:
            use, parent = place.use, place.parent
            draft.declared.update(dict.fromkeys(self._named(parent, place.at, use.needs)))
            if use.needs_any and not draft.needs_any and not self._inside_needs(draft, place):
                draft.needs_any = self._alternatives(parent, place.at, use.needs_any)
            if use.when is not None:
                outer.insert(0, (parent.path, use.when))
                for found in self._names(parent, f"{place.at}.when", expression_paths(use.when)):
                    self._imply(draft, found)
            place = parent
        draft.outer_when = tuple(outer)
        draft.needs.update(draft.declared)

    def _inside_needs(self, draft: Draft, place: Place) -> bool:
        """Whether a step of a used recipe waits for another step of it anyway."""
        inside = place.path + "/"
        return any(need.startswith(inside) for need in draft.declared) or (
            draft.step.continues is not None
        )

    def _named(self, place: Place, at: str, names: tuple[str, ...]) -> list[str]:
        """The steps that written names mean; a used recipe means all steps in it."""
        paths: list[str] = []
        for index, name in enumerate(names):
            found = self._step_named(place, f"{at}.needs[{index}]", name)
            paths.extend(found)
        return paths

    def _alternatives(self, place: Place, at: str, names: tuple[str, ...]) -> tuple[str, ...]:
        paths: list[str] = []
        for name in names:
            found = self._step_named(place, f"{at}.needs", name)
            if len(found) > 1:
                found = _last_of(found, self.drafts)
            if len(found) > 1:
                self.faults.add(
                    place.recipe, f"{at}.needs", f"{name} ends in several steps",
                    f"name one of them: {found[-1].replace('/', '.')}", "needs",
                )  # fmt: skip
            paths.extend(found)
        return tuple(dict.fromkeys(paths))

    def _step_named(self, place: Place, at: str, name: str) -> list[str]:
        path = tuple(name.replace("/", ".").split("."))
        if path[0] in place.recipe.inputs:
            self.faults.add(place.recipe, at, f"{name!r} is an input, not a step", "", "needs")
            return []
        found = resolve(place, path, self.faults)
        if found.special == "broken":
            return []
        if found.several:
            return list(found.several)
        if found.step is None or found.fields:
            hint = near(path[0], list(place.recipe.steps))
            self.faults.add(place.recipe, at, f"no step is named {name!r}", hint, "unknown_step")
            return []
        return [found.step]

    def _continues(self, draft: Draft) -> None:
        if draft.step.continues is None:
            return
        at = f"{draft.at}.continues"
        found = self._step_named(draft.place, at, draft.step.continues)
        if len(found) > 1:
            found = _last_of(found, self.drafts)
        if len(found) != 1:
            if found:
                self.faults.add(
                    draft.place.recipe, at, f"{draft.step.continues} ends in several steps",
                    f"name one of them: {found[-1].replace('/', '.')}", "continues",
                )  # fmt: skip
            return
        if found[0] == draft.path:
            self.faults.add(draft.place.recipe, at, "a step cannot continue itself", "", "cycle")
            return
        draft.continues = found[0]
        draft.needs.setdefault(found[0])

    # --- references -------------------------------------------------------------------------

    def _references(self, draft: Draft) -> None:
        """Check every name in a step's values, and let what it refers to become needs."""
        if draft.broken:
            return
        for value in written_values(draft.step):
            for path in sorted(self._paths(value)):
                self._reference(draft, value, path)

    @staticmethod
    def _paths(value: Written) -> frozenset[Path]:
        match value.form:
            case "value":
                return safe_references(value.raw)
            case "list":
                return either_paths(value.raw)
            case _:
                return expression_paths(value.raw)

    def _reference(self, draft: Draft, value: Written, path: Path) -> None:
        at = f"{draft.at}.{value.at}"
        recipe = draft.place.recipe
        if path[0] == "secrets":
            return  # its place is checked with the entries and the browser's options
        if path[0] == "item":
            self._item(draft, value, path)
            return
        if value.form == "row":
            rows = self.outputs.rows(draft.place, draft.step.source)
            if rows is not None and path[0] in rows:
                if fault := attribute_fault(path[0], rows[path[0]], path[1:]):
                    self.faults.add(recipe, at, *fault, "unknown_output")
                return
            found = resolve(draft.place, path, self.faults)
            if found.fault and rows is None:
                return  # a field of rows that cannot be told beforehand
            if found.fault:
                hint = near(path[0], [*rows, *draft.place.names()] if rows else [])
                message = f"no field, input or step is named {path[0]!r}"
                self.faults.add(recipe, at, message, hint, "unknown_name")
                return
        else:
            found = resolve(draft.place, path, self.faults)
        if found.step == draft.path:
            self.faults.add(
                recipe, at, f"{draft.name} refers to itself", "expect its outputs by output:",
                "cycle",
            )  # fmt: skip
            return
        if not self._report(draft.place, at, found):
            self._imply(draft, found)

    def _item(self, draft: Draft, value: Written, path: Path) -> None:
        at = f"{draft.at}.{value.at}"
        if value.form == "row":
            return  # the compared row itself
        if draft.step.for_each is None:
            self.faults.add(
                draft.place.recipe, at, "item stands only in a step with for_each", "", "item"
            )
        elif not value.item:
            where = value.at
            self.faults.add(draft.place.recipe, at, f"there is no item yet in {where}", "", "item")
        else:
            rows = self.outputs.rows(draft.place, draft.step.for_each)
            if rows is not None and len(path) > 1 and path[1] not in rows:
                self.faults.add(
                    draft.place.recipe, at, f"the items have no field {path[1]!r}",
                    near(path[1], list(rows)), "unknown_field",
                )  # fmt: skip

    def _imply(self, draft: Draft, found: Found) -> None:
        """Let a reference become needs and uses, also of what ``with`` hands in."""
        if found.input is not None:
            draft.uses.setdefault(("", found.input, *found.fields))
            for outer in behind_input(draft.place, found.input, self.faults):
                if outer.step is not None or outer.several:
                    self._imply(draft, outer)
            return
        targets = (found.step,) if found.step is not None else found.several
        for path in targets:
            draft.uses.setdefault((path, *found.fields))
            if path not in draft.needs_any:
                draft.needs.setdefault(path)

    # --- the whole --------------------------------------------------------------------------

    def _on_change(self) -> None:
        for index, name in enumerate(self.recipe.on_change):
            at = f"on_change[{index}]"
            path = tuple(name.replace("/", ".").split("."))
            found = resolve(self.root, path, self.faults)
            if found.special == "broken" or self._report(self.root, at, found):
                continue
            if found.step is None:
                self.faults.add(self.recipe, at, f"{name!r} is no step's output",
                                "write STEP.OUTPUT", "on_change")  # fmt: skip

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
                  "allow_private", "max_radius", "keep_heals")  # fmt: skip
        return Plan(
            recipe_id=recipe.id,
            steps=tuple(self._step(self.drafts[path]) for path in self.sorted),
            subplans={p.path: _sub_plan(p) for p in _places(self.root) if p.use is not None},
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


def _lay_out(recipe: Recipe) -> Place:
    root = Place("", recipe)
    todo = [root]
    while todo:
        place = todo.pop()
        for name, step in place.recipe.steps.items():
            if isinstance(step, Use):
                inner = Place(place.join(name), step.recipe, place, step, f"steps.{name}")
                place.inner[name] = inner
                todo.append(inner)
    return root


def _places(place: Place) -> list[Place]:
    found = [place]
    for inner in place.inner.values():
        found.extend(_places(inner))
    return found


def _sub_plan(place: Place) -> SubPlan:
    recipe, use = place.recipe, place.use
    return SubPlan(
        place=place.path, recipe_id=recipe.id, inputs=recipe.inputs,
        with_=dict(use.with_) if use is not None else {}, secrets=recipe.secrets,
        sites=recipe.sites,
    )  # fmt: skip


def _last_of(paths: list[str], drafts: dict[str, Draft]) -> list[str]:
    """Those of a used recipe's steps that no other step of it waits for or continues."""
    waited: set[str] = set()
    for path in paths:
        draft = drafts[path]
        names = [*draft.step.needs, *draft.step.needs_any]
        if draft.step.continues:
            names.append(draft.step.continues)
        for value in written_values(draft.step):
            names.extend(p[0] for p in _Compiler._paths(value))
        waited |= {draft.place.join(name.replace(".", "/")) for name in names}
    return [path for path in paths if path not in waited]
