"""When a pattern may be evaluated from rows that are already there, instead of on its own and joined afterwards.

SPARQL is defined bottom-up. Handing the bindings of `outer` variables down into a pattern gives the same answer only
if nothing in it could notice: no filter that reads a variable the pattern itself leaves open, no OPTIONAL or MINUS
whose right side shares a variable with the outside that its left side does not settle first.
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

    Inside EXISTS the values of those `substituted` *replace* the variables of the pattern, so anything may see them.
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
            # Graph by graph, rows go into the pattern without the name, unless it is one of those substituted.
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
    """The variables that name the endpoints of SERVICE inside of a node: others bind them."""
    if isinstance(node, Service):
        return {node.name} if node.name[0] == "?" else frozenset()
    return frozenset[Var]().union(*map(endpoints, inputs(node)))


def _brought(outer: AbstractSet[Var], substituted: AbstractSet[Var]) -> AbstractSet[Var]:
    return outer - substituted if substituted else outer  # mostly nothing is, and rows may be thousands wide


def _settled(expression: Expression, outer: AbstractSet[Var], inner: Node) -> bool:
    """Whether every outer variable that an expression reads is bound by the pattern below it anyway."""
    return outer & set(mentioned(expression)) <= certain(inner)


def lowers_graph(node: Node, name: Var) -> bool:
    """Whether `GRAPH ?name` may be spread over the triple patterns of a node.

    Section 18.6 evaluates the node in each graph n first, and then joins what was found with {?name -> n}. A row that
    has the name from the start has joined too early, and nothing may notice:
    - A triple pattern, a path, VALUES and a join of such do not: σ ⋈ {n} is the same before and after a join. So does
      a union pass the name on to both sides.
    - OPTIONAL does, by its right side: `L ⟕ R` where R itself may bind ?name lets a row of L alone that R would
      have bound to something else, so that it had not met n. It cannot where R has no ?name, nor where every row of L
      has bound it, as it is then the same for L and for R whenever the row survives.
    - FILTER and BIND do if they read the name, BIND if it makes it, EXISTS always: it is one of its substitutions.
    - MINUS, sub-SELECTs and the like do: a name on both sides is one variable more in common, and what is evaluated
      once a graph, rather than once a row, would be evaluated once for all graphs.
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
    """Inside EXISTS, what the right side of MINUS sees of the row that asks.

    That is every variable of its own, but a shared one only if it binds it anyway: it would seem to have bound it.
    """
    if not substituted:
        return frozenset()
    return substituted & (certain(right) | set(every_variable(right)).difference(shared))


def shared_variables(left: Node, right: Node) -> list[Var]:
    theirs = visible(right)
    return [variable for variable in visible(left) if variable in theirs]
