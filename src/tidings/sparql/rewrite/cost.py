"""The cost of joining a pattern next: the expected rows, by the variables bound so far and the store's counts."""

from collections.abc import Set as AbstractSet

from tidings.model.terms import Term, Var
from tidings.sparql.algebra import BGP, Extend, Node, PathPattern, Values
from tidings.sparql.evaluate.dataset import NOTHING, TripleSource

_UNCONNECTED = 1e6
"""The factor for a pattern that shares no variable with those before it: their join is a cross product."""


def cost(part: Node, variables: AbstractSet[Var], alone: bool, source: TripleSource, known: AbstractSet[Var]) -> float:
    """The expected rows for each row so far. A part that has to be evaluated separately (`alone`) comes first."""
    match part:
        case BGP((pattern,)):
            found = _pattern_cost(pattern, source, known)
        case Values(_, rows):
            return float(len(rows)) / 1e3
        case Extend(BGP(()), _, _):
            return 0.0
        case PathPattern(subject, _, object_):
            ends = sum(1 for term in (subject, object_) if term[0] != "?" or term in known)
            found = (1e5, 20.0, 1.0)[ends]
        case _:
            if alone:
                return -1.0
            found = 1e4 if known.isdisjoint(variables) else 50.0
    if known and variables and known.isdisjoint(variables) and found > 1:
        found *= _UNCONNECTED
    return found


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
