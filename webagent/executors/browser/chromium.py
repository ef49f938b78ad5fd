"""Finding a Chromium, and seeing whether it starts.

Called by ``doctor``, ``chromium_install`` and whoever starts a browser. Knows where browsers lie on
a machine; reads no setting and no environment: what the person set comes in as arguments. Does not
load Playwright: looking costs a few file tests and one ``--version`` of the browser that is taken,
which also tells whether its shared libraries are there.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from webagent.core.errors import BrowserNotFound

Kind: TypeAlias = Literal["given", "playwright", "headless_shell", "chromium", "chrome", "unpacked"]

# Debian's /usr/bin/chromium-headless-shell is a script that does not exec: signals sent to it miss
# the browser, which then outlives its runner.
_BEHIND_WRAPPER = {
    Path("/usr/bin/chromium-headless-shell"): Path("/usr/lib/chromium/chromium-headless-shell")
}
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_MISSING_LIBRARY = re.compile(r"error while loading shared libraries: ([^\s:]+)")
_DEVTOOLS = re.compile(r"DevTools listening on ws://127\.0\.0\.1:(\d+)/")


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser that answered to ``--version``.

    ``path`` is what to start, and all that is needed to start it; ``why`` says in words for a
    person how it was chosen; ``passed_over`` what was seen before it and not taken, with reasons.
    """

    path: Path
    kind: Kind
    version: str
    why: str
    headed: bool = True
    passed_over: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"Chromium {self.version or '(version unknown)'} at {self.path} ({self.why})"


def _user_cache() -> Path:
    return Path.home() / ".cache"


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look. A name without a slash is looked up along the machine's search path."""

    downloads: Path = field(default_factory=lambda: _user_cache() / "ms-playwright")
    unpacked: Path = field(default_factory=lambda: _user_cache() / "webagent" / "chromium")
    headless_shell: tuple[str, ...] = ("/usr/lib/chromium/chromium-headless-shell",)
    chromium: tuple[str, ...] = ("/usr/lib/chromium/chromium", "chromium", "chromium-browser")
    chrome: tuple[str, ...] = (
        "/opt/google/chrome/chrome",
        "google-chrome-stable",
        "google-chrome",
    )


@dataclass(frozen=True, slots=True)
class Launch:
    """What came of starting a browser: its version, or why it did not start."""

    version: str = ""
    reason: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it started and answered."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: Path
    kind: Kind
    why: str
    headed: bool = True


def find(
    explicit: str | Path | None = None, *, places: Places | None = None, headed: bool = False
) -> Chromium:
    """The first usable browser in the agreed order.

    The order: the one named, Playwright's own download, Debian's headless shell, a full Chromium,
    Chrome, the unpacked fallback of ``chromium_install``.

    Args:
        explicit: the setting ``WEBAGENT_BROWSER``; if it is given no other browser is ever taken.
        places: where to look; the usual places of the machine and this user if not given.
        headed: pass over browsers that have no window.

    Raises:
        BrowserNotFound: saying what was seen and why it was not taken, and what to do.
    """
    if explicit:
        return _find_given(explicit, headed=headed)
    passed_over: list[str] = []
    for candidate in _candidates(places or Places()):
        version, reason = _try(candidate, headed=headed)
        if not reason:
            return Chromium(
                path=candidate.path,
                kind=candidate.kind,
                version=version,
                why=candidate.why,
                headed=candidate.headed,
                passed_over=tuple(passed_over),
            )
        passed_over.append(f"{candidate.path}: {reason}")
    seen = "\n".join(f"  passed over {line}" for line in passed_over)
    what = "No Chromium with a window was found" if headed else "No Chromium was found"
    raise BrowserNotFound(
        f"{what} on this machine." + (f"\n{seen}" if seen else ""),
        hint=(
            "Install a full one (Debian: apt-get install chromium), or run without --headed."
            if headed
            else "Run `webagent doctor --install`, or set WEBAGENT_BROWSER to a browser's path."
        ),
    )


def check_launch(found: Chromium, *, timeout: float = 20.0) -> Launch:
    """Really start the browser, ask it for its version over its debugging port, and end it.

    Takes about 0.2 s. Unlike ``--version`` this shows a browser that starts and dies, for want of
    shared memory or rights.

    Args:
        found: the browser.
        timeout: seconds until a browser that says nothing is given up.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="webagent-probe-", ignore_cleanup_errors=True) as home:
        command = [
            str(found.path),
            "--headless",
            "--no-sandbox",  # as Playwright starts it
            "--no-first-run",
            "--remote-debugging-port=0",
            f"--user-data-dir={home}",
            "about:blank",
        ]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            return Launch(reason=f"it cannot be started: {error.strerror or error}")
        watchdog = threading.Timer(timeout, _kill, [process])
        with process:
            watchdog.start()
            try:
                version, said = _ask_version(process)
            finally:
                watchdog.cancel()
                _kill(process)
        seconds = time.monotonic() - began
        if version:
            return Launch(version=version, seconds=seconds)
        if seconds >= timeout:
            return Launch(reason=f"it did not answer within {timeout:g} s", seconds=seconds)
        return Launch(reason=_why_dead(process.returncode, said), seconds=seconds)


@functools.cache
def playwright_revision() -> str:
    """The number of the browser build that the installed Playwright was made for."""
    listing = playwright_driver() / "package" / "browsers.json"
    browsers = json.loads(listing.read_text("utf-8"))["browsers"]
    return next(str(b["revision"]) for b in browsers if b["name"] == "chromium-headless-shell")


def playwright_driver() -> Path:
    """The folder of Playwright's driver (its node and its browser list), without importing it."""
    spec = importlib.util.find_spec("playwright")
    if spec is None or spec.origin is None:
        raise BrowserNotFound(
            "Playwright is not installed beside webagent.", hint="Install webagent again."
        )
    return Path(spec.origin).parent / "driver"


def _find_given(explicit: str | Path, *, headed: bool) -> Chromium:
    where = shutil.which(str(Path(explicit).expanduser()))
    if where is None:
        raise BrowserNotFound(
            f"WEBAGENT_BROWSER names {explicit}, which is not an executable file.",
            hint="Correct it, or unset it to have a browser looked for.",
        )
    path = _BEHIND_WRAPPER.get(Path(where), Path(where))
    shell = "headless" in path.name
    candidate = _Candidate(path, "given", "named by WEBAGENT_BROWSER", headed=not shell)
    version, reason = _try(candidate, headed=headed)
    if reason:
        raise BrowserNotFound(
            f"WEBAGENT_BROWSER names {explicit}, which cannot be used: {reason}.",
            hint="Correct it, or unset it to have a browser looked for.",
        )
    return Chromium(path, "given", version, candidate.why, headed=candidate.headed)


def _candidates(places: Places) -> Iterator[_Candidate]:
    revision = playwright_revision()
    for folder, binary, headed in (
        (f"chromium_headless_shell-{revision}", "chrome-headless-shell", False),
        (f"chromium-{revision}", "chrome", True),
    ):
        home = places.downloads / folder
        # Without this mark a download was broken off.
        if (home / "INSTALLATION_COMPLETE").exists():
            for path in sorted(home.glob(f"*/{binary}")):
                yield _Candidate(path, "playwright", "Playwright's own download", headed)
    system: tuple[tuple[tuple[str, ...], Kind, str, bool], ...] = (
        (places.headless_shell, "headless_shell", "Debian's headless shell", False),
        (places.chromium, "chromium", "the system's Chromium", True),
        (places.chrome, "chrome", "the system's Chrome", True),
    )
    for names, kind, why, headed in system:
        for path in dict.fromkeys(Path(w) for name in names if (w := shutil.which(name))):
            yield _Candidate(path, kind, why, headed)
    unpacked = places.unpacked / "chromium"
    if unpacked.exists():
        yield _Candidate(unpacked, "unpacked", "unpacked by `doctor --install`", headed=False)


def _try(candidate: _Candidate, *, headed: bool) -> tuple[str, str]:
    """A candidate's version, or the reason why it is not taken."""
    if headed and not candidate.headed:
        return "", "it has no window"
    if _is_snap(candidate.path):
        return "", "a snap, whose confinement hides the browser's profile from us"
    try:
        done = subprocess.run(
            [str(candidate.path), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", "it does not answer to --version"
    except OSError as error:
        return "", f"it cannot be started: {error.strerror or error}"
    if done.returncode != 0:
        return "", _why_dead(done.returncode, done.stderr)
    version = _VERSION.search(done.stdout)
    return (version[0], "") if version else ("", "it does not tell its version")


def _is_snap(path: Path) -> bool:
    """Whether this is a snap, or Ubuntu's stub of a package that only installs one."""
    if path.resolve().name == "snap" or path.parts[:2] == ("/", "snap"):
        return True
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return head.startswith(b"#!") and b"snap" in head


def _ask_version(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The version told over the debugging port, and what the browser said until then."""
    said: list[str] = []
    for line in process.stderr or ():
        said.append(line)
        if port := _DEVTOOLS.search(line):
            connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=10)
            with contextlib.closing(connection), contextlib.suppress(OSError, ValueError):
                connection.request("GET", "/json/version")
                answer = json.loads(connection.getresponse().read())
                if version := _VERSION.search(str(answer.get("Browser", ""))):
                    return version[0], "".join(said)
            break
    return "", "".join(said)


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill the browser with all its children, which share its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _why_dead(code: int, said: str) -> str:
    if library := _MISSING_LIBRARY.search(said):
        return f"it does not start: the shared library {library[1]} is missing"
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "")
    end = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"it does not start: {end}" + (f", {last[:200]}" if last else "")
