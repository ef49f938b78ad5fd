"""The shapes of expressions, and what is wrong with the templates in a text.

What is checked here needs nothing but the value itself: the syntax of templates and expressions,
and that a secret stands only where one may. Whether a name in them exists is `core.link`'s matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from webagent.core.errors import ExpressionError
from webagent.core.expr import (
    check_expression,
    check_template,
    has_template,
    references,
    secret_use,
    whole_value,
)
from webagent.formats.document import Node, Report
from webagent.formats.shapes import BAD, Schema, wanted

# A name between one brace and two; {"a": {"b": 1}} is JSON and meant.
_ONE_BRACE = re.compile(r"(?<!\{)\{\s*([A-Za-z_][\w.]*)\s*\}\}")


def template_fault(text: str, node: Node, at: str, report: Report, *, secret: bool = False) -> bool:
    """Report what is wrong with the templates of a text; whether anything is."""
    if not has_template(text):
        if found := _ONE_BRACE.search(text):
            hint = f"write {{{{ {found[1]} }}}}"
            report.problem(node, at, "one { and two }}", hint, "expression")
            return True
        return False
    try:
        check_template(text)
        names = references(text)
    except ExpressionError as error:
        report.problem(node, at, error.message, error.hint, error.code)
        return True
    if any(path[0] == "secrets" for path in names):
        if secret and secret_use(text) is not None:
            return False
        report.problem(
            node, at,
            "a secret stands only as the whole value of fill or type, or as a browser credential",
            "write it alone: \"{{ secrets.NAME }}\" or \"{{ secrets.NAME | totp }}\"",
            "secret_misplaced",
        )  # fmt: skip
        return True
    return False


@dataclass(frozen=True, slots=True)
class Expr:
    """A bare expression. ``prefix``: a sign that may stand before it (``-`` for descending)."""

    prefix: str = ""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The expression's text."""
        if node.kind == "scalar" and isinstance(node.value, bool | int | float):
            return node.text.lower() if isinstance(node.value, bool) else node.text
        if node.kind != "scalar" or not isinstance(node.value, str) or not node.text.strip():
            return wanted("an expression", node, at, report, "such as price.amount <= max_price")
        text = node.text.strip()
        if has_template(text):
            report.problem(
                node, at, "an expression stands bare here", "write it without {{ }}", "expression"
            )
            return BAD
        try:
            check_expression(text.removeprefix(self.prefix) if self.prefix else text)
            names = references("{{ " + text + " }}")
        except ExpressionError as error:
            report.problem(node, at, error.message, error.hint, error.code)
            return BAD
        if any(path[0] == "secrets" for path in names):
            report.problem(node, at, "a secret cannot be looked at", "", "secret_misplaced")
            return BAD
        return text

    def schema(self) -> Schema:
        """Text."""
        return {"type": ["string", "boolean", "number"]}


@dataclass(frozen=True, slots=True)
class ListExpr:
    """An expression that gives a list, bare or as a whole ``{{ }}``."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The text as written."""
        if node.kind != "scalar" or not isinstance(node.value, str) or not node.text.strip():
            hint = 'make it an input of type: list, and write "{{ NAME }}"'
            return wanted("an expression for a list", node, at, report, hint)
        if not has_template(node.text):
            return Expr().read(node, at, report)
        if whole_value(node.text) is None:
            report.problem(
                node, at, "text around {{ }} is no list", 'write "{{ a + b }}"', "expression"
            )
            return BAD
        return BAD if template_fault(node.text, node, at, report) else node.text.strip()

    def schema(self) -> Schema:
        """Text."""
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class ItemKey:
    """An expression over ``item``; a whole ``{{ }}`` around it is taken off."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """The bare expression."""
        if node.kind != "scalar" or not has_template(node.text):
            return Expr().read(node, at, report)
        inner = whole_value(node.text)
        if inner is None:
            report.problem(
                node, at, "a key is one expression", "such as item.name ~ '-' ~ item.size",
                "expression",
            )  # fmt: skip
            return BAD
        return BAD if template_fault(node.text, node, at, report) else inner.strip()

    def schema(self) -> Schema:
        """Text."""
        return {"type": "string"}
