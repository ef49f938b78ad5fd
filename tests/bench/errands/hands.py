"""A browser tab for agents that are no part of the project: the same outline, the same moves.

It stands on the project's own executor, so that all agents see the same outlines, name elements by
the same refs, and wait for pages in the same way. Nothing is judged or kept here.
"""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from tests.bench.errands.task import BOOK, DESK
from webagent import wiring
from webagent.core.action import (
    Action,
    Back,
    Check,
    Click,
    Entry,
    FieldRead,
    Fill,
    Goto,
    Press,
    Read,
    Select,
    Uncheck,
)
from webagent.core.chat import ToolCall
from webagent.core.errors import WebagentError
from webagent.core.plan import BrowserOptions, Plan
from webagent.core.request_rules import GuardPolicy
from webagent.core.target import Target
from webagent.core.telling import page_text, value_text
from webagent.ports import Tab
from webagent.settings import Settings

SECONDS = 5.0
ORIGINS = (f"http://{DESK}", f"http://{BOOK}")


class Hands:
    """One browser with one tab; an asynchronous context manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.read: dict[str, str] = {}
        self.last: Action | None = None

    async def __aenter__(self) -> Self:
        plan = Plan(recipe_id="bench", steps=())
        source, redactor = wiring.secret_source(self._settings, plan)
        make = wiring.browser_factory(self._settings, plan, source, redactor)
        self._executor = make("bench")
        await self._executor.start(BrowserOptions(), None)
        self._tab: Tab = await self._open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._executor.close()

    async def _open(self) -> Tab:
        hosts = (DESK, BOOK)
        rules = GuardPolicy(origins=ORIGINS, effect="repeatable", named_hosts=hosts)
        return await self._executor.open_tab("bench", rules)

    async def begin_anew(self) -> None:
        """A fresh tab, nothing read; cookies stay, as they do in a browser."""
        with suppress(WebagentError):
            await self._tab.close()
        self._tab = await self._open()
        self.read.clear()

    async def page(self) -> str:
        """The page in the block in which every agent is shown it."""
        seen = await self._tab.observe()
        return page_text(seen.url, seen.title, await self._tab.outline())

    async def move(self, call: ToolCall) -> str:
        """Make one move; what came of it, in one line. ``last``: its action, if it worked."""
        self.last = None
        try:
            action, told = await self._action(call)
        except LookupError as wrong:
            return f"{call.name} {value_text(call.input)}: {wrong}"
        outcome = await self._tab.perform(action, deadline=SECONDS, dispatched=_nothing)
        if outcome.failure is not None:
            return f"{told}: did not work: {' '.join(outcome.failure.message.split())[:200]}"
        self.last = action
        read = ""
        for name, value in outcome.values.items():
            self.read[name] = str(value)
            read += f"; {name} = {value_text(value)}"
        return f"{told}: done{read}"

    async def finds(self, action: Action, seconds: float) -> bool:
        """Whether an action succeeds within so much time; it is carried out."""
        outcome = await self._tab.perform(action, deadline=seconds, dispatched=_nothing)
        for name, value in outcome.values.items():
            self.read[name] = str(value)
        return outcome.failure is None

    async def _action(self, call: ToolCall) -> tuple[Action, str]:
        given: dict[str, Any] = dict(call.input)
        match call.name:
            case "goto":
                return Goto(url=given["url"]), f"goto {given['url']}"
            case "back":
                return Back(), "back"
            case "press":
                return Press(key=given["key"]), f"press {given['key']}"
            case _:
                pass
        target = await self.target(str(given.get("ref")))
        match call.name:
            case "click":
                return Click(target=target), f"click {target}"
            case "check":
                return Check(target=target), f"check {target}"
            case "uncheck":
                return Uncheck(target=target), f"uncheck {target}"
            case "fill":
                entry = Entry(target=target, value=given["value"])
                return Fill(entries=(entry,)), f"fill {target} with {given['value']}"
            case "select":
                entry = Entry(target=target, value=given["option"])
                return Select(entries=(entry,)), f"select {given['option']} in {target}"
            case "read":
                spec = FieldRead(target=target)
                return Read(outputs={str(given["name"]): spec}), f"read {target}"
            case _:
                raise LookupError("there is no such tool here")

    async def target(self, ref: str) -> Target:
        """The element of a ref. Raises LookupError when it is not there."""
        found = await self._tab.point(ref)
        if found is None:
            msg = f"there is no element {ref} on the page"
            raise LookupError(msg)
        return found.target


async def _nothing() -> None:
    """Nobody keeps a journal here."""
