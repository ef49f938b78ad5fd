"""One-time codes against the vectors of RFC 6238, appendix B."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from webagent.core.errors import BadInput
from webagent.secrets.codes import code_at, seed_of

SEEDS = {
    "SHA1": b"12345678901234567890",
    "SHA256": b"12345678901234567890123456789012",
    "SHA512": b"1234567890123456789012345678901234567890123456789012345678901234",
}
VECTORS = [
    (59, "SHA1", "94287082"),
    (59, "SHA256", "46119246"),
    (59, "SHA512", "90693936"),
    (1111111109, "SHA1", "07081804"),
    (1111111109, "SHA256", "68084774"),
    (1111111109, "SHA512", "25091201"),
    (20000000000, "SHA1", "65353130"),
    (20000000000, "SHA256", "77737706"),
    (20000000000, "SHA512", "47863826"),
]


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize("seconds, algorithm, code", VECTORS)
def test_the_vectors_of_the_rfc(seconds: int, algorithm: str, code: str) -> None:
    seed = base64.b32encode(SEEDS[algorithm]).decode()
    address = f"otpauth://totp/Shop:ann?secret={seed}&digits=8&algorithm={algorithm}&issuer=Shop"
    assert code_at("otp", address, at(seconds)) == code
    if algorithm == "SHA1":
        assert code_at("otp", seed, at(seconds)) == code[2:]


def test_a_seed_may_be_written_as_sites_show_it() -> None:
    plain = code_at("otp", "JBSWY3DPEHPK3PXP", at(59))
    assert code_at("otp", "jbsw y3dp-ehpk 3pxp", at(59)) == plain
    assert code_at("otp", "otpauth://totp/x?secret=jbswy3dpehpk3pxp&period=30", at(31)) == plain
    assert code_at("otp", "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&period=60", at(31)) != plain


@pytest.mark.parametrize(
    "seed",
    [
        "!!!!",
        "hunter2",
        "",
        "AB",
        "otpauth://totp/x",
        "otpauth://totp/x?secret=!!",
        "otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1",
        "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&algorithm=MD5",
        "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&digits=many",
    ],
)
def test_what_is_no_seed_is_refused_without_being_shown(seed: str) -> None:
    with pytest.raises(BadInput, match="'otp' is no seed") as caught:
        code_at("otp", seed, at(59))
    assert caught.value.__suppress_context__
    assert not seed or seed not in str(caught.value)


def test_the_seed_inside_an_address_is_a_secret_of_its_own() -> None:
    assert seed_of("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP") == "JBSWY3DPEHPK3PXP"
    assert seed_of("JBSWY3DPEHPK3PXP") == "JBSWY3DPEHPK3PXP"
    assert seed_of("otpauth://totp/x") == ""
