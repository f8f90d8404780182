"""The members of a request that its answer repeats, so that the client can match the two."""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

Alias: TypeAlias = str | Annotated[int, Meta(ge=-(1 << 53), le=1 << 53)] | float | None
"""The name that a client gives to a request; answers echo it."""


class Echo(Struct, frozen=True):
    """The alias is repeated in every answer, the spuid in errors."""

    alias: Alias = None
    spuid: str | None = None


NO_ECHO = Echo()
