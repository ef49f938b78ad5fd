"""A run while it goes on: a tree on a terminal, a line per transition elsewhere.

Both are watchers of the journal: they are called with the folded state and one entry, never ask
anything of a run, and never raise for odd text. What they show was redacted before it was an event.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from webagent.cli.actions import action_text
from webagent.cli.showing import one_line, short_outputs
from webagent.core import event as ev
from webagent.core.event import Entry
from webagent.core.plan import Plan, PlanStep
from webagent.engine.state import Node, NodeState, RunState

# state: symbol, symbol where only ASCII can be shown, style
SYMBOLS: dict[NodeState, tuple[str, str, str]] = {
    "pending": ("·", ".", "dim"),
    "ready": ("○", "o", "dim"),
    "running": ("▶", ">", "cyan"),
    "revising": ("↻", "~", "yellow"),
    "waiting": ("?", "?", "yellow"),
    "met": ("✔", "+", "green"),
    "unmet": ("✘", "x", "red"),
    "blocked": ("⊘", "#", "magenta"),
    "skipped": ("–", "-", "dim"),  # noqa: RUF001 - a dash is what it looks like
    "unknown": ("!", "!", "red"),
}
STATUS_STYLES = {"met": "green", "failed": "red", "unknown": "red", "limit": "yellow",
                 "waiting": "yellow", "parked": "yellow", "running": "cyan",
                 "interrupted": "yellow"}  # fmt: skip
FRAMES_PER_SECOND = 8


class Progress(AbstractContextManager["Progress"], Protocol):
    """Shows a run from entering to leaving it as a context."""

    def __call__(self, state: RunState, entry: Entry) -> None:
        """One more entry was kept."""


class Silent:
    """Shows nothing: standard output belongs to a program."""

    def __call__(self, state: RunState, entry: Entry) -> None:
        """Nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Nothing."""


class Lines(Silent):
    """A line for each transition of a step: for logs, pipes and screen readers."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._seen: dict[str, NodeState] = {}

    def __call__(self, state: RunState, entry: Entry) -> None:
        """Print what the entry changed."""
        if isinstance(entry.event, ev.RunStarted):
            self._print(f"run {entry.event.run} of {entry.event.recipe_id} begins")
        if isinstance(entry.event, ev.RunResumed):
            self._seen = {path: node.state for path, node in state.nodes.items()}
            done = sum(node.state == "met" for node in state.nodes.values())
            run = state.started.run if state.started is not None else ""
            self._print(f"run {run} goes on; {done} of {len(state.nodes)} steps are met already")
        if isinstance(entry.event, ev.RungTaken):
            self._print(f"{entry.event.step}: {rung_text(entry.event)}")
        if isinstance(entry.event, ev.PlanRevised):
            self._print(f"{entry.event.step}: {revision_text(entry.event)}")
        for path, node in state.nodes.items():
            if self._seen.get(path, "pending") != node.state:
                self._seen[path] = node.state
                if node.state not in ("pending", "ready"):
                    detail = detail_text(node)
                    self._print(f"{path}: {node.state}" + (f" ({detail})" if detail else ""))

    def _print(self, line: str) -> None:
        self._console.print(Text(one_line(line, 400)), soft_wrap=True)


class LiveTree(Silent):
    """The plan as a tree that changes in place while the run goes on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._state = RunState()
        self.acting: dict[str, str] = {}
        self._live: Live | None = None

    def __call__(self, state: RunState, entry: Entry) -> None:
        """Keep the state; the display's own clock draws it."""
        self._state = state
        match entry.event:
            case ev.ActionDispatched(step=step, action=action):
                self.acting[step] = action_text(action)
            case ev.RungTaken(step=step):
                self.acting[step] = rung_text(entry.event)
            case ev.PlanRevised(step=step):
                self.acting[step] = revision_text(entry.event)
            case ev.StepStarted(step=step) | ev.StepFinished(step=step):
                self.acting.pop(step, None)
            case _:
                pass

    def __enter__(self) -> Self:
        self._live = Live(
            console=self._console,
            get_renderable=lambda: tree(self._state, self.acting, self._console, moving=True),
            refresh_per_second=FRAMES_PER_SECOND,
            transient=True,  # what stays is the summary's tree
        )
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._live is not None:
            self._live.stop()
            self._live = None

    def paused(self) -> AbstractContextManager[None]:
        """A context in which the terminal is free, to ask a person."""
        return _Paused(self)


class _Paused(AbstractContextManager[None]):
    def __init__(self, shown: LiveTree) -> None:
        self._shown = shown

    def __enter__(self) -> None:
        self._shown.__exit__(None, None, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._shown.__enter__()


def progress_for(console: Console, *, as_json: bool) -> Silent | Lines | LiveTree:
    """The way of showing that fits: nothing, lines, or a tree that moves."""
    if as_json:
        return Silent()
    return LiveTree(console) if console.is_terminal else Lines(console)


def tree(
    state: RunState, acting: Mapping[str, str], console: Console, *, moving: bool = False
) -> Tree:
    """The plan as a tree: each step below the last of the steps that it needs."""
    ascii_only = console.options.ascii_only
    top = Tree(_head(state), guide_style="dim")
    if state.plan is None:
        return top
    branches: dict[str, Tree] = {"": top}
    above = {step.path: _parent(state.plan, step) for step in state.plan.steps}
    for step in state.plan.steps:
        node = state.nodes[step.path]
        line = _line(node, step, above[step.path], acting.get(step.path, ""), ascii_only, moving)
        branches[step.path] = branches[above[step.path]].add(line)
        children = state.items.get(step.path, ())
        for child in _worth_showing(state, children):
            item = state.nodes[child]
            label = _line(item, None, step.path, acting.get(child, ""), ascii_only, moving)
            branches[step.path].add(label)
    return top


ITEMS_SHOWN = 12


def _worth_showing(state: RunState, items: tuple[str, ...]) -> tuple[str, ...]:
    """All items when they are few; else those that are not simply met or waiting their turn."""
    if len(items) <= ITEMS_SHOWN:
        return items
    odd = [path for path in items if state.nodes[path].state not in ("met", "ready", "pending")]
    return tuple(odd[:ITEMS_SHOWN])


def _parent(plan: Plan, step: PlanStep) -> str:
    """The need that stands last in the plan; "" for a step without any."""
    order = {other.path: index for index, other in enumerate(plan.steps)}
    needs = [*step.needs, *step.needs_any]
    return max(needs, key=order.__getitem__, default="")


def _head(state: RunState) -> Text:
    started = state.started
    text = Text()
    if started is None:
        return text.append("preparing", style="dim")
    text.append(one_line(started.errand or started.recipe_id, 60), style="bold")
    text.append(f"  run {started.run}", style="dim")
    if started.rehearse:
        text.append("  rehearsal", style="yellow")
    if state.active_seconds:
        text.append(f"  {state.active_seconds:.1f} s", style="dim")
    return text


def _line(
    node: Node, step: PlanStep | None, above: str, acting: str, ascii_only: bool, moving: bool
) -> Table:
    symbol, plain_symbol, style = SYMBOLS[node.state]
    row = Table.grid(padding=(0, 1))
    mark: Text | Spinner = Text(plain_symbol if ascii_only else symbol, style=style)
    if moving and node.state == "running":
        mark = Spinner("line" if ascii_only else "dots", style=style)
    name = node.path if step is not None else node.path[len(above) :]
    words = Text(one_line(name, 40), style="bold" if node.state == "running" else "")
    if step is not None and (others := [n for n in step.needs if n != above]):
        words.append(f" {'<' if ascii_only else '←'} {one_line(', '.join(others), 40)}", "dim")
    under_way = node.state in ("running", "revising")
    detail = acting if under_way and acting else detail_text(node)
    words.append(f"  {detail}" if detail else "", style if under_way else "dim")
    row.add_row(mark, words)
    return row


def detail_text(node: Node) -> str:
    """Why a node stands as it does, or what came of it, in one line."""
    match node.state:
        case "met":
            parts = [
                "already done" if node.already else "",
                short_outputs(dict(node.outputs)),
                f"after {', '.join(node.rungs)}" if node.rungs else "",
            ]
            return one_line(", ".join(part for part in parts if part), 100)
        case "unmet" | "unknown" | "revising":
            reason = one_line(node.reason, 160)
            return f"{node.drift}: {reason}" if node.drift else reason
        case "blocked" | "skipped":
            return one_line(node.reason, 100)
        case "waiting":
            return one_line(node.question.text, 160) if node.question is not None else ""
        case "pending" | "ready" | "running":
            return ""


def revision_text(event: ev.PlanRevised) -> str:
    """That a segment was made anew, by whom and why."""
    revision = event.revision
    told = f": {revision.reason}" if revision.reason else ""
    return one_line(f"segment made anew by {revision.author}{told}", 160)


def rung_text(event: ev.RungTaken) -> str:
    """A rung of the ladder in words."""
    wait = f" {event.seconds:g} s" if event.seconds else ""
    return f"{event.drift}: {event.rung}{wait}" + (f" ({event.nth})" if event.nth > 1 else "")
