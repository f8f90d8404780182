"""What one may not read does not exist: the answer is that of a store that holds only the readable graphs."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.oxigraph import bag
from strategies.access import only, readers
from strategies.data import EX, PREFIX, datasets, ex
from strategies.graph_names import named_datasets, named_inside
from strategies.queries import asks, constructs, selects
from strategies.subscriptions import FEATURES, text_of
from tidings.engine.engine import Engine
from tidings.engine.plans.spu import answer_rows
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.results import Result, Solutions, Triples
from tidings.model.terms import Quad
from tidings.sparql.algebra import Dataset

TEXTS = [text_of(text) for texts in FEATURES.values() for text in texts]


def rows(result: Result) -> Counter[object]:
    return Counter(answer_rows(result))


def same(quads: list[Quad], text: str, rights: Rights, dataset: Dataset | None = None) -> None:
    core = Core(Store(quads))
    narrow = Core(only(core.store, rights.read))
    ours, theirs = (
        each.query(text, dataset, now=0, rights=who) for each, who in ((core, rights), (narrow, ALL_RIGHTS))
    )
    match ours, theirs:
        case Solutions(_, left), Solutions(_, right):
            assert bag(left) == bag(right)
        case Triples(left), Triples(right):  # blank nodes of a template are new each time
            assert [len(set(left))] == [len(set(right))]
        case _:
            assert ours == theirs


@given(datasets, selects(), readers)
def test_select_sees_the_readable_graphs(quads: list[Quad], text: str, rights: Rights) -> None:
    same(quads, text, rights)


@given(named_datasets, named_inside(), readers)
def test_graph_with_a_variable_sees_the_readable_graphs(quads: list[Quad], text: str, rights: Rights) -> None:
    same(quads, text, rights)


@given(datasets, asks(), readers)
def test_ask_sees_the_readable_graphs(quads: list[Quad], text: str, rights: Rights) -> None:
    same(quads, text, rights)


@given(datasets, constructs(), readers)
def test_construct_sees_the_readable_graphs(quads: list[Quad], text: str, rights: Rights) -> None:
    same(quads, text, rights)


@given(st.sampled_from(TEXTS), datasets, readers)
def test_every_feature_sees_the_readable_graphs(text: str, quads: list[Quad], rights: Rights) -> None:
    """As subscriptions understand a query: blank nodes have names, and LIMIT takes the same rows each time."""
    engine = Engine(Core(Store(quads)))
    narrow = Engine(Core(only(engine.store, rights.subscribe)))
    assert Counter(engine.first_answer(text, now=0, rights=rights)) == Counter(narrow.first_answer(text, now=0))


_names = st.lists(st.sampled_from((ex("g"), ex("h"), ex("nowhere"))), max_size=2).map(tuple)


@given(datasets, selects(), readers, st.builds(Dataset, _names, _names))
def test_a_dataset_given_with_the_request_is_narrowed_as_well(
    quads: list[Quad], text: str, rights: Rights, dataset: Dataset
) -> None:
    same(quads, text, rights, dataset)


SECRET = Rights(read=Graphs(names=frozenset(("", ex("g")))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", [('"1"^^<http://www.w3.org/2001/XMLSchema#integer>',)]),
        ("SELECT ?g { GRAPH ?g { } }", [(ex("g"),)]),
        ("SELECT * { GRAPH :h { ?s ?p ?o } }", []),
        ("SELECT * FROM :h { ?s ?p ?o }", []),
        ("SELECT * FROM NAMED :h { GRAPH ?g { ?s ?p ?o } }", []),
        ("SELECT ?x { BIND ('known'@en AS ?x) }", [('"known"@en',)]),
        ("SELECT ?x { VALUES ?x { 'known'@en } }", [('"known"@en',)]),
    ],
)
def test_nothing_tells_of_a_graph_that_may_not_be_read(text: str, expected: list[object]) -> None:
    core = Core(Store([(ex("a"), ex("p"), ex("b"), ex("g")), (ex("a"), ex("p"), '"known"@EN', ex("h"))]))
    assert list(answer_rows(core.query(PREFIX + text, now=0, rights=SECRET))) == expected


def test_describe_tells_what_may_be_read_only() -> None:
    core = Core(Store([(ex("a"), ex("p"), ex("b"), ""), (ex("a"), ex("p"), ex("c"), ex("h"))]))
    blind = Rights(read=Graphs(names=frozenset((ex("h"),))))
    text = f"DESCRIBE <{EX}a>"
    assert list(answer_rows(core.query(text, now=0, rights=blind))) == []
    assert list(answer_rows(core.query(text, now=0, rights=SECRET))) == [(ex("a"), ex("p"), ex("b"))]


def test_texts_of_one_kind_share_a_template_and_never_an_answer() -> None:
    core = Core(Store([(ex("a"), ex("p"), ex("b"), ""), (ex("a"), ex("p"), ex("c"), ex("h"))]))
    text = PREFIX + "SELECT ?o { { :a :p ?o } UNION { GRAPH ?g { :a :p ?o } } }"
    for _ in range(2):
        assert set(answer_rows(core.query(text, now=0))) == {(ex("b"),), (ex("c"),)}
        assert list(answer_rows(core.query(text, now=0, rights=SECRET))) == [(ex("b"),)]
        assert list(answer_rows(core.query(text, now=0, rights=Rights()))) == []
