"""A target as a person types it on a command line: its notation, CSS, or a mapping in braces."""

from __future__ import annotations

from webagent.core.errors import BadInput
from webagent.core.target import Target, TargetSyntaxError, parse_target
from webagent.formats.document import Report
from webagent.formats.scalars import TargetIs
from webagent.formats.yaml_places import compose


def target_from_text(text: str) -> Target:
    """The target. Raises BadInput with what is wrong in its notation."""
    if not text.lstrip().startswith("{"):
        try:
            return parse_target(text)
        except TargetSyntaxError as error:
            raise BadInput(str(error), hint=error.hint) from None
    report = Report("")
    node = compose(text, report)
    target = None if node is None else TargetIs().read(node, "", report)
    if not isinstance(target, Target):
        problem = report.problems[0] if report.problems else None
        raise BadInput(
            "not a target" if problem is None else problem.message,
            hint=(problem.hint if problem is not None else "") or "Such as: {css: h3 a, nth: 1}",
        )
    return target
