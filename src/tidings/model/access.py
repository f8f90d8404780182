"""Rights: which graphs a client may read, write and subscribe to. Gates pass the client's rights with each request.

Values are canonical: rights that allow the same are equal, however they were built, and subscribers with equal rights
share one plan. Without authentication, every client has `ALL_RIGHTS`.
"""

import re
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import force_setattr

from tidings.model.errors import BadRequest
from tidings.model.terms import Term

_NEVER_IN_IRIS = re.compile(r'[\x00-\x20<>"{}|\\^`]')


class Graphs(Struct, frozen=True):
    """A set of graphs: those with these names, those whose IRIs begin with these prefixes, or all graphs.

    The empty name is the default graph. Prefixes are of IRIs without `<`; the empty prefix matches all IRIs. No name
    begins with one of the prefixes, and no prefix with another one."""

    everything: bool = False
    names: frozenset[Term] = frozenset()
    prefixes: tuple[str, ...] = ()

    ALL: ClassVar["Graphs"]
    NONE: ClassVar["Graphs"]

    def __post_init__(self) -> None:
        for prefix in self.prefixes:
            if _NEVER_IN_IRIS.search(prefix):
                raise BadRequest(f"no IRI begins with {prefix!r}")
        for name in self.names:
            if name and (name[0] not in "<_" or (name[0] == "<" and name[-1] != ">")):
                raise BadRequest(f"no graph has the name {name!r}: it is an IRI in angle brackets, or empty")
        if self.everything:
            force_setattr(self, "names", frozenset())
            force_setattr(self, "prefixes", ())
        elif self.prefixes:
            prefixes = _outermost(self.prefixes)
            force_setattr(self, "prefixes", prefixes)
            force_setattr(self, "names", frozenset(n for n in self.names if not _begins(n, prefixes)))

    def __bool__(self) -> bool:
        """Whether the set is not empty."""
        return self.everything or bool(self.names or self.prefixes)

    def has(self, name: Term) -> bool:
        """Whether a graph is in the set, whether or not the store has a graph of that name."""
        return self.everything or name in self.names or _begins(name, self.prefixes)

    def covers(self, other: "Graphs") -> bool:
        """Whether `other` is a subset of this set."""
        return self | other == self

    def __or__(self, other: "Graphs") -> "Graphs":
        return Graphs(self.everything or other.everything, self.names | other.names, self.prefixes + other.prefixes)

    def __and__(self, other: "Graphs") -> "Graphs":
        if self.everything:
            return other
        if other.everything:
            return self
        names = {n for n in self.names if other.has(n)} | {n for n in other.names if self.has(n)}
        mine = [p for p in self.prefixes if p.startswith(other.prefixes)]
        theirs = [p for p in other.prefixes if p.startswith(self.prefixes)]
        return Graphs(names=frozenset(names), prefixes=(*mine, *theirs))


def _begins(name: Term, prefixes: tuple[str, ...]) -> bool:
    return name[:1] == "<" and name.startswith(prefixes, 1)


def _outermost(prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """The prefixes in order, without those that begin with another: in order, they directly follow that one."""
    kept: list[str] = []
    for prefix in sorted(prefixes):
        if not kept or not prefix.startswith(kept[-1]):
            kept.append(prefix)
    return tuple(kept)


Graphs.ALL = Graphs(everything=True)
Graphs.NONE = Graphs()


class Rights(Struct, frozen=True):
    """What a client may do. A client may subscribe only to graphs that it may read: `subscribe` is within `read`."""

    read: Graphs = Graphs.NONE
    write: Graphs = Graphs.NONE
    subscribe: Graphs = Graphs.NONE
    administer: bool = False
    """Whether the client may see and end what belongs to other clients, and change rights."""

    def __post_init__(self) -> None:
        if not self.read.everything:
            force_setattr(self, "subscribe", self.subscribe & self.read)

    def __or__(self, other: "Rights") -> "Rights":
        """The union of the rights."""
        return Rights(
            self.read | other.read,
            self.write | other.write,
            self.subscribe | other.subscribe,
            self.administer or other.administer,
        )

    def __and__(self, other: "Rights") -> "Rights":
        """The intersection of the rights."""
        return Rights(
            self.read & other.read,
            self.write & other.write,
            self.subscribe & other.subscribe,
            self.administer and other.administer,
        )


ALL_RIGHTS = Rights(Graphs.ALL, Graphs.ALL, Graphs.ALL, administer=True)
NO_RIGHTS = Rights()
