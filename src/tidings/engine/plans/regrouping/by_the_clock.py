"""Queries that depend on the moment only by comparisons with NOW(), where nothing is looked up through these.

An operator that looks rows up sees two states of the store, but one instant. So above a comparison there may be what
works on changed rows alone: projection, DISTINCT, groups, windows, UNION, and other conditions.
"""

from tidings.engine.operators.stateful.turning import turns
from tidings.engine.plans.routes import has_exists
from tidings.sparql import algebra
from tidings.sparql.algebra import Describe, Expression, Node, Query, conjunction, conjuncts, every_expression
from tidings.sparql.evaluate.calls import is_momentary


def goes_by_the_clock(query: Query) -> bool:
    """Whether a query that depends on the moment can be kept up to date by ticks."""
    return not isinstance(query, Describe) and _goes(query.pattern)


def _goes(node: Node) -> bool:
    if not any(map(is_momentary, every_expression(node))):
        return True
    match node:
        case algebra.Filter(condition, inner):
            timed, rest = parted(condition)
            if timed is None:
                return not has_exists(condition) and _goes(inner)
            return (
                turns(timed) and not has_exists(timed) and _goes(inner if rest is None else algebra.Filter(rest, inner))
            )
        case algebra.Extend(inner, _, expression):
            return turns(expression) and not has_exists(expression) and _goes(inner)
        case algebra.Union(left, right):
            return _goes(left) and _goes(right)
        case algebra.Distinct(inner) | algebra.Slice(inner) | algebra.OrderBy(inner):
            return _is_plain(node) and _goes(inner)
        case algebra.Project(inner) | algebra.Group(inner):
            return _is_plain(node) and _goes(inner)
        case _:
            return False


def _is_plain(node: Node) -> bool:
    """Whether what a node reads itself neither asks for the moment nor looks anything up."""
    return not any(is_momentary(each) or has_exists(each) for each in algebra.expressions(node))


def parted(condition: Expression) -> tuple[Expression | None, Expression | None]:
    """The part of a condition that depends on the moment, and the rest of it."""
    each = list(conjuncts(condition))
    return (
        conjunction([part for part in each if is_momentary(part)]),
        conjunction([part for part in each if not is_momentary(part)]),
    )
