"""Fetches a secret's value from where its spec says: environment, file, command or keyring.

Called through `secrets.SecretSource` at the moment of use. It is given the environment as a mapping
and never reads it itself. No message here holds a value, or what a command printed: programs that
keep passwords print them on the wrong channel too.
"""

from __future__ import annotations

import importlib
import shlex
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from webagent.core.errors import BadInput, SecretMissing
from webagent.core.plan import SecretSpec

COMMAND_SECONDS = 30.0
LARGEST = 64 * 1024  # more is not a password but a wrong file

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def fetch(name: str, spec: SecretSpec, env: Mapping[str, str], cwd: Path) -> str:
    """The value of the secret ``name``. Raises SecretMissing, or BadInput for an unsafe file."""
    if spec.env is not None:
        return from_environment(name, spec.env, env)
    if spec.file is not None:
        return from_file(name, cwd / Path(spec.file).expanduser())
    if spec.command is not None:
        return from_command(name, spec.command, env, cwd)
    if spec.keyring is not None:
        return from_keyring(name, spec.keyring)
    raise SecretMissing(
        f"Secret {name!r} has no source.",
        hint=f"Write one in the recipe: secrets: {{{name}: {{env: {name.upper()}}}}}",
    )


def from_environment(name: str, variable: str, env: Mapping[str, str]) -> str:
    """The value of an environment variable; an empty one counts as missing."""
    value = env.get(variable, "")
    if not value:
        state = "is empty" if variable in env else "is not set"
        raise SecretMissing(
            f"Secret {name!r}: the environment variable {variable} {state}.",
            hint=f"Set it for this run: {variable}=… webagent run …",
        )
    return value


def from_file(name: str, path: Path) -> str:
    """The content of a file that only its owner can read, without the newline at its end."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & _OTHERS:
                raise BadInput(
                    f"Secret {name!r}: others than its owner may use {path} (mode {mode:03o}).",
                    hint=f"chmod 600 {shlex.quote(str(path))}",
                )
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise SecretMissing(
            f"Secret {name!r}: the file {path} cannot be read: {error.strerror or error}.",
            hint="See that it is there and that this user may read it.",
        ) from None
    return _text(name, f"the file {path}", raw)


def from_command(name: str, command: str, env: Mapping[str, str], cwd: Path) -> str:
    """What a command prints (no shell: words as `shlex` splits them), without its last newline."""
    source = f"the command {command!r}"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"Secret {name!r}: {source} does not parse: {error}.") from None
    if not words:
        raise BadInput(f"Secret {name!r}: its command is empty.")
    try:
        done = subprocess.run(  # a person wrote this command in their own recipe; there is no shell
            words,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except OSError as error:
        raise SecretMissing(
            f"Secret {name!r}: {source} could not be started: {error.strerror or error}.",
            hint="There is no shell: pipes and $NAMES need sh -c '…'.",
        ) from None
    except subprocess.TimeoutExpired:
        raise SecretMissing(
            f"Secret {name!r}: {source} did not end within {COMMAND_SECONDS:.0f} seconds.",
            hint="It may be waiting for an answer: unlock the password store first.",
        ) from None
    if done.returncode != 0:
        raise SecretMissing(
            f"Secret {name!r}: {source} ended with exit code {done.returncode}.",
            hint="Run it by hand to see why.",
        )
    return _text(name, source, done.stdout)


def from_keyring(name: str, entry: str) -> str:
    """The password of ``service/user`` in the system's keyring."""
    service, slash, user = entry.rpartition("/")
    if not (service and slash and user):
        raise BadInput(
            f"Secret {name!r}: {entry!r} does not name an entry of the keyring.",
            hint="Write keyring: SERVICE/USER",
        )
    try:
        keyring = importlib.import_module("keyring")
        errors = importlib.import_module("keyring.errors")
    except ModuleNotFoundError:
        raise SecretMissing(
            f"Secret {name!r} is in the keyring, and the keyring package is not installed.",
            hint='pip install "webagent[keyring]"',
        ) from None
    try:
        value = keyring.get_password(service, user)
    except errors.KeyringError as error:
        raise SecretMissing(
            f"Secret {name!r}: this machine's keyring did not answer ({type(error).__name__}).",
            hint="A machine without a desktop has none as a rule: use env, file or command there.",
        ) from None
    if not value:
        raise SecretMissing(
            f"Secret {name!r}: the keyring has no entry {entry!r}.",
            hint=f"keyring set {shlex.quote(service)} {shlex.quote(user)}",
        )
    return str(value)


def _text(name: str, source: str, raw: bytes) -> str:
    """The text of a source's bytes. Only one newline goes: a password may end in spaces."""
    if len(raw) > LARGEST:
        raise BadInput(f"Secret {name!r}: {source} gives more than {LARGEST // 1024} KiB.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"Secret {name!r}: {source} gives something that is not UTF-8.") from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not text:
        raise SecretMissing(f"Secret {name!r}: {source} gives nothing.")
    return text
