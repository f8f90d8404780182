"""Replaces sub-SELECTs inside EXISTS by their patterns: EXISTS depends on whether there is a solution, and neither on
duplicates nor on the order.

    EXISTS { SELECT ?x { A } }  =  EXISTS { A' }    where A' is A with other names for its hidden variables

Sub-SELECTs with aggregates or LIMIT stay, because their solutions depend on the number of others.
"""

from collections.abc import Iterator
from itertools import count

from tidings.engine.plans.lift import inside_exists, map_terms
from tidings.sparql.algebra import (
    Distinct,
    Group,
    Node,
    OrderBy,
    Project,
    Slice,
    certain,
    every_variable,
    inputs,
)


def opened(node: Node) -> Node:
    """A pattern without such sub-SELECTs, in every EXISTS of it."""
    numbers = count()
    return inside_exists(node, lambda pattern: _inside(pattern, numbers))


def _inside(node: Node, numbers: Iterator[int]) -> Node:
    match node:
        case Distinct(inner) | OrderBy(inner):
            found = _inside(inner, numbers)
            return node if found is inner else found
        case Project(inner, shown) if certain(inner).issuperset(shown) and not _counts(inner):
            hidden = sorted(set(every_variable(inner)).difference(shown))
            names = {variable: f"?:hidden{next(numbers)}" for variable in hidden}
            return _inside(map_terms(inner, lambda term: names.get(term, term)), numbers)
        case _:
            return node


def _counts(node: Node) -> bool:
    """Whether a pattern has an aggregate or LIMIT, for which the number of solutions matters."""
    return isinstance(node, Group | Slice) or any(map(_counts, inputs(node)))
