"""Reachability, with one end bound or both: by a constant, or by what the path is joined with."""

from collections.abc import Iterator
from math import isqrt
from random import Random

from shape_table.shape import Shape, cut, put, scattered, triple
from tidings.model.terms import Quad

TOGGLES = 6


def _side(size: int) -> int:
    return max(isqrt(size // 2), 4)


def lattice(size: int) -> Iterator[Quad]:
    """Edges to the right and down; some of the upper left are starts, some of the lower right goals."""
    side = _side(size)
    for i in range(side):
        for j in range(side):
            if i + 1 < side:
                yield triple(f"n{i}_{j}", "p", f"n{i + 1}_{j}")
            if j + 1 < side:
                yield triple(f"n{i}_{j}", "p", f"n{i}_{j + 1}")
    for number in range(4):
        yield triple(f"n{number}_{number % 3}", "is", "Start")
        yield triple(f"n{side - 1 - number}_{side - 1 - number % 3}", "is", "Goal")


def _lattice_edges(size: int) -> Iterator[tuple[str, str]]:
    side = _side(size)
    for at in scattered(TOGGLES, side - 1):
        yield cut(f"n{at}_{side // 2}", "p", f"n{at + 1}_{side // 2}")


def _lattice_starts(size: int) -> Iterator[tuple[str, str]]:
    return (put(f"n{_side(size) // 2 + 1}_{at}", "is", "Start") for at in scattered(4 * TOGGLES, _side(size)))


def _edges(size: int) -> list[tuple[int, int]]:
    """A graph with cycles: one and a half edges from each node."""
    random = Random(7)
    nodes = max(size * 2 // 15, 10)
    return list(dict.fromkeys((random.randrange(nodes), random.randrange(nodes)) for _ in range(nodes * 3 // 2)))


def cycles(size: int) -> Iterator[Quad]:
    yield triple("n0", "p", "n1")
    yield triple("n1", "p", "n2")
    yield triple("n2", "p", "n3")
    for a, b in _edges(size):
        if (a, b) not in {(0, 1), (1, 2), (2, 3)}:
            yield triple(f"n{a}", "p", f"n{b}")
    yield from (triple(f"x{number}", "q", number) for number in range(size * 4 // 5))


def _cycle_edges(size: int) -> Iterator[tuple[str, str]]:
    edges = _edges(size)
    for at in scattered(3 * TOGGLES, len(edges)):
        a, b = edges[at]
        yield cut(f"n{a}", "p", f"n{b}")


def chain(size: int) -> Iterator[Quad]:
    length = max(size // 5, 10)
    yield from (triple(f"n{number}", "p", f"n{number + 1}") for number in range(length))
    yield from (triple(f"x{number}", "q", number) for number in range(size - length))


def _chain_middle(size: int) -> Iterator[tuple[str, str]]:
    middle = max(size // 5, 10) // 2
    return (cut(f"n{at}", "p", f"n{at + 1}") for at in range(middle, middle + 3))


def tree(size: int) -> Iterator[Quad]:
    return (triple(f"n{(number - 1) // 2}", "p", f"n{number}") for number in range(1, size))


def _tree_edges(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"n{at // 2}", "p", f"n{at + 1}") for at in scattered(4 * TOGGLES, size - 1))


def _joined(path: str) -> str:
    return f"SELECT ?s ?g {{ ?s :is :Start . ?s {path} ?g . ?g :is :Goal }}"


PATHS = (
    Shape("lattice, an edge", _joined(":p+"), lattice, _lattice_edges),
    Shape("lattice, a start", _joined(":p+"), lattice, _lattice_starts),
    Shape("lattice, p*, an edge", _joined(":p*"), lattice, _lattice_edges),
    Shape("cycles, :n p+ ?x", "SELECT ?x { :n0 :p+ ?x }", cycles, _cycle_edges),
    Shape("cycles, :n p* ?x", "SELECT ?x { :n0 :p* ?x }", cycles, _cycle_edges),
    Shape("cycles, ASK", "ASK { :n0 :p+ :n9 }", cycles, _cycle_edges),
    Shape("chain, cut in the middle", "SELECT ?x { :n0 :p+ ?x }", chain, _chain_middle),
    Shape("up a tree", lambda size: f"SELECT ?x {{ :n{size - 1} ^:p+ ?x }}", tree, _tree_edges),
    Shape("below a node, joined", "SELECT ?x { :n3 :p+ ?x . ?x :p ?y }", tree, _tree_edges),
)
