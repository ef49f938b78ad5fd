"""What a run changed in its steps, and a person's word on it: look, accept, reject.

A proposal is accepted by writing it into the recipe's file (or that of the used recipe which holds
the step), its sightings into the file beside it. The recipe's id and the steps' names stay, so that
effects are known by the same keys.
"""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from webagent import wiring
from webagent.core.base import Frozen
from webagent.core.errors import BadInput
from webagent.core.event import Event, RevisionAccepted, RevisionRejected
from webagent.core.sighting import Sighting
from webagent.engine.proposals import (
    Picture,
    Proposal,
    acceptable,
    made_current,
    proposals,
    still_used,
)
from webagent.engine.state import RunState, fold
from webagent.interface.errands import Where
from webagent.interface.records import opened, person
from webagent.runtime.journal import Journal

if TYPE_CHECKING:
    from webagent.ports import Store
    from webagent.runtime.context import Deps

KEEP_HEALS = "keep_heals"


class Evidence(Frozen):
    """A kept page: its URL and the paths of its screenshot and outline, where there are."""

    url: str = ""
    screenshot: str = ""
    outline: str = ""


class ChangeShown(Frozen):
    """One revision of a step: what was found wrong, how it was healed, and by whom."""

    cause: str
    found: str = ""
    author: str
    reason: str = ""
    pages: int = 0
    tokens: int = 0
    failed: Evidence | None = None


class RevisionShown(Frozen):
    """One step that a run revised, to be read by a person.

    ``diff``: of the recipe's file, or where that cannot be edited of the segment alone, with the
    reason in ``blocked``. ``file``: the file that holds the step. ``healed``: the page as the step
    was met with the new segment.
    """

    step: str
    state: str
    effect: str
    file: str
    diff: str
    blocked: str = ""
    changes: tuple[ChangeShown, ...] = ()
    healed: Evidence | None = None


class Accepted(Frozen):
    """What accepting did: the steps, the recipe files that were written, and the sidecar."""

    run: str
    steps: tuple[str, ...]
    files: tuple[str, ...] = ()
    sidecar: str = ""


class Rejected(Frozen):
    """What was rejected."""

    run: str
    steps: tuple[str, ...]


async def revisions(
    run: str = "last", *, store: Where | None = None, recipe: Where | None = None
) -> tuple[RevisionShown, ...]:
    """What a run revised: for each step a diff of the recipe, the causes, and both pictures.

    Args:
        run: its id, a unique beginning of it, or ``last``.
        store: folder or Postgres URL of the store.
        recipe: the recipe's file, if it is not where it was.

    Raises:
        UnknownRun: there is none such.
    """
    settings = wiring.settings(store)
    async with opened(settings) as found:
        run = await found.find(run)
        entries = await found.entries(run)
    state = fold(entries)
    folder = wiring.artifacts(settings).folder(run)
    started = state.started
    file = str(recipe or (started.recipe_file if started is not None else ""))
    return tuple(_shown(one, state, file, folder) for one in proposals(entries))


async def accept(
    run: str,
    steps: Sequence[str] = (),
    *,
    store: Where | None = None,
    recipe: Where | None = None,
) -> Accepted:
    """Write what a run proposes into its recipe; comments and all other text stay.

    Args:
        run: its id, a unique beginning of it, or ``last``.
        steps: only these; by default all that wait for a word.
        store: folder or Postgres URL of the store.
        recipe: the recipe's file, if it is not where it was.

    Raises:
        UnknownRun: there is none such. RunBusy: it is being worked on.
        BadInput: nothing to accept; the run is not over; a step is unknown, was not met, or its
            text in the file is not what the run had. Nothing was written then.
    """
    async with _at_the_end(run, store) as end:
        chosen = _chosen(end, steps)
        return await _accept(end, chosen, _file(end.state, recipe), person())


async def reject(run: str, steps: Sequence[str] = (), *, store: Where | None = None) -> Rejected:
    """Say that what a run proposes is not wanted: the recipe stays, its healed sightings go.

    Raises:
        UnknownRun, RunBusy, BadInput: as `accept`.
    """
    async with _at_the_end(run, store) as end:
        chosen = _chosen(end, steps, reject=True)
        recipe_id = end.state.the_plan.recipe_id
        for one in chosen:
            await end.store.drop_sightings(recipe_id, one.step, accepted=False)
        await end.say(RevisionRejected(step=one.step, by=person()) for one in chosen)
        return Rejected(run=end.run, steps=tuple(one.step for one in chosen))


async def keep_heals(deps: Deps, run: str) -> RunState | None:
    """After a met unattended run: accept the heals that its recipe lets be kept without asking.

    Only of steps without effect. What cannot be written stays a proposal for a person. The state
    afterwards, None when nothing was kept.
    """
    entries = await deps.store.entries(run)
    state = fold(entries)
    started = state.started
    wanted = (
        started is not None
        and started.unattended
        and state.finished is not None
        and state.finished.status == "met"
        and state.the_plan.keep_heals == "none"
    )
    chosen = [one for one in acceptable(proposals(entries)) if one.effect == "none"]
    if not wanted or not chosen:
        return None
    async with _held(deps, run) as end:
        for one in chosen:
            try:
                await _accept(end, [one], _file(state, None), KEEP_HEALS)
            except BadInput:
                continue
        return end.state


# -- the end of a run -----------------------------------------------------------------------------


class _End:
    """A run that is over, held so that nobody resumes it meanwhile."""

    def __init__(self, deps: Deps, journal: Journal, found: tuple[Proposal, ...]) -> None:
        self.store: Store = deps.store
        self.run = journal.lease.run
        self.found = found
        self._journal = journal

    @property
    def state(self) -> RunState:
        return self._journal.state

    async def say(self, events: Iterable[Event]) -> None:
        await self._journal.append(*events)


@asynccontextmanager
async def _at_the_end(run: str, store: Where | None) -> AsyncIterator[_End]:
    settings = wiring.settings(store)
    async with opened(settings) as found:
        run = await found.find(run)
        deps = await wiring.bare_deps(settings, found)
        async with _held(deps, run) as end:
            if not end.found:
                raise BadInput(
                    f"Run {run} revised nothing: there is no proposal in it.",
                    hint=f"See how it went: webagent show {run}",
                )
            if not end.state.over:
                raise BadInput(
                    f"Run {run} is not over: what it revised may still change.",
                    hint=f"Go on with it first: webagent resume {run}",
                )
            yield end


@asynccontextmanager
async def _held(deps: Deps, run: str) -> AsyncIterator[_End]:
    lease = await deps.store.acquire(run, deps.runner)
    try:
        journal = Journal(deps.store, lease, deps.redact_event, deps.redact_effect, deps.watch)
        await journal.load()
        yield _End(deps, journal, proposals(await deps.store.entries(run)))
    finally:
        await deps.store.release(lease)


def _chosen(end: _End, steps: Sequence[str], *, reject: bool = False) -> tuple[Proposal, ...]:
    """The proposals meant. Raises BadInput for a step of which none can be accepted."""
    by_step = {one.step: one for one in end.found}
    if not steps:
        if waiting := acceptable(end.found):
            return waiting
        stands = ", ".join(f"{one.step} is {one.state}" for one in end.found)
        raise BadInput(
            f"Nothing in run {end.run} waits for a word: {stands}.",
            hint=f"See: webagent revisions {end.run}",
        )
    for step in steps:
        _check_step(end, by_step, step, reject=reject)
    return tuple(by_step[step] for step in dict.fromkeys(steps))


def _check_step(end: _End, by_step: dict[str, Proposal], step: str, *, reject: bool) -> None:
    one = by_step.get(step)
    hint = f"See: webagent revisions {end.run}"
    if one is None:
        known = [s.path for s in end.state.the_plan.steps]
        if step in known:
            raise BadInput(f"{step} was not revised in run {end.run}.", hint=hint)
        near = get_close_matches(step, known, n=1)
        raise BadInput(
            f"Run {end.run} has no step {step!r}.",
            hint=f"Did you mean {near[0]!r}?" if near else f"Revised: {', '.join(by_step)}",
        )
    if one.state == "unproven" and not reject:
        raise BadInput(
            f"{step} was revised, but not met with it: there is nothing proven to accept.",
            hint=f"See why: webagent show {end.run} --step {step}",
        )
    if one.state == "accepted":
        raise BadInput(f"{step} was accepted already, into {one.file}.", hint=hint)
    if one.state == "rejected" and reject:
        raise BadInput(f"{step} was rejected already.", hint=hint)


async def _accept(end: _End, chosen: Sequence[Proposal], file: str, by: str) -> Accepted:
    """Write files, make sightings current, and keep the word: each part may be done again."""
    plan = end.state.the_plan
    changed = wiring.edited_recipe(file, plan.recipe_id, chosen)
    beside = wiring.load_sidecar(file, plan.recipe_id)
    for path, (before, after) in changed.items():
        wiring.write_recipe(path, before, after)
    for one in chosen:
        known = await end.store.sightings(plan.recipe_id)
        beside = still_used(one, beside)
        current = made_current(one, known)
        kept = still_used(one, (s for s in known if s.accepted))
        for old in (s for s in known if s.accepted and s not in kept):
            await end.store.drop_sightings(
                plan.recipe_id, one.step, accepted=True, target=old.target
            )
        if current:
            await end.store.keep_sightings(current)
        await end.store.drop_sightings(plan.recipe_id, one.step, accepted=False)
    sidecar = await _write_sidecar(end, file, beside)
    await end.say(RevisionAccepted(step=one.step, file=file, by=by) for one in chosen)
    return Accepted(
        run=end.run, steps=tuple(one.step for one in chosen), files=tuple(changed), sidecar=sidecar
    )


async def _write_sidecar(end: _End, file: str, beside: Iterable[Sighting]) -> str:
    """The recipe's accepted sightings: of file and store the newer."""
    recipe_id = end.state.the_plan.recipe_id
    newest = {(one.step, one.target): one for one in beside}
    for one in await end.store.sightings(recipe_id):
        key = one.step, one.target
        if one.accepted and (key not in newest or newest[key].at <= one.at):
            newest[key] = one
    if not newest:
        return ""
    path = wiring.write_sidecar(file, recipe_id, newest.values())
    return "" if path is None else str(path)


def _file(state: RunState, recipe: Where | None) -> str:
    """The recipe's file. Raises BadInput when the run was made from none."""
    if recipe is not None:
        return str(recipe)
    file = state.started.recipe_file if state.started is not None else ""
    if not file:
        raise BadInput(
            "This run was not made from a file, so there is nothing to write into.",
            hint="Name one: webagent accept RUN --recipe FILE",
        )
    return file


# -- to be read -----------------------------------------------------------------------------------


def _shown(one: Proposal, state: RunState, file: str, folder: Path) -> RevisionShown:
    blocked, diff, holder = "", "", file
    try:
        changed = wiring.edited_recipe(file, state.the_plan.recipe_id, [one]) if file else {}
        for holder, (before, after) in changed.items():
            diff = _diff(before, after, holder)
    except BadInput as error:
        blocked = str(error)
    if not diff:
        diff = _diff(
            wiring.segment_yaml(one.before, one.places_before if one.places is not None else ()),
            wiring.segment_yaml(one.after, one.places or ()),
            one.step,
        )
    return RevisionShown(
        step=one.step, state=one.state, effect=one.effect, file=holder, diff=diff,
        blocked=blocked if one.state in ("proposed", "unproven") else "",
        changes=tuple(
            ChangeShown(
                **change.model_dump(exclude={"failed"}), failed=_evidence(change.failed, folder)
            )
            for change in one.changes
        ),
        healed=_evidence(one.healed, folder),
    )  # fmt: skip


def _evidence(picture: Picture | None, folder: Path) -> Evidence | None:
    if picture is None:
        return None
    return Evidence(
        url=picture.url,
        screenshot=str(folder / picture.screenshot) if picture.screenshot else "",
        outline=str(folder / picture.outline) if picture.outline else "",
    )


def _diff(before: str, after: str, name: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{name} (as it is)", f"{name} (as proposed)",
        lineterm="",
    )  # fmt: skip
    return "\n".join(lines)
