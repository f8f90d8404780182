"""Finds EXISTS that asks for a greater value, or a lesser one: `FILTER NOT EXISTS { ?y :v ?w FILTER (?w > ?v) }`.

One comparison by `<` connects the pattern inside with the rows outside, and otherwise at most a key of variables that
both always bind. So the greatest value inside, or the least, decides for all rows with the same key. There may be one
more condition, that the value has another owner (`?y != ?x`), where owners are subjects of triples; or that one alone.
"""

from msgspec import Struct

from tidings.engine.operators.thresholds import Range
from tidings.engine.plans.regrouping.comparisons import MIRRORED
from tidings.engine.plans.regrouping.signs import loose_ends
from tidings.engine.plans.routes import has_exists
from tidings.model.terms import XSD, Term, Var
from tidings.sparql import algebra
from tidings.sparql.algebra import (
    BGP,
    Compare,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Join,
    Node,
    Not,
    PathPattern,
    Project,
    certain,
    conjunction,
    conjuncts,
    matched,
    mentioned,
    visible,
)
from tidings.sparql.evaluate.calls import is_momentary, names_blanks
from tidings.sparql.evaluate.pushing import binds_graph, needs_triples

_OURS: Var = "?:surpassed"
_THEIRS: Var = "?:surpassing"

_ANYTHING: Term = f'"0"^^<{XSD}integer>'
"""The value of every row, if only the owners matter."""


class Surpassing(Struct, frozen=True):
    """The rows that EXISTS filters, and the values inside with which they are compared."""

    rows: Node
    values: Node
    key: tuple[Var, ...]
    """The variables in which a row and the values that it is compared with agree."""
    range: Range
    column: Var
    """The column of the values."""
    apart: tuple[Var, Var] | None
    """The columns of the rows and of the values with their owners, if these have to differ."""
    wanted: bool
    """Whether the surpassed rows pass, or the others."""
    shown: tuple[Var, ...]


def surpassing(node: Filter, graph: str) -> Surpassing | None:
    """A filter by such an EXISTS, with its other conditions below; None if it is not one. Inside GRAPH ?g, the graph
    connects the pattern with the rows, too."""
    conditions = [] if graph[:1] == "?" else list(conjuncts(node.condition))
    for number, each in enumerate(conditions):
        wanted = isinstance(each, Exists)
        asked = each.inner if isinstance(each, Not) else each
        if isinstance(asked, Exists):
            rest = conjunction(conditions[:number] + conditions[number + 1 :])
            rows = node.inner if rest is None else Filter(rest, node.inner)
            found = _surpassing(rows, asked.pattern, wanted=wanted)
            if found is not None:
                return found
    return None


def _surpassing(rows: Node, pattern: Node, *, wanted: bool) -> Surpassing | None:
    inside = filter_of(pattern)
    if inside is None or not is_plain(inside.inner):
        return None
    ours, theirs = visible(rows), visible(inside.inner)
    shared = tuple(variable for variable in theirs if variable in ours)
    if not (certain(rows) & certain(inside.inner)).issuperset(shared):
        return None
    conditions = list(conjuncts(inside.condition))
    if any(has_exists(each) or is_momentary(each) or names_blanks(each) for each in conditions):
        return None
    across = [each for each in conditions if not set(mentioned(each)) <= theirs.keys()]
    ranges = [found for each in across if (found := _compared(each, ours, theirs)) is not None]
    others = [pair for each in across if (pair := _apart(each, rows, inside.inner)) is not None]
    if len(ranges) + len(others) != len(across) or len(ranges) > 1 or len(others) > 1:
        return None
    if not ranges and (shared or not others):  # with a key, other owners are looked up
        return None
    value, operator, other = ranges[0] if ranges else (_ANYTHING, "<=", _ANYTHING)
    below = conjunction(each for each in conditions if each not in across)
    apart = others[0] if others else None
    values = inside.inner if below is None else Filter(below, inside.inner)
    column = value if isinstance(value, str) and value[0] == "?" else _OURS
    with_value = rows if column == value else Extend(rows, _OURS, value)
    return Surpassing(
        with_value,
        Project(Extend(values, _THEIRS, other), (*shared, *(() if apart is None else apart[1:]), _THEIRS)),
        shared,
        Range(column, operator),
        _THEIRS,
        apart,
        wanted,
        tuple(ours),
    )


def _compared(
    condition: Expression, ours: dict[Var, None], theirs: dict[Var, None]
) -> tuple[Expression, algebra.Comparator, Expression] | None:
    """A condition as a comparison of the rows with the pattern inside; None if it is not one."""
    match condition:
        case Compare(("<" | "<=" | ">" | ">=") as operator, left, right):
            if _reads(left, ours) and _reads(right, theirs):
                return left, operator, right
            if _reads(right, ours) and _reads(left, theirs):
                return right, MIRRORED[operator], left
    return None


def _apart(condition: Expression, rows: Node, inside: Node) -> tuple[Var, Var] | None:
    """The owners that a condition requires to differ: a variable of the rows alone, and one of the pattern alone. Both
    are subjects of matched triples, so that `!=` asks for different terms."""
    match condition:
        case Compare("!=", str() as left, str() as right):
            for ours, theirs in ((left, right), (right, left)):
                is_plain = ours not in visible(inside) and theirs not in visible(rows)
                if is_plain and _is_name(ours, rows) and _is_name(theirs, inside):
                    return ours, theirs
    return None


def _is_name(variable: Var, node: Node) -> bool:
    return variable[0] == "?" and any(subject == variable for subject, _, _, _ in matched(node, ""))


def _reads(expression: Expression, variables: dict[Var, None]) -> bool:
    """Whether an expression reads some of these variables, and no others."""
    read = set(mentioned(expression))
    return bool(read) and read <= variables.keys()


def filter_of(pattern: Node) -> Filter | None:
    """A pattern as a filter, if it is one, or GRAPH around one; otherwise None."""
    match pattern:
        case Filter():
            return pattern
        case Graph(name, Filter(condition, inner)) if name not in mentioned(condition):
            holds_all = binds_graph(inner, name) if name[0] == "?" else needs_triples(inner)
            return Filter(condition, Graph(name, inner)) if holds_all else None
        case _:
            return None


def is_plain(node: Node) -> bool:
    """Whether a pattern has the same solutions if values from outside replace its variables as if it were joined with
    them. A path of zero steps has not: it leads from a value to itself, even if its graph does not have that value."""
    return _is_joined(node) and next(loose_ends(node, ""), None) is None


def _is_joined(node: Node) -> bool:
    match node:
        case BGP() | PathPattern():
            return True
        case Join(left, right):
            return _is_joined(left) and _is_joined(right)
        case Filter(condition, inner):
            is_settled = certain(inner).issuperset(mentioned(condition))
            return is_settled and not (has_exists(condition) or is_momentary(condition)) and _is_joined(inner)
        case Graph(name, inner):
            return (binds_graph(inner, name) if name[0] == "?" else needs_triples(inner)) and _is_joined(inner)
        case _:
            return False
