"""Rows compared with what a sub-SELECT says for all of them, or for all that agree in something, and nobody sees:
`?a > ?m * 2`, where one row says ?m for all, or one for each city."""

from functools import reduce

from msgspec import Struct

from tidings.engine.operators.thresholds import Range
from tidings.engine.plans.routes import has_exists
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Expression, Node, certain, mentioned, visible
from tidings.sparql.evaluate.calls import is_momentary

MIRRORED: dict[str, algebra.Comparator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

_TOLD: Var = "?:told"
"""What is made of scalars before rows are compared with it."""


class Compared(Struct, frozen=True):
    """π over rows and scalars: the rows, with all other conditions on them, and how they compare with the scalars."""

    rows: Node
    scalars: Node
    key: tuple[Var, ...]
    """What a row and the scalar that it is compared with agree in."""
    range: Range
    scalar: Var
    condition: Expression


def compared(node: Node) -> Compared | None:
    """A projection as such a comparison; None if it is none."""
    match node:
        case algebra.Project(algebra.Filter(condition, algebra.Join() as joined), variables):
            parts = joined_parts(joined)
            conditions = list(algebra.conjuncts(condition))
            for number, part in enumerate(parts):
                if _is_summary(part):
                    others = reduce(algebra.Join, parts[:number] + parts[number + 1 :])
                    found = _compared(conditions, others, part, variables)
                    if found is not None:
                        return found
    return None


def seen_by(node: algebra.Group) -> tuple[Var, ...]:
    """The variables that a group reads, be it by its keys or by its aggregates."""
    read = [variable for _, aggregate in node.aggregates for variable in mentioned(aggregate)]
    return tuple(dict.fromkeys((*node.keys, *read)))


def grouped_as_seen(node: algebra.Group) -> algebra.Group:
    """A group over a projection, where that is such a comparison; the node itself elsewhere."""
    if any(shape.argument is None and shape.distinct for _, shape in node.aggregates):
        return node  # counts the distinct rows
    shown = algebra.Project(node.inner, seen_by(node))
    return node if compared(shown) is None else algebra.Group(shown, node.keys, node.aggregates)


def joined_parts(node: Node) -> list[Node]:
    """What is joined with each other."""
    return joined_parts(node.left) + joined_parts(node.right) if isinstance(node, algebra.Join) else [node]


def is_scalar(node: Node) -> bool:
    """Whether it always has one row: an aggregate without keys."""
    match node:
        case algebra.Group(_, keys):
            return not keys
        case algebra.Project(inner) | algebra.Extend(inner):
            return is_scalar(inner)
        case _:
            return False


def _is_summary(node: Node) -> bool:
    """Whether it has one row for each of its keys at most."""
    match node:
        case algebra.Group():
            return True
        case algebra.Project(inner) | algebra.Extend(inner):
            return _is_summary(inner)
        case _:
            return False


def _compared(conditions: list[Expression], left: Node, right: Node, variables: tuple[Var, ...]) -> Compared | None:
    ours = visible(left)
    key = tuple(variable for variable in visible(right) if variable in ours)
    theirs = set(visible(right)).difference(key)
    if not (certain(left) & certain(right)).issuperset(key) or theirs & {*variables}:
        return None
    for number, each in enumerate(conditions):
        match each:
            case algebra.Compare(("<" | "<=" | ">" | ">=") as operator, a, b):
                mirrored = b in ours
                value, scalar = (b, a) if mirrored else (a, b)
                if not isinstance(value, str) or value not in ours or not _is_of(theirs, scalar):
                    continue
                rest = conditions[:number] + conditions[number + 1 :]
                rows = _under(rest, left, right, theirs, key)
                if rows is None:
                    return None
                range_ = Range(value, MIRRORED[operator] if mirrored else operator)
                if isinstance(scalar, str):
                    return Compared(rows, right, key, range_, scalar, each)
                told = algebra.Extend(right, _TOLD, scalar)
                return Compared(rows, told, key, range_, _TOLD, algebra.Compare(range_.operator, value, _TOLD))
    return None


def _under(rest: list[Expression], left: Node, right: Node, theirs: set[Var], key: tuple[Var, ...]) -> Node | None:
    """The rows with all other conditions on them. Those that read scalars, too, have them joined once more, if that has
    each row once: so `?low < ?a && ?a < ?high` is two comparisons, one after the other."""
    if any(map(has_exists, rest)):
        return None
    again = [each for each in rest if theirs.intersection(mentioned(each))]
    below = algebra.conjunction(each for each in rest if each not in again)
    rows = left if below is None else algebra.Filter(below, left)
    once_more = algebra.conjunction(again)
    if once_more is None:
        return rows
    if not set(_keys(right)) <= set(key) or any(map(is_momentary, again)):
        return None
    return algebra.Project(algebra.Filter(once_more, algebra.Join(rows, right)), tuple(visible(left)))


def _keys(node: Node) -> tuple[Var, ...]:
    """Those of a summary."""
    match node:
        case algebra.Group(_, keys):
            return keys
        case algebra.Project(inner) | algebra.Extend(inner):
            return _keys(inner)
        case _:
            raise AssertionError("no summary")


def _is_of(scalars: set[Var], expression: Expression) -> bool:
    """Whether an expression reads scalars, and nothing else."""
    read = set(mentioned(expression))
    return bool(read) and read <= scalars and not has_exists(expression)
