"""Figures that others than the broker have for those who watch it: of security, of the certificate."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias


class Figure(NamedTuple):
    """A number, as it is now. One that only `grows` counts what has happened since the start."""

    name: str
    text: str
    value: float
    grows: bool = False


Figures: TypeAlias = Callable[[], Iterable[Figure]]
"""Asked when somebody looks; it does not take long."""


def no_figures() -> Iterable[Figure]:
    return ()
