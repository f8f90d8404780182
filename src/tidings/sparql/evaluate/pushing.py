"""Decides when a plan may extend rows by a pattern, instead of evaluating the pattern separately and joining.

SPARQL is defined bottom-up. Handing the bindings of `outer` variables down into a pattern gives the same answer only
if nothing in the pattern depends on them: no filter reads an outer variable that the pattern itself may leave unbound,
and no OPTIONAL or MINUS has an outer variable on its right side that its left side may leave unbound.
"""

from collections.abc import Iterable
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
    Service,
    Slice,
    Union,
    Values,
    certain,
    every_variable,
    inputs,
    may_stand_still,
    mentioned,
    operands,
    visible,
)


def pushable(node: Node, outer: AbstractSet[Var], substituted: AbstractSet[Var] = frozenset()) -> bool:
    """Whether `outer ⋈ node` may be found by extending the rows of `outer`.

    Inside EXISTS, values *replace* the variables `substituted`, so every part of the pattern may see these values.
    """
    match node:
        case BGP() | PathPattern() | Values():
            return True
        case Join(left, right) | Union(left, right):
            return pushable(left, outer, substituted) and pushable(right, outer, substituted)
        case Filter(condition, inner):
            return pushable(inner, outer, substituted) and _settled(condition, _brought(outer, substituted), inner)
        case LeftJoin(left, right, condition):
            brought = _brought(outer, substituted)
            return (
                pushable(left, outer, substituted)
                and brought & set(every_variable(right)) <= certain(left)
                and (condition is None or _settled(condition, brought, left))
            )
        case Minus(left, right):
            brought = _brought(outer, substituted)
            return pushable(left, outer, substituted) and brought & set(every_variable(right)) <= certain(left)
        case Extend(BGP(()), _, str() as term) if term[0] != "?":
            return True  # one row of one constant
        case Extend(inner, variable, expression):
            return (
                variable not in outer
                and pushable(inner, outer, substituted)
                and _settled(expression, _brought(outer, substituted), inner)
            )
        case Graph(name, inner):
            # Evaluated graph by graph, a pattern gets rows without the name, unless the name is substituted.
            apart = bool(substituted) and (name not in outer or name in substituted)
            enters = name[0] != "?" or apart or binds_graph(inner, name)
            return enters and pushable(inner, outer, substituted)
        case Project(inner, variables):
            hidden = set(every_variable(inner)) - set(variables)
            return not hidden & outer and pushable(inner, outer, substituted)
        case Service(name):
            return name in outer  # rows that name its endpoints
        case Group() | OrderBy() | Distinct() | Slice():
            return False
        case _:
            assert_never(node)


def endpoints(node: Node) -> AbstractSet[Var]:
    """The variables that name endpoints of SERVICE inside a node; other patterns have to bind them."""
    if isinstance(node, Service):
        return {node.name} if node.name[0] == "?" else frozenset()
    return frozenset[Var]().union(*map(endpoints, inputs(node)))


def _brought(outer: AbstractSet[Var], substituted: AbstractSet[Var]) -> AbstractSet[Var]:
    return outer - substituted if substituted else outer  # `outer` may have thousands of variables: do not copy it


def _settled(expression: Expression, outer: AbstractSet[Var], inner: Node) -> bool:
    """Whether the pattern below an expression always binds every outer variable that the expression reads."""
    return outer & set(mentioned(expression)) <= certain(inner)


def lowers_graph(node: Node, name: Var) -> bool:
    """Whether `GRAPH ?name` may be spread over the triple patterns of a node.

    Section 18.6 evaluates the node in each graph n first, and then joins the solutions with {?name -> n}. Spread over
    the triple patterns, the join with the name comes first, and must not change the solutions:
    - Of triple patterns, paths, VALUES, and joins and unions of them, it does not: σ ⋈ {n} is the same before and
      after a join, and a union passes the name on to both sides.
    - Of `L ⟕ R` it may if R itself may bind ?name: a row of L that R extends with another name would not join with
      {?name -> n} afterwards, but with the name first, R does not match, and the row stays. It does not if R has no
      ?name, or if every row of L binds it, because L and R then have the same name in every row that survives.
    - Of FILTER and BIND it may if they read the name, of BIND also if it binds the name; of EXISTS always, because the
      name is one of its substitutions.
    - Of MINUS, sub-SELECTs and the others it may: the name is one more variable that both sides of MINUS share, and a
      part that is evaluated once per graph, not per row, would be evaluated once for all graphs.
    """
    match node:
        case BGP() | PathPattern() | Values():
            return True
        case Join(left, right) | Union(left, right):
            return lowers_graph(left, name) and lowers_graph(right, name)
        case LeftJoin(left, right, condition):
            unnoticed = name not in set(every_variable(right)) or name in certain(left)
            readable = condition is None or _ignores(condition, name)
            return unnoticed and readable and binds_graph(left, name) and lowers_graph(right, name)
        case Filter(condition, inner):
            return _ignores(condition, name) and lowers_graph(inner, name)
        case Extend(inner, variable, expression):
            return variable != name and _ignores(expression, name) and lowers_graph(inner, name)
        case _:
            return False


def binds_graph(node: Node, name: Var) -> bool:
    """Whether GRAPH ?name may be spread over the triple patterns, and then binds the name in every solution."""
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
    """Whether a pattern has no solutions in an empty graph, so that nothing needs to test whether the graph exists."""
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
        case Project(inner) | Distinct(inner) | OrderBy(inner) | Slice(inner):
            return needs_triples(inner)
        case Group(inner, keys):
            return bool(keys) and needs_triples(inner)
        case _:
            return False


def _ignores(expression: Expression, name: Var) -> bool:
    """Whether an expression neither reads the graph's name nor evaluates a pattern of its own."""
    if isinstance(expression, Exists) or expression == name:
        return False
    return all(_ignores(part, name) for part in operands(expression))


def asked_in(right: Node, shared: Iterable[Var], substituted: AbstractSet[Var]) -> AbstractSet[Var]:
    """Inside EXISTS, the variables of the outer row that are substituted in the right side of MINUS.

    They are all its variables but the shared ones that it may leave unbound: substitution would seem to bind those.
    """
    if not substituted:
        return frozenset()
    return substituted & (certain(right) | set(every_variable(right)).difference(shared))


def shared_variables(left: Node, right: Node) -> list[Var]:
    theirs = visible(right)
    return [variable for variable in visible(left) if variable in theirs]
