"""Rows compared with what a sub-SELECT says for all of them, or for all that agree in something, and nobody sees:
`?a > ?m * 2`, where one row says ?m for all, or one for each city. Or with what other patterns say that nothing else
connects with them, such as a limit or a time that is itself data: `:c :limit ?l . ?x :value ?v FILTER (?v > ?l)`."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import reduce

from msgspec import Struct

from tidings.engine.operators.thresholds import Range
from tidings.engine.plans.regrouping.path_groups import connected_parts
from tidings.engine.plans.routes import has_exists
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Expression, Node, certain, mentioned, visible
from tidings.sparql.evaluate.calls import is_momentary

MIRRORED: dict[str, algebra.Comparator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

_TOLD: Var = "?:told"
"""What is made of scalars before rows are compared with it."""

_COMPARED: Var = "?:compared"
"""What is made of rows before."""


class Compared(Struct, frozen=True):
    """π over rows and scalars: the rows, with all other conditions on them, and how they compare with the scalars."""

    rows: Node
    scalars: Node
    key: tuple[Var, ...]
    """What a row and the scalar that it is compared with agree in."""
    range: Range
    scalar: Var
    condition: Expression
    is_summary: bool
    """Whether the scalars are aggregates, and not just patterns that nothing connects with the rows."""


def compared(node: Node) -> Compared | None:
    """A projection as such a comparison; None if it is none."""
    match node:
        case algebra.Project(algebra.Filter(condition, (algebra.Join() | algebra.BGP()) as joined), variables):
            conditions = list(algebra.conjuncts(condition))
            candidates = [*_beside_summaries(joined), *_apart(joined)]
            found = (_compared(conditions, rows, scalars, variables) for rows, scalars in candidates)
            return next((each for each in found if each is not None), None)
    return None


def _beside_summaries(joined: Node) -> Iterator[tuple[Node, Node]]:
    """Rows, and a summary that they are joined with."""
    parts = joined_parts(joined)
    for number, part in enumerate(parts):
        if _is_summary(part) and len(parts) > 1:
            yield reduce(algebra.Join, parts[:number] + parts[number + 1 :]), part


def _apart(joined: Node) -> Iterator[tuple[Node, Node]]:
    """Two patterns that share no variable, either as the rows; what says the least is a scalar first."""
    parts = connected_parts(joined)
    if len(parts) == 2:
        parts.sort(key=lambda part: len(visible(part)))
        yield parts[1], parts[0]
        yield parts[0], parts[1]


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
                mirrored = _is_of(theirs, a)
                value, scalar = (b, a) if mirrored else (a, b)
                if not _is_of(ours.keys(), value) or not _is_of(theirs, scalar):
                    continue
                rest = conditions[:number] + conditions[number + 1 :]
                rows = _under(rest, left, right, theirs, key)
                if rows is None:
                    return None
                rows, value = _named(rows, value, _COMPARED)
                right, scalar = _named(right, scalar, _TOLD)
                range_ = Range(value, MIRRORED[operator] if mirrored else operator)
                condition = algebra.Compare(range_.operator, value, scalar)
                return Compared(rows, right, key, range_, scalar, condition, _is_summary(right))
    return None


def _named(node: Node, expression: Expression, name: Var) -> tuple[Node, Var]:
    """A pattern in which a variable has the value of an expression; and that variable."""
    return (node, expression) if isinstance(expression, str) else (algebra.Extend(node, name, expression), name)


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
    if not (_is_summary(right) and set(_keys(right)) <= set(key)) or any(map(is_momentary, again)):
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


def _is_of(variables: AbstractSet[Var], expression: Expression) -> bool:
    """Whether an expression reads some of these variables, and nothing else."""
    read = set(mentioned(expression))
    return bool(read) and read <= variables and not has_exists(expression)
