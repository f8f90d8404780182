"""The two ends of a path: constants, or variables with the patterns that bind them."""

from msgspec import Struct

from tidings.engine.operators.base import Changes, Hits, States, through
from tidings.engine.operators.members import LookedUp
from tidings.engine.operators.side import Side
from tidings.model.terms import Term, Var
from tidings.model.zset import absorb
from tidings.sparql.algebra import UNIT, Node
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import EMPTY, Layout, picker


class End(Struct, frozen=True, eq=False):
    """One end of a path: a constant, a variable with the pattern that binds it, or a variable that may be any term."""

    term: str
    name: Var
    """The name of its column: the variable itself, or a made-up name for a constant."""
    side: Side | None = None

    @property
    def is_fixed(self) -> bool:
        return self.term[0] != "?"

    @property
    def is_bound(self) -> bool:
        return self.is_fixed or self.side is not None

    @property
    def node(self) -> Node:
        return UNIT if self.side is None else self.side.node

    @property
    def layout(self) -> Layout:
        return EMPTY if self.side is None else self.side.layout

    def delta(self, hits: Hits) -> Changes:
        return {} if self.side is None else self.side.delta(hits)

    def terms(self, states: States) -> dict[Term, int]:
        """The terms at this end before the commit, each with the number of rows that have it."""
        if self.is_fixed:
            return {self.term: 1}
        counts: dict[Term, int] = {}
        if self.side is not None:
            at = self.side.layout.index[self.name]
            absorb(counts, ((term, 1) for row in self.side.rows_before(states) if (term := row[at]) is not None))
        return counts

    def absorb(self, counts: dict[Term, int], changes: Changes) -> None:
        """Apply changed rows of its pattern to the counts of its terms."""
        if changes:
            at = self.layout.index[self.name]
            absorb(counts, ((term, weight) for row, weight in changes.items() if (term := row[at]) is not None))


class Joining:
    """Extends rows to rows of the whole operator, by the patterns of one end or both, each in a given state."""

    __slots__ = ("_looked_up", "_pick")

    def __init__(self, given: tuple[Var, ...], by: list[tuple[End, Context]], layout: Layout, states: States) -> None:
        nodes = [(end.node, context) for end, context in by if end.node is not UNIT]
        start = Layout(given, frozenset(given))
        sides = [end.side for end, _ in by if end.side is not None]
        members = next((side.members for side in sides if side.members is not None), None)
        self._looked_up = LookedUp(lambda given: states.chained(nodes, given), start, layout, members, states.epoch)
        self._pick = None if nodes else picker([start.index.get(variable) for variable in layout.variables])

    def rows(self, changes: Changes) -> Changes:
        if self._pick is not None:
            pick = self._pick
            return {pick(row): weight for row, weight in changes.items()}  # the rows are distinct, and stay so
        return through(self._looked_up, changes) if changes else {}
