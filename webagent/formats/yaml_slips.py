"""The usual slips in YAML, in words about what was written: the parser's own are about tokens."""

from __future__ import annotations

from ruamel.yaml.error import MarkedYAMLError, YAMLError

from webagent.formats.document import Node, Report


def character_problem(error: YAMLError, report: Report) -> None:
    """Report a control character: the reader refuses control characters before it knows lines."""
    code = getattr(error, "character", None)
    what = f"the character U+{code:04X}" if isinstance(code, int) else "a character"
    report.problem(None, "", f"{what} is not allowed in YAML", "write it as an escape", "yaml")


def syntax_problem(error: MarkedYAMLError, text: str, report: Report) -> None:
    """Report a slip in words about what was written; ruamel's are about tokens."""
    problem = error.problem or "not valid YAML"
    context = error.context or ""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        report.problem(None, "", problem, code="yaml")
        return
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    message, hint = problem, ""
    if "quoted scalar" in context:
        mark = error.context_mark or mark
        message, hint = "a quote is opened here and never closed", "close it on the same line"
    elif "flow sequence" in context or "flow mapping" in context:
        opener = error.context_mark
        what, sign = ("list", "]") if "sequence" in context else ("mapping", "}")
        message = f"this {what} is not closed: {sign} or a comma is missing"
        if opener is not None and opener.line != mark.line:
            mark = opener
        hint = "text with [ ] { } , or : inside braces needs quotes"
    elif "\\t" in problem or "\t" in line[: mark.column + 1]:
        message, hint = "a tab in the indentation", "YAML wants spaces"
    elif "mapping values are not allowed" in problem:
        message = "a second colon in this line, or a key indented deeper than the one before"
        hint = 'quote the value if the colon belongs to it: "…: …"'
    elif "expected <block end>" in problem:
        message = "the indentation does not match the lines above"
        hint = "align keys of one mapping, and the dashes of one list"
    elif "could not find expected ':'" in problem:
        mark = error.context_mark or mark
        message, hint = "a key without a colon", "write KEY: VALUE"
    elif "cannot start any token" in problem:
        message, hint = problem.replace("found character", "the character"), "quote the value"
    where = Node("scalar", mark.line + 1, mark.column + 1)
    report.problem(where, "", message, hint, code="yaml")
