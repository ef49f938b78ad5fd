"""Steps worked, repaired and read by a model: the real SDK, a real browser, a simulated model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fixtures.messages import KEY, Function, MessagesServer, text, tool_use
from tests.journeys.journey import Journey, edited
from tests.journeys.test_cli import ended
from webagent.core import event as ev

Request = Mapping[str, Any]
MODEL = "claude-haiku-5-5"


class Seen:
    """What a simulated model was told in one request."""

    def __init__(self, request: Request) -> None:
        self.texts = [block["text"] for block in request["messages"][0]["content"]]
        self.step, self.moves, self.page = self.texts[:3]
        self.tools = [tool["name"] for tool in request.get("tools", [])]
        self.asked = "output_config" in request and "format" in request["output_config"]

    def ref(self, pattern: str) -> str:
        """The ref of the first line of the outline that begins so."""
        found = re.search(rf"- {pattern}[^\n]*?\[ref=(\w+)\]", self.page)
        assert found is not None, f"{pattern} is not on\n{self.page}"
        return found[1]

    def on(self, path: str) -> bool:
        return path in self.page.split("title=", 1)[0]


def use(tool: str, **given: object) -> list[Any]:
    return [tool_use(tool, given)]


def search(seen: Seen) -> list[Any]:
    """Looks for the query in shop A and reads what is found."""
    if seen.on("about:blank"):
        return use("goto", url="http://shop-a.test/")
    if "fill" not in seen.moves:
        return use("fill", ref=seen.ref("searchbox"), value="{{ query }}")
    if "press" not in seen.moves:
        return use("press", key="Enter")
    if "read list" not in seen.moves:
        row = seen.ref("article")
        seen.page = seen.page[seen.page.index(f"[ref={row}]") :]
        fields = [
            {"name": "title", "ref": seen.ref("heading"), "type": "text", "attr": ""},
            {"name": "price", "ref": seen.ref("paragraph"), "type": "money", "attr": ""},
            {"name": "stock", "ref": in_stock(seen), "type": "text", "attr": ""},
            {"name": "link", "ref": seen.ref("link"), "type": "url", "attr": "href"},
        ]
        return use("read_list", name="offers", row_ref=row, fields=fields)
    return use("done")


def in_stock(seen: Seen) -> str:
    found = re.search(r'\[ref=(\w+)\]: "?(?:In stock|Sold out)', seen.page)
    assert found is not None
    return found[1]


def order(seen: Seen) -> list[Any]:
    """Orders what was chosen, and reads the order's number behind the commit."""
    if "commit" not in seen.tools:
        if "read order_number" in seen.moves:
            return use("done")
        found = re.search(r"\[ref=(\w+)\]: Your order number", seen.page)
        assert found is not None
        return use("read", name="order_number", ref=found[1], type="number")
    if seen.on("about:blank"):
        return use("goto", url="{{ choose.link }}")
    if "Add to basket" not in seen.moves:
        return use("click", ref=seen.ref('button "Add to basket"'))
    if 'link "Basket"' not in seen.moves:
        return use("click", ref=seen.ref('link "Basket"'))
    if seen.on("/basket"):
        return use("click", ref=seen.ref('link "Checkout"'))
    for field, value in (("Name", "name"), ("Address", "address"), ("E-mail", "email")):
        if f'fill textbox "{field}"' not in seen.moves:
            return use("fill", ref=seen.ref(f'textbox "{field}"'), value=f"{{{{ {value} }}}}")
    return use("commit", ref=seen.ref('button "Place order"'))


def shopper(request: Request) -> list[Any]:
    seen = Seen(request)
    return search(seen) if "Step: search_a" in seen.step else order(seen)


Serve = Callable[[Callable[[Request], list[Any]]], MessagesServer]


@pytest.fixture
def serve(journey: Journey) -> Iterator[Serve]:
    """Starts a server whose model is a function, and gives the journey its address and a key."""
    running: list[MessagesServer] = []

    def begin(answer: Callable[[Request], list[Any]]) -> MessagesServer:
        server = MessagesServer(Function(answer))
        running.append(server)
        server.__enter__()
        journey.env |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.base_url}
        return server

    yield begin
    for server in running:
        server.__exit__(None, None, None)


# A step's values are those that it refers to: without a segment its goal has to.
GOALS = (
    ("goal: Find offers in shop A", "goal: 'Find offers for {{ query }} in shop A'"),
    (
        "goal: Order the chosen offer in shop A",
        "goal: 'Order {{ choose.title }} ({{ choose.link }}) for {{ name }}, {{ address }},"
        " {{ email }}'",
    ),
)


def without_segments(folder: Path, *steps: str) -> Path:
    """The order's recipe with some steps' segments taken out, and a model named."""
    folder.mkdir()
    path = edited("compare_and_order", folder, *GOALS)
    lines, out, skipping, step = path.read_text("utf-8").splitlines(), [], False, ""
    for line in lines:
        if found := re.match(r"  (\w+):", line):
            step = found[1]
        if re.match(r"    \w", line):
            skipping = line.startswith("    segment:") and step in steps
        elif not line.startswith("     "):
            skipping = False
        if not skipping:
            out.append(line)
    text_ = "\n".join(out).replace("\nsites:", f"\nmodels: {MODEL}\nsites:", 1)
    path.write_text(text_ + "\n", "utf-8")
    return path


async def test_a_whole_order_is_worked_without_a_segment_accepted_and_runs_without_a_model(
    journey: Journey, tmp_path: Path, serve: Serve
):
    path = without_segments(tmp_path / "recipes", "order_a")
    server = serve(shopper)
    result = await journey.run(path, unattended=True)
    assert result.ok, result.reason
    assert len(journey.sites.ledger.writes("order")) == 1
    assert result["order_a"].outputs["order_number"]
    assert result.models["executor"].calls == len(server.requests)
    assert ended(journey.command("accept", "last")).code == 0
    assert "commit:" in path.read_text("utf-8")

    journey.sites.reset()
    asked = len(server.requests)
    again = await journey.run(path, {"query": "hdmi cable"}, unattended=True)
    assert again.ok, again.reason
    assert len(journey.sites.ledger.writes("order")) == 1
    assert len(server.requests) == asked


async def test_no_prompt_of_a_step_holds_anything_of_another(
    journey: Journey, tmp_path: Path, serve: Serve
):
    path = without_segments(tmp_path / "recipes", "search_a")
    server = serve(shopper)
    await journey.run(path, unattended=True)
    assert server.requests
    for asked in server.requests:
        told = json.dumps(asked.body)
        assert "shop B" not in told
        assert "Order the chosen offer" not in told
        assert "alder-and-birch" not in told


async def test_a_step_that_the_local_planner_cannot_repair_is_repaired_by_a_model(
    journey: Journey, tmp_path: Path, serve: Serve
):
    folder = tmp_path / "recipes"
    folder.mkdir()
    path = edited(
        "compare_and_order", folder, ("\nsites:", f"\nmodels: {MODEL}\nsites:"),
        ('textbox "E-mail": "{{ email }}"', 'textbox "Quux": "{{ email }}"'),
    )  # fmt: skip

    def planner(request: Request) -> list[Any]:
        seen = Seen(request)
        assert seen.asked
        lines = re.findall(r"^(\d+): (.*?)(?:   <- failed)?$", seen.moves, re.MULTILINE)
        (failed,) = map(int, re.findall(r"^(\d+): .*<- failed$", seen.moves, re.MULTILINE))
        segment = [action for _, action in lines]
        segment[failed] = segment[failed].replace("Quux", "E-mail")
        answer = {
            "answer": "segment", "first_wrong": failed, "segment": segment, "step": "",
            "question": "", "reason": "the field is called E-mail",
        }  # fmt: skip
        return [text(json.dumps(answer))]

    serve(planner)
    result = await journey.run(path, unattended=True)
    assert result.ok, result.reason
    assert len(journey.sites.ledger.writes("order")) == 1
    revised = [e.event for e in journey.entries if isinstance(e.event, ev.PlanRevised)]
    assert {e.step for e in revised} == {"order_a"}
    # What the local planner tries first (the field may stand on a later page) is its own matter.
    assert revised[-1].revision.author == "claude"
    again = [p for p, s in result.steps.items() if s.executions > 1]
    assert again == []


@pytest.mark.parametrize("quote, met", [("Your order number is", False), ("4 lots", True)])
async def test_what_selectors_do_not_find_is_read_with_its_quote(
    journey: Journey, tmp_path: Path, serve: Serve, quote: str, met: bool
):
    path = tmp_path / "read.yaml"
    path.write_text(
        f"""webagent: 1
id: read
models: {MODEL}
sites: [http://listing.test]
steps:
  rates:
    do: read
    goal: Read the heading of the page of all lots
    segment:
      - goto: http://listing.test/items
      - read: {{heading: .no-such-thing}}
    expect: [{{output: {{heading: {{matches: "[a-z]"}}}}}}]
""",
        "utf-8",
    )

    def reader(request: Request) -> list[Any]:
        seen = Seen(request)
        if "repair one step" in json.dumps(request["system"]):
            cannot = {"answer": "cannot", "first_wrong": 0, "segment": [], "step": "",
                      "question": "", "reason": "nothing is called so"}  # fmt: skip
            return [text(json.dumps(cannot))]
        found = re.search(r'- heading "([^"]+)"', seen.page)
        assert found is not None
        said = found[1] if met else quote
        value = {"found": True, "value": said, "quote": said}
        return [text(json.dumps({"heading": value}))]

    serve(reader)
    result = await journey.run(path, unattended=True)
    assert result.ok == met, result.reason
    if met:
        assert result["rates"].outputs["heading"]


async def test_a_budget_parks_the_run_and_a_larger_one_goes_on(
    journey: Journey, tmp_path: Path, serve: Serve
):
    path = without_segments(tmp_path / "recipes", "search_a")
    told = path.read_text("utf-8")
    small = f"models: {{executor: {{model: {MODEL}, budget: {{calls: 2}}}}}}"
    path.write_text(told.replace(f"models: {MODEL}", small), "utf-8")
    server = serve(shopper)
    command = ended(journey.command("run", str(path), "--unattended"))
    assert command.code == 4
    assert "larger budget" in command.out
    assert len(server.requests) == 2
    path.write_text(told, "utf-8")
    more = ended(journey.command("resume", "last", "--recipe", str(path)))
    # Without the row's `site`, which no model was told of, nothing can be chosen.
    assert "search_a: met" in more.out
    assert journey.sites.ledger.writes("order") == []
