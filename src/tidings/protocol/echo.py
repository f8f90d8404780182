"""What an answer repeats of its request, so that clients that share a socket know whose it is."""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

Alias: TypeAlias = str | Annotated[int, Meta(ge=-(1 << 53), le=1 << 53)] | float | None
"""What a client calls a request; it is echoed as it came."""


class Echo(Struct, frozen=True):
    """The alias is repeated in every answer, the spuid in errors."""

    alias: Alias = None
    spuid: str | None = None


NO_ECHO = Echo()
