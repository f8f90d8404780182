"""Property paths:  Δ = paths after the commit - paths before it, from the starts that reach a changed edge.

Whether a path leads from x to y can change only if x reaches a changed edge from which y is reached. The operator finds
these x by walking backwards from the start of the edge, in both states, and these y by walking on from its end. Then it
walks between them from either side in turns, before and after, until one side is done.
"""

from collections.abc import Collection, Iterable, Iterator

from tidings.engine.operators.base import ANY_TRIPLE, Changes, Explanation, Hits, Route, Stateless, States, shown
from tidings.engine.operators.law import Law
from tidings.engine.operators.reach.turns import Walk, by_turns
from tidings.model.terms import Quad, Term, fold, is_tagged
from tidings.model.zset import absorb
from tidings.sparql import algebra
from tidings.sparql.algebra import (
    Alternative,
    Inverse,
    Negated,
    Path,
    PathPattern,
    Repeat,
    Sequence,
    may_stand_still,
)
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.layout import Layout, Row
from tidings.sparql.evaluate.walk import Look, ends, is_node, reverse, watched_terms

MOST_TERMS = 64
"""The budget of a walk in one turn, as a multiple of the budget of one of its terms."""


class Backwards:
    """Walks backwards from changed edges to the terms at which paths through them may start."""

    __slots__ = ("_letters", "_longest", "_stands_still", "_steps")

    def __init__(self, path: Path) -> None:
        self._letters = letters = _letters(path)
        self._stands_still = may_stand_still(path)
        steps = letters[0]
        for step in letters[1:]:
            steps = Alternative(steps, step)
        self._steps = reverse(steps)
        self._longest = None if _goes_on(path) else len(letters) - 1
        """The most steps that a path can have before a changed edge; None if there is no limit."""

    def starts(self, quads: Iterable[Quad], sources: tuple[TripleSource, TripleSource], look: Look) -> dict[Term, None]:
        """The terms from which a path may lead through one of the quads, in either state. If zero steps are enough,
        also the subjects and objects of the quads: they may have become nodes of the graph, or ceased to be."""
        found = dict.fromkeys(
            start for s, p, o, _ in quads for letter in self._letters for start, _ in walked(letter, s, p, o)
        )
        frontier: Collection[Term] = found
        steps = 0
        while frontier and (self._longest is None or steps < self._longest):
            steps += 1
            before = (
                end
                for source in sources
                for term in watched_terms(frontier, look)
                for end in ends(self._steps, source, term)
            )
            frontier = dict.fromkeys(term for term in before if term not in found)
            found.update(frontier)
        if self._stands_still:
            found.update((term, None) for s, _, o, _ in quads for term in (s, o))
        return found


class PathWalk(Stateless):
    """A path pattern inside one active graph."""

    __slots__ = ("_backwards", "_forwards", "_law", "_states", "layout", "pattern", "routes")

    def __init__(self, pattern: PathPattern, states: States, *, anything: bool = False) -> None:
        """With `anything`, every triple of the graph may matter."""
        self.pattern = pattern
        self._states = states
        self._backwards = Backwards(pattern.path)
        self._forwards = Backwards(reverse(pattern.path))
        graph = states.graph
        triples = [ANY_TRIPLE] if anything else watched(pattern, graph)
        self.routes = tuple(Route(each, graph) for each in triples)
        variables = dict.fromkeys(t for t in (pattern.subject, pattern.object, graph) if t[:1] == "?")
        self.layout = Layout(tuple(variables), frozenset(variables))
        node = pattern if not graph else algebra.Graph(graph, pattern)
        home = states.inside("") if graph else states
        self._law = Law(node, self.layout, home, None)

    def delta(self, hits: Hits) -> Changes:
        touched: dict[Term, dict[Quad, None]] = {}
        for route in self.routes:
            for quad, _ in hits.get(route, ()):
                touched.setdefault(quad[3], {})[quad] = None
        if not touched:
            return {}
        changes = self._law.within(sum(map(len, touched.values())), self._walked, touched)
        return self._law.again() if changes is None else changes

    def _walked(self, touched: dict[Term, dict[Quad, None]]) -> Changes:
        look = self._states.new.look
        changes: Changes = {}
        for graph, quads in touched.items():
            sources = self._sources(graph)
            starts = self._backwards.starts(quads, sources, look)
            walks = [self._from_starts(starts, graph)]
            if starts and self.pattern.subject[0] == self.pattern.object[0] == "?":
                finals = self._forwards.starts(quads, sources, look)
                walks.append(self._from_finals(starts, finals, graph))
            absorb(changes, by_turns(walks, look, MOST_TERMS).found.items())
        return changes

    def _from_starts(self, starts: dict[Term, None], graph: Term) -> Walk:
        """A walk that finds the changes between some starts and all ends that they reach."""
        now, before = self._sources(graph)
        present = self._candidates(starts, now) if self._is_there(graph, self._states.new) else {}
        past = self._candidates(starts, before) if self._is_there(graph, self._states.old) else {}

        def step(start: Term, look: Look) -> Changes:
            found = ends(self.pattern.path, now, start, look) if start in present else {}
            known = ends(self.pattern.path, before, start, look) if start in past else {}
            came, went = found, known
            if isinstance(found, dict) and isinstance(known, dict):  # each end once: ends in both states cancel
                came, went = found.keys() - known.keys(), known.keys() - found.keys()
            changes: Changes = {}
            absorb(changes, ((row, 1) for row in self._rows(start, came, graph)))
            absorb(changes, ((row, -1) for row in self._rows(start, went, graph)))
            return changes

        return Walk(present | past, step)

    def _from_finals(self, starts: dict[Term, None], finals: dict[Term, None], graph: Term) -> Walk:
        """A walk backwards that finds the changes between some starts and some ends, where both are variables."""
        back = reverse(self.pattern.path)
        contexts = (self._states.new, self._states.old)
        states = [
            (source, sign)
            for source, context, sign in zip(self._sources(graph), contexts, (1, -1), strict=True)
            if self._is_there(graph, context)
        ]

        def step(end: Term, look: Look) -> Changes:
            changes: Changes = {}
            for source, sign in states:
                if is_node(end, source):
                    found = [start for start in ends(back, source, end, look) if start in starts]
                    absorb(changes, ((row, sign) for start in found for row in self._rows(start, (end,), graph)))
            return changes

        return Walk(finals, step)

    def _sources(self, graph: Term) -> tuple[TripleSource, TripleSource]:
        new, old = self._states.new.view, self._states.old.view
        if not self._states.graph:
            return new.default(), old.default()
        return new.named(graph), old.named(graph)

    def _is_there(self, graph: Term, context: Context) -> bool:
        """Whether the graph exists: otherwise not even zero steps lead anywhere in it."""
        return not self._states.graph or context.view.has(graph)

    def _rows(self, start: Term, found: Iterable[Term], graph: Term) -> Iterator[Row]:
        """A start with its ends, as rows."""
        s, o, g = self.pattern.subject, self.pattern.object, self._states.graph
        if s == g and start != graph:
            return  # one variable is both the graph and the start
        for end in found:
            agrees = (o[0] == "?" or _same(o, end)) and (s != o or start == end) and (o != g or end == graph)
            if agrees:
                cells = {s: start, o: end, g: graph}
                yield tuple([cells[variable] for variable in self.layout.variables])

    def _candidates(self, starts: dict[Term, None], source: TripleSource) -> dict[Term, None]:
        """The starts that a full evaluation would try: a constant, or any node of the graph."""
        s, o = self.pattern.subject, self.pattern.object
        if s[0] != "?":
            return {s: None}
        known = {start: None for start in starts if is_node(start, source)}
        if o[0] != "?":
            known[o] = None  # zero steps lead from a term to itself, whether the graph knows it or not
        return known

    def explain(self) -> Explanation:
        ends_ = f"{shown(self.pattern.subject)} … {shown(self.pattern.object)}"
        return Explanation(
            "path", f"{ends_}, re-derived from the starts that a changed edge concerns{self._law.shown()}", True
        )


def _letters(path: Path) -> list[Path]:
    """The single steps a path is made of."""
    match path:
        case str() | Negated():
            return [path]
        case Inverse(inner):
            return [reverse(step) for step in _letters(inner)]
        case Repeat(inner):
            return _letters(inner)
        case Sequence(left, right) | Alternative(left, right):
            return _letters(left) + _letters(right)


def walked(letter: Path, s: Term, p: Term, o: Term) -> Iterator[tuple[Term, Term]]:
    """The start and the end of each way in which a single step leads along a triple."""
    match letter:
        case str():
            if letter == p:
                yield s, o
        case Inverse(str() as predicate):
            if predicate == p:
                yield o, s
        case Negated(forward, backward):
            if forward is not None and p not in forward:
                yield s, o
            if backward is not None and p not in backward:
                yield o, s


def _goes_on(path: Path) -> bool:
    """Whether a path may have any number of steps."""
    match path:
        case Repeat(inner, _, many):
            return many or _goes_on(inner)
        case Inverse(inner):
            return _goes_on(inner)
        case Sequence(left, right) | Alternative(left, right):
            return _goes_on(left) or _goes_on(right)
        case _:
            return False


def _same(term: Term, other: Term) -> bool:
    """Whether two terms are the same, ignoring the case of language tags."""
    return term == other or (is_tagged(term) and is_tagged(other) and fold(term) == fold(other))


def watched(pattern: PathPattern, graph: str) -> list[tuple[str, str, str]]:
    """The triple patterns whose changes may change what a path connects."""
    letters = _letters(pattern.path)
    predicates = dict.fromkeys(_predicate(step) for step in letters)
    # If zero steps are enough, it matters which nodes the graph has, or whether it exists.
    anywhere = graph[:1] == "?" or (pattern.subject[0] == "?" and pattern.object[0] == "?")
    if None in predicates or (anywhere and may_stand_still(pattern.path)):
        return [ANY_TRIPLE]
    return [(ANY_TRIPLE[0], predicate, ANY_TRIPLE[2]) for predicate in predicates if predicate is not None]


def _predicate(step: Path) -> Term | None:
    """The predicate of a single step; None if it may be any."""
    match step:
        case str():
            return step
        case Inverse(str() as predicate):
            return predicate
        case _:
            return None
