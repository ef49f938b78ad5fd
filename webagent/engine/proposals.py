"""What a run proposes to change in its recipe, told from its journal.

A step whose segment was revised and that was met afterwards is a proposal: the recipe's segment and
the one that worked, why it was changed and by whom, and what the page looked like. A person (or a
recipe's ``keep_heals``) accepts or rejects it; both are events behind the run's end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from webagent.core import event as ev
from webagent.core.action import Action, targets_of
from webagent.core.base import Frozen
from webagent.core.effect import EffectKind
from webagent.core.event import Entry
from webagent.core.expect import PLACE_KINDS, Expectation
from webagent.core.page import Drift, Observation
from webagent.core.plan import Plan, PlanStep, template_of
from webagent.core.revision import Revision
from webagent.core.revision import apply as apply_revision
from webagent.core.sighting import Sighting

ProposalState: TypeAlias = Literal["proposed", "unproven", "accepted", "rejected"]


class Picture(Frozen):
    """A page as it was kept: names of files in the run's folder, None where there is none."""

    url: str = ""
    title: str = ""
    screenshot: str | None = None
    outline: str | None = None


class Change(Frozen):
    """One revision: why it was made, by whom, at what cost, and the page as the step failed."""

    cause: Drift
    found: str = ""
    author: str
    reason: str = ""
    pages: int = 0
    tokens: int = 0
    failed: Picture | None = None


class Proposal(Frozen):
    """One step's segment as the recipe has it and as it was proven.

    ``step``: its path. ``state``: ``unproven`` if the step was not met with it. ``places``: the new
    url and title expectations, None when they stay. ``healed``: the picture when it was met.
    ``targets``: for each target found again its text in the recipe and its new one.
    """

    step: str
    state: ProposalState
    effect: EffectKind
    before: tuple[Action, ...]
    after: tuple[Action, ...]
    places_before: tuple[Expectation, ...] = ()
    places: tuple[Expectation, ...] | None = None
    changes: tuple[Change, ...] = ()
    healed: Picture | None = None
    targets: tuple[tuple[str, str], ...] = ()
    file: str = ""


@dataclass(slots=True)
class _Draft:
    """A proposal in the making."""

    step: PlanStep
    before: tuple[Action, ...]
    places_before: tuple[Expectation, ...]
    revisions: list[tuple[Revision, str, Picture | None]] = field(default_factory=list)
    state: ProposalState = "unproven"
    healed: Picture | None = None
    file: str = ""


def proposals(entries: Iterable[Entry]) -> tuple[Proposal, ...]:
    """Every step whose segment was revised, in the order of its first revision."""
    reader = _Reader()
    for entry in entries:
        reader.see(entry.event)
    return tuple(_made(draft) for draft in reader.drafts.values())


def acceptable(found: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Those that wait for a person's word."""
    return tuple(one for one in found if one.state == "proposed")


def made_current(proposal: Proposal, known: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """The healed sightings of an accepted step as its current ones, by the recipe's new text."""
    renamed = dict(proposal.targets)
    return tuple(
        one.model_copy(update={"accepted": True, "target": renamed.get(one.target, one.target)})
        for one in known
        if one.step == proposal.step and not one.accepted
    )


def still_used(proposal: Proposal, known: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """These without the ones of targets that an accepted step no longer has."""
    texts = {target.source for action in proposal.after for target in targets_of(action)}
    return tuple(one for one in known if one.step != proposal.step or one.target in texts)


@dataclass(slots=True)
class _Reader:
    plan: Plan | None = None
    drafts: dict[str, _Draft] = field(default_factory=dict)
    seen: dict[str, Observation] = field(default_factory=dict)
    failed: dict[str, tuple[str, Picture | None]] = field(default_factory=dict)

    def see(self, event: ev.Event) -> None:
        """One more event of the journal."""
        match event:
            case ev.PlanMade(plan=plan):
                self.plan = plan
            case ev.RunResumed(plan=plan, keep=keep) if plan is not None:
                self._edited(plan, keep)
            case ev.Observed(step=node, observation=seen):
                self.seen[node] = seen
            case ev.Judged(step=node, judgement=judgement, phase=phase) if phase != "before":
                picture = _picture(self.seen.pop(node, None))
                if judgement != "met":
                    self.failed[node] = (event.reason, picture)
                elif (draft := self.drafts.get(template_of(node))) and picture is not None:
                    draft.healed = picture
            case ev.PlanRevised():
                self._revised(event)
            case ev.StepFinished(step=node, state="met") if not event.already:
                self._met(template_of(node))
            case ev.StepReopened(step=node):
                draft = self.drafts.get(template_of(node))
                if draft is not None and draft.state == "proposed":
                    draft.state, draft.healed = "unproven", None
            case ev.RevisionAccepted() | ev.RevisionRejected():
                self._said(event)
            case _:
                pass

    def _met(self, path: str) -> None:
        draft = self.drafts.get(path)
        if draft is None or draft.state != "unproven" or self.plan is None:
            return
        now = self.plan.by_path.get(path)
        if now is not None and now.segment == draft.step.segment:
            draft.state = "proposed"

    def _said(self, event: ev.RevisionAccepted | ev.RevisionRejected) -> None:
        draft = self.drafts.get(event.step)
        if draft is None:
            return
        if isinstance(event, ev.RevisionAccepted):
            draft.state, draft.file = "accepted", event.file
        else:
            draft.state = "rejected"

    def _revised(self, event: ev.PlanRevised) -> None:
        if self.plan is None:
            return
        path = event.revision.step
        step = self.plan.by_path[path]
        draft = self.drafts.get(path)
        if draft is None or draft.state in ("accepted", "rejected"):
            # A rejected segment never came into the recipe; an accepted one is what it has now.
            rejected = draft is not None and draft.state == "rejected"
            draft = _Draft(
                step,
                draft.before if draft is not None and rejected else step.segment or (),
                draft.places_before if draft is not None and rejected else _places(step),
            )
            self.drafts[path] = draft
        found, picture = self.failed.pop(event.step, ("", None))
        draft.revisions.append((event.revision, found, picture))
        draft.state, draft.healed = "unproven", None
        self.plan = apply_revision(self.plan, event.revision)
        draft.step = self.plan.by_path[path]

    def _edited(self, plan: Plan, keep: tuple[str, ...] | None) -> None:
        """A person edited the recipe meanwhile: what will be done anew is no proposal any more."""
        self.plan = plan
        for path, draft in list(self.drafts.items()):
            step = plan.by_path.get(path)
            as_it_was = step is not None and (step.segment or ()) == draft.before
            stays = draft.state == "proposed" and as_it_was and (keep is None or path in keep)
            if not stays and draft.state not in ("accepted", "rejected"):
                del self.drafts[path]


def _places(step: PlanStep) -> tuple[Expectation, ...]:
    return tuple(e for e in step.expect if e.kind in PLACE_KINDS)


def _picture(seen: Observation | None) -> Picture | None:
    if seen is None or (seen.screenshot is None and seen.outline_file is None):
        return None
    return Picture(
        url=seen.url, title=seen.title, screenshot=seen.screenshot, outline=seen.outline_file
    )


def _made(draft: _Draft) -> Proposal:
    step, places = draft.step, _places(draft.step)
    stands_for: dict[str, str] = {}
    for revision, _, _ in draft.revisions:
        stands_for |= {new: stands_for.get(old, old) for old, new in revision.healed}
    newest = {old: new for new, old in stands_for.items()}
    changes = tuple(
        Change(
            cause=revision.cause, found=found, author=revision.author, reason=revision.reason,
            pages=revision.pages, tokens=revision.tokens, failed=picture,
        )
        for revision, found, picture in draft.revisions
    )  # fmt: skip
    return Proposal(
        step=step.path, state=draft.state, effect=step.effect, before=draft.before,
        after=step.segment or (), places_before=draft.places_before,
        places=None if places == draft.places_before else places, changes=changes,
        healed=draft.healed, targets=tuple(newest.items()), file=draft.file,
    )  # fmt: skip
