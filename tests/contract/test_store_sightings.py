"""What a target looked like is kept by recipe, step, target and whether it was accepted."""

from __future__ import annotations

from pathlib import Path

from tests.contract.conftest import Bench
from tests.contract.stage import ManualClock
from webagent.core.sighting import Element, Sighting
from webagent.stores.database import Database
from webagent.stores.sql import open_store


def sighting(
    step: str = "a", target: str = "button", name: str = "Buy", **more: object
) -> Sighting:
    element = Element(tag="button", name=name, place=(0.5, 0.25), attrs={"id": "b"}, options=("x",))
    return Sighting.model_validate(
        {"recipe_id": "cable", "step": step, "target": target, "element": element, **more}
    )


async def test_sightings_come_back_equal_and_in_order(bench: Bench) -> None:
    kept = [
        sighting("b"),
        sighting("a", "z", accepted=False),
        sighting("a", "z", writes=("POST /x/#",), url="http://shop.test/⟦id⟧", at="2026"),
        sighting("a", "Z"),
    ]
    await bench.store.keep_sightings(kept)
    assert await bench.store.sightings("cable") == (kept[3], kept[2], kept[1], kept[0])
    assert await bench.store.sightings("other") == ()


async def test_a_sighting_takes_the_place_of_the_one_of_its_kind(bench: Bench) -> None:
    await bench.store.keep_sightings([sighting(), sighting(name="Old", accepted=False)])
    await bench.store.keep_sightings([sighting(name="New", accepted=False)])
    await bench.store.keep_sightings([])
    found = await bench.store.sightings("cable")
    assert [(one.accepted, one.element.name) for one in found] == [(True, "Buy"), (False, "New")]
    twice = [sighting(name="One"), sighting(name="Two")]
    await bench.store.keep_sightings(twice)
    assert (await bench.store.sightings("cable"))[0].element.name == "Two"


async def test_one_kind_of_a_step_is_dropped_for_one_target_or_all(bench: Bench) -> None:
    accepted = [sighting(target=target) for target in ("one", "two")]
    healed = [one.model_copy(update={"accepted": False}) for one in accepted]
    other = sighting("b", accepted=False)
    elsewhere = other.model_copy(update={"recipe_id": "else", "step": "a"})
    await bench.store.keep_sightings([*accepted, *healed, other, elsewhere])
    await bench.store.drop_sightings("cable", "a", target="one")
    assert await bench.store.sightings("cable") == (accepted[0], *accepted[1:], healed[1], other)
    await bench.store.drop_sightings("cable", "a")
    assert await bench.store.sightings("cable") == (*accepted, other)
    await bench.store.drop_sightings("cable", "a", accepted=True)
    assert await bench.store.sightings("cable") == (other,)
    assert await bench.store.sightings("else") == (elsewhere,)


async def test_what_no_database_can_hold_is_kept_all_the_same(bench: Bench) -> None:
    odd = sighting(step="a\ud800", target='button "\0"', name="\udfff", url="\0")
    await bench.store.keep_sightings([odd, odd])
    assert await bench.store.sightings("cable") == (odd,)
    await bench.store.drop_sightings("cable", odd.step, accepted=True, target=odd.target)
    assert await bench.store.sightings("cable") == ()


async def test_a_store_from_before_sightings_opens_and_keeps_them(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.write() as connection:
        connection.exec_driver_sql("DROP TABLE sightings")
    database.close()
    store = open_store(tmp_path, ManualClock())
    await store.create("r1", "cable", "errand")
    await store.keep_sightings([sighting()])
    assert await store.sightings("cable") == (sighting(),)
    await store.close()
