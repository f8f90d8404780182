"""Rows are tuples of terms, None where a variable is unbound; a layout says which variable stands in which column."""

from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from typing import TypeAlias

from msgspec import Struct

from tidings.model import results
from tidings.model.terms import Var

Row: TypeAlias = results.Row
Step: TypeAlias = Callable[[Iterable[Row]], Iterator[Row]]

_BATCH = 256


class Layout:
    """The columns of rows, and which of them are never None."""

    __slots__ = ("certain", "index", "variables")

    def __init__(self, variables: tuple[Var, ...], certain: frozenset[Var]) -> None:
        self.variables = variables
        self.certain = certain
        self.index = {variable: column for column, variable in enumerate(variables)}

    def extended(self, more: Iterable[Var], certain: Iterable[Var] = ()) -> "Layout":
        """A layout with the new variables in columns behind the old ones."""
        fresh = tuple(variable for variable in dict.fromkeys(more) if variable not in self.index)
        return Layout(self.variables + fresh, self.certain.union(certain))


class Columns:
    """A layout under construction: each triple pattern adds its columns in place, without copying the others."""

    __slots__ = ("certain", "index")

    def __init__(self, layout: Layout) -> None:
        self.index = layout.index.copy()
        self.certain = set(layout.certain)

    def add(self, variables: Iterable[Var]) -> None:
        """Make columns certain, and append those that are missing."""
        index = self.index
        for variable in variables:
            if variable not in index:
                index[variable] = len(index)
            self.certain.add(variable)

    def layout(self) -> Layout:
        """The layout of the columns so far."""
        return Layout(tuple(self.index), frozenset(self.certain))


EMPTY = Layout((), frozenset())
ONE: tuple[Row, ...] = ((),)
"""The input of a whole query: one row without columns."""


class Plan(Struct, frozen=True):
    """Extends rows of one layout to rows of another; old columns stay in front, in their order."""

    layout: Layout
    run: Step


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in short lists, for operators that iterate twice over rows but must not hold all of them."""
    iterator = iter(rows)
    while batch := list(islice(iterator, _BATCH)):
        yield batch


def named(layout: Layout, first: Container[Var] = ()) -> list[Var]:
    """The user's variables, some of them first, sorted by name: an order that does not depend on the plan."""
    found = (variable for variable in layout.variables if not variable.startswith(("?:", "?$")))
    return sorted(found, key=lambda variable: (variable not in first, variable))


def tiebreak(cells: Row) -> tuple[str, ...]:
    """A sort key for rows that ORDER BY does not distinguish."""
    return tuple([cell or "" for cell in cells])


def picker(columns: Iterable[int | None]) -> Callable[[Row], Row]:
    """A function that picks columns of a row; None gives an unbound column."""
    picked = tuple(columns)
    if None in picked:
        return lambda row: tuple([None if column is None else row[column] for column in picked])
    match picked:
        case ():
            return lambda _: ()
        case (only,):
            return lambda row: (row[only],)  # type: ignore[index]
        case (first, second):
            return lambda row: (row[first], row[second])  # type: ignore[index]
        case _:
            return lambda row: tuple([row[column] for column in picked])  # type: ignore[index]
