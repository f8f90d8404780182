"""From algebra to a tree of incremental operators, with the routes that wake it up.

The *spine* of a query is its way from the root to the basic graph pattern whose constants are parameters: operators on
it carry the parameters in front of their rows and keep their state apart by them. Whatever hangs off the spine is the
same for all members.
"""

from collections.abc import Callable, Iterable
from typing import Any, assert_never

from msgspec import Struct

from tidings.engine.operators.base import Aligned, Changes, Explanation, Hits, Operator, Route, States
from tidings.engine.operators.conjunction.conjunction import Conjunction
from tidings.engine.operators.constant import Constant
from tidings.engine.operators.extend import Extend
from tidings.engine.operators.filter import Filter, FilterExists
from tidings.engine.operators.join import Join
from tidings.engine.operators.members import Members
from tidings.engine.operators.minus import minus
from tidings.engine.operators.optional import optional
from tidings.engine.operators.path import PathWalk
from tidings.engine.operators.project import Project
from tidings.engine.operators.reevaluate import Reevaluate
from tidings.engine.operators.stateful.distinct import Distinct
from tidings.engine.operators.stateful.group import Group
from tidings.engine.operators.stateful.memory import Memory
from tidings.engine.operators.stateful.window import Window, ranker
from tidings.engine.operators.union import Union
from tidings.engine.operators.witness import Witness
from tidings.engine.plans.routes import exists_patterns, has_exists, relax, routes_in
from tidings.model.errors import NotAllowed
from tidings.model.terms import Term, Var
from tidings.sparql import algebra
from tidings.sparql.algebra import BGP, Expression, Node, PathPattern, certain, expressions
from tidings.sparql.evaluate.layout import EMPTY, ONE, Layout, Row, named, picker
from tidings.sparql.evaluate.pushing import binds_graph, needs_triples, shared_variables

LARGEST_CONJUNCTION = 64
"""Triple patterns whose changes are worked out one from the others: n patterns are n sums of n - 1 look-ups each."""


class Built(Struct, frozen=True):
    """An operator, and how to get at its present rows for one member."""

    operator: Operator
    rows: Callable[[Row], Iterable[Row]]
    is_ordered: bool = True
    """Whether its columns are in the same order in every plan of the same query, however that joins."""


class Pinned:
    """A part off the spine: its state belongs to all members, and is there from the first to the last."""

    __slots__ = ("_inner", "layout", "memories")

    def __init__(self, inner: Operator, memories: list[Memory[Any]]) -> None:
        self._inner = inner
        self.layout = inner.layout
        self.memories = memories

    def pin(self) -> None:
        """Build its state, for the first member."""
        self._inner.admit(())

    def delta(self, hits: Hits) -> Changes:
        return self._inner.delta(hits)

    def admit(self, parameters: Row) -> None:
        pass

    def dismiss(self, parameters: Row) -> None:
        pass

    def explain(self) -> Explanation:
        return self._inner.explain()


class Planner:
    """Builds the operators of one query."""

    def __init__(self, members: Members | None = None) -> None:
        self.routes: list[Route] = []
        self.reevaluates = False
        """Whether anything on the spine is: that would be for all members at once."""
        self.memories: list[Memory[Any]] = []
        """What the operators on the spine remember of each member."""
        self.pinned: list[Pinned] = []
        """The parts off the spine, what is inside another before that."""
        self._members = members
        self._parameters: tuple[Var, ...] = members.variables if members else ()

    def build(self, node: Node, states: States) -> Built:
        if not isinstance(node, algebra.Filter) and any(map(has_exists, expressions(node))):
            return self._reevaluated(node, "EXISTS outside of FILTER", states)
        match node:
            case BGP(patterns) if len(patterns) > LARGEST_CONJUNCTION:
                why = f"more than {LARGEST_CONJUNCTION} triple patterns together"
                return self._reevaluated(node, why, states)
            case BGP(patterns):
                return self._conjunction(patterns, states)
            case PathPattern():
                walk = PathWalk(node, states)
                self.routes.extend(walk.routes)
                return self._evaluated(walk, node, states)
            case algebra.Values():
                return self._evaluated(Constant(states.plan(node, states.new).layout), node, states)
            case algebra.Join(left, right):
                first, second = self._side(left, states), self._side(right, states)
                joined = Join(first.operator, second.operator, (left, right), states)
                return self._evaluated(joined, node, states, is_ordered=False)
            case algebra.Union(left, right):
                union = Union(self._side(left, states).operator, self._side(right, states).operator)
                return self._evaluated(union, node, states, is_ordered=False)
            case algebra.LeftJoin(left, right, condition):
                return self._optional(node, left, right, condition, states)
            case algebra.Minus(left, right):
                return self._minus(node, left, right, states)
            case algebra.Filter(condition, inner):
                return self._filter(condition, inner, states)
            case algebra.Extend(inner, variable, expression):
                below = self.build(inner, states)
                extend = Extend(below.operator, variable, expression, states)
                value = states.compiler(states.new).value(expression, below.operator.layout)
                return Built(
                    extend, lambda member: ((*row, value(row)) for row in below.rows(member)), below.is_ordered
                )
            case algebra.Graph(name, inner):
                if name[0] == "?" and not binds_graph(inner, name):
                    return self._reevaluated(node, "GRAPH with a variable around more than triple patterns", states)
                if name[0] != "?" and not needs_triples(inner):
                    return self._reevaluated(node, "GRAPH around what may hold without a triple", states)
                return self.build(inner, states.inside(name))
            case algebra.Project(algebra.Extend(inner, variable), variables) if variable not in variables:
                return self.build(algebra.Project(inner, variables), states)
            case algebra.Project(inner, variables):
                return self._projected(self.build(inner, states), variables)
            case algebra.Distinct(inner) | algebra.Reduced(inner):
                return self._distinct(inner, states)
            case algebra.OrderBy(inner):
                return self.build(inner, states)  # an answer is a multiset; its order matters only to a window
            case algebra.Slice(inner, offset, limit):
                if any(has_exists(expression) for expression, _ in _unstacked(inner)[2]):
                    return self._reevaluated(node, "EXISTS in the order of a window", states)
                return self._window(inner, offset, limit, states)
            case algebra.Group():
                return self._group(node, states)
            case algebra.Service():
                raise NotAllowed("SERVICE cannot be subscribed: another endpoint does not tell when it changes")
            case _:
                assert_never(node)

    # -- parts --------------------------------------------------------------------------------------------------

    def _is_spine(self, node: Node) -> bool:
        return bool(self._parameters) and any(v in self._parameters for v in algebra.visible(node))

    def _side(self, node: Node, states: States) -> Built:
        """One side of something: on the spine if it carries the parameters, else pinned."""
        if self._is_spine(node):
            return self.build(node, states)
        planner = Planner()
        built = planner.build(node, states)
        self.routes.extend(planner.routes)
        pinned = Pinned(built.operator, planner.memories)
        self.pinned += (*planner.pinned, pinned)
        return Built(pinned, built.rows)

    def _evaluated(self, operator: Operator, node: Node, states: States, *, is_ordered: bool = True) -> Built:
        """Its rows come from full evaluation, with a member's parameters bound from the start."""
        led = bool(self._parameters) and self._is_spine(node)
        given = Layout(self._parameters, frozenset(self._parameters)) if led else None
        aligned = Aligned(lambda: states.plan(node, states.new, given), operator.layout)
        return Built(operator, lambda member: aligned.run((member,) if led else ONE), is_ordered)

    def _reevaluated(self, node: Node, why: str, states: States) -> Built:
        self.reevaluates |= self._is_spine(node)
        routes = tuple(routes_in(node, states.graph))
        self.routes.extend(routes)
        return self._evaluated(Reevaluate(node, routes, why, states), node, states, is_ordered=False)

    def _conjunction(self, patterns: tuple[algebra.TriplePattern, ...], states: States) -> Built:
        if not patterns:
            return Built(Constant(EMPTY), lambda _: ONE)
        led = any(term in self._parameters for pattern in patterns for term in pattern)
        conjunction = Conjunction.of(patterns, states, self._members if led else None)
        self.routes.extend(conjunction.routes)
        return self._evaluated(conjunction, BGP(patterns), states)

    def _witness(self, node: Node, left: Layout, sure: frozenset[Var], states: States) -> Witness:
        """Watches the right side of something; only variables bound on both sides lead back to rows of the left."""
        built = self._side(node, states)
        shared = [v for v in built.operator.layout.variables if v in left.index and v in left.certain and v in sure]
        return Witness(built.operator, shared, ())

    def _optional(self, node: Node, left: Node, right: Node, condition: Expression | None, states: States) -> Built:
        first = self.build(left, states)
        witness = self._witness(right, first.operator.layout, certain(right), states)
        operator = optional(first.operator, (left, right), condition, witness, states)
        return self._evaluated(operator, node, states, is_ordered=False)

    def _minus(self, node: Node, left: Node, right: Node, states: States) -> Built:
        if not shared_variables(left, right):
            return self.build(left, states)
        first = self.build(left, states)
        witness = self._witness(right, first.operator.layout, certain(right), states)
        operator = minus(first.operator, (left, right), witness, states)
        return self._evaluated(operator, node, states, is_ordered=first.is_ordered)

    def _filter(self, condition: Expression, inner: Node, states: States) -> Built:
        below = self.build(inner, states)
        layout = below.operator.layout
        test = states.compiler(states.new).test(condition, layout)
        patterns = list(exists_patterns(condition))
        operator: Operator
        if patterns:
            witnesses = [self._exists_witness(pattern, layout, states) for pattern in patterns]
            operator = FilterExists(below.operator, inner, condition, witnesses, states)
        else:
            operator = Filter(below.operator, condition, states)
        return Built(operator, lambda member: (row for row in below.rows(member) if test(row)), below.is_ordered)

    def _exists_witness(self, pattern: Node, left: Layout, states: States) -> Witness:
        relaxed = relax(pattern)
        if relaxed is None:
            routes = tuple(routes_in(pattern, states.graph))
            self.routes.extend(routes)
            return Witness(None, [], routes)
        return self._witness(relaxed, left, certain(relaxed), states)

    # -- the way to the root ------------------------------------------------------------------------------------

    def _projected(self, below: Built, variables: tuple[Var, ...]) -> Built:
        wanted = self._parameters + tuple(v for v in variables if v not in self._parameters)
        operator = below.operator
        fewer = operator.onto(wanted) if isinstance(operator, Conjunction) else None
        project = Project(operator, wanted) if fewer is None else fewer
        pick = picker([below.operator.layout.index.get(variable) for variable in wanted])
        return Built(project, lambda member: map(pick, below.rows(member)))

    def _led_by_parameters(self, below: Built) -> Built:
        """With the parameters in front, where stateful operators look for them; and the others in an order that does
        not depend on the plan, as what is remembered may go from one plan to another."""
        variables = below.operator.layout.variables
        if not below.is_ordered:
            return self._projected(below, tuple(sorted(variables)))
        if variables[: len(self._parameters)] == self._parameters:
            return below
        return self._projected(below, variables)

    def _distinct(self, inner: Node, states: States) -> Built:
        below = self._led_by_parameters(self.build(inner, states))
        distinct = Distinct(below.operator, below.rows, len(self._parameters), states.new)
        self.memories.append(distinct.memory)
        return Built(distinct, distinct.rows)

    def _group(self, node: algebra.Group, states: States) -> Built:
        below = self._led_by_parameters(self.build(node.inner, states))
        inside = below.operator.layout
        keys = self._parameters + node.keys
        layout = Layout(
            keys + tuple(variable for variable, _ in node.aggregates),
            inside.certain.intersection(node.keys).union(self._parameters),
        )
        key = picker([inside.index.get(variable) for variable in keys])
        compiler = states.compiler(states.new)
        width = len(self._parameters)
        aggregates = [
            (shape, _rest(width) if shape.argument is None else compiler.value(shape.argument, inside))
            for _, shape in node.aggregates
        ]
        group = Group(
            below.operator, layout, key, aggregates, below.rows, states.new, width=width, single=not node.keys
        )
        self.memories.append(group.memory)
        return Built(group, group.rows)

    def _window(self, node: Node, offset: int, limit: int | None, states: States) -> Built:
        distinct, variables, conditions, inner = _unstacked(node)
        below = self._led_by_parameters(self.build(inner, states))
        inside = below.operator.layout
        shown = self._parameters + (tuple(named(inside)) if variables is None else variables)
        compiler = states.compiler(states.new)
        rank = ranker(
            [compiler.value(expression, inside) for expression, _ in conditions],
            tuple(descending for _, descending in conditions),
            picker([inside.index[variable] for variable in named(inside)]),
        )
        layout = Layout(shown, inside.certain.intersection(shown))
        width = len(self._parameters)
        window = Window(
            below.operator,
            layout,
            rank,
            below.rows,
            states.new,
            offset=offset,
            limit=limit,
            distinct=distinct,
            width=width,
        )
        self.memories.append(window.memory)
        return Built(window, window.rows)


def _rest(width: int) -> Callable[[Row], Term | None]:
    """What COUNT(*) counts: the row without the parameters in front."""
    return lambda row: row[width:]  # type: ignore[return-value]  # only ever counted


def _unstacked(
    node: Node,
) -> tuple[bool, tuple[Var, ...] | None, tuple[tuple[Expression, bool], ...], Node]:
    """What stands between a slice and its pattern: DISTINCT, the projection, the order."""
    distinct = False
    variables: tuple[Var, ...] | None = None
    conditions: tuple[tuple[Expression, bool], ...] = ()
    if isinstance(node, algebra.Distinct | algebra.Reduced):
        distinct, node = True, node.inner
    if isinstance(node, algebra.Project):
        variables, node = node.variables, node.inner
    if isinstance(node, algebra.OrderBy):
        conditions, node = node.conditions, node.inner
    return distinct, variables, conditions, node
