"""RDF-M3 in the words of SPARQL does in pyoxigraph what plain loops over triples do."""

from collections.abc import Callable, Iterable, Sequence

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.bench.workloads import m3
from tidings.bench.workloads.m3 import ANY, ANY_IRI, Pattern, Template
from tidings.model.errors import BadRequest
from tidings.model.terms import RDF_TYPE, XSD, Triple, iri, lang_literal, literal

IRIS = st.sampled_from([iri(f"http://example.org/{name}") for name in "abc"])
# No lexical form but the canonical one: pyoxigraph's store would write another.
LITERALS = st.sampled_from(
    [
        literal("a"),
        literal('say "a"\nagain \\ \x7f'),
        literal("1", f"{XSD}integer"),
        literal("1", f"{XSD}decimal"),
        lang_literal("a", "en"),
    ]
)
TRIPLES = st.lists(st.tuples(IRIS, IRIS, IRIS | LITERALS), max_size=12)
WILD = st.sampled_from([ANY, ANY, ANY_IRI])
PATTERNS = st.lists(st.tuples(IRIS | WILD, IRIS | WILD, IRIS | LITERALS | WILD), max_size=4)


def matches(pattern: Pattern, triple: Triple) -> bool:
    return all(place in {ANY, ANY_IRI, term} for place, term in zip(pattern, triple, strict=True))


def matching(patterns: Iterable[Pattern], triples: Iterable[Triple]) -> set[Triple]:
    return {triple for triple in triples if any(matches(pattern, triple) for pattern in patterns)}


def filled(triples: Iterable[Triple]) -> ox.Store:
    store = ox.Store()
    store.load("".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode(), ox.RdfFormat.N_TRIPLES)
    return store


def content(store: ox.Store) -> set[Triple]:
    return {(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in store}


def answer(store: ox.Store, text: str) -> list[Triple]:
    solutions = store.query(text)
    assert isinstance(solutions, ox.QuerySolutions)
    return [(str(row["s"]), str(row["p"]), str(row["o"])) for row in solutions]


@given(TRIPLES, PATTERNS.filter(bool))
def test_a_query_finds_each_triple_that_matches_a_pattern_once(triples: list[Triple], patterns: list[Pattern]) -> None:
    found = answer(filled(triples), m3.query(patterns))
    assert set(found) == matching(patterns, triples)
    assert len(set(found)) == len(found)


@given(TRIPLES, PATTERNS)
def test_removing_patterns_leaves_what_matches_none(triples: list[Triple], patterns: list[Pattern]) -> None:
    store = filled(triples)
    store.update(m3.remove(patterns))
    assert content(store) == set(triples) - matching(patterns, triples)


@given(TRIPLES, TRIPLES)
def test_inserting_adds_and_removing_the_same_undoes(triples: list[Triple], more: list[Triple]) -> None:
    store = filled(triples)
    store.update(m3.insert(more))
    assert content(store) == set(triples) | set(more)
    store.update(m3.remove(set(more) - set(triples)))
    assert content(store) == set(triples)


@given(TRIPLES, PATTERNS, TRIPLES)
def test_an_update_removes_first(triples: list[Triple], removed: list[Pattern], inserted: list[Triple]) -> None:
    store = filled(triples)
    store.update(m3.update(removed, inserted))
    assert content(store) == (set(triples) - matching(removed, triples)) | set(inserted)


def test_the_papers_query_for_everything_is_its_sparql_query() -> None:
    assert m3.query([("*", "*", "*")]) == "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"


def test_a_pattern_within_another_one_is_not_asked_for() -> None:
    assert m3.query([("*", "rdf:type", "*"), ("*", "rdf:type", "<http://ns#Person>")]) == m3.query(
        [("*", RDF_TYPE, "*")]
    )


def test_prefixed_names_are_iris() -> None:
    prefixes = {"ns": "http://ns#", "": "http://example.org/"}
    assert m3.pattern(["*", "rdf:type", "ns:Person"], prefixes) == (ANY, RDF_TYPE, "<http://ns#Person>")
    assert m3.pattern([":a", "ns:b", '"c:d"'], prefixes) == ("<http://example.org/a>", "<http://ns#b>", '"c:d"')


@pytest.mark.parametrize(
    "row",
    [
        ["*", "*"],
        ["*", "*", "*", "*"],
        ['"literal"', "*", "*"],
        ["*", '"literal"', "*"],
        ["*", "*", "_:b"],
        ["*", "*", "nowhere:name"],
        ["*", "*", "plain"],
        ["*", "*", ""],
        ["*", "*", "\ud800"],
        ["*", "*", "<a:b> } ; DROP ALL #"],
        ["*", "*", '"a" .\n<x:s> <x:p> "b"'],
    ],
)
def test_what_is_no_pattern_is_refused(row: Sequence[str]) -> None:
    with pytest.raises(BadRequest):
        m3.query([row])


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: m3.query([]),
        lambda: m3.insert([("<a:a>", "<a:b>", ANY)]),
        lambda: m3.insert([(ANY_IRI, "<a:b>", "<a:c>")]),
        lambda: Template(kinds=("Literal", "URI", "URI")),
        lambda: Template(texts=("ns:Sub N", "ns:PredN", "ObjN")),
    ],
)
def test_what_cannot_be_said_is_refused(mistake: Callable[[], object]) -> None:
    with pytest.raises(BadRequest):
        mistake()


def test_the_papers_template_makes_n_triples_of_uri_uri_literal() -> None:
    # ns bound to http://ns#; ns:SubN, ns:PredN, ObjN; URI, URI, Literal.
    assert m3.template(2, first=7) == [
        ("<http://ns#Sub7>", "<http://ns#Pred7>", '"Obj7"'),
        ("<http://ns#Sub8>", "<http://ns#Pred8>", '"Obj8"'),
    ]
    assert len(set(m3.template(2500))) == 2500
    assert not set(m3.template(250)) & set(m3.template(250, first=251))


def test_a_template_may_hold_still_in_places_and_have_other_kinds() -> None:
    still = Template(("ns:N", "http://example.org/p", "ns:ObjN"), ("URI", "URI", "URI"))
    assert m3.template(1, 3, still) == [("<http://ns#3>", "<http://example.org/p>", "<http://ns#Obj3>")]


def test_the_template_goes_in_and_out_by_either_formalism() -> None:
    triples = m3.template(250)
    store = ox.Store()
    for put, take in ((m3.insert, m3.remove), (m3.insert_data, m3.delete_data)):
        store.update(put(triples))
        assert content(store) == set(triples)
        store.update(take(triples))
        assert content(store) == set()
