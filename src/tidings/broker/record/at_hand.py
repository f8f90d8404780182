"""Works out updates that read and change only contexts, if the broker is the only writer of the store of record.

    contexts cover all patterns of WHERE and of the templates  ->  the delta is the same over memory

Memory has every commit, also those on their way to the store, so the broker need not ask the store, or wait for it.
"""

from collections.abc import Iterator, Sequence

from tidings.broker.record.scratch import loose
from tidings.broker.updates.elsewhere import Asked
from tidings.engine.engine import Engine
from tidings.engine.keys import keys_in
from tidings.engine.lutt import Key
from tidings.engine.plans.routes import exists_patterns
from tidings.model.errors import TidingsError, TimeLimitExceeded
from tidings.model.terms import Quad, Term
from tidings.model.zset import ZSet
from tidings.sparql.algebra import (
    DeleteData,
    InsertData,
    Modify,
    Node,
    Operation,
    QuadPattern,
    Service,
    expressions,
    inputs,
)
from tidings.sparql.evaluate.context import Limits
from tidings.sparql.prepared import Parameters


class AtHand:
    """Works out updates without the store of record. `limits` are those of work that blocks the event loop."""

    def __init__(self, engine: Engine, limits: Limits) -> None:
        self._engine = engine
        self._limits = limits

    def work_out(self, asked: Sequence[Asked], now: int) -> list[ZSet[Quad] | TidingsError]:
        """The outcomes of these updates, one after the other, up to the first that needs the store of record or too
        much time. Afterwards, memory is as it was before."""
        core, outcomes = self._engine.core, list[ZSet[Quad] | TidingsError]()
        done: list[ZSet[Quad]] = []
        for each in asked:
            if not self._is_at_hand(each):
                break
            try:
                delta = core.execute(each.request, each.parameters, now=now, limits=self._limits, rights=each.rights)
            except TimeLimitExceeded:
                break
            except TidingsError as error:
                outcomes.append(error)
            else:
                outcomes.append(delta)
                done.append(delta)
        for delta in reversed(done):
            core.store.apply(-delta)
        return outcomes

    def _is_at_hand(self, asked: Asked) -> bool:
        contexts = self._engine.contexts
        assert contexts is not None
        if asked.change is not None:
            return False
        return all(
            keys is not None and all(contexts.has(loose(key)) for key in keys)
            for keys in (_keys(operation, asked) for operation in asked.request.operations)
        )


def _keys(operation: Operation, asked: Asked) -> list[Key] | None:
    """The patterns of all quads that an operation may read or change; None if memory cannot suffice for it."""
    match operation:
        case InsertData(quads) | DeleteData(quads):
            return [_key(quad, asked.parameters) for quad in quads]
        case Modify(delete=delete, insert=insert, pattern=pattern):
            if _asks_others(pattern):
                return None
            seen = keys_in(pattern, operation.dataset.narrowed(asked.rights.read), asked.parameters)
            return seen + [_key(quad, asked.parameters) for quad in (*delete, *insert)]
        case _:
            return None


def _key(quad: QuadPattern, parameters: Parameters) -> Key:
    s, p, o, g = (_fixed(term, parameters) for term in quad)
    return s, p, o, g


def _fixed(term: str, parameters: Parameters) -> Term | None:
    """A term in a pattern; None for a variable, and for a blank node, which is a new one for each execution."""
    if term[:1] in {"?", "_"}:
        return None
    return parameters[int(term[2:])] if term[:1] == "$" else term


def _asks_others(node: Node) -> bool:
    return isinstance(node, Service) or any(map(_asks_others, _within(node)))


def _within(node: Node) -> Iterator[Node]:
    yield from inputs(node)
    for expression in expressions(node):
        yield from exists_patterns(expression)
