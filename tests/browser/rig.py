"""What the browser's tests need around an executor: secrets, a redactor, bound actions in short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from webagent.core.action import (
    Action,
    Click,
    Commit,
    Entry,
    FieldRead,
    Fill,
    Goto,
    ListRead,
    Press,
    Read,
    Select,
)  # fmt: skip
from webagent.core.base import Json, SecretUse
from webagent.core.errors import SecretMissing
from webagent.core.page import Outcome
from webagent.core.request_rules import GuardPolicy
from webagent.core.target import Target, parse_target
from webagent.executors.browser.session import BrowserExecutor
from webagent.executors.browser.tab import BrowserTab


@dataclass
class KnownSecrets:
    """`ports.Secrets` out of two mappings."""

    values: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)

    async def value(self, use: SecretUse) -> str:
        if use.secret not in self.values:
            raise SecretMissing(f"no secret {use.secret}")
        self.given.add(self.values[use.secret])
        return self.values[use.secret]

    def origin(self, use: SecretUse) -> str | None:
        return self.origins.get(use.secret)

    def known(self) -> frozenset[str]:
        return frozenset(self.given)

    def redact(self, text: str) -> str:
        for value in self.given:
            text = text.replace(value, "[secret]")
        return text


def target(raw: object) -> Target:
    return parse_target(raw)


def click(raw: object, **more: Any) -> Click:
    return Click(target=target(raw), **more)


def fill(raw: object, value: Json, **more: Any) -> Fill:
    return Fill(entries=(Entry(target=target(raw), value=value),), **more)


def select(raw: object, value: Json, **more: Any) -> Select:
    return Select(entries=(Entry(target=target(raw), value=value),), **more)


def press(key: str, raw: object = None) -> Press:
    return Press(key=key, target=None if raw is None else target(raw))


def commit(raw: object, request: str | None = None) -> Commit:
    return Commit(action=click(raw), request=request)


def field_of(raw: object = None, **more: Any) -> FieldRead:
    return FieldRead(target=None if raw is None else target(raw), **more)


def rows_of(
    each: object, key: str | None = None, pages: Any = None, **fields: FieldRead
) -> ListRead:
    return ListRead(each=target(each), key=key, fields=fields, pages=pages)


def read(**outputs: Any) -> Read:
    return Read(outputs=outputs)


@dataclass
class Rig:
    """A tab with a log of what was dispatched."""

    executor: BrowserExecutor
    tab: BrowserTab
    dispatched: list[str] = field(default_factory=list)
    on_dispatch: Callable[[], None] | None = None

    async def do(self, action: Action, deadline: float = 5.0) -> Outcome:
        async def dispatched() -> None:
            self.dispatched.append(action.verb)
            if self.on_dispatch is not None:
                self.on_dispatch()

        return await self.tab.perform(action, deadline=deadline, dispatched=dispatched)

    async def ok(self, *actions: Action, deadline: float = 5.0) -> Outcome:
        """Perform actions that must succeed; the last outcome."""
        outcome = Outcome()
        for action in actions:
            outcome = await self.do(action, deadline)
            assert outcome.failure is None, outcome.failure
        return outcome

    async def goto(self, url: str) -> Outcome:
        return await self.ok(Goto(url=url))


def policy(*origins: str, **more: Any) -> GuardPolicy:
    """A policy for origins by host name."""
    return GuardPolicy(origins=tuple(f"http://{host}" for host in origins), **more)
