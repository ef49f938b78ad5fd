"""Expressions and templates of recipes: Jinja2 in its sandbox, with the rules of DESIGN section 3.

A whole-value ``{{ x }}`` keeps its type; mixed text is a string; keys beat methods; an attribute of
null is null; ordering with null is false and counted. Templates come only from recipes, never from
a page: text that a page gave is a value here and is never compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, Undefined, UndefinedError, nodes
from jinja2.exceptions import SecurityError
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from webagent.core.base import Json, SecretUse
from webagent.core.errors import ExpressionError

MAX_RESULT = 100_000
MAX_SOURCE = 10_000

_WHOLE = re.compile(r"^\s*\{\{(?P<inner>(?:(?!\}\}).)*)\}\}\s*$", re.DOTALL)
_SECRET = re.compile(r"^\s*secrets\.(?P<name>\w+)\s*(?P<totp>\|\s*totp\s*)?$")

Path = tuple[str, ...]


class NullCount:
    """Counts the comparisons in which null stood: they were false, and a person should know."""

    def __init__(self) -> None:
        self.ordered = 0


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, with keys before attributes and null passed through."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if obj is None:
            return None
        if isinstance(obj, Mapping):
            if attribute in obj:
                return obj[attribute]
            return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if obj is None:
            return None
        if isinstance(obj, Mapping) and not isinstance(argument, str):
            return obj[argument] if argument in obj else self.undefined(obj=obj, name=argument)
        return super().getitem(obj, argument)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Keep a multiplication or power from making a value of unbounded size."""
        if operator == "**" or (operator == "*" and (_sized(left) or _sized(right))):
            msg = f"the operator {operator!r} is not allowed on these values"
            raise SecurityError(msg)
        return super().call_binop(context, operator, left, right)


def _sized(value: object) -> bool:
    return isinstance(value, str | list | tuple)


def _ordered(operator: str, left: Any, right: Any, count: NullCount | None) -> bool:
    if isinstance(left, Undefined) or isinstance(right, Undefined):
        raise UndefinedError(_undefined_message(left if isinstance(left, Undefined) else right))
    if left is None or right is None:
        if count is not None:
            count.ordered += 1
        return False
    match operator:
        case "lt":
            return bool(left < right)
        case "lteq":
            return bool(left <= right)
        case "gt":
            return bool(left > right)
        case _:
            return bool(left >= right)


def _undefined_message(value: Any) -> str:
    return str(getattr(value, "_undefined_message", "an undefined name"))


class _Ordering(NodeTransformer):
    """Rewrites ``a < b`` into a call that gives false for null."""

    def visit_Compare(self, node: nodes.Compare) -> nodes.Expr:
        self.generic_visit(node)
        left: nodes.Expr = node.expr
        whole: nodes.Expr | None = None
        for operand in node.ops:
            if operand.op in {"lt", "lteq", "gt", "gteq"}:
                name = nodes.Name("__ordered__", "load", lineno=node.lineno)
                args = [nodes.Const(operand.op, lineno=node.lineno), left, operand.expr]
                part: nodes.Expr = nodes.Call(name, args, [], None, None, lineno=node.lineno)
            else:
                part = nodes.Compare(left, [operand], lineno=node.lineno)
            whole = part if whole is None else nodes.And(whole, part, lineno=node.lineno)
            left = operand.expr
        return whole if whole is not None else node


def _make() -> _Environment:
    env = _Environment(
        undefined=StrictUndefined, autoescape=False, finalize=lambda v: "" if v is None else v
    )
    env.intercepted_binops = frozenset({"**", "*"})
    # What can loop or build unboundedly is not part of the language of recipes.
    for name in ("range", "lipsum", "cycler", "joiner", "namespace"):
        env.globals.pop(name, None)
    for name in ("attr", "pprint", "xmlattr", "format", "center", "indent", "map", "random"):
        env.filters.pop(name, None)
    env.filters["totp"] = _misplaced_totp
    return env


def _misplaced_totp(_value: Any) -> str:
    msg = "totp stands only in {{ secrets.NAME | totp }}, as the whole value"
    raise SecurityError(msg)


_ENV = _make()


def has_template(text: object) -> bool:
    """Whether this is text with ``{{`` or ``{%`` in it."""
    return isinstance(text, str) and ("{{" in text or "{%" in text)


def whole_value(text: str) -> str | None:
    """The expression inside a text that is one ``{{ }}`` and nothing else, or None."""
    found = _WHOLE.match(text)
    return found["inner"] if found else None


def secret_use(text: object) -> SecretUse | None:
    """The secret that a whole value ``{{ secrets.x }}`` names, or None."""
    if not isinstance(text, str):
        return None
    whole = _WHOLE.match(text)
    found = _SECRET.match(whole["inner"]) if whole else None
    return SecretUse(secret=found["name"], totp=bool(found["totp"])) if found else None


def _parsed(source: str) -> nodes.Expr:
    if len(source) > MAX_SOURCE:
        msg = f"an expression longer than {MAX_SOURCE} characters"
        raise ExpressionError(msg)
    try:
        parser = Parser(_ENV, source, state="variable")
        expr = parser.parse_expression()
        if not parser.stream.eos:
            msg = f"unexpected {parser.stream.current.value!r} in {source.strip()!r}"
            raise ExpressionError(msg)
    except TemplateSyntaxError as error:
        msg = f"{error.message} in {source.strip()!r}"
        raise ExpressionError(msg) from error
    except RecursionError as error:
        msg = f"nested too deeply: {source.strip()[:60]!r}"
        raise ExpressionError(msg) from error
    expr.set_environment(_ENV)
    return expr


@lru_cache(maxsize=4096)
def _expression(source: str) -> Any:
    expr = _parsed(source)
    _allowed(expr, source)
    body: list[nodes.Node] = [
        nodes.Assign(nodes.Name("result", "store"), _Ordering().visit(expr), lineno=1),
    ]
    return _ENV.from_string(nodes.Template(body, lineno=1))


@lru_cache(maxsize=4096)
def _template(source: str) -> Any:
    if len(source) > MAX_SOURCE:
        msg = f"a template longer than {MAX_SOURCE} characters"
        raise ExpressionError(msg)
    try:
        tree = _ENV.parse(source)
        _allowed(tree, source)
        return _ENV.from_string(_Ordering().visit(tree))
    except TemplateSyntaxError as error:
        msg = f"{error.message} in {source.strip()!r}"
        raise ExpressionError(msg) from error


def _allowed(tree: nodes.Node, source: str) -> None:
    """Raise for statements that recipes do not have, and for unknown filters and tests."""
    for node in (tree, *tree.find_all((nodes.Stmt, nodes.Filter, nodes.Test))):
        if not isinstance(node, nodes.Stmt | nodes.Filter | nodes.Test):
            continue
        if isinstance(node, nodes.Stmt):
            if not isinstance(node, nodes.Output | nodes.If):
                msg = f"only {{{{ values }}}} and {{% if %}} stand in a recipe: {source.strip()!r}"
                raise ExpressionError(msg)
            continue
        if node.name == "totp" and secret_use(source) is None:
            msg = "totp stands only in {{ secrets.NAME | totp }}, as the whole value"
            raise ExpressionError(msg)
        kind = "filter" if isinstance(node, nodes.Filter) else "test"
        known = _ENV.filters if kind == "filter" else _ENV.tests
        if node.name not in known:
            near = get_close_matches(node.name, known, n=1)
            msg = f"no {kind} named {node.name!r} in {source.strip()!r}"
            raise ExpressionError(msg, hint=f"did you mean {near[0]!r}?" if near else "")


def check_template(source: str) -> None:
    """Prove a template's syntax without compiling it: checking a recipe must be quick.

    Raises:
        ExpressionError: it does not parse, or uses what recipes do not have.
    """
    if len(source) > MAX_SOURCE:
        msg = f"a template longer than {MAX_SOURCE} characters"
        raise ExpressionError(msg)
    try:
        _allowed(_ENV.parse(source), source)
    except TemplateSyntaxError as error:
        msg = f"{error.message} in {source.strip()!r}"
        raise ExpressionError(msg) from error
    except RecursionError as error:
        msg = f"nested too deeply: {source.strip()[:60]!r}"
        raise ExpressionError(msg) from error


def check_expression(source: str) -> None:
    """As `check_template`, for a bare expression.

    Raises:
        ExpressionError: it does not parse, or uses what recipes do not have.
    """
    _allowed(_parsed(source), source)


def evaluate(source: str, names: Mapping[str, Any], nulls: NullCount | None = None) -> Json:
    """The value of a bare expression such as ``price.amount <= max_price``.

    Raises:
        ExpressionError: it does not parse, a name is unknown, or the operation fails.
    """
    template = _expression(source)
    values = dict(names)
    values["__ordered__"] = lambda op, a, b: _ordered(op, a, b, nulls)
    try:
        context = template.new_context(values)
        for _ in template.root_render_func(context):
            pass
        result = context.vars.get("result")
    except (UndefinedError, SecurityError) as error:
        msg = f"{error} in {source.strip()!r}"
        raise ExpressionError(msg) from error
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        msg = f"{type(error).__name__}: {error} in {source.strip()!r}"
        raise ExpressionError(msg) from error
    if isinstance(result, Undefined):
        msg = f"{_undefined_message(result)} in {source.strip()!r}"
        raise ExpressionError(msg)
    return _capped(result, source)


def render(raw: Json, names: Mapping[str, Any]) -> Json:
    """A raw recipe value with its templates filled in; lists and mappings inside out.

    A whole ``{{ secrets.x }}`` becomes a `SecretUse`; any other mention of a secret is an error.

    Raises:
        ExpressionError: as in `evaluate`.
    """
    if isinstance(raw, list | tuple):
        return [render(item, names) for item in raw]
    if isinstance(raw, Mapping):
        return {key: render(value, names) for key, value in raw.items()}
    if not has_template(raw):
        return raw
    if (secret := secret_use(raw)) is not None:
        return secret
    if whole := _WHOLE.match(raw):
        return evaluate(whole["inner"], names)
    template = _template(raw)
    values = dict(names)
    values["__ordered__"] = lambda op, a, b: _ordered(op, a, b, None)
    try:
        return _capped("".join(_text(template, values)), raw)
    except (UndefinedError, SecurityError) as error:
        msg = f"{error} in {raw.strip()!r}"
        raise ExpressionError(msg) from error
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        msg = f"{type(error).__name__}: {error} in {raw.strip()!r}"
        raise ExpressionError(msg) from error


def _text(template: Any, values: Mapping[str, Any]) -> Iterator[str]:
    size = 0
    for piece in template.root_render_func(template.new_context(dict(values))):
        size += len(piece)
        if size > MAX_RESULT:
            msg = f"more than {MAX_RESULT} characters"
            raise ValueError(msg)
        yield piece


def _capped(value: Json, source: str) -> Json:
    if isinstance(value, str) and len(value) > MAX_RESULT:
        msg = f"a result of more than {MAX_RESULT} characters in {source.strip()[:80]!r}"
        raise ExpressionError(msg)
    return value


def references(raw: Json) -> frozenset[Path]:
    """The names that a raw value's templates mention, each with the constant path behind it.

    ``"{{ choose.link }} {{ query }}"`` gives ``{("choose", "link"), ("query",)}``.
    """
    if isinstance(raw, list | tuple):
        return frozenset().union(*(references(item) for item in raw)) if raw else frozenset()
    if isinstance(raw, Mapping):
        return references(list(raw.values()))
    if not has_template(raw):
        return frozenset()
    try:
        return _paths(_ENV.parse(raw))
    except TemplateSyntaxError as error:
        msg = f"{error.message} in {raw.strip()!r}"
        raise ExpressionError(msg) from error


def expression_references(source: str) -> frozenset[Path]:
    """As `references`, for a bare expression."""
    return references("{{ " + source + " }}")


def _paths(tree: nodes.Node) -> frozenset[Path]:
    found: set[Path] = set()

    def walk(node: nodes.Node, tail: Path, bound: frozenset[str]) -> None:
        if isinstance(node, nodes.Getattr):
            walk(node.node, (node.attr, *tail), bound)
        elif isinstance(node, nodes.Getitem):
            if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
                walk(node.node, (node.arg.value, *tail), bound)
            else:
                walk(node.node, (), bound)
                walk(node.arg, (), bound)
        elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
            # What is called is a method and no field: the value is what stands before it.
            walk(node.node.node, (), bound)
            for child in (*node.args, *node.kwargs):
                walk(child, (), bound)
        elif isinstance(node, nodes.Name):
            if node.name not in bound and not node.name.startswith("__"):
                found.add((node.name, *tail))
        else:
            for child in node.iter_child_nodes():
                walk(child, (), bound)

    walk(tree, (), frozenset())
    return frozenset(found)
