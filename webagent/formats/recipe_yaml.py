"""Recipes as YAML: text in, `Recipe` out, or every fault of it at once with its place.

What a recipe may hold is told by the grammar tables beside this file: `recipe_grammar` (head,
inputs, secrets, browser), `step_grammar`, `segment_grammar` (actions and reads, with the short
forms in its docstring) and `expectation_grammar`. Here files are read, ``use`` is followed, and the
parts are put together. What needs the whole graph is checked by `core.compile`; when the text has
faults, the parts without faults are checked too, so that a person sees all there is to do.

Ways of writing that DESIGN leaves open:

- a duration is plain seconds or has a unit: ``500ms 30s 5m 2h 1d``;
- ``needs``, ``sites``, ``order``, ``allow_posts``, ``on_change``, ``scope`` take one alone without
  its list; an ``expect`` mapping with several kinds is several expectations;
- ``with`` gives inputs to a ``use``; a secret is never handed on, a used recipe has its own;
- an input without anything after its colon is a text that must be given;
- anchors and merge keys work, tags do not; ``012`` is refused, as YAML would read 12.
"""

from __future__ import annotations

import hashlib
import posixpath
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from webagent.core.compile import problems_of
from webagent.core.errors import Problem, RecipeInvalid
from webagent.core.recipe import Recipe, Use
from webagent.formats.document import Node, Report
from webagent.formats.recipe_grammar import RECIPE
from webagent.formats.shapes import BAD
from webagent.formats.step_grammar import UseDraft
from webagent.formats.yaml_places import MAX_BYTES, compose

MAX_USE_DEPTH = 8
MAX_USES = 200

# Gives the text of a used file; raises UnreadableError with a sentence.
ReadFile: TypeAlias = Callable[[str], str]


class UnreadableError(Exception):
    """A file cannot be read as text: ``what`` says why, ``hint`` what to try."""

    def __init__(self, path: object, what: str, hint: str = "") -> None:
        super().__init__(f"{path}: {what}")
        self.what = what
        self.hint = hint


def load_recipe(path: str | Path) -> Recipe:
    """Read a recipe and all that it uses.

    Raises:
        RecipeInvalid: with every problem and its place.
    """
    file = str(path)
    try:
        text = read_text(file)
    except UnreadableError as error:
        raise RecipeInvalid([Problem(error.what, file=file, hint=error.hint)]) from error
    return parse_recipe(text, file, read_text)


def parse_recipe(text: str, file: str = "recipe.yaml", read: ReadFile | None = None) -> Recipe:
    """Read a recipe's text. ``read`` gives the text of used files; without it there are none.

    Raises:
        RecipeInvalid: with every problem and its place.
    """
    loader = _Loader(read or _nothing)
    recipe = loader.recipe(text, file, (posixpath.normpath(file),))
    if recipe is not None and loader.problems:
        loader.problems.extend(problems_of(recipe, broken=loader.broken))
    if loader.problems or recipe is None:
        raise RecipeInvalid(_in_order(loader.problems, file))
    return recipe


def read_text(path: str) -> str:
    """The text of a regular file of bearable size.

    Raises:
        UnreadableError: it is not there, no regular file, too large, or not UTF-8.
    """
    file = Path(path)
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
            raise UnreadableError(path, f"this is {what}", "name a YAML file")
        if status.st_size > MAX_BYTES:
            raise UnreadableError(path, f"larger than {MAX_BYTES // 1_000_000} MB")
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        raise UnreadableError(path, *_why(file, error)) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"not UTF-8 text: byte {error.start} in line {line}"
        raise UnreadableError(path, what, "save it as UTF-8") from error


def _why(file: Path, error: Exception) -> tuple[str, str]:
    if isinstance(error, FileNotFoundError):
        try:
            names = [x.name for x in file.parent.iterdir()]
        except OSError:
            return "there is no such folder", ""
        near = get_close_matches(file.name, names, n=1)
        return "there is no such file", f"did you mean {near[0]!r}?" if near else ""
    if isinstance(error, PermissionError):
        return "this may not be read", ""
    return f"this cannot be read: {error}", ""


def _nothing(path: str) -> str:
    raise UnreadableError(path, "used recipes cannot be read here")


def _in_order(problems: list[Problem], first: str) -> list[Problem]:
    """Each once, the main file's first, by line."""
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (p.file != first, p.file, p.line, p.column))


@dataclass(slots=True)
class _Loader:
    """Reads one recipe and what it uses, collecting the problems of all."""

    read: ReadFile
    problems: list[Problem] = field(default_factory=list)
    broken: dict[str, frozenset[str]] = field(default_factory=dict)
    uses: int = 0

    def recipe(self, text: str, file: str, stack: tuple[str, ...]) -> Recipe | None:
        """The recipe of a text, as far as it can be read; None when it is none at all."""
        report = Report(file)
        made = self._made(text, report, stack)
        self.problems.extend(report.problems)
        self.broken[file] = frozenset(report.broken)
        return made

    def _made(self, text: str, report: Report, stack: tuple[str, ...]) -> Recipe | None:
        encoded = text.encode("utf-8", "surrogatepass")
        if len(encoded) > MAX_BYTES:
            report.problem(None, "", f"larger than {MAX_BYTES // 1_000_000} MB", "", "size")
            return None
        node = compose(text, report)
        if node is None or node.kind != "map":
            if not report.problems:
                _no_mapping(node, report)
            return None
        report.mark("", node)
        values, _ = RECIPE.read_keys(node, "", report)
        values.pop("webagent", None)
        drafts = values.pop("steps", {})
        for head in ("inputs", "secrets"):
            values[head] = {k: v for k, v in values.get(head, {}).items() if v is not BAD}
        steps = {
            name: self._used(draft, f"steps.{name}", report, stack)
            if isinstance(draft, UseDraft)
            else draft
            for name, draft in drafts.items()
        }
        return Recipe(
            id=values.pop("id", "recipe"),
            steps={name: step for name, step in steps.items() if step is not BAD},
            file=report.file,
            digest=hashlib.sha256(encoded).hexdigest(),
            places=report.places,
            **values,
        )

    def _used(self, draft: UseDraft, at: str, report: Report, stack: tuple[str, ...]) -> Any:
        """The `Use` of a draft, its file read relative to the using one."""
        node, here = draft.node, f"{at}.use"
        path = posixpath.normpath(posixpath.join(posixpath.dirname(report.file), draft.file))
        fault, hint = "", ""
        inner = None
        if posixpath.isabs(draft.file) or "://" in draft.file or "\0" in draft.file:
            fault, hint = (
                f"{draft.file!r} is no relative path",
                "a used recipe lies beside this one",
            )
        elif path in stack:
            ring = " uses ".join((*stack[stack.index(path) :], path))
            fault, hint = f"recipes use each other in a ring: {ring}", "a used recipe stands alone"
        elif self.uses >= MAX_USES:
            fault = f"more than {MAX_USES} used recipes"
        elif len(stack) > MAX_USE_DEPTH:
            fault = f"used recipes are nested more than {MAX_USE_DEPTH} deep"
        else:
            self.uses += 1
            try:
                inner = self.recipe(self.read(path), path, (*stack, path))
            except UnreadableError as error:
                fault, hint = str(error), error.hint
        if fault:
            report.problem(node, here, fault, hint, "use")
        if inner is None:
            report.broken.add(at)
            return BAD
        return Use(recipe=inner, file=draft.file, **draft.fields)


def _no_mapping(node: Node | None, report: Report) -> None:
    if node is None or (node.kind == "scalar" and node.value is None):
        report.problem(None, "", "an empty file", "begin with webagent: 1", "empty")
        return
    report.problem(
        node, "", f"a recipe is a mapping, not {node.describe()}", "begin with webagent: 1", "type"
    )
