"""Join:  Δ(A ⋈ B) = ΔA ⋈ B' + A ⋈ ΔB."""

from tidings.engine.operators.base import Binary, Changes, Explanation, Hits, States, through
from tidings.engine.operators.law import Law
from tidings.engine.operators.members import LookedUp
from tidings.engine.operators.side import Kept, Side
from tidings.model.zset import absorb
from tidings.sparql import algebra
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, picker
from tidings.sparql.evaluate.pushing import pushable


class Join(Binary):
    """Joins changed rows of A with the rows of B after the commit, and changed rows of B with the rows of A before."""

    __slots__ = ("_law", "_onto_left", "_onto_right", "_sides", "layout")

    def __init__(self, left: Side, right: Side, states: States) -> None:
        super().__init__(left.operator, right.operator)
        self._sides = (left, right)
        if pushable(right.node, left.layout.index.keys()):
            onto = _ByLookUp(right, left.layout, states.new, None, states)
            self.layout = onto.layout
            self._onto_left: _ByLookUp | _ByKept = onto
        else:
            kept = Kept(left.layout, right, states)
            self.layout = kept.layout
            self._onto_left = _ByKept(kept, kept.layout)
        if pushable(left.node, right.layout.index.keys()):
            self._onto_right: _ByLookUp | _ByKept = _ByLookUp(left, right.layout, states.old, self.layout, states)
        else:
            self._onto_right = _ByKept(Kept(right.layout, left, states), self.layout)
        self._law = Law(algebra.Join(left.node, right.node), self.layout, states, left.members or right.members)

    def delta(self, hits: Hits) -> Changes:
        left, right = (side.delta(hits) for side in self._sides)
        if not left and not right:
            return {}
        changes = self._law.within(len(left) + len(right), self._met, left, right)
        if changes is None:
            for way in (self._onto_left, self._onto_right):
                if isinstance(way, _ByKept):
                    way.kept.rows.forget()
            return self._law.again()
        return changes

    def _met(self, left: Changes, right: Changes) -> Changes:
        changes = _rows(self._onto_left, left, absorbing=right)
        absorb(changes, _rows(self._onto_right, right).items())
        if isinstance(self._onto_right, _ByKept):
            self._onto_right.kept.rows.absorb(left)
        return changes

    def explain(self) -> Explanation:
        kept = [name for name, way in (("A", self._onto_right), ("B", self._onto_left)) if isinstance(way, _ByKept)]
        detail = "ΔA ⋈ B' + A ⋈ ΔB" + (f", keeps the rows of {' and '.join(kept)}" if kept else "") + self._law.shown()
        return Explanation("join", detail, True, (self._left.explain(), self._right.explain()))


class _ByLookUp:
    """Joins rows of one side with rows of the other, which are looked up in one of the states. If the sides share no
    variable, look-ups start from the members: otherwise they would find the rows of members and of others alike."""

    __slots__ = ("_looked_up", "layout")

    def __init__(self, other: Side, given: Layout, context: Context, layout: Layout | None, states: States) -> None:
        everybody = other.layout.index.keys().isdisjoint(given.index)
        self._looked_up = LookedUp(
            lambda start: states.plan(other.node, context, start),
            given, layout, other.members, states.epoch, everybody=everybody,
        )  # fmt: skip
        self.layout = self._looked_up.layout

    def rows(self, changes: Changes) -> Changes:
        return through(self._looked_up, changes)


class _ByKept:
    """Joins rows of one side with the kept rows of the other. The result has the columns of a layout."""

    __slots__ = ("_align", "kept")

    def __init__(self, kept: Kept, layout: Layout) -> None:
        self.kept = kept
        self._align = picker([kept.layout.index[variable] for variable in layout.variables])

    def rows(self, changes: Changes) -> Changes:
        found: Changes = {}
        align, matches = self._align, self.kept.matches
        absorb(
            found,
            ((align(row), weight * count) for each, weight in changes.items() for row, count in matches(each)),
        )
        return found


def _rows(way: _ByLookUp | _ByKept, changes: Changes, absorbing: Changes | None = None) -> Changes:
    """Joins changed rows with the other side. If its rows are kept, they first take in their changes, `absorbing`."""
    if isinstance(way, _ByKept):
        if changes:
            way.kept.rows.begin()
        if absorbing:
            way.kept.rows.absorb(absorbing)
    return way.rows(changes) if changes else {}
