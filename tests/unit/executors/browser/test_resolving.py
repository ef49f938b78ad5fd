"""Names that lead into private networks are refused."""

from __future__ import annotations

import pytest

from webagent.core.request_rules import GuardPolicy
from webagent.executors.browser.resolving import Resolver

NAMES = {"inside.example": ("10.0.0.1",), "outside.example": ("93.184.216.34",)}
STRICT = GuardPolicy(origins=())


class Lookups:
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, host: str) -> tuple[str, ...]:
        self.asked.append(host)
        return NAMES.get(host, ())


@pytest.mark.parametrize(
    "host, refused", [("inside.example", True), ("outside.example", False), ("none.example", False)]
)
async def test_a_name_is_refused_by_where_it_leads(host: str, refused: bool) -> None:
    rule = await Resolver(look=Lookups()).refusal(STRICT, f"https://{host}/x")
    assert (rule is not None) == refused


@pytest.mark.parametrize(
    "policy",
    [
        GuardPolicy(origins=(), allow_private=True),
        GuardPolicy(origins=(), named_hosts=("inside.example",)),
    ],
)
async def test_what_is_allowed_is_not_looked_up(policy: GuardPolicy) -> None:
    look = Lookups()
    assert await Resolver(look=look).refusal(policy, "http://inside.example/") is None
    assert look.asked == []


async def test_behind_a_proxy_nothing_is_looked_up() -> None:
    look = Lookups()
    resolver = Resolver(enabled=False, look=look)
    assert await resolver.refusal(STRICT, "http://inside.example/") is None
    assert look.asked == []


async def test_a_name_is_looked_up_once_a_minute() -> None:
    look = Lookups()
    resolver = Resolver(look=look)
    for _ in range(3):
        await resolver.refusal(STRICT, "http://inside.example/")
    assert look.asked == ["inside.example"]
