"""Any history of additions and removals leaves the store equal to a plain set of quads, by every way of looking at it.

Language tags are compared without case (RDF 1.1 Concepts, 3.3), so the set is one of folded quads.
"""

from copy import deepcopy
from itertools import product
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.data import GRAPHS, PREDICATES, RESOURCES, graphs, predicates, subjects
from strategies.data import objects as plain_objects
from tidings.engine.store import removal
from tidings.engine.store.graph import GraphIndex
from tidings.engine.store.removal import SMALL
from tidings.engine.store.store import Store
from tidings.model.terms import Quad, Term, Triple, fold, is_tagged
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.dataset import match

TAGGED = ('"s"@en', '"s"@EN', '"s"@En')
objects = plain_objects | st.sampled_from(TAGGED)
quads = st.tuples(subjects, predicates, objects, graphs)
untagged = st.tuples(subjects, predicates, plain_objects, graphs)
histories = st.lists(st.tuples(st.booleans(), quads), max_size=40)
SETTINGS = settings(deadline=None)
PROBES: tuple[tuple[Term | None, ...], ...] = (
    (None, *RESOURCES, "_:x"),
    (None, *PREDICATES),
    (None, *RESOURCES[:2], "_:y", *TAGGED, '"s"'),
)


def folded(term: Term) -> Term:
    return fold(term) if is_tagged(term) else term


def folded_quad(quad: Quad) -> Quad:
    s, p, o, g = quad
    return s, p, folded(o), g


def played(history: list[tuple[bool, Quad]]) -> tuple[Store, set[Quad]]:
    """A store and the set that it should equal, having checked what each step says of itself."""
    store, model = Store(), set[Quad]()
    for adding, quad in history:
        same = folded_quad(quad)
        if adding:
            assert store.add(*quad) == (same not in model)
            model.add(same)
        else:
            assert store.remove(*quad) == (same in model)
            model.discard(same)
    return store, model


@SETTINGS
@given(histories, quads)
def test_a_store_is_the_set_of_its_quads(history: list[tuple[bool, Quad]], other: Quad) -> None:
    store, model = played(history)
    found = list(store)
    assert len(found) == len(store) == len(model)
    assert {folded_quad(quad) for quad in found} == model
    assert all(quad in store for quad in found)
    assert (other in store) == (folded_quad(other) in model)
    assert set(store.names()) == {g for *_, g in model if g}


def test_a_literal_is_spelled_as_its_first_publisher_did_while_it_is_there() -> None:
    store = Store()
    store.add("<urn:a>", "<urn:p>", '"s"@EN')
    store.add("<urn:b>", "<urn:p>", '"s"@en', "<urn:g>")
    assert {quad[2] for quad in store} == {'"s"@EN'}
    store.remove("<urn:a>", "<urn:p>", '"s"@en')
    store.remove("<urn:b>", "<urn:p>", '"s"@En', "<urn:g>")
    store.add("<urn:a>", "<urn:p>", '"s"@en')
    assert {quad[2] for quad in store} == {'"s"@en'}


@SETTINGS
@given(histories)
def test_a_store_has_one_spelling_for_each_literal(history: list[tuple[bool, Quad]]) -> None:
    store, _ = played(history)
    spellings = {o for _, _, o, _ in store if is_tagged(o)}
    assert len(spellings) == len(set(map(fold, spellings)))


@SETTINGS
@given(histories)
def test_every_shape_of_look_up_agrees_with_a_scan(history: list[tuple[bool, Quad]]) -> None:
    store, model = played(history)
    for name in ("", *GRAPHS):
        triples = {quad[:3] for quad in model if quad[3] == name}
        graph = store.graph(name) or Store().default
        assert len(graph) == len(triples)
        assert sorted(graph.nodes()) == sorted(set(graph.nodes()))
        assert {folded(node) for node in graph.nodes()} == {end for s, _, o in triples for end in (s, o)}
        for probe in product(*PROBES):
            check_shape(graph, triples, *probe)


def check_shape(graph: GraphIndex, triples: set[Triple], s: Term | None, p: Term | None, o: Term | None) -> None:
    wanted = o and folded(o)
    expected = {
        triple
        for triple in triples
        if (not s or triple[0] == s) and (not p or triple[1] == p)
        if not wanted or triple[2] == wanted
    }
    found = [(a, b, folded(c)) for a, b, c in match(graph, s, p, o)]
    assert len(found) == len(expected)
    assert set(found) == expected
    estimate = graph.count(s, p, o)
    if p is not None or (s is None and o is None):
        assert estimate == len(expected)
    else:
        assert (estimate > 0) >= (len(expected) > 0)


@SETTINGS
@given(histories)
def test_the_graphs_that_may_match_include_all_that_do(history: list[tuple[bool, Quad]]) -> None:
    store, model = played(history)
    for s, p, o in product(*PROBES):
        wanted = o and folded(o)
        holding = {g for a, b, c, g in model if g and s in (None, a) and p in (None, b) and wanted in (None, c)}
        assert holding <= set(store.graphs_with(s, p, o)) <= set(store.names())


@SETTINGS
@given(histories)
def test_an_emptied_store_keeps_nothing(history: list[tuple[bool, Quad]]) -> None:
    store, _ = played(history)
    for quad in list(store):
        assert store.remove(*quad)
    assert len(store) == 0
    assert leftovers(store) == []


def leftovers(holder: object, path: str = "store") -> list[str]:
    """Every container inside an object, however deep, that still holds something."""
    found = []
    for name in getattr(type(holder), "__slots__", ()):
        value = getattr(holder, name)
        if isinstance(value, dict | set | list):
            found += [f"{path}.{name}"] if value else []
        elif hasattr(type(value), "__slots__") and not isinstance(value, str | int | float | tuple):
            found += leftovers(value, f"{path}.{name}")
    return found


def indexes(store: Store) -> list[object]:
    """Everything that a store knows, down to what it counts."""
    graphs_there = {"": store.default, **store.named}
    known = [
        {name: (graph.spo, graph.pos, graph.op, graph.sizes, graph.subjects_of) for name, graph in graphs_there.items()}
    ]
    lookups = [sorted(map(str, store.graphs_with(*probe))) for probe in product(*PROBES)]
    return deepcopy([*known, lookups, len(store), [store.spelling(term) for term in TAGGED]])


def drawn_delta(store: Store, more: list[Quad], data: st.DataObject) -> ZSet[Quad]:
    """Some of the quads go, down to all of them, and others come."""
    there = sorted(store)
    kept = data.draw(st.sets(st.sampled_from(there), max_size=5)) if there else set()
    removed = [quad for quad in there if quad not in kept]
    return ZSet.change(removed=removed, added=[quad for quad in store.spelled(more) if quad not in store])


def toggle(store: Store, quad: Quad) -> None:
    if not store.remove(*quad):
        store.add(*quad)


@SETTINGS
@given(histories, st.lists(quads, max_size=30), st.sampled_from([0, 2, SMALL]), st.data())
def test_a_delta_that_was_staged_leaves_the_same_indexes(
    history: list[tuple[bool, Quad]], more: list[Quad], small: int, data: st.DataObject
) -> None:
    one, other = played(history)[0], played(history)[0]
    delta = drawn_delta(one, more, data)
    before = indexes(other)
    with mock.patch.object(removal, "SMALL", small):
        for _ in other.stage(delta, large=0):
            assert indexes(other) == before  # nobody sees a part of it
        one.apply(delta)
        other.apply(delta)
        assert indexes(one) == indexes(other)
        back = -delta
        for _ in other.stage(back, large=0):
            pass
    for store in (one, other):
        store.apply(back)
    assert indexes(one) == indexes(other) == before


@SETTINGS
@given(histories, st.lists(quads, max_size=30), untagged, st.data())
def test_what_was_staged_is_void_once_anything_else_changes(
    history: list[tuple[bool, Quad]], more: list[Quad], another: Quad, data: st.DataObject
) -> None:
    one, other = played(history)[0], played(history)[0]
    delta = drawn_delta(one, more, data)
    when = data.draw(st.integers(0, 3))
    for number, _ in enumerate(other.stage(delta, large=0)):
        if number == when:
            toggle(other, another)
            toggle(other, another)
    toggle(other, another)
    toggle(other, another)
    one.apply(delta)
    other.apply(delta)
    assert indexes(one) == indexes(other)
