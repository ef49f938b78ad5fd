"""Each source gives its value, or says which secret and which source failed: never a value."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from webagent.core.errors import BadInput, SecretMissing
from webagent.core.plan import SecretSpec
from webagent.secrets import sources
from webagent.secrets.sources import fetch


def get(tmp_path: Path, variables: dict[str, str] | None = None, /, **source: str) -> str:
    return fetch("password", SecretSpec(**source), variables or {}, tmp_path)


def missing(tmp_path: Path, variables: dict[str, str] | None = None, /, **source: str) -> str:
    with pytest.raises(SecretMissing) as caught:
        get(tmp_path, variables, **source)
    assert "'password'" in caught.value.message
    assert "hunter2" not in str(caught.value)
    return str(caught.value)


def test_the_environment_is_the_given_mapping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "from the process")
    assert get(tmp_path, {"SHOP_PASSWORD": " hunter2 "}, env="SHOP_PASSWORD") == " hunter2 "
    assert "SHOP_PASSWORD is not set" in missing(tmp_path, {}, env="SHOP_PASSWORD")
    assert "is empty" in missing(tmp_path, {"SHOP_PASSWORD": ""}, env="SHOP_PASSWORD")


def test_a_file_gives_its_text_without_the_last_newline(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_bytes("hünter2 \n\r\n".encode())
    file.chmod(0o600)
    assert get(tmp_path, file="secret") == "hünter2 \n"
    assert get(tmp_path, file=str(file)) == "hünter2 \n"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o602])
def test_a_file_that_others_can_use_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "my secret"
    file.write_text("hunter2")
    file.chmod(mode)
    with pytest.raises(BadInput, match="others than its owner") as caught:
        get(tmp_path, file="my secret")
    assert caught.value.hint == f"chmod 600 '{file}'"
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_no_secret_is_refused(tmp_path: Path) -> None:
    assert "No such file" in missing(tmp_path, file="nope")
    assert "directory" in missing(tmp_path, file=".")
    for content, says in ((b"\xff\xfe", "UTF-8"), (b"x" * 70_000, "64 KiB")):
        file = tmp_path / "odd"
        file.write_bytes(content)
        file.chmod(0o600)
        with pytest.raises(BadInput, match=says):
            get(tmp_path, file="odd")
    (tmp_path / "odd").write_bytes(b"\n")
    assert "gives nothing" in missing(tmp_path, file="odd")


def test_a_command_gives_what_it_prints(tmp_path: Path) -> None:
    assert get(tmp_path, {"PATH": "/usr/bin:/bin"}, command="printf 'hunter2\\n'") == "hunter2"
    assert get(tmp_path, {"PATH": "/usr/bin:/bin"}, command="pwd") == str(tmp_path)


def test_a_command_sees_the_given_environment_alone(tmp_path: Path) -> None:
    script = f"{sys.executable} -c \"import os; print(os.environ['X'])\""
    assert get(tmp_path, {"X": "hunter2"}, command=script) == "hunter2"


def test_a_command_has_no_shell(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin"}
    assert get(tmp_path, env, command="echo $HOME; rm -rf x | cat") == "$HOME; rm -rf x | cat"
    assert "no shell" in missing(tmp_path, env, command="nosuchprogram x")


def test_a_command_that_fails_does_not_show_what_it_printed(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin"}
    said = missing(tmp_path, env, command='sh -c \'echo hunt""er2; echo hunt""er2 >&2; exit 3\'')
    assert "exit code 3" in said
    with pytest.raises(BadInput, match="does not parse"):
        get(tmp_path, env, command="echo 'open")
    with pytest.raises(BadInput, match="empty"):
        get(tmp_path, env, command=" ")


def test_a_command_that_waits_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "COMMAND_SECONDS", 0.2)
    assert "did not end" in missing(tmp_path, {"PATH": "/usr/bin:/bin"}, command="sleep 20")


def test_without_the_keyring_package_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert "webagent[keyring]" in missing(tmp_path, keyring="shop/ann")


class _NoKeyring(Exception):
    pass


def test_the_keyring_is_asked_by_service_and_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {("https://shop", "ann"): "hunter2"}

    def get_password(service: str, user: str) -> str | None:
        if service == "locked":
            raise _NoKeyring("hunter2")
        return kept.get((service, user))

    keyring, errors = types.ModuleType("keyring"), types.ModuleType("keyring.errors")
    monkeypatch.setattr(keyring, "get_password", get_password, raising=False)
    monkeypatch.setattr(errors, "KeyringError", _NoKeyring, raising=False)
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    assert get(tmp_path, keyring="https://shop/ann") == "hunter2"
    assert "keyring set shop ann" in missing(tmp_path, keyring="shop/ann")
    assert "did not answer" in missing(tmp_path, keyring="locked/ann")
    for entry in ("shop", "/ann", "shop/"):
        with pytest.raises(BadInput, match="SERVICE/USER"):
            get(tmp_path, keyring=entry)


def test_a_secret_without_a_source_says_so(tmp_path: Path) -> None:
    assert "no source" in missing(tmp_path)
