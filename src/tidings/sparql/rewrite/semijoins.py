"""EXISTS around a pattern that has to be evaluated separately: once for all rows, instead of once for each row.

    FILTER EXISTS { P }       A ⋈ δ(π(P))       FILTER NOT EXISTS { P }       A - π(P)

Most patterns extend the outer row, and stay as they are. A sub-SELECT with an aggregate or DISTINCT does not see that
row; all that matters is whether one of its solutions agrees with the row in their shared variables.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from tidings.model.terms import Var
from tidings.sparql.algebra import (
    Distinct,
    Exists,
    Expression,
    Filter,
    Join,
    Minus,
    Node,
    Not,
    Project,
    Slice,
    certain,
    conjunction,
    conjuncts,
    every_expression,
    every_variable,
    inputs,
    rebuilt,
    visible,
)
from tidings.sparql.evaluate.calls import is_momentary, names_blanks
from tidings.sparql.evaluate.pushing import pushable
from tidings.sparql.rewrite.looking import Look, unhurried


def join_existence(node: Node, bound: AbstractSet[Var] = frozenset(), look: Look = unhurried) -> Node:
    """Turn all such conditions of a pattern into joins; input rows bind the variables `bound`."""
    look()
    node = rebuilt(node, lambda inner: join_existence(inner, bound, look))
    return semijoined(node, bound) if isinstance(node, Filter) else node


def semijoined(node: Filter, bound: AbstractSet[Var] = frozenset(), *, stable: bool = False) -> Node:
    """Rewrite one filter; the node itself if none of its conditions is of that kind. In `stable` evaluations, LIMIT
    always takes the same rows of the same data."""
    inner, kept = node.inner, list[Expression]()
    for condition in conjuncts(node.condition):
        joined = _joined(inner, condition, bound, stable)
        if joined is None:
            kept.append(condition)
        else:
            inner = joined
    if inner is node.inner:
        return node
    rest = conjunction(kept)
    return inner if rest is None else Filter(rest, inner)


def _joined(left: Node, condition: Expression, bound: AbstractSet[Var], stable: bool) -> Node | None:
    match condition:
        case Exists(pattern):
            shared = _agreeing(left, pattern, bound, stable)
            return Join(left, Distinct(Project(pattern, shared))) if shared else None
        case Not(Exists(pattern)):
            shared = _agreeing(left, pattern, bound, stable)
            return Minus(left, Project(pattern, shared)) if shared else None
        case _:
            return None


def _agreeing(left: Node, pattern: Node, bound: AbstractSet[Var], stable: bool) -> tuple[Var, ...]:
    """The variables shared by rows and a pattern that has to be evaluated separately, all of them bound on both sides;
    () if the pattern is not of that kind."""
    ours, sure = visible(left), certain(left)
    read = set(every_variable(pattern))
    if not sure.issuperset(read.intersection(ours)) or not read.intersection(bound).issubset(ours):
        return ()
    if pushable(pattern, ours.keys(), ours.keys()) or _is_arbitrary(pattern, stable):
        return ()
    shared = tuple(variable for variable in visible(pattern) if variable in ours)
    return shared if certain(pattern).issuperset(shared) else ()


def _is_arbitrary(pattern: Node, stable: bool) -> bool:
    """Whether two evaluations of the pattern on the same data may have different solutions."""
    if not stable and any(isinstance(node, Slice) for node in _nodes(pattern)):
        return True
    return any(is_momentary(each) or names_blanks(each) for each in every_expression(pattern))


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for inner in inputs(node):
        yield from _nodes(inner)
