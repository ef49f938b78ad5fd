"""The usual slips in YAML, in words about what was written: the parser's own are about tokens."""

from __future__ import annotations

from dataclasses import dataclass

from ruamel.yaml.error import MarkedYAMLError, YAMLError

from webagent.formats.document import Node, Report


def character_problem(error: YAMLError, text: str, report: Report) -> None:
    """Report a control character; the parser's reader refuses it before it knows lines."""
    position = getattr(error, "position", 0)
    before = text[: position if isinstance(position, int) else 0]
    code = getattr(error, "character", None)
    what = f"the character U+{code:04X}" if isinstance(code, int) else "a character"
    where = Node("scalar", before.count("\n") + 1, len(before) - before.rfind("\n"))
    hint = 'write it as an escape in double quotes: "\\u…"'
    report.problem(where, "", f"{what} is not allowed in YAML", hint, "yaml")


def syntax_problem(error: MarkedYAMLError, text: str, report: Report) -> None:
    """Report a slip in words about what was written."""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        report.problem(None, "", error.problem or "not valid YAML", code="yaml")
        return
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    slip = _slip(error.problem or "not valid YAML", error.context or "", line, mark.column)
    opener = error.context_mark
    if slip.at_start and opener is not None:
        mark = opener
    if slip.at_opener and opener is not None and opener.line != mark.line:
        mark = opener
    where = Node("scalar", mark.line + 1, mark.column + 1)
    report.problem(where, "", slip.message, slip.hint, code="yaml")


@dataclass(frozen=True, slots=True)
class _Slip:
    """What was probably meant, and which of the parser's two marks is the place.

    ``at_start``: where the token began; ``at_opener``: there only if it is in another line.
    """

    message: str
    hint: str
    at_start: bool = False
    at_opener: bool = False


def _slip(problem: str, context: str, line: str, column: int) -> _Slip:
    before, after = line[:column].rstrip(), line[column:]
    if "escape" in problem:
        return _Slip(
            "an unknown escape in double quotes", "write \\\\ for one backslash, or use '…'"
        )
    if "quoted scalar" in context:
        return _Slip("a quote is opened here and never closed", "close it on the same line", True)
    if "alias" in context or "anchor" in context:
        return _Slip("text that begins with * or &", 'quote it: "**/…"', True)
    for kind, sign in (("sequence", "]"), ("mapping", "}")):
        if f"flow {kind}" in context:
            what = "list" if kind == "sequence" else "mapping"
            return _Slip(
                f"this {what} is not closed: {sign} or a comma is missing",
                "text with [ ] { } , or : inside braces needs quotes",
                at_opener=True,
            )
    if "\\t" in problem or "\t" in line[: column + 1]:
        return _Slip("a tab in the indentation", "YAML wants spaces")
    if "expected <block end>" in problem or "mapping values are not allowed" in problem:
        return _block_slip(before, after, colon="mapping values" in problem)
    if "could not find expected ':'" in problem:
        return _Slip("a key without a colon", "write KEY: VALUE", True)
    if "cannot start any token" in problem:
        return _Slip(f"plain text cannot begin with {after[:1]}", f'quote it: "{after.strip()}"')
    return _Slip(problem, "")


def _block_slip(before: str, after: str, *, colon: bool) -> _Slip:
    """Something follows where a line should have ended, or a line begins at the wrong column."""
    if before.endswith(("}}", "}")):
        return _Slip("text after a closing brace", 'quote the whole value: "{{ a }} …"')
    if before.endswith(('"', "'")):
        return _Slip("text after a closing quote", "quote the whole value, by the other quotes")
    if colon:
        return _Slip(
            "a second colon in this line, or a key indented deeper than the one before",
            'quote the value if the colon belongs to it: "…: …"',
        )
    if after.startswith("-") and not after.startswith("- "):
        return _Slip("a dash without a space after it", f"write - {after[1:].strip()}")
    return _Slip(
        "the indentation does not match the lines above",
        "align keys of one mapping, and the dashes of one list",
    )
