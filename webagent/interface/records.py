"""After and beside a run: how it stands, what it did to the world, and a person's word on it."""

from __future__ import annotations

import getpass
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from webagent import wiring
from webagent.core.base import Json
from webagent.core.effect import EffectRow
from webagent.core.errors import InputInvalid
from webagent.core.plan import InputSpec, Question
from webagent.engine.state import RunState, fold
from webagent.interface.errands import Where
from webagent.ports import RunSummary, Store
from webagent.runtime.result import RunResult, result_of
from webagent.runtime.runner import answer as keep_answer

if TYPE_CHECKING:
    from webagent.settings import Settings


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Store]:
    """The store, closed afterwards."""
    store = wiring.open_store(settings)
    try:
        yield store
    finally:
        await store.close()


async def folded(store: Store, run: str) -> RunState:
    """What a run's journal says."""
    return fold(await store.entries(run))


async def result(run: str = "last", *, store: Where | None = None) -> RunResult:
    """How a run stands, from its journal.

    Args:
        run: its id, a unique beginning of it, or ``last``.
        store: folder or Postgres URL of the store.

    Raises:
        UnknownRun: there is none such.
    """
    async with opened(wiring.settings(store)) as found:
        run = await found.find(run)
        held = await found.holder(run) is not None
        return result_of(await folded(found, run), held=held)


async def runs(*, store: Where | None = None, limit: int = 100) -> tuple[RunSummary, ...]:
    """The newest runs first, a line each."""
    async with opened(wiring.settings(store)) as found:
        return await found.runs(limit=limit)


async def stop(run: str, *, store: Where | None = None) -> tuple[str, bool]:
    """Ask a run to park at the next boundary between two actions; its id, and whether it runs."""
    async with opened(wiring.settings(store)) as found:
        run = await found.find(run)
        return run, await found.request_stop(run)


async def answer(run: str, step: str, value: Json, *, store: Where | None = None) -> str:
    """Keep a person's answer to a step that waits; `resume` goes on with it.

    Args:
        run: its id, a unique beginning of it, or ``last``.
        step: the path of the waiting step.
        value: the answer, as text or typed; it must fit the question's type and options.
        store: folder or Postgres URL of the store.

    Returns:
        The run's id.

    Raises:
        UnknownRun: there is none such. InputInvalid: the answer does not fit the question.
        BadInput: the step does not wait. RunBusy: the run is being worked on.
    """
    settings = wiring.settings(store)
    async with opened(settings) as found:
        run = await found.find(run)
        state = await folded(found, run)
        node = state.nodes.get(step)
        if node is not None and node.state == "waiting" and node.question is not None:
            value = fitting(step, node.question, value)
        deps = await wiring.bare_deps(settings, found)
        await keep_answer(deps, run, step, value, person())
        return run


def fitting(step: str, question: Question, value: Json) -> Json:
    """An answer of the question's type, one of its options. Raises InputInvalid."""
    typed = wiring.bind_inputs({step: InputSpec(type=question.type)}, {step: value})[step]
    if question.options and str(typed) not in question.options:
        raise InputInvalid(
            f"{value!r} is not an answer to {step}: {question.text}",
            hint=f"One of: {', '.join(question.options)}",
        )
    return typed


async def effects(prefix: str = "", *, store: Where | None = None) -> tuple[EffectRow, ...]:
    """The effects whose key begins so, newest change first."""
    async with opened(wiring.settings(store)) as found:
        return await found.effects(prefix)


async def settle(
    key: str, *, happened: bool, note: str = "", store: Where | None = None
) -> EffectRow:
    """Say of an effect that nobody else can know about whether it happened.

    Args:
        key: the effect's whole key, as `effects` shows it.
        happened: True: it counts as done. False: the step may try it again.
        note: how you know.
        store: folder or Postgres URL of the store.

    Raises:
        BadInput: there is no such effect. EffectConflict: there is nothing to settle.
        RunBusy: its run is at work.
    """
    async with opened(wiring.settings(store)) as found:
        return await found.settle(key, happened, person(), note)


def person() -> str:
    """Who says so: user and host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user id without a name
        user = "somebody"
    return f"{user}@{socket.gethostname()}"
