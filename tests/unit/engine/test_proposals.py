"""What a journal proposes: only what was revised and then met, with its causes and its pictures."""

from __future__ import annotations

from typing import Any

from webagent.core import event as ev
from webagent.core.action import Action, Click, Goto
from webagent.core.event import Entry, Event
from webagent.core.expect import TextShown, UrlIs
from webagent.core.page import Observation
from webagent.core.plan import Plan, PlanStep
from webagent.core.revision import Revision
from webagent.core.target import parse_target
from webagent.engine.proposals import Proposal, acceptable, proposals
from webagent.engine.state import fold


def click(text: str) -> Action:
    return Click(target=parse_target(text))


GO = Goto(url="http://shop.test/")
OLD, NEW, NEWER = (GO, click(".old")), (GO, click(".new")), (GO, click(".newer"))
EXPECT = (UrlIs(glob="**/a"), TextShown(text="Hits"))
PLAN = Plan(
    recipe_id="shop",
    steps=tuple(
        PlanStep(path=path, do="search", segment=OLD, expect=EXPECT, effect="none")
        for path in ("find", "other")
    ),
)


def revised(segment: tuple[Action, ...], step: str = "find", **fields: Any) -> ev.PlanRevised:
    made: dict[str, Any] = {"cause": "target_missing", "author": "local", "first_wrong": 1}
    revision = Revision(
        step=step.split("[", maxsplit=1)[0], segment=segment, redo_from=1, **(made | fields)
    )
    return ev.PlanRevised(step=step, revision=revision, version=2)


def seen(name: str, step: str = "find") -> ev.Observed:
    page = Observation(url=f"http://shop.test/{name}", screenshot=f"{name}.png")
    return ev.Observed(step=step, observation=page)


def failed(reason: str = "no .old", step: str = "find") -> ev.Judged:
    return ev.Judged(
        step=step, phase="after", verdicts=(), judgement="unmet", drift="target_missing",
        reason=reason,
    )  # fmt: skip


def met(step: str = "find") -> tuple[Event, ...]:
    judged = ev.Judged(step=step, phase="after", verdicts=(), judgement="met")
    return judged, ev.StepFinished(step=step, state="met")


def journal(*events: Event) -> tuple[Entry, ...]:
    begun = (ev.RunStarted(run="r1", recipe_id="shop", date="2026-01-01"), ev.PlanMade(plan=PLAN))
    return tuple(
        Entry(seq=i, epoch=1, at="2026-01-01T00:00:00+00:00", event=event)
        for i, event in enumerate((*begun, *events), 1)
    )


def one(*events: Event) -> Proposal:
    (found,) = proposals(journal(*events))
    return found


def test_a_run_without_revisions_proposes_nothing():
    assert proposals(journal(failed(), *met())) == ()


def test_a_revised_and_met_step_is_proposed_with_both_pictures():
    found = one(
        seen("before"), failed(), revised(NEW, reason="its text is the same", pages=3),
        seen("after"), *met(),
    )  # fmt: skip
    assert (found.step, found.state, found.effect) == ("find", "proposed", "none")
    assert (found.before, found.after) == (OLD, NEW)
    (change,) = found.changes
    assert (change.cause, change.author, change.pages) == ("target_missing", "local", 3)
    assert (change.found, change.reason) == ("no .old", "its text is the same")
    assert change.failed is not None
    assert change.failed.screenshot == "before.png"
    assert found.healed is not None
    assert found.healed.screenshot == "after.png"
    assert found.places is None
    assert acceptable([found]) == (found,)


def test_a_step_that_was_not_met_is_unproven():
    found = one(seen("before"), failed(), revised(NEW), seen("worse"), failed("again"))
    assert found.state == "unproven"
    assert acceptable([found]) == ()


def test_revisions_of_one_step_are_one_proposal():
    found = one(failed("first"), revised(NEW), failed("second"), revised(NEWER), *met())
    assert (found.before, found.after) == (OLD, NEWER)
    assert [change.found for change in found.changes] == ["first", "second"]


def test_new_places_stand_beside_the_old_ones():
    places = (UrlIs(glob="**/b"),)
    found = one(failed(), revised(NEW, cause="page_moved", places=places), *met())
    assert found.places_before == (UrlIs(glob="**/a"),)
    assert found.places == places


def test_an_item_that_is_met_proves_the_segment_of_all():
    found = one(failed(step="find[1]"), revised(NEW, "find[1]"), *met("find[1]"))
    assert (found.step, found.state) == ("find", "proposed")


def test_a_target_healed_twice_is_known_by_the_recipes_text():
    found = one(
        failed(), revised(NEW, healed=((".old", ".new"),)),
        failed(), revised(NEWER, healed=((".new", ".newer"),)), *met(),
    )  # fmt: skip
    assert found.targets == ((".old", ".newer"),)


def test_a_persons_word_ends_a_proposal():
    healed = (failed(), revised(NEW), *met())
    accepted = one(*healed, ev.RevisionAccepted(step="find", file="shop.yaml", by="me"))
    assert (accepted.state, accepted.file) == ("accepted", "shop.yaml")
    assert one(*healed, ev.RevisionRejected(step="find", by="me")).state == "rejected"


def test_what_is_revised_after_a_word_is_proposed_anew():
    healed = (failed(), revised(NEW), *met())
    again = (ev.StepReopened(step="find", cause="page_lost"), failed(), revised(NEWER), *met())
    kept = one(*healed, ev.RevisionAccepted(step="find", file="f"), *again)
    assert (kept.state, kept.before, kept.after) == ("proposed", NEW, NEWER)
    dropped = one(*healed, ev.RevisionRejected(step="find"), *again)
    assert (dropped.state, dropped.before, dropped.after) == ("proposed", OLD, NEWER)


def test_a_reopened_step_has_to_prove_its_segment_again():
    reopened = ev.StepReopened(step="find", cause="stale_input")
    assert one(failed(), revised(NEW), *met(), reopened).state == "unproven"
    assert one(failed(), revised(NEW), *met(), reopened, *met()).state == "proposed"


def test_an_edited_recipe_ends_the_proposals_of_what_is_done_anew():
    healed = (failed(), revised(NEW), *met())
    kept = ev.RunResumed(plan=PLAN, keep=("find",))
    assert one(*healed, kept).state == "proposed"
    assert proposals(journal(*healed, ev.RunResumed(plan=PLAN, keep=()))) == ()
    steps = tuple(s.model_copy(update={"segment": NEW}) for s in PLAN.steps)
    by_hand = PLAN.model_copy(update={"steps": steps})
    assert proposals(journal(*healed, ev.RunResumed(plan=by_hand, keep=("find",)))) == ()


def test_a_persons_word_changes_nothing_in_the_run():
    started = ev.StepStarted(step="find", attempt=1)
    before = journal(started, *met())
    after = journal(started, *met(), ev.RevisionAccepted(step="find", file="f"),
                    ev.RevisionRejected(step="find"))  # fmt: skip
    assert fold(after).nodes == fold(before).nodes
