"""`revisions`, `accept`, `reject`, and what an unattended run keeps by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Command
from webagent import wiring
from webagent.core.action import Action
from webagent.core.errors import BadInput
from webagent.core.page import Failure
from webagent.core.sighting import Element, Sighting
from webagent.executors.scripted import Fault, ScriptedSite
from webagent.formats.recipe_edit import find_step
from webagent.formats.recipe_yaml import parse_recipe
from webagent.formats.sightings_file import load_sightings
from webagent.planners.scripted import ScriptedPlanner

SHOP = """\
webagent: 1
id: shop   # for good
steps:
  find:
    do: search
    goal: Find it
    segment:
      - goto: http://shop.test/
      - click: button "Search"   # sends it
      - read: {title: h1}
    expect:
      - text: Hits        # whatever they are
  put:
    do: fill
    needs: find
    segment: [{goto: "http://shop.test/put"}, {click: .put}]  # one line
    expect: [{text: In}]
"""
GONE = Failure(kind="target_missing", message='no button "Search"')


def segment(step: str, old: str, new: str) -> tuple[Action, ...]:
    found = find_step(parse_recipe(SHOP.replace(old, new)), step)[1].segment
    assert found is not None
    return found


FOUND = segment("find", 'button "Search"', 'button "Go"')
PUT = segment("put", ".put", ".into")


@pytest.fixture
def shop(
    folder: Path, scripted: list[ScriptedSite], monkeypatch: pytest.MonkeyPatch
) -> list[ScriptedPlanner]:
    """A shop whose two steps fail once, with a planner that knows what to do."""
    (folder / "shop.yaml").write_text(SHOP, "utf-8")
    planners: list[ScriptedPlanner] = []
    make = wiring.make_deps

    async def made(*args: Any, **more: Any) -> Any:
        from dataclasses import replace

        planner = ScriptedPlanner({"find": [FOUND], "put": [PUT]}, cannot=True)
        planners.append(planner)
        deps = await make(*args, **more)
        if scripted:
            scripted[-1].faults = {
                "find": [Fault(at=1, failure=GONE)], "put": [Fault(at=1, failure=GONE)],
            }  # fmt: skip
        return replace(deps, planner=planner)

    monkeypatch.setattr(wiring, "make_deps", made)
    return planners


def test_a_run_that_healed_says_how_to_see_it(webagent: Command, shop: list[ScriptedPlanner]):
    said = webagent("run", "shop.yaml")
    assert said.code == 0, said.out + said.err
    run = webagent("show", "last", "--json").json["run"]
    assert f"See what was healed (find, put): webagent revisions {run}" in said.out
    assert webagent("show", "last", "--json").json["proposed"] == ["find", "put"]


def test_revisions_shows_the_diff_the_cause_and_both_pictures(
    webagent: Command, shop: list[ScriptedPlanner]
):
    webagent("run", "shop.yaml")
    said = webagent("revisions", "last")
    assert said.code == 0
    for told in (
        "find  effect none, proposed", "target_missing: ", "from a script (scripted, 0 pages",
        '-      - click: button "Search"   # sends it', '+      - click: button "Go"   # sends it',
        "-    segment: [{goto: \"http://shop.test/put\"}, {click: .put}]  # one line",
        "before   http://shop.test/", "find-1", "after    http://shop.test/", "find-healed",
        "webagent accept last find", "webagent reject last\n",
    ):  # fmt: skip
        assert told in said.out, said.out
    find, put = webagent("revisions", "last", "--json").json
    assert (find["step"], find["state"], find["file"]) == ("find", "proposed", "shop.yaml")
    assert (put["effect"], put["blocked"]) == ("repeatable", "")
    assert find["changes"][0]["cause"] == "target_missing"
    assert Path(find["healed"]["screenshot"]).name == "find-healed"


def test_accept_writes_the_recipe_and_nothing_else_of_it(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner]
):
    webagent("run", "shop.yaml")
    said = webagent("accept", "last")
    assert said.code == 0, said.err
    assert "accepted find" in said.out
    wanted = SHOP.replace('button "Search"', 'button "Go"').replace("click: .put", "click: .into")
    assert (folder / "shop.yaml").read_text("utf-8") == wanted
    assert [one["state"] for one in webagent("revisions", "last", "--json").json] == [
        "accepted"
    ] * 2
    again = webagent("accept", "last")
    assert again.code == 2
    assert "Nothing in run" in again.err
    assert webagent("show", "last", "--json").json["proposed"] == []
    assert "RevisionAccepted" in webagent("show", "last", "--step", "find").out


def test_show_has_the_picture_of_the_failure_and_not_of_the_healed_page(
    webagent: Command, shop: list[ScriptedPlanner]
):
    webagent("run", "shop.yaml")
    evidence = webagent("show", "last", "--json").json["evidence"]
    assert Path(evidence["find"]["screenshot"]).name == "find-1"


def test_a_run_that_came_as_far_as_it_was_to_come_can_be_accepted(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner]
):
    said = webagent("run", "shop.yaml", "--until", "find")
    assert said.code == 0
    assert "See what was healed (find)" in said.out
    assert webagent("accept", "last").code == 0
    assert 'button "Go"' in (folder / "shop.yaml").read_text("utf-8")


def test_a_run_that_is_not_over_cannot_be_accepted(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner]
):
    asks = SHOP + "  ask: {do: ask, needs: put, question: Well}\n"
    (folder / "shop.yaml").write_text(asks, "utf-8")
    assert webagent("run", "shop.yaml").code == 3
    assert [one["step"] for one in webagent("revisions", "last", "--json").json] == ["find", "put"]
    for command in ("accept", "reject"):
        said = webagent(command, "last")
        assert said.code == 2
        assert "is not over" in said.err
        assert "webagent resume" in said.err


def test_one_step_is_accepted_and_another_rejected(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner]
):
    webagent("run", "shop.yaml")
    told = webagent("accept", "last", "put", "--json").json
    assert (told["steps"], told["files"]) == (["put"], ["shop.yaml"])
    assert webagent("reject", "last", "find").out == "rejected find\n"
    assert (folder / "shop.yaml").read_text("utf-8") == SHOP.replace("click: .put", "click: .into")
    states = [one["state"] for one in webagent("revisions", "last", "--json").json]
    assert states == ["rejected", "accepted"]
    # A rejected step may be accepted by name: minds change.
    assert webagent("accept", "last", "find").code == 0


def test_a_resumed_run_that_was_accepted_is_still_over(
    webagent: Command, shop: list[ScriptedPlanner]
):
    webagent("run", "shop.yaml")
    webagent("accept", "last")
    said = webagent("resume", "last", "--recipe", "shop.yaml", "--json")
    assert said.code == 0
    assert said.json["steps"]["find"]["executions"] == 1
    assert said.json["steps"]["put"]["executions"] == 1


def test_a_healed_step_that_nobody_accepted_stays_met_when_another_is_edited(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner]
):
    webagent("run", "shop.yaml")
    text = SHOP.replace("text: In", "text: Inside")
    (folder / "shop.yaml").write_text(text, "utf-8")
    said = webagent("resume", "last", "--recipe", "shop.yaml", "--json")
    assert said.code == 0
    assert said.json["steps"]["find"]["executions"] == 1
    states = {one["step"]: one["state"] for one in webagent("revisions", "last", "--json").json}
    assert states["find"] == "proposed"


ORDER = """\
webagent: 1
id: order
steps:
  order:
    do: submit
    once: today          # not twice
    segment:
      - goto: http://shop.test/
      - click: .terms
      - commit: {click: button "Buy", request: "POST **/o"}   # spends money
    expect: [{text: Thank you}]
"""


def test_an_accepted_order_is_the_same_effect(
    webagent: Command,
    folder: Path,
    scripted: list[ScriptedSite],
    monkeypatch: pytest.MonkeyPatch,
):
    (folder / "order.yaml").write_text(ORDER, "utf-8")
    healed = find_step(parse_recipe(ORDER.replace(".terms", ".agb")), "order")[1].segment
    make = wiring.make_deps

    async def made(*args: Any, **more: Any) -> Any:
        from dataclasses import replace

        deps = await make(*args, **more)
        scripted[-1].faults = {"order": [Fault(at=1, failure=GONE)]}
        return replace(deps, planner=ScriptedPlanner({"order": [healed]}, cannot=True))

    monkeypatch.setattr(wiring, "make_deps", made)
    assert webagent("run", "order.yaml").code == 0
    assert webagent("accept", "last").code == 0
    assert (folder / "order.yaml").read_text("utf-8") == ORDER.replace(".terms", ".agb")
    again = webagent("run", "order.yaml", "--json").json
    assert again["steps"]["order"]["already"]
    (effect,) = webagent("effects", "--json").json
    assert effect["key"] == "order/order/today"


def test_a_step_of_a_used_recipe_is_accepted_into_its_own_file(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner], scripted: list[ScriptedSite]
):
    outer = "webagent: 1\nid: outer\nsteps:\n  all: {use: shop.yaml}\n"
    (folder / "outer.yaml").write_text(outer, "utf-8")
    make = wiring.make_deps

    async def made(*args: Any, **more: Any) -> Any:
        from dataclasses import replace

        deps = await make(*args, **more)
        scripted[-1].faults = {"all/find": [Fault(at=1, failure=GONE)]}
        return replace(deps, planner=ScriptedPlanner({"all/find": [FOUND]}, cannot=True))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "make_deps", made)
        assert webagent("run", "outer.yaml").code == 0
    (shown,) = webagent("revisions", "last", "--json").json
    assert (shown["step"], shown["file"]) == ("all/find", "shop.yaml")
    assert webagent("accept", "last", "all/find", "--json").json["files"] == ["shop.yaml"]
    assert (folder / "outer.yaml").read_text("utf-8") == outer
    text = (folder / "shop.yaml").read_text("utf-8")
    assert text == SHOP.replace('button "Search"', 'button "Go"')


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["accept", "last", "fnd"], "Did you mean 'find'?"),
        (["accept", "nothing"], "There is no run"),
        (["reject", "last", "nowhere"], "Revised: find, put"),
        (["accept", "last", "--recipe", "reading.yaml"], "the run was of 'shop'"),
        (["accept", "last", "--recipe", "gone.yaml"], "no such file"),
    ],
)
def test_what_is_wrong_is_told_with_2(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner], arguments: list[str], told: str
):
    webagent("run", "shop.yaml")
    said = webagent(*arguments)
    assert said.code == 2
    assert told in said.err
    assert (folder / "shop.yaml").read_text("utf-8") == SHOP


def test_a_recipe_that_was_edited_since_is_not_overwritten(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner]
):
    webagent("run", "shop.yaml")
    edited = SHOP.replace('button "Search"', 'button "Find"')
    (folder / "shop.yaml").write_text(edited, "utf-8")
    said = webagent("accept", "last")
    assert said.code == 2
    assert "edited since" in said.err
    assert (folder / "shop.yaml").read_text("utf-8") == edited
    assert "by hand" in webagent("revisions", "last").out
    # The other step can be accepted all the same.
    assert webagent("accept", "last", "put").code == 0


def test_a_run_without_revisions_has_nothing_to_accept(webagent: Command):
    webagent("run", "comparing.yaml")
    assert "revised nothing" in webagent("revisions", "last").out
    assert webagent("revisions", "last", "--json").json == []
    said = webagent("accept", "last")
    assert said.code == 2
    assert "revised nothing" in said.err


def test_a_step_that_was_not_met_cannot_be_accepted(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner], scripted: list[ScriptedSite]
):
    (folder / "shop.yaml").write_text(SHOP.replace("do: fill", "attempts: 1\n    do: fill"))
    make = wiring.make_deps

    async def worse(*args: Any, **more: Any) -> Any:
        deps = await make(*args, **more)
        scripted[-1].faults["put"] = [Fault(at=n, failure=GONE, times=9) for n in range(9)]
        return deps

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "make_deps", worse)
        assert webagent("run", "shop.yaml").code == 1
    states = {one["step"]: one["state"] for one in webagent("revisions", "last", "--json").json}
    assert states == {"find": "proposed", "put": "unproven"}
    said = webagent("accept", "last", "put")
    assert said.code == 2
    assert "not met with it" in said.err
    assert webagent("accept", "last").code == 0


@pytest.mark.parametrize(
    "key, unattended, kept",
    [("none", True, ["find"]), ("none", False, []), ("never", True, []), (None, True, [])],
)
def test_an_unattended_run_keeps_what_its_recipe_lets_it_keep(
    webagent: Command,
    folder: Path,
    shop: list[ScriptedPlanner],
    key: str | None,
    unattended: bool,
    kept: list[str],
):
    text = SHOP if key is None else SHOP.replace("steps:", f"keep_heals: {key}\nsteps:")
    (folder / "shop.yaml").write_text(text, "utf-8")
    said = webagent("run", "shop.yaml", "--json", *(["--unattended"] if unattended else []))
    assert said.code == 0
    assert said.json["accepted"] == kept
    assert said.json["proposed"] == [step for step in ("find", "put") if step not in kept]
    wanted = text.replace('button "Search"', 'button "Go"') if kept else text
    assert (folder / "shop.yaml").read_text("utf-8") == wanted


def test_what_cannot_be_kept_stays_a_proposal(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner], monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: Any) -> dict[str, tuple[str, str]]:
        raise BadInput("find was edited since.")

    text = SHOP.replace("steps:", "keep_heals: none\nsteps:")
    (folder / "shop.yaml").write_text(text, "utf-8")
    monkeypatch.setattr(wiring, "edited_recipe", refuse)
    said = webagent("run", "shop.yaml", "--unattended")
    assert said.code == 0
    assert "See what was healed (find, put)" in said.out
    assert (folder / "shop.yaml").read_text("utf-8") == text


def sighting(step: str, target: str, *, accepted: bool) -> Sighting:
    return Sighting(
        recipe_id="shop", step=step, target=target, element=Element(tag="button", name="Go"),
        accepted=accepted, run="r0", at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


def test_healed_sightings_become_current_and_lie_beside_the_recipe(
    webagent: Command, folder: Path, shop: list[ScriptedPlanner]
):
    import asyncio

    from webagent.interface.records import opened

    async def keep(*sightings: Sighting) -> None:
        async with opened(wiring.settings()) as store:
            await store.keep_sightings(sightings)

    async def kept() -> list[tuple[str, str, bool]]:
        async with opened(wiring.settings()) as store:
            return sorted((s.step, s.target, s.accepted) for s in await store.sightings("shop"))

    webagent("run", "shop.yaml")
    asyncio.run(
        keep(
            sighting("find", 'button "Search"', accepted=True),
            sighting("find", 'button "Go"', accepted=False),
            sighting("put", ".put", accepted=True),
            sighting("put", ".into", accepted=False),
        )
    )
    said = webagent("accept", "last", "find")
    assert "written  shop.sightings.json" in said.out
    webagent("reject", "last", "put")
    found = asyncio.run(kept())
    assert found == [("find", 'button "Go"', True), ("put", ".put", True)]
    beside = load_sightings(folder / "shop.sightings.json", "shop")
    assert [(s.step, s.target) for s in beside] == [("find", 'button "Go"'), ("put", ".put")]
