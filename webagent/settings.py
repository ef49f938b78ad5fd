"""What the machine's owner has set: the only reader of the environment and of ``webagent.toml``.

The environment goes before the file, the file before the defaults. Relative paths are relative to
where they were written: the file's folder, or the working directory.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webagent.core.errors import BadInput

CONFIG_FILE = "webagent.toml"
FOLDER = ".webagent"

# The file's keys, and the variable that goes before each.
VARIABLES = {
    "browser": "WEBAGENT_BROWSER",
    "headed": "WEBAGENT_HEADED",
    "hosts": "WEBAGENT_HOSTS",
    "models": "WEBAGENT_MODEL",
    "store": "WEBAGENT_STORE",
}

_YES, _NO = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}
_URL = re.compile(r"[a-z][a-z0-9+]*://", re.IGNORECASE)
_NAME = re.compile(
    r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The values that wiring hands on; nothing else of the environment is known to the program.

    ``store`` is the folder of SQLite's file and of all files of runs; with ``database`` (a Postgres
    URL) only the latter. ``hosts`` maps names to ``ADDRESS:PORT`` on this machine. ``env`` is what
    secrets may name; it is not shown when the settings are printed.

    ``models`` is the file's table as it stands there (``models_at``), ``model`` the name that goes
    before it; `wiring.model_specs` reads both. ``base_url`` and the keys are the Messages server's.
    """

    cwd: Path
    store: Path
    database: str | None = field(default=None, repr=False)
    browser: Path | None = None
    headed: bool = False
    hosts: tuple[tuple[str, str], ...] = ()
    models: Any = None
    models_at: str = ""
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    auth_token: str | None = field(default=None, repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def store_place(self) -> Path | str:
        """What opens the store: the database's URL, else the folder."""
        return self.store if self.database is None else self.database

    @property
    def model_keys(self) -> frozenset[str]:
        """What signs in at the models' server, for the redactor."""
        return frozenset(key for key in (self.api_key, self.auth_token) if key)

    @property
    def host_map(self) -> dict[str, str]:
        """The hosts as a mapping."""
        return dict(self.hosts)


def load_settings(env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Settings:
    """The settings of this process. Raises BadInput with the variable or key and what to write."""
    env = os.environ if env is None else env
    cwd = Path.cwd() if cwd is None else cwd
    file = cwd / CONFIG_FILE
    said = _file_values(file)
    where = dict.fromkeys(said, str(file))
    models, base_url = _models(said.pop("models", None), str(file))
    for key, variable in VARIABLES.items():
        if env.get(variable, "").strip():
            said[key], where[key] = env[variable].strip(), variable
    store, database = _store(said.get("store", FOLDER), where.get("store", ""), cwd)
    return Settings(
        cwd=cwd,
        store=store,
        database=database,
        browser=_browser(said.get("browser"), where.get("browser", ""), cwd),
        headed=_flag(said.get("headed", False), where.get("headed", "")),
        hosts=_hosts(said.get("hosts", {}), where.get("hosts", "")),
        models=models,
        models_at=str(file) if models is not None else "",
        model=said.get("models"),
        base_url=_base_url(env.get("ANTHROPIC_BASE_URL", "").strip(), "ANTHROPIC_BASE_URL")
        or _base_url(base_url, f"{file}: models.base_url"),
        api_key=env.get("ANTHROPIC_API_KEY", "").strip() or None,
        auth_token=env.get("ANTHROPIC_AUTH_TOKEN", "").strip() or None,
        env=dict(env),
    )


def _file_values(file: Path) -> dict[str, Any]:
    try:
        said = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: {error}.", hint="It has to be TOML: headed = true") from None
    for key in said:
        if key not in VARIABLES:
            near = difflib.get_close_matches(key, VARIABLES, n=1)
            raise BadInput(
                f"{file}: there is no setting {key!r}.",
                hint=f"Did you mean {near[0]!r}?"
                if near
                else f"There are: {', '.join(VARIABLES)}.",
            )
    return said


def _text(value: Any, where: str, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where}: {what} has to be a text, not {value!r}.")
    return value.strip()


def _store(value: Any, where: str, cwd: Path) -> tuple[Path, str | None]:
    text = _text(value, where, "store")
    if not _URL.match(text):
        return cwd / Path(text).expanduser(), None
    if text.split(":", 1)[0].split("+", 1)[0].lower() not in {"postgres", "postgresql"}:
        scheme = text.split(":", 1)[0]  # the rest may hold a password
        raise BadInput(
            f"{where}: a store at {scheme}:// is not known.",
            hint="Give a folder (SQLite), or postgresql://USER@HOST/NAME.",
        )
    return cwd / FOLDER, text


def _browser(value: Any, where: str, cwd: Path) -> Path | None:
    if value is None:
        return None
    path = cwd / Path(_text(value, where, "browser")).expanduser()
    if not path.is_file():
        raise BadInput(
            f"{where}: there is no browser at {path}.",
            hint="Give a Chromium program's path, or leave it out: webagent doctor finds one.",
        )
    if not os.access(path, os.X_OK):
        raise BadInput(f"{where}: {path} is not executable.", hint=f"chmod +x {path}")
    return path


def _flag(value: Any, where: str) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    if text in _YES | _NO:
        return text in _YES
    raise BadInput(f"{where}: headed has to be yes or no, not {value!r}.", hint="Write 1 or 0.")


def _hosts(value: Any, where: str) -> tuple[tuple[str, str], ...]:
    """Names with the address on this machine that each stands for, in the order of writing."""
    if isinstance(value, str):
        pairs = [part.strip().partition("=") for part in value.split(",") if part.strip()]
        said = [(name.strip(), address.strip()) for name, _, address in pairs]
    elif isinstance(value, dict):
        said = [(name, str(address).strip()) for name, address in value.items()]
    else:
        raise BadInput(
            f"{where}: hosts has to be a table.", hint='hosts = {shop = "127.0.0.1:8001"}'
        )
    found: dict[str, str] = {}
    for raw, address in said:
        name = raw.lower()
        if not _NAME.fullmatch(name):
            raise BadInput(
                f"{where}: {raw!r} is not the name of a host.",
                hint="Write name=127.0.0.1:PORT, several with commas between.",
            )
        if not _is_loopback(address):
            raise BadInput(
                f"{where}: {name} may only stand for an address on this machine, not {address!r}.",
                hint=f"Write {name}=127.0.0.1:PORT.",
            )
        if name in found:
            raise BadInput(f"{where}: {name} stands there twice.")
        found[name] = address
    return tuple(found.items())


def _models(value: Any, where: str) -> tuple[Any, Any]:
    """The table of models without its ``base_url``, and that."""
    if not isinstance(value, dict):
        return value, None
    rest = {key: inner for key, inner in value.items() if key != "base_url"}
    return rest or None, value.get("base_url")


def _base_url(value: Any, where: str) -> str | None:
    if not value:
        return None
    text = _text(value, where, "the models' server")
    if not re.fullmatch(r"https?://[^\s/@]+(/\S*)?", text):
        raise BadInput(
            f"{where}: this is not the URL of a server.",  # not shown: it may hold a password
            hint="Write https://HOST, without user and password.",
        )
    return text.rstrip("/")


def _is_loopback(address: str) -> bool:
    host, colon, port = address.rpartition(":")
    if not (colon and port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        return False
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
