"""The composition root: the only place that names adapters, and imports them when they are needed.

Faces and the Python interface ask here for a recipe's loader, a store, a runner's ports. Nothing
heavy is imported by importing this module: `webagent --help` and `webagent check` answer quickly
because Playwright, SQLAlchemy and the extractors come with the run that needs them.
"""

from __future__ import annotations

import json
import secrets as chance
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webagent.core.base import Json, SecretUse
from webagent.core.errors import BadInput, ModelUnavailable
from webagent.settings import Settings, load_settings

if TYPE_CHECKING:
    from webagent.core.action import Action
    from webagent.core.chat import Models, ModelSpec, Role
    from webagent.core.draft import Draft
    from webagent.core.errors import Problem
    from webagent.core.expect import Expectation
    from webagent.core.plan import InputSpec, Plan
    from webagent.core.recipe import Recipe
    from webagent.core.redact import Redactor
    from webagent.core.sighting import Sighting
    from webagent.core.target import Target
    from webagent.engine.proposals import Proposal
    from webagent.executors.browser.chromium import Chromium, Launch
    from webagent.ports import Artifacts, Chat, Clock, Executor, Runner, Secrets, Store
    from webagent.runtime.context import Deps
    from webagent.runtime.journal import Watch

# What a browser may see of the environment: where to draw, how to speak, where to write. Never all
# of it, which holds the secrets.
_FOR_BROWSERS = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DISPLAY", "XAUTHORITY",
    "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
    "DBUS_SESSION_BUS_ADDRESS", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LD_LIBRARY_PATH",
)  # fmt: skip

# Tokens that a drafted plan may have.
LONGEST_PLAN = 16_000
_BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: in the order of ASCII, nothing alike
_ID_TIME, _ID_CHANCE = 8, 3
_ID_EPOCH = 1_735_689_600_000  # 2025-01-01 in milliseconds: eight letters last until 2059


def settings(store: Path | str | None = None) -> Settings:
    """The settings of this process; ``store`` (a folder or a Postgres URL) goes before them.

    Raises:
        BadInput: a setting is wrong, with its name.
    """
    if store is None:
        return load_settings()
    found = load_settings()
    return load_settings({**found.env, "WEBAGENT_STORE": str(store)}, found.cwd)


# -- recipes ----------------------------------------------------------------------------------


def load_recipe(path: str | Path) -> Recipe:
    """A recipe from its file. Raises RecipeInvalid with every problem."""
    from webagent.formats.recipe_yaml import load_recipe

    return load_recipe(path)


def bind_inputs(
    specs: Mapping[str, InputSpec],
    given: Mapping[str, Json] | None = None,
    file: str | Path | None = None,
    base: str | Path = ".",
) -> dict[str, Json]:
    """The typed value of every declared input. Raises InputInvalid with all that is wrong."""
    from webagent.formats.inputs import bind_inputs

    return bind_inputs(specs, given, file, base)


def target_from_text(text: str) -> Target:
    """A target as a person types it. Raises BadInput."""
    from webagent.formats.target_text import target_from_text

    return target_from_text(text)


def recipe_schema() -> dict[str, Any]:
    """The JSON Schema of recipes."""
    from webagent.formats.recipe_schema import recipe_json_schema

    return recipe_json_schema()


def edited_recipe(
    file: str, recipe_id: str, accepted: Iterable[Proposal]
) -> dict[str, tuple[str, str]]:
    """The files that accepting these changes: text as it is and as it becomes, by path.

    Raises:
        BadInput: a file is gone, was edited since, or cannot be edited without a person.
    """
    from webagent.formats.recipe_edit import StepEdit, edited

    edits = [StepEdit(one.step, one.before, one.after, one.places) for one in accepted]
    return edited(file, edits, recipe_id)


def write_recipe(path: str, before: str, after: str) -> None:
    """Put a recipe's edited text in its place. Raises BadInput if it was changed meanwhile."""
    from webagent.formats.recipe_edit import write_text

    write_text(path, before, after)


def segment_yaml(segment: Iterable[Action], places: Iterable[Expectation] = ()) -> str:
    """Actions (and url and title expectations) as a recipe would write them."""
    from webagent.formats.segment_text import action_data, expectation_data
    from webagent.formats.yaml_text import written_block

    data: dict[str, Any] = {"segment": [action_data(action) for action in segment]}
    if expected := [expectation_data(place) for place in places]:
        data["expect"] = expected
    return "".join(f"{k}:\n{written_block(v, 0)}\n" for k, v in data.items())


def load_sidecar(recipe_file: str, recipe_id: str) -> tuple[Sighting, ...]:
    """The sightings that lie beside a recipe. Raises BadInput for a broken file."""
    from webagent.formats.sightings_file import load_sightings, sidecar_of

    return load_sightings(sidecar_of(recipe_file), recipe_id) if recipe_file else ()


def write_sidecar(recipe_file: str, recipe_id: str, sightings: Iterable[Sighting]) -> Path | None:
    """Write the sightings beside a recipe; the file, None if it was so already."""
    from webagent.formats.sightings_file import dump_sightings, sidecar_of, write_sightings

    path = sidecar_of(recipe_file)
    return path if write_sightings(path, dump_sightings(recipe_id, sightings)) else None


# -- stores and files -------------------------------------------------------------------------


def clock() -> Clock:
    """The machine's clock."""
    from webagent.runtime.clock import SystemClock

    return SystemClock()


def artifacts(found: Settings) -> Artifacts:
    """The files of runs, in the store's folder."""
    from webagent.stores.artifacts import FileArtifacts

    return FileArtifacts(found.store / "runs")


def open_store(found: Settings) -> Store:
    """The store of these settings, made if needed.

    Raises:
        StoreError: it cannot be opened, read or written.
    """
    from webagent.stores.sql import open_store

    return open_store(found.store_place, clock(), artifacts=artifacts(found))


def keep_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    from webagent.stores.artifacts import replace_private

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_private(path, content)


def check_out(path: Path) -> None:
    """Raise BadInput now if results could not be written there later."""
    from webagent.sinks.files import check_out

    check_out(path)


def write_outputs(path: Path, outputs: Mapping[str, Mapping[str, Json] | None]) -> int:
    """Write a run's outputs by the file's suffix; how many rows (or steps, for .json)."""
    from webagent.sinks.files import write_outputs

    return write_outputs(path, outputs)


def left_out(outputs: Mapping[str, Mapping[str, Json] | None]) -> dict[str, int]:
    """How many rows or items a table of these outputs leaves out because they failed, by list."""
    from webagent.sinks.rows import left_out

    return left_out(outputs)


# -- who runs, and as what --------------------------------------------------------------------


def this_runner() -> Runner:
    """This process as the holder of runs."""
    from webagent.stores.processes import this_runner

    return this_runner()


def end_runner(former: Runner) -> bool:
    """End what is left of a dead or hung runner and of its browser; True when both are known gone.

    Only on the host where they were recorded, and only by process id and start time together.
    """
    from webagent.stores import processes

    if former.host != processes.host_name():
        return False
    if former.boot != processes.boot_id():
        return True
    gone = processes.end(former.pid, former.started)
    if former.browser_pid is not None and former.browser_started is not None:
        gone = processes.end(former.browser_pid, former.browser_started) and gone
    return gone


def new_run_id(now: datetime | None = None) -> str:
    """An id for a run: short, and later ones sort behind earlier ones, such as ``1m3k09q4t-7xb``.

    Eight letters of time (milliseconds), three of chance for runs that begin together.
    """
    now = now or clock().now()
    ticks = int(now.timestamp() * 1000) - _ID_EPOCH
    letters = [_BASE32[ticks >> (5 * place) & 31] for place in reversed(range(_ID_TIME))]
    return "".join([*letters, *(chance.choice(_BASE32) for _ in range(_ID_CHANCE))])


def run_date(plan: Plan, inputs: Mapping[str, Json], now: datetime | None = None) -> str:
    """run.date of a run that starts now: in the recipe's zone, else in the machine's."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    from webagent.core.expr import render

    now = now or clock().now()
    named = plan.browser.timezone
    if named is None:
        return now.astimezone().date().isoformat()
    zone = render(named, inputs)
    try:
        return now.astimezone(ZoneInfo(str(zone))).date().isoformat()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(
            f"browser.timezone: there is no time zone {zone!r}.", hint="Such as: Europe/Vienna"
        ) from None


# -- secrets ----------------------------------------------------------------------------------

# The newest redactors made in this process: what is written about a crash passes all of them.
_redactors: deque[Redactor] = deque(maxlen=16)


def redact_all(text: str) -> str:
    """A text without any secret that this process has fetched."""
    for redactor in _redactors:
        text = redactor.text(text)
    return text


def secret_source(found: Settings, plan: Plan) -> tuple[Secrets, Redactor]:
    """Where a plan's secrets come from, and what takes them out of all that is kept or shown."""
    from webagent.core.redact import Redactor
    from webagent.secrets.source import SecretSource, specs_of

    source = SecretSource(specs_of(plan), env=found.env, cwd=found.cwd, clock=clock())
    redactor = Redactor(lambda: source.known() | found.model_keys)
    _redactors.append(redactor)
    return source, redactor


def used_secrets(plan: Plan) -> tuple[SecretUse, ...]:
    """The secrets that the plan's steps and its browser use, each once."""
    from webagent.core.expr import secret_use
    from webagent.core.step_values import texts, written_values

    found: dict[SecretUse, None] = {}
    for step in plan.steps:
        for written in written_values(step):
            for text in texts(written.raw):
                if (use := secret_use(text)) is not None:
                    found[use.model_copy(update={"place": step.place, "totp": False})] = None
    for value in _leaves(plan.browser.model_dump()):
        if (use := secret_use(value)) is not None:
            found[use.model_copy(update={"totp": False})] = None
    return tuple(found)


def _leaves(value: Json) -> Iterator[Json]:
    match value:
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list() | tuple():
            for inner in value:
                yield from _leaves(inner)
        case _:
            yield value


async def check_secrets(source: Secrets, plan: Plan) -> None:
    """Fetch every secret once before anything is opened, so that the redactor knows them all.

    Raises:
        SecretMissing: one is not there.
    """
    for use in used_secrets(plan):
        await source.value(use)


# -- models -----------------------------------------------------------------------------------


def settings_models(found: Settings | None = None) -> Models:
    """The models that the settings name, whatever a recipe says. Raises BadInput."""
    from webagent.formats.model_grammar import models_of_settings

    found = found or settings()
    return models_of_settings(found.models, found.models_at, found.model)


def model_specs(
    found: Settings, plan: Plan | None = None, *, default: bool = False
) -> dict[Role, ModelSpec]:
    """The model of each role that has one: the recipe goes before the settings.

    ``default``: roles without one get `DEFAULT_MODEL`; only where a person has asked for a model.

    Raises:
        BadInput: the settings' models are wrong, or money is limited where a price is not known.
    """
    from webagent.core.chat import DEFAULT_MODEL, Models
    from webagent.core.chat import ModelSpec as Spec
    from webagent.core.check_models import money_limited, unpriced
    from webagent.formats.model_grammar import models_of_settings

    models = models_of_settings(found.models, found.models_at, found.model)
    steps = () if plan is None else plan.steps
    if plan is not None:
        models = plan.models.over(models)
    if default and not models.off:
        models = models.over(Models.all(Spec(model=DEFAULT_MODEL)))
    if plan is not None and money_limited(plan.budget, steps):
        missing = unpriced(models, all_roles=True)
    else:
        missing = unpriced(models)
    if missing:
        raise BadInput(
            f"A money budget needs the price of each model: there is none for {missing[0]}.",
            hint=f"Write price with input and output (for a million tokens) at models.{missing[0]}",
        )
    return models.named


def make_chat(found: Settings, plan: Plan | None = None, *, default: bool = False) -> Chat | None:
    """What asks the models of a plan; None where none is named. Takes `model_specs`' arguments.

    Raises:
        BadInput: as `model_specs`.
    """
    specs = model_specs(found, plan, default=default)
    return _chat(found, specs) if specs else None


def _chat(found: Settings, specs: Mapping[Role, ModelSpec]) -> Chat:
    from webagent.chats.claude import ClaudeChat

    return ClaudeChat(
        specs, api_key=found.api_key, auth_token=found.auth_token, base_url=found.base_url
    )


async def draft_recipe(
    found: Settings,
    words: str,
    urls: Iterable[str] = (),
    *,
    model: str | None = None,
    inputs: Mapping[str, Json] | None = None,
) -> Draft:
    """A recipe that a model drafts from a request in words; proven as any, and not run.

    ``model`` goes before what the settings name. The recipe names its models itself, unless the
    settings name one that would work its steps: their prices and budgets hold then.

    Raises:
        BadInput: a start address or a setting is wrong. ModelUnavailable: nobody there to ask.
        DraftFailed: no draft passed; the last one is kept in the store.
    """
    from webagent.chats.kept import KeptChat
    from webagent.core.compile import compile_plan
    from webagent.core.draft import DraftRequest
    from webagent.core.errors import DraftFailed, RecipeInvalid
    from webagent.core.request_rules import origin_of
    from webagent.formats.recipe_draft import recipe_text
    from webagent.formats.recipe_yaml import parse_recipe
    from webagent.planners.claude.draft import draft

    starts = tuple(urls)
    for url in starts:
        if not url.startswith(("http://", "https://")) or not origin_of(url):
            raise BadInput(f"--url {url!r} is no whole web address.", hint=f"Such as https://{url}")
    if model is not None:
        found = replace(found, model=model)
    chat, spec = _drafting(found)
    own = settings_models(found).named.get("executor") if model is None else None
    request = DraftRequest(
        words=words, urls=starts, inputs=dict(inputs or {}),
        models="" if own is not None else spec.model,
    )  # fmt: skip

    def proven(text: str) -> tuple[Problem, ...]:
        try:
            compile_plan(parse_recipe(text, "draft.yaml"), settings_models(found))
        except RecipeInvalid as error:
            return error.problems
        return ()

    calls: list[dict[str, Json]] = []

    def keep(call: dict[str, Json]) -> None:
        calls.append(call)
        text = json.dumps(call, ensure_ascii=False, indent=1)
        path = found.store / "drafts" / f"{request.recipe_id}.call-{len(calls)}.json"
        keep_private(path, redact_all(text).encode("utf-8", "replace"))

    try:
        return await draft(
            request,
            KeptChat(chat, keep),
            lambda made: recipe_text(made, request, spec.model),
            proven,
            spec,
        )
    except DraftFailed as error:
        if error.text:
            kept = keep_draft(found, request.recipe_id + ".rejected", error.text)
            error.hint = f"{error.hint} The last draft is kept in {kept}.".strip()
        raise


def _drafting(found: Settings) -> tuple[Chat, ModelSpec]:
    """What asks the planner, and as which model.

    A plan is longer than what a planner says else: where the settings do not say how long its
    answer may be, it may be as long as a plan.
    """
    from webagent.core.chat import MAX_TOKENS
    from webagent.core.errors import ModelUnavailable

    specs = model_specs(found, default=True)
    if "planner" not in specs:
        raise ModelUnavailable(
            "Drafting a recipe needs a model, and the settings say: no model.",
            fault="no_key",
            hint="Name one: --model NAME. Without a model, write the recipe: webagent init",
        )
    spec = specs["planner"]
    if spec.max_tokens == MAX_TOKENS:
        spec = spec.model_copy(update={"max_tokens": LONGEST_PLAN})
    return _chat(found, {**specs, "planner": spec}), spec


def keep_draft(found: Settings, name: str, text: str) -> Path:
    """Keep a drafted recipe's text in the store's folder."""
    path = found.store / "drafts" / f"{name}.yaml"
    keep_private(path, redact_all(text).encode("utf-8", "replace"))
    return path


# -- browsers ---------------------------------------------------------------------------------


def find_browser(found: Settings, *, headed: bool = False) -> Chromium:
    """The browser that runs would use. Raises BrowserNotFound."""
    from webagent.executors.browser import chromium

    return chromium.find(found.browser, headed=headed)


def check_launch(browser: Chromium) -> Launch:
    """Start a browser once, to see that it does."""
    from webagent.executors.browser import chromium

    return chromium.check_launch(browser)


def install_browser(found: Settings, say: Callable[[str], None]) -> Chromium:
    """A browser that starts: the one that is there, else a new one. Raises BrowserInstallFailed."""
    from webagent.executors.browser import chromium_install

    return chromium_install.install(say, found.browser)


def browser_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment that a browser is started with."""
    return {k: v for k, v in env.items() if k in _FOR_BROWSERS or k.startswith("LC_")}


def browser_factory(
    found: Settings, plan: Plan, source: Secrets, redactor: Redactor
) -> Callable[[str], Executor]:
    """What makes a browser for a run, by its id. Raises BrowserNotFound when there is none."""
    from webagent.executors.browser.session import BrowserExecutor
    from webagent.extractors.extractor import Extractor

    browser = None
    if plan.browser.connect is None:
        browser = find_browser(found, headed=found.headed)
    files = artifacts(found)
    extract = Extractor(clock().now, plan.browser.locale)

    def make(run: str) -> Executor:
        return BrowserExecutor(
            run=run,
            executable="" if browser is None else str(browser.path),
            env=browser_environment(found.env),
            artifacts=files,
            secrets=source,
            redact=redactor.text,
            extract=extract,
            hosts=found.host_map,
            headed=found.headed,
        )

    return make


def _no_browser(run: str) -> Executor:
    msg = f"run {run} needs no browser"
    raise AssertionError(msg)


# -- all of it --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Manner:
    """How a run is watched and shown. ``on_failure`` waits before a failed page is closed."""

    headed: bool = False
    watch: tuple[Watch, ...] = ()
    on_failure: Callable[[str], Awaitable[None]] | None = None
    sidecar: tuple[Sighting, ...] = ()


async def make_deps(found: Settings, plan: Plan, store: Store, manner: Manner) -> Deps:
    """The ports of a runner for one plan: secrets are fetched and a browser found before it starts.

    Raises:
        SecretMissing: a secret is not there. BrowserNotFound: there is no browser.
    """
    from webagent.core.plan import PAGELESS
    from webagent.planners.local import LocalPlanner
    from webagent.runtime.context import Deps

    source, redactor = secret_source(found, plan)
    await check_secrets(source, plan)
    make: Callable[[str], Executor] = _no_browser
    if any(step.do not in PAGELESS for step in plan.steps):
        shown = replace(found, headed=found.headed or manner.headed)
        make = browser_factory(shown, plan, source, redactor)
    return Deps(
        store=store,
        artifacts=artifacts(found),
        executor=make,
        secrets=source,
        runner=this_runner(),
        redact_text=redactor.text,
        redact_event=redactor.redact_event,
        redact_effect=redactor.model,
        clock=clock(),
        watch=manner.watch,
        on_failure=manner.on_failure,
        end_runner=end_runner,
        named_hosts=tuple(found.host_map),
        planner=LocalPlanner(),
        sidecar=manner.sidecar,
        **_models(found, plan),
    )


def _models(found: Settings, plan: Plan) -> dict[str, Any]:
    """What asks a model in this run; nothing where none is named.

    Raises:
        ModelUnavailable: a step has no segment, and there is nobody to ask.
    """
    from webagent.core.plan import PAGELESS

    unwritten = [s.path for s in plan.steps if s.segment is None and s.do not in PAGELESS]
    chat = make_chat(found, plan)
    specs = model_specs(found, plan)
    if unwritten and (chat is None or "executor" not in specs):
        raise ModelUnavailable(
            f"{unwritten[0]} has no segment, and no model is named that could work it.",
            fault="no_key",
            hint="Write its segment, or name a model for the executor: models: MODEL",
        )
    if chat is None:
        return {}
    if unwritten and not (found.api_key or found.auth_token or found.base_url):
        from webagent.chats.claude import NO_KEY_HINT

        raise ModelUnavailable(
            f"{unwritten[0]} has no segment: a model has to work it, and there is no key for one.",
            fault="no_key",
            hint=NO_KEY_HINT,
        )
    from webagent.executors.improvise import ModelImproviser
    from webagent.extractors.by_model import ModelReading
    from webagent.extractors.extractor import Extractor
    from webagent.formats.actions_text import actions_from_texts
    from webagent.formats.segment_text import action_data
    from webagent.planners.claude.revise import ClaudeAdviser

    return {
        "chat": chat,
        "models": specs,
        "adviser": ClaudeAdviser(action_data, actions_from_texts),
        "improviser": ModelImproviser(),
        "reader": ModelReading(Extractor(clock().now, plan.browser.locale).value),
    }


async def bare_deps(found: Settings, store: Store) -> Deps:
    """The ports for what needs no browser and no secrets: keeping a person's answer."""
    from webagent.core.plan import Plan

    return await make_deps(found, Plan(recipe_id="", steps=()), store, Manner())
