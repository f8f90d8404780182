"""Lifts constants out of queries, so that queries which differ only in these share one plan; and renames variables.

Liftable are the subjects and objects of one basic graph pattern on the spine of the query. Every solution has them, so
the parameter columns of a row in the shared plan tell its member. All other constants stay: queries that differ in
those have different plans.
"""

from collections.abc import Callable
from itertools import count
from typing import TypeVar, cast

from msgspec import Struct

from tidings.engine.operators.thresholds import Range
from tidings.model.terms import RDF_TYPE, Term, Var
from tidings.sparql import algebra
from tidings.sparql.algebra import BGP, Aggregate, Exists, Node, Query, TriplePattern
from tidings.sparql.evaluate.pushing import binds_graph
from tidings.sparql.rewrite.constants import reveal_constants

Q = TypeVar("Q", bound=Struct)
N = TypeVar("N", bound=Node)

_MIRRORED: dict[str, algebra.Comparator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Lifted(Struct, frozen=True):
    """A query with parameters `?$…`, and for each of them the number of the lifted constant it stands for.

    If there is a range, the query does not test its condition, but shows its variable; the number of the threshold is
    the last one.
    """

    query: Query
    parameters: tuple[Var, ...]
    numbers: tuple[int, ...]
    range: Range | None = None


def map_terms(value: Q, change: Callable[[str], str]) -> Q:
    """The same structure with every term and variable in it changed."""
    return cast(Q, _map(value, change))


def _map(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value) if value[:1] in {"?", "$"} else value
    if isinstance(value, tuple):
        return tuple([_map(each, change) for each in value])
    if isinstance(value, Aggregate):
        argument = None if value.argument is None else _map(value.argument, change)
        return Aggregate(value.function, cast(algebra.Expression | None, argument), value.distinct, value.separator)
    if isinstance(value, Struct):
        return type(value)(*[_map(getattr(value, name), change) for name in value.__struct_fields__])
    return value


def with_constants(query: Q, values: tuple[Term, ...]) -> Q:
    """A query with its lifted constants put back."""
    return map_terms(query, lambda term: values[int(term[2:])] if term[0] == "$" else term)


def lift(query: Query, *, classes: bool = False) -> Lifted:
    """Make parameters of the liftable constants (`$...`). Classes stay constants, because they hardly ever differ,
    unless `classes`."""
    pattern = _nested_extends(reveal_constants(query.pattern))
    if not classes:
        pattern = _with_classes(pattern)
    open_ended = _range(query, pattern)
    if open_ended is not None:
        opened, condition, number = open_ended
        lifted = _parametrised(opened, opened.pattern)
        return Lifted(lifted.query, lifted.parameters, (*lifted.numbers, number), condition)
    return _parametrised(query, pattern)


def _parametrised(query: Query, pattern: Node) -> Lifted:
    core = _core(pattern)
    if core is None:
        return Lifted(algebra.with_pattern(query, pattern), (), ())
    connected = _connected(core.patterns)
    found = dict.fromkeys(t for s, _, o in connected for t in (s, o) if _is_liftable(t))
    names = {term: f"?{term}" for term in found}
    raised = BGP(
        tuple(
            (names.get(s, s), p, names.get(o, o)) if (s, p, o) in connected else (s, p, o) for s, p, o in core.patterns
        )
    )
    pattern = _replaced(pattern, core, raised, names)
    return Lifted(algebra.with_pattern(query, pattern), tuple(names.values()), tuple(int(term[2:]) for term in found))


def _connected(patterns: tuple[TriplePattern, ...]) -> list[TriplePattern]:
    """The patterns that are connected, by variables or constants, with the first one that has a constant. Others may be
    connected with it only by a path, and then neither side of the path would have all parameters."""
    found = [next(pattern for pattern in patterns if _is_liftable(pattern[0]) or _is_liftable(pattern[2]))]
    known = set(_joining(found[0]))
    waiting = [pattern for pattern in patterns if pattern not in found]
    while meeting := [pattern for pattern in waiting if known.intersection(pattern)]:
        found += meeting
        known.update(term for pattern in meeting for term in _joining(pattern))
        waiting = [pattern for pattern in waiting if pattern not in meeting]
    return found


def _joining(pattern: TriplePattern) -> list[str]:
    """The variables and constants that may connect a pattern with others; a predicate does not."""
    s, p, o = pattern
    return [term for term in (s, p, o) if term[0] == "?"] + [term for term in (s, o) if _is_liftable(term)]


def _range(query: Query, pattern: Node) -> tuple[Query, Range, int] | None:
    """A SELECT with `FILTER(?x > number)` directly under its projection, rewritten without the filter and with ?x."""
    match pattern:
        case algebra.Project(algebra.Filter(condition, inner), variables) if isinstance(query, algebra.Select):
            conditions = list(algebra.conjuncts(condition))
        case _:
            return None
    sure = algebra.certain(inner)
    for at, each in enumerate(conditions):
        found = _bound(each)
        if found is not None and found[0].variable in sure:
            rest = algebra.conjunction(conditions[:at] + conditions[at + 1 :])
            below = inner if rest is None else algebra.Filter(rest, inner)
            shown = tuple(dict.fromkeys((*variables, found[0].variable)))
            return algebra.Select(algebra.Project(below, shown), shown, query.dataset), *found
    return None


def _bound(condition: algebra.Expression) -> tuple[Range, int] | None:
    match condition:
        case algebra.Compare(("<" | "<=" | ">" | ">=") as operator, str() as left, str() as right):
            if left[0] == "?" and right[:2] == "$n":
                return Range(left, operator), int(right[2:])
            if right[0] == "?" and left[:2] == "$n":
                return Range(right, _MIRRORED[operator]), int(left[2:])
    return None


def _is_liftable(term: str) -> bool:
    """Whether a constant can be a parameter. Language-tagged literals cannot: they match other spellings, too."""
    return term[0] == "$" and term[1] not in "xc"


def _with_classes(node: Node) -> Node:
    """Marks the classes in `?x a :Lamp` as `$c` if there are other patterns, so that they do not become parameters."""
    match node:
        case BGP(patterns) if len(patterns) > 1:
            return BGP(tuple((s, p, f"$c{o[2:]}" if p == RDF_TYPE and o[:2] == "$i" else o) for s, p, o in patterns))
        case _:
            return algebra.rebuilt(node, _with_classes)


def _nested_extends(node: Node) -> Node:
    """Rewrites `{BIND(c AS ?x)} ⋈ P` to `P` with the BIND behind it, where c may become a parameter of P."""
    node = algebra.rebuilt(node, _nested_extends)
    match node:
        case algebra.Join(algebra.Extend(BGP(()), variable, str() as term), inner) if term[0] != "?":
            if variable not in algebra.visible(inner):
                return algebra.Extend(inner, variable, term)
    return node


def _core(node: Node, top: bool = True) -> BGP | None:
    """The first basic graph pattern with constants on the spine, but not inside a sub-SELECT, which would hide them."""
    match node:
        case BGP(patterns):
            return node if any(map(_is_liftable, (t for s, _, o in patterns for t in (s, o)))) else None
        case algebra.Join(left, right):
            return _core(left, False) or _core(right, False)
        case algebra.LeftJoin(left, _) | algebra.Minus(left, _):
            return _core(left, False)
        case algebra.Graph(name, inner) if name[0] != "?" or binds_graph(inner, name):
            return _core(inner, False)
        case algebra.Filter(_, inner) | algebra.Extend(inner):
            return _core(inner, top)
        case algebra.Project(inner):
            return _core(inner, False) if top else None
        case algebra.Distinct(inner) | algebra.OrderBy(inner) | algebra.Slice(inner):
            return _core(inner, top)
        case algebra.Group(inner):
            return _core(inner, False)
        case _:
            return None


def _replaced(node: Node, core: BGP, raised: BGP, names: dict[str, Var]) -> Node:
    """The spine with the raised pattern in place of its core. BINDs of a lifted constant read the parameter."""
    if node is core:
        return raised
    changed = algebra.rebuilt(node, lambda inner: _replaced(inner, core, raised, names))
    match changed:
        case algebra.Extend(inner, variable, str() as term) if changed is not node and term in names:
            return algebra.Extend(inner, variable, names[term])
    return changed


def canonical(query: Q, kinds: str = ":$v") -> tuple[Q, dict[Var, Var]]:
    """The query with its variables renamed in order of appearance, so that names make no difference; and the names.

    There are made-up variables (`:`), parameters (`$`) and those of the text (`v`); only the given kinds are renamed.
    """
    names: dict[Var, Var] = {}
    counters = {kind: count() for kind in kinds}

    def rename(term: str) -> str:
        if term[0] != "?":
            return term
        if term not in names:
            kind = term[1] if term[1:2] in {":", "$"} else "v"
            names[term] = f"?{kind}{next(counters[kind])}" if kind in counters else term
        return names[term]

    return map_terms(query, rename), names


def inside_exists(value: N, change: Callable[[Node], Node]) -> N:
    """The same structure with every pattern inside EXISTS changed, the innermost first."""
    return cast(N, _inside_exists(value, change))


def _inside_exists(value: object, change: Callable[[Node], Node]) -> object:
    if isinstance(value, Exists):
        return Exists(change(inside_exists(value.pattern, change)))
    if isinstance(value, tuple):
        return tuple([_inside_exists(each, change) for each in value])
    if isinstance(value, Struct):
        return type(value)(*[_inside_exists(getattr(value, name), change) for name in value.__struct_fields__])
    return value


def ordered_slices(node: Node) -> Node:
    """Gives every slice an order, even an empty one, so that the rows it takes do not depend on the plan. Removes all
    other orders, because the answer of a subscription is a multiset.
    """
    return _ordered_slices(inside_exists(node, _ordered_slices))


def _ordered_slices(node: Node) -> Node:
    match node:
        case algebra.Slice(inner, offset, limit):
            return algebra.Slice(_ordered(inner), offset, limit)
        case algebra.OrderBy(inner):
            return _ordered_slices(inner)
        case _:
            return algebra.rebuilt(node, _ordered_slices)


def _ordered(node: Node) -> Node:
    match node:
        case algebra.Distinct() | algebra.Project():
            return algebra.rebuilt(node, _ordered)
        case algebra.OrderBy(inner, conditions):
            return algebra.OrderBy(_ordered_slices(inner), conditions)
        case _:
            return algebra.OrderBy(_ordered_slices(node), ())
