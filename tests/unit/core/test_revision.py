"""What a revision may change, and what makes it refused."""

from __future__ import annotations

from typing import Any

import pytest

from webagent.core.action import Action, Click, Commit, Goto, Press
from webagent.core.expect import Expectation, TextShown, TitleIs, UrlIs, Verdict, turned_true
from webagent.core.plan import Plan, PlanStep
from webagent.core.revision import Revision, RevisionRefusedError, apply
from webagent.core.target import parse_target

GO = Goto(url="http://shop.test/")
HITS = TextShown(text="Hits")
AT = UrlIs(glob="**/found")
NAMED = TitleIs(glob="Found*")


def click(text: str) -> Click:
    return Click(target=parse_target(text))


def commit(action: Any, request: str | None = "POST **/orders") -> Commit:
    return Commit(action=action, request=request)


def plan(*segment: Action, expect: tuple[Expectation, ...] = (AT, HITS)) -> Plan:
    step = PlanStep(path="s", do="fill", segment=segment, expect=expect, effect="repeatable")
    return Plan(recipe_id="r", steps=(step, step.model_copy(update={"path": "other"})))


def revision(*segment: Action, cause: Any = "target_missing", **more: Any) -> Revision:
    return Revision(
        step=more.pop("step", "s"), segment=segment, first_wrong=0, redo_from=0, cause=cause,
        author="local", **more,
    )  # fmt: skip


def test_one_step_is_revised_and_every_other_stays_as_it_is():
    old = plan(GO, click(".old"))
    new = apply(old, revision(GO, click(".new")))
    assert new.step("s").segment == (GO, click(".new"))
    assert new.step("other") == old.step("other")
    assert new.version == old.version + 1


def test_a_done_or_unknown_step_is_not_revised():
    with pytest.raises(RevisionRefusedError, match="validated"):
        apply(plan(GO), revision(GO), done=frozenset({"s"}))
    with pytest.raises(RevisionRefusedError, match="no step"):
        apply(plan(GO), revision(GO, step="none"))


BUY = commit(click('button "Buy"'))


@pytest.mark.parametrize(
    "old, new, why",
    [
        ((GO, BUY), (GO, click('button "Buy"')), "neither add nor drop"),
        ((GO, click(".x")), (GO, BUY), "neither add nor drop"),
        ((GO, BUY), (GO, commit(click('button "Buy"'), "POST **/gifts")), "which request"),
        ((GO, BUY), (GO, commit(click('button "Buy"'), None)), "which request"),
        ((GO, commit(click(".x"), None)), (GO, BUY), "which request"),
        ((GO, BUY), (GO, commit(Press(key="Enter"))), "how the commit is sent"),
        ((GO, BUY), (GO, commit(GO)), "how the commit is sent"),
        ((GO, BUY), (GO, BUY, BUY), "exactly one"),
    ],
)  # fmt: skip
def test_a_commit_stays_the_one_that_it_is(
    old: tuple[Action, ...], new: tuple[Action, ...], why: str
):
    with pytest.raises(RevisionRefusedError, match=why):
        apply(plan(*old), revision(*new))


def test_a_commit_may_be_found_again_under_another_name():
    renamed = commit(click('button "Order now"'))
    assert apply(plan(GO, BUY), revision(GO, renamed)).step("s").segment == (GO, renamed)


@pytest.mark.parametrize(
    "expect, cause, places, why",
    [
        ((AT, HITS), "wrong_page", (UrlIs(glob="**/b"),), "only a moved page"),
        ((AT,), "page_moved", (UrlIs(glob="**/b"),), "content"),
        ((AT, HITS), "page_moved", (TextShown(text="Anything"),), "content"),
        ((AT, HITS), "page_moved", (), "each place"),
        ((AT, HITS), "page_moved", (UrlIs(glob="**/b"), NAMED), "each place"),
        ((HITS,), "page_moved", (UrlIs(glob="**/b"),), "each place"),
    ],
)
def test_a_place_changes_only_one_for_one_and_beside_content(
    expect: tuple[Expectation, ...], cause: str, places: tuple[Expectation, ...], why: str
):
    with pytest.raises(RevisionRefusedError, match=why):
        apply(plan(GO, expect=expect), revision(GO, cause=cause, places=places))


def test_each_new_place_stands_where_the_old_one_stood():
    b, called = UrlIs(glob="**/b"), TitleIs(glob="B")
    given = revision(GO, cause="page_moved", places=(b, called))
    new = apply(plan(GO, expect=(AT, HITS, NAMED)), given)
    assert new.step("s").expect == (b, HITS, called)


def judged(expect: tuple[Expectation, ...], *words: str) -> tuple[Verdict, ...]:
    return tuple(
        Verdict.model_validate({"expected": e.model_dump(), "judgement": w})
        for e, w in zip(expect, words, strict=True)
    )


def test_a_place_that_a_revision_changed_did_not_turn_true():
    before = judged((AT, HITS), "unmet", "met")
    moved = (UrlIs(glob="**/b"), HITS)
    assert not turned_true(before, judged(moved, "met", "met"))
    assert turned_true(before, judged((AT, HITS), "met", "met"))


def test_content_beside_a_changed_place_may_still_turn_true():
    moved = (UrlIs(glob="**/b"), HITS)
    assert turned_true(judged((AT, HITS), "unmet", "unmet"), judged(moved, "met", "met"))
