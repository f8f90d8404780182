"""From a seed to complete solutions: looks up the other patterns one by one, each with the terms known so far."""

from collections import deque

from msgspec import Struct

from tidings.engine.operators.base import Route, States
from tidings.engine.operators.members import Members
from tidings.model.terms import Var
from tidings.sparql.algebra import BGP, Join, Node, TriplePattern
from tidings.sparql.evaluate.layout import Columns, Layout, Step, picker
from tidings.sparql.evaluate.scan import scan_into
from tidings.sparql.rewrite.order import order_joins


class Lookup(Struct, frozen=True):
    """Another pattern. `is_new`: it precedes the seed's pattern in the formula, so its state is the new one."""

    route: Route
    is_new: bool


def variables_of(route: Route) -> list[Var]:
    terms = (*route.pattern, route.graph)
    return [term for term in dict.fromkeys(terms) if term[:1] == "?"]


def best_order(given: Layout, others: list[Lookup], states: States) -> list[Lookup]:
    """The look-ups ordered by selectivity, the most selective first; the variables of `given` are known already."""
    if len(others) < 2:
        return others
    view = states.new.view
    graph = states.active(states.new)
    source = view.default() if isinstance(graph, str) else graph()
    basic = BGP(tuple(lookup.route.pattern for lookup in others))
    waiting: dict[TriplePattern, deque[Lookup]] = {}
    for lookup in others:
        waiting.setdefault(lookup.route.pattern, deque()).append(lookup)
    ordered = order_joins(basic, source, view, given.certain)
    return [waiting[pattern].popleft() for pattern in _patterns(ordered)]


def _patterns(node: Node) -> list[TriplePattern]:
    match node:
        case BGP(patterns):
            return list(patterns)
        case Join(left, right):
            return _patterns(left) + _patterns(right)
        case _:
            raise AssertionError("triple patterns stay triple patterns")


def leads_to(parameters: tuple[Var, ...], given: Layout, order: list[Lookup]) -> bool:
    """Whether look-ups bind every parameter, each of them from a constant or from a variable that is known by then."""
    known = set(given.variables)
    for lookup in order:
        s, _, o = lookup.route.pattern
        if s[0] != "?" or o[0] != "?" or s in known or o in known:
            known.update(variables_of(lookup.route))
    return known.issuperset(parameters)


def chain(layout: Layout, order: list[Lookup], states: States, members: Members | None) -> tuple[Layout, list[Step]]:
    """The steps of some look-ups, and their last layout. Rows of no member are dropped as soon as all parameters are
    known."""
    steps: list[Step] = []
    columns = Columns(layout)
    for lookup in order:
        if members is not None and columns.certain.issuperset(members.variables):
            steps.append(_only_members(members, columns))
            members = None
        context = states.new if lookup.is_new else states.old
        steps.append(scan_into(columns, lookup.route.pattern, states.active(context), context))
    if members is not None and order:  # without look-ups, the LUTT has matched the seed with a member
        steps.append(_only_members(members, columns))
    return columns.layout(), steps


def _only_members(members: Members, columns: Columns) -> Step:
    member = picker([columns.index[variable] for variable in members.variables])
    tuples = members.tuples
    return lambda rows: (row for row in rows if member(row) in tuples)
