"""RESTART and SUFFIX: agents that plan once, work step by step, and plan again when a step fails.

RESTART begins the whole errand again, with a new plan; SUFFIX plans what is left and goes on from
there. A step is worked by the executor role, which sees the plan, what earlier steps gave, the
moves in this step and the newest page. Moves that worked are kept with their step, so that the same
plan can be carried out again without a model; a new plan has none yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.bench.errands import planning
from tests.bench.errands.agents import MOVES_A_STEP, SYSTEM, TOOLS, Ended, with_alert
from tests.bench.errands.hands import Hands
from tests.bench.errands.look import newest_page
from tests.bench.errands.task import HEAD, Errand, Task, request
from webagent.core.action import Action, Entry, Fill, Goto
from webagent.core.chat import Question, Text, ToolCall, Turn
from webagent.core.errors import ModelError
from webagent.ports import Chat

# How often an agent begins again (or plans again) before it gives up.
MOST_PLANS = 3
REPLAY_SECONDS = 2.0
Scripts = dict[int, list[Action]]
# What a step gives: a code, a receipt or a price.
_CODE = re.compile(r"[A-Z]-\d+|[\d.]+")


@dataclass(slots=True)
class Planned:
    """An agent with a plan. ``scripts``: the moves of each step from a run before, if any."""

    errand: Errand
    hands: Hands
    chat: Chat
    way: Literal["restart", "suffix"]
    scripts: Scripts = field(default_factory=dict)
    kept: Scripts = field(default_factory=dict)
    known: dict[int, str] = field(default_factory=dict)
    plan: list[str] = field(default_factory=list)
    _ended: Ended = field(default_factory=lambda: Ended(done=False))

    async def run(self) -> Ended:
        """Work the plan; plan again at a fault, as its way is."""
        ended = self._ended
        if not self.scripts:
            await self._make_plan("")
        else:
            self.plan = [line for line in request(self.errand).splitlines() if _number(line)]
        for _ in range(MOST_PLANS):
            failed = await self._work()
            if failed is None:
                ended.done = True
                return ended
            number, ended.reason = failed
            validated = len(self.known)
            if self.way == "restart":
                ended.redone += validated
                self.known.clear()
            await self._make_plan(f"Step {number} failed: {ended.reason}")
            planned = [_number(line) for line in self.plan]
            if self.way == "suffix":
                ended.redone += sum(n in self.known for n in planned)
                for n in planned:
                    self.known.pop(n, None)
            ended.lost += sum(n in planned and n != number for n in self.scripts)
            self.scripts = {n: s for n, s in self.scripts.items() if n not in planned}
            ended.replanned += len(planned)
            await self.hands.begin_anew()
        return ended

    async def _make_plan(self, failed: str) -> None:
        read = "\n".join(f'step_{n}.code = "{v}"' for n, v in self.known.items())
        said = [request(self.errand), *(["Done so far:\n" + read] if read else []), failed]
        question = Question(
            role="planner",
            system=(Text(text=planning.LIST_PROMPT, cached=True),),
            turns=(Turn(role="user", texts=tuple(Text(text=t) for t in said if t)),),
            schema_=planning.LIST_SCHEMA,
        )
        reply = await self.chat.ask(question)
        assert isinstance(reply.data, dict)
        self.plan = [str(line) for line in reply.data["steps"]]

    async def _work(self) -> tuple[int, str] | None:
        """The steps of the plan, one after the other; the one that failed, and why."""
        for line in self.plan:
            number = _number(line)
            task = self.errand.task(number)
            if task.kind == "choose" or number in self.known:
                continue
            if number in self.scripts:
                why = await self._replayed(task)
            else:
                why = await self._improvised(task)
            if why is not None:
                return number, why
            self.known[number] = self.hands.read.get(f"step_{number}.code", "done")
        return None

    async def _replayed(self, task: Task) -> str | None:
        """The moves of a run before with today's codes; why they do not do, if they do not."""
        self.hands.read.pop(f"{task.name}.code", None)
        for action in self.scripts[task.number]:
            now = _with_codes(action, self.known)
            if not await self.hands.finds(now, REPLAY_SECONDS):
                return f"{action.verb} did not work"
        page = newest_page(await self.hands.page())
        code = self.hands.read.get(f"{task.name}.code", "")
        if page.alert:
            return page.alert
        if task.item and (task.item not in page.heading or not _CODE.fullmatch(code)):
            return f"the page does not show what {task.item} gives"
        self.kept[task.number] = self.scripts[task.number]
        return None

    async def _improvised(self, task: Task) -> str | None:
        """A step worked move by move; why it cannot be done, if it cannot."""
        moves: list[str] = []
        made: list[Action] = []
        name = f"step_{task.number}.code"
        page = await self.hands.page()
        for _ in range(2 * MOVES_A_STEP):
            try:
                reply = await self.chat.ask(self._question(task.number, moves, page))
            except ModelError as error:
                return error.message
            call = reply.calls[0] if reply.calls else ToolCall(id="", name="cannot")
            if call.name == "done" and task.kind == "sign_in":
                self.kept[task.number] = _from_goto(made)
                return None
            if call.name in ("done", "cannot"):
                return str(call.input.get("reason", "")) or "it says that it is done"
            note = await self.hands.move(call)
            self._ended.moves += 1
            if self.hands.last is not None:
                made.append(_referring(self.hands.last, self.known))
            if name in self.hands.read and call.name == "read":
                self.kept[task.number] = _from_goto(made)
                return None
            page = await self.hands.page()
            moves.append(f"{len(moves) + 1}. {with_alert(note, page)[:400]}")
        return "too many moves"

    def _question(self, number: int, moves: list[str], page: str) -> Question:
        read = [Text(text=f'step_{n}.code = "{v}"') for n, v in self.known.items()]
        if read:
            read[-1] = read[-1].model_copy(update={"cached": True})
        now = "\n".join([f"Now: step {number}", "Moves so far:", *moves])
        plan = f"{HEAD}\n\nThe plan:\n" + "\n".join(self.lines)
        texts = (Text(text=plan, cached=True), *read, Text(text=now), Text(text=page))
        return Question(
            role="executor", system=(Text(text=SYSTEM, cached=True),),
            turns=(Turn(role="user", texts=texts),), tools=TOOLS, must_use=True,
        )  # fmt: skip

    @property
    def lines(self) -> list[str]:
        """The plan as the executor sees it: with what was planned before, where that is done."""
        numbers = {_number(line) for line in self.plan}
        before = [line for line in request(self.errand).splitlines() if _number(line)]
        return sorted(
            [line for line in before if _number(line) not in numbers] + self.plan, key=_number
        )


def _from_goto(made: list[Action]) -> list[Action]:
    """What led to the end: from the last address that was opened."""
    return made[max((i for i, a in enumerate(made) if isinstance(a, Goto)), default=0) :]


def _number(line: str) -> int:
    number, dot, _ = line.partition(". ")
    return int(number) if dot and number.isdecimal() else 0


def _referring(action: Action, known: Mapping[int, str]) -> Action:
    """An action whose typed codes are the steps that they came from."""
    names = {value: f"step_{number}" for number, value in known.items()}
    return _entered(action, lambda value: names.get(value, value))


def _with_codes(action: Action, known: Mapping[int, str]) -> Action:
    values = {f"step_{number}": value for number, value in known.items()}
    return _entered(action, lambda value: values.get(value, value))


def _entered(action: Action, change: Any) -> Action:
    if not isinstance(action, Fill):
        return action
    entries = tuple(Entry(target=e.target, value=change(e.value)) for e in action.entries)
    return action.model_copy(update={"entries": entries})
