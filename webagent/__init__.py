"""Errands on the web, as a graph of steps: a failing step is redone alone, an order is sent once.

The public face. Names are loaded when they are first used, so that ``import webagent`` costs
nothing and the command line stays quick::

    from webagent import run_sync

    result = run_sync("cheaper-cable.yaml", {"query": "usb-c cable"})
    print(result.status, result["order_a"].outputs)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webagent.core.effect import EffectRow as EffectRow
    from webagent.core.errors import BadInput as BadInput
    from webagent.core.errors import BrowserError as BrowserError
    from webagent.core.errors import BrowserNotFound as BrowserNotFound
    from webagent.core.errors import EffectConflict as EffectConflict
    from webagent.core.errors import InputInvalid as InputInvalid
    from webagent.core.errors import LeaseLost as LeaseLost
    from webagent.core.errors import Problem as Problem
    from webagent.core.errors import RecipeInvalid as RecipeInvalid
    from webagent.core.errors import RunBusy as RunBusy
    from webagent.core.errors import SecretMissing as SecretMissing
    from webagent.core.errors import StoreError as StoreError
    from webagent.core.errors import UnknownRun as UnknownRun
    from webagent.core.errors import WebagentError as WebagentError
    from webagent.core.event import Entry as Entry
    from webagent.core.event import Event as Event
    from webagent.core.plan import Plan as Plan
    from webagent.core.plan import PlanStep as PlanStep
    from webagent.core.recipe import Recipe as Recipe
    from webagent.engine.radius import Radius as Radius
    from webagent.engine.radius import radii as radii
    from webagent.interface.errands import check as check
    from webagent.interface.errands import load as load
    from webagent.interface.records import answer as answer
    from webagent.interface.records import effects as effects
    from webagent.interface.records import result as result
    from webagent.interface.records import runs as runs
    from webagent.interface.records import settle as settle
    from webagent.interface.records import stop as stop
    from webagent.interface.revisions import RevisionShown as RevisionShown
    from webagent.interface.revisions import accept as accept
    from webagent.interface.revisions import reject as reject
    from webagent.interface.revisions import revisions as revisions
    from webagent.interface.running import resume as resume
    from webagent.interface.running import run as run
    from webagent.interface.running import run_sync as run_sync
    from webagent.ports import RunSummary as RunSummary
    from webagent.runtime.result import RunResult as RunResult
    from webagent.runtime.result import StepResult as StepResult

__version__ = "0.1.0"

_WHERE = {
    "webagent.core.effect": ("EffectRow",),
    "webagent.core.errors": (
        "BadInput", "BrowserError", "BrowserNotFound", "EffectConflict", "InputInvalid",
        "LeaseLost", "Problem", "RecipeInvalid", "RunBusy", "SecretMissing", "StoreError",
        "UnknownRun", "WebagentError",
    ),
    "webagent.core.event": ("Entry", "Event"),
    "webagent.core.plan": ("Plan", "PlanStep"),
    "webagent.core.recipe": ("Recipe",),
    "webagent.engine.radius": ("Radius", "radii"),
    "webagent.interface.errands": ("check", "load"),
    "webagent.interface.records": ("answer", "effects", "result", "runs", "settle", "stop"),
    "webagent.interface.revisions": ("RevisionShown", "accept", "reject", "revisions"),
    "webagent.interface.running": ("resume", "run", "run_sync"),
    "webagent.ports": ("RunSummary",),
    "webagent.runtime.result": ("RunResult", "StepResult"),
}  # fmt: skip
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "BadInput",
    "BrowserError",
    "BrowserNotFound",
    "EffectConflict",
    "EffectRow",
    "Entry",
    "Event",
    "InputInvalid",
    "LeaseLost",
    "Plan",
    "PlanStep",
    "Problem",
    "Radius",
    "Recipe",
    "RecipeInvalid",
    "RevisionShown",
    "RunBusy",
    "RunResult",
    "RunSummary",
    "SecretMissing",
    "StepResult",
    "StoreError",
    "UnknownRun",
    "WebagentError",
    "__version__",
    "accept",
    "answer",
    "check",
    "effects",
    "load",
    "radii",
    "reject",
    "result",
    "resume",
    "revisions",
    "run",
    "run_sync",
    "runs",
    "settle",
    "stop",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
