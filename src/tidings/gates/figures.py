"""Figures for `/status` and `/metrics` that parts other than the broker count: security, the certificate, gates."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias


class Figure(NamedTuple):
    """A number at this moment. One that `grows` is a counter since the start; any other is a gauge."""

    name: str
    text: str
    value: float
    grows: bool = False


Figures: TypeAlias = Callable[[], Iterable[Figure]]
"""Called for each request to `/status` or `/metrics`, so it must be quick."""


def no_figures() -> Iterable[Figure]:
    return ()
