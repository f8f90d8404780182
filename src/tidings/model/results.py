"""The result of a query: a table of solutions, a boolean, or triples.

The names of variables have no question mark. A row has one cell for each variable, in the order of `variables`, which
is None if the variable is unbound. Rows and triples may be iterators, which can be read only once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tidings.model.terms import Term, Triple

Row: TypeAlias = tuple[Term | None, ...]


@dataclass(frozen=True, slots=True)
class Solutions:
    """The answer to SELECT."""

    variables: tuple[str, ...]
    rows: Iterable[Row]


@dataclass(frozen=True, slots=True)
class Boolean:
    """The answer to ASK."""

    value: bool


@dataclass(frozen=True, slots=True)
class Triples:
    """The answer to CONSTRUCT and DESCRIBE; it is written as RDF."""

    triples: Iterable[Triple]


Result: TypeAlias = Solutions | Boolean | Triples
