"""What a journal tells of a repair: what was found, and the segment before and after."""

from __future__ import annotations

from pathlib import Path

from webagent.cli.repairs import entered_once, repair_lines, repairs
from webagent.core import event as ev
from webagent.core.action import Action
from webagent.core.event import Entry, Event
from webagent.core.plan import Plan
from webagent.core.revision import Revision
from webagent.interface.errands import check

RECIPE = """\
webagent: 1
id: shop
errand: Look into the basket
steps:
  basket:
    do: search
    segment:
      - goto: http://shop.test/basket
      - click: link "Checkout"
      - read: {total: .total}
    expect: {text: Till}
"""
ANEW = (
    RECIPE.replace("/basket", "/bag")
    .replace('"Checkout"', '"To the till"')
    .replace("      - read", '      - click: button "Next"\n      - read')
)


def plan(folder: Path, text: str) -> Plan:
    file = folder / "recipe.yaml"
    file.write_text(text, "utf-8")
    return check(file)


def journal(*events: Event) -> tuple[Entry, ...]:
    at = "2026-01-01T00:00:00+00:00"
    return tuple(Entry(seq=n, epoch=1, at=at, event=event) for n, event in enumerate(events, 1))


def judged(reason: str, at: int) -> ev.Judged:
    return ev.Judged(
        step="basket", phase="after", verdicts=(), judgement="unmet", drift="page_moved",
        reason=reason, failed_index=at,
    )  # fmt: skip


def revised(segment: tuple[Action, ...], at: int, version: int) -> ev.PlanRevised:
    revision = Revision(
        step="basket", segment=segment, first_wrong=at, redo_from=at, cause="page_moved",
        author="local", reason="found [bold]it[/bold]",
    )  # fmt: skip
    return ev.PlanRevised(step="basket", revision=revision, version=version)


def test_two_revisions_of_a_step_are_one_repair_of_its_segment(tmp_path: Path):
    old, new = (plan(tmp_path, text) for text in (RECIPE, ANEW))
    before, after = (p.step("basket").segment or () for p in (old, new))
    halfway = (after[0], *before[1:])
    entries = journal(
        ev.PlanMade(plan=old),
        ev.StepStarted(step="account", attempt=1),
        ev.StepStarted(step="basket", attempt=1),
        judged("/basket answers 404", 0),
        revised(halfway, 0, 2),
        ev.StepStarted(step="basket", attempt=2),
        judged("nothing is called Checkout", 1),
        revised(after, 1, 3),
        ev.StepStarted(step="basket", attempt=3, from_index=1),
    )
    (repair,) = repairs(entries)
    assert (repair.step, repair.before, repair.after) == ("basket", before, after)
    assert repair.found == (
        "page_moved at goto http://shop.test/basket: /basket answers 404",
        'page_moved at click link "Checkout": nothing is called Checkout',
    )
    assert repair.lines() == [
        "- goto http://shop.test/basket",
        "+ goto http://shop.test/bag",
        '- click link "Checkout"',
        '+ click link "To the till"',
        '+ click button "Next"',
        "  read total",
    ]
    assert entered_once(entries) == ("account",)
    told = "\n".join(line.plain for line in repair_lines(repair))
    assert "by the local planner, without a model" in told
    assert '+ click link "To the till"' in told


def test_a_run_in_which_nothing_was_revised_has_no_repair(tmp_path: Path):
    assert repairs(journal(ev.PlanMade(plan=plan(tmp_path, RECIPE)))) == ()
