"""An action in a few words, for progress and for what happened in a step. Pure."""

from __future__ import annotations

from webagent.cli.showing import one_line
from webagent.core.action import Action, Commit
from webagent.core.show import expectation_text
from webagent.core.target import Target


def action_text(action: Action, width: int = 60) -> str:
    """Such as ``click button "Add to basket"`` or ``goto https://shop.example/``."""
    return one_line(_words(action), width)


def _words(action: Action) -> str:
    match action:
        case Commit(action=inner):
            return f"commit: {_words(inner)}"
        case _:
            pass
    target = getattr(action, "target", None)
    if action.verb == "press":
        return f"press {action.key}" + (f" in {target}" if target is not None else "")
    if isinstance(target, Target):
        return f"{action.verb} {target}"
    if action.verb == "goto":
        return f"goto {action.url}"
    if action.verb == "wait":
        return f"wait for {expectation_text(action.until)}"
    if action.verb == "read":
        return f"read {', '.join(action.outputs)}"
    entries = getattr(action, "entries", None)
    if entries:
        return f"{action.verb} {', '.join(str(entry.target) for entry in entries)}"
    for name in ("name", "answer", "to", "edge"):
        if isinstance(found := getattr(action, name, None), str):
            return f"{action.verb} {found}"
    return action.verb
