"""An accepted revision changes what it changes in a recipe's text, and not one character more."""

from __future__ import annotations

import difflib
import os
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webagent.core.action import Action
from webagent.core.errors import BadInput
from webagent.core.expect import Expectation
from webagent.core.recipe import Use
from webagent.formats.actions_text import actions_from_texts
from webagent.formats.recipe_edit import StepEdit, edit_step, edited, find_step, write_text
from webagent.formats.recipe_yaml import load_recipe, parse_recipe

HEAD = "webagent: 1\nid: shop\n"


def segment_of(yaml: str, inputs: str = "") -> tuple[tuple[Action, ...], tuple[Expectation, ...]]:
    step_text = f"do: open, segment: {yaml}, expect: [{{text: X}}]"
    text = f"{HEAD}{inputs}steps:\n  s: {{{step_text}}}\n"
    step = parse_recipe(text).steps["s"]
    assert not isinstance(step, Use)
    return step.segment or (), step.expect


def change(folder: Path, text: str, new: str, *, step: str = "s", places: str = "") -> str:
    """The text of recipe.yaml after the step's segment became ``new`` (in YAML)."""
    file = folder / "recipe.yaml"
    file.write_bytes(text.encode("utf-8"))
    recipe = load_recipe(file)
    _, found = find_step(recipe, step)
    placed = None
    if places:
        full = f"{HEAD}steps:\n  s:\n    do: open\n    segment: [back]\n    expect: {places}\n"
        placed = find_step(parse_recipe(full), "s")[1].expect
    after = segment_of(new)[0] if new else found.segment or ()
    made = edited(str(file), [StepEdit(step, found.segment or (), after, placed)])
    for path, (before, text_after) in made.items():
        write_text(path, before, text_after)
    load_recipe(file)
    return file.read_bytes().decode("utf-8")


def differing(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
    return [line for line in lines if line[:2] not in ("--", "++", "@@")]


COMMENTED = """\
# What this is for
webagent: 1
id:   shop      # never changed
steps:          # in order

  first:  {do: open, segment: [{goto: "http://x/"}], expect: [{text: A}]}   # one line
  s:
    do: search
    goal: 'Find it'   # quoted
    segment:
      # enter
      - goto: http://shop.example/     # the front page
      # look for it

      - fill: {searchbox "Search": "usb-c"}   # an input would be better
      - click: button "Go"    # sends it
      # and read
      - read:
          title: h1           # the head
          offers:
            each: article.product
            key: link         # unique
            fields: {title: h2, link: {css: a, attr: href}}   # short
    # what must hold
    expect:
      - url: "**/search*"     # the place
      - text: Found
  # the end
"""

CASES = {
    "one target": (
        COMMENTED,
        '[{goto: "http://shop.example/"}, {fill: {searchbox "Search": usb-c}}, '
        '{click: button "Search now"}, {read: {title: h1, offers: {each: article.product, '
        "key: link, fields: {title: h2, link: {css: a, attr: href}}}}}]",
        ['-      - click: button "Go"    # sends it',
         '+      - click: button "Search now"    # sends it'],
    ),
    "a key of a flow mapping": (
        COMMENTED,
        '[{goto: "http://shop.example/"}, {fill: {textbox "Find": usb-c}}, '
        '{click: button "Go"}, {read: {title: h1, offers: {each: article.product, '
        "key: link, fields: {title: h2, link: {css: a, attr: href}}}}}]",
        [
            '-      - fill: {searchbox "Search": "usb-c"}   # an input would be better',
            '+      - fill: {textbox "Find": "usb-c"}   # an input would be better',
        ],
    ),
    "a field deep inside": (
        COMMENTED,
        '[{goto: "http://shop.example/"}, {fill: {searchbox "Search": usb-c}}, '
        '{click: button "Go"}, {read: {title: h1, offers: {each: li.hit, '
        "key: link, fields: {title: h2, link: {css: a.more, attr: href}}}}}]",
        [
            "-            each: article.product",
            "+            each: li.hit",
            "-            fields: {title: h2, link: {css: a, attr: href}}   # short",
            "+            fields: {title: h2, link: {css: a.more, attr: href}}   # short",
        ],
    ),
    "actions put in and taken out": (
        COMMENTED,
        '[{click: button "Accept"}, {goto: "http://shop.example/"}, '
        '{fill: {searchbox "Search": usb-c}}, {press: Enter}, {wait: .hits}, '
        "{read: {title: h1, offers: {each: article.product, "
        "key: link, fields: {title: h2, link: {css: a, attr: href}}}}}]",
        [
            '+      - click: button "Accept"',
            '-      - click: button "Go"    # sends it',
            "+      - press: Enter    # sends it",
            "+      - wait: .hits",
        ],
    ),
    "an action less": (
        COMMENTED,
        '[{goto: "http://shop.example/"}, {fill: {searchbox "Search": usb-c}}, '
        "{read: {title: h1, offers: {each: article.product, "
        "key: link, fields: {title: h2, link: {css: a, attr: href}}}}}]",
        ['-      - click: button "Go"    # sends it'],
    ),
    "a step in one line": (
        HEAD + 'steps:\n  s: {do: open, segment: [{goto: "http://x/"}, {click: .a}, {click: .c}], '
        "expect: [{text: A}]}  # why\n",
        '[{goto: "http://y/?a={{ b }}"}, {hover: .m}, {click: .c}, {click: .d}]'.replace(
            "?a={{ b }}", "?a=1,2"
        ),
        [
            '-  s: {do: open, segment: [{goto: "http://x/"}, {click: .a}, {click: .c}], '
            "expect: [{text: A}]}  # why",
            '+  s: {do: open, segment: [{goto: "http://y/?a=1,2"}, {hover: .m}, {click: .c}, '
            "{click: .d}], expect: [{text: A}]}  # why",
        ],
    ),
    "lists at their key's column": (
        HEAD + "steps:\n  s:\n    do: open\n    expect:\n    - text: A\n    segment:\n"
        "    - goto: http://x/\n    - click: .a\n    - back:\n",
        '[{goto: "http://x/"}, {click: .a}, {click: .b}, back]',
        ["+    - click: .b"],
    ),
    "no line end at the end": (
        HEAD + "steps:\n  s:\n    do: open\n    expect: [{text: A}]\n    segment:\n"
        "      - goto: http://x/\n      - click: .a",
        '[{goto: "http://x/"}, {click: .a}, {click: .b}]',
        ["-      - click: .a", "+      - click: .a", "+      - click: .b"],
    ),
    "block scalars and dashes alone": (
        HEAD + "steps:\n  s:\n    do: open\n    segment:\n      - # why\n        goto: >-\n"
        "          http://x/\n          a\n\n      -\n        click: .a   # b\n"
        "    expect: [{text: A}]\n",
        '[{goto: "http://y/"}, {click: .a}, {click: .b}]',
        [
            "-        goto: >-", "-          http://x/", "-          a",
            '+        goto: http://y/', "+      - click: .b",
        ],
    ),
    "umlauts and quotes": (
        HEAD + "errand: Größe wählen\nsteps:\n  s:\n    do: open\n    segment:\n"
        "      - goto: 'http://x/ä'\n      - click: 'button \"Größe\"'  # für Füße ☺\n"
        "    expect: [{text: Ä}]\n",
        '[{goto: "http://x/ä"}, {click: button "Straße 😀"}]',
        [
            "-      - click: 'button \"Größe\"'  # für Füße ☺",
            "+      - click: 'button \"Straße 😀\"'  # für Füße ☺",
        ],
    ),
    "a mapping as a target": (
        HEAD + "steps:\n  s:\n    do: open\n    segment:\n      - goto: http://x/\n      - click:\n"
        "          role: button     # a\n          name: Go         # b\n        timeout: 5s  # c\n"
        "    expect: [{text: A}]\n",
        '[{goto: "http://x/"}, {click: {role: button, name: Search}, timeout: 5}]',
        ["-          name: Go         # b", "+          name: Search         # b"],
    ),
    "a mapping becomes a text": (
        HEAD + "steps:\n  s:\n    do: open\n    segment:\n      - goto: http://x/\n      - click:\n"
        "          role: button\n          name: Go\n        timeout: 5s  # c\n"
        "    expect: [{text: A}]\n",
        '[{goto: "http://x/"}, {click: button "Search", timeout: 5}]',
        ["-      - click:", "-          role: button", "-          name: Go",
         '+      - click: button "Search"'],
    ),
    "an entry less and one more": (
        HEAD + "steps:\n  s:\n    do: open\n    segment:\n      - fill:\n"
        "          .a: 1    # a\n          # b comes second\n          .b: 2    # b\n"
        "          .c: 3    # c\n      - click: .go   # go\n    expect: [{text: A}]\n",
        "[{fill: {.a: 1, .c: 4, .d: 5}}, {click: .go, within: .x}]",
        ["-          .b: 2    # b", "-          .c: 3    # c", "+          .c: 4    # c",
         "+          .d: 5", "+        within: .x"],
    ),
    "a commit with its request": (
        HEAD + "steps:\n  s:\n    do: submit\n    once: k\n    segment:\n      - goto: http://x/\n"
        "      - commit:\n          click: button \"Buy\"         # once\n"
        "          request: \"POST **/o\"\n    expect: [{text: A}]\n",
        '[{goto: "http://x/"}, {commit: {click: button "Order", request: "POST **/o"}}]',
        ['-          click: button "Buy"         # once',
         '+          click: button "Order"         # once'],
    ),
    "for_each and templates": (
        HEAD + "inputs: {rows: {type: list, default: [{id: 1}]}}\nsteps:\n  s:\n    do: open\n"
        '    for_each: "{{ rows }}"\n    key: item.id\n    segment:\n'
        '      - goto: "http://x/{{ item.id }}"   # each\n      - click: .a\n'
        "    expect: [{text: A}]\n",
        '[{goto: "http://x/{{ item.id }}"}, {click: "row {{ item.id }}"}]'.replace(
            '"row {{ item.id }}"', "'link \"{{ item.id }}\"'"
        ),
        ["-      - click: .a", "+      - click: 'link \"{{ item.id }}\"'"],
    ),
    "an alias of another step's segment": (
        HEAD + "steps:\n  a:\n    do: open\n    segment: &open\n      - goto: http://x/\n"
        "      - click: .a\n    expect: [{text: A}]\n  s:\n    do: open\n    segment: *open\n"
        "    expect: [{text: B}]\n",
        '[{goto: "http://x/"}, {click: .b}]',
        ["-    segment: *open", "+    segment:", "+      - goto: http://x/", "+      - click: .b"],
    ),
    "an alias of one action": (
        HEAD + "steps:\n  a:\n    do: open\n    segment:\n      - &go\n        goto: http://x/\n"
        "      - click: .a\n    expect: [{text: A}]\n  s:\n    do: open\n    segment:\n"
        "      - *go\n      - click: .a\n    expect: [{text: B}]\n",
        '[{goto: "http://y/"}, {click: .a}]',
        ["-      - *go", "+      - goto: http://y/"],
    ),
    "a merged step": (
        HEAD + "steps:\n  a: &a\n    do: open\n    segment: [{goto: 'http://x/'}]\n"
        "    expect: [{text: A}]\n  s:\n    <<: *a\n    goal: Same   # but\n",
        '[{goto: "http://x/"}, {click: .b}]',
        ["+    segment:", "+      - goto: http://x/", "+      - click: .b"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "-"))
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_only_what_is_revised_changes(tmp_path: Path, case: str, ends: str):
    text, new, wanted = CASES[case]
    text = text.replace("\n", ends)
    after = change(tmp_path, text, new)
    found = [line.rstrip("\r") for line in differing(text, after)]
    if case == "no line end at the end" and ends == "\n":
        wanted = wanted[2:]
    if case == "no line end at the end":
        found = [line for line in found if line[2:].strip() != "- click: .a"]
        wanted = ["+      - click: .b"]
    assert found == wanted
    assert after.count("\r\n") == (after.count("\n") if ends == "\r\n" else 0)


# -- places ---------------------------------------------------------------------------------------

PLACES = {
    "a new url in its place": (
        '[{url: "**/find*"}]',
        ['-      - url: "**/search*"     # the place', '+      - url: "**/find*"     # the place'],
    ),
    "one more to the front": (
        '[{url: "**/search*"}, {title: Hits}]',
        ["+      - title: Hits"],
    ),
    "another kind": (
        "[{title: Hits}]",
        ['-      - url: "**/search*"     # the place', '+      - title: "Hits"     # the place'],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PLACES, ids=lambda case: case.replace(" ", "-"))
def test_a_moved_place_is_written_where_the_old_one_stood(tmp_path: Path, case: str):
    places, wanted = PLACES[case]
    after = change(tmp_path, COMMENTED, "", places=places)
    assert sorted(differing(COMMENTED, after)) == sorted(wanted)
    assert "- text: Found" in after


@pytest.mark.parametrize(
    "old, new",
    [
        ('{url: "**/a", text: A}', '{url: "**/b", text: A}'),
        ('[{url: "**/a", text: A}]', '[{url: "**/b", text: A}]'),
    ],
)
def test_a_place_in_a_mapping_of_several_is_changed_alone(tmp_path: Path, old: str, new: str):
    text = f"{HEAD}steps:\n  s:\n    do: open\n    segment: [back]\n    expect: {old}\n"
    after = change(tmp_path, text, "", places='[{url: "**/b"}]')
    assert after == text.replace(old, new)


# -- used recipes ---------------------------------------------------------------------------------

OUTER = HEAD + "steps:\n  pay: {use: parts/inner.yaml}  # as ever\n"
INNER = (
    "webagent: 1\nid: inner\nsteps:\n  s:\n    do: open\n    segment:\n"
    "      - goto: http://x/  # here\n    expect: [{text: A}]\n"
)


def used(folder: Path) -> Path:
    (folder / "parts").mkdir()
    (folder / "parts" / "inner.yaml").write_text(INNER, "utf-8")
    (folder / "recipe.yaml").write_text(OUTER, "utf-8")
    return folder / "recipe.yaml"


def test_a_step_of_a_used_recipe_is_edited_in_its_file(tmp_path: Path):
    file = used(tmp_path)
    edit = StepEdit("pay/s", segment_of("[{goto: 'http://x/'}]")[0], segment_of("[back]")[0])
    made = edited(str(file), [edit])
    assert list(made) == [str(tmp_path / "parts" / "inner.yaml")]
    ((before, after),) = made.values()
    assert (before, after) == (INNER, INNER.replace("goto: http://x/", "back"))
    assert file.read_text("utf-8") == OUTER


def test_two_uses_of_one_recipe_that_were_healed_alike_are_one_edit(tmp_path: Path):
    file = used(tmp_path)
    file.write_text(OUTER + "  pay_b: {use: parts/inner.yaml}\n", "utf-8")
    before, after = segment_of("[{goto: 'http://x/'}]")[0], segment_of("[{goto: 'http://y/'}]")[0]
    made = edited(str(file), [StepEdit(f"{name}/s", before, after) for name in ("pay", "pay_b")])
    assert [text for _, text in made.values()] == [INNER.replace("//x/", "//y/")]


# -- refusals -------------------------------------------------------------------------------------


def refused(folder: Path, text: str, before: str, after: str, step: str = "s") -> BadInput:
    file = folder / "recipe.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(BadInput) as error:
        edited(str(file), [StepEdit(step, segment_of(before)[0], segment_of(after)[0])])
    assert file.read_text("utf-8") == text
    assert error.value.hint
    return error.value


STEP = HEAD + "steps:\n  s:\n    do: open\n    segment: [{click: .a}]\n    expect: [{text: A}]\n"


def test_a_step_that_was_edited_since_is_not_overwritten(tmp_path: Path):
    assert "edited since" in str(refused(tmp_path, STEP, "[{click: .z}]", "[{click: .b}]"))


def test_a_step_that_has_its_new_text_already_changes_nothing(tmp_path: Path):
    file = tmp_path / "recipe.yaml"
    file.write_text(STEP, "utf-8")
    edit = StepEdit("s", segment_of("[{click: .z}]")[0], segment_of("[{click: .a}]")[0])
    assert edited(str(file), [edit]) == {}


def test_a_step_that_is_gone_is_told(tmp_path: Path):
    assert "no step" in str(refused(tmp_path, STEP, "[back]", "[{click: .b}]", "t"))
    assert "no step" in str(refused(tmp_path, STEP, "[back]", "[{click: .b}]", "s/t"))


def test_a_file_that_is_gone_or_broken_is_told(tmp_path: Path):
    edit = StepEdit("s", segment_of("[back]")[0], segment_of("[reload]")[0])
    with pytest.raises(BadInput, match="no such file"):
        edited(str(tmp_path / "gone.yaml"), [edit])
    assert "not right any more" in str(refused(tmp_path, "webagent: 1\n", "[back]", "[reload]"))


def test_an_anchor_that_others_use_is_not_changed_under_them(tmp_path: Path):
    text = (
        HEAD
        + "steps:\n  s:\n    do: open\n    segment: &x [{click: .a}]\n    expect: [{text: A}]\n"
        "  t:\n    do: open\n    segment: *x\n    expect: [{text: A}]\n"
    )
    error = refused(tmp_path, text, "[{click: .a}]", "[{click: .b}]")
    assert "something else would change" in str(error)


def test_a_whole_step_by_alias_is_left_to_a_person(tmp_path: Path):
    text = STEP.replace("  s:\n", "  a: &a\n") + "  s: *a\n"
    assert "alias" in str(refused(tmp_path, text, "[{click: .a}]", "[{click: .b}]"))


# -- writing --------------------------------------------------------------------------------------


def test_a_file_keeps_its_mode_its_mark_and_its_link(tmp_path: Path):
    real = tmp_path / "real.yaml"
    real.write_bytes(b"\xef\xbb\xbf" + STEP.encode())
    real.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(real)
    write_text(str(link), STEP, STEP.replace(".a", ".b"))
    assert link.is_symlink()
    assert real.read_bytes() == b"\xef\xbb\xbf" + STEP.replace(".a", ".b").encode()
    assert real.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path):
    file = tmp_path / "recipe.yaml"
    file.write_text(STEP, "utf-8")
    with pytest.raises(BadInput, match="meanwhile"):
        write_text(str(file), "other", "new")
    assert file.read_text("utf-8") == STEP


# -- whatever stands there ------------------------------------------------------------------------

FLOW = [
    "{goto: 'http://x/'}", "{goto: http://y/}", "back", "{click: .a}", '{click: button "Go"}',
    "{click: {role: link, name: A, nth: 1}, timeout: 3s}", "{fill: {.a: 1, .b: '{{ query }}'}}",
    "{fill: {.c: 1, .b: '{{ query }}'}}", "{fill: {.b: '{{ query }}', .d: 2}}", "{fill: {.a: 1}}",
    "{click: .a, optional: true}", "{read: {x: h1}}", "{wait: .a, within: .b}",
    "{read: {x: h1, y: {each: li, fields: {n: {css: b, type: number}}}}}", "{press: Enter}",
]  # fmt: skip
# As they stand behind a dash in the first column.
BLOCK = [
    "goto: 'http://x/'   # 1", "goto: http://y/", "back:   # 2", "click: .a",
    'click: button "Go"  # 3',
    "# 4\n  click:\n      role: link  # 5\n      name: A\n      nth: 1\n  timeout: 3s  # 6",
    "fill:\n    .a: 1\n    # 7\n    .b: '{{ query }}'", "fill: {.c: 1, .b: '{{ query }}'}",
    "fill:\n    .b: '{{ query }}'\n    .d: 2   # d", "fill:\n    .a: 1",
    "click: .a   # 12\n  optional: true  # 13",
    "read:\n    x: h1   # 8", "wait: .a\n  within: .b  # 9",
    "read:\n    x: h1\n    y:\n      each: li  # 10\n      fields:\n"
    "        n: {css: b, type: number}  # 11", "press: >-\n    Enter",
]  # fmt: skip
few = settings(max_examples=int(os.environ.get("EXAMPLES", "40")), deadline=None)
indices = st.lists(st.integers(0, len(FLOW) - 1), min_size=1, max_size=5)


@few
@given(indices, indices, st.booleans(), st.booleans())
def test_any_segment_becomes_any_other(old: list[int], new: list[int], flow: bool, crlf: bool):
    head = HEAD + "inputs: {query: }\nsteps:\n  s:\n    do: read\n    expect: [{text: X}]\n"
    if flow:
        segment = " [" + ", ".join(FLOW[i] for i in old) + "]"
    else:
        items = "".join(f"- {BLOCK[i]}\n" for i in old)
        segment = "\n" + textwrap.indent(items, " " * 6) + "      # end"
    text = f"{head}    segment:{segment}\n  # rest\n  t: {{do: open, segment: [back], expect: "
    text += "[{text: A}]}"
    if crlf:
        text = text.replace("\n", "\r\n")
    before = parse_recipe(text).steps["s"]
    after = segment_of("[" + ", ".join(FLOW[i] for i in new) + "]", "inputs: {query: }\n")[0]
    assert not isinstance(before, Use)
    edit = StepEdit("s", before.segment or (), after)
    made = edit_step(text, edit)
    found = parse_recipe(made).steps
    assert found["s"] == before.model_copy(update={"segment": after})
    assert made.endswith(text[text.index("# rest") :])
    assert made.startswith(text[: text.index("segment:")])


def test_a_step_that_a_model_worked_is_given_its_first_segment(tmp_path: Path):
    file = tmp_path / "recipe.yaml"
    text = (
        "webagent: 1\nid: x\nsteps:\n  look:      # find it\n    do: search\n"
        "    expect: [{output: {n: {type: string}}}]\n  # the next\n  other:\n    do: read\n"
        "    segment: [{goto: http://a.test/}, {read: {t: h1}}]\n"
    )
    file.write_text(text, "utf-8")
    made = actions_from_texts(["goto: http://a.test/", "read: {n: .n}"])
    after = edited(str(file), [StepEdit("look", (), made)], "x")[str(file)][1]
    added = '    segment:\n      - goto: http://a.test/\n      - read: {"n": .n}\n'
    assert after == text.replace("  # the next\n", f"{added}  # the next\n")
