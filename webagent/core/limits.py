"""Budgets: how much a step, an errand or a schedule may use, and what a limit's name is."""

from __future__ import annotations

from typing import Literal, TypeAlias

from webagent.core.base import Frozen

LimitKind: TypeAlias = Literal["attempts", "seconds", "pages", "tokens", "money", "calls"]

STEP_SECONDS = 120.0
STEP_PAGES = 30
STEP_RETRIES = 2
STEP_ATTEMPTS = 3
ACTION_SECONDS = 10.0
TABS = 4
LEASE_SECONDS = 15.0
RENEW_SECONDS = 5.0


class Budget(Frozen):
    """Limits; None means that this level sets none (the defaults of the step still hold).

    ``tokens``, ``money`` and ``calls`` are of models: tokens sent and received, cached ones too.
    """

    attempts: int | None = None
    seconds: float | None = None
    pages: int | None = None
    tokens: int | None = None
    money: float | None = None
    calls: int | None = None
