"""A site changes, a run heals, a person accepts: the recipe in git is the one that works now."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.journeys.journey import Journey, edited
from tests.journeys.test_cli import ended
from webagent.core.event import EffectDispatched, PlanRevised
from webagent.formats.sightings_file import load_sightings

# The commit itself has another name; the fields stand on two pages.
CHANGES = [("renamed_button", "/checkout"), ("form_split", "/checkout")]
KEY = 'key: "{{ query }} {{ run.date }}"', 'key: "{{ query }} {{ name }}"'


async def healed(journey: Journey, folder: Path, change: str, on: str) -> Path:
    """A recipe of the test's own, run on the site as it was and again on the changed one."""
    path = edited("compare_and_order", folder, KEY)
    await journey.run(path, {"query": "usb-c cable"})
    journey.sites.reset()
    journey.sites.set_change("shop-a.test", change, on=on)
    result = await journey.run(path, {"query": "hdmi cable"})
    assert result.ok, result.reason
    assert result.proposed == ("order_a",)
    return path


@pytest.mark.parametrize("change, on", CHANGES)
async def test_an_accepted_heal_is_the_recipe_that_works(
    journey: Journey, tmp_path: Path, change: str, on: str
):
    folder = tmp_path / "recipes"
    folder.mkdir()
    path = await healed(journey, folder, change, on)
    before = path.read_text("utf-8")
    [shown] = ended(journey.command("revisions", "last", "--json")).json
    assert shown["blocked"] == ""
    assert_kept(shown["changes"][0]["failed"])
    assert_kept(shown["healed"])
    said = ended(journey.command("accept", "last"))
    assert said.code == 0, said.out + said.err
    after = path.read_text("utf-8")
    assert_only_the_segment_changed(before, after, "order_a")
    # The same site again, with the recipe as it is now: nothing is left to heal.
    result = await journey.run(path, {"query": "usb-c cable", "name": "Rosa Vega"})
    assert result.ok, result.reason
    assert result["order_a"].effect == "confirmed"
    assert not [e for e in journey.entries if isinstance(e.event, PlanRevised)]
    # And the order of yesterday is known by the same key.
    again = await journey.run(path, {"query": "hdmi cable"})
    assert again["order_a"].already
    assert not [e for e in journey.entries if isinstance(e.event, EffectDispatched)]


def assert_kept(picture: dict[str, str]) -> None:
    assert Path(picture["screenshot"]).is_file()
    assert Path(picture["outline"]).is_file()


def assert_only_the_segment_changed(before: str, after: str, step: str) -> None:
    assert before != after
    head, tail = f"  {step}:\n", "    before_commit:"
    at = before.index(head)
    assert after[: at + len(head)] == before[: at + len(head)]
    assert after[after.index(tail, at) :] == before[before.index(tail, at) :]
    comments = [line.split("#", 1)[1] for line in before.splitlines() if "#" in line]
    assert [line.split("#", 1)[1] for line in after.splitlines() if "#" in line] == comments


async def test_a_clone_with_the_sidecar_heals_too(journey: Journey, tmp_path: Path):
    folder = tmp_path / "recipes"
    folder.mkdir()
    path = await healed(journey, folder, "renamed_link", "/basket")
    ended(journey.command("accept", "last"))
    beside = load_sightings(folder / "compare_and_order.sightings.json", "compare-and-order")
    assert {"account/sign_in", "search_a", "order_a"} <= {one.step for one in beside}
    clone = tmp_path / "clone"
    shutil.copytree(folder, clone)
    (tmp_path / "elsewhere").mkdir()
    other = Journey(journey.sites, tmp_path / "elsewhere", dict(journey.env))
    other.env["WEBAGENT_STORE"] = str(tmp_path / "elsewhere" / "store")
    journey.sites.reset()
    journey.sites.set_change("shop-a.test", "renamed_button", on="/checkout")
    # The change before is gone again, so two things are not as this recipe has them.
    result = await other.run(clone / path.name, {"query": "hdmi cable"})
    assert result.ok, result.reason
    assert result.proposed == ("order_a",)
