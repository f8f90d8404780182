"""Joins patterns that nothing but `FILTER (?a = ?b)` connects, by a key that equal values share.

    A . B FILTER (f(a) = g(b))  =  { A BIND (key(f(a)) AS ?k) } { B BIND (key(g(b)) AS ?k) } FILTER (f(a) = g(b))

Without the key, every row of A would meet every row of B. OPTIONAL and EXISTS are rewritten in the same way, but there
rows of A without a key stay.
"""

from msgspec import Struct

from tidings.engine.plans.regrouping.comparisons import NO_VALUE
from tidings.engine.plans.regrouping.path_groups import connected_parts
from tidings.engine.plans.regrouping.surpassing import filter_of, is_plain
from tidings.engine.plans.routes import has_exists
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import (
    Call,
    Exists,
    Expression,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Node,
    Not,
    Project,
    conjunction,
    conjuncts,
    mentioned,
    visible,
)
from tidings.sparql.evaluate.calls import EQUALITY_KEY, is_momentary, names_blanks

_KEY: Var = "?:key"


class EqualInside(Struct, frozen=True):
    """Rows with EXISTS for other rows, which nothing but equal values connects with them."""

    rows: Node
    others: Node
    key: Var
    condition: Expression
    """The conditions between the rows and the others."""
    wanted: bool
    """Whether rows pass for which there are others, or those for which there are none."""
    whole: Node
    shown: tuple[Var, ...]


def joined_by_value(node: Node, graph: str) -> Node:
    """A filter that connects two patterns in this way, rewritten; the node itself if it is not one. Inside GRAPH ?g,
    the graph connects them already."""
    if not isinstance(node, Filter) or not isinstance(node.inner, Join | algebra.BGP) or graph[:1] == "?":
        return node
    parts = connected_parts(node.inner)
    if len(parts) != 2:
        return node
    left, right = parts
    found = _equated(list(conjuncts(node.condition)), left, right)
    if found is None:
        return node
    ours, theirs = found
    sides = _having_key(left, ours), _having_key(right, theirs)
    return Project(Filter(node.condition, Join(*sides)), tuple(visible(node)))


def optional_by_value(node: LeftJoin, graph: str) -> Node:
    """OPTIONAL, rewritten in the same way; the node itself if it is not of that kind."""
    left, right, condition = node.left, node.right, node.condition
    if condition is None or graph[:1] == "?" or not visible(left).keys().isdisjoint(visible(right)):
        return node
    found = _equated(list(conjuncts(condition)), left, right)
    if found is None or has_exists(condition) or is_momentary(condition) or not is_plain(right):
        return node
    ours, theirs = found
    return Project(LeftJoin(_with_key(left, ours), _having_key(right, theirs), condition), tuple(visible(node)))


def equal_inside(node: Filter, graph: str) -> EqualInside | None:
    """A filter by EXISTS, rewritten in the same way, with its other conditions below; None if it is of another kind."""
    conditions = [] if graph[:1] == "?" else list(conjuncts(node.condition))
    for number, each in enumerate(conditions):
        asked = each.inner if isinstance(each, Not) else each
        if isinstance(asked, Exists):
            rest = conjunction(conditions[:number] + conditions[number + 1 :])
            rows = node.inner if rest is None else Filter(rest, node.inner)
            found = _equal_inside(rows, asked.pattern, each)
            if found is not None:
                return found
    return None


def _equal_inside(rows: Node, pattern: Node, asked: Expression) -> EqualInside | None:
    inside = filter_of(pattern)
    if inside is None or not is_plain(inside.inner):
        return None
    ours, theirs = visible(rows), visible(inside.inner)
    conditions = list(conjuncts(inside.condition))
    if not ours.keys().isdisjoint(theirs) or not {*ours, *theirs}.issuperset(mentioned(inside.condition)):
        return None
    if any(has_exists(each) or is_momentary(each) or names_blanks(each) for each in conditions):
        return None
    across = [each for each in conditions if not theirs.keys() >= set(mentioned(each))]
    below = conjunction(each for each in conditions if each not in across)
    others = inside.inner if below is None else Filter(below, inside.inner)
    found, connecting = _equated(across, rows, others), conjunction(across)
    if found is None or connecting is None:
        return None
    with_key = _with_key(rows, found[0])
    needed = [variable for variable in dict.fromkeys(mentioned(connecting)) if variable in theirs]
    met = Project(_having_key(others, found[1]), (*needed, _KEY))
    wanted = isinstance(asked, Exists)
    return EqualInside(with_key, met, _KEY, connecting, wanted, Filter(asked, with_key), tuple(ours))


def _equated(conditions: list[Expression], left: Node, right: Node) -> tuple[Expression, Expression] | None:
    """The expressions over the left and over the right that have to be equal; None if there are none."""
    for each in conditions:
        match each:
            case algebra.Compare("=", a, b) if _reads(a, left) and _reads(b, right):
                return a, b
            case algebra.Compare("=", a, b) if _reads(b, left) and _reads(a, right):
                return b, a
    return None


def _with_key(node: Node, expression: Expression) -> Node:
    return Extend(node, _KEY, Call("COALESCE", (Call(EQUALITY_KEY, (expression,)), NO_VALUE)))


def _having_key(node: Node, expression: Expression) -> Node:
    return Filter(Call("BOUND", (_KEY,)), Extend(node, _KEY, Call(EQUALITY_KEY, (expression,))))


def _reads(expression: Expression, part: Node) -> bool:
    """Whether an expression reads variables of one part alone, and has neither EXISTS nor depends on the moment."""
    read = set(mentioned(expression))
    is_plain = not has_exists(expression) and not is_momentary(expression)
    return bool(read) and is_plain and read <= set(visible(part))
