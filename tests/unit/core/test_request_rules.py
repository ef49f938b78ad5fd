"""What a step may send, told from the policy and the request alone."""

from __future__ import annotations

from typing import Any

import pytest

from webagent.core.request_rules import GuardPolicy, Request, ResourceKind, refusal

HERE = "http://odd.test"


def ruled(url: str, kind: ResourceKind, *, method: str = "GET", **more: Any) -> str | None:
    told = {name: more.pop(name) for name in ("background", "carries_secret") if name in more}
    policy = GuardPolicy(origins=(HERE,), **more)
    return refusal(policy, Request(method=method, url=url, kind=kind, **told))


@pytest.mark.parametrize("kind", ["fetch", "xhr"])
def test_a_script_asks_elsewhere_only_while_no_secret_is_shown(kind: ResourceKind) -> None:
    assert ruled("http://away.test/x", kind) is None
    rule = ruled("http://away.test/x", kind, secret_shown=True)
    assert rule == "a request to http://away.test while a secret is on the page"
    assert ruled(f"{HERE}/x", kind, secret_shown=True) is None


def test_a_picture_from_elsewhere_passes_unless_its_address_carries_the_secret() -> None:
    url = "http://away.test/x.png"
    assert ruled(url, "other", secret_shown=True) is None
    assert ruled(url, "other", secret_shown=True, carries_secret=True) is not None
    assert ruled(f"{HERE}/x.png", "other", secret_shown=True, carries_secret=True) is None


@pytest.mark.parametrize("url", ["data:text/plain,x", "blob:http://odd.test/1"])
def test_what_leaves_no_machine_passes_with_a_secret(url: str) -> None:
    assert ruled(url, "fetch", secret_shown=True, carries_secret=True) is None


@pytest.mark.parametrize("kind", ["fetch", "xhr", "ping"])
def test_a_step_without_effect_writes_nothing_of_its_own(kind: ResourceKind) -> None:
    send = f"{HERE}/do"
    assert ruled(send, kind, method="POST") is None
    rule = ruled(send, kind, method="POST", in_action=True)
    assert rule is not None
    assert "effect none" in rule
    assert ruled(send, kind, method="POST", in_action=True, background=True) is None
    assert ruled(send, kind, method="POST", in_action=True, effect="repeatable") is None


def test_a_form_is_never_background() -> None:
    assert ruled(f"{HERE}/do", "document", method="POST", background=True) is not None
