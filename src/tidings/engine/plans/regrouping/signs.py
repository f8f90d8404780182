"""Finds patterns that reveal a change inside EXISTS: whenever its solutions change, a solution of one of them changes.

skeleton   a pattern without filters and optional parts: every solution of the pattern extends one of the skeleton
signs      patterns of triples alone; the changes of all of them cover the changes of the pattern
"""

from collections.abc import Iterator

from tidings.engine.plans.regrouping.path_groups import has_bound_path, has_free_path
from tidings.engine.plans.routes import exists_patterns
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import (
    BGP,
    Expression,
    Node,
    PathPattern,
    certain,
    conjunction,
    conjuncts,
    matched,
    may_stand_still,
    mentioned,
    visible,
)
from tidings.sparql.evaluate.calls import is_momentary
from tidings.sparql.evaluate.pushing import binds_graph, needs_triples, shared_variables


class _Unseen(Exception):
    """A pattern has no signs."""


def signs_of(node: Node) -> list[Node] | None:
    """The signs of a pattern; None if any change anywhere in it may change any solution."""
    try:
        return list(dict.fromkeys(_signs(node)))
    except _Unseen:
        return None


def surely_bound(*nodes: Node) -> frozenset[Var]:
    """The variables that the skeletons of some patterns bind in all solutions; none, if a pattern has no skeleton."""
    try:
        return frozenset[Var]().union(*(certain(_skeleton(node)) for node in nodes))
    except _Unseen:
        return frozenset()


def turning_between(timed: Expression, left: Node, right: Node) -> Node:
    """The sign of a condition on the moment that reads variables of two patterns, all of them `surely_bound`."""
    return algebra.Filter(timed, _joined(_skeleton(left), _skeleton(right)))


def condition_signs(condition: Expression, node: Node) -> list[Node] | None:
    """The signs of EXISTS in a condition on solutions of a pattern."""
    try:
        return list(dict.fromkeys(_within(condition, _skeleton(node))))
    except _Unseen:
        return None


def has_loose_end(sign: Node, left: Node, graph: str) -> bool:
    """Whether a row of the left side may bind the end of a path inside EXISTS to a term that the path's graph does not
    have. A path of zero steps matches any such term, but no solution of the sign has it."""
    bound, seen = {*_in_graphs(left, graph)}, visible(left)
    return any(end not in bound and end[0] in seen for end in loose_ends(sign, graph))


def loose_ends(node: Node, graph: str) -> Iterator[tuple[str, str]]:
    """The variables that only paths of zero steps may bind to a term of a graph, with that graph."""
    bound = {*_in_graphs(node, graph)}
    return (end for end in _ends(node, graph, still=True) if end not in bound and end[0][0] == "?")


def _in_graphs(node: Node, graph: str) -> Iterator[tuple[str, str]]:
    """The variables that a pattern always binds to a term of a graph, with that graph."""
    for subject, _, object_, name in matched(node, graph):
        yield subject, name
        yield object_, name
    yield from _ends(node, graph, still=False)


def _ends(node: Node, graph: str, *, still: bool) -> Iterator[tuple[str, str]]:
    """The ends of the paths in a pattern, with their graphs: of paths that may have zero steps, or of the others."""
    match node:
        case PathPattern(subject, path, object_) if may_stand_still(path) is still:
            yield subject, graph
            yield object_, graph
        case algebra.Graph(name, inner):
            yield from _ends(inner, name, still=still)
        case algebra.LeftJoin(inner) | algebra.Minus(inner):
            yield from _ends(inner, graph, still=still)
        case algebra.Union() if not still:
            pass  # only one side has them
        case algebra.Join() | algebra.Filter() | algebra.Extend() | algebra.Union():
            for inner in algebra.inputs(node):
                yield from _ends(inner, graph, still=still)


def bound_by(left: Node, sign: Node) -> Node:
    """A sign joined with the skeleton of the left side, if that binds an end of a path in the sign: of all pairs that
    the path connects, few may matter. So, too, if the sign compares NOW() with a value from the left side."""
    is_timed = (
        isinstance(sign, algebra.Filter)
        and is_momentary(sign.condition)
        and not certain(sign.inner).issuperset(mentioned(sign.condition))
    )
    if not is_timed and not has_bound_path(sign):
        return sign
    try:
        if is_timed:
            return _joined(_skeleton(left), sign)
        together = _joined(_skeleton(left), sign)
    except _Unseen:
        return sign
    return sign if has_free_path(together) else together


def _joined(left: Node, right: Node) -> Node:
    """A join. The filter of a sign, which has one at most, becomes a filter of the join, so that it sees both sides."""
    if isinstance(left, algebra.Filter):
        return algebra.Filter(left.condition, _joined(left.inner, right))
    if isinstance(right, algebra.Filter):
        return algebra.Filter(right.condition, _joined(left, right.inner))
    if isinstance(left, BGP) and isinstance(right, BGP):
        return BGP(left.patterns + tuple(each for each in right.patterns if each not in left.patterns))
    return algebra.Join(left, right)


def _within(expression: Expression, skeleton: Node) -> list[Node]:
    """The signs of the patterns in EXISTS, each joined with the skeleton of the rows that are tested."""
    return [_joined(skeleton, sign) for pattern in exists_patterns(expression) for sign in _signs(pattern)]


def _of_condition(condition: Expression, skeleton: Node) -> list[Node]:
    """The signs of EXISTS in a condition, and of its comparisons with NOW()."""
    timed = conjunction(part for part in conjuncts(condition) if is_momentary(part))
    turning = [] if timed is None else [algebra.Filter(timed, skeleton)]
    return [*_within(condition, skeleton), *turning]


def _signs(node: Node) -> list[Node]:
    match node:
        case BGP() | PathPattern():
            return [node]
        case algebra.Values():
            return []
        case algebra.Filter(condition, inner):
            return [*_signs(inner), *_of_condition(condition, _skeleton(inner))]
        case algebra.Extend(inner, _, expression):
            return [*_signs(inner), *_within(expression, _skeleton(inner))]
        case algebra.Join(left, right):
            first, second = _signs(left), _signs(right)
            if first == [left] and second == [right]:
                return [_joined(left, right)]
            a, b = _skeleton(left), _skeleton(right)
            return [*(_joined(sign, b) for sign in first), *(_joined(a, sign) for sign in second)]
        case algebra.Union(left, right):
            return _signs(left) + _signs(right)
        case algebra.LeftJoin(left, right, condition):
            base = _skeleton(left)
            inside = [] if condition is None else _of_condition(condition, _joined(base, _skeleton(right)))
            return [*_signs(left), *(_joined(base, sign) for sign in _signs(right)), *inside]
        case algebra.Minus(left, right):
            if not shared_variables(left, right):
                return _signs(left)
            return [*_signs(left), *(_joined(_skeleton(left), sign) for sign in _signs(right))]
        case algebra.Graph(name, inner):
            return [_inside(name, sign) for sign in _signs(inner)]
        case _:
            raise _Unseen


def _skeleton(node: Node) -> Node:
    match node:
        case BGP() | PathPattern() | algebra.Values():
            return node
        case algebra.Filter(_, inner) | algebra.Extend(inner) | algebra.LeftJoin(inner) | algebra.Minus(inner):
            return _skeleton(inner)
        case algebra.Join(left, right):
            return _joined(_skeleton(left), _skeleton(right))
        case algebra.Union(left, right):
            return algebra.Union(_skeleton(left), _skeleton(right))
        case algebra.Graph(name, inner):
            return _inside(name, _skeleton(inner))
        case _:
            raise _Unseen


def _inside(name: str, inner: Node) -> Node:
    if isinstance(inner, algebra.Filter) and name not in mentioned(inner.condition):
        return algebra.Filter(inner.condition, _inside(name, inner.inner))
    if not (binds_graph(inner, name) if name[0] == "?" else needs_triples(inner)):
        raise _Unseen  # it matters whether the graph exists
    return algebra.Graph(name, inner)
