"""The interface of operators, and what they share: changes, the two states of the store, plans of look-ups."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from tidings.engine.lutt import Items
from tidings.model.zset import absorb
from tidings.sparql.algebra import Node, TriplePattern
from tidings.sparql.evaluate.compile import Compiler
from tidings.sparql.evaluate.context import Context, Meter
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.layout import ONE, Layout, Plan, Row, Step, picker
from tidings.sparql.evaluate.scan import ActiveGraph
from tidings.sparql.evaluate.steps import in_turn
from tidings.sparql.rewrite import rewrite

Changes: TypeAlias = dict[Row, int]
"""A Z-set of rows in the making: weights are never zero."""

Loader: TypeAlias = Callable[[Row], Iterable[Row]]
"""The rows below an operator that belong to a member, by full evaluation."""


class Route(Struct, frozen=True, eq=False):
    """One triple pattern of a query as the LUTT knows it; the graph is a name, a variable, or "" for the default."""

    pattern: TriplePattern
    graph: str


Hits: TypeAlias = dict[Route, Items]
"""The quads of a commit that match each route, with their weights."""

ANY_TRIPLE: TriplePattern = ("?:s", "?:p", "?:o")
"""The pattern that every triple matches."""


class Explanation(Struct, frozen=True):
    """One node of an explained plan."""

    operator: str
    detail: str
    incremental: bool
    inputs: tuple["Explanation", ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "operator": self.operator,
            "detail": self.detail,
            "incremental": self.incremental,
            "inputs": [each.to_json() for each in self.inputs],
        }


class Operator(Protocol):
    """A part of a plan that is kept up to date. `parameters` lead its columns if it is on the way to the root."""

    @property
    def layout(self) -> Layout: ...
    def delta(self, hits: Hits) -> Changes:
        """The change of its answer by the commit that made these hits."""

    def admit(self, parameters: Row) -> None:
        """Take up the rows of a new member; whoever keeps no state has nothing to do."""

    def dismiss(self, parameters: Row) -> None:
        """Forget the rows of a member."""

    def explain(self) -> Explanation: ...


class Stateless:
    """For operators that keep nothing between commits."""

    __slots__ = ()

    def admit(self, parameters: Row) -> None:
        pass

    def dismiss(self, parameters: Row) -> None:
        pass


class Unary:
    """For operators over one other, which alone may keep state."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Operator) -> None:
        self._inner = inner

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)


class Binary:
    """For operators over two others, which alone may keep state."""

    __slots__ = ("_left", "_right")

    def __init__(self, left: Operator, right: Operator) -> None:
        self._left = left
        self._right = right

    def admit(self, parameters: Row) -> None:
        self._left.admit(parameters)
        self._right.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        self._left.dismiss(parameters)
        self._right.dismiss(parameters)


class Cache(Protocol):
    """What an operator keeps between commits, and could find again at any time. A fork that has found it sends it to
    the broker in plain items."""

    def items(self) -> Iterable[Any]:
        """What it keeps; nothing, if that is not up to date."""

    def extend(self, items: list[Any]) -> None:
        """Take up items, in the order in which they were."""

    def complete(self) -> None:
        """Those were all, and the members are the same."""


class Epoch:
    """A number that goes up when a store has changed so much that plans have to be made again."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 0


class States:
    """The two states of the store that a plan looks into, inside one active graph."""

    __slots__ = ("_home", "caches", "epoch", "graph", "meter", "new", "old")

    def __init__(self, new: Context, old: Context, home: TripleSource | None) -> None:
        self.new = new
        self.old = old
        self.epoch = Epoch()
        self.caches: list[Cache] = []
        """What the operators of a plan keep, in the order in which they were made."""
        self.meter = new.meter or Meter()
        """Counts the work in both states."""
        self._home = home
        """The default graph of the new state, where it is one and the same graph at all times."""
        self.graph = ""

    def inside(self, graph: str) -> "States":
        """The same in another graph."""
        inner = States(self.new, self.old, self._home)
        inner.graph, inner.epoch, inner.caches, inner.meter = graph, self.epoch, self.caches, self.meter
        return inner

    def active(self, context: Context) -> ActiveGraph:
        """The graph that patterns look into, in one of the two states."""
        name, view, home = self.graph, context.view, self._home
        if not name:
            return view.default if home is None or context is self.old else lambda: home
        return name if name[0] == "?" else lambda: view.named(name)

    def source(self, context: Context) -> TripleSource:
        """The graph itself, where it is one and the same for all patterns."""
        graph = self.active(context)
        assert not isinstance(graph, str)
        return graph()

    def compiler(self, context: Context) -> Compiler:
        return Compiler(context, self.active(context))

    def plan(self, node: Node, context: Context, given: Layout | None = None) -> Plan:
        """A plan for a node in one of the states, from nothing or from rows of a layout."""
        bound = frozenset() if given is None else given.certain
        return self.compiler(context).plan(rewrite(node, context.view, bound), given)

    def chained(self, nodes: Iterable[tuple[Node, Context]], given: Layout) -> Plan:
        """A plan from rows of a layout through one node after the other, each in its own state."""
        layout, steps = given, list[Step]()
        for node, context in nodes:
            plan = self.plan(node, context, layout)
            layout = plan.layout
            steps.append(plan.run)
        return Plan(layout, lambda rows: in_turn(steps, rows))


class Aligned:
    """The rows of a plan, in the columns of a layout. The plan is made when it is first needed, and again in another
    epoch: most operators are never asked for what other operators concern, and making n plans of n parts takes time."""

    __slots__ = ("_epoch", "_made", "_make", "_since", "layout")

    def __init__(self, make: Callable[[], Plan], layout: Layout, epoch: Epoch) -> None:
        self._make = make
        self.layout = layout
        self._epoch = epoch
        self._since = epoch.number
        self._made: tuple[Plan, Callable[[Row], Row]] | None = None

    @classmethod
    def of(cls, make: Callable[[], Plan], epoch: Epoch) -> "Aligned":
        """In the columns that the plan has when it is made first, which is now."""
        plan = make()
        aligned = cls(make, plan.layout, epoch)
        aligned._made = plan, tuple
        return aligned

    def run(self, rows: Iterable[Row]) -> Iterator[Row]:
        if self._made is None or self._since != self._epoch.number:
            self._since = self._epoch.number
            plan = self._make()
            variables = self.layout.variables
            same = variables == plan.layout.variables
            self._made = plan, tuple if same else picker([plan.layout.index.get(variable) for variable in variables])
        plan, align = self._made
        found = plan.run(rows)
        return found if align is tuple else map(align, found)


class Running(Protocol):
    """Makes rows of rows."""

    def run(self, rows: Iterable[Row]) -> Iterator[Row]: ...


def through(plan: Running, changes: Changes) -> Changes:
    """The rows of a plan for changed rows, with the weights of these."""
    result: Changes = {}
    for sign in (1, -1):
        rows = [row for row, weight in changes.items() if weight * sign > 0 for _ in range(abs(weight))]
        if rows:
            absorb(result, ((row, sign) for row in plan.run(rows)))
    return result


def difference(new: Aligned, old: Aligned, rows: Iterable[Row] = ONE) -> Changes:
    """The rows of a plan now, less those of another before, in the same columns."""
    rows = list(rows)
    result: Changes = {}
    absorb(result, ((row, 1) for row in new.run(rows)))
    absorb(result, ((row, -1) for row in old.run(rows)))
    return result


def is_hit(routes: Iterable[Route], hits: Hits) -> bool:
    return any(route in hits for route in routes)


def shown(term: str) -> str:
    """A term or variable as people write it."""
    if term.startswith("?$"):
        return "$" + term[2:]
    if term.startswith("?:"):
        return "_" + term[2:]
    return term
