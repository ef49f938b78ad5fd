"""Random errands: graphs of 1 to 12 steps of every kind, and what goes wrong in them.

A drawn errand goes through the recipe's parser and compiler, so that the runner works on plans as
people get them. Each step's goal, URL and values carry its own number: where another step's turn up
(in a brief, in an output), that can be seen.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hypothesis import strategies as st

from webagent.core.base import Json
from webagent.core.compile import compile_plan
from webagent.core.page import Failure, FailureKind, Observation
from webagent.core.plan import Plan
from webagent.executors.scripted import Fault, Turns
from webagent.formats.recipe_yaml import parse_recipe

KINDS = (
    "read",
    "read",
    "read",
    "fill",
    "fill",
    "compare",
    "submit",
    "each",
    "each_submit",
    "chain",
)
PAGED = frozenset({"read", "fill", "chain"})
HOSTS = 4
INPUTS = {"go": True, "stop": False}
ROWS = ("a", "b")


@dataclass
class Errand:
    """A drawn errand: its recipe, and what only a witness beside the runner needs to know.

    ``keys``: the effect key of each once step (an item's own part comes behind it).
    """

    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    @cached_property
    def plan(self) -> Plan:
        """The errand's plan; ask for it when all steps are there."""
        inputs = {name: {"type": "boolean", "default": value} for name, value in INPUTS.items()}
        recipe = {"webagent": 1, "id": "drawn", "errand": "Drawn", "inputs": inputs}
        return compile_plan(parse_recipe(json.dumps({**recipe, "steps": self.steps}, indent=1)))

    def nodes(self) -> list[str]:
        """Every step, and every item that a for_each of it will have."""
        found = []
        for name, step in self.steps.items():
            found.append(name)
            if "for_each" in step:
                over = step["for_each"].strip("{} ").removesuffix(".rows")
                found += [f"{name}[{value_of(over)}{row}]" for row in ROWS]
        return found

    def length(self, node: str) -> int:
        """How many actions a node's segment has; 0 for one without a page."""
        return len(self.steps[node.split("[", maxsplit=1)[0]].get("segment", ()))


def value_of(step: str) -> str:
    """What a step reads: its number is in it."""
    return f"v{step[1:]}."


def goal_of(step: str) -> str:
    """A step's goal: nobody else's holds this text."""
    return f"Goal of {step}!"


def shown_by(step: str) -> str:
    """What a step expects on its page."""
    return f"Shown by {step}!"


def values_of(step: str) -> dict[str, Json]:
    """What a step's page has to be read."""
    value = value_of(step)
    rows = [{"value": f"{value}{row}", "price": price} for price, row in enumerate(ROWS)]
    return {"value": value, "rows": rows}


# -- graphs -----------------------------------------------------------------------------------


@st.composite
def errands(draw: st.DrawFn, *, most: int = 12) -> Errand:
    """An errand of up to so many steps."""
    errand = Errand()
    for number in range(draw(st.integers(1, most))):
        _add_step(draw, errand, f"s{number}")
    return errand


def _add_step(draw: st.DrawFn, errand: Errand, name: str) -> None:
    before = list(errand.steps)
    kind = draw(st.sampled_from(KINDS))
    lists = [s for s in before if errand.kinds[s] in PAGED]
    open_ends = [
        s for s in lists if not any(o.get("continues") == s for o in errand.steps.values())
    ]
    if (kind in ("compare", "each", "each_submit") and not lists) or (
        kind == "chain" and not open_ends
    ):
        kind = "read"
    uses = draw(st.lists(st.sampled_from(before), max_size=3, unique=True)) if before else []
    step: dict[str, Any] = {"goal": goal_of(name)}
    match kind:
        case "compare":
            rows = draw(st.lists(st.sampled_from(lists), min_size=1, max_size=3, unique=True))
            step |= {
                "do": "compare", "from": "{{ " + " + ".join(f"{r}.rows" for r in rows) + " }}",
                "order": ["price", "value"], "take": 1,
            }  # fmt: skip
        case "each" | "each_submit":
            over = draw(st.sampled_from(lists))
            step |= {"for_each": f"{{{{ {over}.rows }}}}", "key": "item.value"}
            if draw(st.booleans()):
                step["allow_failed"] = draw(st.sampled_from(["1", "50%", "100%"]))
            step |= (
                _once(draw, errand, name, item=True) if kind == "each_submit" else {"do": "fill"}
            )
            step["segment"] = _segment(errand, name, kind, uses, draw(st.integers(1, HOSTS)))
        case "chain":
            step |= {"do": "fill", "continues": draw(st.sampled_from(open_ends))}
            step["segment"] = _segment(errand, name, kind, uses, 0)
        case "submit":
            step |= _once(draw, errand, name, item=False)
            step["segment"] = _segment(errand, name, kind, uses, draw(st.integers(1, HOSTS)))
        case _:
            step["do"] = kind
            step["segment"] = _segment(errand, name, kind, uses, draw(st.integers(1, HOSTS)))
    if kind != "compare":
        step["expect"] = [{"text": shown_by(name)}]
        if kind in PAGED and draw(st.booleans()):
            step["expect"].append({"output": {"rows": {"min": 1}}})
    _add_conditions(draw, errand, step, uses)
    errand.steps[name], errand.kinds[name] = step, kind


def _add_conditions(draw: st.DrawFn, errand: Errand, step: dict[str, Any], uses: list[str]) -> None:
    """Now and then a condition, and needs that no value makes."""
    if draw(st.integers(0, 5)) == 0:
        own = [f'{u}.value != "other"' for u in uses if errand.kinds[u] in PAGED]
        step["when"] = draw(st.sampled_from(["go", "stop", *own]))
    # A step whose value is used is needed itself: as one of several it might have none.
    named = {step.get("continues"), *re.findall(r"\bs\d+(?=\.)", json.dumps(step))}
    others = [s for s in errand.steps if s not in named]
    if len(others) >= 2 and draw(st.integers(0, 5)) == 0:
        pair = draw(st.lists(st.sampled_from(others), min_size=2, max_size=2, unique=True))
        step["needs"] = draw(st.sampled_from([{"any": pair}, pair]))


def _segment(
    errand: Errand, name: str, kind: str, uses: list[str], host: int
) -> list[dict[str, Any]]:
    """The step's actions; values of others go into its URL (the first) and its fields."""
    texts = [_use(errand, u) for u in uses]
    item = "/{{ item.value }}" if kind.startswith("each") else ""
    segment: list[dict[str, Any]] = []
    if kind != "chain":
        first = f"/{texts.pop(0)}" if texts else ""
        segment.append({"goto": f"http://h{host}.test/page-of-{name}{item}{first}"})
    if kind != "read":
        segment.append({"fill": {f'textbox "{name}"': " ".join([*texts, "text"])}})
        go = {"click": f'button "Go {name}"'}
        segment.append({"commit": go} if "submit" in kind else go)
    elif texts:
        # A field whose fixed value is another step's: read, but not from the page.
        segment.append({"wait": {"text": " ".join(texts)}})
    read: dict[str, Any] = {"value": ".value"}
    if kind in PAGED:
        read["rows"] = {
            "each": "li",
            "key": "value",
            "fields": {"value": ".value", "price": {"css": ".price", "type": "number"}},
        }
    segment.append({"read": read})
    return segment


def _use(errand: Errand, step: str) -> str:
    return f"{{{{ {step}.{'count' if errand.kinds[step].startswith('each') else 'value'} }}}}"


def _once(draw: st.DrawFn, errand: Errand, name: str, *, item: bool) -> dict[str, Any]:
    """What makes a step a once step. Some share an effect: then it happens once for all."""
    shared = not item and draw(st.integers(0, 3)) == 0
    step: dict[str, Any] = {"do": "submit"}
    key = "{{ item.value }}" if item else "{{ run.date }}"
    step["once"] = {"name": "shared", "key": key} if shared else key
    errand.keys[name] = "shared" if shared else name
    step["probe"] = {
        "segment": [
            {"goto": f"http://h{draw(st.integers(1, HOSTS))}.test/orders"},
            {"read": {"orders": {"each": "tr", "key": "value", "fields": {"value": ".no"}}}},
        ],
        "settle": 1,
    }
    if draw(st.booleans()):
        step["before_commit"] = [{"element": f'button "Go {name}"'}]
    if draw(st.booleans()):
        step["reset"] = [{"goto": f"http://h1.test/empty/{name}"}, {"click": 'button "Empty"'}]
    return step


# -- what goes wrong --------------------------------------------------------------------------


@dataclass
class Mishaps:
    """What goes wrong: faults of the site by node, values that change, pages that lie."""

    faults: dict[str, list[Fault]] = field(default_factory=dict)
    changing: frozenset[str] = frozenset()
    true_anyway: frozenset[str] = frozenset()


@st.composite
def mishaps(draw: st.DrawFn, errand: Errand) -> Mishaps:
    """A few things that go wrong in an errand, each so many times."""
    paged = [n for n in errand.nodes() if errand.length(n) and not _is_template(errand, n)]
    found = Mishaps()
    if not paged:
        return found
    for node in draw(st.lists(st.sampled_from(paged), max_size=4, unique=True)):
        found.faults[node] = draw(st.lists(faults(errand.length(node)), min_size=1, max_size=3))
    changing = [n for n in paged if "[" not in n and errand.kinds[n] in PAGED]
    if changing:
        found.changing = frozenset(draw(st.lists(st.sampled_from(changing), max_size=2)))
    if draw(st.integers(0, 5)) == 0:
        found.true_anyway = frozenset({draw(st.sampled_from(paged))})
    return found


def _is_template(errand: Errand, node: str) -> bool:
    return "for_each" in errand.steps.get(node, {})


def turns(step: str) -> dict[str, Json]:
    """The values of a step that reads another one each time it is entered."""
    value = value_of(step)
    return {**values_of(step), "value": Turns((value, f"{value}x", f"{value}y", f"{value}z"))}


@st.composite
def faults(draw: st.DrawFn, length: int) -> Fault:
    """One fault of a segment of so many actions."""
    kind = draw(st.sampled_from(
        ["missing", "missing", "slow", "down", "gone", "out", "kill", "half_sent", "late", "never"]
    ))  # fmt: skip
    at, times = draw(st.integers(0, length - 1)), draw(st.integers(1, 3))
    match kind:
        case "late":
            return Fault(at=None, times=times)
        case "never":
            # More often than the runner looks within a step's timeout.
            return Fault(at=None, times=draw(st.sampled_from([400, 900, 9_000])))
        case "kill":
            return Fault(at=at, kill=True)
        case "half_sent":
            return Fault(at=at, failure=_failure("timeout", dispatched="unknown"))
        case "slow":
            return Fault(at=at, failure=_failure("timeout"), times=times)
        case "down":
            seen = Observation(url="http://h1.test/", status=503)
            return Fault(at=at, failure=_failure("target_missing"), seen=seen, times=times)
        case "gone":
            seen = Observation(url="http://h1.test/", status=404)
            return Fault(at=at, failure=_failure("target_missing"), seen=seen, times=times)
        case "out":
            seen = Observation(url="http://h1.test/", status=200, sign_in=True)
            return Fault(at=at, failure=_failure("target_missing"), seen=seen)
        case _:
            return Fault(at=at, failure=_failure("target_missing"), times=times)


def _failure(kind: FailureKind, *, dispatched: Any = "no") -> Failure:
    return Failure(kind=kind, message=f"{kind}, by the script", dispatched=dispatched)


@dataclass(frozen=True)
class Death:
    """The process dies before or after the n-th append of this life."""

    at: int
    before: bool


deaths = st.lists(st.builds(Death, st.integers(2, 60), st.booleans()), max_size=3)
