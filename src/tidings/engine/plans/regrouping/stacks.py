"""Takes apart the operators on top of a SELECT's pattern: DISTINCT, projection, order, and EXISTS among them."""

from tidings.engine.plans.regrouping.comparisons import as_seen
from tidings.engine.plans.routes import has_exists
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Aggregate, Expression, Node, mentioned


def unstacked(
    node: Node, parameters: tuple[Var, ...]
) -> tuple[bool, tuple[Var, ...] | None, tuple[tuple[Expression, bool], ...], Node]:
    """The operators between a slice and its pattern, which are DISTINCT, the projection and the order, and the pattern
    as it is seen by them."""
    distinct = False
    variables: tuple[Var, ...] | None = None
    conditions: tuple[tuple[Expression, bool], ...] = ()
    if isinstance(node, algebra.Distinct):
        distinct, node = True, node.inner
    if isinstance(node, algebra.Project):
        variables, node = node.variables, node.inner
    if isinstance(node, algebra.OrderBy):
        conditions, node = node.conditions, node.inner
    if variables is not None:
        read = {variable for condition, _ in conditions for variable in mentioned(condition)}
        node = as_seen(node, read.union(variables), {*parameters})
    return distinct, variables, conditions, node


def with_exists_below(node: Node) -> Node:
    """The same pattern, with BIND below a group or an order for each of its expressions with EXISTS: there, rows change
    one by one."""
    match node:
        case algebra.Group(inner, keys, aggregates) if any(has_exists(shape) for _, shape in aggregates):
            shapes: list[tuple[Var, Aggregate]] = []
            for number, (variable, shape) in enumerate(aggregates):
                argument = shape.argument
                if argument is not None and has_exists(argument):
                    inner = algebra.Extend(inner, f"?:exists{number}", argument)
                    argument = f"?:exists{number}"
                shapes.append((variable, Aggregate(shape.function, argument, shape.distinct, shape.separator)))
            return algebra.Group(inner, keys, tuple(shapes))
        case algebra.OrderBy(inner, conditions) if any(has_exists(condition) for condition, _ in conditions):
            ordered: list[tuple[Expression, bool]] = []
            for number, (condition, descending) in enumerate(conditions):
                asks = has_exists(condition)
                if asks:
                    inner = algebra.Extend(inner, f"?:exists{number}", condition)
                ordered.append((f"?:exists{number}" if asks else condition, descending))
            return algebra.OrderBy(inner, tuple(ordered))
        case algebra.Slice() | algebra.Distinct() | algebra.Project():
            return algebra.rebuilt(node, with_exists_below)
        case _:
            return node
