"""A model reads what the page shows: each value stands in its quote, each quote on the page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from webagent.chats.scripted import ScriptedChat
from webagent.core.action import (
    Action,
    Click,
    FieldRead,
    ListRead,
    Pages,
    Read,
    ReadType,
    TableRead,
)
from webagent.core.base import Json
from webagent.core.brief import Brief
from webagent.core.chat import Reply
from webagent.core.errors import ModelError
from webagent.core.plan import PlanStep
from webagent.core.revision import Cannot
from webagent.core.target import parse_target
from webagent.extractors.by_model import ModelReading, page_words, question, wanted_of
from webagent.extractors.typed import Reading, parse

HOW = Reading(relative_to=datetime(2026, 11, 30, 12, tzinfo=UTC), base_url="http://a.test/")

# As Chromium's AI snapshot writes them.
OUTLINE = r"""- generic [active] [ref=e1]:
  - 'link "It''s: here" [ref=e2] [cursor=pointer]':
    - /url: /p/it
  - button "Say \"hi\" [1]" [ref=e3]
  - paragraph [ref=e4]: "See [2] here: \"q\" \\ back"
  - heading "[Draft] Report" [level=1] [ref=e7]
  - paragraph [ref=e8]: Total 12.50 EUR
  - paragraph [ref=e9]: Desk
  - paragraph [ref=e10]: lamp  of steel
  - paragraph [ref=e11]: "#12"
  - listitem [ref=e13]: "'single'"
  - text: Ends 30 Nov 2026
  - textbox "Name" [ref=e12]: "v: 1"
  - img "A picture" [ref=e14]
"""


def typed(text: str, type_: ReadType) -> Json:
    return parse(text, type_, HOW)


def t(raw: str) -> Any:
    return parse_target(raw)


def brief(*segment: Action, failed: int | None = None, **outputs: Any) -> Brief:
    segment = segment or (Read(outputs=outputs),)
    return Brief(
        step=PlanStep(path="s", do="read", segment=segment), drift="output_invalid",
        failed_index=failed,
    )  # fmt: skip


def reply(data: Any) -> Reply:
    return Reply(model="m", text=json.dumps(data))


def value(text: str, quote: str | None = None) -> dict[str, Any]:
    return {"found": True, "value": text, "quote": text if quote is None else quote}


ABSENT = {"found": False, "value": "", "quote": ""}


async def extracted(
    told: Any, outline: str = OUTLINE, failed: int | None = None, **outputs: Any
) -> Any:
    chat = ScriptedChat([reply(told)])
    made = brief(failed=failed, **outputs)
    answer = await ModelReading(typed).extract(made, outline, chat)
    return answer if isinstance(answer, Cannot) else answer[0]


async def one(told: Any, outline: str = OUTLINE, **spec: Any) -> Any:
    answer = await extracted({"x": told}, outline, x=FieldRead(target=t(".x"), **spec))
    return answer if isinstance(answer, Cannot) else answer["x"]


# -- quotes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [
    "Total 12.50 EUR", "12.50", "12.50 EUR", "total 12.50 eur", "Total  12.50\n EUR",
    "Desk lamp of steel", "Say \"hi\" [1]", "See [2] here", "[2]", "[Draft] Report", "Report",
    "It's: here", "/p/it", "\"q\" \\ back", "#12", "'single'", "v: 1", "A picture",
    "30 Nov 2026", "Name",
])  # fmt: skip
async def test_what_stands_on_the_page_is_read(text: str):
    assert await one(value(text)) == " ".join(text.split())


@pytest.mark.parametrize("text", [
    "13.50", "Total 12,50 EUR", "e8", "ref=e8", "[ref=e8]", "level=1", "heading", "paragraph",
    "cursor=pointer", "link", "/url", "textbox", "Total: 12.50", "Desk chair", "DeskLamp",
])  # fmt: skip
async def test_what_does_not_stand_there_is_not(text: str):
    answer = await one(value(text))
    assert isinstance(answer, Cannot)
    assert "is not on the page" in answer.reason


@pytest.mark.parametrize("told", [
    value("2.50", "Total 12.50 EUR"), value("12", "Total 12.50 EUR"), value("12.5", "12.50 EUR"),
    value("2.50"), value("2.50 EUR"), value("Total 1"), value("12.5"),
])  # fmt: skip
async def test_a_number_is_not_cut_from_another(told: Any):
    assert isinstance(await one(told, type="number"), Cannot)


@pytest.mark.parametrize("told", [
    value("99", "Total 12.50 EUR"), value("", "Total 12.50 EUR"), value(" ", "Total"),
    value("12.50", ""), value("12.50", " "), value("", ""), value("12.50 EUR", "EUR"),
])  # fmt: skip
async def test_a_value_stands_in_its_quote(told: Any):
    assert isinstance(await one(told), Cannot)


@pytest.mark.parametrize("line", [
    "# 12 more like these", "  # navigation: 40 lines left out", "# cut here: 9 more lines",
])  # fmt: skip
async def test_what_we_wrote_into_the_outline_is_not_the_pages(line: str):
    text = line.strip("# ")
    assert isinstance(await one(value(text), f"{OUTLINE}{line}"), Cannot)


@pytest.mark.parametrize("line, words", [
    ('- button "Send" [ref=e1] [cursor=pointer]', "Send"), ("- text: a: b", "a: b"),
    ("- checkbox \"On\" [checked] [ref=e3]", "On"), ("- list [ref=e1]:", ""), ("- main:", ""),
    ("- /url: http://a.test/?a=[b]", "http://a.test/?a=[b]"), ("# 3 more like these", ""),
    ('- heading "A" [level=2] [ref=e1]: B', "A B"), ("", ""), ("rubbish", "rubbish"),
])  # fmt: skip
def test_the_words_of_a_line(line: str, words: str):
    assert " ".join(page_words(line).replace('"', " ").split()).strip(": ") == words


# -- types -----------------------------------------------------------------------------------


@pytest.mark.parametrize("told, type_, read", [
    (value("12.50", "Total 12.50 EUR"), "number", 12.5),
    (value("12.50 EUR"), "money", {"amount": 12.5, "currency": "EUR"}),
    (value("30 Nov 2026"), "date", "2026-11-30"),
    (value("/p/it"), "url", "http://a.test/p/it"),
])  # fmt: skip
async def test_a_value_has_its_type(told: Any, type_: str, read: Any):
    assert await one(told, type=type_) == read


@pytest.mark.parametrize("type_", ["number", "money", "date", "boolean"])
async def test_a_value_of_another_type_is_refused(type_: str):
    answer = await one(value("Desk"), type=type_)
    assert isinstance(answer, Cannot)
    assert answer.reason.startswith("x: ")


async def test_what_may_be_absent_is_null_and_what_may_not_is_refused():
    assert await one(ABSENT, optional=True) is None
    assert await one(ABSENT) == Cannot(reason="x was not found on the page")


async def test_a_fixed_value_is_the_recipes_whatever_the_model_says():
    specs: Any = {"x": FieldRead(fixed=True, value="EUR"), "y": FieldRead(target=t(".y"))}
    made = await extracted({"x": value("Desk"), "y": value("Desk")}, **specs)
    assert made == {"x": "EUR", "y": "Desk"}


# -- lists and tables ------------------------------------------------------------------------

LIST = ListRead(each=t("li"), fields={
    "title": FieldRead(target=t("b")), "price": FieldRead(target=t(".p"), type="number"),
    "shop": FieldRead(fixed=True, value="A"), "note": FieldRead(target=t(".n"), optional=True),
})  # fmt: skip
ROWS = """- list:
  - listitem: Lamp 12.50
  - listitem: Bowl 7.00 new
"""


def row(title: str, price: str, note: Any = ABSENT) -> dict[str, Any]:
    return {"title": value(title), "price": value(price), "note": note}


async def test_a_list_is_read_row_by_row():
    told = {"rows": [row("Lamp", "12.50"), row("Bowl", "7.00", value("new"))]}
    assert await extracted({"x": told}, ROWS, x=LIST) == {"x": [
        {"title": "Lamp", "price": 12.5, "shop": "A", "note": None},
        {"title": "Bowl", "price": 7.0, "shop": "A", "note": "new"},
    ]}  # fmt: skip


async def test_one_row_that_cannot_be_shown_spoils_the_list():
    told = {"rows": [row("Lamp", "12.50"), row("Vase", "7.00")]}
    answer = await extracted({"x": told}, ROWS, x=LIST)
    assert answer == Cannot(reason="x[1].title: its quote 'Vase' is not on the page")


async def test_no_row_is_a_list_only_where_the_list_may_be_absent():
    none: Any = {"rows": []}
    answer = await extracted({"x": none}, ROWS, x=LIST)
    assert answer == Cannot(reason="no row of x was found on the page")
    optional = LIST.model_copy(update={"optional": True})
    assert await extracted({"x": none}, ROWS, x=optional) == {"x": []}


async def test_a_table_is_read_by_its_named_columns():
    spec = TableRead(table=t("table"), columns={"Item": "title"}, types={"Item": "text"})
    told = {"rows": [{"title": value("Lamp")}, {"title": value("Bowl")}]}
    assert await extracted({"x": told}, ROWS, x=spec) == {"x": [
        {"title": "Lamp"}, {"title": "Bowl"}]}  # fmt: skip
    typed_only = TableRead(table=t("table"), types={"Price": "number"})
    told = {"rows": [{"Price": value("12.50")}]}
    assert await extracted({"x": told}, ROWS, x=typed_only) == {"x": [{"Price": 12.5}]}


async def test_a_renamed_column_has_the_type_of_its_header():
    spec = TableRead(table=t("table"), columns={"Price": "cost"}, types={"Price": "number"})
    told = {"rows": [{"cost": value("7.00")}]}
    assert await extracted({"x": told}, ROWS, x=spec) == {"x": [{"cost": 7.0}]}


async def test_a_table_without_named_columns_is_not_asked_for():
    chat = ScriptedChat([])
    made = brief(x=TableRead(table=t("table")))
    assert isinstance(await ModelReading(typed).extract(made, ROWS, chat), Cannot)
    assert not chat.questions


MANY = "- list:\n" + "".join(f"  - listitem: Thing number {n} for {n}.50 EUR\n" for n in range(900))


@pytest.mark.parametrize("outline", [MANY, f"{ROWS}# cut: 90000 characters in all"])
async def test_a_list_that_is_shown_in_part_is_not_taken_for_whole(outline: str):
    chat = ScriptedChat(lambda _q: reply({"x": {"rows": []}}))
    answer = await ModelReading(typed).extract(brief(x=LIST), outline, chat)
    assert isinstance(answer, Cannot)
    assert "in part" in answer.reason
    assert not chat.questions


async def test_a_value_is_read_from_a_page_that_is_shown_in_part():
    assert await one(value("Lamp"), f"{ROWS}# cut: 90000 characters in all") == "Lamp"


async def test_a_list_over_several_pages_is_not_read_from_one():
    chat = ScriptedChat(lambda _q: reply({"x": {"rows": [row("Lamp", "12.50")]}}))
    paged = LIST.model_copy(update={"pages": Pages(next=t(".next"))})
    assert isinstance(await ModelReading(typed).extract(brief(x=paged), ROWS, chat), Cannot)
    assert not chat.questions


# -- the question and its answers ------------------------------------------------------------


def test_wanted_is_what_is_read_from_the_failing_action_on():
    a, b = (Read(outputs={n: FieldRead(target=t(".x"))}) for n in "ab")
    click = Click(target=t("#x"))
    assert list(wanted_of(brief(a, click, b))) == ["a", "b"]
    assert list(wanted_of(brief(a, click, b, failed=0))) == ["a", "b"]
    assert list(wanted_of(brief(a, click, b, failed=1))) == ["b"]
    assert list(wanted_of(brief(a, click, failed=1))) == []


async def test_where_nothing_is_to_be_read_nothing_is_asked():
    chat = ScriptedChat([])
    made = brief(Click(target=t("#x")))
    assert isinstance(await ModelReading(typed).extract(made, ROWS, chat), Cannot)


def test_the_schema_asks_for_each_value_with_its_quote_and_for_nothing_fixed():
    made = brief(x=FieldRead(target=t(".x"), type="money"), rows=LIST)
    schema: Any = question(made, wanted_of(made), ROWS).schema_
    assert schema["required"] == ["x", "rows"]
    assert schema["properties"]["x"]["required"] == ["found", "value", "quote"]
    assert schema["properties"]["x"]["description"].startswith("money; ")
    items = schema["properties"]["rows"]["properties"]["rows"]["items"]
    assert items["required"] == ["title", "price", "note"]
    assert items["additionalProperties"] is False


@pytest.mark.parametrize("told", [
    {}, {"x": None}, {"x": {"found": True}}, {"x": {**ABSENT, "more": 1}}, {"y": ABSENT},
    {"x": {"found": "yes", "value": "Desk", "quote": "Desk"}}, [], "x", {"x": value("a"), "y": 1},
    {"x": {"found": True, "value": 12.5, "quote": "12.50"}},
])  # fmt: skip
async def test_an_answer_of_another_shape_is_none(told: Any):
    answer = await extracted(told, x=FieldRead(target=t(".x")))
    assert isinstance(answer, Cannot)
    assert answer.reason.startswith("no usable answer")


async def test_a_model_that_cannot_be_asked_reads_nothing():
    chat = ScriptedChat([ModelError("away", fault="unreachable")])
    answer = await ModelReading(typed).extract(brief(x=FieldRead(target=t(".x"))), ROWS, chat)
    assert answer == Cannot(reason="no usable answer: away")


async def test_each_value_is_given_with_its_quote():
    chat = ScriptedChat([reply({"x": value("12.50", "Lamp 12.50"), "r": {"rows": [
        row("Lamp", "12.50")]}, "o": ABSENT})])  # fmt: skip
    made = brief(
        x=FieldRead(target=t(".x"), type="number"), r=LIST,
        o=FieldRead(target=t(".o"), optional=True),
    )  # fmt: skip
    answer = await ModelReading(typed).extract(made, ROWS, chat)
    assert not isinstance(answer, Cannot)
    assert answer[1] == {"x": "Lamp 12.50", "r": "1 rows", "o": ""}
