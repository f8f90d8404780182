"""A property path as an automaton without silent steps (Glushkov 1961): one state for each single step of the path.

State 0 is the initial state; every other state is entered by its own step only. A path corresponds to a run of the
automaton that ends in an accepting state.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from tidings.engine.operators.path import walked
from tidings.model.terms import Quad, Term
from tidings.sparql.algebra import Alternative, Inverse, Path, Repeat, Sequence
from tidings.sparql.evaluate.dataset import TripleSource
from tidings.sparql.evaluate.walk import ends, reverse

Place: TypeAlias = tuple[Term, int]
"""A term, and the state in which it is reached."""

_Step: TypeAlias = Callable[[TripleSource, Term], Iterable[Term]]
_Part: TypeAlias = tuple[bool, frozenset[int], frozenset[int]]
"""For a part of a path: whether zero steps are enough, its first states, and its last states."""


class Automaton:
    """The states of a path, and the steps between them."""

    __slots__ = ("_backwards", "_forwards", "_letters", "_next", "_previous", "accepting", "stands_still")

    def __init__(self, path: Path) -> None:
        self._letters: list[Path] = [""]
        follow: dict[int, set[int]] = {0: set()}
        self.stands_still, first, self.accepting = self._read(path, follow)
        """Whether zero steps are enough, and the states in which a path of one step or more may end."""
        follow[0].update(first)
        states = range(len(self._letters))
        self._next = [tuple(sorted(follow[state])) for state in states]
        self._previous = [tuple(before for before in states if state in follow[before]) for state in states]
        self._forwards = [_step(letter) for letter in self._letters]
        self._backwards = [_step(reverse(letter)) for letter in self._letters]

    def _read(self, path: Path, follow: dict[int, set[int]]) -> _Part:
        match path:
            case Repeat(inner, least, many):
                still, first, last = self._read(inner, follow)
                if many:
                    _link(follow, last, first)
                return still or not least, first, last
            case Sequence(left, right):
                still, first, last = self._read(left, follow)
                still_too, second, end = self._read(right, follow)
                _link(follow, last, second)
                return still and still_too, first | second if still else first, last | end if still_too else end
            case Alternative(left, right):
                still, first, last = self._read(left, follow)
                still_too, second, end = self._read(right, follow)
                return still or still_too, first | second, last | end
            case Inverse(inner) if not isinstance(inner, str):
                return self._read(reverse(inner), follow)
            case _:
                state = len(self._letters)
                self._letters.append(path)
                follow[state] = set()
                return False, frozenset((state,)), frozenset((state,))

    def after(self, place: Place, source: TripleSource) -> Iterator[Place]:
        """The places that one step leads to from a place."""
        term, state = place
        for following in self._next[state]:
            for end in self._forwards[following](source, term):
                yield end, following

    def before(self, place: Place, source: TripleSource) -> Iterator[Place]:
        """The places from which one step leads to a place."""
        term, state = place
        for start in self._backwards[state](source, term):
            for previous in self._previous[state]:
                yield start, previous

    def edges(self, quad: Quad) -> Iterator[tuple[Place, Place]]:
        """The steps between places that lead along a triple."""
        s, p, o, _ = quad
        for state, letter in enumerate(self._letters):
            for start, end in walked(letter, s, p, o):
                for previous in self._previous[state]:
                    yield (start, previous), (end, state)


def _link(follow: dict[int, set[int]], ends_: Iterable[int], beginnings: Iterable[int]) -> None:
    for end in ends_:
        follow[end].update(beginnings)


def _step(letter: Path) -> _Step:
    match letter:
        case str():
            return lambda source, term: source.objects(term, letter)
        case Inverse(str() as predicate):
            return lambda source, term: source.subjects(predicate, term)
        case _:
            return lambda source, term: ends(letter, source, term)
