"""What a recipe's text becomes. What is refused stands in tests/journeys/test_bad_input.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.core import action as act
from webagent.core import expect as exp
from webagent.core.compile import compile_plan
from webagent.core.errors import RecipeInvalid
from webagent.core.plan import Once, Step
from webagent.core.recipe import Use
from webagent.core.target import Target
from webagent.formats.recipe_yaml import load_recipe, parse_recipe

HEAD = "webagent: 1\nid: one\n"
# The recipe of DESIGN section 3, whole.
EXAMPLE = Path(__file__).parent / "example" / "order.yaml"
RECIPE = EXAMPLE.read_text()


def step_of(keys: str, head: str = HEAD) -> Step:
    """The step ``s`` of a recipe with these keys."""
    lines = "".join(f"    {line}\n" for line in keys.splitlines())
    step = parse_recipe(f"{head}steps:\n  s:\n{lines}").steps["s"]
    assert isinstance(step, Step)
    return step


def example_step(name: str) -> Any:
    """A step of the design's example."""
    return load_recipe(EXAMPLE).steps[name]


def actions(text: str) -> tuple[act.Action, ...]:
    """The actions of a segment."""
    lines = "".join(f"  {line}\n" for line in text.splitlines())
    segment = step_of(
        f"do: read\nsegment:\n  - goto: https://a.example/\n{lines}expect: {{text: x}}"
    )
    assert segment.segment is not None
    return segment.segment[1:]


def expectations(text: str) -> tuple[exp.Expectation, ...]:
    """The expectations of a step."""
    return step_of(f"do: read\nsegment: [goto: https://a.example/]\nexpect:\n{text}").expect


class TestTheDesignsExample:
    def test_it_loads_with_what_it_uses(self) -> None:
        recipe = load_recipe(EXAMPLE)
        assert recipe.id == "cheaper-cable"
        assert recipe.sites == ("https://shop-a.example", "https://shop-b.example")
        assert list(recipe.steps) == [
            "sign_in_a", "search_a", "search_b", "choose", "order_a", "order_b",
        ]  # fmt: skip
        used = recipe.steps["sign_in_a"]
        assert isinstance(used, Use)
        assert used.recipe.id == "sign-in-shop-a"
        assert used.recipe.secrets["password"].origin == "https://shop-a.example"

    def test_an_order_has_its_parts(self) -> None:
        step = example_step("order_a")
        assert step.effect == "once"
        assert step.once == Once(name="order", key="{{ query }} {{ run.date }}")
        assert [a.verb for a in step.segment] == ["goto", "click", "click", "commit", "read"]
        assert [e.kind for e in step.before_commit] == ["rows", "text", "value"]
        assert step.before_commit[2].bounds == exp.Bounds(max="{{ max_price + 5 }}")
        assert step.probe.settle is None

    def test_a_probe_with_settle(self) -> None:
        assert example_step("order_b").probe.settle == 30.0

    def test_a_key_that_is_a_target_means_the_field_read_from_it(self) -> None:
        probe = example_step("order_a").probe
        assert probe.segment[1].outputs["orders"].key == "order_number"

    def test_every_part_knows_its_place(self) -> None:
        recipe = load_recipe(EXAMPLE)
        lines = RECIPE.splitlines()
        for path, word in {
            "id": "cheaper-cable",
            "inputs.max_price": "max_price:",
            "steps.choose": "choose:",
            "steps.order_a.when": 'choose.site == "a"',
            "steps.order_a.before_commit[1]": 'text: "{{ choose.title }}"',
            "steps.order_a.segment[3].commit": "commit:",
        }.items():
            place = recipe.place(path)
            assert place is not None
            assert lines[place.line - 1][place.column - 1 :].startswith(word), path

    def test_a_part_without_a_place_has_that_of_what_encloses_it(self) -> None:
        recipe = load_recipe(EXAMPLE)
        assert recipe.place("steps.choose.no.such[3].thing") == recipe.place("steps.choose")


@pytest.mark.parametrize(
    "text, made",
    [
        ("- back:", act.Back()),
        ("- back", act.Back()),
        ("- reload: true", act.Reload()),
        ("- press: Enter", act.Press(key="Enter")),
        ("- scroll: bottom", act.Scroll(edge="bottom")),
        ("- scroll: {by: -500}", act.Scroll(by=-500)),
        ("- dialog: dismiss", act.Dialog(answer="dismiss")),
        ("- dialog: {accept: Anna}", act.Dialog(answer="accept", text="Anna")),
        ("- tab: new", act.Tab(to="new")),
        ("- wait: {text: Done}", act.Wait(until=exp.TextShown(text="Done"))),
        ("- click: .x\n  timeout: 1m", act.Click(target=Target(source=".x", css=".x"), timeout=60)),
    ],
)  # fmt: skip
def test_an_action_as_written(text: str, made: act.Action) -> None:
    assert actions(text) == (made,)


def test_fill_takes_a_mapping_of_targets_or_a_list() -> None:
    (short,) = actions('- fill: {textbox "Name": Anna, .zip: "012", .age: 7}')
    assert isinstance(short, act.Fill)
    assert [(str(e.target), e.value) for e in short.entries] == [
        ('textbox "Name"', "Anna"), (".zip", "012"), (".age", 7),
    ]  # fmt: skip
    (long,) = actions("- fill: [{target: {role: textbox, nth: 1}, value: Anna}]")
    assert isinstance(long, act.Fill)
    assert long.entries[0].target.nth == 1


def test_a_wait_for_a_target_is_one_for_its_element() -> None:
    (wait,) = actions('- wait: button "Go"')
    assert isinstance(wait, act.Wait)
    assert isinstance(wait.until, exp.ElementShown)
    (mapping,) = actions("- wait: {role: button}")
    assert isinstance(mapping, act.Wait)
    assert isinstance(mapping.until, exp.ElementShown)


def test_an_action_carries_its_modifiers() -> None:
    (click,) = actions(
        '- click: button "Go"\n  within: .results\n  optional: true\n  frame: iframe'
    )
    assert isinstance(click, act.Click)
    assert (str(click.within), click.optional, str(click.frame)) == (".results", True, "iframe")


def test_download_drag_select_and_upload() -> None:
    made = actions(
        '- download: {target: link "Invoice", name: invoice}\n'
        "- drag: {from: .card, to: .column}\n"
        '- select: {combobox "Size": [S, M]}\n'
        '- upload: {input: "/tmp/x"}'
    )
    assert isinstance(made[0], act.DownloadBy)
    assert made[0].name == "invoice"
    assert isinstance(made[1], act.Drag)
    assert str(made[1].to) == ".column"
    assert isinstance(made[2], act.Select)
    assert made[2].entries[0].value == ["S", "M"]


def test_reads_of_fields_lists_and_tables() -> None:
    (read,) = actions(
        "- read:\n"
        "    title: h1\n"
        "    link: {css: a, attr: href, optional: true}\n"
        "    site: {value: a}\n"
        "    by_label: {label: Price, type: money}\n"
        "    rows: {each: tr, key: no, fields: {no: .no}, pages: {next: .n, until: page > 3}}\n"
        '    table: {table: table "Orders", types: {Total: money}, columns: {Order no: number}}'
    )
    assert isinstance(read, act.Read)
    made = read.outputs
    assert isinstance(made["title"], act.FieldRead)
    assert isinstance(made["link"], act.FieldRead)
    assert (made["link"].attr, made["link"].optional) == ("href", True)
    assert isinstance(made["site"], act.FieldRead)
    assert (made["site"].fixed, made["site"].value) == (True, "a")
    assert isinstance(made["rows"], act.ListRead)
    assert made["rows"].pages is not None
    assert made["rows"].pages.max == 10
    assert isinstance(made["table"], act.TableRead)
    assert made["table"].columns == {"Order no": "number"}


def test_expectations_in_short_and_long_form() -> None:
    made = expectations(
        '  - url: "**/x"\n'
        "  - {text: Hi, absent: .error}\n"
        "  - text: {text: Hi, within: main}\n"
        "  - count: {li: 3, ol: {min: 1, max: 2}}\n"
        "  - status: [200, 4xx]\n"
        "  - response: {url: '**/api', method: POST, status: 201}\n"
        "  - download: {name: '*.csv', min_bytes: 10}\n"
        "  - dialog: Saved\n"
    )
    assert [e.kind for e in made] == [
        "url", "text", "absent", "text", "count", "count", "status", "response", "download",
        "dialog",
    ]  # fmt: skip
    assert isinstance(made[4], exp.CountIs)
    assert made[4].bounds == exp.Bounds(equals=3)
    assert made[6] == exp.StatusIs(codes=("200", "4xx"))
    assert made[7] == exp.ResponseCame(glob="**/api", method="POST", codes=("201",))


@pytest.mark.parametrize(
    "written, seconds", [("30", 30), ("1.5", 1.5), ("500ms", 0.5), ("5m", 300), ("2h", 7200)]
)
def test_a_duration_has_a_unit_or_is_in_seconds(written: str, seconds: float) -> None:
    step = step_of(
        f"do: read\ntimeout: {written}\nsegment: [goto: https://a.example/]\nexpect: {{text: x}}"
    )
    assert step.timeout == seconds


def test_needs_hold_names_and_alternatives() -> None:
    text = f"{HEAD}steps:\n" + "".join(
        f"  {name}:\n    do: read\n    {needs}\n    segment: [goto: https://a.example/]\n"
        "    expect: {text: x}\n"
        for name, needs in {
            "a": "goal: a", "b": "needs: a", "c": "needs: {any: [a, b]}",
            "d": "needs: [a, {any: [b, c]}]",
        }.items()
    )  # fmt: skip
    steps: Any = parse_recipe(text).steps
    assert steps["b"].needs == ("a",)
    assert (steps["c"].needs, steps["c"].needs_any) == ((), ("a", "b"))
    assert (steps["d"].needs, steps["d"].needs_any) == (("a",), ("b", "c"))


def test_anchors_and_merge_keys_are_understood() -> None:
    recipe = parse_recipe(
        f"{HEAD}inputs:\n  a: &number {{type: number, default: 1}}\n"
        "  b: {<<: *number, default: 2}\n  c: *number\n"
        "steps:\n  s: {do: ask, question: How many?}\n"
    )
    assert [(i.type, i.default) for i in recipe.inputs.values()] == [
        ("number", 1), ("number", 2), ("number", 1),
    ]  # fmt: skip


def test_quotes_keep_text_and_yaml_1_2_has_no_yes() -> None:
    recipe = parse_recipe(
        f'{HEAD}inputs:\n  a: {{default: "012"}}\n  b: {{default: NO}}\n'
        "  c: {default: 2026-11-30}\n"
        "steps:\n  s: {do: ask, question: How many?}\n"
    )
    assert [i.default for i in recipe.inputs.values()] == ["012", "NO", "2026-11-30"]


def test_the_browser_is_told_how_to_start() -> None:
    browser = parse_recipe(
        f"{HEAD}secrets: {{p: {{env: P}}}}\nbrowser:\n  viewport: 1280x720\n  locale: de-DE\n"
        "  timezone: Europe/Berlin\n  proxy: http://proxy:3128\n  headers: {X-One: 1}\n"
        '  http_auth: {username: anna, password: "{{ secrets.p }}"}\n'
        "  client_certificates: [{origin: https://a.example, pfx: me.pfx}]\n"
        "steps:\n  s: {do: ask, question: How many?}\n"
    ).browser
    assert browser.viewport == (1280, 720)
    assert browser.proxy == {"server": "http://proxy:3128"}
    assert browser.http_auth["password"] == "{{ secrets.p }}"
    assert browser.client_certificates == ({"origin": "https://a.example", "pfxPath": "me.pfx"},)


def test_a_used_file_stands_relative_to_the_using_one(write: Any) -> None:
    ask = "steps:\n  s: {do: ask, question: How many?}\n"
    recipe = write(
        {
            "deep/outer.yaml": f"{HEAD}steps:\n  x: {{use: ../shared/inner.yaml}}\n",
            "shared/inner.yaml": f"{HEAD}steps:\n  y: {{use: innermost.yaml}}\n",
            "shared/innermost.yaml": HEAD + ask,
        }
    )
    assert [step.path for step in compile_plan(recipe).steps] == ["x/y/s"]


@given(st.text(max_size=300))
def test_any_text_loads_or_is_refused_with_problems(text: str) -> None:
    try:
        parse_recipe(text)
    except RecipeInvalid as error:
        problems = error.problems
    else:
        return
    assert problems
    assert all(p.message and p.file for p in problems)


SLIPS = (
    *("{{", "}}", "[", ": ", "\t", "'", '"', "#", "*a", "&a", "!!map", "012", "~", "- ", "true"),
    *("{% if %}", "secrets.x", "\x85", "<<", "? ", "|", ">", ""),
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """The design's example with a piece cut out, doubled, or replaced."""
    text = RECIPE.replace(
        "sign_in_a: {use: sign_in_shop_a.yaml}", "sign_in_a: {do: ask, question: x}"
    )
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        insert = draw(
            st.sampled_from(["", text[start:end] * 2, *SLIPS])
        )  # fmt: skip
        text = text[:start] + insert + text[end:]
    return text


@given(mutated())
def test_a_mutated_recipe_loads_or_is_refused_with_places(text: str) -> None:
    try:
        compile_plan(parse_recipe(text))
    except RecipeInvalid as error:
        problems = error.problems
    else:
        return
    lines = len(text.splitlines()) + 1
    assert problems
    assert all(0 < p.line <= lines and p.column > 0 for p in problems)


def test_checking_loads_no_browser_and_no_database() -> None:
    program = (
        "import sys\n"
        "from webagent.formats.recipe_yaml import load_recipe\n"
        "from webagent.core.compile import compile_plan\n"
        "compile_plan(load_recipe(sys.argv[1]))\n"
        "print(*({'playwright', 'sqlalchemy', 'bs4', 'dateparser'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(EXAMPLE)],
        check=True, capture_output=True, text=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.stdout.split() == []


def test_recipes_that_multiply_by_use_are_bounded() -> None:
    def read(path: str) -> str:
        depth = int(path[1:-5]) + 1
        uses = "".join(f"  s{i}: {{use: f{depth}.yaml}}\n" for i in range(10))
        return f"{HEAD}steps:\n{uses}"

    with pytest.raises(RecipeInvalid) as caught:
        parse_recipe(read("f0.yaml"), "f0.yaml", read)
    assert "more than 200 used recipes" in str(caught.value)
