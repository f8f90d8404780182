"""What the broker has to know about a store beyond the W3C recommendations."""

from collections.abc import Callable
from dataclasses import dataclass

from tidings.model.terms import DEFAULT_GRAPH, Term


def _nameless(_: str) -> Term | None:
    return None


@dataclass(frozen=True, slots=True)
class Dialect:
    """The properties of a store. The defaults suit every store that follows SPARQL 1.1."""

    name: str
    signature: str = ""
    """A text in its `Server` header, or in the name of any header, in lower case."""
    request_bytes: int = 1 << 20
    """The greatest length of an update, in bytes."""
    request_quads: int = 1 << 20
    """The most quads of an update."""
    rows: int | None = None
    """The most rows that it returns in an answer; the broker fetches longer answers in pages."""
    sorts_apart: bool = False
    """Whether it can sort many rows only in a subquery."""
    asked: int = 400
    """The most quads whose existence one query asks about."""
    bare: bool = True
    """Whether it accepts the bare text of a request; otherwise requests are sent as forms."""
    one_graph: bool = False
    """Whether an operation may have one graph only, because the store executes those on several only in part."""
    default_graph: Term = DEFAULT_GRAPH
    """The named graph that stands for the default graph, if the store has none that updates can change."""
    tests: bool = False
    """Whether it can SELECT the value of EXISTS, in no more time than a separate query takes."""
    tables: bool = False
    """Whether joining a pattern with a table of constants is faster than a pattern for each constant."""
    ignored: tuple[str, ...] = ()
    """The prefixes of the names of its internal graphs."""
    digests: bool = True
    """Whether its digests can be compared with those of the broker."""
    address: Callable[[str], Term | None] = _nameless
    """From the label of a blank node in an answer, its name in an update; None if an update cannot name it."""


GENERIC = Dialect("generic")
