"""Files that belong to a run: screenshots, outlines, downloads, the storage state.

One folder per run under a common root, readable by its owner alone. A name is never used twice and
never leads out of the folder, whatever a site proposed as a download's name.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path, PurePosixPath

from webagent.core.errors import StoreError

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
# What a file system, a shell or Windows (where a bundle may be unpacked) takes amiss.
_UNFIT = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_LONGEST = 150  # bytes of one name: room for a number and for folders that allow 255


class FileArtifacts:
    """`ports.Artifacts` under ``root`` (made when first needed)."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def folder(self, run: str) -> Path:
        """The run's folder, made if needed (0700)."""
        if not _RUN_ID.fullmatch(run) or run.endswith("."):
            raise StoreError(
                f"{run!r} cannot be the id of a run: it would not do as a folder's name."
            )
        folder = self._root / run
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise _failed(folder, error) from None
        return folder

    def keep(self, run: str, name: str, content: bytes) -> str:
        """Write a file under the run; the name it got, relative to the folder.

        ``name`` may have folders in it. What is unfit for a name is replaced by ``_``; a name that
        is taken gets a number before its suffix: ``page.png``, ``page-2.png``.
        """
        folder = self.folder(run)
        wanted = fit_name(name)
        target = folder / wanted
        try:
            _make_folders(folder, PurePosixPath(wanted).parent)
            number = 1
            while True:
                path = target if number == 1 else target.with_name(_numbered(target.name, number))
                try:
                    handle = os.open(path, _NEW_FILE, 0o600)
                except FileExistsError:
                    number += 1
                    continue
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                return path.relative_to(folder).as_posix()
        except OSError as error:
            raise _failed(target, error) from None


# O_EXCL: two writers never get one name; with O_NOFOLLOW no link is followed either.
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_private(path: Path, content: bytes) -> None:
    """Put a file (0600) in the place of the one before, whole or not at all."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise _failed(path, error) from None


def fit_name(name: str) -> str:
    """A relative path, near to ``name``, that stays inside its folder on every system."""
    parts = []
    for raw in unicodedata.normalize("NFC", name).replace("\\", "/").split("/"):
        part = _UNFIT.sub("_", raw.encode("utf-8", "replace").decode("utf-8")).strip(" ")
        if part in {"", ".", ".."}:
            continue
        part = part.rstrip(". ") or "_"
        if _DEVICES.fullmatch(part):
            part = f"_{part}"
        parts.append(_shortened(part))
    return "/".join(parts[-4:]) or "unnamed"


def _shortened(part: str) -> str:
    if len(part.encode()) <= _LONGEST:
        return part
    stem, dot, suffix = part.rpartition(".")
    if not dot or not stem or len(suffix.encode()) > 16:
        stem, dot, suffix = part, "", ""
    room = _LONGEST - len(suffix.encode()) - len(dot)
    return stem.encode()[:room].decode("utf-8", "ignore") + dot + suffix


def _numbered(name: str, number: int) -> str:
    stem, dot, suffix = name.partition(".") if not name.startswith(".") else (name, "", "")
    return f"{stem}-{number}{dot}{suffix}"


def _make_folders(folder: Path, below: PurePosixPath) -> None:
    for part in below.parts:
        folder = folder / part
        folder.mkdir(mode=0o700, exist_ok=True)


def _failed(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{path} could not be written: {error.strerror or error}.",
        hint="See that there is room and that this user may write there.",
    )
