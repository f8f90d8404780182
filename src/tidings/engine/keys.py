"""The patterns of the quads that a subscription, or the WHERE of an update, needs from a graph."""

from tidings.engine.engine import Engine
from tidings.engine.lutt import Key
from tidings.engine.plans.routes import routes_in
from tidings.engine.plans.spu import Subscription, graphs_of
from tidings.model.access import Rights
from tidings.model.terms import DEFAULT_GRAPH, Term
from tidings.sparql.algebra import Dataset, Node


def keys_for(engine: Engine, text: str, dataset: Dataset | None, rights: Rights, *, now: int) -> list[Key]:
    """The patterns of all quads that may concern a new subscription. Raises what is wrong with its text."""
    engine.core.tell_time(now)
    _, spu, member = engine.planning.find(text, dataset, rights)
    try:
        return list(dict.fromkeys(engine.keys(Subscription(0, spu, member, ()))))
    finally:
        if not spu.members:
            engine.planning.leave(spu)


def keys_in(pattern: Node, dataset: Dataset, parameters: tuple[Term, ...]) -> list[Key]:
    """The patterns of all quads that the solutions of a pattern may depend on."""

    def fixed(term: str) -> Term | None:
        if term[0] == "?":
            return None
        return parameters[int(term[2:])] if term[0] == "$" else term

    keys: dict[Key, None] = {}
    for route in routes_in(pattern, DEFAULT_GRAPH):
        s, p, o = map(fixed, route.pattern)
        for graph in graphs_of(route, dataset):
            keys[s, p, o, graph] = None
    return list(keys)
