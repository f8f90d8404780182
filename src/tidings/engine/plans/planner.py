"""The planner turns algebra into a tree of incremental operators, and collects the routes that wake it up.

The *spine* of a query is the way from the root to the basic graph pattern whose constants are parameters. Operators on
the spine carry the parameters in their rows, and keep a separate state for each member. Parts off the spine are the
same for all members.
"""

from typing import Any, assert_never

from tidings.engine.operators.base import Aligned, Operator, Route, States
from tidings.engine.operators.conjunction.conjunction import Conjunction
from tidings.engine.operators.constant import Constant
from tidings.engine.operators.dependent.minus import minus, minus_kept
from tidings.engine.operators.dependent.optional import optional, optional_kept
from tidings.engine.operators.dependent.witness import meeting
from tidings.engine.operators.extend import Extend, extend_exists
from tidings.engine.operators.filter import Filter, exists_kept, filter_exists
from tidings.engine.operators.graphs.each_graph import EachGraph
from tidings.engine.operators.graphs.names import GraphNames
from tidings.engine.operators.join import Join
from tidings.engine.operators.members import Members
from tidings.engine.operators.ordered.crossing import Crossing
from tidings.engine.operators.ordered.surpassed import Surpassed
from tidings.engine.operators.path import PathWalk
from tidings.engine.operators.project import Project
from tidings.engine.operators.reach.ends import End
from tidings.engine.operators.reach.negated_step import NegatedStep
from tidings.engine.operators.reach.reach import Reach
from tidings.engine.operators.reevaluate import Reevaluate
from tidings.engine.operators.side import Side
from tidings.engine.operators.stateful.clocked import Clocked, clocked_extend, clocked_filter
from tidings.engine.operators.stateful.distinct import Distinct
from tidings.engine.operators.stateful.group import group_of
from tidings.engine.operators.stateful.memory import Memory
from tidings.engine.operators.stateful.window import Window, ranker
from tidings.engine.operators.union import Union
from tidings.engine.plans.built import Built, Pinned
from tidings.engine.plans.regrouping.by_the_clock import parted, with_moment_inside
from tidings.engine.plans.regrouping.comparisons import Compared, as_seen, compared, grouped_as_seen
from tidings.engine.plans.regrouping.equalities import EqualInside, equal_inside
from tidings.engine.plans.regrouping.exclusions import excluding
from tidings.engine.plans.regrouping.graphs import spread
from tidings.engine.plans.regrouping.links import linked
from tidings.engine.plans.regrouping.path_groups import (
    Part,
    PathBetween,
    grouped,
    has_bound_path,
    node_of,
)
from tidings.engine.plans.regrouping.restating import restated
from tidings.engine.plans.regrouping.scalars_aside import scalars_aside
from tidings.engine.plans.regrouping.stacks import unstacked, with_exists_below
from tidings.engine.plans.regrouping.surpassing import Surpassing, surpassing
from tidings.engine.plans.regrouping.witnessing import Witnessing
from tidings.engine.plans.routes import has_exists, routes_in
from tidings.model.errors import NotAllowed
from tidings.model.terms import Term, Var
from tidings.sparql import algebra
from tidings.sparql.algebra import BGP, Expression, Negated, Node, PathPattern, certain
from tidings.sparql.evaluate.calls import is_momentary
from tidings.sparql.evaluate.layout import EMPTY, ONE, Layout, named, picker
from tidings.sparql.evaluate.pushing import binds_graph, needs_triples, pushable, shared_variables

LARGEST_CONJUNCTION = 64
"""The most triple patterns of a conjunction with a delta rule: n patterns take n sums of n - 1 look-ups each."""


class Planner:
    """Builds the operators of one query."""

    def __init__(self, members: Members | None = None) -> None:
        self.routes: list[Route] = []
        self.is_for_one = False
        """Whether the spine has an operator that should not work for all members at once: one that evaluates again, or
        that joins the rows of all groups with a total."""
        self.memories: list[Memory[Any]] = []
        """The memories of the operators on the spine."""
        self.pinned: list[Pinned] = []
        """The parts off the spine, inner ones before outer ones."""
        self.clocked: list[Clocked] = []
        """The operators that depend on the clock, on and off the spine."""
        self._witnessing = Witnessing(self._side, self.routes)
        self._members = members
        self._parameters: tuple[Var, ...] = members.variables if members else ()

    def build(self, node: Node, states: States) -> Built:
        if isinstance(node, algebra.Group | algebra.Slice):
            node = with_exists_below(node)
        if (better := restated(node, states.graph)) is not node:
            return self.build(better, states)
        match node:
            case BGP(patterns) if len(patterns) > LARGEST_CONJUNCTION:
                return self._reevaluated(node, f"more than {LARGEST_CONJUNCTION} triple patterns together", states)
            case BGP(patterns):
                return self._conjunction(patterns, states)
            case PathPattern() | algebra.Join() if has_bound_path(node) and states.graph[:1] != "?":
                return self._joined(grouped(node), states)
            case PathPattern():
                return self._path(node, states)
            case algebra.Values():
                return self._evaluated(Constant(states.plan(node, states.new).layout), node, states)
            case algebra.Join() if (other := linked(node)) is not node:
                return self.build(other, states)
            case algebra.Join(left, right):
                join = Join(self._sided(left, states), self._sided(right, states), states)
                return self._evaluated(join, node, states, is_ordered=False)
            case algebra.Union(left, right):
                union = Union(self._side(left, states).operator, self._side(right, states).operator)
                return self._evaluated(union, node, states, is_ordered=False)
            case algebra.LeftJoin():
                return self._optional(with_moment_inside(node), states)
            case algebra.Minus(left, right):
                return self._minus(node, left, right, states)
            case algebra.Filter(condition, inner) if is_momentary(condition):
                return self._clocked_filter(condition, inner, states)
            case algebra.Extend(inner, variable, expression) if is_momentary(expression):
                below = self._led_by_parameters(self.build(inner, states))
                width = len(self._parameters)
                return self._clocked(clocked_extend(below.operator, below.rows, width, variable, expression, states))
            case algebra.Filter() if (asked := surpassing(node, states.graph)) is not None and self._is_kept(asked):
                return self._surpassed(asked, states)
            case algebra.Filter() if (equal := equal_inside(node, states.graph)) is not None:
                return self._exists_by_value(equal, states)
            case algebra.Filter(condition, inner):
                return self._filter(condition, inner, states)
            case algebra.Extend(inner, variable, expression):
                return self._extend(variable, expression, inner, states)
            case algebra.Graph(name, inner):
                if binds_graph(inner, name) if name[0] == "?" else needs_triples(inner):
                    return self.build(inner, states.inside(name))
                return self._in_graph(node, states)
            case algebra.Project(algebra.Extend(inner, variable), variables) if variable not in variables:
                return self.build(algebra.Project(inner, variables), states)
            case algebra.Project(inner, variables):
                found = compared(node)
                if found is not None and self._is_kept(found):
                    return self._projected(self._crossing(found, states), variables)
                seen = inner if found else as_seen(inner, {*variables}, {*self._parameters})
                return self._projected(self.build(seen, states), variables)
            case algebra.Distinct(inner):
                return self._distinct(inner, states)
            case algebra.OrderBy(inner):
                return self.build(inner, states)  # an answer is a multiset; its order matters only to a window
            case algebra.Slice(inner, offset, limit):
                return self._window(inner, offset, limit, states)
            case algebra.Group():
                aside = scalars_aside(node)
                if aside is not node and not self._parameters:
                    return self.build(aside, states)
                self.is_for_one |= aside is not node
                return self._group(grouped_as_seen(node), states)
            case algebra.Service():
                raise NotAllowed("SERVICE cannot be subscribed: another endpoint does not tell when it changes")
            case _:
                assert_never(node)

    # -- parts --------------------------------------------------------------------------------------------------

    def _is_spine(self, node: Node) -> bool:
        return bool(self._parameters) and any(v in self._parameters for v in algebra.visible(node))

    def _side(self, node: Node, states: States) -> Built:
        """One side of a join: on the spine if it carries the parameters; otherwise pinned."""
        if self._is_spine(node):
            return self.build(node, states)
        planner = Planner()
        built = planner.build(node, states)
        self.routes.extend(planner.routes)
        self.clocked.extend(planner.clocked)
        pinned = Pinned(built.operator, planner.memories)
        self.pinned += (*planner.pinned, pinned)
        return Built(pinned, built.rows)

    def _sided(self, node: Node, states: States) -> Side:
        return Side(self._side(node, states).operator, node, self._members_of(node))

    def _members_of(self, node: Node) -> Members | None:
        """The members whose rows a pattern has, if its rows carry parameters."""
        return self._members if self._is_spine(node) else None

    def _evaluated(self, operator: Operator, node: Node, states: States, *, is_ordered: bool = True) -> Built:
        """An operator whose rows come from full evaluation, with the parameters of a member bound from the start."""
        led = bool(self._parameters) and self._is_spine(node)
        given = Layout(self._parameters, frozenset(self._parameters)) if led else None
        aligned = Aligned(lambda: states.plan(node, states.new, given), operator.layout, states.epoch)
        return Built(operator, lambda member: aligned.run((member,) if led else ONE), is_ordered)

    def _reevaluated(self, node: Node, why: str, states: States) -> Built:
        self.is_for_one |= self._is_spine(node)
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

    def _joined(self, parts: list[Part], states: States) -> Built:
        """The parts of a join, some of them paths."""
        nodes = [node_of(part) for part in parts]
        node, built = nodes[0], self._part(parts[0], states)
        for part, right in zip(parts[1:], nodes[1:], strict=True):
            first = Side(built.operator, node, self._members_of(node))
            second = Side(self._part(part, states).operator, right, self._members_of(right))
            node = algebra.Join(node, right)
            built = self._evaluated(Join(first, second, states), node, states, is_ordered=False)
        return built

    def _part(self, part: Part, states: States) -> Built:
        if not isinstance(part, PathBetween):
            if isinstance(part, PathPattern):
                return self._path(part, states)
            return self._side(part, states)
        start = self._end(part.pattern.subject, "?:from", part.start, states)
        end = self._end(part.pattern.object, "?:to", part.end, states)
        if start.is_fixed or end.is_fixed or part.start is not None or part.end is not None:
            reach = Reach(part.pattern, start, end, states)
            self.routes.extend(reach.routes)
            return self._evaluated(reach, node_of(part), states, is_ordered=False)
        return self._path(part.pattern, states)

    def _end(self, term: str, name: Var, part: Part | None, states: States) -> End:
        """One end of a path, with the pattern that binds it."""
        name = term if term[0] == "?" else name
        if part is None:
            return End(term, name)
        node = node_of(part)
        return End(term, name, Side(self._part(part, states).operator, node, self._members_of(node)))

    def _path(self, node: PathPattern, states: States) -> Built:
        walk = NegatedStep(node, node.path, states) if isinstance(node.path, Negated) else PathWalk(node, states)
        self.routes.extend(walk.routes)
        return self._evaluated(walk, node, states)

    def _in_graph(self, node: algebra.Graph, states: States) -> Built:
        """GRAPH around a pattern whose own triple patterns do not determine the graph."""
        if isinstance(node.inner, PathPattern):
            return self._path_in_graph(node.name, node.inner, states)
        if node.inner == algebra.UNIT:
            names = GraphNames(node.name, states)
            self.routes.extend(names.routes)
            return self._evaluated(names, node, states)
        parts = spread(node)
        if parts != node:
            return self.build(parts, states)
        each = EachGraph(node, tuple(routes_in(node, states.graph)), states)
        self.routes.extend(each.routes)
        return self._evaluated(each, node, states, is_ordered=False)

    def _path_in_graph(self, name: Term, path: PathPattern, states: States) -> Built:
        """A path that may have zero steps, in a graph that must exist: any triple of the graph may matter."""
        walk = PathWalk(path, states.inside(name), anything=True)
        self.routes.extend(walk.routes)
        return self._evaluated(walk, algebra.Graph(name, path), states)

    def _optional(self, node: algebra.LeftJoin, states: States) -> Built:
        left, right, condition = node.left, node.right, node.condition
        first = self.build(left, states)
        aside = Side(first.operator, left, self._members_of(left))
        layout = first.operator.layout
        operator: Operator
        tests_exists = condition is not None and has_exists(condition)
        if pushable(right, layout.index.keys()) or tests_exists:
            witnesses = self._witnessing.optional(condition, right, aside, states)
            operator = optional(aside, right, condition, witnesses, states)
        else:
            side = self._sided(right, states)
            operator = optional_kept(aside, side, meeting(side.layout, layout), condition, states)
        return self._evaluated(operator, node, states, is_ordered=False)

    def _minus(self, node: Node, left: Node, right: Node, states: States) -> Built:
        if not shared_variables(left, right):
            return self.build(left, states)
        first = self.build(left, states)
        aside = Side(first.operator, left, self._members_of(left))
        operator: Operator
        both = shared_variables(left, right)
        right = as_seen(right, {*both})
        if (aside.layout.certain & certain(right)).issuperset(both) and pushable(right, set(both)):
            operator = minus(aside, right, self._witnessing.beside(right, aside, states), states)
        else:
            side = self._sided(excluding(right, both), states)
            operator = minus_kept(aside, side, meeting(side.layout, aside.layout), states)
        return self._evaluated(operator, node, states, is_ordered=first.is_ordered)

    def _filter(self, condition: Expression, inner: Node, states: States) -> Built:
        below = self.build(inner, states)
        layout = below.operator.layout
        test = states.compiler(states.new).test(condition, layout)
        operator: Operator
        if has_exists(condition):
            aside = Side(below.operator, inner, self._members_of(inner))
            witnesses = self._witnessing.asked(condition, aside, states)
            operator = filter_exists(aside, condition, witnesses, states)
        else:
            operator = Filter(below.operator, condition, states)
        return Built(operator, lambda member: (row for row in below.rows(member) if test(row)), below.is_ordered)

    def _clocked_filter(self, condition: Expression, inner: Node, states: States) -> Built:
        timed, rest = parted(condition)
        assert timed is not None
        node = inner if rest is None else algebra.Filter(rest, inner)
        below = self._led_by_parameters(self.build(node, states))
        return self._clocked(clocked_filter(below.operator, below.rows, len(self._parameters), timed, states))

    def _clocked(self, operator: Clocked) -> Built:
        self.clocked.append(operator)
        self.memories.append(operator.memory)
        return Built(operator, operator.rows)

    def _extend(self, variable: Var, expression: Expression, inner: Node, states: States) -> Built:
        below = self.build(inner, states)
        layout = below.operator.layout
        value = states.compiler(states.new).value(expression, layout)
        operator: Operator
        if has_exists(expression):
            aside = Side(below.operator, inner, self._members_of(inner))
            witnesses = self._witnessing.asked(expression, aside, states)
            operator = extend_exists(aside, variable, expression, witnesses, states)
        else:
            operator = Extend(below.operator, variable, expression, states)
        return Built(operator, lambda member: ((*row, value(row)) for row in below.rows(member)), below.is_ordered)

    def _crossing(self, found: Compared, states: States) -> Built:
        rows, scalars = self._sided(found.rows, states), self._sided(found.scalars, states)
        both = algebra.Filter(found.condition, algebra.Join(found.rows, found.scalars))
        told = self._parameters if self._is_spine(found.scalars) else ()
        whole = algebra.Project(both, (*rows.layout.variables, *told))
        operator = Crossing(rows, scalars, found.key, found.comparisons, whole, states, is_any=found.is_any)
        return self._evaluated(operator, whole, states, is_ordered=False)

    def _is_kept(self, found: Surpassing | Compared) -> bool:
        """Whether to keep rows by value: not if each new member needs few rows, but would have all found again."""
        is_looked_up = found.key or (isinstance(found, Compared) and not found.is_summary)
        return not (is_looked_up and self._is_spine(found.rows))

    def _surpassed(self, found: Surpassing, states: States) -> Built:
        left, right = self._side(found.rows, states), self._side(found.values, states)
        rows, values = (
            Side(built.operator, node, self._members_of(node))
            for built, node in ((left, found.rows), (right, found.values))
        )
        operator = Surpassed(
            rows, values, found.key, found.range, found.column, found.apart, states, wanted=found.wanted
        )
        built = Built(operator, lambda member: operator.passing(left.rows(member), right.rows(member)), False)
        return self._projected(built, found.shown)

    def _exists_by_value(self, found: EqualInside, states: States) -> Built:
        rows, others = self._sided(found.rows, states), self._sided(found.others, states)
        operator = exists_kept(rows, others, found.key, found.condition, found.whole, states, wanted=found.wanted)
        return self._projected(self._evaluated(operator, found.whole, states, is_ordered=False), found.shown)

    # -- the way to the root ------------------------------------------------------------------------------------

    def _projected(self, below: Built, variables: tuple[Var, ...]) -> Built:
        wanted = self._parameters + tuple(v for v in variables if v not in self._parameters)
        operator = below.operator
        fewer = operator.onto(wanted) if isinstance(operator, Conjunction) else None
        project = Project(operator, wanted) if fewer is None else fewer
        pick = picker([below.operator.layout.index.get(variable) for variable in wanted])
        return Built(project, lambda member: map(pick, below.rows(member)))

    def _led_by_parameters(self, below: Built) -> Built:
        """Puts the parameters in front, where stateful operators expect them, and the other columns in an order that
        does not depend on the plan, because state may be handed from one plan to another."""
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
        group = group_of(node, below.operator, below.rows, self._parameters, states)
        self.memories.append(group.memory)
        return Built(group, group.rows)

    def _window(self, node: Node, offset: int, limit: int | None, states: States) -> Built:
        distinct, variables, conditions, inner = unstacked(node, self._parameters)
        below = self._led_by_parameters(self.build(inner, states))
        inside, width = below.operator.layout, len(self._parameters)
        shown = self._parameters + (tuple(named(inside)) if variables is None else variables)
        layout, rank = Layout(shown, inside.certain.intersection(shown)), ranker(conditions, inside, shown, states)
        stop = None if limit is None else offset + limit
        window = Window(below.operator, layout, rank, below.rows, states.new, offset, stop, distinct, width)
        self.memories.append(window.memory)
        return Built(window, window.rows)
