"""Join order: greedily, the pattern with the fewest expected rows next, given the variables bound so far."""

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import reduce
from heapq import heappop, heappush
from itertools import chain
from math import inf

from tidings.model.terms import Var
from tidings.sparql.algebra import (
    BGP,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    PathPattern,
    TriplePattern,
    certain,
    every_variable,
    join,
    rebuilt,
    visible,
)
from tidings.sparql.evaluate.dataset import NOTHING, TripleSource, View
from tidings.sparql.evaluate.pushing import endpoints, pushable
from tidings.sparql.rewrite.cost import cost
from tidings.sparql.rewrite.looking import Look, unhurried

_PARTS_BETWEEN_LOOKS = 64


def order_joins(node: Node, source: TripleSource, view: View, bound: AbstractSet[Var], look: Look = unhurried) -> Node:
    """The node with each group of joined patterns in its best order; `source` is the graph that the patterns match."""
    look()
    match node:
        case BGP(patterns) if len(patterns) < 2:
            return node
        case BGP() | Join():
            return _ordered(node, source, view, bound, look)
        case LeftJoin(left, right, condition):
            first = order_joins(left, source, view, bound, look)
            return LeftJoin(first, order_joins(right, source, view, bound | certain(left), look), condition)
        case Minus(left, right):
            first = order_joins(left, source, view, bound, look)
            return Minus(first, order_joins(right, source, view, frozenset(), look))
        case Graph(name, inner):
            inside = NOTHING if name[0] == "?" else view.named(name)
            return rebuilt(node, lambda _: order_joins(inner, inside, view, bound, look))
        case _:
            return rebuilt(node, lambda inner: order_joins(inner, source, view, bound, look))


def _parts(node: Node, found: list[Node]) -> list[Node]:
    """The parts of a group of joined patterns, with each triple pattern as a part of its own."""
    match node:
        case Join(left, right):
            _parts(right, _parts(left, found))
        case BGP(patterns):
            found.extend(BGP((pattern,)) for pattern in patterns)
        case _:
            found.append(node)
    return found


def _ordered(node: Node, source: TripleSource, view: View, bound: AbstractSet[Var], look: Look) -> Node:
    frontier = _Frontier(_parts(node, []), source, bound, look)
    known = frontier.known
    joined: list[Node] = []
    block: list[TriplePattern] = []
    while (part := frontier.take()) is not None:
        if isinstance(part, BGP):
            block += part.patterns
        else:
            part = order_joins(part, source, view, known, look)
            joined += (BGP(tuple(block)), part) if block else (part,)
            block.clear()
        frontier.learn(certain(part))
    if block or not joined:
        joined.append(BGP(tuple(block)))
    return reduce(join, joined)


class _Frontier:
    """The parts that are not joined yet: the one with the fewest expected rows first, and among equals the first in the
    text.

    The cost of a part depends only on which of its own variables are known, and on whether any variable is. So its cost
    is computed again only when one of its variables becomes known, and once for all parts when the first variable does:
    n parts of a few variables take n log n steps; computing all costs each time would take n².
    """

    __slots__ = ("_awaited", "_heap", "_look", "_met", "_open", "_parts", "_source", "_taken", "_watching", "known")

    def __init__(self, parts: list[Node], source: TripleSource, bound: AbstractSet[Var], look: Look) -> None:
        self.known = set(bound)
        self._source = source
        self._look = look
        shown = [visible(part).keys() for part in parts]
        times = Counter(chain.from_iterable(shown))
        self._parts = [(part, own, _is_alone(part, own, times, bound)) for part, own in zip(parts, shown, strict=True)]
        self._awaited = [endpoints(part) for part in parts]
        """For each part, the endpoint variables of SERVICE that should be known before it."""
        self._open = len(parts)
        """The number of parts that are not joined yet."""
        self._taken = [False] * len(parts)
        self._watching: dict[Var, list[int]] = {}
        for number, (_, variables, _) in enumerate(self._parts):
            for variable in variables:
                self._watching.setdefault(variable, []).append(number)
        self._met: set[int] = set()
        """The parts that are neither triple patterns nor paths and share a known variable: their cost is final."""
        self._heap: list[tuple[float, int]] = []
        self._ask(range(len(parts)))

    def _ask(self, numbers: Iterable[int]) -> None:
        """Push the present costs of parts. Their earlier costs stay in the heap behind these, as costs never grow, and
        `take` skips them."""
        for at, number in enumerate(numbers):
            if not self._taken[number]:
                heappush(self._heap, (self._cost(number), number))
            if at % _PARTS_BETWEEN_LOOKS == 0:
                self._look()

    def _cost(self, number: int) -> float:
        if not self.known.issuperset(self._awaited[number]):
            return inf
        return cost(*self._parts[number], self._source, self.known)

    def take(self) -> Node | None:
        """The next part; None if none is left."""
        while self._open:
            _, number = heappop(self._heap)
            if not self._taken[number]:
                self._taken[number] = True
                self._open -= 1
                return self._parts[number][0]
        return None

    def learn(self, variables: AbstractSet[Var]) -> None:
        """Add variables that are known from now on."""
        first = not self.known and bool(variables)
        fresh = [variable for variable in variables if variable not in self.known]
        self.known.update(fresh)
        if first:
            self._heap.clear()
            self._ask(range(len(self._parts)))
            return
        for variable in fresh:
            numbers = [number for number in self._watching.pop(variable, ()) if number not in self._met]
            self._met.update(number for number in numbers if not isinstance(self._parts[number][0], BGP | PathPattern))
            self._ask(numbers)


def _is_alone(part: Node, own: AbstractSet[Var], times: Mapping[Var, int], bound: AbstractSet[Var]) -> bool:
    """Whether a part cannot extend rows of the other parts, in whatever order they are joined."""
    if isinstance(part, BGP | PathPattern):
        return False
    around = {v for v in every_variable(part) if v in bound or times.get(v, 0) > (v in own)}
    return not pushable(part, around)
