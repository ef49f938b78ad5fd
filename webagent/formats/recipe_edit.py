"""A recipe's text with one step's segment changed, and every other character as it was.

`edit_step` is called when a revision is accepted. What is unchanged inside the segment keeps its
text too: an action that only got another target keeps its comment, and where a value changed only
that value does. The result is parsed again and must be the recipe that was meant, or nothing is
written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webagent.core.action import Action
from webagent.core.errors import BadInput, RecipeInvalid
from webagent.core.expect import PLACE_KINDS, Expectation
from webagent.core.plan import Step
from webagent.core.recipe import Recipe, Use
from webagent.formats.recipe_yaml import ReadFile, UnreadableError, parse_recipe, read_text
from webagent.formats.segment_text import action_data, expectation_data
from webagent.formats.yaml_patch import Unpatchable, apply_edits, patch, patch_list, set_key
from webagent.formats.yaml_spans import Span, spans


@dataclass(frozen=True, slots=True)
class StepEdit:
    """What becomes of one step: ``before`` is what the run had, ``after`` what was proven in it.

    ``places``: its url and title expectations afterwards; None leaves them as they are.
    """

    step: str
    before: tuple[Action, ...]
    after: tuple[Action, ...]
    places: tuple[Expectation, ...] | None = None


def edited(
    file: str, edits: Sequence[StepEdit], recipe_id: str | None = None
) -> dict[str, tuple[str, str]]:
    """The recipe's files that these edits change: (text as it is, text as it becomes) by path.

    ``recipe_id``: of the recipe that the run was made from, which this must be. A step of a used
    recipe is edited in the file that holds it. A step that has its new text already changes
    nothing. Nothing is written.

    Raises:
        BadInput: a file is gone or invalid, a step's text is not what the run had, or the text is
            written in a way that cannot be edited without changing something else.
    """
    texts: dict[str, str] = {}
    first: dict[str, str] = {}

    def read(path: str) -> str:
        if path not in texts:
            texts[path] = first[path] = read_text(path)
        return texts[path]

    for edit in edits:
        recipe = _parsed(file, read)
        if recipe_id is not None and recipe.id != recipe_id:
            raise BadInput(
                f"{file} is the recipe {recipe.id!r}; the run was of {recipe_id!r}.",
                hint="Name the run's recipe: webagent accept RUN --recipe FILE",
            )
        holder, step = find_step(recipe, edit.step)
        if _same((step.segment, _places(step)), (edit.after, _places(step, edit))):
            continue
        # A step that a model worked had no segment before: the proven one is its first.
        if not _same(step.segment or (), edit.before):
            raise BadInput(
                f"{edit.step} in {holder.file} is not as this run had it: it was edited since.",
                hint="Compare with `webagent revisions RUN` and change the file by hand, or run "
                "the recipe again: the run heals what it still has to.",
            )
        texts[holder.file] = edit_step(texts[holder.file], edit)
        _prove(recipe, edit, holder.file, file, read)
    return {path: (first[path], text) for path, text in texts.items() if text != first[path]}


def _parsed(file: str, read: ReadFile) -> Recipe:
    try:
        return parse_recipe(read(file), file, read)
    except UnreadableError as error:
        hint = error.hint or "Moved? Name it: webagent accept RUN --recipe FILE"
        raise BadInput(f"{file}: {error.what}.", hint=hint) from None
    except RecipeInvalid as error:
        raise BadInput(
            f"{file} is not right any more: {error.problems[0]}", hint=f"webagent check {file}"
        ) from None


def find_step(recipe: Recipe, path: str) -> tuple[Recipe, Step]:
    """The recipe (of a file) that holds a step, and the step. Raises BadInput when it is gone."""
    holder = recipe
    *outer, name = path.split("/")
    for part in outer:
        use = holder.steps.get(part)
        if not isinstance(use, Use):
            break
        holder = use.recipe
    else:
        step = holder.steps.get(name)
        if isinstance(step, Step):
            return holder, step
    raise BadInput(
        f"{holder.file} has no step {path!r} any more.",
        hint="A renamed step is changed by hand: `webagent revisions RUN` shows the diff.",
    )


def _places(step: Step, edit: StepEdit | None = None) -> tuple[Expectation, ...]:
    if edit is not None and edit.places is not None:
        return _in_order(edit.places)
    return tuple(e for e in _in_order(step.expect) if e.kind in PLACE_KINDS)


def _in_order(expected: Sequence[Expectation]) -> tuple[Expectation, ...]:
    """Places first, by kind: all have to hold, so their order says nothing."""
    return tuple(sorted(expected, key=lambda e: e.kind if e.kind in PLACE_KINDS else "~"))


def _same(one: object, other: object) -> bool:
    """Equal but for how a target in a mapping was spelt."""
    return bool(_plain(one) == _plain(other))


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump())
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items() if k != "source" or "role" not in value}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value


def _prove(recipe: Recipe, edit: StepEdit, holder: str, file: str, read: ReadFile) -> None:
    """Raise BadInput unless the edited text is the recipe with this step changed and no other."""
    try:
        found = parse_recipe(read(file), file, read)
    except (RecipeInvalid, UnreadableError) as error:
        raise _by_hand(edit, f"it would not be a recipe any more ({error})") from None
    wanted = _changed(recipe, edit, holder)
    if not _same(_meaning(found), _meaning(wanted)):
        raise _by_hand(edit, "something else would change with it")


def _by_hand(edit: StepEdit, why: str) -> BadInput:
    return BadInput(
        f"{edit.step} cannot be edited as its text stands: {why}. Nothing was written.",
        hint="Change the file by hand as `webagent revisions RUN` shows it.",
    )


def _changed(recipe: Recipe, edit: StepEdit, holder: str) -> Recipe:
    """The recipe as it is meant to be: the step changed wherever its file is used."""
    name = edit.step.rsplit("/", 1)[-1]
    steps: dict[str, Step | Use] = {}
    for key, step in recipe.steps.items():
        if isinstance(step, Use):
            steps[key] = step.model_copy(update={"recipe": _changed(step.recipe, edit, holder)})
        elif key == name and recipe.file == holder:
            content = tuple(e for e in step.expect if e.kind not in PLACE_KINDS)
            expect = step.expect if edit.places is None else (*edit.places, *content)
            steps[key] = step.model_copy(update={"segment": edit.after, "expect": expect})
        else:
            steps[key] = step
    return recipe.model_copy(update={"steps": steps})


def _meaning(recipe: Recipe) -> Any:
    """All that a recipe says: without positions, and with places before the other expectations."""
    made = recipe.model_dump(exclude={"places", "digest", "steps"})
    made["steps"] = [(name, _step_meaning(step)) for name, step in recipe.steps.items()]
    return made


def _step_meaning(step: Step | Use) -> Any:
    if isinstance(step, Use):
        return step.model_dump(exclude={"recipe"}), _meaning(step.recipe)
    return step.model_copy(update={"expect": _in_order(step.expect)}).model_dump()


# -- one file -------------------------------------------------------------------------------------


def edit_step(text: str, edit: StepEdit) -> str:
    """The text of the file that holds a step, with the step changed.

    Raises:
        BadInput: the step is written in a way that this cannot edit.
    """
    name = edit.step.rsplit("/", 1)[-1]
    root = spans(text)
    steps = root.get("steps") if root is not None else None
    step = steps.get(name) if steps is not None else None
    if step is None or step.kind != "map":
        raise _by_hand(edit, "it is written by an alias (*name) or a merge (<<)")
    old = [action_data(action) for action in edit.before]
    new = [action_data(action) for action in edit.after]
    try:
        edits = []
        if old != new:
            segment = step.get("segment")
            if segment is None or segment.kind != "list" or len(segment.items) != len(old):
                edits += set_key(text, step, "segment", new)
            else:
                edits += patch_list(text, segment, old, new)
        if edit.places is not None:
            edits += _place_edits(text, step, edit.places)
        return apply_edits(text, edits)
    except Unpatchable as error:
        raise _by_hand(edit, str(error)) from None


def _place_edits(text: str, step: Span, places: Sequence[Expectation]) -> list[Any]:
    """New places go where the old ones of their kind stand; further ones to the front."""
    expect = step.get("expect")
    if expect is None or expect.kind not in ("list", "map"):
        raise Unpatchable("its expectations are written by an alias")
    left = [(p.kind, expectation_data(p)[p.kind]) for p in places]
    old = expect.data() if expect.kind == "list" else [expect.data()]
    new: list[Any] = []
    for item in old:
        if not isinstance(item, dict):
            raise Unpatchable("its expectations are written by an alias")
        made = {}
        for kind, value in item.items():
            if kind not in PLACE_KINDS:
                made[kind] = value
            elif (found := next((x for x in left if x[0] == kind), None)) is not None:
                left.remove(found)
                made[kind] = found[1]
        new.append(made)
    more = [{kind: value} for kind, value in left]
    if expect.kind == "map":
        if more:
            return patch(text, expect, old[0], [*more, *new])
        return patch(text, expect, old[0], new[0])
    return patch_list(text, expect, old, [*more, *(item for item in new if item)])


# -- files ----------------------------------------------------------------------------------------


def write_text(path: str, before: str, after: str) -> None:
    """Put a file's new text in its place, whole or not at all; a byte order mark and mode stay.

    Raises:
        BadInput: it was changed meanwhile, or cannot be written.
    """
    file = Path(os.path.realpath(path))
    fresh = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        raw = file.read_bytes()
        mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
        if raw.removeprefix(mark).decode("utf-8") != before:
            raise BadInput(f"{path} was changed meanwhile.", hint="Say it again.")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(fresh, flags, 0o600), "wb") as out:
            fresh.chmod(file.stat().st_mode & 0o7777)
            out.write(mark + after.encode("utf-8"))
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(file)
    except (OSError, UnicodeDecodeError) as error:
        fresh.unlink(missing_ok=True)
        raise BadInput(f"{path} cannot be written: {error}.", hint="Is it yours?") from None
