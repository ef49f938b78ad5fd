"""Inputs get their types. What is refused stands in tests/journeys/test_bad_input.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from webagent.core.errors import InputInvalid
from webagent.core.plan import InputSpec
from webagent.formats.inputs import bind_inputs

SPECS = {
    "query": InputSpec(),
    "most": InputSpec(type="number", default=5, has_default=True),
    "fast": InputSpec(type="boolean", default=False, has_default=True),
    "day": InputSpec(type="date", default="2026-11-30", has_default=True),
    "people": InputSpec(type="list", default=[], has_default=True),
}
CSV = "name,mail\nAnna,anna@a.example\n\nBo,bo@b.example\n"
ROWS = [{"name": "Anna", "mail": "anna@a.example"}, {"name": "Bo", "mail": "bo@b.example"}]


def test_defaults_stand_where_nothing_is_given() -> None:
    assert bind_inputs(SPECS, {"query": "x"}) == {
        "query": "x", "most": 5, "fast": False, "day": "2026-11-30", "people": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("query", "012", "012"),
        ("query", "", ""),
        ("most", "12", 12),
        ("most", "-1.5", -1.5),
        ("most", "1e3", 1000),
        ("most", "12345678901234567891", 12345678901234567891),
        ("fast", "yes", True),
        ("fast", "0", False),
        ("day", "2024-02-29", "2024-02-29"),
        ("people", '["Anna"]', ["Anna"]),
    ],
)
def test_a_text_becomes_the_inputs_type(name: str, text: str, value: Any) -> None:
    bound = bind_inputs(SPECS, {"query": "x", name: text})[name]
    assert bound == value
    assert type(bound) is type(value)


@pytest.mark.parametrize(
    "name, text",
    [
        ("most", "1e999"),
        ("most", "-1e999"),
        ("most", "9" * 400),
        ("most", "9" * 5000),
        ("most", "9" * 400 + ".5"),
        ("most", "inf"),
        ("most", "nan"),
        ("most", "Infinity"),
        ("people", "[1e999]"),
        ("people", '[{"n": [NaN]}]'),
        ("people", "[-Infinity]"),
        ("people", "[" + "9" * 400 + "]"),
        ("people", "[" + "9" * 5000 + "]"),
        ("people", "[" * 100_000),
    ],
)
def test_a_number_that_none_can_hold_is_refused(name: str, text: str) -> None:
    with pytest.raises(InputInvalid, match=f"the input '{name}' is a ") as caught:
        bind_inputs(SPECS, {"query": "x", name: text})
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["1e999", ".inf", ".nan", "-.inf", "9" * 400, "9" * 5000])
def test_a_number_in_a_file_that_none_can_hold_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "in.yaml"
    file.write_text(f"query: x\nmost: {text}\n")
    with pytest.raises(InputInvalid, match="the input 'most' is a number"):
        bind_inputs(SPECS, {}, file)


def test_a_file_of_inputs_is_a_mapping_and_the_command_line_wins(tmp_path: Path) -> None:
    file = tmp_path / "in.yaml"
    file.write_text("query: 2024\nmost: 7\npeople:\n  - {name: Anna}\n")
    bound = bind_inputs(SPECS, {"most": "8"}, file)
    assert (bound["query"], bound["most"], bound["people"]) == ("2024", 8, [{"name": "Anna"}])


def test_json_is_a_mapping_too(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text('{"query": "x", "fast": true}')
    assert bind_inputs(SPECS, {}, file)["fast"] is True


@pytest.mark.parametrize("text", [CSV, "\ufeff" + CSV, CSV.replace(",", ";").replace("\n", "\r\n")])
def test_a_csv_gives_the_rows_of_the_one_list(text: str, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(text.encode())
    assert bind_inputs(SPECS, {"query": "x"}, file)["people"] == ROWS
    assert bind_inputs(SPECS, {"query": "x", "people": str(file)})["people"] == ROWS


def test_a_csv_named_in_the_recipe_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV)
    spec = InputSpec(type="list", source="people.csv", has_default=True)
    assert bind_inputs({"people": spec}, base=tmp_path) == {"people": ROWS}


def test_a_file_is_stored_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "photo.png").write_bytes(b"x")
    monkeypatch.chdir(tmp_path)
    spec = {"photo": InputSpec(type="file")}
    path = str((tmp_path / "photo.png").resolve())
    assert bind_inputs(spec, {"photo": "photo.png"}) == {"photo": path}
    (tmp_path / "in.yaml").write_text("photo: photo.png\n")
    assert bind_inputs(spec, {}, tmp_path / "in.yaml") == {"photo": path}


def test_inputs_keep_the_order_of_the_recipe() -> None:
    assert list(bind_inputs(SPECS, {"day": "2026-01-01", "query": "x"})) == list(SPECS)
