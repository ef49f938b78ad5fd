"""Names become needs: what each step of a plan waits for, as written and as its values imply.

`core.compile` makes a `Linker` of the laid out places and calls `link`; afterwards every draft has
its needs, its uses and the page it goes on in, and every name that stands for nothing is reported.
"""

from __future__ import annotations

from webagent.core.expr import Path
from webagent.core.outputs import Outputs, attribute_fault
from webagent.core.recipe import Recipe, Use
from webagent.core.scopes import (
    Draft,
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


class Linker:
    """Resolves the names of all steps of a plan, with the faults found on the way."""

    def __init__(self, root: Place, drafts: dict[str, Draft], outputs: Outputs) -> None:
        self.root = root
        self.drafts = drafts
        self.outputs = outputs
        self.faults = outputs.faults

    def link(self) -> None:
        """Written needs first: a reference to an alternative is no need of its own."""
        for place in places(self.root):
            self._uses(place)
        for draft in self.drafts.values():
            self._written_needs(draft)
            self._continues(draft)
        for draft in self.drafts.values():
            self._references(draft)

    def output_named(self, at: str, name: str) -> None:
        """Check one entry of on_change: STEP.OUTPUT of the outermost recipe."""
        path = tuple(name.replace("/", ".").split("."))
        found = resolve(self.root, path, self.faults)
        if found.special == "broken" or self._report(self.root, at, found):
            return
        if found.step is None:
            message = f"{name!r} is no step's output"
            self.faults.add(self.root.recipe, at, message, "write STEP.OUTPUT", "on_change")

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
            for path in sorted(paths_in(value)):
                self._reference(draft, value, path)

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
        if self._report(draft.place, at, found):
            return
        if found.special == "last" and found.fields:
            self._report(draft.place, at, resolve(draft.place, found.fields, self.faults))
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


def paths_in(value: Written) -> frozenset[Path]:
    """The names in a value, read as its form says."""
    match value.form:
        case "value":
            return safe_references(value.raw)
        case "list":
            return either_paths(value.raw)
        case _:
            return expression_paths(value.raw)


def lay_out(recipe: Recipe) -> Place:
    """The places of a recipe and of all it uses."""
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


def places(place: Place) -> list[Place]:
    """A place and all inside it."""
    found = [place]
    for inner in place.inner.values():
        found.extend(places(inner))
    return found


def _last_of(paths: list[str], drafts: dict[str, Draft]) -> list[str]:
    """Those of a used recipe's steps that no other step of it waits for or continues."""
    waited: set[str] = set()
    for path in paths:
        draft = drafts[path]
        names = [*draft.step.needs, *draft.step.needs_any]
        if draft.step.continues:
            names.append(draft.step.continues)
        for value in written_values(draft.step):
            names.extend(path[0] for path in paths_in(value))
        waited |= {draft.place.join(name.replace(".", "/")) for name in names}
    return [path for path in paths if path not in waited]
