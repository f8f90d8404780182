"""Orders joined patterns so that each shares a variable with those before it, if possible.

In a text, two triple patterns may be side by side that only a third one connects: `GRAPH ?g { ?p :said ?x } ?g :owner
?o . ?p :age ?a`. Joined first, they would combine every owner with every age.
"""

from collections.abc import Iterator
from functools import reduce

from tidings.sparql.algebra import BGP, Join, Node, TriplePattern, visible

LONGEST = 24
"""The most parts that are ordered: each adds a level to the plan."""


def linked(node: Join) -> Node:
    """The join in a better order; the node itself if all its joins share variables, or no better order is found."""
    if _is_linked(node):
        return node
    waiting = list(_parts(node))
    if len(waiting) > LONGEST:
        return node
    ordered = [waiting.pop(0)]
    known = set(visible(ordered[0]))
    while waiting:
        number = next((n for n, part in enumerate(waiting) if not known.isdisjoint(visible(part))), 0)
        ordered.append(waiting.pop(number))
        known.update(visible(ordered[-1]))
    joined = reduce(Join, ordered)
    return node if joined == node else joined


def _is_linked(node: Node) -> bool:
    match node:
        case Join(left, right):
            meet = not set(visible(left)).isdisjoint(visible(right))
            return meet and _is_linked(left) and _is_linked(right)
        case BGP(patterns):
            return len(_components(patterns)) < 2
        case _:
            return True


def _parts(node: Node) -> Iterator[Node]:
    match node:
        case Join(left, right):
            yield from _parts(left)
            yield from _parts(right)
        case BGP(patterns) if patterns:
            yield from map(BGP, _components(patterns))
        case _:
            yield node


def _components(patterns: tuple[TriplePattern, ...]) -> list[tuple[TriplePattern, ...]]:
    """Groups of triple patterns that variables connect; different groups share none."""
    groups: list[tuple[tuple[TriplePattern, ...], set[str]]] = []
    for pattern in patterns:
        variables = {term for term in pattern if term[0] == "?"}
        meeting = [group for group in groups if not group[1].isdisjoint(variables)]
        groups = [group for group in groups if group[1].isdisjoint(variables)]
        together = tuple(each for group in meeting for each in group[0])
        groups.append(((*together, pattern), variables.union(*(group[1] for group in meeting))))
    return [group for group, _ in groups]
