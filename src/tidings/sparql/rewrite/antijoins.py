"""OPTIONAL with a filter that it matched nothing: the form of NOT EXISTS before SPARQL 1.1, and still widely used.

    A OPTIONAL { B FILTER (c) } FILTER (!BOUND(?b))   =   A FILTER NOT EXISTS { B FILTER (c) }

where B always binds ?b and A never does. NOT EXISTS stops at the first solution, and needs none of the others.
"""

from tidings.model.terms import Var
from tidings.sparql.algebra import (
    Call,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    Not,
    Project,
    Service,
    certain,
    conjunction,
    conjuncts,
    every_expression,
    inputs,
    rebuilt,
    visible,
)
from tidings.sparql.evaluate.calls import is_momentary, names_blanks
from tidings.sparql.evaluate.pushing import pushable

MOST = 64
"""How many conditions of one filter are tried: for each, the pass descends the pattern to find its OPTIONAL."""


def antijoined(node: Filter) -> Node:
    """Rewrite one filter, with the same columns; the node itself if none of its conditions is of that kind."""
    inner, kept, left = node.inner, list[Expression](), MOST
    for condition in conjuncts(node.condition):
        variable = _left_open(condition) if left else None
        left -= variable is not None
        alone = None if variable is None else _alone(inner, variable)
        if alone is None:
            kept.append(condition)
        else:
            inner = alone
    if inner is node.inner:
        return node
    rest = conjunction(kept)
    return Project(inner if rest is None else Filter(rest, inner), tuple(visible(node)))


def join_absence(node: Node) -> Node:
    """Rewrite a whole pattern, except inside GRAPH ?name: NOT EXISTS would prevent evaluating all graphs at once."""
    if isinstance(node, Graph) and node.name[0] == "?":
        return node
    node = rebuilt(node, join_absence)
    return antijoined(node) if isinstance(node, Filter) else node


def _left_open(condition: Expression) -> Var | None:
    match condition:
        case Not(Call("BOUND", (str() as variable,))):
            return variable
        case _:
            return None


def _alone(node: Node, variable: Var) -> Node | None:
    """A pattern for those solutions in which OPTIONAL has not bound the variable; None if no OPTIONAL of the pattern
    binds it, or if it cannot become NOT EXISTS."""
    match node:
        case LeftJoin(left, right, condition) if variable in visible(right):
            if variable in visible(left) or variable not in certain(right):
                return None
            if not _is_asked_alike(left, right, condition):
                return None
            asked = right if condition is None else Filter(condition, right)
            return Filter(Not(Exists(asked)), left)
        case LeftJoin(left, right, condition):
            below = _alone(left, variable)
            return None if below is None else LeftJoin(below, right, condition)
        case Join(left, right) if variable not in visible(right):
            below = _alone(left, variable)
            return None if below is None else Join(below, right)
        case Join(left, right) if variable not in visible(left):
            below = _alone(right, variable)
            return None if below is None else Join(left, below)
        case Minus(left, right):
            below = _alone(left, variable)
            return None if below is None else Minus(below, right)
        case Filter(condition, inner):
            below = _alone(inner, variable)
            return None if below is None else Filter(condition, below)
        case Extend(inner, bound, expression) if bound != variable:
            below = _alone(inner, variable)
            return None if below is None else Extend(below, bound, expression)
        case _:
            return None


def _is_asked_alike(left: Node, right: Node, condition: Expression | None) -> bool:
    """Whether OPTIONAL and EXISTS find the same solutions of the right side for each row of the left."""
    asked = [*every_expression(right), *(() if condition is None else every_expression(Filter(condition, right)))]
    if any(isinstance(each, Exists) or is_momentary(each) or names_blanks(each) for each in asked):
        return False
    if _asks_elsewhere(right):
        return False  # OPTIONAL asks SERVICE once for many rows, EXISTS once for each
    return pushable(right, visible(left).keys())


def _asks_elsewhere(node: Node) -> bool:
    return isinstance(node, Service) or any(map(_asks_elsewhere, inputs(node)))
