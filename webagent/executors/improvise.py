"""Working a step that nobody has written a segment for: a model says each next move.

Each call is told the brief, the newest outline and the moves made in this step; nothing of an
earlier outline and nothing of another step goes along, so the prompt stays as long as the step is
wide, however long the errand. What worked is condensed into a segment (`core.condense`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webagent.core.action import (
    Action,
    Back,
    Check,
    Click,
    Commit,
    DownloadBy,
    Entry,
    FieldRead,
    Fill,
    Goto,
    ListRead,
    Press,
    Read,
    Scroll,
    Select,
    TableRead,
    Uncheck,
    Wait,
)
from webagent.core.base import Json
from webagent.core.brief import Brief
from webagent.core.chat import Question, Text, Tool, ToolCall, Turn
from webagent.core.condense import Move, condensed
from webagent.core.errors import ModelError
from webagent.core.expect import TextShown
from webagent.core.page import Observation, Outcome
from webagent.core.revision import Cannot
from webagent.core.target import Target
from webagent.core.telling import moves_text, outputs_wanted, page_text, step_text, value_text
from webagent.ports import Chat, Hands

# A step that takes more moves than this is several steps.
MOST_MOVES = 40
# Moves in a row that brought nothing (refused, failed, or made before on the same page).
MOST_IDLE = 5
MOST_BAD_ANSWERS = 2
# Moves that are told in full; of older ones the count.
TOLD_MOVES = 30
_TYPES = ["text", "number", "money", "date", "url", "boolean"]


def prompt() -> str:
    """What an improvising model is told first, the same for every step."""
    return Path(__file__).with_name("prompts").joinpath("improvise.md").read_text("utf-8")


# What a tool call may leave out.
_OPTIONAL = frozenset({"text_only"})


def _tool(tool: str, about: str, **inputs: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": inputs,
        "required": [name for name in inputs if name not in _OPTIONAL],
        "additionalProperties": False,
    }
    return Tool(name=tool, about=about, schema_=schema)


_TEXT = {"type": "string"}
_REF = {"type": "string", "description": "a ref of the newest outline, such as e12"}
_PART = {
    "type": "string",
    "description": "where the element holds more than the value: the value's text, to the letter",
}
_TYPE = {"type": "string", "enum": _TYPES}
_READS = (
    _tool(
        "read",
        "Read one output from an element.",
        name=_TEXT,
        ref=_REF,
        type=_TYPE,
        text_only=_PART,
    ),
    _tool(
        "read_list",
        "Read a list output: point at one whole row (card, item, line) and, inside that row, at the"
        " element of each field. attr is empty for the text, or an attribute such as href.",
        name=_TEXT,
        row_ref=_REF,
        fields={
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": _TEXT,
                    "ref": _REF,
                    "type": _TYPE,
                    "attr": _TEXT,
                    "text_only": _PART,
                },
                "required": ["name", "ref", "type", "attr"],
                "additionalProperties": False,
            },
        },
    ),
    _tool("read_table", "Read a table output, a row for each of its rows.", name=_TEXT, ref=_REF),
)
_ENDS = (
    _tool("done", "All that must hold holds, and every output was read."),
    _tool("cannot", "The page cannot get this step to its goal.", reason=_TEXT),
)
_MOVES = (
    _tool("goto", "Open an address that the step may go to.", url=_TEXT),
    _tool("click", "Click an element.", ref=_REF),
    _tool("fill", "Put a value into a field.", ref=_REF, value=_TEXT),
    _tool("select", "Choose an option by its label.", ref=_REF, option=_TEXT),
    _tool("check", "Tick a checkbox or choose a radio button.", ref=_REF),
    _tool("uncheck", "Untick a checkbox.", ref=_REF),
    _tool("press", "Press a key where the focus is, such as Enter.", key=_TEXT),
    _tool(
        "download", "Click what gives a file, and keep the file as an output.", name=_TEXT, ref=_REF
    ),
    _tool("back", "Go one page back."),
    _tool("scroll", "Scroll down, where a page loads more."),
    _tool("wait", "Wait until a text is shown.", text=_TEXT),
)
_COMMIT = _tool("commit", "The deciding click: it causes the step's one effect.", ref=_REF)
_VERB_OF = {"read_list": "read", "read_table": "read"}


def tools_of(brief: Brief, *, reading: bool = False) -> tuple[Tool, ...]:
    """The tools cut to a step: its scope's verbs, a commit only where there is an effect."""
    allowed = brief.step.scope.tools
    tools: tuple[Tool, ...] = _READS if reading else (*_MOVES, *_READS)
    if allowed is not None:
        tools = tuple(t for t in tools if _VERB_OF.get(t.name, t.name) in allowed)
    commits = allowed is None or {"commit", "click"} <= set(allowed)
    if brief.step.effect == "once" and commits and not reading:
        tools = (*tools, _COMMIT)
    return (*tools, *_ENDS)


class _Refused(Exception):
    """A move that cannot be made as it was asked for; the message is told to the model."""


class ModelImproviser:
    """`ports.Improviser` by whatever chat it is given."""

    async def compose(self, brief: Brief, hands: Hands, chat: Chat) -> tuple[Action, ...] | Cannot:
        """The condensed segment of a step that was worked move by move."""
        work = _Work(brief, hands, chat, tools_of(brief))
        ending = await work.run()
        if isinstance(ending, Cannot):
            return ending
        segment = condensed(work.made, brief.values)
        return segment or Cannot(reason="it was done without a single move")

    async def read_after(self, brief: Brief, hands: Hands, chat: Chat) -> tuple[Action, ...]:
        """Reads behind the commit; none when nothing is wanted or nothing is found."""
        allowed = brief.step.scope.tools
        if not outputs_wanted(brief.step) or (allowed is not None and "read" not in allowed):
            return ()
        work = _Work(brief, hands, chat, tools_of(brief, reading=True))
        await work.run()
        return condensed(work.made, brief.values)


class _Work:
    """The moves of one step: what was made, what is told of it."""

    def __init__(self, brief: Brief, hands: Hands, chat: Chat, tools: tuple[Tool, ...]) -> None:
        self.brief = brief
        self.hands = hands
        self.chat = chat
        self.tools = tools
        self.made: list[Move] = []
        self.told: list[str] = []
        self._idle = 0
        self._seen: set[tuple[str, str]] = set()

    async def run(self) -> Cannot | None:
        """Move until it is done (None) or cannot be."""
        bad = 0
        for _ in range(MOST_MOVES):
            page = await self.hands.see()
            unmet = await self._unmet()
            try:
                reply = await self.chat.ask(self.question(page, unmet))
            except ModelError as error:
                bad += 1
                if error.fault not in ("malformed", "truncated") or bad > MOST_BAD_ANSWERS:
                    return Cannot(reason=f"no usable answer: {error.message}")
                self.told.append("(an answer that was no tool call of this step)")
                continue
            call = reply.calls[0] if reply.calls else ToolCall(id="", name="")
            match call.name:
                case "cannot":
                    return Cannot(reason=str(call.input.get("reason", ""))[:500] or "it cannot")
                case "done":
                    unmet = await self._unmet()
                    if not unmet:
                        return None
                    self._note(f"done: not yet: {'; '.join(unmet)}", idle=True)
                case "commit":
                    try:
                        await self._commit(call)
                    except _Refused as refused:
                        self._note(f"commit: {refused}", idle=True)
                    else:
                        return None
                case _:
                    await self._move(call, page)
                    # The last read leaves nothing to ask for: a call for the word "done" is saved.
                    if call.name.startswith("read") and not self._idle and not await self._unmet():
                        return None
            if self._idle >= MOST_IDLE:
                return Cannot(reason=f"{self._idle} moves in a row brought nothing")
        return Cannot(reason=f"it was not done after {MOST_MOVES} moves")

    async def _unmet(self) -> tuple[str, ...]:
        """What does not hold yet; of a step with a commit also that."""
        commit = ("the step's one effect: call commit",) if _COMMIT in self.tools else ()
        return (*await self.hands.unmet(), *commit)

    def question(self, page: Observation, unmet: tuple[str, ...]) -> Question:
        """What the model is asked for one move: what stays the same first."""
        told = self.told[-TOLD_MOVES:]
        if len(self.told) > TOLD_MOVES:
            told = [f"({len(self.told) - TOLD_MOVES} earlier moves)", *told]
        missing = "\n".join(f"- {one}" for one in unmet) or "- nothing: call done"
        texts = (
            Text(text=step_text(self.brief), cached=True),
            Text(text=f"{moves_text(told)}\nNot there yet:\n{missing}"),
            Text(text=page_text(page.url, page.title, page.outline)),
        )
        return Question(
            role="executor",
            system=(Text(text=prompt(), cached=True),),
            turns=(Turn(role="user", texts=texts),),
            tools=self.tools,
            must_use=True,
        )

    def _note(self, line: str, *, idle: bool) -> None:
        self.told.append(" ".join(line.split())[:400])
        self._idle = self._idle + 1 if idle else 0

    async def _move(self, call: ToolCall, page: Observation) -> None:
        asked = f"{call.name} {value_text(call.input)}"
        try:
            action, about = await self._action(call)
        except _Refused as refused:
            self._note(f"{asked}: {refused}", idle=True)
            return
        outcome = await self.hands.move(action)
        again = (page.url, asked) in self._seen
        self._seen.add((page.url, asked))
        if outcome.failure is not None:
            self._note(f"{about}: did not work: {outcome.failure.message}", idle=True)
            return
        self.made.append(_made(action, outcome))
        read = "".join(f"; {n} = {value_text(v)[:300]}" for n, v in outcome.values.items())
        self._note(f"{about}: done{read}", idle=again and not outcome.happened.documents)

    async def _commit(self, call: ToolCall) -> None:
        target, _ = await self._pointed(call.input.get("ref"))
        self.made.append(Move(action=Commit(action=Click(target=target))))

    async def _pointed(self, ref: Json, text: Json = "") -> tuple[Target, str]:
        found = await self.hands.point(str(ref), str(text))
        if found is None:
            part = f" with the text {str(text)[:80]!r}" if text else ""
            msg = f"there is no element {ref}{part} on the page, or nothing names it alone"
            raise _Refused(msg)
        return found.target, str(found.target)

    async def _action(self, call: ToolCall) -> tuple[Action, str]:
        """The action of a tool call, and how it is told."""
        given: Mapping[str, Json] = call.input
        match call.name:
            case "goto":
                return Goto(url=str(given["url"])), f"goto {given['url']}"
            case "back":
                return Back(), "back"
            case "scroll":
                return Scroll(), "scroll"
            case "press":
                return Press(key=str(given["key"])), f"press {given['key']}"
            case "wait":
                text = str(given["text"])
                return Wait(until=TextShown(text=text), timeout=8.0), f"wait for {text!r}"
            case "read_list":
                return await self._read_list(given)
            case _:
                pass
        target, told = await self._pointed(given.get("ref"), given.get("text_only", ""))
        match call.name:
            case "click":
                return Click(target=target), f"click {told}"
            case "check":
                return Check(target=target), f"check {told}"
            case "uncheck":
                return Uncheck(target=target), f"uncheck {told}"
            case "fill":
                entry = Entry(target=target, value=given["value"])
                return Fill(entries=(entry,)), f"fill {told} with {given['value']}"
            case "select":
                entry = Entry(target=target, value=given["option"])
                return Select(entries=(entry,)), f"select {given['option']} in {told}"
            case "read":
                self._wanted(given["name"])
                spec = FieldRead(target=target, type=given["type"])
                return Read(outputs={str(given["name"]): spec}), f"read {given['name']} from {told}"
            case "download":
                self._wanted(given["name"])
                name = str(given["name"])
                return DownloadBy(target=target, name=name), f"download {name} by {told}"
            case "read_table":
                self._wanted(given["name"])
                table = TableRead(table=target)
                return Read(outputs={str(given["name"]): table}), f"read {given['name']} of {told}"
            case _:
                msg = "there is no such tool"
                raise _Refused(msg)

    async def _read_list(self, given: Mapping[str, Json]) -> tuple[Action, str]:
        name, fields = str(given["name"]), list(given["fields"])
        self._wanted(name)
        row = await self.hands.point_row(
            str(given["row_ref"]), [str(f["ref"]) for f in fields],
            [str(f.get("text_only", "")) for f in fields],
        )  # fmt: skip
        if row is None or not fields:
            msg = "these refs are not one row and parts of it"
            raise _Refused(msg)
        specs = {
            str(field["name"]): FieldRead(
                target=target, type=field["type"], attr=field["attr"] or None
            )
            for field, target in zip(fields, row.parts, strict=True)
        }
        read = ListRead(each=row.each, fields=specs)
        return Read(outputs={name: read}), f"read list {name} ({row.count} rows)"

    def _wanted(self, name: Json) -> None:
        wanted = outputs_wanted(self.brief.step)
        if name not in wanted:
            told = ", ".join(wanted) or "none"
            msg = f"{name} is no output of this step (outputs: {told})"
            raise _Refused(msg)


def _made(action: Action, outcome: Outcome) -> Move:
    wrote = any(r.method not in ("GET", "HEAD") for r in outcome.happened.responses)
    return Move(
        action=action,
        wrote=wrote or bool(outcome.happened.writes),
        documents=outcome.happened.documents,
    )
