"""The rules that a single step and a recipe's head must keep: what `check` proves beside the graph.

Each function reports what it finds wrong and goes on. Effects and their guards stand in
`core.check_effect`, the origins that a step may reach in `core.check_urls`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from webagent.core.action import Action, Entry, Fill, Goto, ListRead, Read, Type, Wait
from webagent.core.base import Json
from webagent.core.chat import Models
from webagent.core.check_effect import check_effect
from webagent.core.check_urls import check_urls
from webagent.core.expect import Bounds, Expectation
from webagent.core.expr import secret_use
from webagent.core.outputs import Kind, Outputs
from webagent.core.plan import PAGELESS
from webagent.core.recipe import Recipe
from webagent.core.scopes import (
    RESERVED,
    Draft,
    Faults,
    Place,
    either_paths,
    expression_paths,
    near,
    safe_references,
)


def check_recipe(place: Place, faults: Faults) -> None:
    """Names, and the secrets of the browser."""
    recipe = place.recipe
    for kind in ("inputs", "steps"):
        for name in getattr(recipe, kind):
            if name in RESERVED or name.startswith("__"):
                faults.add(recipe, f"{kind}.{name}", f"the name {name!r} is taken",
                           "it means something else in expressions", "reserved_name")  # fmt: skip
    for name in recipe.steps:
        if name in recipe.inputs:
            faults.add(
                recipe, f"steps.{name}", f"an input and a step are both named {name!r}",
                "expressions could not tell them apart: rename one", "name_twice",
            )  # fmt: skip
    for at, text in _texts("browser", recipe.browser.model_dump()):
        if (use := secret_use(text)) is not None:
            if use.secret not in recipe.secrets:
                _unknown_secret(recipe, at, use.secret, faults)
            continue
        for path in sorted(safe_references(text)):
            if path[0] not in recipe.inputs and not faults.known_bad(recipe, f"inputs.{path[0]}"):
                hint = near(path[0], list(recipe.inputs)) or "the browser starts before all steps"
                faults.add(recipe, at, f"no input is named {path[0]!r}", hint, "unknown_name")


def _texts(at: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(f"{at}.{key}", inner)


def check_step(
    draft: Draft, drafts: dict[str, Draft], outputs: Outputs, models: Models, faults: Faults
) -> None:
    """All rules of one step. ``models``: those that a run of it could ask."""
    _expectations(draft, outputs, faults)
    if draft.step.do in PAGELESS:
        _pageless(draft, outputs, faults)
        return
    _entry(draft, drafts, models, faults)
    check_urls(draft, faults)
    _actions(draft, faults)
    _secrets(draft, faults)
    _for_each(draft, outputs, faults)
    check_effect(draft, faults)


# --- expectations -----------------------------------------------------------------------------


def can_be_false(expected: Expectation) -> bool:
    """Whether an expectation says anything: ``min: 0`` and ``**`` hold on every page."""
    match expected.kind:
        case "url":
            return expected.glob.strip("*") != ""
        case "title" | "dialog":
            return expected.glob.strip("* ") != "" or expected.kind == "dialog"
        case "count" | "rows" | "output":
            return not _vacuous(expected.bounds)
        case _:
            return True


def _vacuous(bounds: Bounds) -> bool:
    lower = bounds.min
    only_min = bounds == Bounds(min=lower)
    return only_min and isinstance(lower, int | float) and lower <= 0 and bounds != Bounds()


def _expectations(draft: Draft, outputs: Outputs, faults: Faults) -> None:
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    if step.do not in PAGELESS and not any(can_be_false(e) for e in step.expect):
        if step.expect:
            message = "none of its expectations can be false"
        else:
            message = "a step needs an expectation that can be false"
        faults.add(recipe, at if not step.expect else f"{at}.expect", message,
                   'such as expect: [{text: …}]', "no_expectation")  # fmt: skip
    own = outputs.own(draft) if step.do not in PAGELESS else outputs.of(draft.path)
    for index, expected in enumerate(step.expect):
        here = f"{at}.expect[{index}]"
        if expected.kind != "output":
            if step.do in PAGELESS:
                faults.add(recipe, here, f"{step.do} never opens a page: it has no {expected.kind}",
                           "expect its outputs: output: {…}", "pageless")  # fmt: skip
        elif own is not None and expected.name not in own:
            faults.add(recipe, f"{here}.output", f"{expected.name!r} is not read in this step",
                       near(expected.name, list(own)), "unknown_output")  # fmt: skip
        elif own is not None:
            _fits(recipe, f"{here}.output", expected.name, own[expected.name], expected.bounds,
                  faults)  # fmt: skip
    for index, expected in enumerate(step.before_commit):
        if expected.kind == "output" and own is not None and expected.name not in own:
            faults.add(
                recipe, f"{at}.before_commit[{index}].output",
                f"{expected.name!r} is not read in this step", near(expected.name, list(own)),
                "unknown_output",
            )  # fmt: skip


def _fits(recipe: Recipe, at: str, name: str, kind: Kind, bounds: Bounds, faults: Faults) -> None:
    """Bounds that a value of this kind can never meet."""
    if kind.name == "list" and (bounds.matches is not None or bounds.contains is not None):
        faults.add(recipe, at, f"{name} is a list: bound its length by min, max", "", "type")
    types = {"text": "string", "date": "string", "file": "mapping"}
    fitting = types.get(kind.name, kind.name)
    if bounds.type is not None and fitting not in ("any", bounds.type):
        faults.add(recipe, at, f"{name} is read as {kind.name}: it is never {bounds.type}", "",
                   "type")  # fmt: skip


# --- compare and ask --------------------------------------------------------------------------


def _pageless(draft: Draft, outputs: Outputs, faults: Faults) -> None:
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    if step.do == "ask":
        return
    if why := outputs.not_a_list(draft.place, step.source):
        faults.add(recipe, f"{at}.from", why, "from takes lists", "type")
    elif not either_paths(step.source or ""):
        faults.add(recipe, f"{at}.from", "from names no list", 'such as "{{ a.offers }}"', "type")
    rows = outputs.rows(draft.place, step.source)
    for name, kind in (rows or {}).items():
        compared = rf"(?<![\w.]){name}\s*[<>]|[<>]=?\s*{name}(?![\w.])"
        if kind.name == "money" and step.where and re.search(compared, step.where):
            faults.add(recipe, f"{at}.where", f"{name} is an amount of money",
                       f"compare {name}.amount", "type")  # fmt: skip


# --- how a step is entered --------------------------------------------------------------------


def _unwritten(draft: Draft, models: Models, faults: Faults) -> None:
    """A step without a segment: somebody has to be there to work it, and know where."""
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    if models.named.get("executor") is None:
        faults.add(
            recipe, at, "this step has no segment, and no model is named that could work it",
            "write its segment, or name a model in the recipe: models: MODEL", "no_model",
        )  # fmt: skip
    if step.scope.origins is None and not recipe.sites and draft.continues is None:
        faults.add(
            recipe, at, "this step has no segment, and nothing says where it may go",
            "name sites: [URL] in the recipe, or scope: {origins: [URL]} in the step", "no_origin",
        )  # fmt: skip
    if not step.goal:
        faults.add(recipe, at, "this step has no segment, and no goal that says what it is for",
                   "write its goal: in a sentence", "no_goal")  # fmt: skip


def _entry(draft: Draft, drafts: dict[str, Draft], models: Models, faults: Faults) -> None:
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    if step.segment is None:
        _unwritten(draft, models, faults)
        draft.enterable = draft.continues is None
    else:
        first = next((a for a in step.segment if a.verb not in ("dialog",)), None)
        draft.enterable = isinstance(first, Goto)
    if draft.continues is None:
        if not draft.enterable and step.continues is None:
            faults.add(
                recipe, f"{at}.segment[0]", "this step begins on no page",
                "begin its segment with goto: URL, or say continues: STEP", "no_entry",
            )  # fmt: skip
        return
    before = drafts[draft.continues]
    here = f"{at}.continues"
    if before.step.do in PAGELESS:
        faults.add(recipe, here, f"{before.name} is a {before.step.do} step: it has no page", "",
                   "continues")  # fmt: skip
    if step.for_each is not None or before.step.for_each is not None:
        faults.add(recipe, here, "a page is not continued across a for_each",
                   "each item is entered by a goto of its own", "continues")  # fmt: skip
    others = [d for d in drafts.values() if d.continues == draft.continues]
    if len(others) > 1 and others[0] is not draft:
        faults.add(
            recipe, here, f"{others[0].name} continues {before.name} already",
            "one page can be gone on with only once: continue that step instead", "continues",
        )  # fmt: skip


# --- actions ----------------------------------------------------------------------------------


def _actions(draft: Draft, faults: Faults) -> None:
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    made: set[str] = set()
    tools = step.scope.tools
    for index, action in enumerate(step.segment or ()):
        here = f"{at}.segment[{index}]"
        if tools is not None and action.verb not in tools:
            faults.add(recipe, here, f"{action.verb} is not among the step's tools",
                       near(action.verb, tools), "outside_scope")  # fmt: skip
        for name in _made_by(action):
            if name in made:
                faults.add(recipe, here, f"the output {name!r} is read twice",
                           "give one of them another name", "output_twice")  # fmt: skip
            made.add(name)
        _until(recipe, here, action, faults)
        if isinstance(action, Wait) and not can_be_false(action.until):
            faults.add(recipe, here, "this waits for nothing", "", "no_expectation")


def _until(recipe: Recipe, at: str, action: Action, faults: Faults) -> None:
    """The condition of paging sees what was read so far, and nothing else."""
    if not isinstance(action, Read):
        return
    for name, spec in action.outputs.items():
        if not isinstance(spec, ListRead) or spec.pages is None or spec.pages.until is None:
            continue
        known = ["rows", "new", "page", *spec.fields]
        for path in sorted(expression_paths(spec.pages.until)):
            if path[0] not in known:
                faults.add(
                    recipe, f"{at}.read.{name}.pages.until", f"until does not see {path[0]!r}",
                    near(path[0], known), "unknown_name",
                )  # fmt: skip


def _made_by(action: Action) -> list[str]:
    if action.verb == "read":
        return list(action.outputs)
    return [action.name] if action.verb == "download" else []


def _entries(draft: Draft) -> Iterator[tuple[str, Entry, bool]]:
    """Entries with their places; the flag says that a secret may stand there."""
    step = draft.step
    for part, segment in (("segment", step.segment), ("reset", step.reset)):
        for index, action in enumerate(segment or ()):
            if isinstance(action, Fill | Type):
                for number, entry in enumerate(action.entries):
                    yield f"{draft.at}.{part}[{index}].{action.verb}[{number}]", entry, True


def _secrets(draft: Draft, faults: Faults) -> None:
    recipe = draft.place.recipe
    allowed = draft.step.scope.secrets
    for index, name in enumerate(allowed or ()):
        if name not in recipe.secrets:
            _unknown_secret(recipe, f"{draft.at}.scope.secrets[{index}]", name, faults)
    for at, entry, _ in _entries(draft):
        use = secret_use(entry.value)
        if use is None:
            continue
        if use.secret not in recipe.secrets:
            _unknown_secret(recipe, at, use.secret, faults)
            continue
        origin = recipe.secrets[use.secret].origin
        if allowed is not None and use.secret not in allowed:
            faults.add(recipe, at, f"the secret {use.secret!r} is outside the step's scope",
                       "add it to scope: {secrets: [..]}", "outside_scope")  # fmt: skip
        if origin is None:
            faults.add(
                recipe, f"secrets.{use.secret}", f"where may {use.secret!r} be typed?",
                "add for: https://HOST", "secret_origin",
            )  # fmt: skip
        elif draft.origins_known and origin not in draft.origins:
            where = ", ".join(sorted(draft.origins))
            faults.add(
                recipe, at, f"the secret {use.secret!r} is for {origin}, not for {where}",
                "a secret is typed on its own origin only", "secret_origin",
            )  # fmt: skip


def _unknown_secret(recipe: Recipe, at: str, name: str, faults: Faults) -> None:
    if not faults.known_bad(recipe, f"secrets.{name}"):
        hint = near(name, list(recipe.secrets)) or f"add secrets: {{{name}: {{env: …, for: …}}}}"
        faults.add(recipe, at, f"no secret is named {name!r}", hint, "unknown_secret")


# --- for_each ---------------------------------------------------------------------------------


def _for_each(draft: Draft, outputs: Outputs, faults: Faults) -> None:
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    if step.for_each is None:
        for name in ("key", "allow_failed"):
            if getattr(step, name) is not None:
                faults.add(recipe, f"{at}.{name}", f"{name} goes with for_each", "", "for_each")
        return
    if step.do == "sign_in":
        faults.add(recipe, f"{at}.for_each", "signing in is done once, not for each item", "",
                   "for_each")  # fmt: skip
    if why := outputs.not_a_list(draft.place, step.for_each):
        faults.add(recipe, f"{at}.for_each", why, "for_each takes a list", "type")
    if step.key is None:
        faults.add(recipe, f"{at}.for_each", "for_each needs a key that tells the items apart",
                   "such as key: item.id", "for_each")  # fmt: skip
    elif not any(path[0] == "item" for path in either_paths(step.key)):
        hint = f"write key: item.{step.key}" if step.key.isidentifier() else "such as item.id"
        faults.add(recipe, f"{at}.key", "this key is the same for every item", hint, "for_each")
