"""Large deltas that are made ready aside: the store is then as if it had changed quad by quad."""

from collections.abc import Iterable

import pytest

from tidings.engine.store.removal import SMALL
from tidings.engine.store.staging import LARGE
from tidings.engine.store.store import Store
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

P, Q = "<http://example.org/p>", "<http://example.org/q>"
G, H = "<http://example.org/g>", "<http://example.org/h>"


def subject(n: int) -> str:
    return f"<http://example.org/s{n}>"


def crowd(count: int, g: str = "") -> list[Quad]:
    """So many subjects of one object, and a value for each."""
    return [quad for n in range(count) for quad in ((subject(n), P, '"all"', g), (subject(n), Q, f'"{n}"', g))]


def store_of(quads: Iterable[Quad]) -> Store:
    store = Store()
    for quad in quads:
        store.add(*quad)
    return store


def staged(store: Store, delta: ZSet[Quad]) -> None:
    for _ in store.stage(delta, large=0):
        pass
    store.apply(delta)


def is_as(store: Store, quads: set[Quad]) -> bool:
    """Whether a store has these quads, by every way of looking at them."""
    graphs = [("", store.default), *store.named.items()]
    by_subject = {(s, p, o, name) for name, graph in graphs for s in graph.spo for p, o in graph.facts(s)}
    by_predicate = {(s, p, o, name) for name, graph in graphs for p in graph.pos for s, o in graph.uses(p)}
    by_object = {(s, p, o, name) for name, graph in graphs for o in graph.op for s, p in graph.mentions(o)}
    mentioned = all(name in store.graphs_with(s, p, o) for s, p, o, name in quads if name)
    return set(store) == by_subject == by_predicate == by_object == quads and len(store) == len(quads) and mentioned


@pytest.mark.parametrize("count", [3, SMALL + 2])
def test_what_is_left_of_small_and_large_leaves_is_found(count: int) -> None:
    quads = crowd(count)
    store = store_of(quads)
    gone = quads[:-4] if count > SMALL else quads[:2]
    staged(store, ZSet.change(removed=gone, added=[(subject(0), Q, '"new"', "")]))
    assert is_as(store, {*quads, (subject(0), Q, '"new"', "")} - set(gone))


def test_a_graph_that_loses_everything_is_gone() -> None:
    store = store_of([*crowd(5, G), *crowd(3, H)])
    staged(store, ZSet.change(removed=crowd(5, G), added=crowd(2)))
    assert set(store.named) == {H}
    assert is_as(store, {*crowd(3, H), *crowd(2)})
    staged(store, ZSet.change(removed=crowd(3, H), added=crowd(2, G)))
    assert set(store.named) == {G}
    assert is_as(store, {*crowd(2, G), *crowd(2)})


def test_tagged_literals_keep_the_spelling_of_the_store() -> None:
    store = store_of([(subject(1), P, '"colour"@EN', "")])
    staged(store, ZSet.change(added=[(subject(2), P, '"colour"@en', G), *crowd(3)]))
    assert (subject(2), P, '"colour"@EN', G) in set(store)
    staged(store, ZSet.change(removed=[(subject(1), P, '"colour"@EN', ""), *crowd(3)]))
    assert set(store) == {(subject(2), P, '"colour"@EN', G)}


def test_a_value_that_goes_leaves_the_other_predicates_of_its_subject() -> None:
    store = store_of([(subject(1), P, '"a"', ""), (subject(1), P, '"b"', ""), (subject(1), Q, '"a"', "")])
    staged(store, ZSet.change(removed=[(subject(1), P, '"a"', ""), (subject(1), Q, '"a"', "")]))
    assert is_as(store, {(subject(1), P, '"b"', "")})


def test_what_was_made_ready_is_not_used_once_something_else_has_changed() -> None:
    store = store_of(crowd(4))
    delta = ZSet.change(removed=crowd(2), added=crowd(2, G))
    for _ in store.stage(delta, large=0):
        pass
    store.add(subject(0), P, '"more"')
    store.apply(delta)
    assert is_as(store, ({*crowd(4), (subject(0), P, '"more"', "")} - set(crowd(2))) | set(crowd(2, G)))
    steps = store.stage(-delta, large=0)
    next(steps)
    next(steps)
    store.remove(subject(0), P, '"more"')
    assert list(steps) == []
    store.apply(-delta)
    assert is_as(store, set(crowd(4)))


def test_a_small_delta_is_not_worth_it() -> None:
    store = store_of([])
    assert len(list(store.stage(ZSet.change(added=crowd(LARGE // 2))))) == 1
    assert len(list(store.stage(ZSet.change(added=crowd(LARGE))))) > 2
