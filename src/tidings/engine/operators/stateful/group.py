"""GROUP BY:  Δ = the new rows of the changed groups - their old ones."""

from collections.abc import Callable, Iterable

from tidings.engine.operators.base import Changes, Explanation, Hits, Loader, Operator, States
from tidings.engine.operators.stateful.memory import Memory
from tidings.model.terms import Term, Var
from tidings.model.zset import absorb
from tidings.sparql import algebra
from tidings.sparql.algebra import Aggregate
from tidings.sparql.evaluate.aggregates import Accumulator, accumulator
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Layout, Row, picker


class _Bucket:
    """One group: how many rows it has, and its accumulators."""

    __slots__ = ("accumulators", "rows")

    def __init__(self, shapes: list[Aggregate]) -> None:
        self.rows = 0
        self.accumulators: list[Accumulator] = [accumulator(shape) for shape in shapes]

    def results(self) -> Row:
        return tuple([each.result() for each in self.accumulators])


class Group:
    """γ: emits the old row and the new row of each changed group. Without keys there is always one group."""

    __slots__ = (
        "_arguments",
        "_context",
        "_groups",
        "_inner",
        "_key",
        "_load",
        "_shapes",
        "_single",
        "_width",
        "layout",
        "memory",
    )

    def __init__(
        self,
        inner: Operator,
        layout: Layout,
        key: Callable[[Row], Row],
        aggregates: list[tuple[Aggregate, Callable[[Row], Term | None]]],
        load: Loader,
        context: Context,
        *,
        width: int,
        single: bool,
    ) -> None:
        self._inner = inner
        self.layout = layout
        self._key = key
        self._shapes = [shape for shape, _ in aggregates]
        self._arguments = [argument for _, argument in aggregates]
        self._load = load
        self._width = width
        self._single = single
        self._context = context
        self.memory: Memory[dict[Row, _Bucket]] = Memory(dict, dict.items, dict.update, plain=False)
        self._groups = self.memory.states

    def delta(self, hits: Hits) -> Changes:
        before: Changes = {}
        touched: dict[Row, Row] = {}
        for row, weight in self._inner.delta(hits).items():
            member = row[: self._width]
            groups = self._groups.get(member)
            if groups is None:
                continue
            key = self._key(row)
            if key not in touched:
                touched[key] = member
                absorb(before, ((old, -1) for old in self._row(groups, key)))
            self._feed(groups, key, row, weight)
        for key, member in touched.items():
            groups = self._groups[member]
            absorb(before, ((new, 1) for new in self._row(groups, key)))
        return before

    def _feed(self, groups: dict[Row, _Bucket], key: Row, row: Row, weight: int) -> None:
        bucket = groups.get(key)
        if bucket is None:
            bucket = groups[key] = _Bucket(self._shapes)
        bucket.rows += weight
        for each, argument in zip(bucket.accumulators, self._arguments, strict=True):
            each.add(argument(row), weight)
        if not bucket.rows and not self._single:
            del groups[key]

    def _row(self, groups: dict[Row, _Bucket], key: Row) -> Iterable[Row]:
        bucket = groups.get(key)
        return () if bucket is None else (key + bucket.results(),)

    def rows(self, parameters: Row) -> Iterable[Row]:
        """The rows of a member, one for each group."""
        return [key + bucket.results() for key, bucket in self._groups[parameters].items()]

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)
        groups: dict[Row, _Bucket] = {parameters: _Bucket(self._shapes)} if self._single else {}
        for row in self._context.keep(self._load(parameters), groups):
            self._feed(groups, self._key(row), row, 1)
        self._groups[parameters] = groups

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)
        del self._groups[parameters]

    def explain(self) -> Explanation:
        names = ", ".join(shape.function for shape in self._shapes) or "keys only"
        return Explanation("group", f"accumulators for {names}", True, (self._inner.explain(),))


def group_of(node: algebra.Group, inner: Operator, load: Loader, parameters: tuple[Var, ...], states: States) -> Group:
    """The operator for a node, over rows that have parameters in front."""
    inside = inner.layout
    keys = parameters + node.keys
    layout = Layout(
        keys + tuple(variable for variable, _ in node.aggregates),
        inside.certain.intersection(node.keys).union(parameters),
    )
    compiler, width = states.compiler(states.new), len(parameters)
    aggregates = [
        (shape, _rest(width) if shape.argument is None else compiler.value(shape.argument, inside))
        for _, shape in node.aggregates
    ]
    key = picker([inside.index.get(variable) for variable in keys])
    return Group(inner, layout, key, aggregates, load, states.new, width=width, single=not node.keys)


def _rest(width: int) -> Callable[[Row], Term | None]:
    """The value that COUNT(*) counts: the row without the parameters in front."""
    return lambda row: row[width:]  # type: ignore[return-value]  # only ever counted
