"""Progress from a recorded journal: the tree, the lines, and what odd text does to them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from tests.unit.runtime.conftest import order_stage
from webagent.cli.evidence import event_text
from webagent.cli.progress import SYMBOLS, Lines, LiveTree, Silent, progress_for, tree
from webagent.core.event import Entry
from webagent.core.page import Failure
from webagent.engine.state import TRANSITIONS, RunState, advance, fold
from webagent.executors.scripted import Fault


async def recorded(folder: Path) -> tuple[Entry, ...]:
    """The journal of an errand with branches, items, a session, a retry and one order."""
    stage = order_stage(folder)
    slow = Failure(kind="timeout", message="it [bold]did not[/bold] \x1b[31mcome")
    stage.site.faults["search_b"] = [Fault(at=3, failure=slow)]
    await stage.run()
    return await stage.entries()


def console(*, terminal: bool = False, encoding: str = "utf-8") -> tuple[Console, io.StringIO]:
    class Out(io.StringIO):
        @property
        def encoding(self) -> str:  # type: ignore[override]  # what the terminal can show
            return encoding

    out = Out()
    made = Console(
        file=out, width=100, force_terminal=terminal, color_system=None, markup=False,
        highlight=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    return made, out


def watched(entries: tuple[Entry, ...], watch: Silent) -> RunState:
    state = RunState()
    for entry in entries:
        state = advance(state, entry)
        watch(state, entry)
    return state


async def test_lines_tell_each_transition_once(tmp_path: Path, snapshot: SnapshotAssertion):
    entries = await recorded(tmp_path)
    made, out = console()
    watched(entries, Lines(made))
    told = out.getvalue()
    assert told == snapshot
    assert told.count("order: met") == 1


async def test_the_tree_hangs_each_step_below_its_last_need(
    tmp_path: Path, snapshot: SnapshotAssertion
):
    entries = await recorded(tmp_path)
    made, out = console()
    made.print(tree(fold(entries), {}, made))
    assert out.getvalue() == snapshot


async def test_every_prefix_of_a_journal_can_be_drawn(tmp_path: Path):
    entries = await recorded(tmp_path)
    made, _ = console(terminal=True)
    live = LiveTree(made)
    state = RunState()
    made.print(tree(state, {}, made, moving=True))
    for entry in entries:
        state = advance(state, entry)
        live(state, entry)
        made.print(tree(state, live.acting, made, moving=True))


async def test_where_only_ascii_can_be_shown_only_ascii_is(tmp_path: Path):
    entries = await recorded(tmp_path)
    made, out = console(encoding="ascii")
    made.print(tree(fold(entries), {}, made))
    assert "order" in out.getvalue()
    assert out.getvalue().isascii()


async def test_text_of_a_page_is_neither_markup_nor_control(tmp_path: Path):
    entries = await recorded(tmp_path)
    made, out = console()
    watched(entries, Lines(made))
    made.print(tree(fold(entries[:-12]), {}, made))
    assert "\x1b" not in out.getvalue()
    assert "[bold]did not[/bold]" in " ".join(event_text(entry.event) for entry in entries)


async def test_a_live_tree_begins_and_ends(tmp_path: Path):
    entries = await recorded(tmp_path)
    made, out = console(terminal=True)
    live = LiveTree(made)
    with live:
        watched(entries, live)
        with live.paused():
            made.print("a question")
    assert "a question" in out.getvalue()


async def test_an_event_of_each_kind_is_told_in_a_line(tmp_path: Path):
    for entry in await recorded(tmp_path):
        assert event_text(entry.event).startswith(entry.event.type)
        assert "\n" not in event_text(entry.event)


def test_every_state_has_its_sign():
    assert set(SYMBOLS) == set(TRANSITIONS)
    assert all(plain.isascii() for _, plain, _ in SYMBOLS.values())


@pytest.mark.parametrize(
    "terminal, as_json, kind",
    [(True, False, LiveTree), (False, False, Lines), (True, True, Silent), (False, True, Silent)],
)
def test_the_way_of_showing_fits(terminal: bool, as_json: bool, kind: type[Silent]):
    made, _ = console(terminal=terminal)
    assert type(progress_for(made, as_json=as_json)) is kind
