"""Moves become the segment that leads where they led: no dead ends, no values of the day."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, quote_plus, unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webagent.core.action import (
    Action,
    Back,
    Check,
    Click,
    Commit,
    Entry,
    FieldRead,
    Fill,
    Goto,
    Press,
    Read,
    Scroll,
    Select,
    Wait,
)
from webagent.core.condense import Move, condensed
from webagent.core.expect import TextShown
from webagent.core.expr import render
from webagent.core.target import parse_target
from webagent.core.telling import nested


def t(raw: object) -> Any:
    return parse_target(raw)


def goto(name: str) -> Move:
    return Move(action=Goto(url=f"http://a.test/{name}"), documents=1)


def click(name: str, *, wrote: bool = False, documents: int = 0) -> Move:
    action = Click(target=t({"role": "button", "name": name}))
    return Move(action=action, wrote=wrote, documents=documents)


def link(name: str) -> Move:
    return click(name, documents=1)


def fill(field: str, value: Any, **more: Any) -> Move:
    return Move(action=Fill(entries=(Entry(target=t(f"#{field}"), value=value),)), **more)


def select(field: str, value: Any) -> Move:
    return Move(action=Select(entries=(Entry(target=t(f"#{field}"), value=value),)))


def read(*names: str, css: str = ".x") -> Move:
    return Move(action=Read(outputs={name: FieldRead(target=t(css)) for name in names}))


BACK = Move(action=Back(), documents=1)
SCROLL = Move(action=Scroll())
ENTER = Move(action=Press(key="Enter"))


def short(action: Action) -> str:
    match action:
        case Goto():
            return f"goto {urlsplit(action.url).path[1:]}"
        case Click():
            return f"click {action.target.name}"
        case Fill() | Select():
            return f"{action.verb} {action.entries[0].target.css}={action.entries[0].value}"
        case Read():
            return f"read {' '.join(action.outputs)}"
        case _:
            return action.verb


def told(*moves: Move, **values: Any) -> list[str]:
    return [short(action) for action in condensed(moves, values)]


# -- dead ends -------------------------------------------------------------------------------


@pytest.mark.parametrize("moves, left", [
    ((), []),
    ((goto("a"), link("Shop")), ["goto a", "click Shop"]),
    ((goto("a"), goto("b")), ["goto b"]),
    ((goto("a"), link("Shop"), click("More"), goto("b"), click("Go")), ["goto b", "click Go"]),
    ((goto("a"), SCROLL, click("Go"), SCROLL), ["goto a", "click Go"]),
    ((goto("a"), link("Wrong"), BACK, link("Right")), ["goto a", "click Right"]),
    ((goto("a"), link("Wrong"), SCROLL, BACK, click("Go")), ["goto a", "click Go"]),
    ((goto("a"), link("W"), link("V"), BACK, BACK, click("Go")), ["goto a", "click Go"]),
])  # fmt: skip
def test_what_led_nowhere_goes(moves: tuple[Move, ...], left: list[str]):
    assert told(*moves) == left


@pytest.mark.parametrize("moves", [
    (goto("a"), click("Add", wrote=True), goto("b")),
    (goto("a"), read("x"), goto("b"), read("y")),
    (goto("a"), fill("q", "1"), click("Add", wrote=True), goto("b")),
    (goto("a"), link("Added"), read("x"), BACK, click("Go")),
    (goto("a"), click("Add", wrote=True, documents=1), BACK, click("Go")),
    (goto("a"), fill("q", "x"), Move(action=Press(key="Enter"), documents=1), BACK, click("Go")),
    (goto("a"), Move(action=Check(target=t("#c"))), click("Go")),
])  # fmt: skip
def test_what_wrote_or_read_stays_with_what_led_to_it(moves: tuple[Move, ...]):
    assert told(*moves) == [short(m.action) for m in moves]


def test_a_back_that_undid_a_goto_leaves_the_page_before():
    assert told(goto("a"), goto("b"), BACK, click("Go")) == ["goto a", "click Go"]
    moves = (goto("a"), link("Shop"), goto("b"), BACK, click("Go"))
    assert told(*moves) == ["goto a", "click Shop", "click Go"]


def test_a_back_does_not_undo_a_click_that_stayed_in_its_page():
    moves = (goto("a"), link("Shop"), click("Unfold"), BACK, click("Go"))
    assert told(*moves)[-3:] == ["click Unfold", "back", "click Go"]


# -- entries and reads -----------------------------------------------------------------------


def test_of_several_entries_into_one_field_the_last_holds():
    assert told(goto("a"), fill("q", "x"), fill("n", 1), fill("q", "y")) == [
        "goto a", "fill #n=1", "fill #q=y",
    ]  # fmt: skip
    assert told(select("s", "a"), select("s", "b")) == ["select #s=b"]


@pytest.mark.parametrize("between", [
    Move(action=Click(target=t("#add")), wrote=True), Move(action=Click(target=t("#add"))), ENTER,
    goto("b"), read("x"), Move(action=Wait(until=TextShown(text="x"))),
])  # fmt: skip
def test_an_entry_that_was_used_before_the_next_one_stays(between: Move):
    """Filled, sent and filled anew: the first entry is what was sent."""
    last = click("Add", wrote=True)
    left = told(goto("a"), fill("q", "1", wrote=isinstance(between.action, Goto)), between,
                fill("q", "2"), last)  # fmt: skip
    assert left[1] == "fill #q=1"
    assert left[3:] == ["fill #q=2", "click Add"]


def test_an_entry_that_wrote_stays():
    assert told(fill("q", "1", wrote=True), fill("q", "2")) == ["fill #q=1", "fill #q=2"]


@pytest.mark.parametrize("moves, left", [
    ((read("a"), read("a")), ["read a"]),
    ((read("a"), read("b")), ["read a", "read b"]),
    ((read("a"), read("a", "b")), ["read a b"]),
    ((read("a", "b"), read("a")), ["read a b", "read a"]),
    ((read("a"), click("More"), read("a")), ["click More", "read a"]),
])  # fmt: skip
def test_of_several_reads_of_one_output_the_last_holds(
    moves: tuple[Move, ...], left: list[str]
):  # fmt: skip
    assert told(*moves) == left


# -- values become references ----------------------------------------------------------------


def entered(value: Any, **values: Any) -> Any:
    (action,) = condensed([fill("q", value)], values)
    assert isinstance(action, Fill)
    return action.entries[0].value


def address(url: str, **values: Any) -> str:
    (action,) = condensed([Move(action=Goto(url=url))], values)
    assert isinstance(action, Goto)
    return action.url


def named(name: str, values: dict[str, Any], **more: Any) -> str:
    target = t({"role": "link", "name": name, **more})
    (action,) = condensed([Move(action=Click(target=target))], values)
    assert isinstance(action, Click)
    assert action.target.name is not None
    return action.target.name


@pytest.mark.parametrize("value, reference", [
    ("lamp", "{{ query }}"), ("the lamp here", "the {{ query }} here"), ("other", "other"),
    ("lampshade", "lampshade"), ("clamp", "clamp"), ("lamp's", "{{ query }}'s"), ("", ""),
    ("{{ query }}", "{{ query }}"), ("a {{ query }} lamp", "a {{ query }} lamp"), (12, 12),
    (None, None), (True, True), ("{{ secrets.pin }}", "{{ secrets.pin }}"),
])  # fmt: skip
def test_what_was_entered_refers_to_todays_value(value: Any, reference: Any):
    assert entered(value, query="lamp") == reference


def test_values_of_any_depth_are_found_by_their_path():
    values = {"look.number": "A-4711", "item": {"title": "Desk lamp", "price": {"amount": 12.5}}}
    assert entered("A-4711", **values) == "{{ look.number }}"
    assert entered("Desk lamp", **values) == "{{ item.title }}"
    assert entered("12.5", **values) == "{{ item.price.amount }}"


def test_a_value_whose_name_cannot_be_written_stays_as_it_is():
    """Rows of a table are named by their headers, whatever these are."""
    for name in ("Order no.", "a-b", "1st", "x}}y", "class name", ""):
        assert entered("A-4711", item={name: "A-4711"}) == "A-4711"


def test_the_longest_value_goes_first_and_equal_values_are_told_as_one():
    assert entered("desk lamp", query="lamp", title="desk lamp") == "{{ title }}"
    assert entered("a desk lamp", query="lamp", title="desk lamp") == "a {{ title }}"
    assert entered("lamp", one="lamp", two="lamp") == "{{ one }}"


def test_a_short_value_stands_in_too_much_by_chance():
    assert entered("2 of 20", count=2) == "2 of 20"
    assert named("Page 2", {"count": "2"}) == "Page 2"
    assert address("http://a.test/2", count="2") == "http://a.test/2"


@pytest.mark.parametrize("name, reference", [
    ("Lamp", "{{ query }}"), ("Buy lamp now", "Buy {{ query }} now"), ("Lampshades", "Lampshades"),
    ("Install", "Install"),
])  # fmt: skip
def test_a_targets_name_refers_to_todays_value(name: str, reference: str):
    assert named(name, {"query": "lamp", "which": "all"}) == reference


def test_a_name_that_is_looked_for_letter_by_letter_keeps_its_case():
    assert named("Lamp", {"query": "lamp"}, exact=True) == "Lamp"
    assert named("lamp", {"query": "lamp"}, exact=True) == "{{ query }}"


def test_selectors_keep_their_letters():
    move = Move(action=Click(target=t("#lamp .lamp")))
    assert condensed([move], {"query": "lamp"})[0] == move.action


@pytest.mark.parametrize("url, reference", [
    ("http://a.test/?q=lamp", "http://a.test/?q={{ query | urlencode }}"),
    ("http://a.test/lamp/x", "http://a.test/{{ query | urlencode }}/x"),
    ("http://a.test/lampshade", "http://a.test/lampshade"),
    ("http://lamp.test/", "http://lamp.test/"),
    ("http://lamp.test/lamp", "http://lamp.test/{{ query | urlencode }}"),
    ("http://a.test/{{ query }}", "http://a.test/{{ query }}"),
])  # fmt: skip
def test_an_address_refers_to_todays_value_behind_its_host(url: str, reference: str):
    assert address(url, query="lamp") == reference


def test_an_address_that_is_a_value_is_that_value():
    assert address("http://a.test/p/1", item={"link": "http://a.test/p/1"}) == "{{ item.link }}"


@given(
    st.text("abzäé /&=+?%#:.-'\"", min_size=3, max_size=12).filter(lambda v: v.strip() == v),
    st.sampled_from(["http://a.test/find?q={}&x=1", "http://a.test/p/{}/more", "http://a.test/{}"]),
    st.booleans(),
)
def test_an_address_with_references_leads_where_it_led(value: str, form: str, plus: bool):
    plus = plus and "?" in form
    url = form.format(quote_plus(value) if plus else quote(value, safe=""))
    again = str(render(address(url, query=value), {"query": value}))
    was, now = urlsplit(url), urlsplit(again)
    assert (was.netloc, unquote(was.path)) == (now.netloc, unquote(now.path))
    assert was.path.count("/") == now.path.count("/")
    assert parse_qs(was.query, keep_blank_values=True) == parse_qs(
        now.query, keep_blank_values=True
    )


def test_a_commit_refers_too():
    commit = Commit(action=Click(target=t({"role": "button", "name": "Order lamp"})))
    (action,) = condensed([Move(action=commit)], {"query": "lamp"})
    assert isinstance(action, Commit)
    assert isinstance(action.action, Click)
    assert action.action.target.name == "Order {{ query }}"


TEXTS = st.sampled_from(["lamp", "Lamp", "desk lamp", "lampshade", "A-4711", "x", "", "12.5"])
VALUES = {"query": "lamp", "look.number": "A-4711", "item": {"price": 12.5, "Order no.": "desk"}}


@given(TEXTS, TEXTS)
def test_with_todays_values_in_place_it_says_what_was_done(one: str, two: str):
    text = f"{one} {two}".strip()
    made = render(entered(text, **VALUES), nested(VALUES))
    assert str(made).casefold() == text.casefold()


# -- whatever the moves ----------------------------------------------------------------------

SITE = {"a": ("b", "c"), "b": ("a", "d"), "c": ("d",), "d": ()}
STEPS = st.lists(
    st.one_of(
        st.sampled_from([f"goto {name}" for name in SITE]),
        st.sampled_from(["back", "scroll", "stay", "write", "fill", "read"]),
        st.sampled_from([f"link {name}" for name in SITE]),
    ),
    max_size=14,
)


def walked(steps: list[str]) -> tuple[list[Move], list[str]]:
    """The moves that were possible, and the history they made (the newest page last)."""
    history: list[str] = []
    moves: list[Move] = []
    for step in steps:
        verb, _, name = step.partition(" ")
        if verb == "goto":
            moves.append(goto(name))
            history.append(name)
        elif not history:
            continue
        elif verb == "link" and name in SITE[history[-1]]:
            moves.append(link(f"to {name}"))
            history.append(name)
        elif verb == "back" and len(history) > 1:
            moves.append(BACK)
            history.pop()
        elif verb in ("scroll", "stay", "write", "fill", "read"):
            made = {
                "scroll": SCROLL, "stay": click("stay"), "write": click("w", wrote=True),
                "fill": fill("q", len(moves)), "read": read("x"),
            }  # fmt: skip
            moves.append(made[verb])
    return moves, history


def replayed(actions: tuple[Action, ...]) -> list[str]:
    history: list[str] = []
    for action in actions:
        match action:
            case Goto():
                history.append(urlsplit(action.url).path[1:])
            case Back():
                history.pop()
            case Click() if (action.target.name or "").startswith("to "):
                name = (action.target.name or "")[3:]
                assert name in SITE[history[-1]], "a link of another page"
                history.append(name)
            case _:
                assert history, "there is no page yet"
    return history


@given(STEPS)
def test_the_segment_ends_on_the_page_where_the_moves_ended(steps: list[str]):
    moves, history = walked(steps)
    again = replayed(condensed(moves, {}))
    assert again[-1:] == history[-1:]


@given(STEPS)
def test_no_write_is_dropped_and_the_last_goto_is_reached(steps: list[str]):
    moves, _ = walked(steps)
    left = condensed(moves, {})
    wrote = [m.action for m in moves if m.wrote]
    assert [a for a in left if isinstance(a, Click) and a.target.name == "w"] == wrote
    assert len(left) <= len(moves)
    gotos = [i for i, m in enumerate(moves) if isinstance(m.action, Goto)]
    if gotos and not any(isinstance(m.action, Back) for m in moves[gotos[-1] :]):
        assert moves[gotos[-1]].action in left


@given(STEPS)
@example(["goto a", "goto a", "write", "back", "goto a"])
def test_condensing_twice_changes_nothing_more(steps: list[str]):
    moves, _ = walked(steps)
    once = condensed(moves, {})
    by_action = {m.action.model_dump_json(): m for m in moves}
    again = condensed([by_action[a.model_dump_json()] for a in once], {})
    assert again == once
