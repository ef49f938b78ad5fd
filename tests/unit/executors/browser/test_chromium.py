"""Discovery is tested with fake browsers in a folder; starting with fakes and with the real one."""

from pathlib import Path

import pytest

from webagent.core.errors import BrowserNotFound
from webagent.executors.browser.chromium import (
    Places,
    check_launch,
    find,
    playwright_revision,
)


def executable(path: Path, script: str) -> Path:
    """A shell script that stands for a browser."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def fake(path: Path, version: str = "156.0.1") -> Path:
    """A fake browser that tells its version."""
    return executable(path, f"echo Chromium {version}")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """The six places of a machine, all empty."""
    return Places(
        downloads=tmp_path / "downloads",
        unpacked=tmp_path / "unpacked",
        headless_shell=(str(tmp_path / "lib" / "chromium-headless-shell"),),
        chromium=(str(tmp_path / "bin" / "chromium"),),
        chrome=(str(tmp_path / "bin" / "google-chrome"),),
    )


def download(places: Places, *, complete: bool = True) -> Path:
    """Playwright's own download of the headless shell."""
    home = places.downloads / f"chromium_headless_shell-{playwright_revision()}"
    path = fake(home / "chrome-headless-shell-linux64" / "chrome-headless-shell")
    if complete:
        (home / "INSTALLATION_COMPLETE").touch()
    return path


def test_the_first_of_the_agreed_order_is_taken(places: Places, tmp_path: Path):
    order = [
        ("playwright", download(places)),
        ("headless_shell", fake(Path(places.headless_shell[0]))),
        ("chromium", fake(Path(places.chromium[0]))),
        ("chrome", fake(Path(places.chrome[0]))),
        ("unpacked", fake(places.unpacked / "chromium")),
    ]
    for kind, path in order:
        found = find(places=places)
        assert (found.kind, found.path, found.version) == (kind, path, "156.0.1")
        path.unlink()
    with pytest.raises(BrowserNotFound, match=r"doctor --install"):
        find(places=places)


def test_the_named_browser_goes_before_all_others(places: Places, tmp_path: Path):
    download(places)
    mine = fake(tmp_path / "mine", "150.0")
    found = find(mine, places=places)
    assert (found.path, found.kind, found.version) == (mine, "given", "150.0")
    assert "WEBAGENT_BROWSER" in found.why


def test_a_named_browser_that_is_absent_is_never_replaced(places: Places, tmp_path: Path):
    download(places)
    with pytest.raises(BrowserNotFound, match=r"not an executable file"):
        find(tmp_path / "absent", places=places)


def test_a_named_file_without_the_executable_bit_is_refused(places: Places, tmp_path: Path):
    (tmp_path / "plain").write_text("text")
    with pytest.raises(BrowserNotFound, match=r"not an executable file"):
        find(tmp_path / "plain", places=places)


def test_a_named_browser_that_fails_is_refused_with_its_reason(places: Places, tmp_path: Path):
    broken = executable(tmp_path / "broken", "echo boom >&2; exit 3")
    with pytest.raises(BrowserNotFound, match=r"exit code 3, boom"):
        find(broken, places=places)


def test_a_broken_off_download_is_not_taken(places: Places):
    download(places, complete=False)
    shell = fake(Path(places.headless_shell[0]))
    assert find(places=places).path == shell


def test_a_download_for_another_playwright_is_not_taken(places: Places):
    home = places.downloads / "chromium_headless_shell-1"
    fake(home / "chrome-headless-shell-linux64" / "chrome-headless-shell")
    (home / "INSTALLATION_COMPLETE").touch()
    with pytest.raises(BrowserNotFound):
        find(places=places)


def test_a_browser_whose_library_is_missing_is_passed_over_and_named(places: Places):
    path = download(places)
    words = "chrome: error while loading shared libraries: libnss3.so: cannot open shared object"
    executable(path, f"echo '{words}' >&2; exit 127")
    shell = fake(Path(places.headless_shell[0]))
    found = find(places=places)
    assert found.path == shell
    assert found.passed_over == (
        f"{path}: it does not start: the shared library libnss3.so is missing",
    )


def test_a_snap_stub_is_passed_over_and_said(places: Places):
    executable(
        Path(places.chromium[0]),
        "echo 'Command requires the chromium snap to be installed'; exit 1",
    )
    with pytest.raises(BrowserNotFound, match=r"a snap, whose confinement"):
        find(places=places)


def test_a_link_to_the_snap_command_is_passed_over(places: Places, tmp_path: Path):
    snap = fake(tmp_path / "usr" / "snap")
    Path(places.chromium[0]).parent.mkdir(parents=True)
    Path(places.chromium[0]).symlink_to(snap)
    with pytest.raises(BrowserNotFound, match=r"a snap"):
        find(places=places)


def test_for_a_window_headless_shells_are_passed_over(places: Places):
    download(places)
    fake(Path(places.headless_shell[0]))
    with pytest.raises(BrowserNotFound, match=r"with a window") as refused:
        find(places=places, headed=True)
    assert "apt-get install chromium" in refused.value.hint
    full = fake(Path(places.chromium[0]))
    assert find(places=places, headed=True).path == full


def test_a_browser_that_dies_at_once_is_reported_with_its_last_words(places: Places):
    fake(Path(places.headless_shell[0]))
    found = find(places=places)
    executable(found.path, "echo 'FATAL: no shared memory' >&2; exit 5")
    launch = check_launch(found)
    assert not launch.ok
    assert launch.reason == "it does not start: exit code 5, FATAL: no shared memory"


def test_a_browser_that_is_ended_by_a_signal_is_reported_with_its_name(places: Places):
    fake(Path(places.headless_shell[0]))
    found = find(places=places)
    executable(found.path, "kill -TRAP $$")
    assert check_launch(found).reason == "it does not start: ended by SIGTRAP"


def test_a_browser_that_says_nothing_is_given_up_at_the_deadline(places: Places):
    fake(Path(places.headless_shell[0]))
    found = find(places=places)
    executable(found.path, "sleep 60")
    launch = check_launch(found, timeout=0.3)
    assert launch.reason == "it did not answer within 0.3 s"
    assert launch.seconds < 10


def test_a_browser_that_vanished_is_reported(places: Places):
    fake(Path(places.headless_shell[0]))
    found = find(places=places)
    found.path.unlink()
    assert "No such file" in check_launch(found).reason


@pytest.mark.browser
def test_the_machines_browser_starts_and_tells_the_version_that_was_found(browser_path: Path):
    found = find(browser_path)
    launch = check_launch(found)
    assert launch.ok, launch.reason
    assert launch.version == found.version
