"""Join order by asking all patterns each time: n² steps for what `rewrite.order` does in n log n, and must agree on."""

from collections.abc import Set as AbstractSet

from tidings.model.terms import Term, Var
from tidings.sparql.algebra import (
    BGP,
    Extend,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    PathPattern,
    Values,
    certain,
    join,
    rebuilt,
    visible,
)
from tidings.sparql.evaluate.dataset import NOTHING, TripleSource, View
from tidings.sparql.evaluate.pushing import pushable

_UNCONNECTED = 1e6
"""What a pattern costs more if it shares no variable with those before it: it multiplies their rows."""


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
    waiting = _parts(node)
    known = set(bound)
    result: Node | None = None
    while waiting:
        costs = [_cost(part, source, known) for part in waiting]
        part = waiting.pop(costs.index(min(costs)))
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


def _cost(part: Node, source: TripleSource, known: AbstractSet[Var]) -> float:
    """Rows to expect for each row so far; what has to be evaluated on its own anyway comes first."""
    match part:
        case BGP((pattern,)):
            cost = _pattern_cost(pattern, source, known)
        case Values(_, rows):
            return float(len(rows)) / 1e3
        case Extend(BGP(()), _, _):
            return 0.0
        case PathPattern(subject, _, object_):
            ends = sum(1 for term in (subject, object_) if term[0] != "?" or term in known)
            cost = (1e5, 20.0, 1.0)[ends]
        case _:
            inside = visible(part)
            if not pushable(part, inside.keys()):
                return -1.0
            cost = 1e4 if known.isdisjoint(inside) else 50.0
    variables = visible(part)
    if known and variables and known.isdisjoint(variables) and cost > 1:
        cost *= _UNCONNECTED
    return cost


def _pattern_cost(pattern: tuple[str, str, str], source: TripleSource, known: AbstractSet[Var]) -> float:
    constants: list[Term | None] = [None if term[0] in "?$" else term for term in pattern]
    s_known, p_known, o_known = (term in known or term[0] == "$" for term in pattern)
    s, p, o = constants
    if source is NOTHING:
        return float(10 ** (6 - 2 * (3 - constants.count(None) + s_known + p_known + o_known)))
    rows = source.count(s, p, o)
    if p is not None:
        per_subject, per_object = source.fan_out(p)
        if s_known:
            rows = min(rows, per_subject)
        if o_known:
            rows = min(rows, per_object)
    elif s_known or o_known or p_known:
        rows = min(rows, 20.0)
    return rows * 0.5 if s_known and o_known else rows
