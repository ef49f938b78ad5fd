"""A long outline is cut where it matters least, and every cut is told in its place."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webagent.core.outline import LENGTH, ROWS, cut

# The one line that tells of a cut may stand over the length.
NOTE = 60


def rows(count: int, indent: str = "") -> list[str]:
    return [f'{indent}- listitem "Item {n}" [ref=e{n}]: costs {n}.50' for n in range(count)]


def odd(count: int, indent: str = "") -> list[str]:
    """Lines of which no two have one shape."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        f"{indent}- x{letters[n % 26]}{letters[n // 26 % 26]}{letters[n // 676]} [ref=e{n}]"
        for n in range(count)
    ]


@pytest.mark.parametrize("text", ["", "\n", '- button "Send" [ref=e1]', "\n".join(rows(60))])
def test_a_short_outline_stays_as_it_is(text: str):
    assert cut(text) == text


def test_the_middle_of_a_long_run_is_folded_and_counted():
    text = cut("\n".join(["- list [ref=e0]:", *rows(500, "  "), '- button "Next"']), 2_000)
    lines = text.splitlines()
    assert lines[1] == '  - listitem "Item 0" [ref=e0]: costs 0.50'
    assert lines[1 + ROWS] == f"  # {500 - 2 * ROWS} more like these"
    assert lines[-2].startswith('  - listitem "Item 499"')
    assert lines[-1] == '- button "Next"'


def test_rows_keep_what_stands_in_them():
    deep = [line for row in rows(200) for line in (row, '  - button "Buy"', "    - text: now")]
    lines = cut("\n".join(deep), 5_000).splitlines()
    assert lines.count('  - button "Buy"') == lines.count("    - text: now") == 2 * ROWS


def test_a_run_of_other_things_is_not_folded():
    lines = cut("\n".join(odd(100)), 1_000).splitlines()
    assert lines[:10] == odd(10)
    assert "more like these" not in "\n".join(lines)


@pytest.mark.parametrize("role", ["contentinfo", "banner", "navigation", "complementary"])
def test_what_stands_around_goes_before_the_main_part(role: str):
    around = [f"- {role} [ref=e1]:", *odd(60, "  ")]
    main = ["- main [ref=e2]:", *odd(60, "  "), '  - button "Send"']
    text = cut("\n".join([*around, *main]), sum(len(line) + 1 for line in main) + 60)
    assert text.splitlines() == [f"# {role}: 61 lines left out", *main]


def test_no_more_goes_than_has_to():
    footer = ["- contentinfo:", *odd(40, "  ")]
    nav = ["- navigation:", '  - link "Home"', '  - link "Help"']
    main = ["- main:", *odd(20, "  ")]
    lines = cut("\n".join([*nav, *main, *footer]), 700).splitlines()
    assert lines[:3] == nav
    assert lines[-1] == "# contentinfo: 41 lines left out"


@pytest.mark.parametrize("role", ["dialog", "alertdialog"])
@pytest.mark.parametrize("place", ["before", "behind", "within"])
def test_a_dialog_is_never_cut_before_what_it_covers(role: str, place: str):
    lead = "  " if place == "within" else ""
    dialog = [f'{lead}- {role} "Cookies" [ref=e9]:', f'{lead}  - button "Accept all" [ref=e10]']
    main = ["- main:", *odd(400, "  ")]
    lines = [*dialog, *main] if place == "before" else [*main, *dialog]
    told = cut("\n".join(lines), 3_000).splitlines()
    assert dialog[0] in told
    assert told[told.index(dialog[0]) + 1] == dialog[1]
    assert any(line.startswith("# cut here") for line in told)
    assert len("\n".join(told)) <= 3_000 + NOTE


def test_a_dialog_longer_than_all_the_room_is_cut_too():
    dialog = ['- dialog "Terms":', *odd(400, "  ")]
    text = cut("\n".join(["- main:", *odd(400, "  "), *dialog]), 2_000)
    assert '- dialog "Terms":' in text
    assert len(text) <= 2_000 + 2 * NOTE


def test_how_much_was_cut_at_the_end_is_told():
    text = cut("\n".join(odd(1_000)), 1_000)
    kept, note = text.rsplit("\n", 1)
    assert note == f"# cut here: {1_000 - len(kept.splitlines())} more lines"


def test_one_endless_line_is_cut():
    assert len(cut("- text: " + "x" * 100_000)) <= LENGTH + NOTE


LINES = st.builds(
    lambda depth, role, name: f"{'  ' * depth}- {role}{name}",
    st.integers(0, 6),
    st.sampled_from(["main", "navigation", "dialog", "listitem", "contentinfo", "row", "text"]),
    st.sampled_from(["", ":", ' "A" [ref=e1]', ": 12.50", ' "a \\" b"', " [level=2]: x"]),
)
RUBBISH = st.text(st.characters(codec="utf-8"), max_size=40)


@given(st.lists(LINES, max_size=200), st.integers(50, 3_000))
def test_an_outline_of_any_shape_keeps_to_the_length_and_loses_no_line_untold(
    lines: list[str], length: int
):
    text = cut("\n".join(lines), length)
    assert len(text) <= length + 2 * NOTE
    told = text.splitlines()
    if len(told) < len(lines):
        assert any(line.lstrip().startswith("# ") for line in told)


@given(st.lists(RUBBISH | LINES, max_size=60).map("\n".join), st.integers(1, 500))
@example("  - a\n- b\n      - c\n\t- d\n#\n- \n-" * 40, 100)
@example("- dialog:" * 100, 10)
def test_whatever_an_outline_is_made_of_it_is_cut(text: str, length: int):
    assert len(cut(text, length)) <= max(len(text), length + 2 * NOTE)
