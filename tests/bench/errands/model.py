"""The simulated model: it answers from the prompt that it was sent, and from nothing else.

It speaks with four kinds of agents, told apart by their system text: one that improvises a step
from a brief (the project's), one whose talk grows, one that is shown a log and the newest page, one
that works a step of a plan. For all of them the next move is decided by the same function of goal,
page and moves. It keeps nothing between two requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fixtures.messages import Blocks, text, tool_use
from tests.bench.errands import goals, planning
from tests.bench.errands.goals import Goal
from tests.bench.errands.look import Look, newest_page
from tests.bench.errands.moves import Block, Moment, cannot, chance, next_move

_NOW = re.compile(r"^Now: step (\d+)$", re.MULTILINE)
_GOAL = re.compile(r"^Goal: (.+)$", re.MULTILINE)
_OUTPUTS = re.compile(r"^Outputs: (\w+)", re.MULTILINE)
_MOVE = re.compile(r"^\d+\. ((?:goto|click|fill|select|read|commit|done|back)\b.*)$", re.MULTILINE)
_LISTED = re.compile(r"listed at (\S+)")
_STALE = re.compile(r"no longer valid: open ticket (\S+) again")


@dataclass(frozen=True, slots=True)
class Told:
    """A prompt taken apart: what was said around the pages, the notes of moves, the page."""

    system: str
    said: str
    notes: tuple[str, ...]
    page: Look

    @staticmethod
    def of(request: Mapping[str, Any]) -> Told:
        """The parts of a request's JSON."""
        system = "\n".join(_texts(request.get("system") or []))
        said: list[str] = []
        notes: list[str] = []
        last = ""
        for message in request["messages"]:
            if message["role"] != "user":
                continue
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            last = "\n".join(_texts(blocks))
            said += [text for text in _texts(blocks) if not text.startswith("<page ")]
            for block in blocks:
                if block["type"] == "tool_result":
                    notes += _texts(block.get("content") or [])
        whole = "\n".join(said)
        notes += _MOVE.findall(whole) if not notes else []
        return Told(system, whole, tuple(notes), newest_page(last))


def _texts(blocks: Any) -> Iterator[str]:
    if isinstance(blocks, str):
        yield blocks
        return
    for block in blocks:
        if block["type"] == "text":
            yield block["text"]


class SimulatedModel:
    """`fixtures.messages.Model`. ``seed``: which way its errors and its doubts fall."""

    def __init__(self, seed: int = 4) -> None:
        self.seed = seed

    def answer(self, request: Mapping[str, Any]) -> Blocks:
        """One tool call, or a plan."""
        told = Told.of(request)
        if (plan := planning.answer(told.system, told.said, told.page)) is not None:
            return plan
        if wanted := request.get("output_config", {}).get("format"):
            return [text(json.dumps(_nothing_found(wanted["schema"])))]
        move = self._move(told)
        offered = {tool["name"] for tool in request.get("tools") or []}
        if move["name"] not in offered:
            return [cannot(f"there is no tool to {move['name']} with")]
        schema = next(t["input_schema"] for t in request["tools"] if t["name"] == move["name"])
        taken = {k: v for k, v in move["input"].items() if k in schema.get("properties", {})}
        return [tool_use(move["name"], taken)]

    def _move(self, told: Told) -> Block:
        if "You carry out one step of an errand" in told.system:
            return self._improvised(told)
        known = goals.values_read("\n".join([told.said, *told.notes]))
        steps = goals.steps_of(told.said)
        now = _NOW.findall(told.said)
        number = int(now[-1]) if now else _current(steps, known, told.notes)
        if number == 0:
            return tool_use("done", {})
        if now and number == 1 and _signed_in(told.notes):
            return tool_use("done", {})
        if now and f"step_{number}.code" in "\n".join(told.notes):
            return tool_use("done", {})
        goal = goals.parse(steps.get(number, ""))
        if goal is None:
            return cannot("I do not know what to do next")
        if goal.kind == "booking" and goal.url.endswith("/ID"):
            goal = goals.chosen_booking(goal, steps, known)
            if goal is None:
                return cannot("I do not know any price")
        goal = goals.with_facts(goal, known)
        signs = goals.parse(steps.get(1, ""))
        if signs is not None:
            goal = replace(goal, user=signs.user, password=signs.password)
        goal = replace(goal, output=f"step_{number}.code")
        return self._decided(goal, told, commits=False)

    def _improvised(self, told: Told) -> Block:
        words = _GOAL.findall(told.said)
        goal = goals.parse(words[-1]) if words else None
        if goal is None:
            return cannot("I do not know what this step is for")
        outputs = _OUTPUTS.findall(told.said)
        goal = goals.by_reference(goal, goals.values_listed(told.said))
        if "{{ secrets.password }}" in told.said:
            goal = replace(goal, password="{{ secrets.password }}")
        goal = replace(goal, output=outputs[-1] if outputs else "")
        if any(f"; {goal.output} = " in note for note in told.notes):
            return tool_use("done", {})
        return self._decided(goal, told, commits=True)

    def _decided(self, goal: Goal, told: Told, *, commits: bool) -> Block:
        # Whether it looks first or tries again is a habit that falls by the seed; where to look
        # has to stand in the prompt.
        looks, listed = chance(self.seed, f"looks {goal.item}"), _LISTED.findall(told.said)
        now = Moment(
            goal, told.page, told.notes, commits,
            looks_at=listed[-1].rstrip(",") if listed and looks else "",
            errs=chance(self.seed, f"errs {goal.item}"),
        )  # fmt: skip
        return next_move(now)


def _nothing_found(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of somebody who is asked to read what the selectors miss, and sees it not."""
    nothing = {"found": False, "value": "", "quote": ""}
    return {
        name: nothing if "found" in inner.get("properties", {}) else {"rows": []}
        for name, inner in schema["properties"].items()
    }


def _current(steps: Mapping[int, str], known: Mapping[int, str], notes: tuple[str, ...]) -> int:
    """The first step whose code was not read; an earlier one whose code is no longer valid; 0."""
    for index in reversed(range(len(notes))):
        for item in _STALE.findall(notes[index])[-1:]:
            number = next((n for n, words in steps.items() if f"ticket {item} " in words), 0)
            if number and number not in goals.values_read("\n".join(notes[index + 1 :])):
                return number
            return _first_open(steps, known, notes)
    return _first_open(steps, known, notes)


def _first_open(steps: Mapping[int, str], known: Mapping[int, str], notes: tuple[str, ...]) -> int:
    return next((n for n in sorted(steps) if n not in known and _is_open(steps[n], notes)), 0)


def _is_open(words: str, notes: tuple[str, ...]) -> bool:
    """Whether a step that gives no code is still to be done."""
    if words.startswith("Choose"):
        return False
    return not (words.startswith("Sign in") and _signed_in(notes))


def _signed_in(notes: tuple[str, ...]) -> bool:
    return any(note.startswith('click button "Sign in": done') for note in notes)
