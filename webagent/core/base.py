"""What every noun is made of: a frozen pydantic model that refuses keys it does not know."""

from __future__ import annotations

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

# A JSON value. pydantic's own JsonValue is recursive and costs import time on every model.
Json: TypeAlias = Any


class Frozen(BaseModel):
    """An immutable value; equal fields, equal values. Built lazily to keep imports cheap."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        defer_build=True,
        populate_by_name=True,
        protected_namespaces=(),
        # A limit may be infinite. As null, the default, its event could never be read again.
        ser_json_inf_nan="constants",
        # A whole-value template keeps its type; where a text is wanted, a number is its digits.
        coerce_numbers_to_str=True,
    )


class SecretUse(Frozen):
    """A secret by name, standing where its value will be typed. The value is never in a model."""

    secret: str
    totp: bool = False
    # The sub-plan whose secret this is ("" for the recipe itself): a sub-plan's secrets are its
    # own.
    place: str = ""

    def __str__(self) -> str:
        return f"{{{{ secrets.{self.secret}{' | totp' if self.totp else ''} }}}}"
