"""No secret is left in a text or an event, in whatever form it stands there; all else stays."""

from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webagent.core.action import Click
from webagent.core.base import SecretUse
from webagent.core.effect import EffectChange, EffectRow
from webagent.core.event import (
    EVENT,
    ActionDispatched,
    ActionDone,
    EffectIntended,
    ItemsExpanded,
    LimitHit,
    PlanMade,
    RunStarted,
    StepFinished,
)
from webagent.core.plan import Plan
from webagent.core.redact import MARK, Redactor, forms_of
from webagent.core.target import Target

SECRET = "s3cret/p\"ä&s<s> ~+'x"


def redactor(*values: str) -> Redactor:
    known = frozenset(values)
    return Redactor(lambda: known)


FORMS = {
    "plain": SECRET,
    "quote": quote(SECRET),
    "quote, slash too": quote(SECRET, safe=""),
    "lower hex": quote(SECRET, safe="").replace("%2F", "%2f").replace("%C3%A4", "%c3%a4").lower(),
    "plus": quote_plus(SECRET),
    "form": urlencode({"password": SECRET}).partition("=")[2],
    "component": quote(SECRET, safe="!'()*"),
    "twice": quote(quote(SECRET, safe=""), safe=""),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "basic": base64.b64encode(f"u:{SECRET}".encode()).decode(),
    "basic, longer": base64.b64encode(f"us:{SECRET}".encode()).decode(),
    "basic, longest": base64.b64encode(f"use:{SECRET}".encode()).decode(),
    "base64 in the middle": base64.b64encode(f"abc{SECRET}def".encode()).decode(),
    "urlsafe": base64.urlsafe_b64encode(f"xy{SECRET}".encode()).decode(),
    "json": json.dumps({"p": SECRET}),
    "json, unicode": json.dumps({"p": SECRET}, ensure_ascii=False),
    "json in json": json.dumps(json.dumps({"p": SECRET})),
    "html": html.escape(SECRET),
    "html, text": html.escape(SECRET, quote=False),
    "html, attribute": SECRET.replace("&", "&amp;").replace('"', "&quot;"),
    "hex": SECRET.encode().hex(),
    "hex, upper": SECRET.encode().hex().upper(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_found_in_the_form(form: str) -> None:
    if form == "lower hex":
        assert FORMS[form].islower()
    cleaned = redactor(SECRET).text(f"before {FORMS[form]} after")
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")
    assert MARK in cleaned
    core = base64.b64encode(SECRET.encode()).decode()[4:-4]
    for leak in (SECRET, "s3cret", core, SECRET.encode().hex()):
        assert leak not in cleaned


def test_nothing_is_known_and_nothing_changes() -> None:
    none = redactor()
    event = StepFinished(state="met", outputs={"a": ["x"]})
    text = "some text"
    assert none.text(text) is text
    assert none.redact_event(event) is event
    assert none.json(event.outputs) is event.outputs


def test_an_event_without_a_secret_is_the_very_same() -> None:
    event = StepFinished(step="a", state="met", outputs={"a": ["x", {"b": (1, None)}]})
    assert redactor(SECRET).redact_event(event) is event


def test_values_become_known_as_they_are_used() -> None:
    known: set[str] = set()
    growing = Redactor(lambda: frozenset(known))
    assert growing.text("hunter2") == "hunter2"
    known.add("hunter2")
    assert growing.text("hunter2") == MARK


@pytest.mark.parametrize(
    "secret, text, cleaned",
    [
        ("abc", "abc", MARK),  # too short to be looked for inside: whole strings only
        ("abc", "xabcx", "xabcx"),
        ("secret", "secret", MARK),  # part of the mark
        ("secret", "[secret]", "[secret]"),
        ("482913", "code 482913!", f"code {MARK}!"),
        ("482913", "order 74829135", "order 74829135"),
        ("1234", "PIN:1234", f"PIN:{MARK}"),
        ("   ", "a   b", "a   b"),
        ("two  words", "two words", MARK),  # as a page's text has it
        ("Hunter2x", "HUNTER2X hunter2x", f"{MARK} {MARK}"),  # as a style sheet recases it
        ("two  Words", "TWO WORDS", MARK),
        ("Kn0ws", "KN0WS kn0ws", "KN0WS kn0ws"),  # too short to be looked for in other cases
    ],
)
def test_short_and_common_values(secret: str, text: str, cleaned: str) -> None:
    assert redactor(secret).text(text) == cleaned


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert redactor("hunter", "hunter2").text("hunter2 hunter") == f"{MARK} {MARK}"


def test_json_is_cleaned_in_values_keys_and_numbers() -> None:
    value = {
        "hunter2": 1,
        "hunter2x": [482913, "hunter2", True, None, 4.5],
        "y": {"z": "a hunter2"},
    }
    assert redactor("hunter2", "482913").json(value) == {
        MARK: 1,
        f"{MARK}x": [MARK, MARK, True, None, 4.5],
        "y": {"z": f"a {MARK}"},
    }


def test_keys_that_differ_only_in_a_secret_are_all_kept() -> None:
    found = redactor("hunter2", "hunter3").json({"hunter2": 1, "hunter3": 2})
    assert found == {MARK: 1, f"{MARK} 2": 2}


def test_the_structure_of_an_event_is_not_a_secret() -> None:
    words = redactor("click", "StepFinished", "step", "1234", "input", "order")
    event = ActionDispatched(
        step="order", index=1234, action=Click(target=Target(css="input", source="input"))
    )
    cleaned = words.redact_event(event)
    assert isinstance(cleaned, ActionDispatched)
    assert (cleaned.type, cleaned.index, cleaned.segment) == ("ActionDispatched", 1234, "step")
    assert cleaned.action == Click(target=Target(css=MARK, source=MARK))
    assert EVENT.validate_json(cleaned.model_dump_json()) == cleaned


def test_every_text_of_an_event_is_cleaned() -> None:
    cleaned = redactor("hunter2").redact_event(
        ItemsExpanded(step="each", items=(("hunter2", {"a": "hunter2"}), ("b", 1)))
    )
    assert cleaned == ItemsExpanded(step="each", items=(("hunter2", {"a": MARK}), ("b", 1)))
    started = RunStarted(
        run="r", recipe_id="c", date="d", inputs={"hunter2": "hunter2"}, again=("hunter2",)
    )
    assert redactor("hunter2").redact_event(started) == started.model_copy(
        update={"inputs": {"hunter2": MARK}}  # the names are the author's
    )


def test_names_stay_since_the_journal_is_read_back_by_them() -> None:
    words = redactor("order")
    event = EffectIntended(step="order_a", key="cable/order [x]", attempt=1, payload="an order")
    assert words.redact_event(event) == event.model_copy(update={"payload": f"an {MARK}"})
    items = ItemsExpanded(step="order", items=(("order 1", {"n": 1}),))
    assert words.redact_event(items) is items


def test_an_effects_row_is_cleaned_too() -> None:
    change = EffectChange(
        expect=(None,), row=EffectRow(key="k", state="intended", payload={"password": "hunter2"})
    )
    assert redactor("hunter2").model(change).row.payload == {"password": MARK}


def test_a_plan_and_a_secrets_name_stay() -> None:
    plan = PlanMade(plan=Plan(recipe_id="hunter2", steps=()))
    words = redactor("hunter2")
    assert words.redact_event(plan) is plan
    use = SecretUse(secret="hunter2")
    assert words.model(use) is use


def test_an_endless_limit_stays_one() -> None:
    event = LimitHit(limit="pages", allowed=float("inf"), used=1)
    assert redactor("hunter2").redact_event(event) is event


def test_a_big_page_takes_milliseconds_and_a_small_event_microseconds() -> None:
    many = redactor(*(f"{SECRET}{n}" for n in range(5)))
    big = "<p class='x'>lorem ipsum dolor sit amet</p>" * 25_000
    event = ActionDone(index=1, verb="click", ms=1.0)
    many.text("")
    begun = time.perf_counter()
    many.text(big)
    middle = time.perf_counter()
    for _ in range(100):
        many.redact_event(event)
    assert middle - begun < 1.0  # measured 0.05 s; the bar leaves room for a busy machine
    assert (time.perf_counter() - middle) / 100 < 0.1


VALUES = st.text(st.characters(codec="utf-8", exclude_characters=MARK + "[]"), min_size=4).filter(
    lambda value: value.strip() and not value.isdecimal() and len(" ".join(value.split())) >= 4
)
NOISE = st.text(st.characters(codec="utf-8"), max_size=30)


@given(VALUES, NOISE, NOISE, st.sampled_from([str, quote, quote_plus, html.escape]))
def test_no_secret_stays_in_any_text(value: str, before: str, after: str, how: object) -> None:
    assert callable(how)
    shown = how(value)
    assume(len(shown) >= 4)
    cleaned = redactor(value).text(before + shown + after)
    assert value not in cleaned
    assert shown not in cleaned


@given(VALUES, st.binary(max_size=7), st.binary(max_size=7))
def test_no_secret_stays_in_base64(value: str, before: bytes, after: bytes) -> None:
    text = base64.b64encode(before + value.encode() + after).decode()
    assert MARK in redactor(value).text(text)


@given(VALUES, NOISE, NOISE)
def test_cleaning_twice_is_cleaning_once(value: str, before: str, after: str) -> None:
    words = redactor(value)
    once = words.text(before + value + after)
    assert words.text(once) == once


@given(VALUES, NOISE)
def test_a_text_without_the_secret_stays(value: str, text: str) -> None:
    assume(text != value and not any(form in text for form in forms_of(value)))
    assert redactor(value).text(text) is text
