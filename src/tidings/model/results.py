"""What a query answers: a table of solutions, a yes or no, or triples.

Variables are named without their question mark. A row has one place a variable, in the order of `variables`, and None
where the variable is unbound. Rows and triples may be iterators: they are read once, and never held as a whole.
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
