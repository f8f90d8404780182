"""A negated property set, one step along any predicate but some:  Δ = the changed triples, each a path of its own."""

from collections.abc import Iterator

from tidings.engine.operators.base import ANY_TRIPLE, Changes, Explanation, Hits, Route, Stateless, States, shown
from tidings.model.terms import Quad, Term, fold, is_tagged
from tidings.model.zset import add
from tidings.sparql.algebra import Negated, PathPattern
from tidings.sparql.evaluate.layout import Layout


class NegatedStep(Stateless):
    """A negated property set inside one active graph; nothing is looked up."""

    __slots__ = ("_path", "_pattern", "_states", "layout", "routes")

    def __init__(self, pattern: PathPattern, path: Negated, states: States) -> None:
        self._pattern = pattern
        self._path = path
        self._states = states
        graph = states.graph
        self.routes = tuple(Route(each, graph) for each in watched(pattern, path))
        variables = dict.fromkeys(t for t in (pattern.subject, pattern.object, graph) if t[:1] == "?")
        self.layout = Layout(tuple(variables), frozenset(variables))

    def delta(self, hits: Hits) -> Changes:
        changed = {item for route in self.routes for item in hits.get(route, ())}
        s, o, g = self._pattern.subject, self._pattern.object, self._states.graph
        variables = self.layout.variables
        changes: Changes = {}
        for quad, weight in changed:
            for start, end in self._ways(quad):
                found = {g: quad[3]}
                if _agrees(found, s, start) and _agrees(found, o, end):
                    add(changes, tuple([found[variable] for variable in variables]), weight)
        return changes

    def _ways(self, quad: Quad) -> Iterator[tuple[Term, Term]]:
        s, p, o, _ = quad
        forward, backward = self._path.forward, self._path.backward
        if forward is not None and p not in forward:
            yield s, o
        if backward is not None and p not in backward:
            yield o, s

    def explain(self) -> Explanation:
        ends = f"{shown(self._pattern.subject)} … {shown(self._pattern.object)}"
        return Explanation("step", f"{ends}, the changed triples themselves", True)


def watched(pattern: PathPattern, path: Negated) -> list[tuple[str, str, str]]:
    """The patterns of the triples that may be such a step, in either direction; constant ends are part of them."""
    s, o = pattern.subject, pattern.object
    if s[0] == "?" and o[0] == "?":
        return [ANY_TRIPLE]
    any_s, any_p, any_o = ANY_TRIPLE
    ends = s if s[0] != "?" else any_s, o if o[0] != "?" else any_o
    ways = [ends] if path.forward is not None else []
    if path.backward is not None:
        ways.append((o if o[0] != "?" else any_s, s if s[0] != "?" else any_o))
    return [(start, any_p, end) for start, end in dict.fromkeys(ways)]


def _agrees(found: dict[str, Term], part: str, term: Term) -> bool:
    """Whether a term is equal to a constant, or to the value of a variable in `found`; adds it if there is none yet."""
    if part[0] == "?":
        return found.setdefault(part, term) == term
    return part == term or (is_tagged(part) and is_tagged(term) and fold(part) == fold(term))
