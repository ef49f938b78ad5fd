"""One tab, as the runtime sees it: the port `Tab`.

Called by the runner's segments. Turns what Playwright raises into failures as values, keeps every
wait inside its deadline, and tells for each action what took place besides. What the verbs do is in
`perform`; what a tab holds is in `stage`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from playwright.async_api import Error, Page

from webagent.core.action import Action, Check, Fill
from webagent.core.base import Json
from webagent.core.expect import Bounds, Expectation, Finding, ValueIs, judge
from webagent.core.page import Failure, Observation, Outcome, Pointed, PointedRow
from webagent.core.request_rules import GuardPolicy
from webagent.core.sighting import Survey
from webagent.executors.browser.examine import examine
from webagent.executors.browser.faults import MoveFailedError, failure_of
from webagent.executors.browser.locate import Wish, find
from webagent.executors.browser.lost_input import told
from webagent.executors.browser.move import Move
from webagent.executors.browser.observe import observe, read_form
from webagent.executors.browser.perform import perform, put_back
from webagent.executors.browser.pointing import outline, point, point_row
from webagent.executors.browser.settle import settle
from webagent.executors.browser.stage import Stage
from webagent.executors.browser.survey import survey
from webagent.ports import Artifacts, MaySend

GRACE_SECONDS = 1.5
OPTIONAL_SECONDS = 1.0
CLOSE_SECONDS = 3.0
POPUP_SECONDS = 2.0
# What may open a tab: told with the action that did it, as is the refusal of its first request.
OPENERS = frozenset({"click", "double_click", "press", "check", "uncheck", "select", "drag"})


class BrowserTab:
    """A page on which one step works; see the promises of `ports.Tab`."""

    def __init__(
        self,
        stage: Stage,
        *,
        step: str,
        run: str,
        artifacts: Artifacts,
        alive: Callable[[], bool],
        effective: Callable[[GuardPolicy], GuardPolicy],
        on_close: Callable[[BrowserTab], Awaitable[None]],
    ) -> None:
        self._stage = stage
        self._step = step
        self._run = run
        self._artifacts = artifacts
        self._alive = alive
        self._effective = effective
        self._on_close = on_close
        self._closed = False

    @property
    def pages(self) -> list[Page]:
        """Every page of this tab that is still there."""
        return [page for page in self._stage.happenings.pages if not page.is_closed()]

    async def perform(
        self,
        action: Action,
        *,
        deadline: float,
        dispatched: Callable[[], Awaitable[None]],
        may_send: MaySend | None = None,
    ) -> Outcome:
        """Carry out one bound action within ``deadline`` seconds (the action's own may be less)."""
        began = time.monotonic()
        seconds = deadline if action.timeout is None else min(deadline, action.timeout)
        loop = asyncio.get_running_loop()
        stage = self._stage
        stage.guard.begin()
        stage.guard.may_send = may_send
        failure: Failure | None = None
        values: dict[str, Json] = {}
        move: Move | None = None
        limit = asyncio.timeout(seconds + GRACE_SECONDS)
        try:
            async with limit:
                if self._lost():
                    raise _lost("no")
                move = Move(stage, action, loop.time() + seconds, dispatched, limit)
                if action.optional and not await self._is_there(move, action):
                    move.note = "optional: not there"
                else:
                    values = await perform(move, action)
                await self._settled(move)
        except MoveFailedError as error:
            failure = error.failure
            if failure.dispatched == "no" and move is not None and move.state != "no":
                failure = failure.model_copy(update={"dispatched": move.state})
        except Error as error:
            failure = failure_of(error, move.state if move else "no", stage.redact)
        except TimeoutError:
            if not limit.expired():
                raise  # not ours: the caller's own word ran out of time
            failure = Failure(
                kind="timeout",
                message="the page did not answer in time",
                dispatched=move.state if move else "no",
            )
        finally:
            stage.end_acting()
        failure = self._explained(failure, move)
        sighted = move.sighted if move and failure is None else {}
        stage.sighted.update(sighted)
        return Outcome(
            failure=failure,
            values={name: value for name, value in values.items() if failure is None},
            sighted=tuple((text, element, url) for text, (element, url) in sighted.items()),
            happened=stage.happenings.drain(),
            ms=(time.monotonic() - began) * 1000,
            note=stage.redact(move.note) if move else "",
        )

    async def _is_there(self, move: Move, action: Action) -> bool:
        """Whether the target of an optional action comes within a second."""
        target = getattr(getattr(action, "action", action), "target", None)
        if target is None and (entries := getattr(action, "entries", ())):
            target = entries[0].target
        if target is None:
            return True
        until = min(move.until, asyncio.get_running_loop().time() + OPTIONAL_SECONDS)
        try:
            await find(self._stage.page, move.aim(target), Wish(need="present"), until)
        except MoveFailedError as error:
            if error.failure.kind == "target_missing":
                return False
            raise
        return True

    async def _settled(self, move: Move) -> None:
        """Wait out the navigation that the action began."""
        if move.state == "no":
            return
        stage = self._stage
        done = await settle(
            stage.page,
            stage.happenings,
            move.until,
            flushed=move.flushed,
            refused=stage.guard.refused,
        )
        if move.action.verb in OPENERS and not stage.guard.fatal:
            await self._popups_told(move.until)
        if not done and not stage.guard.fatal:
            raise MoveFailedError(
                Failure(
                    kind="timeout",
                    message="the page that the action led to did not load in time",
                    dispatched="yes",
                )
            )

    async def _popups_told(self, until: float) -> None:
        """Wait until a tab that the action opened is there: it is told with its own action."""
        stage = self._stage
        await stage.look_for_popups()
        loop = asyncio.get_running_loop()
        until = min(until, loop.time() + POPUP_SECONDS)
        while stage.happenings.popups < len(stage.guard.popups) and not self._lost():
            left = until - loop.time()
            if left <= 0:
                break
            stage.happenings.stirred.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await stage.happenings.stirred.wait()

    def _explained(self, failure: Failure | None, move: Move | None) -> Failure | None:
        """The failure that tells most: a lost page or a refused request explains the others."""
        state = move.state if move else "no"
        if self._lost():
            return _lost("unknown" if state != "no" else "no").failure
        if self._stage.guard.fatal and (failure is None or failure.kind != "secret_refused"):
            self._stage.happenings.gave_up()
            refusal = self._stage.guard.fatal[0]
            text = f"{refusal.method} {refusal.url} was refused: {refusal.rule}"
            return Failure(
                kind="refused",
                message=self._stage.redact(text),
                dispatched="no" if state == "no" else "yes",
            )
        return failure

    def _lost(self) -> bool:
        page = self._stage.page
        return (
            self._closed
            or not self._alive()
            or page.is_closed()
            or page in self._stage.happenings.crashed
        )

    async def examine(self, expectations: Sequence[Expectation]) -> tuple[Finding, ...]:
        """What is seen for each expectation right now."""
        if self._lost():
            return tuple(Finding(error="the page is lost") for _ in expectations)
        return await examine(self._stage, expectations)

    async def stirred(self, seconds: float) -> None:
        """Return when the page may have changed, at most after ``seconds``."""
        if not self._lost():
            await self._stage.stirred(seconds)

    async def observe(self, *, evidence: str | None = None) -> Observation:
        """The facts of the page; with ``evidence`` an outline and a screenshot are kept."""
        seen = await observe(
            self._stage,
            alive=not self._lost(),
            evidence=evidence,
            artifacts=self._artifacts,
            run=self._run,
        )
        if evidence is not None and seen.alive and await self._remade():
            seen = seen.model_copy(update={"remade": True})
        return seen

    async def survey(self) -> Survey:
        """What the page shows, to find things again on it; empty when the page is lost."""
        return Survey(url="") if self._lost() else await survey(self._stage)

    async def outline(self) -> str:
        """What a model reads of the page: roles, names and refs; "" when the page is lost."""
        return "" if self._lost() else await outline(self._stage)

    async def point(self, ref: str, text: str = "") -> Pointed | None:
        """The element of a ref of the newest outline, with a target that lasts."""
        return None if self._lost() else await point(self._stage, ref, text)

    async def point_row(
        self, ref: str, parts: Sequence[str], texts: Sequence[str] = ()
    ) -> PointedRow | None:
        """How the list of a row's ref is read, with the refs of parts of that row."""
        return None if self._lost() else await point_row(self._stage, ref, parts, texts)

    async def _remade(self) -> bool:
        """Whether fields that were filled before the last input are there again, and empty."""
        wanted: list[ValueIs] = []
        for again in await self._stage.entries.left_with_the_last_input():
            match again:
                case Fill(entries=entries):
                    blank = Bounds(equals="")
                    wanted += [ValueIs(target=entry.target, bounds=blank) for entry in entries]
                case Check(target=target):
                    wanted.append(ValueIs(target=target, bounds=Bounds(equals="false")))
                case _:
                    pass
        findings = await examine(self._stage, wanted) if wanted else ()
        pairs = zip(wanted, findings, strict=True)
        return any(judge(want, finding, {}).judgement == "met" for want, finding in pairs)

    async def happened(self) -> Outcome:
        """What took place since the last outcome."""
        lost = _lost("no").failure if self._lost() else None
        return Outcome(failure=lost, happened=self._stage.happenings.drain())

    async def read_form(self) -> dict[str, Json]:
        """The fields of the forms on the page, secrets masked."""
        return {} if self._lost() else await read_form(self._stage)

    async def put_back(self) -> str:
        """Enter again what the page lost when it made its fields anew; a note of what that was."""
        if self._lost():
            return ""
        again = await put_back(self._stage)
        self._stage.end_acting()
        return self._stage.redact(told(again)) if again else ""

    async def set_policy(self, policy: GuardPolicy, step: str = "") -> None:
        """Replace what this tab may send, in force when this returns.

        Another ``step`` goes on in this page: what it must see come (a download, a dialog) counts
        from now on.
        """
        if step and step != self._step:
            self._step = step
            self._stage.new_step()
        self._stage.guard.policy = self._effective(policy)
        if not self._lost():
            with suppress(Error):  # the browser died meanwhile: nothing is sent any more
                await self._stage.begin_policy()

    async def close(self) -> None:
        """Close the tab and what it opened."""
        if self._closed:
            return
        await self._on_close(self)
        self._closed = True
        for page in self.pages:
            # It may close by itself at this moment, or spin: the browser's end takes it along.
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await page.close(run_before_unload=False)


def _lost(state: str) -> MoveFailedError:
    return MoveFailedError(
        Failure(
            kind="page_lost",
            message="the page is lost: tab or browser is gone",
            dispatched="unknown" if state == "unknown" else "no",
        )
    )
