"""Decides whether a query depends on the moment only through comparisons with NOW() that operators can wait for.

Operators look rows up in two states, each with its own instant. So such a comparison may be wherever the planner makes
an operator for it, which it does not in parts that are evaluated again. If NOW() is compared with a value from outside
of EXISTS or OPTIONAL, all rows there must bind it.
"""

from tidings.engine.operators.stateful.turning import turns
from tidings.engine.plans.regrouping.graphs import spread
from tidings.engine.plans.regrouping.signs import signs_of, surely_bound
from tidings.engine.plans.routes import exists_patterns, has_exists
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import (
    BGP,
    Describe,
    Expression,
    Node,
    PathPattern,
    Query,
    certain,
    conjunction,
    conjuncts,
    every_expression,
    every_variable,
    mentioned,
    visible,
)
from tidings.sparql.evaluate.calls import is_momentary
from tidings.sparql.evaluate.pushing import binds_graph, needs_triples, pushable


def goes_by_the_clock(query: Query) -> bool:
    """Whether a query that depends on the moment can be kept up to date by ticks."""
    return not isinstance(query, Describe) and _goes(query.pattern)


def _goes(node: Node) -> bool:
    if not any(map(is_momentary, every_expression(node))):
        return True
    match node:
        case algebra.Filter(condition, inner):
            timed, rest = parted(condition)
            return (timed is None or turns(timed)) and (rest is None or _asks(rest, inner)) and _goes(inner)
        case algebra.Extend(inner, _, expression):
            is_known = turns(expression) if is_momentary(expression) else _asks(expression, inner)
            return is_known and _goes(inner)
        case algebra.LeftJoin(left, right, condition):
            return (condition is None or _is_inside(condition, left, right)) and _goes(left) and _goes(right)
        case algebra.Union(left, right) | algebra.Minus(left, right) | algebra.Join(left, right):
            return _goes(left) and _goes(right)
        case algebra.Graph(name, inner):
            if binds_graph(inner, name) if name[0] == "?" else needs_triples(inner):
                return _goes(inner)
            parts = spread(node)
            return parts != node and _goes(parts)
        case algebra.Distinct(inner) | algebra.Slice(inner) | algebra.OrderBy(inner):
            return _is_plain(node) and _goes(inner)
        case algebra.Project(inner) | algebra.Group(inner):
            return _is_plain(node) and _goes(inner)
        case _:
            return False


def _is_inside(condition: Expression, left: Node, right: Node) -> bool:
    """Whether the part of OPTIONAL's condition that depends on the moment reads only the right side, or only variables
    that are bound in all solutions."""
    timed, rest = parted(condition)
    if rest is not None and any(any(map(is_momentary, every_expression(each))) for each in exists_patterns(rest)):
        return False
    if timed is None or not turns(timed):
        return timed is None
    is_seen = pushable(right, visible(left).keys()) and surely_bound(left, right).issuperset(mentioned(timed))
    return is_seen or _is_about(right, timed, left)


def _is_about(right: Node, timed: Expression, left: Node) -> bool:
    return certain(right).issuperset(v for v in mentioned(timed) if v in visible(left))


def _asks(expression: Expression, left: Node) -> bool:
    """Whether witnesses see what the clock changes inside each EXISTS of an expression."""
    outside = surely_bound(left)
    return all(
        not any(map(is_momentary, every_expression(pattern)))
        or (signs_of(pattern) is not None and _is_seen(pattern, outside))
        for pattern in exists_patterns(expression)
    )


def _is_seen(node: Node, outside: frozenset[Var]) -> bool:
    """Whether the signs of a pattern reveal what the clock changes in it. All rows outside bind `outside`."""
    match node:
        case BGP() | PathPattern() | algebra.Values():
            return True
        case algebra.Filter(condition, inner):
            timed, rest = parted(condition)
            known = surely_bound(inner) | outside.difference(every_variable(inner))
            is_known = timed is None or (turns(timed) and known.issuperset(mentioned(timed)))
            return is_known and (rest is None or _asks_inside(rest, known)) and _is_seen(inner, outside)
        case algebra.Join(left, right) | algebra.Union(left, right) | algebra.Minus(left, right):
            return _is_seen(left, outside) and _is_seen(right, outside)
        case algebra.LeftJoin(left, right, condition):
            is_plain = condition is None or not (is_momentary(condition) or has_exists(condition))
            return is_plain and _is_seen(left, outside) and _is_seen(right, outside)
        case algebra.Graph(_, inner):
            return _is_seen(inner, outside)
        case _:
            return False


def _asks_inside(expression: Expression, outside: frozenset[Var]) -> bool:
    return all(_is_seen(pattern, outside) for pattern in exists_patterns(expression))


def _is_plain(node: Node) -> bool:
    """Whether the node's own expressions neither depend on the moment nor have EXISTS."""
    return not any(is_momentary(each) or has_exists(each) for each in algebra.expressions(node))


def with_moment_inside(node: algebra.LeftJoin) -> algebra.LeftJoin:
    """OPTIONAL with the part of its condition that depends on the moment moved into the right side, if that part reads
    no variable of the left that the right does not bind, too."""
    timed, rest = (None, None) if node.condition is None else parted(node.condition)
    if timed is None or not _is_about(node.right, timed, node.left):
        return node
    return algebra.LeftJoin(node.left, algebra.Filter(timed, node.right), rest)


def parted(condition: Expression) -> tuple[Expression | None, Expression | None]:
    """The part of a condition that depends on the moment, and the rest of it."""
    each = list(conjuncts(condition))
    return (
        conjunction([part for part in each if is_momentary(part)]),
        conjunction([part for part in each if not is_momentary(part)]),
    )
