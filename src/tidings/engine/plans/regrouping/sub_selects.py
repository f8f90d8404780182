"""Sub-SELECTs inside EXISTS that show some variables and hide others, without them: only whether there is a solution
matters, not how often there is the same, nor in which order they come.

    EXISTS { SELECT ?x { A } }  =  EXISTS { A' }    where A' has other names for what is hidden in A

Aggregates and LIMIT see all solutions of their own, and stay.
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
    """A pattern without such sub-SELECTs, wherever EXISTS stands in it."""
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
    """Whether it matters there how many solutions there are."""
    return isinstance(node, Group | Slice) or any(map(_counts, inputs(node)))
