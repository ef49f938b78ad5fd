"""`SecretSource`: secrets by place and name, fetched when they are used.

Nothing is cached to disk, and a value is kept in memory only so that the redactor can find it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from webagent.core.base import SecretUse
from webagent.core.errors import SecretMissing
from webagent.core.plan import Plan, SecretSpec
from webagent.ports import Clock
from webagent.secrets.codes import code_at, seed_of
from webagent.secrets.sources import fetch


def specs_of(plan: Plan) -> dict[str, Mapping[str, SecretSpec]]:
    """A plan's secrets by place: "" for the recipe itself, each sub-plan's its own."""
    return {"": plan.secrets, **{place: sub.secrets for place, sub in plan.subplans.items()}}


class SecretSource:
    """`ports.Secrets` over the four kinds of source; ``env`` is what `settings` read."""

    def __init__(
        self,
        specs: Mapping[str, Mapping[str, SecretSpec]],
        *,
        env: Mapping[str, str],
        cwd: Path,
        clock: Clock,
    ) -> None:
        self._specs = specs
        self._env = env
        self._cwd = cwd
        self._clock = clock
        self._known: set[str] = set()
        self._frozen: frozenset[str] = frozenset()

    async def value(self, use: SecretUse) -> str:
        """The value, or the one-time code of this moment. Raises SecretMissing or BadInput."""
        spec = self._spec(use)
        # A command may take seconds, a keyring may ask its user.
        value = await asyncio.to_thread(fetch, use.secret, spec, self._env, self._cwd)
        self._know(value)
        if not use.totp:
            return value
        self._know(seed_of(value))
        code = code_at(use.secret, value, self._clock.now())
        self._know(code)
        return code

    def origin(self, use: SecretUse) -> str | None:
        """The only origin on which it may be typed."""
        return self._spec(use).origin

    def known(self) -> frozenset[str]:
        """Every value given out so far, seeds and one-time codes included."""
        return self._frozen

    def _know(self, value: str) -> None:
        if value and value not in self._known:
            self._known.add(value)
            self._frozen = frozenset(self._known)

    def _spec(self, use: SecretUse) -> SecretSpec:
        spec = self._specs.get(use.place, {}).get(use.secret)
        if spec is None:
            where = f"sub-plan {use.place!r}" if use.place else "recipe"
            raise SecretMissing(
                f"The {where} has no secret {use.secret!r}.",
                hint="Name it under secrets: with its source.",
            )
        return spec
