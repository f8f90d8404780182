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
"""A mutable Z-set: maps rows to weights, none of which is zero."""

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
    """One operator of a plan. If it is on the spine of the query, its columns include the parameters of members."""

    @property
    def layout(self) -> Layout: ...
    def delta(self, hits: Hits) -> Changes:
        """The change of its rows by the commit with these hits."""

    def admit(self, parameters: Row) -> None:
        """Build the state of a new member; an operator without state does nothing."""

    def dismiss(self, parameters: Row) -> None:
        """Drop the state of a member."""

    def explain(self) -> Explanation: ...


class Stateless:
    """For operators that keep no state for members."""

    __slots__ = ()

    def admit(self, parameters: Row) -> None:
        pass

    def dismiss(self, parameters: Row) -> None:
        pass


class Unary:
    """For operators with one input, which keep no state for members themselves."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Operator) -> None:
        self._inner = inner

    def admit(self, parameters: Row) -> None:
        self._inner.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        self._inner.dismiss(parameters)


class Binary:
    """For operators with two inputs, which keep no state for members themselves."""

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
    """Rows or trees that an operator keeps between commits, and can rebuild from the store at any time. A fork that has
    built them sends them to the broker as plain items."""

    def items(self) -> Iterable[Any]:
        """The content as plain items; nothing if it is out of date."""

    def extend(self, items: list[Any]) -> None:
        """Add the next items, in the order of `items`."""

    def complete(self) -> None:
        """Called after the last items: the content is complete, and valid for the present members."""


class Epoch:
    """A number that increases when the store has changed so much that plans must be made again."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 0


class States:
    """The two states of the store that a plan reads, after a commit and before it, with one active graph."""

    __slots__ = ("_home", "caches", "epoch", "graph", "meter", "new", "old")

    def __init__(self, new: Context, old: Context, home: TripleSource | None) -> None:
        self.new = new
        self.old = old
        self.epoch = Epoch()
        self.caches: list[Cache] = []
        """The caches of a plan's operators, in the order in which they were made."""
        self.meter = new.meter or Meter()
        """Counts the work in both states."""
        self._home = home
        """The default graph of the new state, if it is always the same object; otherwise None."""
        self.graph = ""

    def inside(self, graph: str) -> "States":
        """The same states with another active graph."""
        inner = States(self.new, self.old, self._home)
        inner.graph, inner.epoch, inner.caches, inner.meter = graph, self.epoch, self.caches, self.meter
        return inner

    def active(self, context: Context) -> ActiveGraph:
        """The active graph in one of the two states."""
        name, view, home = self.graph, context.view, self._home
        if not name:
            return view.default if home is None or context is self.old else lambda: home
        return name if name[0] == "?" else lambda: view.named(name)

    def source(self, context: Context) -> TripleSource:
        """The triples of the active graph, which must not be a variable."""
        graph = self.active(context)
        assert not isinstance(graph, str)
        return graph()

    def compiler(self, context: Context) -> Compiler:
        return Compiler(context, self.active(context))

    def plan(self, node: Node, context: Context, given: Layout | None = None) -> Plan:
        """A plan that evaluates a node in one of the states, on its own or by extending rows of a layout."""
        bound = frozenset() if given is None else given.certain
        return self.compiler(context).plan(rewrite(node, context.view, bound), given)

    def chained(self, nodes: Iterable[tuple[Node, Context]], given: Layout) -> Plan:
        """A plan that extends rows of a layout by one node after the other, each in its own state."""
        layout, steps = given, list[Step]()
        for node, context in nodes:
            plan = self.plan(node, context, layout)
            layout = plan.layout
            steps.append(plan.run)
        return Plan(layout, lambda rows: in_turn(steps, rows))


class Aligned:
    """Runs a plan, and arranges its rows in the columns of a layout. The plan is made when it is first run, and again
    in another epoch. Many plans never run, and making n plans of n parts takes time."""

    __slots__ = ("_epoch", "_made", "_make", "_since", "layout")

    def __init__(self, make: Callable[[], Plan], layout: Layout, epoch: Epoch) -> None:
        self._make = make
        self.layout = layout
        self._epoch = epoch
        self._since = epoch.number
        self._made: tuple[Plan, Callable[[Row], Row]] | None = None

    @classmethod
    def of(cls, make: Callable[[], Plan], epoch: Epoch) -> "Aligned":
        """Make the plan now, and use its layout."""
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
    """Anything that turns rows into rows, such as a plan."""

    def run(self, rows: Iterable[Row]) -> Iterator[Row]: ...


def through(plan: Running, changes: Changes) -> Changes:
    """The rows that a plan makes of changed rows, with the weights of these."""
    result: Changes = {}
    for sign in (1, -1):
        rows = [row for row, weight in changes.items() if weight * sign > 0 for _ in range(abs(weight))]
        if rows:
            absorb(result, ((row, sign) for row in plan.run(rows)))
    return result


def difference(new: Aligned, old: Aligned, rows: Iterable[Row] = ONE) -> Changes:
    """The rows of a plan for the new state minus those of a plan for the old one, both run on the same input rows."""
    rows = list(rows)
    result: Changes = {}
    absorb(result, ((row, 1) for row in new.run(rows)))
    absorb(result, ((row, -1) for row in old.run(rows)))
    return result


def is_hit(routes: Iterable[Route], hits: Hits) -> bool:
    return any(route in hits for route in routes)


def shown(term: str) -> str:
    """A term or variable as EXPLAIN shows it."""
    if term.startswith("?$"):
        return "$" + term[2:]
    if term.startswith("?:"):
        return "_" + term[2:]
    return term
