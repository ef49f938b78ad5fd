"""The promises of `ports.Artifacts`."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.core.errors import StoreError
from webagent.stores.artifacts import FileArtifacts, fit_name


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_name_is_never_overwritten(tmp_path: Path) -> None:
    artifacts = FileArtifacts(tmp_path)
    names = [artifacts.keep("r1", "page.tar.gz", str(n).encode()) for n in range(3)]
    assert names == ["page.tar.gz", "page-2.tar.gz", "page-3.tar.gz"]
    found = [(artifacts.folder("r1") / name).read_text() for name in names]
    assert found == ["0", "1", "2"]


def test_files_and_folders_are_their_owners_alone(tmp_path: Path) -> None:
    artifacts = FileArtifacts(tmp_path / "a" / "runs")
    name = artifacts.keep("r1", "deep/er/x.png", b"x")
    assert name == "deep/er/x.png"
    folder = artifacts.folder("r1")
    assert mode(folder / name) == 0o600
    for made in (tmp_path / "a" / "runs", folder, folder / "deep", folder / "deep" / "er"):
        assert mode(made) == 0o700


@pytest.mark.parametrize(
    "name, kept",
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("..\\..\\x.exe", "x.exe"),
        ("C:\\Windows\\x", "C_/Windows/x"),
        ("a\0b\n.txt", "a_b_.txt"),
        ("", "unnamed"),
        ("..", "unnamed"),
        ("./", "unnamed"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("com1.log", "_com1.log"),
        ("x. . ", "x"),
        ("...", "_"),
        ("a/b/c/d/e/f", "c/d/e/f"),
        ("\ud800.txt", "_.txt"),
        (".hidden", ".hidden"),
        ("ä" * 200 + ".pdf", "ä" * 73 + ".pdf"),
        ("rechnung/größe?.pdf", "rechnung/größe_.pdf"),
    ],
)
def test_no_name_leads_out_of_the_runs_folder(tmp_path: Path, name: str, kept: str) -> None:
    artifacts = FileArtifacts(tmp_path / "runs")
    assert artifacts.keep("r1", name, b"x") == kept
    assert (tmp_path / "runs" / "r1" / kept).read_bytes() == b"x"


@given(st.text(st.characters(codec=None), max_size=40) | st.text("./\\ \0:aN", max_size=20))
def test_any_name_becomes_a_path_inside(name: str) -> None:
    kept = fit_name(name)
    assert kept
    assert not kept.startswith("/")
    assert all(part not in {"", ".", ".."} for part in kept.split("/"))
    assert "\0" not in kept
    assert kept.isprintable() or all(ord(c) >= 32 for c in kept)
    kept.encode()


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    artifacts = FileArtifacts(tmp_path / "runs")
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (artifacts.folder("r1") / "x").symlink_to(outside)
    assert artifacts.keep("r1", "x", b"theirs") == "x-2"
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("run", ["", "..", ".", "a/b", "/a", "a\0", "a b", "r.", "-x"])
def test_a_run_whose_id_is_no_folder_name_has_no_folder(tmp_path: Path, run: str) -> None:
    with pytest.raises(StoreError):
        FileArtifacts(tmp_path).folder(run)


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file, not a folder")
    with pytest.raises(StoreError, match="could not be written"):
        FileArtifacts(tmp_path / "runs").keep("r1", "x", b"x")


def test_a_file_where_a_folder_is_needed_is_a_store_error(tmp_path: Path) -> None:
    artifacts = FileArtifacts(tmp_path)
    artifacts.keep("r1", "x", b"")
    with pytest.raises(StoreError):
        artifacts.keep("r1", "x/y", b"")
