"""The bibliography grows as the published one, and its questions have the answers that plain loops find."""

from collections import Counter, defaultdict
from hashlib import sha256
from itertools import combinations

import pyoxigraph as ox
import pytest

from tidings.bench.workloads import bibliography as sp2b
from tidings.bench.workloads.bibliography import ERDOES, ns
from tidings.bench.workloads.bibliography_queries import QUERIES
from tidings.model.terms import RDF, RDF_TYPE, Term, Triple, lexical_form, literal

SIZE = 10_000
Rows = set[tuple[str | None, ...]]


class Graph:
    """Triples by predicate and subject."""

    def __init__(self, triples: list[Triple]) -> None:
        self.triples = triples
        self.values: defaultdict[Term, defaultdict[Term, list[Term]]] = defaultdict(lambda: defaultdict(list))
        for s, p, o in triples:
            self.values[p][s].append(o)

    def of(self, name: str, subject: Term) -> list[Term]:
        return self.values[ns(name)].get(subject, [])

    def all(self, name: str) -> list[tuple[Term, Term]]:
        return [(s, o) for s, objects in self.values[ns(name)].items() for o in objects]

    def kind(self, name: str) -> list[Term]:
        return [s for s, kinds in self.values[RDF_TYPE].items() if ns(name) in kinds]

    def names(self, document: Term) -> set[str]:
        return {name for person in self.of("creator", document) for name in self.of("name", person)}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph(list(sp2b.bibliography(SIZE)))


@pytest.fixture(scope="module")
def large() -> list[Triple]:
    return list(sp2b.bibliography(250_000))


def filled(triples: list[Triple]) -> ox.Store:
    store = ox.Store()
    store.bulk_load("".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode(), ox.RdfFormat.N_TRIPLES)
    return store


@pytest.fixture(scope="module")
def store(graph: Graph) -> ox.Store:
    """The bibliography in an independent engine."""
    return filled(graph.triples)


def rows(store: ox.Store, name: str) -> list[tuple[str | None, ...]]:
    solutions = store.query(QUERIES[name])
    assert isinstance(solutions, ox.QuerySolutions)
    return [tuple(None if term is None else str(term) for term in row) for row in solutions]


def said(store: ox.Store, name: str) -> bool:
    answer = store.query(QUERIES[name])
    assert isinstance(answer, ox.QueryBoolean)
    return bool(answer)


def kinds(triples: list[Triple]) -> Counter[str]:
    return Counter(o.rpartition("#")[2].rstrip(">") for _, p, o in triples if p == RDF_TYPE)


# The published sizes (SP2Bench, table of generated documents): 10k triples reach 1955 with 25 journals, 916 articles,
# 6 proceedings, 169 inproceedings and 18 incollections; 250k reach 1979 with 439, 17.1k, 213, 9.2k and 173.
PUBLISHED = {
    10_000: {"Journal": 25, "Article": 916, "Proceedings": 6, "Inproceedings": 169, "Incollection": 18},
    250_000: {"Journal": 439, "Article": 17_100, "Proceedings": 213, "Inproceedings": 9_200, "Incollection": 173},
}


@pytest.mark.parametrize("size", [10_000, 250_000])
def test_there_are_about_as_many_documents_of_each_kind_as_published(
    size: int, graph: Graph, large: list[Triple]
) -> None:
    counts = kinds(graph.triples if size == SIZE else large)
    for kind, published in PUBLISHED[size].items():
        assert counts[kind] == pytest.approx(published, rel=0.15), kind


def test_authorships_and_authors_are_about_as_many_as_published(graph: Graph, large: list[Triple]) -> None:
    # 10k triples: 1.5k authorships of 0.9k authors; 250k: 34.5k of 20.0k.
    for triples, authorships, authors in ((graph.triples, 1_500, 900), (large, 34_500, 20_000)):
        assert sum(p == ns("creator") for _, p, _ in triples) == pytest.approx(authorships, rel=0.15)
        assert kinds(triples)["Person"] == pytest.approx(authors, rel=0.2)


def test_the_years_reach_as_far_as_published(graph: Graph, large: list[Triple]) -> None:
    for triples, last in ((graph.triples, 1955), (large, 1979)):
        years = [int(lexical_form(o)) for _, p, o in triples if p == ns("issued")]
        assert years == sorted(years)
        assert years[0] == 1940  # the first year with a journal
        assert abs(years[-1] - last) <= 1


def test_few_authors_write_much_and_most_write_once(large: list[Triple]) -> None:
    # A power law of exponent between 2.48 and 3.08: f(1) / f(2) is between 5.6 and 8.5 for the law alone, and less in
    # Simon's model, whose law begins later; f(2) / f(8) is between 31 and 72.
    written = Counter(o for _, p, o in large if p == ns("creator") and o != ERDOES)
    authors = Counter(written.values())
    assert authors[1] / sum(authors.values()) > 0.6
    assert authors[1] > 3 * authors[2] > 3 * authors[3] > 3 * authors[4]
    assert 15 < authors[2] / authors[8] < 150
    assert max(authors) > 30


def test_attributes_are_as_likely_as_published(large: list[Triple]) -> None:
    counts = kinds(large)
    given = Counter((s.rpartition("#")[2].partition("_")[0], p) for s, p in {(s, p) for s, p, _ in large})
    for kind, attribute, share in (
        ("Article", "pages", 0.9261),
        ("Article", "month", 0.0065),
        ("Article", "journal", 0.9994),
        ("Inproceedings", "pages", 0.9489),
        ("Inproceedings", "creator", 0.9970),
        ("Inproceedings", "references", 0.0104),
        ("Article", "references", 0.0048),
    ):
        assert given[kind, ns(attribute)] / counts[kind] == pytest.approx(share, rel=0.02, abs=0.003), attribute


def test_reference_lists_have_about_17_members_that_exist(large: list[Triple]) -> None:
    # Citations: normal, mean 16.82, deviation 10.07, cut at 1.
    members = [(s, o) for s, p, o in large if p.startswith(f"<{RDF}_")]
    subjects = {s for s, _, _ in large}
    assert all(o in subjects for _, o in members)
    assert len(members) / len({s for s, _ in members}) == pytest.approx(16.82, rel=0.15)


def test_paul_erdoes_writes_ten_papers_and_edits_two_proceedings_a_year(large: list[Triple]) -> None:
    graph = Graph(large)
    papers = Counter(graph.of("issued", s)[0] for s, o in graph.all("creator") if o == ERDOES)
    editions = Counter(graph.of("issued", s)[0] for s, o in graph.all("editor") if o == ERDOES)
    assert {papers[sp2b.integer(year)] for year in range(1940, 1978)} == {10}
    assert {editions[sp2b.integer(year)] for year in range(1960, 1978)} == {2}


def test_persons_and_reference_lists_are_blank_nodes(graph: Graph) -> None:
    assert {person[0] for person in graph.kind("Person") if person != ERDOES} == {"_"}
    names = [o for _, o in graph.all("name")]
    assert len(set(names)) == len(names) == len(graph.kind("Person"))
    assert {bag[0] for _, bag in graph.all("references")} == {"_"}


@pytest.mark.parametrize("size", [1, 9, 500, 9_999, 30_000])
def test_there_are_as_many_triples_as_asked_for_and_few_more(size: int) -> None:
    triples = list(sp2b.bibliography(size))
    assert size <= len(triples) < size + 60
    assert len(set(triples)) == len(triples)


def test_a_larger_bibliography_begins_with_the_smaller(graph: Graph, large: list[Triple]) -> None:
    assert large[: len(graph.triples)] == graph.triples


def test_the_same_seed_gives_the_same_triples_and_another_seed_others(graph: Graph) -> None:
    assert list(sp2b.bibliography(SIZE, seed=sp2b.SEED)) == graph.triples
    assert set(sp2b.bibliography(SIZE, seed=1)) != set(graph.triples)


def test_the_triples_stay_what_they_were_from_version_to_version(graph: Graph) -> None:
    lines = "".join(f"{s} {p} {o} .\n" for s, p, o in graph.triples)
    assert sha256(lines.encode()).hexdigest() == "2a24b8160714f6f33edb7019fbdc34e54d6ff8be5a878f1bcca7db135da06f23"


def test_terms_are_canonical(graph: Graph) -> None:
    document = "".join(f"{s} {p} {o} .\n" for s, p, o in graph.triples).encode()
    quads = ox.parse(document, ox.RdfFormat.N_TRIPLES)
    assert [(str(q.subject), str(q.predicate), str(q.object)) for q in quads] == graph.triples


def test_an_empty_bibliography_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        next(sp2b.bibliography(0))


def test_there_is_a_question_of_each_kind() -> None:
    assert " ".join(QUERIES) == "Q1 Q2 Q3a Q3b Q3c Q4 Q5a Q5b Q6 Q7 Q8 Q9 Q10 Q11 Q12a Q12b Q12c"


def test_a_lookup_finds_the_first_journal(store: ox.Store) -> None:
    assert rows(store, "Q1") == [(sp2b.integer(1940),)]


def test_the_wide_star_has_a_row_for_each_author_of_a_complete_paper(store: ox.Store, graph: Graph) -> None:
    answer = rows(store, "Q2")
    complete = [s for s in graph.kind("Inproceedings") if graph.of("seeAlso", s) and graph.of("pages", s)]
    assert len(answer) == sum(len(graph.of("creator", s)) for s in complete)
    years = [row[8] for row in answer]
    assert years == sorted(years, key=str)


@pytest.mark.parametrize(("name", "attribute"), [("Q3a", "pages"), ("Q3b", "month"), ("Q3c", "isbn")])
def test_a_filter_on_the_property_finds_many_few_or_none(
    store: ox.Store, graph: Graph, name: str, attribute: str
) -> None:
    found = [article for article in graph.kind("Article") if graph.of(attribute, article)]
    assert {row[0] for row in rows(store, name)} == set(found)
    assert bool(found) == (name != "Q3c")


def test_pairs_of_authors_in_one_journal(store: ox.Store, graph: Graph) -> None:
    by_journal: defaultdict[Term, set[str]] = defaultdict(set)
    for article, journal in graph.all("journal"):
        by_journal[journal] |= graph.names(article)
    pairs: Rows = {pair for names in by_journal.values() for pair in combinations(sorted(names, key=lexical_form), 2)}
    answer = rows(store, "Q4")
    assert set(answer) == pairs
    assert len(answer) == len(pairs) > 1000


def test_who_writes_articles_and_papers_is_found_by_filter_and_by_variable(store: ox.Store, graph: Graph) -> None:
    def writers(kind: str) -> set[str]:
        return {name for document in graph.kind(kind) for name in graph.names(document)}

    both = writers("Article") & writers("Inproceedings")
    assert {row[1] for row in rows(store, "Q5b")} == both
    assert both
    assert sorted(rows(store, "Q5a"), key=str) == sorted(rows(store, "Q5b"), key=str)


def test_first_publications_are_found_by_negation() -> None:
    graph = Graph(list(sp2b.bibliography(3_000)))  # negation compares everything with everything
    first: dict[Term, str] = {}
    for document, author in graph.all("creator"):
        year = graph.of("issued", document)[0]
        first[author] = min(first.get(author, year), year)
    found = {
        (first[author], graph.of("name", author)[0], document)
        for document, author in graph.all("creator")
        if graph.of("issued", document)[0] == first[author]
    }
    answer = rows(filled(graph.triples), "Q6")
    assert set(answer) == found
    assert len(answer) == len(found)


def test_documents_cited_by_cited_documents_only_are_found_by_double_negation(large: list[Triple]) -> None:
    graph = Graph(large)
    owner = {bag: document for document, bag in graph.all("references")}
    citing: defaultdict[Term, set[Term]] = defaultdict(set)
    for s, p, o in graph.triples:
        if p.startswith(f"<{RDF}_") and s in owner:
            citing[o].add(owner[s])
    found = {graph.of("title", cited)[0] for cited, by in citing.items() if all(one in citing for one in by)}
    assert {row[0] for row in rows(filled(graph.triples), "Q7")} == found
    assert found


def test_erdoes_numbers_1_and_2(store: ox.Store, graph: Graph) -> None:
    first = {a for s, o in graph.all("creator") if o == ERDOES for a in graph.of("creator", s)} - {ERDOES}
    documents = {s for s, o in graph.all("creator") if o in first}
    reached = {author for s in documents for author in graph.of("creator", s)} - {ERDOES}
    assert {row[0] for row in rows(store, "Q8")} == {graph.of("name", person)[0] for person in first | reached}
    assert first


def test_what_leads_to_persons_and_from_them(store: ox.Store) -> None:
    assert {row[0] for row in rows(store, "Q9")} == {ns("creator"), ns("editor"), RDF_TYPE, ns("name")}
    assert len(rows(store, "Q9")) == 4


def test_all_that_leads_to_paul_erdoes(store: ox.Store, graph: Graph) -> None:
    assert set(rows(store, "Q10")) == {(s, p) for s, p, o in graph.triples if o == ERDOES}


def test_a_page_of_an_ordered_answer(store: ox.Store, graph: Graph) -> None:
    assert [row[0] for row in rows(store, "Q11")] == sorted((o for _, o in graph.all("seeAlso")), key=lexical_form)[
        50:60
    ]


def test_the_questions_that_ask_whether(store: ox.Store) -> None:
    assert [said(store, name) for name in ("Q12a", "Q12b", "Q12c")] == [True, True, False]


def test_names_do_not_repeat() -> None:
    names = {sp2b.person_name(number) for number in range(20_000)}
    assert len(names) == 20_000
    assert sp2b.person_name(0) == "Ada Abel"
    assert literal("Paul Erdoes") not in names
