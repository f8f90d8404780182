"""Finds rows that are compared with scalars which the query does not show.

A sub-SELECT may compute the scalar, for all rows or for those that agree in a key: `?a > ?m * 2`, with one ?m for all
rows, or one for each city. Or it is in patterns that nothing but the comparison connects with the rows, such as a limit
or a time that is itself data: `:c :limit ?l . ?x :value ?v FILTER (?v > ?l)`.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import reduce
from typing import TypeAlias

from msgspec import Struct

from tidings.engine.operators.thresholds import Range
from tidings.engine.plans.regrouping.path_groups import connected_parts
from tidings.engine.plans.routes import has_exists
from tidings.model.terms import Term, Var
from tidings.sparql import algebra
from tidings.sparql.algebra import Expression, Node, certain, mentioned, visible
from tidings.sparql.evaluate.calls import is_momentary, names_blanks

MIRRORED: dict[str, algebra.Comparator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

NO_VALUE: Term = '""^^<urn:tidings:none>'
"""Stands for a missing value: no value in the data is equal to it, or can be compared with it by `<`."""

Across: TypeAlias = tuple[Expression, algebra.Comparator, Expression]
"""A comparison: an expression over the rows, the comparator, an expression over the scalars."""

_TOLD = "?:told"
"""Begins the names of variables for expressions over the scalars."""

_COMPARED = "?:compared"
"""Begins the names of variables for expressions over the rows."""


class Compared(Struct, frozen=True):
    """Rows, scalars, and the comparisons between them. All other conditions are part of the rows or the scalars."""

    rows: Node
    scalars: Node
    key: tuple[Var, ...]
    """The variables in which a row and the scalar that it is compared with agree."""
    comparisons: tuple[tuple[Range, Var], ...]
    """The comparisons of columns of the rows, each with the column of the scalars on its other side."""
    is_any: bool
    """Whether one comparison is enough, or all have to hold."""
    is_summary: bool
    """Whether the scalars are computed by a group, and not just patterns that nothing else connects with the rows."""

    @property
    def condition(self) -> Expression:
        """The comparisons as one condition."""
        each: list[Expression] = [
            algebra.Compare(range_.operator, range_.variable, scalar) for range_, scalar in self.comparisons
        ]
        return reduce(algebra.Or if self.is_any else algebra.And, each)


def compared(node: Node) -> Compared | None:
    """A projection as such a comparison; None if it is not one, or if its condition depends on the moment."""
    match node:
        case algebra.Project(algebra.Filter(condition, (algebra.Join() | algebra.BGP()) as joined), variables) if (
            not is_momentary(condition)
        ):
            conditions = list(algebra.conjuncts(condition))
            candidates = [*_beside_summaries(joined), *_apart(joined)]
            found = (_compared(conditions, rows, scalars, variables) for rows, scalars in candidates)
            return next((each for each in found if each is not None), None)
    return None


def _beside_summaries(joined: Node) -> Iterator[tuple[Node, Node]]:
    """The ways to split a join into rows and one summary."""
    parts = joined_parts(joined)
    for number, part in enumerate(parts):
        if _is_summary(part) and len(parts) > 1:
            yield reduce(algebra.Join, parts[:number] + parts[number + 1 :]), part


def _apart(joined: Node) -> Iterator[tuple[Node, Node]]:
    """The ways to split a join into rows and scalars that share no variable: the part with the most variables as rows
    or, if there are two parts, the other one as well."""
    parts = sorted(connected_parts(joined), key=lambda part: len(visible(part)))
    if len(parts) > 1:
        yield parts[-1], reduce(algebra.Join, parts[:-1])
    if len(parts) == 2:
        yield parts[0], parts[1]


def seen_by(node: algebra.Group) -> tuple[Var, ...]:
    """The variables that the keys and the aggregates of a group read."""
    read = [variable for _, aggregate in node.aggregates for variable in mentioned(aggregate)]
    return tuple(dict.fromkeys((*node.keys, *read)))


def grouped_as_seen(node: algebra.Group) -> algebra.Group:
    """A group over its pattern as it is seen by the group."""
    if any(shape.argument is None and shape.distinct for _, shape in node.aggregates):
        return node  # COUNT(DISTINCT *) reads whole rows
    inner = as_seen(node.inner, frozenset(seen_by(node)))
    return node if inner is node.inner else algebra.Group(inner, node.keys, node.aggregates)


def as_seen(node: Node, seen: AbstractSet[Var], parameters: AbstractSet[Var] = frozenset()) -> Node:
    """A pattern in which rows that are compared with scalars are projected to the variables that others read. This
    hides the scalars, so that a change of one concerns only the rows that it passes. The pattern itself, if it has no
    such rows.

    Only the variables `seen` are read of the pattern. Inner parts keep the parameters, too, because these tell the
    members of rows apart. Expressions that depend on the moment, or name blank nodes after all variables of a row,
    prevent the rewrite."""
    if any(is_momentary(each) or names_blanks(each) for each in algebra.expressions(node)):
        return node
    match node:
        case algebra.Filter():
            shown = algebra.Project(node, tuple(variable for variable in visible(node) if variable in seen))
            if compared(shown) is not None:
                return shown
        case algebra.Minus(left, right):
            inside = as_seen(right, visible(left).keys())
            node = node if inside is right else algebra.Minus(left, inside)
        case algebra.LeftJoin(left, right, condition) if condition and certain(right).issuperset(mentioned(condition)):
            inside = as_seen(algebra.Filter(condition, right), {*seen, *visible(left)})
            node = algebra.LeftJoin(left, inside, None) if isinstance(inside, algebra.Project) else node
    read = {variable for each in algebra.expressions(node) for variable in mentioned(each)}
    known = {*seen, *parameters, *read}
    match node:
        case algebra.Filter() | algebra.Extend() | algebra.Union():
            return algebra.rebuilt(node, lambda inner: as_seen(inner, known))
        case algebra.Join(left, right) | algebra.LeftJoin(left, right):
            inner = as_seen(left, known | visible(right).keys())
            other = as_seen(right, known | visible(left).keys())
            return algebra.rebuilt(node, lambda part: inner if part is left else other)
        case algebra.Minus(left, right):
            inner = as_seen(left, known | visible(right).keys())
            return algebra.rebuilt(node, lambda part: inner if part is left else right)
        case _:
            return node


def joined_parts(node: Node) -> list[Node]:
    """The parts of a join, however it is nested."""
    return joined_parts(node.left) + joined_parts(node.right) if isinstance(node, algebra.Join) else [node]


def is_scalar(node: Node) -> bool:
    """Whether a pattern always has exactly one row, as an aggregate without keys has."""
    match node:
        case algebra.Group(_, keys):
            return not keys
        case algebra.Project(inner) | algebra.Extend(inner):
            return is_scalar(inner)
        case _:
            return False


def _is_summary(node: Node) -> bool:
    """Whether a pattern has at most one row for each key of a group."""
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
    across: list[Across] = []
    either: list[Across] = []
    for each in conditions:
        found = _across(each, ours.keys(), theirs)
        if found is not None:
            across.append(found)
        elif not either and (found_either := _either(each, ours.keys(), theirs)):
            either = found_either
        elif theirs.isdisjoint(mentioned(each)):
            rows = algebra.Filter(each, rows)
        elif visible(right).keys() >= set(mentioned(each)):
            scalars = algebra.Filter(each, scalars)
        else:
            return None
    if bool(across) is bool(either):
        return None
    comparisons = []
    for number, (compared_, operator, told) in enumerate(across or either):
        rows, value = _named(rows, compared_, f"{_COMPARED}{number}", always=bool(either))
        scalars, scalar = _named(scalars, told, f"{_TOLD}{number}", always=bool(either))
        comparisons.append((Range(value, operator), scalar))
    return Compared(rows, scalars, key, tuple(comparisons), bool(either), is_summary)


def _either(condition: Expression, ours: AbstractSet[Var], theirs: AbstractSet[Var]) -> list[Across]:
    """The comparisons that a condition combines by `||`; empty if it has any other part."""
    if not isinstance(condition, algebra.Or):
        return []
    found: list[Across] = []
    for part in (condition.left, condition.right):
        one = _across(part, ours, theirs)
        several = _either(part, ours, theirs) if one is None else [one]
        if not several:
            return []
        found += several
    return found


def _across(condition: Expression, ours: AbstractSet[Var], theirs: AbstractSet[Var]) -> Across | None:
    """A condition as a comparison of the rows with the scalars; None if it is not one."""
    match condition:
        case algebra.Compare(("<" | "<=" | ">" | ">=") as operator, a, b):
            if _is_of(ours, a) and _is_of(theirs, b):
                return a, operator, b
            if _is_of(theirs, a) and _is_of(ours, b):
                return b, MIRRORED[operator], a
    return None


def _named(node: Node, expression: Expression, name: Var, *, always: bool) -> tuple[Node, Var]:
    """A pattern in which a variable has the value of an expression, and that variable. With `always`, it is bound in
    every solution: to NO_VALUE if the expression has no value."""
    if isinstance(expression, str) and not (always and expression not in certain(node)):
        return node, expression
    value = algebra.Call("COALESCE", (expression, NO_VALUE)) if always else expression
    return algebra.Extend(node, name, value), name


def _is_of(variables: AbstractSet[Var], expression: Expression) -> bool:
    """Whether an expression reads some of these variables, and nothing else."""
    read = set(mentioned(expression))
    return bool(read) and read <= variables and not has_exists(expression)
