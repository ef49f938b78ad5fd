"""The runner: it holds the lease, folds the journal and starts every move that may begin.

Called by wiring for `run` and `resume`. It never decides what a verdict means; it only keeps one
task a node, renews the lease, and parks when it is asked to.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from webagent.core import event as ev
from webagent.core.base import Json
from webagent.core.errors import BadInput
from webagent.core.limits import RENEW_SECONDS
from webagent.core.plan import Plan
from webagent.engine import decide
from webagent.engine.state import FINAL, RunState
from webagent.ports import Lease
from webagent.runtime.browser import RunBrowser
from webagent.runtime.context import Deps, Pages
from webagent.runtime.journal import Journal, OvertakenError
from webagent.runtime.result import RunResult, result_of
from webagent.runtime.segment import Stopping, StoppingError
from webagent.runtime.steps import StepMoves, is_immediate

STOP_POLL_SECONDS = 1.0
# How long a running action may go on after the run was asked to park.
GRACE_SECONDS = 15.0
# Rounds in which a move ended and nothing was journaled. Each move tells its outcome, so the same
# moves would be found again, for ever: better a crash that can be resumed than a busy loop.
IDLE_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Start:
    """What a new run begins with. ``date``: run.date; ``last``: outputs of the last met run."""

    run: str
    date: str
    inputs: dict[str, Json]
    recipe_file: str = ""
    recipe_digest: str = ""
    last: dict[str, Json] | None = None
    unattended: bool = False
    rehearse: bool = False
    until: str | None = None
    again: tuple[str, ...] = ()
    again_by: str = ""


class Runner:
    """One execution of an errand, new or resumed, in this process."""

    def __init__(self, deps: Deps) -> None:
        self.deps = deps
        self.stopping = Stopping()
        self._wake = asyncio.Event()

    def stop(self) -> None:
        """Park the run at the next boundary between two actions."""
        self.stopping.asked = True
        self._wake.set()

    async def start(self, plan: Plan, start: Start) -> RunResult:
        """Begin a run and work until it is over or parked."""
        store = self.deps.store
        await store.create(start.run, plan.recipe_id, plan.errand, start.recipe_file)
        lease = await store.acquire(start.run, self.deps.runner)
        journal = self._journal(lease)
        try:
            await journal.append(
                ev.RunStarted(
                    run=start.run, recipe_id=plan.recipe_id, recipe_file=start.recipe_file,
                    recipe_digest=start.recipe_digest, errand=plan.errand, date=start.date,
                    inputs=start.inputs, last=start.last, unattended=start.unattended,
                    rehearse=start.rehearse, until=start.until, again=start.again,
                    again_by=start.again_by,
                ),
                ev.PlanMade(plan=plan),
            )  # fmt: skip
            return await self._work(journal)
        finally:
            await store.release(lease)

    async def resume(
        self, run: str, plan: Plan | None = None, keep: Sequence[str] | None = None
    ) -> RunResult:
        """Go on with a run: met steps stay as they are, what was under way is taken up again.

        ``plan`` and ``keep``: an edited recipe's plan, and which met steps it leaves met.

        Raises:
            RunBusy: a live runner holds it. LeaseLost: another took it over meanwhile.
        """
        store = self.deps.store
        lease = await store.acquire(run, self.deps.runner)
        journal = self._journal(lease)
        try:
            state = await journal.load()
            if state.plan is None:
                msg = f"run {run} ended before it had a plan"
                raise BadInput(msg, hint="start it again with: webagent run RECIPE")
            if state.finished is not None and state.finished.exit_code == 0 and plan is None:
                return result_of(state)
            await journal.append(
                ev.RunResumed(
                    runner=f"{self.deps.runner.host}:{self.deps.runner.pid}",
                    plan=plan,
                    keep=None if keep is None else tuple(keep),
                    gone_epochs=self._gone(lease),
                )
            )
            return await self._work(journal)
        finally:
            await store.release(lease)

    def _journal(self, lease: Lease) -> Journal:
        deps = self.deps
        watch = (self._noticed, *deps.watch)
        return Journal(deps.store, lease, deps.redact_event, deps.redact_effect, watch)

    def _noticed(self, state: RunState, entry: ev.Entry) -> None:
        """A step that ended frees others at once, while its session is kept and its page closed."""
        del state
        if isinstance(entry.event, ev.StepFinished):
            self._wake.set()

    def _gone(self, lease: Lease) -> tuple[int, ...]:
        """The previous epoch, if its runner and browser are known to have ended."""
        if lease.previous is None or self.deps.end_runner(lease.previous):
            return (lease.epoch - 1,)
        return ()

    async def _work(self, journal: Journal) -> RunResult:
        pages = Pages()
        browser = RunBrowser(self.deps, journal, pages)
        moves = StepMoves(self.deps, journal, browser, pages, self.stopping)
        tasks: dict[str, asyncio.Task[None]] = {}
        keeper = asyncio.create_task(self._keep_lease(journal, browser))
        try:
            ending = await self._loop(journal, moves, tasks, keeper)
            await pages.close_all()
            await journal.append(ending)
        finally:
            keeper.cancel()
            for task in tasks.values():
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(keeper, *tasks.values(), return_exceptions=True)
            await browser.close()
        return result_of(journal.state)

    async def _loop(
        self,
        journal: Journal,
        moves: StepMoves,
        tasks: dict[str, asyncio.Task[None]],
        keeper: asyncio.Task[None],
    ) -> ev.Event:
        """Start moves until none is left; the event that ends or parks the run."""
        idle = seq = 0
        while True:
            self._wake.clear()
            self._reap(tasks, keeper)
            idle, seq = (0 if journal.state.seq > seq else idle + 1), journal.state.seq
            if idle > IDLE_ROUNDS:
                msg = f"no progress in {IDLE_ROUNDS} rounds; under way: {', '.join(tasks)}"
                raise AssertionError(msg)
            if self.stopping.asked:
                await self._wind_down(journal, tasks)
                return ev.RunParked(reason="stopped by a person", cause="stopped")
            if (hit := self._errand_limit(journal.state)) is not None:
                await journal.append(hit)
            now = self.deps.clock.now().timestamp()
            can = self.deps.capabilities(unattended=_unattended(journal.state))
            found = decide.next_moves(journal.state, can, now=now, tabs=self.deps.tabs)
            began = again = False
            for move in found:
                if isinstance(move, decide.Park | decide.Finish):
                    if not tasks:
                        return _ending(move, journal.state)
                    continue
                if move.node in tasks:
                    continue
                began = True
                if is_immediate(move):
                    with contextlib.suppress(OvertakenError):
                        await moves.carry_out(move)
                    again = True
                    if isinstance(move, decide.Reopen):
                        continue
                    break
                tasks[move.node] = asyncio.create_task(moves.carry_out(move), name=move.node)
            if not again:
                await self._wait(tasks, keeper, found_something=began)

    def _reap(self, tasks: dict[str, asyncio.Task[None]], keeper: asyncio.Task[None]) -> None:
        """Take finished tasks away; what one raised is raised here."""
        if keeper.done():
            keeper.result()
        for node, task in list(tasks.items()):
            if task.done():
                del tasks[node]
                with contextlib.suppress(StoppingError, OvertakenError):
                    task.result()

    async def _wait(
        self,
        tasks: dict[str, asyncio.Task[None]],
        keeper: asyncio.Task[None],
        *,
        found_something: bool,
    ) -> None:
        if not tasks:
            if not found_something:
                msg = "nothing runs and nothing may begin: the plan and its state disagree"
                raise AssertionError(msg)
            return
        wake = asyncio.create_task(self._wake.wait())
        try:
            await asyncio.wait({*tasks.values(), keeper, wake}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            wake.cancel()

    async def _wind_down(self, journal: Journal, tasks: dict[str, asyncio.Task[None]]) -> None:
        """Let each running action end, then leave off."""
        if tasks:
            await asyncio.wait(tasks.values(), timeout=GRACE_SECONDS)
        await journal.flush()

    async def _keep_lease(self, journal: Journal, browser: RunBrowser) -> None:
        """Renew the lease in time, and look whether somebody asked the run to stop."""
        store, run = self.deps.store, journal.lease.run
        waited = 0.0
        while True:
            await asyncio.sleep(STOP_POLL_SECONDS)
            waited += STOP_POLL_SECONDS
            if waited >= RENEW_SECONDS:
                waited = 0.0
                await store.renew(journal.lease, browser.runner())
            if await store.stop_requested(run):
                self.stop()

    def _errand_limit(self, state: RunState) -> ev.LimitHit | None:
        budget = state.the_plan.budget
        pages = sum(node.pages for node in state.nodes.values())
        if state.limit is not None:
            return None
        if budget.pages is not None and pages > budget.pages:
            return ev.LimitHit(limit="pages", allowed=budget.pages, used=pages)
        if budget.seconds is not None and state.active_seconds > budget.seconds:
            used = round(state.active_seconds, 1)
            return ev.LimitHit(limit="seconds", allowed=budget.seconds, used=used)
        return None


def _unattended(state: RunState) -> bool:
    return state.started is not None and state.started.unattended


def _ending(move: decide.Park | decide.Finish, state: RunState) -> ev.Event:
    if isinstance(move, decide.Park):
        return ev.RunParked(reason=move.reason, cause=move.cause)
    wanted = state.started.until if state.started is not None else None
    left = [p for p, n in state.nodes.items() if n.state not in FINAL]
    if left and wanted is None:
        msg = f"the run would end, but {', '.join(left)} did not: the plan and its state disagree"
        raise AssertionError(msg)
    return ev.RunFinished(
        status=move.status, exit_code=move.exit_code, changed=decide.changed(state)
    )


async def answer(deps: Deps, run: str, step: str, value: Json, by: str) -> None:
    """Keep a person's answer to a waiting step; resume goes on with it.

    Raises:
        BadInput: the step is not waiting. RunBusy: the run is live.
    """
    lease = await deps.store.acquire(run, deps.runner)
    try:
        journal = Journal(deps.store, lease, deps.redact_event, deps.redact_effect)
        state = await journal.load()
        node = state.nodes.get(step)
        if node is None or node.state != "waiting":
            waiting = [p for p, n in state.nodes.items() if n.state == "waiting"]
            msg = f"{step} does not wait for an answer"
            raise BadInput(
                msg, hint=f"waiting: {', '.join(waiting)}" if waiting else "nothing waits"
            )
        await journal.append(ev.PersonAnswered(step=step, value=value, by=by))
    finally:
        await deps.store.release(lease)
