"""The promises of `ports.Secrets`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.stage import ManualClock
from webagent.core.base import SecretUse
from webagent.core.errors import SecretMissing
from webagent.core.plan import Plan, SecretSpec, SubPlan
from webagent.ports import Secrets
from webagent.secrets.source import SecretSource, specs_of

SEED = "JBSWY3DPEHPK3PXP"


@pytest.fixture
def env() -> dict[str, str]:
    return {
        "OUTER": "outer-value",
        "INNER": "inner-value",
        "SEED": f"otpauth://totp/x?secret={SEED}",
    }


@pytest.fixture
def secrets(env: dict[str, str], tmp_path: Path) -> Secrets:
    shop = "https://shop.example"
    plan = Plan(
        recipe_id="r",
        steps=(),
        secrets={"password": SecretSpec(env="OUTER", origin=shop), "otp": SecretSpec(env="SEED")},
        subplans={
            "sign_in": SubPlan(
                place="sign_in", recipe_id="s", secrets={"password": SecretSpec(env="INNER")}
            )
        },
    )
    return SecretSource(specs_of(plan), env=env, cwd=tmp_path, clock=ManualClock())


async def test_a_value_is_fetched_when_it_is_used(secrets: Secrets, env: dict[str, str]) -> None:
    use = SecretUse(secret="password")
    assert await secrets.value(use) == "outer-value"
    env["OUTER"] = "changed"
    assert await secrets.value(use) == "changed"


async def test_every_value_ever_given_is_known(secrets: Secrets, env: dict[str, str]) -> None:
    assert secrets.known() == frozenset()
    await secrets.value(SecretUse(secret="password"))
    env["OUTER"] = "changed"
    await secrets.value(SecretUse(secret="password"))
    code = await secrets.value(SecretUse(secret="otp", totp=True))
    assert len(code) == 6
    assert secrets.known() == {"outer-value", "changed", code, SEED, env["SEED"]}


async def test_a_sub_plans_secrets_are_its_own(secrets: Secrets) -> None:
    assert await secrets.value(SecretUse(secret="password", place="sign_in")) == "inner-value"
    with pytest.raises(SecretMissing, match="sub-plan 'sign_in' has no secret 'otp'"):
        await secrets.value(SecretUse(secret="otp", place="sign_in"))
    with pytest.raises(SecretMissing, match="recipe has no secret 'nope'"):
        secrets.origin(SecretUse(secret="nope"))


def test_a_secret_has_its_one_origin(secrets: Secrets) -> None:
    assert secrets.origin(SecretUse(secret="password")) == "https://shop.example"
    assert secrets.origin(SecretUse(secret="otp")) is None


async def test_a_value_is_in_no_picture_of_the_object(secrets: Secrets) -> None:
    await secrets.value(SecretUse(secret="password"))
    assert "outer-value" not in repr(secrets)
