"""The sidecar: one line a sighting, the same text for the same sightings, a word on every fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from webagent.core.errors import BadInput
from webagent.core.sighting import Element, Sighting
from webagent.formats.sightings_file import (
    dump_sightings,
    load_sightings,
    sidecar_of,
    write_sightings,
)


def sighting(step: str, target: str, name: str = "Größe") -> Sighting:
    element = Element(tag="button", role="button", name=name, container=('form "A"',))
    return Sighting(
        recipe_id="shop", step=step, target=target, element=element, url="http://x/⟦q⟧",
        writes=("POST /a/#",), run="r1", at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


ALL = (sighting("b", ".x"), sighting("a", ".y"), sighting("a", ".x"))


def test_a_sidecar_stands_beside_its_recipe():
    assert sidecar_of("jobs/shop.yaml") == Path("jobs/shop.sightings.json")


def test_what_is_written_reads_back_in_a_fixed_order(tmp_path: Path):
    path = tmp_path / "shop.sightings.json"
    assert write_sightings(path, dump_sightings("shop", ALL))
    assert load_sightings(path, "shop") == tuple(sorted(ALL, key=lambda s: (s.step, s.target)))
    assert not write_sightings(path, dump_sightings("shop", reversed(ALL)))


def test_one_line_changes_when_one_target_looks_different():
    before = dump_sightings("shop", ALL).splitlines()
    after = dump_sightings("shop", (*ALL[:2], sighting("a", ".x", "Size"))).splitlines()
    assert len([1 for old, new in zip(before, after, strict=True) if old != new]) == 1
    assert any("Größe" in line for line in before)


def test_an_empty_sidecar_reads_back(tmp_path: Path):
    path = tmp_path / "shop.sightings.json"
    write_sightings(path, dump_sightings("shop", ()))
    assert load_sightings(path, "shop") == ()


def test_no_sidecar_is_no_sightings(tmp_path: Path):
    assert load_sightings(tmp_path / "none.sightings.json", "shop") == ()


def test_a_copied_recipe_of_another_id_uses_its_sidecar(tmp_path: Path):
    path = tmp_path / "copy.sightings.json"
    write_sightings(path, dump_sightings("shop", ALL))
    assert {one.recipe_id for one in load_sightings(path, "other")} == {"other"}


@pytest.mark.parametrize(
    "text, told",
    [
        ("<<<<<<< HEAD\n", "not JSON"),
        ("[]", "no sightings"),
        ('{"webagent_sightings": 1}', "no sightings"),
        ('{"webagent_sightings": 9, "sightings": []}', "version 9"),
        ('{"webagent_sightings": 1, "sightings": [{"step": "a"}]}', "sighting 1"),
        ('{"webagent_sightings": 1, "sightings": [5]}', "sighting 1"),
    ],
)
def test_a_broken_sidecar_is_told(tmp_path: Path, text: str, told: str):
    path = tmp_path / "shop.sightings.json"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInput, match=told) as error:
        load_sightings(path, "shop")
    assert error.value.hint
