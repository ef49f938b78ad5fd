"""Values into a step: the names its expressions see, and actions with their templates filled in.

A step's expressions are read in the names of its own recipe (its *place*): the inputs there, the
outputs of the steps there, ``run``, ``last``, and ``item`` inside a for_each. Nothing else of the
run can be named, so nothing else can reach a page or a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from webagent.core.base import Frozen, Json, SecretUse
from webagent.core.errors import ExpressionError
from webagent.core.expr import Path, evaluate, has_template, references, render
from webagent.core.items import pairs_of
from webagent.core.plan import Plan, PlanStep, Question, template_of
from webagent.core.values import canonical, fingerprint
from webagent.engine.state import RunState

Model = TypeVar("Model", bound=Frozen)

# Kept as written: a target's source is the key of its sightings, `until` is a bare expression.
_UNBOUND = frozenset({"source", "until", "kind", "verb"})


def names(state: RunState, node_path: str) -> dict[str, Json]:
    """The names that a node's expressions may use."""
    step = state.the_plan.step(node_path)
    found = place_names(state, step.place)
    if "[" in node_path:
        found["item"] = state.nodes[node_path].item
    return found


def place_names(state: RunState, place: str) -> dict[str, Json]:
    """The names of one recipe of the plan: "" is the outermost."""
    plan = state.the_plan
    started = state.started
    found: dict[str, Json] = {}
    if started is not None:
        found["run"] = {"date": started.date, "id": started.run}
        found["last"] = _last(started.last, place)
    found.update(_inputs(state, plan, place))
    found.update(_outputs(state, plan, place))
    return found


def _last(last: Json, place: str) -> Json:
    if not isinstance(last, Mapping):
        return None
    tree: dict[str, Any] = {}
    prefix = f"{place}/" if place else ""
    for path, outputs in last.items():
        if path.startswith(prefix):
            _plant(tree, path.removeprefix(prefix), outputs)
    return tree


def _plant(tree: dict[str, Any], path: str, value: Json) -> None:
    *parents, name = path.split("/")
    for parent in parents:
        tree = tree.setdefault(parent, {})
    tree[name] = {**tree.get(name, {}), **value} if isinstance(value, Mapping) else value


def _inputs(state: RunState, plan: Plan, place: str) -> dict[str, Json]:
    if not place:
        return dict(state.started.inputs) if state.started is not None else {}
    sub = plan.subplans[place]
    outer = place.rsplit("/", 1)[0] if "/" in place else ""
    outer_names = place_names(state, outer) if sub.with_ else {}
    found: dict[str, Json] = {}
    for name, spec in sub.inputs.items():
        found[name] = render(sub.with_[name], outer_names) if name in sub.with_ else spec.default
    return found


def _outputs(state: RunState, plan: Plan, place: str) -> dict[str, Json]:
    tree: dict[str, Any] = {}
    prefix = f"{place}/" if place else ""
    for step in plan.steps:
        if step.path.startswith(prefix):
            node = state.nodes.get(step.path)
            met = node is not None and node.state == "met"
            _plant(
                tree, step.path.removeprefix(prefix), dict(node.outputs) if node and met else None
            )
    return tree


def used_hashes(state: RunState, node_path: str) -> dict[str, str]:
    """The hash of each value that a node's expressions refer to, by its dotted path.

    Early cut-off compares these: a dependant is redone only if one of them changed.
    """
    step = state.the_plan.step(node_path)
    found: dict[str, str] = {}
    for use in step.uses:
        if use[0]:
            node = state.nodes.get(use[0])
            value: Json = dict(node.outputs) if node is not None and node.state == "met" else None
            found[".".join(use)] = fingerprint(_dig(value, use[1:]))
    return found


def _dig(value: Json, path: Sequence[str]) -> Json:
    for part in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def bind(model: Model, values: Mapping[str, Json], place: str = "") -> Model:
    """A copy of an action, expectation or read with every template filled in.

    Raises:
        ExpressionError: a template does not evaluate, or to what cannot stand there (a null URL).
    """
    data = model.model_dump(by_alias=True)
    if not _any_template(data):
        return model
    bound = _render_tree(data, values, place)
    try:
        return type(model).model_validate(bound)
    except ValidationError as error:
        fault = error.errors()[0]
        what = getattr(model, "verb", None) or getattr(model, "kind", type(model).__name__)
        where = ".".join(str(part) for part in fault["loc"])
        found = "null" if fault["input"] is None else f"a {type(fault['input']).__name__}"
        msg = f"{what}: its {where} came out as {found}, which cannot stand there"
        raise ExpressionError(msg) from error


def bind_all(
    models: Sequence[Model], values: Mapping[str, Json], place: str = ""
) -> tuple[Model, ...]:
    """As `bind`, for several."""
    return tuple(bind(model, values, place) for model in models)


def _any_template(data: Json) -> bool:
    if isinstance(data, Mapping):
        return any(_any_template(v) for k, v in data.items() if k not in _UNBOUND or _deep(v))
    if isinstance(data, list | tuple):
        return any(_any_template(v) for v in data)
    return has_template(data)


def _deep(value: Json) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _render_tree(data: Json, values: Mapping[str, Json], place: str) -> Json:
    if isinstance(data, Mapping):
        return {
            key: value
            if key in _UNBOUND and not _deep(value)
            else _render_tree(value, values, place)
            for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [_render_tree(value, values, place) for value in data]
    value = render(data, values)
    return value.model_copy(update={"place": place}) if isinstance(value, SecretUse) else value


def question_of(state: RunState, node_path: str) -> Question:
    """The question of an ask step with its values in place; its options as text.

    Raises:
        ExpressionError: a template does not evaluate.
    """
    question = state.the_plan.step(node_path).question
    if question is None:
        msg = f"{node_path} asks nothing"
        raise ExpressionError(msg)
    values = names(state, node_path)
    text, *options = (
        value if isinstance(value, str) else canonical(value)
        for value in (render(raw, values) for raw in (question.text, *question.options))
    )
    return Question(text=text, type=question.type, options=tuple(options))


def when_holds(state: RunState, node_path: str) -> bool:
    """Whether a node's condition, and those of the sub-plans around it, hold.

    Raises:
        ExpressionError: a condition does not evaluate.
    """
    step = state.the_plan.step(node_path)
    for place, source in step.outer_when:
        if not evaluate(source, place_names(state, place)):
            return False
    return step.when is None or bool(evaluate(step.when, names(state, node_path)))


def items_of(state: RunState, step: PlanStep) -> tuple[tuple[str, Json], ...]:
    """The (key, value) pairs of a for_each, in order.

    Raises:
        ExpressionError: not a list, a key is null, or two items have one key.
    """
    values = names(state, step.path)
    source = step.for_each or ""
    rows = render(source, values) if has_template(source) else evaluate(source, values)
    if not isinstance(rows, list | tuple):
        msg = f"for_each of {step.path} is not a list but {type(rows).__name__}"
        raise ExpressionError(msg)
    return pairs_of(step, rows, values)


def effect_key(state: RunState, node_path: str) -> str:
    """The key under which a node's effect happens at most once.

    Outermost recipe's id, the once name (default: the step's full path), the rendered key, and for
    an item its key. ``run --again`` adds who asked for it in which run.
    """
    plan = state.the_plan
    step = plan.step(node_path)
    if step.once is None:
        msg = f"{step.path} has no once key"
        raise ExpressionError(msg)
    rendered = render(step.once.key, names(state, node_path))
    parts = [plan.recipe_id, step.once.name or step.path, _key_text(rendered)]
    if "[" in node_path:
        parts.append(node_path[len(template_of(node_path)) + 1 : -1])
    started = state.started
    if started is not None and (step.path in started.again or node_path in started.again):
        parts.append(f"again:{started.again_by}:{started.run}")
    return "/".join(part.replace("/", "%2F") for part in parts)


def _key_text(value: Json) -> str:
    if value is None or value == "":
        msg = "a once key is empty: it would make different effects one"
        raise ExpressionError(msg)
    return value if isinstance(value, str) else canonical(value)


def step_references(raw: Json) -> frozenset[Path]:
    """The (step or input, field…) paths that a raw value mentions, for telling where it is from."""
    return references(raw)
