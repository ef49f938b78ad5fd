"""What `doctor` looks at. Each check says what was found; nothing is changed but a probe file."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from webagent import wiring
from webagent.core.errors import BadInput, BrowserError, StoreError
from webagent.settings import Settings

if TYPE_CHECKING:
    from webagent.core.chat import ModelSpec, Role

LEAST_PYTHON = (3, 11)
LEAST_FREE = 200 * 1024 * 1024
# What a run cannot do without; their absence means a broken installation.
PACKAGES = (
    "playwright",
    "pydantic",
    "sqlalchemy",
    "beautifulsoup4",
    "lxml",
    "ruamel.yaml",
    "jinja2",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. ``needed``: without it no run works."""

    name: str
    ok: bool
    told: str
    hint: str = ""
    needed: bool = True

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        return asdict(self)


def look() -> list[Check]:
    """Look at this machine; with settings that are wrong, at what can be seen without them."""
    try:
        found = wiring.settings()
    except BadInput as error:
        return [_python(), _packages(), Check("settings", False, error.message, error.hint)]
    return examine(found)


def examine(settings: Settings) -> list[Check]:
    """Look at everything; no check stops the others."""
    return [
        _python(),
        _packages(),
        _browser(settings),
        _display(settings),
        _store(settings),
        _disk(settings),
        _hosts(settings),
        _models(settings),
    ]


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check(
        "python", sys.version_info[:2] >= LEAST_PYTHON, f"{version} at {sys.executable}",
        "webagent needs Python 3.11 or newer.",
    )  # fmt: skip


def _packages() -> Check:
    missing, found = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check("packages", False, f"missing: {', '.join(missing)}", "Install webagent again.")
    return Check("packages", True, ", ".join(found))


def _browser(settings: Settings) -> Check:
    try:
        browser = wiring.find_browser(settings)
    except BrowserError as error:
        return Check("browser", False, error.message, error.hint)
    launch = wiring.check_launch(browser)
    if not launch.ok:
        hint = "Run `webagent doctor --install`, or set WEBAGENT_BROWSER to another."
        return Check("browser", False, f"{browser}, but {launch.reason}", hint)
    told = f"{browser}; starts in {launch.seconds:.1f} s as {launch.version}"
    return Check("browser", True, told)


def _display(settings: Settings) -> Check:
    shown = settings.env.get("DISPLAY") or settings.env.get("WAYLAND_DISPLAY")
    if not shown:
        hint = "Only --headed needs one; xvfb-run gives a display without a screen."
        return Check("display", False, "none: browsers run without a window", hint, needed=False)
    try:
        browser = wiring.find_browser(settings, headed=True)
    except BrowserError as error:
        return Check("display", False, f"{shown}, but {error.message}", error.hint, needed=False)
    return Check("display", True, f"{shown}, with {browser.path}", needed=False)


def _store(settings: Settings) -> Check:
    place = "the database of WEBAGENT_STORE" if settings.database else str(settings.store)
    import asyncio

    async def look() -> int:
        store = wiring.open_store(settings)
        try:
            return len(await store.runs(limit=1000))
        finally:
            await store.close()

    if settings.database is None and not settings.store.exists():
        return _no_store_yet(settings)
    try:
        count = asyncio.run(look())
        probe = settings.store / "probe"
        wiring.keep_private(probe, b"")
        probe.unlink()
    except (StoreError, BadInput) as error:
        return Check("store", False, error.message, error.hint)
    except OSError as error:
        return Check(
            "store", False, f"{place}: {error.strerror or error}", "Give another: WEBAGENT_STORE"
        )
    return Check("store", True, f"{place}, {count} run{'s' if count != 1 else ''}")


def _no_store_yet(settings: Settings) -> Check:
    """Only whether it could be made: to look leaves nothing behind."""
    place = next(p for p in settings.store.parents if p.exists())
    if not place.is_dir() or not os.access(place, os.W_OK):
        told = f"{settings.store} cannot be made in {place}"
        return Check("store", False, told, "Give another: WEBAGENT_STORE")
    return Check("store", True, f"{settings.store}, made by the first run")


def _disk(settings: Settings) -> Check:
    place = next(p for p in (settings.store, *settings.store.parents) if p.exists())
    free = shutil.disk_usage(place).free
    return Check(
        "disk", free >= LEAST_FREE, f"{free / 1024**3:.1f} GiB free",
        "A run with screenshots needs some hundred MiB.", needed=False,
    )  # fmt: skip


def _hosts(settings: Settings) -> Check:
    if not settings.hosts:
        return Check("hosts", True, "names are looked up as usual", needed=False)
    names = ", ".join(f"{name} is {place}" for name, place in settings.hosts)
    return Check("hosts", True, f"{names}; no other name resolves in the browser", needed=False)


def _models(settings: Settings) -> Check:
    """Which model each role would ask, without asking it."""
    try:
        specs = wiring.model_specs(settings)
    except BadInput as error:
        return Check("models", False, error.message, error.hint, needed=False)
    if not specs:
        return Check("models", True, "none is named in the settings", needed=False)
    told = "; ".join(f"{', '.join(roles)}: {spec.model}" for spec, roles in by_model(specs))
    if settings.base_url is None and not settings.model_keys:
        hint = "Set ANTHROPIC_API_KEY. Recipes run and are repaired without a model, too."
        return Check("models", False, f"{told}, but there is no key", hint, needed=False)
    where = f"at {settings.base_url}" if settings.base_url else "with a key"
    return Check("models", True, f"{told}, {where}; --model asks them", needed=False)


def by_model(specs: dict[Role, ModelSpec]) -> list[tuple[ModelSpec, tuple[Role, ...]]]:
    """Each distinct model with the roles in which it works, in the order of roles."""
    found: dict[str, tuple[ModelSpec, tuple[Role, ...]]] = {}
    for role, spec in specs.items():
        first, roles = found.get(spec.model, (spec, ()))
        found[spec.model] = (first, (*roles, role))
    return list(found.values())
