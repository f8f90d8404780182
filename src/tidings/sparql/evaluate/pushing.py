"""When a pattern may be evaluated from rows that are already there, instead of on its own and joined afterwards.

SPARQL is defined bottom-up. Handing the bindings of `outer` variables down into a pattern gives the same answer only
if nothing in it could notice: no filter that reads a variable the pattern itself leaves open, no OPTIONAL or MINUS
whose right side shares a variable with the outside that its left side does not settle first.
"""

from collections.abc import Set as AbstractSet
from typing import assert_never

from tidings.model.terms import Var
from tidings.sparql.algebra import (
    BGP,
    Distinct,
    Exists,
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
    Reduced,
    Service,
    Slice,
    Union,
    Values,
    certain,
    every_variable,
    may_stand_still,
    mentioned,
    operands,
    visible,
)


def pushable(node: Node, outer: AbstractSet[Var], substituting: bool = False) -> bool:
    """Whether `outer ⋈ node` may be found by extending the rows of `outer`.

    With `substituting`, outer values *replace* the variables of the pattern (EXISTS), so filters may see them.
    """
    match node:
        case BGP() | PathPattern() | Values():
            return True
        case Join(left, right) | Union(left, right):
            return pushable(left, outer, substituting) and pushable(right, outer, substituting)
        case Filter(condition, inner):
            return pushable(inner, outer, substituting) and (substituting or _settled(condition, outer, inner))
        case LeftJoin(left, right, condition):
            shared = outer & set(every_variable(right))
            return pushable(left, outer, substituting) and (
                substituting or (shared <= certain(left) and (condition is None or _settled(condition, outer, left)))
            )
        case Minus(left, right):
            return pushable(left, outer, substituting) and outer & set(every_variable(right)) <= certain(left)
        case Extend(inner, variable, expression):
            return (
                variable not in outer
                and pushable(inner, outer, substituting)
                and (substituting or _settled(expression, outer, inner))
            )
        case Graph(name, inner):
            lowered = name[0] != "?" or binds_graph(inner, name)
            return lowered and pushable(inner, outer, substituting)
        case Project(inner, variables):
            hidden = set(every_variable(inner)) - set(variables)
            return not hidden & outer and pushable(inner, outer, substituting)
        case Group() | OrderBy() | Distinct() | Reduced() | Slice() | Service():
            return False
        case _:
            assert_never(node)


def _settled(expression: Expression, outer: AbstractSet[Var], inner: Node) -> bool:
    """Whether every outer variable that an expression reads is bound by the pattern below it anyway."""
    return outer & set(mentioned(expression)) <= certain(inner)


def lowers_graph(node: Node, name: Var) -> bool:
    """Whether `GRAPH ?name` may be spread over the triple patterns of a node.

    Not if anything in it evaluates once per graph rather than once per row, or could see the name too early.
    """
    match node:
        case BGP() | PathPattern() | Values():
            return True
        case Join(left, right) | Union(left, right):
            return lowers_graph(left, name) and lowers_graph(right, name)
        case LeftJoin(left, right, condition):
            readable = condition is None or _ignores(condition, name)
            return readable and binds_graph(left, name) and lowers_graph(right, name)
        case Filter(condition, inner):
            return _ignores(condition, name) and lowers_graph(inner, name)
        case Extend(inner, variable, expression):
            return variable != name and _ignores(expression, name) and lowers_graph(inner, name)
        case _:
            return False


def binds_graph(node: Node, name: Var) -> bool:
    """Whether, spread over its triple patterns, every solution of the node has the graph's name."""
    if not lowers_graph(node, name):
        return False
    match node:
        case BGP(patterns):
            return bool(patterns)
        case PathPattern():
            return True
        case Join(left, right):
            return binds_graph(left, name) or binds_graph(right, name)
        case Union(left, right):
            return binds_graph(left, name) and binds_graph(right, name)
        case LeftJoin(left, _) | Filter(_, left) | Extend(left):
            return binds_graph(left, name)
        case _:
            return False


def needs_triples(node: Node) -> bool:
    """Whether a pattern has no solution in a graph that is not there, without being told so."""
    match node:
        case BGP(patterns):
            return bool(patterns)
        case PathPattern(_, path, _):
            return not may_stand_still(path)
        case Join(left, right):
            return needs_triples(left) or needs_triples(right)
        case Union(left, right):
            return needs_triples(left) and needs_triples(right)
        case LeftJoin(left, _) | Minus(left, _) | Filter(_, left) | Extend(left):
            return needs_triples(left)
        case _:
            return False


def _ignores(expression: Expression, name: Var) -> bool:
    """Whether an expression neither reads the graph's name nor evaluates a pattern of its own."""
    if isinstance(expression, Exists) or expression == name:
        return False
    return all(_ignores(part, name) for part in operands(expression))


def shared_variables(left: Node, right: Node) -> list[Var]:
    theirs = visible(right)
    return [variable for variable in visible(left) if variable in theirs]
