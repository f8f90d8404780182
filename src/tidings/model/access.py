"""Which graphs somebody may read, write and subscribe to. Whoever knows the asker hands this value in with a request.

Values are canonical: rights that allow the same are equal, whatever they were made of, and subscribers with equal
rights share one plan. `ALL_RIGHTS` is what everybody has where nobody is asked who they are.
"""

import re
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import force_setattr

from tidings.model.errors import BadRequest
from tidings.model.terms import Term

_NEVER_IN_IRIS = re.compile(r'[\x00-\x20<>"{}|\\^`]')


class Graphs(Struct, frozen=True):
    """Some graphs: those named, those whose IRI begins with a prefix, or all there are and ever will be.

    The empty name is the default graph. A prefix is of IRIs, without `<`; the empty one is of all of them. No name has
    one of the prefixes, and no prefix begins with another."""

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
        """Whether there is any."""
        return self.everything or bool(self.names or self.prefixes)

    def has(self, name: Term) -> bool:
        """Whether a graph is among them, be there one of that name or not."""
        return self.everything or name in self.names or _begins(name, self.prefixes)

    def covers(self, other: "Graphs") -> bool:
        """Whether all of the others are among them."""
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
    """In order, without those that begin with another one: which comes right before them, or before those between."""
    kept: list[str] = []
    for prefix in sorted(prefixes):
        if not kept or not prefix.startswith(kept[-1]):
            kept.append(prefix)
    return tuple(kept)


Graphs.ALL = Graphs(everything=True)
Graphs.NONE = Graphs()


class Rights(Struct, frozen=True):
    """What one asker may do. Nobody subscribes to what they may not read: `subscribe` is always within `read`."""

    read: Graphs = Graphs.NONE
    write: Graphs = Graphs.NONE
    subscribe: Graphs = Graphs.NONE
    administer: bool = False
    """Whether they may see and end what others have, and change who may do what."""

    def __post_init__(self) -> None:
        if not self.read.everything:
            force_setattr(self, "subscribe", self.subscribe & self.read)

    def __or__(self, other: "Rights") -> "Rights":
        """What either allows."""
        return Rights(
            self.read | other.read,
            self.write | other.write,
            self.subscribe | other.subscribe,
            self.administer or other.administer,
        )

    def __and__(self, other: "Rights") -> "Rights":
        """What both allow."""
        return Rights(
            self.read & other.read,
            self.write & other.write,
            self.subscribe & other.subscribe,
            self.administer and other.administer,
        )


ALL_RIGHTS = Rights(Graphs.ALL, Graphs.ALL, Graphs.ALL, administer=True)
NO_RIGHTS = Rights()
