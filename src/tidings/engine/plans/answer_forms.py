"""What a subscriber is told of changed solutions, by the form of its query; each member's state apart.

SELECT      the rows themselves
ASK         one row, true or false, when it turns
CONSTRUCT   the triples, each while at least one solution makes it
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from tidings.engine.operators.base import Changes
from tidings.model.terms import FALSE, TRUE, Triple
from tidings.model.zset import absorb, cross_zero
from tidings.sparql.algebra import TriplePattern
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, Row
from tidings.sparql.evaluate.query import instantiate


class AnswerForm(Protocol):
    """From the changed solutions of a member to the change of its answer."""

    def admit(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        """Take up a member with its solutions; its first answer."""

    def answer(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        """The present answer of a member whose solutions these are."""

    def tell(self, member: Row, changes: Changes) -> Changes: ...
    def dismiss(self, member: Row) -> None: ...


class SelectForm:
    """The solutions are the answer."""

    __slots__ = ()

    def admit(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        return rows

    def answer(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        return rows

    def tell(self, member: Row, changes: Changes) -> Changes:
        return changes

    def dismiss(self, member: Row) -> None:
        pass


class AskForm:
    """Whether there is any solution, by their number."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[Row, int] = {}

    def admit(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        self._counts[member] = count = sum(1 for _ in rows)
        return [(TRUE if count else FALSE,)]

    def answer(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        return [(TRUE if self._counts[member] else FALSE,)]

    def tell(self, member: Row, changes: Changes) -> Changes:
        before = self._counts[member]
        self._counts[member] = after = before + sum(changes.values())
        if (before > 0) == (after > 0):
            return {}
        return {(TRUE,): 1, (FALSE,): -1} if after else {(FALSE,): 1, (TRUE,): -1}

    def dismiss(self, member: Row) -> None:
        del self._counts[member]


class ConstructForm:
    """The triples of the solutions, each with how many of them make it."""

    __slots__ = ("_context", "_counts", "_layout", "_template")

    def __init__(self, template: tuple[TriplePattern, ...], layout: Layout, context: Context) -> None:
        self._template = template
        self._layout = layout
        self._context = context
        self._counts: dict[Row, Changes] = {}

    def _triples(self, member: Row, rows: Iterable[Row]) -> Iterator[Triple]:
        return instantiate(self._template, self._layout, (member + row for row in rows), self._context)

    def admit(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        counts: Changes = {}
        absorb(counts, ((triple, 1) for triple in self._triples(member, rows)))
        self._counts[member] = counts
        return list(counts)

    def answer(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        return list(self._counts[member])

    def tell(self, member: Row, changes: Changes) -> Changes:
        made: Changes = {}
        for sign in (1, -1):
            rows = [row for row, weight in changes.items() if weight * sign > 0 for _ in range(abs(weight))]
            absorb(made, ((triple, sign) for triple in self._triples(member, rows)))
        counts = self._counts[member]
        told: Changes = {}
        for triple, weight in made.items():
            if crossing := cross_zero(counts, triple, weight):
                told[triple] = crossing
        return told

    def dismiss(self, member: Row) -> None:
        del self._counts[member]
