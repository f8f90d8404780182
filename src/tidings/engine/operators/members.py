"""The members of a shared plan: the tuples of constants by which the queries that share it differ."""

from collections.abc import Callable, Collection, Iterable, Iterator

from tidings.engine.operators.base import Aligned, Epoch
from tidings.model.terms import Var
from tidings.sparql.evaluate.layout import Layout, Plan, Row

FEW = 4
"""Up to this many members, look-ups combine each row with each member from the start."""


class Members:
    """The parameter tuples of members, with indexes by any of their columns. The owner of `tuples` changes them, and
    reports each change to `admit` or `dismiss`."""

    __slots__ = ("_indexes", "tuples", "variables", "version")

    def __init__(self, variables: tuple[Var, ...], tuples: Collection[Row]) -> None:
        self.variables = variables
        self.tuples = tuples
        self.version = 0
        """Increases whenever a member comes or goes."""
        self._indexes: dict[tuple[int, ...], dict[Row, dict[Row, None]]] = {}

    def matching(self, columns: tuple[int, ...], values: Row) -> Iterable[Row]:
        """The tuples that have these values in these columns."""
        if len(columns) == len(self.variables):
            return (values,) if values in self.tuples else ()
        if not columns:
            return list(self.tuples)
        index = self._indexes.get(columns)
        if index is None:
            index = self._indexes[columns] = {}
            for member in self.tuples:
                _put(index, columns, member)
        return list(index.get(values, ()))

    def admit(self, member: Row) -> None:
        self.version += 1
        for columns, index in self._indexes.items():
            _put(index, columns, member)

    def dismiss(self, member: Row) -> None:
        self.version += 1
        for columns, index in self._indexes.items():
            values = tuple([member[i] for i in columns])
            del index[values][member]
            if not index[values]:
                del index[values]


def _put(index: dict[Row, dict[Row, None]], columns: tuple[int, ...], member: Row) -> None:
    index.setdefault(tuple([member[i] for i in columns]), {})[member] = None


class LookedUp:
    """Runs a plan that extends rows of a layout. If the rows have no parameters, and there are few members, each row is
    combined with each member first: between a row and the members there may be a hub, such as a group that everybody is
    in. With `everybody`, this is always done: nothing leads from the rows to the members."""

    __slots__ = ("_everybody", "_few", "_members", "_plan", "layout")

    def __init__(
        self, make: Callable[[Layout], Plan], given: Layout, layout: Layout | None, members: Members | None,
        epoch: Epoch, *, everybody: bool = False,
    ) -> None:  # fmt: skip
        """Without a `layout`, the rows have the columns of the plan."""
        is_known = members is None or not given.index.keys().isdisjoint(members.variables)
        self._members = None if is_known else members
        self._everybody = everybody
        led = given if self._members is None else given.extended(self._members.variables, self._members.variables)
        first = led if everybody else given
        plan = Aligned.of(lambda: make(first), epoch) if layout is None else Aligned(lambda: make(first), layout, epoch)
        self.layout = plan.layout
        self._plan = plan
        self._few = plan if first is led else Aligned(lambda: make(led), self.layout, epoch)

    def run(self, rows: Iterable[Row]) -> Iterator[Row]:
        members = self._members
        if members is None or not (self._everybody or len(members.tuples) <= FEW):
            return self._plan.run(rows)
        known = list(members.tuples)
        return self._few.run(row + member for row in rows for member in known)
