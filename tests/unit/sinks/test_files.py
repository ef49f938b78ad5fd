"""Results go to a file whole, and a table only grows by rows of its own columns."""

from __future__ import annotations

import csv
import json
import os
import stat
import threading
from pathlib import Path

import pytest

from webagent.core.errors import BadInput, StoreError
from webagent.sinks.files import check_out, write_outputs

OFFERS = {
    "search": {
        "offers": [
            {"title": "Käbel", "price": {"amount": 9.5, "currency": "EUR"}, "ok": True, "n": None},
            {"title": '=1+1, "x"\nline', "price": {"amount": 8, "currency": "EUR"}, "ok": False},
        ],
        "offers_bad": [{"row": 3}],
    },
    "skipped": None,
}


def test_json_holds_all_outputs_and_replaces_the_file(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_text("before")
    file.chmod(0o640)
    assert write_outputs(file, OFFERS) == 2
    assert json.loads(file.read_text("utf-8")) == OFFERS
    assert "Käbel" in file.read_text("utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_json_file_that_cannot_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "out.json"
    file.write_text("before")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_outputs(file, OFFERS)
    assert file.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_csv_has_a_column_for_each_inner_value(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    assert write_outputs(file, OFFERS) == 2
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows == [
        ["title", "price.amount", "price.currency", "ok", "n"],
        ["Käbel", "9.5", "EUR", "true", ""],
        ['=1+1, "x"\nline', "8", "EUR", "false", ""],  # a formula-like cell stays as it is
    ]


def test_jsonl_keeps_inner_values(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    write_outputs(file, OFFERS)
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert rows[0]["price"] == {"amount": 9.5, "currency": "EUR"}
    assert list(rows[1]) == ["title", "price", "ok", "n"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_table_grows_by_rows_in_its_own_order_of_columns(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"out.{suffix}"
    write_outputs(file, {"s": {"rows": [{"a": 1, "b": "x"}]}})
    write_outputs(file, {"s": {"rows": [{"b": "y", "a": 2}]}})
    write_outputs(file, {"s": {"rows": []}})
    wanted = {"csv": "a,b\n1,x\n2,y\n", "jsonl": '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'}
    assert file.read_text() == wanted[suffix]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_other_columns_are_refused_by_name_and_nothing_is_written(
    tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"out.{suffix}"
    write_outputs(file, {"s": {"rows": [{"a": 1, "b": 2}]}})
    before = file.read_bytes()
    with pytest.raises(BadInput, match="without b and with c, which") as caught:
        write_outputs(file, {"s": {"rows": [{"a": 1, "c": 2}]}})
    assert "another file" in caught.value.hint
    assert file.read_bytes() == before


def test_without_a_list_all_outputs_make_one_row(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    assert write_outputs(file, {"order": {"number": "A1", "tags": ["x"]}, "b": {}}) == 1
    assert file.read_text() == 'order.number,order.tags\nA1,"[""x""]"\n'


def test_two_lists_do_not_fit_one_table(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    outputs = {"a": {"rows": [{"x": 1}]}, "b": {"rows": [{"x": 2}]}}
    with pytest.raises(BadInput, match=r"2 lists \(a.rows, b.rows\)"):
        write_outputs(file, outputs)
    assert not file.exists()
    write_outputs(tmp_path / "out.json", outputs)


def test_a_last_line_without_an_end_is_ended_first(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    file.write_bytes(b"\xef\xbb\xbfa,b\n1,2")  # as a spreadsheet leaves it
    write_outputs(file, {"s": {"rows": [{"a": 3, "b": 4}]}})
    assert file.read_bytes() == b"\xef\xbb\xbfa,b\n1,2\n3,4\n"


@pytest.mark.parametrize(
    "name, content",
    [("x.jsonl", b'{"a": 1}\n{"a": '), ("x.jsonl", b"[1]\n"), ("x.csv", b"\xff\xfe\x00a")],
)
def test_a_file_that_is_not_what_it_seems_is_left_alone(
    tmp_path: Path, name: str, content: bytes
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(BadInput, match="is not"):
        write_outputs(file, {"s": {"rows": [{"a": 1}]}})
    assert file.read_bytes() == content


def test_an_empty_file_gets_its_columns(tmp_path: Path) -> None:
    (tmp_path / "out.csv").touch()
    (tmp_path / "out.jsonl").touch()
    for name in ("out.csv", "out.jsonl"):
        write_outputs(tmp_path / name, {"s": {"rows": [{"a": 1}]}})
    assert (tmp_path / "out.csv").read_text() == "a\n1\n"


def test_what_no_file_can_hold_is_written_out(tmp_path: Path) -> None:
    outputs = {"s": {"rows": [{"a": "x\ud800\0y"}]}}
    for suffix in ("csv", "jsonl", "json"):
        write_outputs(tmp_path / f"out.{suffix}", outputs)
    assert (tmp_path / "out.csv").read_text("utf-8") == "a\nx\\ud800\\x00y\n"
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8")) == {"a": "x\ud800\0y"}
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == outputs


def test_many_writers_lose_no_row(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"

    def write(number: int) -> None:
        for turn in range(5):
            write_outputs(file, {"s": {"rows": [{"n": number, "t": turn}] * 3}})

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = file.read_text().splitlines()
    assert lines[0] == "n,t"
    assert len(lines) == 1 + 4 * 5 * 3


@pytest.mark.parametrize("name", ["out", "out.xlsx", "nowhere/out.json", "folder.json"])
def test_a_place_for_results_is_checked_before_the_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(BadInput):
        check_out(tmp_path / name)
    check_out(tmp_path / "out.JSON")
