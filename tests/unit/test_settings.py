"""Settings come from the environment, then webagent.toml, then defaults; what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from webagent.core.errors import BadInput
from webagent.settings import Settings, load_settings


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    found = load_settings({}, tmp_path)
    assert found == Settings(cwd=tmp_path, store=tmp_path / ".webagent")
    assert found.store_place == tmp_path / ".webagent"


def test_the_environment_is_read(tmp_path: Path) -> None:
    browser = tmp_path / "chromium"
    browser.touch(mode=0o755)
    env = {
        "WEBAGENT_BROWSER": "chromium",
        "WEBAGENT_HOSTS": "shop-a.test=127.0.0.1:8001, Shop-B.test=[::1]:8002,,x=localhost:1",
        "WEBAGENT_STORE": "~/agent",
        "WEBAGENT_HEADED": "Yes",
    }
    found = load_settings(env, tmp_path)
    assert found.browser == browser
    assert found.headed is True
    assert found.host_map == {
        "shop-a.test": "127.0.0.1:8001",
        "shop-b.test": "[::1]:8002",
        "x": "localhost:1",
    }
    assert found.store == Path("~/agent").expanduser()
    assert found.env == env


def test_the_process_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEBAGENT_STORE", "kept")
    assert load_settings().store == tmp_path / "kept"


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "webagent.toml").write_text(
        'store = "from-file"\nheaded = true\nhosts = {"a.test" = "127.0.0.1:1"}\n', "utf-8"
    )
    found = load_settings({"WEBAGENT_STORE": "from-env", "WEBAGENT_HOSTS": " "}, tmp_path)
    assert found.store == tmp_path / "from-env"
    assert found.headed is True
    assert found.hosts == (("a.test", "127.0.0.1:1"),)


def test_a_postgres_store_keeps_its_files_in_a_folder(tmp_path: Path) -> None:
    url = "postgresql://ann:hunter2@db/webagent"
    found = load_settings({"WEBAGENT_STORE": url}, tmp_path)
    assert found.store_place == url
    assert found.store == tmp_path / ".webagent"
    assert "hunter2" not in repr(found)


def test_the_environment_is_not_shown(tmp_path: Path) -> None:
    assert "hunter2" not in repr(load_settings({"SHOP_PASSWORD": "hunter2"}, tmp_path))


@pytest.mark.parametrize(
    "env, says",
    [
        ({"WEBAGENT_HEADED": "maybe"}, "WEBAGENT_HEADED: headed has to be yes or no"),
        ({"WEBAGENT_BROWSER": "/no/such"}, "WEBAGENT_BROWSER: there is no browser at /no/such"),
        ({"WEBAGENT_BROWSER": "/etc/passwd"}, "is not executable"),
        ({"WEBAGENT_HOSTS": "shop"}, "may only stand for an address on this machine, not ''"),
        ({"WEBAGENT_HOSTS": "shop=127.0.0.1"}, "not '127.0.0.1'"),
        ({"WEBAGENT_HOSTS": "shop=127.0.0.1:0"}, "on this machine"),
        ({"WEBAGENT_HOSTS": "shop=127.0.0.1:99999"}, "on this machine"),
        ({"WEBAGENT_HOSTS": "shop=10.0.0.1:80"}, "on this machine"),
        ({"WEBAGENT_HOSTS": "shop=evil.example:80"}, "on this machine"),
        ({"WEBAGENT_HOSTS": "*=127.0.0.1:80"}, "not the name of a host"),
        ({"WEBAGENT_HOSTS": "a b=127.0.0.1:80"}, "not the name of a host"),
        ({"WEBAGENT_HOSTS": "a=127.0.0.1:80,A=127.0.0.1:81"}, "twice"),
        ({"WEBAGENT_STORE": "mysql://ann:hunter2@db/x"}, "mysql:// is not known"),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, env: dict[str, str], says: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_settings(env, tmp_path)
    assert says in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text, says",
    [
        ("haeded = true", "Did you mean 'headed'?"),
        ("colour = 1", "There are: browser, headed, hosts, models, store."),
        ("store = 'x'\nheaded = yes", "line 2"),
        ("headed = 3", "yes or no"),
        ("store = 3", "store has to be a text, not 3"),
        ("browser = []", "browser has to be a text"),
        ("hosts = 3", "hosts has to be a table"),
        ("models = {base_url = 'somewhere'}", "models.base_url: this is not the URL of a server"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "webagent.toml").write_text(text, "utf-8")
    with pytest.raises(BadInput) as caught:
        load_settings({}, tmp_path)
    assert says in str(caught.value)
    assert "webagent.toml" in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "webagent.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match=r"webagent\.toml"):
        load_settings({}, tmp_path)


def test_the_models_table_is_kept_for_wiring_and_its_server_taken_out(tmp_path: Path) -> None:
    text = "[models]\nbase_url = 'http://127.0.0.1:8080/'\nplanner = 'claude-x'\n"
    (tmp_path / "webagent.toml").write_text(text, "utf-8")
    found = load_settings({}, tmp_path)
    assert found.models == {"planner": "claude-x"}
    assert found.models_at == str(tmp_path / "webagent.toml")
    assert (found.base_url, found.model) == ("http://127.0.0.1:8080", None)


def test_a_models_server_alone_names_no_model(tmp_path: Path) -> None:
    (tmp_path / "webagent.toml").write_text("models = {base_url = 'https://a.example'}", "utf-8")
    assert load_settings({}, tmp_path).models is None


def test_the_usual_variables_give_key_and_server(tmp_path: Path) -> None:
    env = {
        "ANTHROPIC_API_KEY": " sk-of-kim ",
        "ANTHROPIC_AUTH_TOKEN": "token-of-kim",
        "ANTHROPIC_BASE_URL": "https://models.example/anthropic",
        "WEBAGENT_MODEL": "claude-x",
    }
    found = load_settings(env, tmp_path)
    assert (found.api_key, found.auth_token) == ("sk-of-kim", "token-of-kim")
    assert (found.base_url, found.model) == ("https://models.example/anthropic", "claude-x")
    assert found.model_keys == {"sk-of-kim", "token-of-kim"}
    assert "of-kim" not in repr(found)


def test_a_server_with_a_password_is_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ANTHROPIC_BASE_URL") as caught:
        load_settings({"ANTHROPIC_BASE_URL": "https://kim:hunter2@a.example"}, tmp_path)
    assert "hunter2" not in str(caught.value)
