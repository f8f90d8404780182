"""From changed solutions to the change of an answer, by the form of the query. Each member has its own state.

SELECT      the rows themselves
ASK         one row, true or false, when it changes
CONSTRUCT   the triples, each as long as at least one solution makes it
"""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from tidings.engine.operators.base import Changes
from tidings.engine.operators.stateful.memory import Memory, counts
from tidings.model.terms import FALSE, TRUE, Triple
from tidings.model.zset import absorb, cross_zero
from tidings.sparql.algebra import TriplePattern
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, Row
from tidings.sparql.evaluate.query import instantiate


class AnswerForm(Protocol):
    """Turns the changed solutions of a member into the change of its answer."""

    @property
    def memories(self) -> tuple[Memory[Any], ...]:
        """The memory with its state, if it has any."""

    def admit(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        """Add a member with its solutions. Returns its first answer."""

    def answer(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        """The present answer of a member with these solutions."""

    def tell(self, member: Row, changes: Changes) -> Changes: ...
    def dismiss(self, member: Row) -> None: ...


class SelectForm:
    """The solutions are the answer."""

    __slots__ = ()
    memories: tuple[Memory[Any], ...] = ()

    def admit(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        return rows

    def answer(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        return rows

    def tell(self, member: Row, changes: Changes) -> Changes:
        return changes

    def dismiss(self, member: Row) -> None:
        pass


class AskForm:
    """Counts the solutions; the answer is whether there is any."""

    __slots__ = ("_counts", "memories")

    def __init__(self) -> None:
        memory: Memory[list[int]] = Memory(list, iter, list.extend)
        self.memories = (memory,)
        self._counts = memory.states

    def admit(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        count = sum(1 for _ in rows)
        self._counts[member] = [count]
        return [(TRUE if count else FALSE,)]

    def answer(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        return [(TRUE if self._counts[member][0] else FALSE,)]

    def tell(self, member: Row, changes: Changes) -> Changes:
        count = self._counts[member]
        before = count[0]
        count[0] = after = before + sum(changes.values())
        if (before > 0) == (after > 0):
            return {}
        return {(TRUE,): 1, (FALSE,): -1} if after else {(FALSE,): 1, (TRUE,): -1}

    def dismiss(self, member: Row) -> None:
        del self._counts[member]


class ConstructForm:
    """Counts for each triple how many solutions make it."""

    __slots__ = ("_context", "_counts", "_layout", "_template", "memories")

    def __init__(self, template: tuple[TriplePattern, ...], layout: Layout, context: Context) -> None:
        self._template = template
        self._layout = layout
        self._context = context
        memory = counts()
        self.memories = (memory,)
        self._counts = memory.states

    def _triples(self, member: Row, rows: Iterable[Row]) -> Iterator[Triple]:
        return instantiate(self._template, self._layout, (member + row for row in rows), self._context)

    def admit(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        made: Changes = {}
        triples = self._triples(member, self._context.keep(rows, made))
        absorb(made, ((triple, 1) for triple in triples))
        self._counts[member] = made
        return list(made)

    def answer(self, member: Row, rows: Iterable[Row]) -> Iterable[Row]:
        return list(self._counts[member])

    def tell(self, member: Row, changes: Changes) -> Changes:
        made: Changes = {}
        for sign in (1, -1):
            rows = [row for row, weight in changes.items() if weight * sign > 0 for _ in range(abs(weight))]
            absorb(made, ((triple, sign) for triple in self._triples(member, rows)))
        known = self._counts[member]
        told: Changes = {}
        for triple, weight in made.items():
            if crossing := cross_zero(known, triple, weight):
                told[triple] = crossing
        return told

    def dismiss(self, member: Row) -> None:
        del self._counts[member]
