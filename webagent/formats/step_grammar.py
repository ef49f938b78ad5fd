"""How steps are written: the keys of DESIGN section 3, by kind.

A step has ``do: KIND`` or ``use: FILE``. Keys that belong to one kind (``from`` to compare,
``question`` to ask, everything about pages to the rest) are faults elsewhere: a key that would be
ignored is a promise not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from webagent.core.effect import EFFECT_ORDER, EffectKind
from webagent.core.plan import (
    KIND_EFFECTS,
    PAGELESS,
    Question,
    Step,
)
from webagent.formats.document import Node, Report
from webagent.formats.shapes import BAD, Key, Keys, Schema, wanted
from webagent.formats.step_keys import (
    ASK,
    COMPARE,
    EVERY,
    KINDS,
    PAGED,
    SHARED,
    STEP_KEYS,
    USE_KEYS,
)

_ALL = Keys("a step", STEP_KEYS)


@dataclass(frozen=True, slots=True)
class UseDraft:
    """A ``use`` step before its file is read."""

    file: str
    node: Node
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepShape:
    """One step. What could be read of a faulty one is kept, so that the rest can be checked."""

    def read(self, node: Node, at: str, report: Report) -> Any:
        """A Step or a UseDraft."""
        if node.kind != "map":
            return wanted("a step", node, at, report, "a mapping that begins with do: KIND")
        values, bad = _ALL.read_keys(node, at, report)
        use = node.get("use")
        if use is not None:
            bad |= _misplaced(node, at, report, "a use step", {**USE_KEYS, **SHARED})
            made: Any = _use_draft(values, use)
        else:
            made, worse = _step(values, node, at, report)
            bad |= worse
        if bad:
            report.broken.add(at)
        return made

    def schema(self) -> Schema:
        """One object by kind: editors then offer only what belongs there."""
        paged = [kind for kind in KINDS if kind not in PAGELESS]
        uses = Keys("a use step", {**USE_KEYS, **SHARED}).schema() | {"required": ["use"]}
        return {
            "anyOf": [
                uses,
                _kind_schema(paged, {**EVERY, **SHARED, **PAGED}, ["do", "expect"]),
                _kind_schema(["compare"], {**EVERY, **SHARED, **COMPARE}, ["do", "from"]),
                _kind_schema(["ask"], {**EVERY, **SHARED, **ASK}, ["do", "question"]),
            ]
        }


def _kind_schema(kinds: list[str], keys: dict[str, Key], required: list[str]) -> Schema:
    made = Keys("a step", keys).schema()
    made["properties"]["do"] = {"enum": kinds, "description": EVERY["do"].doc}
    return made | {"required": required}


def _misplaced(node: Node, at: str, report: Report, what: str, keys: dict[str, Key]) -> bool:
    """Report the known keys that do not go with this kind of step."""
    wrong = [key for key, _ in node.pairs if key.text in STEP_KEYS and key.text not in keys]
    for key in wrong:
        hint = ""
        if what == "a use step":
            built = "is not built yet for a use step" if key.text == "for_each" else ""
            if built:
                report.problem(key, f"{at}.{key.text}", f"for_each {built}", "", "not_built")
                continue
            hint = "it belongs into the used recipe"
        report.problem(
            key, f"{at}.{key.text}", f"{key.text} does not go with {what}", hint, "misplaced_key"
        )
    return bool(wrong)


def _use_draft(values: dict[str, Any], use: Node) -> Any:
    if "use" not in values:
        return BAD
    names = ("goal", "when", "session", "budget", "with")
    fields: dict[str, Any] = {k: values[k] for k in names if k in values}
    if "needs" in values:
        fields["needs"], fields["needs_any"] = values["needs"]
    return UseDraft(values["use"], use, fields)


def _step(values: dict[str, Any], node: Node, at: str, report: Report) -> tuple[Any, bool]:
    kind = values.get("do")
    if kind is None:
        if node.get("do") is None:
            report.problem(
                node, at, "a step needs do: KIND or use: FILE", "kinds: " + ", ".join(KINDS),
                "missing",
            )  # fmt: skip
        return BAD, True
    make: Callable[..., tuple[Any, bool]] = {"compare": _compare, "ask": _ask}.get(kind, _paged)
    return make(kind, values, node, at, report)


def _fields(values: dict[str, Any], keys: dict[str, Key]) -> dict[str, Any]:
    names = {**EVERY, **SHARED, **keys}
    fields = {k: v for k, v in values.items() if k in names and k != "needs"}
    if "needs" in values:
        fields["needs"], fields["needs_any"] = values["needs"]
    return fields


def _paged(
    kind: str, values: dict[str, Any], node: Node, at: str, report: Report
) -> tuple[Any, bool]:
    bad = _misplaced(node, at, report, f"a {kind} step", {**EVERY, **SHARED, **PAGED})
    fields = _fields(values, PAGED)
    default: EffectKind = "once" if node.get("once") is not None else KIND_EFFECTS[kind]
    given = fields.get("effect", default)
    if EFFECT_ORDER.index(given) < EFFECT_ORDER.index(default):
        report.problem(
            node.get("effect"), f"{at}.effect",
            f"effect {given} is weaker than a {'once' if 'once' in values else kind} step has",
            f"its effect is {default}; a form that only asks is do: search with allow_posts",
            "effect_weakened",
        )  # fmt: skip
        bad, given = True, default
    fields["effect"] = given
    return Step(**fields), bad


def _compare(
    kind: str, values: dict[str, Any], node: Node, at: str, report: Report
) -> tuple[Any, bool]:
    bad = _misplaced(node, at, report, "a compare step", {**EVERY, **SHARED, **COMPARE})
    fields = _fields(values, COMPARE)
    source = fields.pop("from", None)
    if node.get("from") is None:
        report.problem(node, at, "a compare step needs from: the items", 'such as "{{ a.offers }}"',
                       "missing")  # fmt: skip
        bad = True
    return Step(**fields, source=source), bad


def _ask(
    kind: str, values: dict[str, Any], node: Node, at: str, report: Report
) -> tuple[Any, bool]:
    bad = _misplaced(node, at, report, "an ask step", {**EVERY, **SHARED, **ASK})
    fields = _fields(values, ASK)
    text, type_ = fields.pop("question", None), fields.pop("type", "string")
    options = fields.pop("options", ())
    if text is None:
        if node.get("question") is None:
            report.problem(node, at, "an ask step needs its question", "", "missing")
        return Step(**fields), True
    return Step(**fields, question=Question(text=text, type=type_, options=options)), bad
