"""What the stand-in drafts from words runs on the fixture sites as it is, without an edit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from fixtures.messages import KEY, Function, MessagesServer, text
from tests.journeys.journey import RECIPES, Journey
from tests.journeys.test_cli import ended
from tests.journeys.test_models import Seen, order, search, use
from tests.unit.planners.claude.prepared import PREPARED

Request = Mapping[str, Any]
Worker = Callable[[Seen], list[Any]]


def sign_in(seen: Seen) -> list[Any]:
    """Signs in as kim, with the secret by its name."""
    if seen.on("about:blank"):
        (start,) = re.findall(r"Begin at (\S+)\.", seen.step)
        return use("goto", url=start)
    if "Username" not in seen.moves:
        return use("fill", ref=seen.ref('textbox "Username"'), value="kim")
    if "Password" not in seen.moves:
        return use("fill", ref=seen.ref('textbox "Password"'), value="{{ secrets.password }}")
    if "Sign in" not in seen.moves:
        return use("click", ref=seen.ref('button "Sign in"'))
    return use("done")


def search_b(seen: Seen) -> list[Any]:
    """As in shop A, from where shop B begins, by the rows of shop B."""
    if seen.on("about:blank"):
        return use("goto", url="http://shop-b.test/")
    if "press" not in seen.moves or "read list" in seen.moves:
        return search(seen)
    row = seen.ref("article")
    seen.page = seen.page[seen.page.index(f"[ref={row}]") :]
    price, stock = re.findall(r"generic \[ref=(\w+)\]: ", seen.page)[:2]
    fields = [
        {"name": "title", "ref": seen.ref("heading"), "type": "text", "attr": ""},
        {"name": "price", "ref": price, "type": "money", "attr": ""},
        {"name": "stock", "ref": stock, "type": "text", "attr": ""},
        {"name": "link", "ref": seen.ref("link"), "type": "url", "attr": "href"},
    ]
    return use("read_list", name="offers", row_ref=row, fields=fields)


def find(seen: Seen) -> list[Any]:
    """Sends the search form, and reads the table that it gives."""
    if seen.on("about:blank"):
        return use("goto", url="http://forms.test/find")
    if "fill" not in seen.moves:
        return use("fill", ref=seen.ref('textbox "Title"'), value="{{ title }}")
    if "click" not in seen.moves:
        return use("click", ref=seen.ref('button "Find books"'))
    if "read list" not in seen.moves:
        row = re.findall(r"- row [^\n]*?\[ref=(\w+)\]", seen.page)[1]
        seen.page = seen.page[seen.page.index(f"[ref={row}]") :]
        cells = re.findall(r"- cell [^\n]*?\[ref=(\w+)\]", seen.page)
        fields = [
            {"name": name, "ref": ref, "type": type_, "attr": ""}
            for name, type_, ref in zip(
                ("title", "author", "year"), ("text", "text", "number"), cells, strict=False
            )
        ]
        return use("read_list", name="books", row_ref=row, fields=fields)
    return use("done")


def clock(seen: Seen) -> list[Any]:
    """Reads what stands on one page."""
    if seen.on("about:blank"):
        return use("goto", url="http://listing.test/watch")
    for name, type_, words in (("price", "money", "[€$]"), ("state", "text", "State|stock|sale")):
        if f"read {name}" not in seen.moves:
            found = re.search(rf"\[ref=(\w+)\]: [^\n]*(?:{words})", seen.page)
            assert found is not None, seen.page
            return use("read", name=name, ref=found[1], type=type_)
    return use("done")


def add(seen: Seen) -> list[Any]:
    """Fills one person's form; what it is sent by is the commit; then reads the reference."""
    if "commit" not in seen.tools:
        if "read reference" in seen.moves:
            return use("done")
        number = re.search(r"P-\d+", seen.page)
        line = re.search(r"\[ref=(\w+)\]: [^\n]*P-\d+", seen.page)
        assert number is not None, seen.page
        assert line is not None, seen.page
        return use("read", name="reference", ref=line[1], type="text", text_only=number[0])
    if seen.on("about:blank"):
        return use("goto", url="http://forms.test/people/new")
    for field, value in (("Name", "name"), ("E-mail", "email"), ("City", "city")):
        if f'textbox "{field}"' not in seen.moves:
            ref = seen.ref(f'textbox "{field}"')
            return use("fill", ref=ref, value=f"{{{{ item.{value} }}}}")
    return use("commit", ref=seen.ref('button "Add person"'))


WORKERS: dict[str, Worker] = {
    "find": find, "clock": clock, "add": add,
    "sign_in": sign_in, "search_a": search, "search_b": search_b, "order_a": order,
    "order_b": order,
}  # fmt: skip


def simulated(name: str) -> Callable[[Request], list[Any]]:
    """A model that drafts what is prepared for a recipe's goal, and works its steps."""
    words, drafted = PREPARED[name]

    def answer(request: Request) -> list[Any]:
        told = request["messages"][0]["content"]
        if any(words in block["text"] for block in told):
            return [text(json.dumps(drafted))]
        seen = Seen(request)
        (step,) = re.findall(r"^Step: (\w+)", seen.step, re.MULTILINE)
        return WORKERS[step](seen)

    return answer


@pytest.fixture
def serve(journey: Journey) -> Iterator[Callable[[str], MessagesServer]]:
    """Starts the simulated model of a recipe's goal."""
    running: list[MessagesServer] = []

    def begin(name: str) -> MessagesServer:
        server = MessagesServer(Function(simulated(name)))
        running.append(server)
        server.start()
        journey.env |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.base_url}
        return server

    yield begin
    for server in running:
        server.stop()


RUN = [
    "sign_in_shop_a", "sign_in_ledger_bank", "compare_and_order", "find_book", "watch_price",
    "add_people",
]  # fmt: skip


@pytest.mark.parametrize("name", RUN)
async def test_a_drafted_recipe_runs_without_an_edit(
    journey: Journey, serve: Callable[[str], MessagesServer], name: str
):
    serve(name)
    file = str(journey.folder / "drafted.yaml")
    drafted = ended(journey.command("plan", PREPARED[name][0], "-o", file))
    assert drafted.code == 0, drafted
    for given in RECIPES.glob("*.csv"):
        (journey.folder / given.name).write_bytes(given.read_bytes())
    result = await journey.run(journey.folder / "drafted.yaml", unattended=True)
    assert (result.status, result.exit_code) == ("met", 0), (result.reason, result.steps)
    if name == "compare_and_order":
        (ordered,) = journey.sites.ledger.writes("order")
        assert ordered.site == "shop-a.test"
        assert result["order_b"].state == "skipped"
