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

MIRRORED: dict[str, algebra.Comparator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

_TOLD = "?:told"
"""What is made of scalars before rows are compared with it."""

_COMPARED = "?:compared"
"""What is made of rows before."""


class Compared(Struct, frozen=True):
    """π over rows and scalars: the rows, with all other conditions on them, and how they compare with the scalars."""

    rows: Node
    scalars: Node
    key: tuple[Var, ...]
    """What a row and the scalar that it is compared with agree in."""
    comparisons: tuple[tuple[Range, Var], ...]
    """How a column of the rows has to compare with one of the scalars; all of them at once."""
    is_summary: bool
    """Whether the scalars are aggregates, and not just patterns that nothing connects with the rows."""

    @property
    def condition(self) -> Expression:
        """What all comparisons say."""
        each: list[Expression] = [
            algebra.Compare(range_.operator, range_.variable, scalar) for range_, scalar in self.comparisons
        ]
        return reduce(algebra.And, each)


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
    """Patterns that share no variable: that which says the most as the rows, or, of two, the other one as well."""
    parts = sorted(connected_parts(joined), key=lambda part: len(visible(part)))
    if len(parts) > 1:
        yield parts[-1], reduce(algebra.Join, parts[:-1])
    if len(parts) == 2:
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
    if (
        not (certain(left) & certain(right)).issuperset(key)
        or theirs & {*variables}
        or any(map(has_exists, conditions))
    ):
        return None
    rows, scalars, is_summary = left, right, _is_summary(right)
    across: list[tuple[Expression, algebra.Comparator, Expression]] = []
    for each in conditions:
        found = _across(each, ours.keys(), theirs)
        if found is not None:
            across.append(found)
        elif theirs.isdisjoint(mentioned(each)):
            rows = algebra.Filter(each, rows)
        elif visible(right).keys() >= set(mentioned(each)):
            scalars = algebra.Filter(each, scalars)
        else:
            return None
    comparisons = []
    for number, (compared_, operator, told) in enumerate(across):
        rows, value = _named(rows, compared_, f"{_COMPARED}{number}")
        scalars, scalar = _named(scalars, told, f"{_TOLD}{number}")
        comparisons.append((Range(value, operator), scalar))
    return Compared(rows, scalars, key, tuple(comparisons), is_summary) if comparisons else None


def _across(
    condition: Expression, ours: AbstractSet[Var], theirs: AbstractSet[Var]
) -> tuple[Expression, algebra.Comparator, Expression] | None:
    """What of the rows a condition compares with what of the scalars, and how."""
    match condition:
        case algebra.Compare(("<" | "<=" | ">" | ">=") as operator, a, b):
            if _is_of(ours, a) and _is_of(theirs, b):
                return a, operator, b
            if _is_of(theirs, a) and _is_of(ours, b):
                return b, MIRRORED[operator], a
    return None


def _named(node: Node, expression: Expression, name: Var) -> tuple[Node, Var]:
    """A pattern in which a variable has the value of an expression; and that variable."""
    return (node, expression) if isinstance(expression, str) else (algebra.Extend(node, name, expression), name)


def _is_of(variables: AbstractSet[Var], expression: Expression) -> bool:
    """Whether an expression reads some of these variables, and nothing else."""
    read = set(mentioned(expression))
    return bool(read) and read <= variables and not has_exists(expression)
