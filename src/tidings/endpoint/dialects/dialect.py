"""What the broker has to know of a store beyond the W3C recommendations."""

from collections.abc import Callable
from dataclasses import dataclass

from tidings.model.terms import DEFAULT_GRAPH, Term


def _nameless(_: str) -> Term | None:
    return None


@dataclass(frozen=True, slots=True)
class Dialect:
    """The defaults are what every store can be expected to take."""

    name: str
    signature: str = ""
    """What its headers have in them, in lower case."""
    request_bytes: int = 1 << 20
    """The most that an update may have."""
    request_quads: int = 1 << 20
    """The same, in quads."""
    rows: int | None = None
    """The most that an answer has, whatever was asked for; more is asked for in pages."""
    sorts_apart: bool = False
    """Whether it sorts many rows in a subquery only."""
    asked: int = 400
    """Quads that are asked for at once."""
    bare: bool = True
    """Whether it takes the bare text of a request; else it is sent as a form."""
    one_graph: bool = False
    """Whether it forgets some of an operation that speaks of several graphs."""
    default_graph: Term = DEFAULT_GRAPH
    """The graph that stands for the default graph, where there is none that can be written."""
    tests: bool = False
    """Whether it answers a SELECT of EXISTS, and takes no longer for it than for a question of its own."""
    tables: bool = False
    """Whether it joins a pattern with a table of constants in less time than it takes for each constant alone."""
    ignored: tuple[str, ...] = ()
    """How the names of graphs begin that are its own business."""
    digests: bool = True
    """Whether it works out digests as others do."""
    address: Callable[[str], Term | None] = _nameless
    """How an update names a blank node of the store, by the label that answers have; None if it cannot."""


GENERIC = Dialect("generic")
