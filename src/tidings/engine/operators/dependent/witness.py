"""From a change on the right side of EXISTS, OPTIONAL or MINUS to the rows on the left that it concerns."""

from collections.abc import Iterable

from tidings.engine.operators.base import Aligned, Changes, Explanation, Hits, Operator, Route, States, is_hit, shown
from tidings.model.terms import Var
from tidings.model.zset import absorb
from tidings.sparql.algebra import Node
from tidings.sparql.evaluate.layout import Layout, Row, picker


class Witness:
    """Watches a pattern on the right of EXISTS, OPTIONAL or MINUS: which bindings of shared variables changed."""

    __slots__ = ("_coarse", "_operator", "_pick", "shared", "with_left")

    def __init__(
        self, operator: Operator | None, shared: tuple[Var, ...], coarse: tuple[Route, ...], *, with_left: bool = False
    ) -> None:
        self.with_left = with_left
        """Whether the pattern has the left side in it: then nothing is seen of rows that go."""
        self.shared = shared if operator is not None else ()
        self._operator = operator
        self._coarse = coarse
        self._pick = picker([] if operator is None else [operator.layout.index[v] for v in shared])

    def changed(self, hits: Hits) -> Iterable[Row]:
        """The bindings, each once; the empty row means that any row may be concerned."""
        if self._operator is None:
            return ((),) if is_hit(self._coarse, hits) else ()
        return dict.fromkeys(self._pick(row) for row in self._operator.delta(hits))

    def explain(self) -> Explanation:
        if self._operator is None:
            return Explanation("witness", "any change here re-tests every row", False)
        names = ", ".join(map(shown, self.shared))
        return Explanation(
            "witness", f"changes lead to rows by {names or 'nothing'}", True, (self._operator.explain(),)
        )


class RowsConcerned:
    """The rows of the left side, before the change, that agree with what a witness saw in the shared variables."""

    __slots__ = ("_aligned",)

    def __init__(self, node: Node, layout: Layout, shared: tuple[Var, ...], states: States) -> None:
        given = Layout(shared, frozenset(shared)) if shared else None
        self._aligned = Aligned(lambda: states.plan(node, states.old, given), layout, states.epoch)

    def by(self, bindings: Iterable[Row]) -> Changes:
        rows = list(bindings)
        found: Changes = {}
        if rows:
            absorb(found, ((row, 1) for row in self._aligned.run(rows)))
        return found
