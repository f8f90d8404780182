"""Section 18 of the recommendation, word for word: every operator on whole multisets of solutions, nothing clever.

The third opinion: our evaluator must agree with it always, and where pyoxigraph does not, pyoxigraph is at fault.
Expressions and aggregates are ours; they have tests of their own.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, assert_never

from oracles.path_pairs import pairs
from oracles.substitution import substituted
from tidings.model.terms import Quad, Term, Triple
from tidings.sparql.algebra import (
    BGP,
    Dataset,
    Distinct,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    Node,
    OrderBy,
    Path,
    PathPattern,
    Project,
    Service,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from tidings.sparql.evaluate.aggregates import accumulator
from tidings.sparql.evaluate.context import Context, Moment
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.evaluate.expressions import Scope, compile_test, compile_value
from tidings.sparql.evaluate.layout import Layout, Row
from tidings.sparql.values import order_key

Solution: TypeAlias = dict[str, Term]
Graphs: TypeAlias = dict[Term, list[Triple]]


class BottomUp:
    """Evaluates patterns over quads seen through a dataset."""

    def __init__(self, quads: Iterable[Quad], dataset: Dataset) -> None:
        graphs: Graphs = {}
        for s, p, o, g in dict.fromkeys(quads):
            graphs.setdefault(g, []).append((s, p, o))
        default = ("",) if dataset.default is None else dataset.default
        self.default = list(dict.fromkeys(triple for name in default for triple in graphs.get(name, ())))
        wanted = graphs if dataset.named is None else dict.fromkeys(dataset.named)
        self.named: Graphs = {name: graphs[name] for name in wanted if name and name in graphs}
        self._context = Context(View(_NoStore(), dataset), Moment())

    def rows(self, node: Node, variables: Iterable[str]) -> list[Row]:
        """The solutions of a whole pattern, as rows."""
        names = tuple(variables)
        return [tuple(solution.get(name) for name in names) for solution in self.solve(node, self.default)]

    def solve(self, node: Node, graph: list[Triple]) -> list[Solution]:
        match node:
            case BGP(patterns):
                return _bgp(patterns, graph)
            case PathPattern(subject, path, object_):
                return _path(subject, path, object_, graph)
            case Join(left, right):
                return list(_joined(self.solve(left, graph), self.solve(right, graph)))
            case LeftJoin(left, right, condition):
                return self._left_join(self.solve(left, graph), self.solve(right, graph), condition, graph)
            case Union(left, right):
                return self.solve(left, graph) + self.solve(right, graph)
            case Minus(left, right):
                others = self.solve(right, graph)
                return [mu for mu in self.solve(left, graph) if not any(_excludes(mu, other) for other in others)]
            case Filter(condition, inner):
                return [mu for mu in self.solve(inner, graph) if self._holds(condition, mu, graph)]
            case Extend(inner, variable, expression):
                return [self._extended(mu, variable, expression, graph) for mu in self.solve(inner, graph)]
            case Graph(name, inner):
                return self._in_graphs(name, inner)
            case Values(variables, rows):
                return [{v: t for v, t in zip(variables, row, strict=True) if t is not None} for row in rows]
            case Group():
                return self._grouped(node, graph)
            case OrderBy(inner, conditions):
                return self._ordered(self.solve(inner, graph), conditions, graph)
            case Project(inner, variables):
                return [{v: mu[v] for v in variables if v in mu} for mu in self.solve(inner, graph)]
            case Distinct(inner):
                return list({frozenset(mu.items()): mu for mu in reversed(self.solve(inner, graph))}.values())[::-1]
            case Slice(inner, offset, limit):
                return self.solve(inner, graph)[offset : None if limit is None else offset + limit]
            case Service():
                raise NotImplementedError("SERVICE is not part of section 18")
            case _:
                assert_never(node)

    def _scope(self, mu: Solution, graph: list[Triple]) -> Scope:
        def exists(pattern: Node, layout: Layout) -> Callable[[Row], bool]:
            return lambda _: bool(self.solve(substituted(pattern, mu), graph))

        return Scope(Layout(tuple(mu), frozenset(mu)), self._context, exists)

    def _holds(self, condition: Expression, mu: Solution, graph: list[Triple]) -> bool:
        return compile_test(condition, self._scope(mu, graph))(tuple(mu.values())) is True

    def _value(self, expression: Expression, mu: Solution, graph: list[Triple]) -> Term | None:
        return compile_value(expression, self._scope(mu, graph))(tuple(mu.values()))

    def _extended(self, mu: Solution, variable: str, expression: Expression, graph: list[Triple]) -> Solution:
        value = self._value(expression, mu, graph)
        return mu if value is None else {**mu, variable: value}

    def _left_join(
        self, left: list[Solution], right: list[Solution], condition: Expression | None, graph: list[Triple]
    ) -> list[Solution]:
        found: list[Solution] = []
        for mu in left:
            merged = _joined([mu], right)
            kept = [both for both in merged if condition is None or self._holds(condition, both, graph)]
            found.extend(kept or [mu])
        return found

    def _in_graphs(self, name: str, inner: Node) -> list[Solution]:
        if name[0] != "?":
            return self.solve(inner, self.named[name]) if name in self.named else []
        found: list[Solution] = []
        for graph, triples in self.named.items():
            found.extend(_joined(self.solve(inner, triples), [{name: graph}]))
        return found

    def _grouped(self, node: Group, graph: list[Triple]) -> list[Solution]:
        groups: dict[tuple[Term | None, ...], list[Solution]] = {} if node.keys else {(): []}
        for mu in self.solve(node.inner, graph):
            groups.setdefault(tuple(mu.get(key) for key in node.keys), []).append(mu)
        found: list[Solution] = []
        for key, members in groups.items():
            row = {v: t for v, t in zip(node.keys, key, strict=True) if t is not None}
            for variable, aggregate in node.aggregates:
                each = accumulator(aggregate)
                for mu in members:
                    argument = aggregate.argument
                    each.add(repr(sorted(mu.items())) if argument is None else self._value(argument, mu, graph))
                result = each.result()
                if result is not None:
                    row[variable] = result
            found.append(row)
        return found

    def _ordered(
        self, found: list[Solution], conditions: tuple[tuple[Expression, bool], ...], graph: list[Triple]
    ) -> list[Solution]:
        for expression, descending in reversed(conditions):
            keys = {id(mu): order_key(self._value(expression, mu, graph)) for mu in found}
            found = sorted(found, key=lambda mu: keys[id(mu)], reverse=descending)
        return found


class _NoStore:
    """The context of an expression asks for no graph."""

    def graph(self, name: Term) -> None:
        return None

    def names(self) -> tuple[Term, ...]:
        return ()

    def graphs_with(self, s: Term | None, p: Term | None, o: Term | None) -> tuple[Term, ...]:
        return ()

    def spelling(self, term: Term) -> None:
        return None


# -- basic graph patterns and joins -----------------------------------------------------------------------------


def _bgp(patterns: tuple[TriplePattern, ...], graph: list[Triple]) -> list[Solution]:
    found: list[Solution] = [{}]
    for pattern in patterns:
        found = [both for mu in found for triple in graph if (both := _matched(pattern, triple, mu)) is not None]
    return found


def _matched(pattern: TriplePattern, triple: Triple, mu: Solution) -> Solution | None:
    result = dict(mu)
    for part, term in zip(pattern, triple, strict=True):
        if (result.setdefault(part, term) if part[0] == "?" else part) != term:
            return None
    return result


def _joined(left: list[Solution], right: list[Solution]) -> Iterator[Solution]:
    return ({**mu, **other} for mu in left for other in right if _compatible(mu, other))


def _compatible(mu: Solution, other: Solution) -> bool:
    return all(mu[variable] == other[variable] for variable in mu.keys() & other.keys())


def _excludes(mu: Solution, other: Solution) -> bool:
    return bool(mu.keys() & other.keys()) and _compatible(mu, other)


def _path(subject: str, path: Path, object_: str, graph: list[Triple]) -> list[Solution]:
    s, o = (None if end[0] == "?" else end for end in (subject, object_))
    found: list[Solution] = []
    for start, end in pairs(path, graph, s, o):
        mu: Solution = {}
        agrees = all((mu.setdefault(v, t) if v[0] == "?" else v) == t for v, t in ((subject, start), (object_, end)))
        if agrees:
            found.append(mu)
    return found
