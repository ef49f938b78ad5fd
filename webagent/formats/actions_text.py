"""Actions as a model writes them: each a text in the recipe's notation, read by its parser."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from webagent.core.action import Action
from webagent.core.errors import BadInput
from webagent.formats.document import Report
from webagent.formats.segment_grammar import SEGMENT
from webagent.formats.yaml_places import compose

LONGEST = 4_000


def actions_from_texts(texts: Sequence[str]) -> tuple[Action, ...]:
    """The actions. Raises BadInput with each that cannot be read, by its number from 0."""
    found: list[Action] = []
    faults: list[str] = []
    for number, text in enumerate(texts):
        if len(text) > LONGEST:
            faults.append(f"{number}: longer than {LONGEST} characters")
            continue
        report = Report("")
        node = compose("-" + textwrap.indent(text.strip("\n"), "  ")[1:], report)
        read = None if node is None else SEGMENT.read(node, "", report)
        if report.problems or not isinstance(read, tuple):
            problem = report.problems[0] if report.problems else None
            hint = f" ({problem.hint})" if problem is not None and problem.hint else ""
            faults.append(
                f"{number}: {problem.message if problem else 'not an action'}{hint}: {text[:200]}"
            )
            continue
        found += read
    if faults:
        raise BadInput("\n".join(faults))
    return tuple(found)
