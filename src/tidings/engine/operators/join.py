"""Join:  Δ(A ⋈ B) = ΔA ⋈ B' + A ⋈ ΔB."""

from tidings.engine.operators.base import Aligned, Binary, Changes, Explanation, Hits, States, through
from tidings.engine.operators.law import Law
from tidings.engine.operators.members import Members
from tidings.engine.operators.side import Kept, Side
from tidings.model.zset import absorb
from tidings.sparql import algebra
from tidings.sparql.evaluate.layout import Layout, picker
from tidings.sparql.evaluate.pushing import pushable


class Join(Binary):
    """Changed rows of each side, with the rows of the other that go with them: those now, or those before."""

    __slots__ = ("_law", "_onto_left", "_onto_right", "_sides", "layout")

    def __init__(self, left: Side, right: Side, states: States) -> None:
        super().__init__(left.operator, right.operator)
        self._sides = (left, right)
        if pushable(right.node, left.layout.index.keys()):
            everybody = _everybody(right, left)
            from_left = _started(left.layout, everybody)
            onto = Aligned.of(lambda: states.plan(right.node, states.new, from_left), states.epoch)
            self.layout = onto.layout
            self._onto_left: _ByLookUp | _ByKept = _ByLookUp(onto, everybody)
        else:
            kept = Kept(left.layout, right, states)
            self.layout = kept.layout
            self._onto_left = _ByKept(kept, kept.layout)
        if pushable(left.node, right.layout.index.keys()):
            everybody = _everybody(left, right)
            from_right = _started(right.layout, everybody)
            onto = Aligned(lambda: states.plan(left.node, states.old, from_right), self.layout, states.epoch)
            self._onto_right: _ByLookUp | _ByKept = _ByLookUp(onto, everybody)
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
    """Rows of one side with those that are looked up of the other: for everybody, if nothing else leads to members."""

    __slots__ = ("_everybody", "_plan")

    def __init__(self, plan: Aligned, everybody: Members | None) -> None:
        self._plan = plan
        self._everybody = everybody

    def rows(self, changes: Changes) -> Changes:
        if self._everybody is not None:
            members = list(self._everybody.tuples)
            changes = {row + member: weight for row, weight in changes.items() for member in members}
        return through(self._plan, changes)


def _everybody(side: Side, other: Side) -> Members | None:
    """The members of a side whose rows have nothing in common with those of the other: they would all be looked up,
    whoever's they are."""
    return side.members if side.layout.index.keys().isdisjoint(other.layout.index) else None


def _started(layout: Layout, everybody: Members | None) -> Layout:
    return layout if everybody is None else layout.extended(everybody.variables, everybody.variables)


class _ByKept:
    """Rows of one side with those kept of the other, in the columns of a layout."""

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
    """Changed rows with those of the other side, which may have changed as well."""
    if isinstance(way, _ByKept):
        if changes:
            way.kept.rows.begin()
        if absorbing:
            way.kept.rows.absorb(absorbing)
    return way.rows(changes) if changes else {}
