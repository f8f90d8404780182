"""What a function of the library is."""

from collections.abc import Callable

import msgspec

from tidings.model.terms import Term


class Function(msgspec.Struct, frozen=True):
    """A strict function: called with `least` to `most` terms (`most` None: any number), all of them bound."""

    name: str
    least: int
    most: int | None
    call: Callable[..., Term | None]
