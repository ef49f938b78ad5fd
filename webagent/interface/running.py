"""A run from its beginning, or from where it was left: `run`, `run_sync`, `resume`.

The command line uses `begin` and `go_on` below them, with a hold on the runner to park it by.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from webagent import wiring
from webagent.core.base import Json
from webagent.core.errors import BadInput
from webagent.core.event import Entry
from webagent.core.plan import Plan
from webagent.core.recipe import Recipe
from webagent.engine.reuse import kept, lost_effects
from webagent.engine.state import RunState
from webagent.interface.errands import Errand, Terms, Where, check, prepare
from webagent.interface.records import folded, opened, person
from webagent.interface.revisions import keep_heals
from webagent.runtime.context import Deps
from webagent.runtime.result import RunResult, result_of
from webagent.runtime.runner import Runner, Start
from webagent.settings import Settings

OnEvent: TypeAlias = Callable[[Entry], None]
Hold: TypeAlias = Callable[[Runner], None]


async def run(  # noqa: PLR0913 - the ways of running, each by its name
    recipe: Where | Recipe,
    inputs: Mapping[str, Json] | None = None,
    *,
    store: Where | None = None,
    unattended: bool = False,
    rehearse: bool = False,
    until: str | None = None,
    again: Sequence[str] = (),
    on_event: OnEvent | None = None,
    headed: bool = False,
) -> RunResult:
    """Run a recipe until it is over or parked.

    A failing step is no exception: the result says how every step stands. Cancelling the task ends
    the browser; `resume` goes on from the journal.

    Args:
        recipe: a recipe, or the path of one.
        inputs: values by name, as text or typed.
        store: folder or Postgres URL of the store; default: the setting, else ``.webagent``.
        unattended: nobody is there: a question parks the run, and a plan above its ``max_radius``
            is refused.
        rehearse: do everything up to each commit and send nothing.
        until: work only on this step and what it needs.
        again: steps whose once-only effect is wanted once more, in your name.
        on_event: called with each journal entry as it is kept; must not raise or wait.
        headed: show the browser's window.

    Raises:
        BadInput: recipe, inputs or secrets are not right (nothing was opened).
        BrowserNotFound: there is no browser. StoreError: the journal could not be kept.
    """
    terms = Terms(unattended, rehearse, until, tuple(again), by=person() if again else "")
    errand = prepare(recipe, inputs, terms=terms)
    watch = () if on_event is None else (_events_only(on_event),)
    return await begin(errand, wiring.settings(store), wiring.Manner(headed=headed, watch=watch))


def run_sync(  # noqa: PLR0913 - as `run`
    recipe: Where | Recipe,
    inputs: Mapping[str, Json] | None = None,
    *,
    store: Where | None = None,
    unattended: bool = False,
    rehearse: bool = False,
    until: str | None = None,
    again: Sequence[str] = (),
    on_event: OnEvent | None = None,
    headed: bool = False,
) -> RunResult:
    """`run` for programs without an event loop; arguments, result and errors are the same."""
    return asyncio.run(
        run(
            recipe, inputs, store=store, unattended=unattended, rehearse=rehearse, until=until,
            again=again, on_event=on_event, headed=headed,
        )
    )  # fmt: skip


async def resume(
    run: str,
    *,
    recipe: Where | Recipe | None = None,
    store: Where | None = None,
    on_event: OnEvent | None = None,
    headed: bool = False,
) -> RunResult:
    """Go on with a run that was parked, failed, or died: what is met stays as it is.

    Args:
        run: its id, a unique beginning of it, or ``last``.
        recipe: an edited recipe: steps whose text and used inputs are unchanged stay met, and a
            step whose effect was dispatched never runs again.
        store: folder or Postgres URL of the store.
        on_event: called with each journal entry as it is kept.
        headed: show the browser's window.

    Raises:
        UnknownRun: there is none such. RunBusy: a live runner holds it.
        BadInput: the edited recipe does not fit, or a secret is missing.
    """
    watch = () if on_event is None else (_events_only(on_event),)
    manner = wiring.Manner(headed=headed, watch=watch)
    edited = None if recipe is None else check(recipe)
    return await go_on(run, edited, wiring.settings(store), manner)


async def begin(
    errand: Errand, settings: Settings, manner: wiring.Manner, hold: Hold | None = None
) -> RunResult:
    """Begin a prepared errand as a new run; ``hold`` is given the runner, to park it by."""
    async with opened(settings) as store:
        deps = await wiring.make_deps(settings, errand.plan, store, manner)
        deps = _with_sidecar(deps, errand.recipe.file, errand.plan)
        runner = Runner(deps)
        if hold is not None:
            hold(runner)
        start = Start(
            run=wiring.new_run_id(),
            date=wiring.run_date(errand.plan, errand.inputs),
            inputs=errand.inputs,
            recipe_file=errand.recipe.file,
            recipe_digest=errand.recipe.digest,
            last=await store.last_met(errand.plan.recipe_id),
            unattended=errand.terms.unattended,
            rehearse=errand.terms.rehearse,
            until=errand.terms.until,
            again=errand.terms.again,
            again_by=errand.terms.by,
        )
        return await _kept(deps, await runner.start(errand.plan, start))


async def go_on(
    run: str,
    edited: Plan | None,
    settings: Settings,
    manner: wiring.Manner,
    hold: Hold | None = None,
) -> RunResult:
    """Resume a run, with an edited plan or its own."""
    async with opened(settings) as store:
        run = await store.find(run)
        state = await folded(store, run)
        plan = edited or state.plan
        if plan is None:
            raise BadInput(
                f"Run {run} ended before it had a plan.", hint="Start it again: webagent run RECIPE"
            )
        keep = None
        if edited is not None:
            _same_errand(state, edited, run)
            if lost := lost_effects(state, edited):
                raise BadInput(
                    f"The edited recipe lost the step of an effect that was sent: {lost[0]}.",
                    hint="Keep the step under its name: what it did is remembered by it.",
                )
            keep = kept(state, edited)
        deps = await wiring.make_deps(settings, plan, store, manner)
        if state.started is not None:
            deps = _with_sidecar(deps, state.started.recipe_file, plan)
        runner = Runner(deps)
        if hold is not None:
            hold(runner)
        return await _kept(deps, await runner.resume(run, edited, keep))


def _with_sidecar(deps: Deps, recipe_file: str, plan: Plan) -> Deps:
    """The ports with what lies beside the recipe. Raises BadInput when that is broken."""
    beside = wiring.load_sidecar(recipe_file, plan.recipe_id)
    return replace(deps, sidecar=(*deps.sidecar, *beside))


async def _kept(deps: Deps, result: RunResult) -> RunResult:
    """The result after the heals were kept that the recipe lets be kept without asking."""
    state = await keep_heals(deps, result.run) if result.proposed else None
    return result if state is None else result_of(state)


def _same_errand(state: RunState, edited: Plan, run: str) -> None:
    """Raise BadInput when a recipe is not an edit of the one that a run was made from."""
    started = state.started
    if started is None or state.plan is None:
        raise BadInput(f"Run {run} ended before it had a plan.", hint="webagent run RECIPE")
    if edited.recipe_id != started.recipe_id:
        raise BadInput(
            f"Run {run} is of recipe {started.recipe_id!r}, this one is {edited.recipe_id!r}.",
            hint="An edited recipe keeps its id; another recipe is another run.",
        )
    if new := [name for name in edited.inputs if name not in started.inputs]:
        raise BadInput(
            f"The edited recipe has inputs that run {run} was not given: {', '.join(new)}.",
            hint="Inputs are bound for good when a run begins: start a new one.",
        )


def _events_only(on_event: OnEvent) -> Callable[[RunState, Entry], None]:
    return lambda _state, entry: on_event(entry)
