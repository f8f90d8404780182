"""Finds the patterns that bind the ends of each path, among joined patterns, so that the path starts from there.

Joins may be regrouped at will. Patterns that share variables form one part; a path has a part at one end or at both.
"""

from collections.abc import Iterator
from functools import reduce

from msgspec import Struct

from tidings.model.terms import is_tagged
from tidings.sparql.algebra import (
    BGP,
    Call,
    Expression,
    Filter,
    Join,
    Node,
    PathPattern,
    Project,
    Repeat,
    Union,
    certain,
    conjunction,
    visible,
)


class PathBetween(Struct, frozen=True):
    """A path, with the parts that bind its start and its end. A part that binds both is `start`."""

    pattern: PathPattern
    start: "Part | None"
    end: "Part | None"


Part = Node | PathBetween


def has_bound_path(node: Node) -> bool:
    """Whether a join has a path that may have a bound end."""
    return any(isinstance(part, PathPattern) and is_reachability(part) for part in _flat(node))


def has_free_path(node: Node) -> bool:
    """Whether a join has a path without a bound end."""
    return any(isinstance(part, PathPattern) and is_reachability(part) for part in grouped(node))


def is_reachability(path: PathPattern) -> bool:
    """Whether a path has each pair of terms once, and its ends are different and not language-tagged."""
    ends = (path.subject, path.object)
    return isinstance(path.path, Repeat) and ends[0] != ends[1] and not any(map(is_tagged, ends))


def unlooped(node: Join) -> Node:
    """`A . ?x path ?x` as `A . ?x path ?y FILTER sameTerm(?x, ?y)`, if A binds ?x, so that the path starts there. The
    node itself if it has no such path."""
    flat = list(_flat(node))
    straight = [part for part in flat if not _leads_back(part)]
    bound = frozenset[str]().union(*map(certain, straight))
    conditions: list[Expression] = []
    parts: list[Node] = []
    for part in flat:
        if isinstance(part, PathPattern) and _leads_back(part) and part.subject in bound:
            end = f"?:back{len(conditions)}"
            conditions.append(Call("SAMETERM", (part.subject, end)))
            parts.append(PathPattern(part.subject, part.path, end))
        else:
            parts.append(part)
    condition = conjunction(conditions)
    if condition is None:
        return node
    return Project(Filter(condition, reduce(Join, parts)), tuple(visible(node)))


def _leads_back(node: Node) -> bool:
    return isinstance(node, PathPattern) and node.subject == node.object and isinstance(node.path, Repeat)


def spread_over(node: Join) -> Node:
    """`A . { B } UNION { C }` as `{ A . B } UNION { A . C }`, if A binds an end of a path in B or C that has no bound
    end otherwise. The node itself if there is no such path."""
    flat = list(_flat(node))
    for number, part in enumerate(flat):
        if isinstance(part, Union) and any(map(has_free_path, _branches(part))):
            rest = list(_connected(flat[:number] + flat[number + 1 :]))
            joined = [reduce(Join, [*rest, branch]) for branch in _branches(part)]
            if not any(map(has_free_path, joined)):
                return reduce(Union, joined)
    return node


def _branches(node: Node) -> list[Node]:
    return [*_branches(node.left), *_branches(node.right)] if isinstance(node, Union) else [node]


def grouped(node: Node) -> list[Part]:
    """The parts of a join, each path together with the parts that bind its ends. All of them joined are the node."""
    flat = list(_flat(node))
    paths = [part for part in flat if isinstance(part, PathPattern) and is_reachability(part)]
    parts: list[Part] = list(_connected([part for part in flat if part not in paths]))
    while paths:
        path = next((path for path in paths if _is_bound(path, parts)), None)
        if path is None:
            return [*parts, *paths]
        paths.remove(path)
        parts = _between(path, parts)
    return parts


def node_of(part: Part) -> Node:
    """The pattern of a part."""
    if not isinstance(part, PathBetween):
        return part
    sides = [node_of(side) for side in (part.start, part.end) if side is not None]
    return reduce(Join, [sides[0], part.pattern, *sides[1:]] if sides else [part.pattern])


def _flat(node: Node) -> Iterator[Node]:
    if isinstance(node, Join):
        yield from _flat(node.left)
        yield from _flat(node.right)
    elif isinstance(node, BGP):
        yield from (BGP((pattern,)) for pattern in node.patterns)
    else:
        yield node


def connected_parts(node: Node) -> list[Node]:
    """Groups of joined patterns that variables connect; different groups share none."""
    return list(_connected(list(_flat(node))))


def _connected(nodes: list[Node]) -> Iterator[Node]:
    """Joins the patterns that share variables, with their triple patterns in one BGP."""
    groups: list[tuple[list[Node], set[str]]] = []
    for node in nodes:
        variables = set(visible(node))
        meeting = [group for group in groups if group[1] & variables]
        groups = [group for group in groups if not group[1] & variables]
        members = [each for group in meeting for each in group[0]]
        groups.append(([*members, node], variables.union(*(group[1] for group in meeting))))
    for members, _ in groups:
        patterns = tuple(pattern for each in members if isinstance(each, BGP) for pattern in each.patterns)
        others = [each for each in members if not isinstance(each, BGP)]
        yield reduce(Join, [BGP(patterns), *others] if patterns else others)


def _binds(part: Part, term: str) -> bool:
    return term in certain(node_of(part))


def _touches(part: Part, term: str) -> bool:
    return term in visible(node_of(part))


def _is_bound(path: PathPattern, parts: list[Part]) -> bool:
    """Whether an end is a constant, or some part always binds it, and no part binds an end in some rows only."""
    ends = (path.subject, path.object)
    variables = [end for end in ends if end[0] == "?"]
    if any(_touches(part, end) and not _binds(part, end) for part in parts for end in variables):
        return False
    return len(variables) < 2 or any(_binds(part, end) for part in parts for end in variables)


def _between(path: PathPattern, parts: list[Part]) -> list[Part]:
    start = next((part for part in parts if _binds(part, path.subject)), None)
    end = next((part for part in parts if _binds(part, path.object)), None)
    rest = [part for part in parts if part is not start and part is not end]
    return [*rest, PathBetween(path, start, None if end is start else end)]
