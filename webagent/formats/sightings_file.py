"""The sidecar beside a recipe: what its targets looked like, for clones and other workers.

``shop.yaml`` has ``shop.sightings.json``. It is kept in git beside its recipe: one line a sighting,
in a fixed order, so that a diff tells which target looks different now.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from webagent.core.errors import BadInput
from webagent.core.sighting import Sighting

VERSION = 1
SUFFIX = ".sightings.json"
MAX_BYTES = 20_000_000


def sidecar_of(recipe_file: str) -> Path:
    """The sidecar's path."""
    path = Path(recipe_file)
    return path.with_name(path.stem + SUFFIX)


def dump_sightings(recipe_id: str, sightings: Iterable[Sighting]) -> str:
    """The text of a sidecar; the same sightings give the same text."""
    ordered = sorted(sightings, key=lambda s: (s.step, s.target))
    lines = [
        json.dumps(
            one.model_dump(mode="json", exclude_defaults=True, exclude={"recipe_id", "accepted"}),
            ensure_ascii=False,
        )
        for one in ordered
    ]
    head = f'{{"webagent_sightings": {VERSION}, "recipe": {json.dumps(recipe_id)}, "sightings": ['
    body = ",\n".join(lines)
    return f"{head}\n{body}\n]}}\n" if lines else f"{head}]}}\n"


def load_sightings(path: Path, recipe_id: str) -> tuple[Sighting, ...]:
    """The sightings of a sidecar, none if there is no such file. They count as this recipe's.

    Raises:
        BadInput: it is none, or of a newer version, with the place of the fault.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _bad(path, "it is larger than 20 MB")
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise _bad(path, f"it cannot be read ({error})") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _bad(path, f"it is not JSON ({error})") from None
    version = data.get("webagent_sightings") if isinstance(data, dict) else None
    if not isinstance(version, int) or not isinstance(data.get("sightings"), list):
        raise _bad(path, "it holds no sightings")
    if version > VERSION:
        raise BadInput(
            f"{path} is of version {version}; this program reads version {VERSION}.",
            hint="A newer webagent may read it.",
        )
    found = []
    for number, raw in enumerate(data["sightings"], 1):
        try:
            one = Sighting.model_validate({**raw, "recipe_id": recipe_id, "accepted": True})
        except (ValidationError, TypeError) as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise _bad(path, f"its sighting {number} is none ({why})") from None
        found.append(one)
    return tuple(found)


def _bad(path: Path, why: str) -> BadInput:
    return BadInput(
        f"{path} cannot be used: {why}.",
        hint="Take it from git again, or delete it: accepting a heal writes it anew.",
    )


def write_sightings(path: Path, text: str) -> bool:
    """Put a sidecar's text in its place, whole or not at all; False if it was so already.

    Raises:
        BadInput: it cannot be written.
    """
    file = Path(os.path.realpath(path))
    fresh = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        if file.exists() and file.read_text("utf-8", "replace") == text:
            return False
        fresh.write_text(text, "utf-8", newline="\n")
        if file.exists():
            fresh.chmod(file.stat().st_mode & 0o7777)
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise BadInput(f"{path} cannot be written: {error}.", hint="Is it yours?") from None
    return True
