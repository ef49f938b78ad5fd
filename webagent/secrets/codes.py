"""One-time codes (TOTP, RFC 6238) from a seed: base32, or the otpauth:// address of a QR code."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pyotp

from webagent.core.errors import BadInput

_DIGESTS = {"SHA1": hashlib.sha1, "SHA256": hashlib.sha256, "SHA512": hashlib.sha512}


class _Totp(pyotp.TOTP):
    """Takes the seeds that sites give: 80 bits (16 letters) are common, pyotp asks for 112."""

    min_secret_length_bits: ClassVar[int] = 40


def code_at(name: str, seed: str, now: datetime) -> str:
    """The code of the secret ``name`` at a moment. Raises BadInput for a seed that is none."""
    try:
        return _totp(seed).at(now)
    except (ValueError, KeyError):  # from None: their messages may hold the seed
        raise BadInput(
            f"Secret {name!r} is no seed for one-time codes.",
            hint="Give the base32 text or the otpauth://totp/… address that the site showed "
            "beside its QR code.",
        ) from None


def seed_of(value: str) -> str:
    """The bare seed inside an otpauth address; the value itself when it is no such address."""
    if not value.startswith("otpauth://"):
        return value
    return parse_qs(urlsplit(value).query).get("secret", [""])[0]


def _totp(value: str) -> pyotp.TOTP:
    seed = "".join(seed_of(value).split()).replace("-", "").rstrip("=").upper()
    if seed == "" or not value.startswith("otpauth://"):
        return _Totp(seed)
    address = urlsplit(value)
    if address.netloc != "totp":
        raise ValueError("a counter is not a clock")
    said = {key: found[0] for key, found in parse_qs(address.query).items()}
    return _Totp(
        seed,
        digits=int(said.get("digits", "6")),
        interval=int(said.get("period", "30")),
        digest=_DIGESTS[said.get("algorithm", "SHA1").upper()],
    )
