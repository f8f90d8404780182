"""Join order by asking all patterns each time: n² steps for what `rewrite.order` does in n log n, and must agree on.

What a pattern costs is the same for both.
"""

from collections.abc import Set as AbstractSet

from tidings.model.terms import Var
from tidings.sparql.algebra import (
    BGP,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    certain,
    join,
    rebuilt,
    visible,
)
from tidings.sparql.evaluate.dataset import NOTHING, TripleSource, View
from tidings.sparql.evaluate.pushing import pushable
from tidings.sparql.rewrite.cost import cost


def greedily_ordered(node: Node, source: TripleSource, view: View, bound: AbstractSet[Var]) -> Node:
    """Every group of joined patterns in its best order; `source` is the graph that patterns look into."""
    match node:
        case BGP(patterns) if len(patterns) < 2:
            return node
        case BGP() | Join():
            return _ordered(node, source, view, bound)
        case LeftJoin(left, right, condition):
            first = greedily_ordered(left, source, view, bound)
            return LeftJoin(first, greedily_ordered(right, source, view, bound | certain(left)), condition)
        case Minus(left, right):
            return Minus(
                greedily_ordered(left, source, view, bound), greedily_ordered(right, source, view, frozenset())
            )
        case Graph(name, inner):
            inside = NOTHING if name[0] == "?" else view.named(name)
            return rebuilt(node, lambda _: greedily_ordered(inner, inside, view, bound))
        case _:
            return rebuilt(node, lambda inner: greedily_ordered(inner, source, view, bound))


def _parts(node: Node) -> list[Node]:
    """A group of joined patterns, its triple patterns one by one."""
    match node:
        case Join(left, right):
            return _parts(left) + _parts(right)
        case BGP(patterns):
            return [BGP((pattern,)) for pattern in patterns]
        case _:
            return [node]


def _ordered(node: Node, source: TripleSource, view: View, bound: AbstractSet[Var]) -> Node:
    parts = _parts(node)
    waiting = [(part, _is_alone(number, parts, bound)) for number, part in enumerate(parts)]
    known = set(bound)
    result: Node | None = None
    while waiting:
        costs = [cost(part, visible(part).keys(), alone, source, known) for part, alone in waiting]
        part, _ = waiting.pop(costs.index(min(costs)))
        if not isinstance(part, BGP):
            part = greedily_ordered(part, source, view, known)
        known.update(certain(part))
        if result is None:
            result = part
        elif isinstance(part, BGP) and isinstance(result, BGP):
            result = BGP(result.patterns + part.patterns)
        elif isinstance(part, BGP) and isinstance(result, Join) and isinstance(result.right, BGP):
            result = Join(result.left, BGP(result.right.patterns + part.patterns))
        else:
            result = join(result, part)
    return BGP(()) if result is None else result


def _is_alone(number: int, parts: list[Node], bound: AbstractSet[Var]) -> bool:
    """Whether one part cannot be evaluated from rows of all the others."""
    around = {variable for at, part in enumerate(parts) if at != number for variable in visible(part)}
    return not pushable(parts[number], around | bound)
