"""The members of a shared plan: the tuples of constants by which the queries that share it differ."""

from collections.abc import Collection, Iterable

from tidings.model.terms import Var
from tidings.sparql.evaluate.layout import Row


class Members:
    """Parameter tuples, found by the values in any of their columns. They are kept by whoever owns `tuples`."""

    __slots__ = ("_indexes", "tuples", "variables", "version")

    def __init__(self, variables: tuple[Var, ...], tuples: Collection[Row]) -> None:
        self.variables = variables
        self.tuples = tuples
        self.version = 0
        """Another number whenever there are other members."""
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
