"""Rows compared with a scalar of a sub-SELECT that nobody sees: `?a > ?m * 2`, where one row says ?m for all."""

from msgspec import Struct

from tidings.engine.operators.thresholds import Range
from tidings.engine.plans.routes import has_exists
from tidings.model.terms import Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Expression, Node, certain, mentioned, visible

MIRRORED: dict[str, algebra.Comparator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

_TOLD: Var = "?:told"
"""What is made of scalars before rows are compared with it."""


class Compared(Struct, frozen=True):
    """π over rows and a scalar: the rows, with all other conditions on them, and how they compare with the scalar."""

    rows: Node
    scalars: Node
    range: Range
    scalar: Var
    condition: Expression


def compared(node: Node) -> Compared | None:
    """A projection as such a comparison; None if it is none."""
    match node:
        case algebra.Project(algebra.Filter(condition, algebra.Join(left, right)), variables):
            if _is_scalar(left):
                left, right = right, left
            if not _is_scalar(right) or set(visible(right)) & {*visible(left), *variables}:
                return None
            return _compared(list(algebra.conjuncts(condition)), left, right)
        case _:
            return None


def _is_scalar(node: Node) -> bool:
    """Whether it always has one row: an aggregate without keys."""
    match node:
        case algebra.Group(_, keys):
            return not keys
        case algebra.Project(inner) | algebra.Extend(inner):
            return _is_scalar(inner)
        case _:
            return False


def _compared(conditions: list[Expression], left: Node, right: Node) -> Compared | None:
    ours, theirs = certain(left), set(visible(right))
    for number, each in enumerate(conditions):
        match each:
            case algebra.Compare(("<" | "<=" | ">" | ">=") as operator, a, b):
                mirrored = b in ours
                value, scalar = (b, a) if mirrored else (a, b)
                if not isinstance(value, str) or value not in ours or not _is_of(theirs, scalar):
                    continue
                rest = conditions[:number] + conditions[number + 1 :]
                if any(has_exists(other) or theirs & set(mentioned(other)) for other in rest):
                    return None
                below = algebra.conjunction(rest)
                rows = left if below is None else algebra.Filter(below, left)
                range_ = Range(value, MIRRORED[operator] if mirrored else operator)
                if isinstance(scalar, str):
                    return Compared(rows, right, range_, scalar, each)
                told = algebra.Extend(right, _TOLD, scalar)
                return Compared(rows, told, range_, _TOLD, algebra.Compare(range_.operator, value, _TOLD))
    return None


def _is_of(scalars: set[Var], expression: Expression) -> bool:
    """Whether an expression reads scalars, and nothing else."""
    read = set(mentioned(expression))
    return bool(read) and read <= scalars and not has_exists(expression)
