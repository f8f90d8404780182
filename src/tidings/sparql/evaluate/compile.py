"""Compiles each algebra node to a plan, and so a whole pattern to a pipeline of generators."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import islice
from typing import assert_never

from tidings.model.errors import NotAllowed, RowLimitExceeded, ServiceFailed, TidingsError
from tidings.model.formats.blanks import BlankScope
from tidings.model.terms import Term, Var, is_iri
from tidings.sparql.algebra import (
    BGP,
    Distinct,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    Node,
    OrderBy,
    PathPattern,
    Project,
    Service,
    Slice,
    Union,
    Values,
    certain,
    every_variable,
    visible,
)
from tidings.sparql.evaluate.aggregates import Accumulator, accumulator
from tidings.sparql.evaluate.calls import SOLUTION, names_blanks
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import NOTHING, TripleSource
from tidings.sparql.evaluate.expressions import Scope, Test, Value, compile_test, compile_value
from tidings.sparql.evaluate.graphs import graph_by_graph, in_these
from tidings.sparql.evaluate.joins import (
    Buckets,
    Meeting,
    anti_join,
    asked_minus,
    hash_join,
    hash_left_join,
    hash_minus,
    left_join,
    rejoin,
)
from tidings.sparql.evaluate.layout import EMPTY, Columns, Layout, Plan, Row, Step, batches, named, picker, tiebreak
from tidings.sparql.evaluate.pushing import asked_in, binds_graph, needs_triples, pushable, shared_variables
from tidings.sparql.evaluate.scan import ActiveGraph, scan_into
from tidings.sparql.evaluate.steps import STACKED, agreeing, distinct, extended, filtered, in_stages, in_turn, numbered
from tidings.sparql.evaluate.walk import walk
from tidings.sparql.rewrite import rewrite
from tidings.sparql.values import order_key

_PATTERNS_BETWEEN_LOOKS = 64


class Compiler:
    """Compiles patterns against one context, inside one active graph."""

    __slots__ = ("_context", "_graph", "_substituted")

    def __init__(
        self, context: Context, graph: ActiveGraph | None = None, substituted: AbstractSet[Var] = frozenset()
    ) -> None:
        self._context = context
        self._graph: ActiveGraph = context.view.default if graph is None else graph
        self._substituted = substituted
        """Inside EXISTS: the variables that the values of the outer row replace."""

    def plan(self, node: Node, given: Layout | None = None) -> Plan:
        """A plan that joins rows of the layout `given` with the solutions of a node; by default, one empty row."""
        self._context.glance()
        if given is not None and not pushable(node, given.index.keys(), self._substituted):
            asked = self._asked_alone(node, given)
            if asked is not None:
                return asked
            alone = Compiler(self._context, self._graph).plan(node)
            return self._watched(hash_join(given, alone, self._context))
        layout = given or EMPTY
        match node:
            case BGP(patterns):
                return self._bgp(patterns, layout)
            case PathPattern():
                return self._watched(walk(node, self._graph, layout, self._context, self._substituted))
            case Join(left, right):
                first = self.plan(left, given)
                return _chained(first, self.plan(right, first.layout))
            case LeftJoin(left, right, condition):
                return self.left_join(self.plan(left, given), right, condition)
            case Union(left, right):
                return self._watched(_union(self.plan(left, given), self.plan(right, given), layout))
            case Minus(left, right):
                return self.minus(self.plan(left, given), left, right)
            case Filter(condition, inner):
                plan = self.plan(inner, given)
                return Plan(plan.layout, partial(filtered, plan.run, self.test(condition, plan.layout)))
            case Extend(inner, variable, expression):
                return self._extend(inner, variable, expression, given)
            case Graph(name, inner):
                return self._in_graph(name, inner, given)
            case Service():
                return self._service(node, layout)
            case Values(variables, rows):
                spelled = self._context.spelled
                data = tuple(tuple([cell and spelled(cell) for cell in row]) for row in rows)
                return self._watched(_values(variables, data, layout, self._context))
            case Group():
                return self._group(node)
            case OrderBy(inner, conditions):
                return self._order_by(inner, conditions, ())
            case Project(OrderBy(inner, conditions), variables):
                return _projected(self._order_by(inner, conditions, variables), variables, layout)
            case Project(inner, variables):
                return _projected(self.plan(inner, given), variables, layout)
            case Distinct(inner):
                plan = self.plan(inner)
                return Plan(plan.layout, partial(distinct, plan.run, self._context))
            case Slice(inner, offset, limit):
                plan = self.plan(inner)
                stop = None if limit is None else offset + limit
                return Plan(plan.layout, lambda rows: islice(plan.run(rows), offset, stop))
            case _:
                assert_never(node)

    # -- expressions --------------------------------------------------------------------------------------------

    def value(self, expression: Expression, layout: Layout) -> Value:
        return compile_value(expression, Scope(layout, self._context, self._exists))

    def test(self, expression: Expression, layout: Layout) -> Test:
        return compile_test(expression, Scope(layout, self._context, self._exists))

    def _exists(self, pattern: Node, layout: Layout) -> Test:
        """Whether a pattern has a solution once the values of a row replace its variables (18.6, substitute)."""
        read = set(every_variable(pattern))
        doubtful = [at for each, at in layout.index.items() if each in read and each not in layout.certain]
        if not doubtful:
            run = self._asking(pattern, layout)
            return lambda row: next(iter(run((row,))), None) is not None
        sure = [layout.index[each] for each in layout.variables if each in layout.certain]
        plans: dict[tuple[int, ...], tuple[Callable[[Row], Row], Step]] = {}

        def test(row: Row) -> bool:
            # Only bound variables are substituted, so each set of bound variables needs a plan of its own.
            bound = tuple([at for at in doubtful if row[at] is not None])
            found = plans.get(bound)
            if found is None:
                variables = tuple(layout.variables[at] for at in (*sure, *bound))
                asking = self._asking(pattern, Layout(variables, frozenset(variables)))
                found = plans[bound] = picker((*sure, *bound)), asking
            pick, run = found
            return next(iter(run((pick(row),))), None) is not None

        return test

    def _asking(self, pattern: Node, layout: Layout) -> Step:
        pattern = rewrite(pattern, self._context.view, layout.certain, self._context.glance)
        return Compiler(self._context, self._graph, frozenset(layout.variables)).plan(pattern, layout).run

    def _asked_alone(self, node: Node, given: Layout) -> Plan | None:
        """Inside EXISTS, a plan that extends only the substituted columns of a row, and then joins the rest of the row;
        None if not even that gives the right answer, or if it would be all columns."""
        asking = [variable for variable in given.variables if variable in self._substituted]
        if len(asking) == len(given.variables) or not pushable(node, set(asking), self._substituted):
            return None
        start = Layout(tuple(asking), given.certain.intersection(asking))
        return self._watched(rejoin(given, start, self.plan(node, start), self._context))

    # -- patterns -----------------------------------------------------------------------------------------------

    def _watched(self, plan: Plan) -> Plan:
        """A plan that may return many rows for each input row, so that its own rows count and check the time limit."""
        return Plan(plan.layout, self._in_time(plan.run))

    def _in_time(self, run: Step) -> Step:
        """A step under the time limit, if there is one, whose rows are counted if there is a meter."""
        if self._context.limits.seconds is None and self._context.meter is None:
            return run
        return lambda rows: self._context.watch(run(rows))

    def _bgp(self, patterns: Iterable[tuple[str, str, str]], layout: Layout) -> Plan:
        context, columns, steps = self._context, Columns(layout), list[Step]()
        for number, pattern in enumerate(patterns):
            steps.append(self._in_time(scan_into(columns, pattern, self._graph, context)))
            if number % _PATTERNS_BETWEEN_LOOKS == 0:
                context.glance()
        after = columns.layout()
        if len(steps) > STACKED:
            return Plan(after, partial(in_stages, steps, context))
        return Plan(after, steps[0] if len(steps) == 1 else partial(in_turn, steps))

    def left_join(self, first: Plan, right: Node, condition: Expression | None) -> Plan:
        """The rows of a plan joined with those of a pattern; a row that joins with none of them stays as it is."""
        if pushable(right, first.layout.index.keys(), self._substituted):
            second: Plan | None = self.plan(right, first.layout)
        else:
            second = self._asked_alone(right, first.layout)
        if second is not None:
            return left_join(first, second, self._condition(condition, second.layout))
        alone = Compiler(self._context, self._graph).plan(right)
        meeting = Meeting(first.layout, alone.layout)
        joined = hash_left_join(first, alone, self._condition(condition, meeting.layout), meeting, self._context)
        return self._watched(joined)

    def _condition(self, condition: Expression | None, layout: Layout) -> Test | None:
        return None if condition is None else self.test(condition, layout)

    def minus(self, first: Plan, left: Node, right: Node) -> Plan:
        """The rows of a plan for `left` without those that the pattern excludes."""
        shared = shared_variables(left, right)
        if not shared:
            return first
        seen = asked_in(right, shared, self._substituted)
        asking = [variable for variable in first.layout.variables if variable in seen]
        if asking:
            start = Layout(tuple(asking), first.layout.certain.intersection(asking))
            return asked_minus(first, self.plan(right, start), start, shared, self._context)
        sure = first.layout.certain & certain(right)
        if sure.issuperset(shared) and pushable(right, set(shared)):
            second = Compiler(self._context, self._graph).plan(right, Layout(tuple(shared), frozenset(shared)))
            return anti_join(first, second, shared)
        return hash_minus(first, Compiler(self._context, self._graph).plan(right), shared, self._context)

    def _extend(self, inner: Node, variable: Var, expression: Expression, given: Layout | None) -> Plan:
        plan = self.plan(inner, given)
        if names_blanks(expression) and SOLUTION not in plan.layout.index:
            settle = picker([plan.layout.index[each] for each in named(plan.layout)])
            numbering = partial(numbered, plan.run, settle, self._context)
            plan = Plan(plan.layout.extended((SOLUTION,), (SOLUTION,)), numbering)
        value = compile_value(expression, Scope(plan.layout, self._context, self._exists, variable))
        if variable in plan.layout.index:
            return Plan(plan.layout.extended((), (variable,)), partial(agreeing, plan, variable, value))
        constant = isinstance(expression, str) and (expression[0] != "?" or expression in plan.layout.certain)
        after = plan.layout.extended((variable,), (variable,) if constant else ())
        return Plan(after, partial(extended, plan.run, value))

    def _in_graph(self, name: str, inner: Node, given: Layout | None) -> Plan:
        view = self._context.view
        if name[0] != "?":
            plan = self._inside(lambda: view.named(name)).plan(inner, given)
            if needs_triples(inner):
                return plan
            return Plan(plan.layout, lambda rows: plan.run(rows) if view.has(name) else iter(()))
        if binds_graph(inner, name):
            return self._inside(name).plan(inner, given)
        source: list[TripleSource] = [NOTHING]
        alone = self._inside(lambda: source[0]).plan(inner, given)
        return self._watched(graph_by_graph(name, alone, source, given or EMPTY, self._context))

    def in_these(self, name: str, inner: Node) -> Plan:
        """A plan for GRAPH around a pattern. Its input rows have one column, the names of the graphs to look into."""
        source: list[TripleSource] = [NOTHING]
        alone = self._inside(lambda: source[0]).plan(inner)
        return self._watched(in_these(name, alone, source, self._context))

    def _inside(self, graph: ActiveGraph) -> "Compiler":
        return Compiler(self._context, graph, self._substituted)

    def _service(self, node: Service, given: Layout) -> Plan:
        """A plan that asks each endpoint that rows name once, and joins its answer with the rows that name it."""
        context = self._context
        variables = tuple(variable for variable in visible(node.inner) if not variable.startswith("?:"))
        meeting = Meeting(given, Layout(variables, frozenset()))
        at = given.index.get(node.name)
        answers: dict[Term | None, Buckets] = context.memo()

        def run(rows: Iterable[Row]) -> Iterator[Row]:
            for row in rows:
                endpoint = node.name if at is None else row[at]
                if endpoint not in answers:
                    found = _ask_service(node, endpoint, variables, context)
                    answers[endpoint] = meeting.buckets(context.hold(found))
                yield from meeting.matches(answers[endpoint], row, context)

        return self._watched(Plan(meeting.layout, run))

    # -- solution modifiers -------------------------------------------------------------------------------------

    def _group(self, node: Group) -> Plan:
        plan = self.plan(node.inner)
        key = picker([plan.layout.index.get(variable) for variable in node.keys])
        arguments: list[Callable[[Row], Term | None]] = []
        for _, aggregate in node.aggregates:
            # COUNT(*) counts rows, and COUNT(DISTINCT *) distinct ones: the row itself is the value
            whole: Callable[[Row], Term | None] = _whole_row
            arguments.append(whole if aggregate.argument is None else self.value(aggregate.argument, plan.layout))
        shapes = [aggregate for _, aggregate in node.aggregates]

        def run(rows: Iterable[Row]) -> Iterator[Row]:
            groups: dict[Row, list[Accumulator]] = {}
            most = self._context.limits.rows
            if not node.keys:
                groups[()] = [accumulator(shape) for shape in shapes]
            for row in plan.run(rows):
                found = groups.get(cells := key(row))
                if found is None:
                    found = groups[cells] = [accumulator(shape) for shape in shapes]
                    if most is not None and len(groups) > most:
                        raise RowLimitExceeded(most)
                for each, argument in zip(found, arguments, strict=True):
                    each.add(argument(row))
            for cells, found in groups.items():
                yield cells + tuple([each.result() for each in found])

        sure = plan.layout.certain.intersection(node.keys)
        return Plan(Layout(node.keys + tuple(variable for variable, _ in node.aggregates), sure), run)

    def _order_by(self, inner: Node, conditions: tuple[tuple[Expression, bool], ...], seen: tuple[Var, ...]) -> Plan:
        """Rows in order. Of a subscription, those that the conditions do not tell apart: by what is seen of them, then
        by the rest."""
        plan = self.plan(inner)
        keys = [(self.value(expression, plan.layout), descending) for expression, descending in conditions]
        rest = picker([plan.layout.index[variable] for variable in named(plan.layout, seen)])

        def run(rows: Iterable[Row]) -> Iterator[Row]:
            found = list(self._context.hold(plan.run(rows)))
            if self._context.stable:
                found.sort(key=lambda row: tiebreak(rest(row)))
            for value, descending in reversed(keys):
                found.sort(key=lambda row: order_key(value(row)), reverse=descending)
            return iter(found)

        return Plan(plan.layout, run)


def _whole_row(row: Row) -> Term | None:
    return row  # type: ignore[return-value]  # COUNT never reads it as a term


def _chained(first: Plan, second: Plan) -> Plan:
    run, then = first.run, second.run
    return Plan(second.layout, lambda rows: then(run(rows)))


def _union(left: Plan, right: Plan, layout: Layout) -> Plan:
    after = left.layout.extended(right.layout.variables)
    sure = layout.certain | (left.layout.certain & right.layout.certain)
    padding = (None,) * (len(after.variables) - len(left.layout.variables))
    align = picker([right.layout.index.get(variable) for variable in after.variables])

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for batch in batches(rows):
            for row in left.run(batch):
                yield row + padding
            for row in right.run(batch):
                yield align(row)

    return Plan(Layout(after.variables, sure), run)


def _values(variables: tuple[Var, ...], data: tuple[Row, ...], layout: Layout, context: Context) -> Plan:
    sure = frozenset(v for i, v in enumerate(variables) if all(row[i] is not None for row in data))
    meeting = Meeting(layout, Layout(variables, sure))
    buckets = meeting.buckets(data)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            yield from meeting.matches(buckets, row, context)

    return Plan(meeting.layout, run)


def _projected(plan: Plan, variables: tuple[Var, ...], layout: Layout) -> Plan:
    kept = layout.variables + tuple(variable for variable in variables if variable not in layout.index)
    if kept == plan.layout.variables:
        return plan
    pick = picker([plan.layout.index.get(variable) for variable in kept])
    return Plan(Layout(kept, plan.layout.certain.intersection(kept)), lambda rows: map(pick, plan.run(rows)))


def _ask_service(node: Service, endpoint: Term | None, variables: tuple[Var, ...], context: Context) -> list[Row]:
    try:
        if context.service is None:
            raise NotAllowed("SERVICE is switched off here")
        if endpoint is None or not is_iri(endpoint):
            raise ServiceFailed(f"SERVICE {node.name} needs the IRI of an endpoint, and has {_said(endpoint)}")
        answer = context.service(endpoint[1:-1], node.text)
        column = {name: at for at, name in enumerate(answer.variables)}
        pick = picker([column.get(variable[1:]) for variable in variables])
        labels = BlankScope(context.moment.fresh_blank().encode())  # the scope of blank node labels is one answer
        return [tuple(map(labels.apart, pick(row))) for row in answer.rows]
    except TidingsError:
        if not node.silent:
            raise
        return [(None,) * len(variables)]


def _said(endpoint: Term | None) -> str:
    return "none" if endpoint is None or endpoint[0] == "?" else endpoint
