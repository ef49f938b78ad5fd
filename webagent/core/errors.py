"""Everything that can go wrong, in one tree.

::

    WebagentError                 every error of this package
    ├── BadInput                  what the person gave is not right; exit code 2
    │   ├── RecipeInvalid         a recipe does not parse or does not check (all problems at once)
    │   ├── InputInvalid          an input value is missing or of a wrong type
    │   ├── SecretMissing         a secret's source does not have it
    │   ├── ExpressionError       an expression does not parse, or does not evaluate
    │   └── UnknownRun            no run has this id
    ├── StoreError                the store did not keep what it must; exit code 6
    │   ├── LeaseLost             another runner has taken this run over
    │   ├── RunBusy               another live runner holds this run; exit code 2
    │   ├── SequenceConflict      somebody else appended to this journal
    │   └── EffectConflict        the effect's row is not in the state needed; exit code 2
    ├── ModelError                a model did not give an answer that can be used; exit code 1
    │   ├── ModelUnavailable      no key, or nobody there to ask; exit code 2
    │   └── DraftFailed           a model drafted no plan that passes
    ├── BrowserError              no usable browser; exit code 1
    │   ├── BrowserNotFound       no Chromium on this machine
    │   ├── BrowserInstallFailed  no way of getting one worked
    │   └── BrowserLost           the browser died under us
    └── InvalidTransition         a bug: an event that the state cannot take

A move of the executor that fails is not an exception but a value (`core.page.Failure`), because the
engine decides on it. Each error here has a stable ``code`` and a ``remedy`` that the engine and the
faces read instead of asking for types: *never* (no retry helps), *again* (the same call may work),
*revise* (another segment may work), *person* (somebody has to decide).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

Remedy: TypeAlias = Literal["never", "again", "revise", "person"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a document, with its place.

    ``line`` and ``column`` count from 1; 0 means that the place is not known. ``path`` is where in
    the document, such as ``steps.order_a.expect[0]``. ``hint`` says what to do next.
    """

    message: str
    path: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    hint: str = ""
    code: str = "invalid"

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        if self.file and not self.line:
            place = f"{self.file}: "
        where = f" (at {self.path})" if self.path else ""
        hint = f"\n    {self.hint}" if self.hint else ""
        return f"{place}{self.message}{where}{hint}"


class WebagentError(Exception):
    """Every error of this package."""

    code: ClassVar[str] = "error"
    remedy: ClassVar[Remedy] = "never"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n    {self.hint}" if self.hint else self.message


class BadInput(WebagentError):
    """What the person gave is not right."""

    code = "bad_input"
    exit_code = 2


class RecipeInvalid(BadInput):
    """A recipe does not parse or does not check: all its problems, each with its place."""

    code = "recipe_invalid"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


class InputInvalid(BadInput):
    """Inputs are missing or of a wrong type: all problems, with places where there are any."""

    code = "input_invalid"

    def __init__(self, message: str, *, hint: str = "", problems: Sequence[Problem] = ()) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class SecretMissing(BadInput):
    """A secret's source does not have it."""

    code = "secret_missing"


class ExpressionError(BadInput):
    """An expression does not parse, or does not evaluate with the values at hand."""

    code = "expression"


class UnknownRun(BadInput):
    """No run has this id, or several begin with it."""

    code = "unknown_run"


class StoreError(WebagentError):
    """The store did not keep what it must."""

    code = "store"
    exit_code = 6


class LeaseLost(StoreError):
    """Another runner has taken this run over: this one may not append any more."""

    code = "lease_lost"


class RunBusy(StoreError):
    """Another live runner holds this run."""

    code = "run_busy"
    remedy = "again"
    exit_code = 2  # the store is well: the person asked for what does not go now


class SequenceConflict(StoreError):
    """Somebody else appended to this journal under the same epoch."""

    code = "sequence_conflict"


class EffectConflict(StoreError):
    """The effect's row is not in the state that this change needs."""

    code = "effect_conflict"
    exit_code = 2  # the store is well and said no


class ModelError(WebagentError):
    """A model gave no answer that can be used: ``fault`` says why (`core.chat.ChatFault`).

    ``usage``: what the failed call cost all the same, where that is known (`core.chat.Usage`).
    """

    code = "model"

    def __init__(
        self, message: str, *, fault: str = "malformed", hint: str = "", usage: object = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.fault = fault
        self.usage = usage


class ModelUnavailable(ModelError):
    """There is no model to ask: no key, or no server. Everything without a model still works."""

    code = "no_model"
    exit_code = 2


class DraftFailed(ModelError):
    """A model drafted no plan that passes: what is wrong with its last one, and that one's text."""

    code = "draft_failed"

    def __init__(
        self, message: str, *, hint: str = "", problems: Sequence[Problem] = (), text: str = "",
        usage: object = None,
    ) -> None:  # fmt: skip
        super().__init__(message, hint=hint, usage=usage)
        self.problems = tuple(problems)
        self.text = text


class BrowserError(WebagentError):
    """No usable browser."""

    code = "browser"


class BrowserNotFound(BrowserError):
    """No Chromium on this machine."""

    code = "browser_not_found"


class BrowserInstallFailed(BrowserError):
    """No way of getting a Chromium worked on this machine."""

    code = "browser_install_failed"


class BrowserLost(BrowserError):
    """The browser died under us: the run goes on in a new one."""

    code = "browser_lost"
    remedy = "again"


class InvalidTransition(WebagentError):
    """A bug: an event that the state of its step cannot take."""

    code = "invalid_transition"
