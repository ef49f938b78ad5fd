"""How long an action is waited for: less on a page that is an error page already."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.unit.runtime.stage import Stage, stage
from webagent.core.action import Action
from webagent.core.page import Happened, Outcome, Response
from webagent.core.request_rules import GuardPolicy
from webagent.executors.scripted import ScriptedExecutor, ScriptedTab
from webagent.ports import Dispatched, MaySend
from webagent.runtime.segment import ERROR_PAGE_ACTION_SECONDS

READING = """
webagent: 1
id: reading
steps:
  read:
    do: read
    segment:
      - goto: http://a.test/
      - read: {quick: .a}
        timeout: 7
      - read: {usual: .b}
    expect: [output: usual]
"""


@dataclass
class Watched:
    """An executor that answers each goto with a status and notes every deadline."""

    status: int
    deadlines: list[tuple[str, float]] = field(default_factory=list)

    def executor(self, ours: Stage) -> ScriptedExecutor:
        watched = self

        class Tab(ScriptedTab):
            async def perform(
                self,
                action: Action,
                *,
                deadline: float,
                dispatched: Dispatched,
                may_send: MaySend | None = None,
            ) -> Outcome:
                watched.deadlines.append((action.verb, deadline))
                outcome = await super().perform(
                    action, deadline=deadline, dispatched=dispatched, may_send=may_send
                )
                if action.verb != "goto":
                    return outcome
                answer = Response(
                    method="GET", url=action.url, status=watched.status, document=True
                )
                return outcome.model_copy(update={"happened": Happened(responses=(answer,))})

        class Executor(ScriptedExecutor):
            async def open_tab(self, step: str, policy: GuardPolicy) -> ScriptedTab:
                self.enter(step)
                return Tab(self, step, policy)

        return Executor(ours.site)


@pytest.mark.parametrize(
    "status,seconds",
    [(200, 10.0), (422, ERROR_PAGE_ACTION_SECONDS), (503, ERROR_PAGE_ACTION_SECONDS)],
)
async def test_what_is_not_on_an_error_page_is_not_waited_for_as_long(
    tmp_path: Path, status: int, seconds: float
) -> None:
    ours = stage(READING, tmp_path)
    watched = Watched(status)
    ours.executor = lambda _run: watched.executor(ours)  # type: ignore[method-assign]  # this stage watches deadlines
    await ours.run()
    assert watched.deadlines == [("goto", 10.0), ("read", 7.0), ("read", seconds)]
