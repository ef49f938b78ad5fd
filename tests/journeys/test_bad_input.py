"""Promise 8: bad input gets a clear error with its place and exit code, all faults at once.

In each recipe the mark ``«`` stands where the fault is; it is taken out before the text is read.
The faults found must be exactly those marked, so a fault may not drag others after it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from webagent.core.compile import compile_plan
from webagent.core.errors import InputInvalid, Problem, RecipeInvalid
from webagent.formats.inputs import bind_inputs
from webagent.formats.recipe_yaml import load_recipe, parse_recipe

HEAD = "webagent: 1\nid: bad\n"
# A step that is right, for recipes whose fault is elsewhere.
GOOD = """\
  good:
    do: read
    segment:
      - goto: https://a.example/
      - read: {offers: {each: li, fields: {title: h2, price: {css: .p, type: money}}}, name: h1}
    expect: {text: Offers}
"""
STEPS = HEAD + "steps:\n" + GOOD
COMMIT = """\
    once: "{{ run.date }}"
    segment: [{goto: "https://a.example/"}, {commit: {click: button "Go"}}]
    expect: {text: Done}
"""


class Case(NamedTuple):
    """A recipe with its marked faults, and a part of each message in order."""

    name: str
    text: str
    says: tuple[str, ...]


def paged(keys: str, segment: str = "") -> str:
    """A recipe of one good step and a second one with these keys."""
    return STEPS + "  bad:\n    do: read\n" + segment + keys


SEGMENT = '    segment: [{goto: "https://a.example/"}]\n'
EXPECT = "    expect: {text: Done}\n"


def action(text: str) -> str:
    """A recipe whose second step has this action after its goto."""
    return paged(f"    segment:\n      - goto: https://a.example/\n      - {text}\n{EXPECT}")


def with_secret(origin: str, segment: str) -> str:
    """A recipe with a secret for an origin, whose second step has these actions."""
    declared = f'secrets: {{p: {{env: P, for: "{origin}"}}}}\nsteps:\n'
    return HEAD + declared + GOOD + f"  bad:\n    do: read\n    segment:\n{segment}{EXPECT}"


GOTO_A = "      - goto: https://a.example/\n"


def expectation(text: str) -> str:
    """A recipe whose second step expects this."""
    return paged(f"    expect:\n      - text: Done\n      - {text}\n", SEGMENT)


YAML = [
    Case("an empty file", "«", ("an empty file",)),
    Case("only a comment", "«# nothing\n", ("an empty file",)),
    Case("a list", "«- webagent: 1\n", ("a recipe is a mapping, not a list",)),
    Case("a text", "«hello\n", ("a recipe is a mapping, not the text 'hello'",)),
    Case("a quote never closed", HEAD + 'errand: «"Order\n', ("never closed",)),
    Case("a tab in the indentation", HEAD + "steps:\n«\tgood: {}\n", ("a tab",)),
    Case(
        "a list never closed", HEAD + "sites: «[https://a.example, b\nsteps: {}\n", ("not closed",)
    ),
    Case("a mapping never closed", HEAD + "inputs: «{q: {type: string}\n", ("not closed",)),
    Case("a second colon", HEAD + "errand: Search«: find\n", ("a second colon",)),
    Case("a key without a colon", HEAD + "«errand\nsites: []\n", ("a key without a colon",)),
    Case("a key twice", HEAD + "errand: one\n«errand: two\nsteps:\n" + GOOD, ("stands twice",)),
    Case("a tag", HEAD + "errand: «!!str one\nsteps:\n" + GOOD, ("a YAML tag",)),
    Case(
        "a tag that would run code",
        HEAD + 'errand: «!!python/object/apply:os.system ["id"]\nsteps:\n' + GOOD,
        ("a YAML tag", "an errand is wanted"),
    ),
    Case("a leading zero", action("fill: {.zip: «012}"), ("leading zero",)),
    Case(
        "bare braces",
        HEAD
        + "inputs: {q: {type: string}}\nsteps:\n"
        + GOOD
        + f"  bad:\n    do: read\n    segment:\n      - goto: «{{{{ q }}}}\n{EXPECT}",
        ("YAML reads a bare {{ … }} as a mapping",),
    ),
    Case("an unknown alias", HEAD + "errand: «*gone\n", ("no anchor &gone",)),
    Case("an alias of itself", HEAD + "inputs: &x {a: «*x}\n", ("refers to itself",)),
    Case("two documents", STEPS + "«---\nwebagent: 1\n", ("a second document",)),
    Case("a list as a key", HEAD + "? «[a, b]\n: c\nsteps:\n" + GOOD, ("a key is text",)),
    Case("deep nesting", HEAD + "errand: " + "[" * 60 + "«[" + "[" * 80, ("levels deep",)),
    Case(
        "a glob that begins with a star",
        STEPS.replace("expect: {text: Offers}", "expect:\n      - url: «**/x"),
        ("begins with *",),
    ),
    Case("text after a quote", HEAD + 'errand: "Order" «it\n', ("after a closing quote",)),
    Case(
        "text after braces",
        HEAD + "errand: {{ x }} «it\n".replace("{{", "«{{"),
        ("a bare", "after a closing brace"),
    ),
    Case(
        "a dash without a space",
        STEPS + "  b:\n    segment:\n      - back\n      «-click: .x\n",
        ("without a space",),
    ),
    Case("an unknown escape", HEAD + 'errand: "a\\«q"\n', ("unknown escape",)),
    Case("a plain text that cannot begin so", HEAD + "errand: «@home\n", ("begin with @",)),
    Case("a value that is missing", HEAD + "«errand:\nsteps:\n" + GOOD, ("not nothing",)),
    Case("a control character", HEAD + "errand: a«\x07\n", ("U+0007",)),
    Case("yes for true", HEAD + "allow_private: «yes\nsteps:\n" + GOOD, ("true or false",)),
]

HEADS = [
    Case("another format version", "webagent: «2\nid: bad\nsteps:\n" + GOOD, ("version 2",)),
    Case("no version and no id", "«steps:\n" + GOOD, ("needs webagent", "needs id")),
    Case("no steps", "«" + HEAD, ("needs steps",)),
    Case("empty steps", HEAD + "steps: «{}\n", ("an empty mapping",)),
    Case("an unknown key", HEAD + "«step: {}\nsteps:\n" + GOOD, ("no key 'step'",)),
    Case("an id with a slash", "webagent: 1\nid: «a/b\nsteps:\n" + GOOD, ("is not an id",)),
    Case(
        "a site with a path",
        HEAD + "sites: [«https://a.example/shop]\nsteps:\n" + GOOD,
        ("more than an origin",),
    ),
    Case(
        "a site without a scheme",
        HEAD + "sites: [«a.example]\nsteps:\n" + GOOD.replace("a.ex", "a.ex"),
        ("is not an origin",),
    ),
    Case("a role", HEAD + "models: {planner: x, «reeder: y}\nsteps:\n" + GOOD, ("reeder",)),
    Case(
        "a step's name with a dash",
        HEAD + "steps:\n" + GOOD + f"  «go-on:\n    do: read\n{SEGMENT}{EXPECT}",
        ("not a step's name",),
    ),
    Case(
        "an unknown time zone",
        HEAD + "browser: {timezone: «Europe/Bern}\nsteps:\n" + GOOD,
        ("no time zone",),
    ),
    Case("a viewport in words", HEAD + "browser: {viewport: «large}\nsteps:\n" + GOOD, ("a size",)),
    Case(
        "a secret as a header",
        HEAD
        + 'secrets: {t: {env: T}}\nbrowser: {headers: {X-T: «"{{ secrets.t }}"}}\nsteps:\n'
        + GOOD,
        ("a secret stands only",),
    ),
    Case(
        "a browser secret unknown",
        HEAD + 'browser: {http_auth: {username: u, password: «"{{ secrets.t }}"}}\nsteps:\n' + GOOD,
        ("no secret is named 't'",),
    ),
    Case(
        "an input of unknown type",
        HEAD + "inputs: {q: {type: «text}}\nsteps:\n" + GOOD,
        ("not a type of input",),
    ),
    Case(
        "a default of another type",
        HEAD + "inputs: {n: {type: number, default: «ten}}\nsteps:\n" + GOOD,
        ("is not a number",),
    ),
    Case(
        "a date that is none",
        HEAD + "inputs: {d: {type: date, default: «2026-02-30}}\nsteps:\n" + GOOD,
        ("is not a date",),
    ),
    Case(
        "from for a text",
        HEAD + "inputs: {q: {from: «a.csv}}\nsteps:\n" + GOOD,
        ("type: list only",),
    ),
    Case(
        "a secret with two sources",
        HEAD
        + "«secrets: {p: {env: A, file: b}}\nsteps:\n".replace("«", "").replace("{env", "«{env")
        + GOOD,
        ("one source",),
    ),
    Case(
        "a secret without a source",
        HEAD + 'secrets: {p: «{for: "https://a.example"}}\nsteps:\n' + GOOD,
        ("needs one of env",),
    ),
    Case(
        "an input and a step of one name",
        HEAD + "inputs: {good: {default: x}}\nsteps:\n  «" + GOOD[2:],
        ("both named 'good'",),
    ),
    Case(
        "a reserved name",
        HEAD
        + "inputs:\n  run: «{default: x}\nsteps:\n".replace("«", "").replace("  run", "  «run")
        + GOOD,
        ("the name 'run' is taken",),
    ),
    Case(
        "on_change of an unknown output",
        HEAD + "on_change: [«good.titel]\nsteps:\n" + GOOD,
        ("no output 'titel'",),
    ),
    Case("keep_heals all", HEAD + "keep_heals: «all\nsteps:\n" + GOOD, ("never or none",)),
    Case("max_radius of zero", HEAD + "max_radius: «0\nsteps:\n" + GOOD, ("less than 1",)),
]

STEP_FAULTS = [
    Case(
        "no kind",
        STEPS + "  «bad:\n    goal: x\n".replace("«bad", "bad").replace("goal", "«goal"),
        ("do: KIND or use: FILE",),
    ),
    Case("an unknown kind", STEPS + "  bad:\n    do: «serach\n", ("not a kind of step",)),
    Case("an unknown step key", paged(f"    «exepct: []\n{EXPECT}", SEGMENT), ("no key 'exepct'",)),
    Case(
        "a key of another kind",
        paged(f"    «take: 1\n{EXPECT}", SEGMENT),
        ("does not go with a read",),
    ),
    Case(
        "a page key in compare",
        STEPS + '  bad:\n    do: compare\n    from: "{{ good.offers }}"\n    «segment: [back]\n',
        ("does not go with a compare",),
    ),
    Case("compare without from", STEPS + "  bad:\n    «do: compare\n", ("needs from",)),
    Case(
        "compare of a text",
        STEPS + '  bad:\n    do: compare\n    from: «"{{ good.name }}"\n',
        ("good.name is text",),
    ),
    Case("ask without a question", STEPS + "  bad:\n    «do: ask\n", ("needs its question",)),
    Case(
        "a page expectation of compare",
        STEPS + '  bad:\n    do: compare\n    from: "{{ good.offers }}"\n'
        "    expect:\n      - «text: Hi\n",
        ("never opens a page",),
    ),
    Case("no expectation", STEPS + f"  «bad:\n    do: read\n{SEGMENT}", ("needs an expectation",)),
    Case(
        "an expectation that cannot be false",
        paged("    «expect:\n      - url: '**'\n", SEGMENT),
        ("can be false",),
    ),
    Case(
        "no segment",
        STEPS + f"  «bad:\n    do: read\n{EXPECT}",
        ("no model is named", "nothing says where it may go", "no goal"),
    ),
    Case(
        "a step on no page",
        paged(
            f"    segment:\n      - click: «.go\n{EXPECT}".replace("«", "").replace(
                "- click", "- «click"
            )
        ),
        ("begins on no page",),
    ),
    Case(
        "an unknown need",
        paged(f"    needs: [«goood]\n{EXPECT}", SEGMENT),
        ("no step is named 'goood'",),
    ),
    Case(
        "an unknown name", paged(f"    when: «god.name == 'x'\n{EXPECT}", SEGMENT), ("named 'god'",)
    ),
    Case(
        "an unknown output",
        paged(f"    when: «good.nam == 'x'\n{EXPECT}", SEGMENT),
        ("no output 'nam'",),
    ),
    Case(
        "an attribute of a list",
        paged(f"    when: «good.offers.title == 'x'\n{EXPECT}", SEGMENT),
        ("is a list",),
    ),
    Case(
        "an amount of a text",
        paged(f"    when: «good.name.amount > 1\n{EXPECT}", SEGMENT),
        ("type: money",),
    ),
    Case(
        "an expression that does not parse",
        paged(f"    when: «good.name ==\n{EXPECT}", SEGMENT),
        ("end of template",),
    ),
    Case(
        "an expression in braces",
        paged(f'    when: «"{{{{ good.name }}}}"\n{EXPECT}', SEGMENT),
        ("without {{ }}",),
    ),
    Case(
        "a money field compared whole",
        STEPS + '  bad:\n    do: compare\n    from: "{{ good.offers }}"\n    where: «price < 5\n',
        ("compare price.amount",),
    ),
    Case(
        "an unknown field in where",
        STEPS
        + '  bad:\n    do: compare\n    from: "{{ good.offers }}"\n    where: «prize.amount < 5\n',
        ("'prize'",),
    ),
    Case(
        "two steps that need each other",
        HEAD + "steps:\n" + f"  «a:\n    do: read\n    needs: b\n{SEGMENT}{EXPECT}"
        f"  b:\n    do: read\n    needs: a\n{SEGMENT}{EXPECT}",
        ("a needs b needs a",),
    ),
    Case(
        "a step that refers to itself",
        paged(f"    when: «bad.x\n{EXPECT}", SEGMENT),
        ("refers to itself",),
    ),
    Case(
        "continues of a compare",
        STEPS + '  c:\n    do: compare\n    from: "{{ good.offers }}"\n'
        f"  bad:\n    do: read\n    continues: «c\n    segment: [{{click: .x}}]\n{EXPECT}",
        ("it has no page",),
    ),
    Case(
        "one page continued twice",
        STEPS + f"  b:\n    do: read\n    continues: good\n    segment: [{{click: .x}}]\n{EXPECT}"
        f"  c:\n    do: read\n    continues: «good\n    segment: [{{click: .x}}]\n{EXPECT}",
        ("continues good already",),
    ),
    Case(
        "an address without a scheme",
        paged(f"    segment:\n      - goto: «a.example/x\n{EXPECT}"),
        ("no whole web address",),
    ),
    Case(
        "an address outside sites",
        HEAD
        + "sites: [https://a.example]\nsteps:\n"
        + GOOD
        + f"  bad:\n    do: read\n    segment:\n      - goto: «https://b.example/\n{EXPECT}",
        ("not among sites",),
    ),
    Case(
        "a page that chooses where to go",
        paged(f'    segment:\n      - goto: «"{{{{ good.name }}}}"\n{EXPECT}'),
        ("nothing bounds it",),
    ),
    Case(
        "an output of the last run that is not read",
        paged(f"    when: «last.good.nam == 'x'\n{EXPECT}", SEGMENT),
        ("no output 'nam'",),
    ),
    Case(
        "a private address",
        paged(f"    segment:\n      - goto: «http://127.0.0.1/\n{EXPECT}"),
        ("private network",),
    ),
    Case(
        "weakened effect",
        STEPS + f"  bad:\n    do: submit\n    effect: «none\n{COMMIT}",
        ("weaker",),
    ),
    Case(
        "a submit without a key",
        STEPS + "  «bad:\n    do: submit\n" + COMMIT.split("\n", 1)[1],
        ("needs once",),
    ),
    Case(
        "a submit without a commit",
        STEPS
        + f"  bad:\n    do: submit\n    once: x\n    «segment:\n      - goto: https://a.example/\n{EXPECT}",
        ("exactly one commit",),
    ),
    Case(
        "two commits",
        STEPS
        + "  bad:\n    do: submit\n    once: x\n    segment:\n      - goto: https://a.example/\n"
        f"      - commit: {{click: .a}}\n      - «commit: {{click: .b}}\n{EXPECT}",
        ("a second commit",),
    ),
    Case("a commit in a read", action("«commit: {click: .a}"), ("has no commit",)),
    Case(
        "before_commit without a commit",
        paged(f"    «before_commit:\n      - text: x\n{EXPECT}", SEGMENT),
        ("once step only",),
    ),
    Case(
        "a probe that acts",
        STEPS + f"  bad:\n    do: submit\n{COMMIT}    probe:\n      - goto: https://a.example/\n"
        "      - «click: .x\n      - read: {o: {each: li, key: no, fields: {no: .no}}}\n",
        ("a probe only reads",),
    ),
    Case(
        "a probe without a key",
        STEPS + f"  bad:\n    do: submit\n{COMMIT}    «probe:\n      - goto: https://a.example/\n"
        "      - read: {o: {each: li, fields: {no: .no}}}\n",
        ("needs a key",),
    ),
    Case(
        "for_each without a key",
        paged(f"    for_each: «good.offers\n{EXPECT}", SEGMENT),
        ("needs a key",),
    ),
    Case(
        "a key that ignores item",
        paged(f"    for_each: good.offers\n    key: «title\n{EXPECT}", SEGMENT),
        ("named 'title'", "the same for every item"),
    ),
    Case(
        "a once key that ignores item",
        STEPS
        + "  bad:\n    do: submit\n    for_each: good.offers\n    key: item.title\n"
        + COMMIT.replace("once: ", "once: «"),
        ("ignores item",),
    ),
    Case(
        "item without for_each",
        paged(f"    when: «item.x == 1\n{EXPECT}", SEGMENT),
        ("only in a step with for_each",),
    ),
    Case("a used file that is not there", STEPS + "  bad: {use: «gone.yaml}\n", ("no such file",)),
    Case(
        "for_each with use",
        STEPS
        + "  bad: {use: other.yaml, «for_each: good.offers}\n".replace("other", "«gone").replace(
            "{use: «gone", "{use: «gone"
        ),
        ("no such file", "not built yet"),
    ),
    Case(
        "a session that is no sign_in",
        paged(f"    session: «good\n{EXPECT}", SEGMENT),
        ("no sign_in step",),
    ),
    Case(
        "an output that is not read",
        paged(
            "    expect:\n      - output: {«titel: 1}\n".replace("«titel", "titel").replace(
                "output", "«output"
            ),
            SEGMENT,
        ),
        ("'titel' is not read",),
    ),
    Case("a duration in words", paged(f"    timeout: «soon\n{EXPECT}", SEGMENT), ("a duration",)),
    Case(
        "allow_failed in words",
        paged(
            f"    for_each: good.offers\n    key: item.title\n    allow_failed: «some\n{EXPECT}",
            SEGMENT,
        ),
        ("a number of items",),
    ),
]

ACTION_FAULTS = [
    Case("an unknown verb", action("«clik: .go"), ("no action 'clik'",)),
    Case(
        "two verbs", action("click: .go\n        «press: Enter"), ("click and press in one action",)
    ),
    Case("a bare verb", action("«click"), ("an action is wanted",)),
    Case("an unclosed quote", action('click: «button "Order # 4"'), ("an unclosed quote",)),
    Case("an unclosed slash", action("click: «link /Order # 4/"), ("an unclosed slash",)),
    Case("an unknown role", action('click: «buton "Go"'), ("not an ARIA role",)),
    Case("an unknown key of a target", action("click: «{role: link, nam: x}"), ("no key 'nam'",)),
    Case("fill without a value", action("fill: {«.a: }"), ("a value is wanted",)),
    Case("fill with a target only", action("fill: «.a"), ("TARGET: VALUE",)),
    Case(
        "a secret in a text",
        with_secret("https://a.example", GOTO_A + '      - fill: {.a: «"x{{ secrets.p }}"}\n'),
        ("a secret stands only",),
    ),
    Case(
        "a secret in a URL",
        with_secret("https://a.example", '      - goto: «"https://a.example/?{{ secrets.p }}"\n'),
        ("a secret stands only",),
    ),
    Case(
        "a secret that is not declared",
        action('fill: {.a: «"{{ secrets.p }}"}'),
        ("no secret is named 'p'",),
    ),
    Case(
        "a secret for another origin",
        with_secret("https://b.example", GOTO_A + '      - fill: {.a: «"{{ secrets.p }}"}\n'),
        ("is for https://b.example",),
    ),
    Case("a wait for a time", action("wait: «5"), ("no waiting for a time",)),
    Case(
        "a template that does not close",
        action('fill: {.a: «"{{ good.name "}'),
        ("end of print statement",),
    ),
    Case(
        "a loop in a template",
        action('fill: {.a: «"{% for x in y %}{% endfor %}"}'),
        ("only {{ values }}",),
    ),
    Case(
        "an unknown filter",
        action('fill: {.a: «"{{ good.name | uper }}"}'),
        ("no filter named 'uper'",),
    ),
    Case("a tab of unknown kind", action("tab: «last"), ("is not a tab",)),
    Case("a reading of nothing", action("read: {x: «{optional: true}}"), ("reads nothing",)),
    Case(
        "an unknown read type",
        action("read: {x: {css: .x, type: «price}}"),
        ("not a type of reading",),
    ),
    Case("a list without fields", action("read: {x: «{each: li}}"), ("needs fields",)),
    Case(
        "a key that is no field",
        action("read: {x: {each: li, key: «sku, fields: {a: .a}}}"),
        ("none of the fields",),
    ),
    Case(
        "until of an unknown name",
        action("read: {x: {each: li, fields: {a: .a}, pages: {next: .n, until: «row > 3}}}"),
        ("does not see 'row'",),
    ),
    Case("a shape", action("read: {x: {«shape: offer.yaml}}"), ("not built yet",)),
    Case(
        "a commit of two",
        STEPS
        + "  bad:\n    do: submit\n    once: x\n    segment:\n      - goto: https://a.example/\n"
        f"      - commit: «{{click: .a, press: Enter}}\n{EXPECT}",
        ("exactly one action",),
    ),
    Case("an output read twice", action("read: {x: .x}\n      - «read: {x: .y}"), ("read twice",)),
]

EXPECTATION_FAULTS = [
    Case("an unknown expectation", expectation("«txt: Hi"), ("no expectation 'txt'",)),
    Case("a count in words", expectation("count: {.x: «many}"), ("a whole number",)),
    Case("bounds without a bound", expectation("rows: {.x: «{}}"), ("needs one of min",)),
    Case("bounds upside down", expectation("rows: {.x: «{min: 3, max: 1}}"), ("more than max",)),
    Case(
        "a pattern that does not compile",
        expectation("value: {.x: {matches: «'('}}"),
        ("not a regular expression",),
    ),
    Case("a status of nothing", expectation("status: «999"), ("a status is wanted",)),
    Case("an empty text", expectation("text: «''"), ("is empty",)),
]

INPUT_FAULTS = [
    ("an unknown input", {"querry": "x"}, None, "did you mean 'query'?"),
    ("a missing input", {}, None, "the input 'query' is missing"),
    ("a number in words", {"query": "x", "most": "ten"}, None, "is a number, not 'ten'"),
    ("a boolean in words", {"query": "x", "fast": "maybe"}, None, "is true or false"),
    ("a date in another order", {"query": "x", "day": "30.11.2026"}, None, "YYYY-MM-DD"),
    ("a file that is not there", {"query": "x", "photo": "gone.png"}, None, "there is no file"),
    ("a list in words", {"query": "x", "people": "anna"}, None, "is a list"),
    ("a list that is no JSON", {"query": "x", "people": "[1,"}, None, "as JSON"),
    (
        "an unknown input in a file",
        {},
        ("in.yaml", "query: x\nmots: 5\n"),
        "in.yaml:2:1: there is no input 'mots'",
    ),
    (
        "a number in words in a file",
        {},
        ("in.yaml", "query: x\nmost: ten\n"),
        "in.yaml:2:7: the input 'most'",
    ),
    (
        "a list for a text",
        {},
        ("in.json", '{"query": ["x"]}'),
        "in.json:1:11: the input 'query' is a text",
    ),
    ("a file of inputs that is no mapping", {}, ("in.yaml", "- a\n"), "one mapping of inputs"),
    ("a file of inputs that is no YAML", {}, ("in.yaml", 'query: "x\n'), "in.yaml:1:8: a quote"),
    ("a file of inputs that is not there", {}, ("", ""), "no such folder"),
    (
        "a CSV with a short row",
        {"query": "x"},
        ("in.csv", "name,mail\nanna\n"),
        "in.csv:2:1: 1 cells under 2 columns",
    ),
    (
        "a CSV with a column twice",
        {"query": "x"},
        ("in.csv", "name,name\na,b\n"),
        "in.csv:1:2: column 2 is the second",
    ),
    ("a CSV without a header", {"query": "x"}, ("in.csv", ""), "is empty"),
    ("a CSV with a broken quote", {"query": "x"}, ("in.csv", 'name\n"anna\n'), "not valid CSV"),
    ("a CSV that is not UTF-8", {"query": "x"}, ("in.csv", b"name\n\xff\n"), "not UTF-8"),
]

CASES = [*YAML, *HEADS, *STEP_FAULTS, *ACTION_FAULTS, *EXPECTATION_FAULTS]


def unmarked(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks, and the line and column of each."""
    places: list[tuple[int, int]] = []
    lines = marked.split("\n")
    for number, line in enumerate(lines, 1):
        while (column := lines[number - 1].find("«")) >= 0:
            places.append((number, column + 1))
            lines[number - 1] = lines[number - 1].replace("«", "", 1)
        del line
    return "\n".join(lines), places


def problems_in(path: Path) -> tuple[Problem, ...]:
    """All that load and check say of a file."""
    with pytest.raises(RecipeInvalid) as caught:
        compile_plan(load_recipe(path))
    assert caught.value.exit_code == 2
    return caught.value.problems


@pytest.mark.parametrize("case", CASES, ids=lambda case: re.sub(r"\W+", "-", case.name))
def test_a_broken_recipe_is_told_with_its_place(case: Case, tmp_path: Path) -> None:
    text, places = unmarked(case.text)
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    problems = problems_in(file)
    shown = "\n".join(str(p) for p in problems)
    assert len(problems) == len(case.says), shown
    for problem, fragment in zip(problems, case.says, strict=True):
        assert fragment in f"{problem.message} {problem.hint}", shown
        assert problem.file == str(file)
    assert [(p.line, p.column) for p in problems][-len(places) :] == places, shown


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    "given, file, says",
    [case[1:] for case in INPUT_FAULTS],
    ids=[re.sub(r"\W+", "-", case[0]) for case in INPUT_FAULTS],
)
def test_a_wrong_input_is_told(
    given: dict[str, str], file: tuple[str, str | bytes] | None, says: str, tmp_path: Path
) -> None:
    recipe = parse_recipe(
        HEAD + "inputs: {query: {}, most: {type: number, default: 5}, fast: {type: boolean, "
        "default: false}, day: {type: date, default: 2026-11-30}, photo: {type: file, "
        "default: null}, people: {type: list, default: []}}\nsteps:\n" + GOOD
    )
    path = None
    if file is not None:
        name, content = file
        path = tmp_path / (name or "gone/in.yaml")
        if name:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputInvalid) as caught:
        bind_inputs(recipe.inputs, given, path)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2
    assert caught.value.problems


@pytest.mark.parametrize(
    "content, says",
    [
        (b"webagent: 1\nid: \xff\n", "not UTF-8 text: byte 16 in line 2"),
        (b"webagent: 1\nid: \x00\n", "U+0000 is not allowed"),
        (b"#" * 1_000_001, "larger than 1 MB"),
    ],
    ids=["not-utf-8", "binary", "too-large"],
)
def test_a_file_that_is_no_recipe_is_told(content: bytes, says: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_bytes(content)
    (problem,) = problems_in(file)
    assert says in problem.message
    assert problem.file == str(file)


def test_a_folder_and_a_misspelt_file_are_told(tmp_path: Path) -> None:
    (tmp_path / "order.yaml").write_text(STEPS)
    (folder,) = problems_in(tmp_path)
    assert "is a folder" in folder.message
    (gone,) = problems_in(tmp_path / "ordr.yaml")
    assert gone.hint == "did you mean 'order.yaml'?"


def test_aliases_that_unfold_without_end_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    file = tmp_path / "bomb.yaml"
    file.write_text("\n".join(lines))
    (problem,) = problems_in(file)
    assert "more than 50000 parts" in problem.message
    assert problem.line == 5


def test_recipes_that_use_each_other_are_told(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.yaml").write_text(
            f"webagent: 1\nid: {name}\nsteps:\n  x: {{use: {other}.yaml}}\n"
        )
    (problem,) = problems_in(tmp_path / "a.yaml")
    assert "use each other in a ring" in problem.message
    assert (Path(problem.file).name, problem.line, problem.column) == ("b.yaml", 4, 12)


def test_faults_of_a_used_recipe_stand_in_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(STEPS + "  bad:\n    do: raed\n")
    file = tmp_path / "outer.yaml"
    file.write_text(STEPS + "  bad: {use: inner.yaml}\n  worse:\n    do: raed\n")
    inner, outer = sorted(problems_in(file), key=lambda p: p.file)
    assert (Path(inner.file).name, inner.line) == ("inner.yaml", 11)
    assert (Path(outer.file).name, outer.line) == ("outer.yaml", 12)


def test_a_used_recipe_stays_within_the_sites_of_the_using_one(tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(STEPS)
    file = tmp_path / "outer.yaml"
    file.write_text(HEAD + "sites: [https://b.example]\nsteps:\n  u: {use: inner.yaml}\n")
    (problem,) = problems_in(file)
    assert "goes to https://a.example, which is not among sites" in problem.message
    assert (problem.file, problem.line, problem.column) == (str(file), 5, 3)


def test_faults_of_text_and_of_graph_are_told_at_once(tmp_path: Path) -> None:
    text, places = unmarked(
        STEPS
        + f"  one:\n    do: «raed\n  two:\n    do: read\n    when: «good.nam\n{SEGMENT}{EXPECT}"
        + f"  three:\n    do: read\n    when: one.anything == 1\n{SEGMENT}{EXPECT}"
    )
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    assert [(p.line, p.column) for p in problems_in(file)] == places
