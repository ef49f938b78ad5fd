"""Facts about segments that the judge and the effects protocol stand on."""

from __future__ import annotations

from typing import Any

import pytest

from webagent.core.action import (
    VERBS,
    Action,
    Back,
    Click,
    Commit,
    Dialog,
    DownloadBy,
    FieldRead,
    Goto,
    Read,
    Reload,
    Scroll,
    Tab,
    Wait,
    commit_index,
    first_acting,
    outputs_of,
)
from webagent.core.expect import TextShown
from webagent.core.target import parse_target
from webagent.formats.segment_grammar import ACTIONS, COMMITTING

X = parse_target(".x")
PASSIVE: tuple[Any, ...] = (
    Goto(url="https://a.example/"), Back(), Reload(), Wait(until=TextShown(text="x")),
    Scroll(edge="top"), Read(outputs={"x": FieldRead(target=X)}), Tab(to="new"),
    Dialog(answer="accept"),
)  # fmt: skip


def test_looking_does_not_act() -> None:
    assert first_acting(PASSIVE) is None


@pytest.mark.parametrize("acting", [Click(target=X), Commit(action=Click(target=X))])
def test_the_first_that_acts_is_found(acting: Action) -> None:
    assert first_acting((*PASSIVE, acting, Click(target=X))) == len(PASSIVE)


def test_the_commit_is_found() -> None:
    assert commit_index((*PASSIVE, Commit(action=Click(target=X)))) == len(PASSIVE)
    assert commit_index(PASSIVE) is None


def test_outputs_come_from_reads_and_downloads() -> None:
    made = outputs_of((Read(outputs={"x": FieldRead(target=X)}), DownloadBy(target=X, name="file")))
    assert made == {"x": FieldRead(target=X), "file": None}


def test_the_grammar_knows_every_verb() -> None:
    assert set(ACTIONS) == set(VERBS)
    assert set(COMMITTING) < set(VERBS)
