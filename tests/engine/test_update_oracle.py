"""Random update requests on our store and on pyoxigraph's leave the same quads; the delta says exactly what changed.

pyoxigraph differs by design in three things, which `follow` knows: it records empty graphs, and so CLEAR and DROP of a
graph without quads fail there unless SILENT; it makes COPY, MOVE and ADD of a missing graph clear the target; and it
inserts into graphs named by blank nodes, where section 13 of SPARQL 1.1 Query names graphs by IRIs.
"""

import re

import pyoxigraph
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from oracles.faults import DUPLICATES, faults
from oracles.oxigraph import canonical, from_store, to_store
from strategies.data import EX, datasets
from strategies.updates import request, requests
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.errors import GraphExists, GraphMissing, TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Modify
from tidings.sparql.parser import parse_update

SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
_TRANSFER = re.compile(r"(COPY|MOVE|ADD) (SILENT )?(?:GRAPH )?(\S+) TO (?:GRAPH )?(\S+)")
_CREATE = re.compile(r"CREATE (SILENT )?GRAPH (\S+)")


def execute(store: Store, text: str) -> ZSet[Quad]:
    return Core(store).update(text, now=0)


def quads_in(store: pyoxigraph.Store, graph: str) -> bool:
    name = pyoxigraph.DefaultGraph() if graph == "DEFAULT" else pyoxigraph.NamedNode(graph[1:-1])
    return next(store.quads_for_pattern(None, None, None, name), None) is not None


def follow(store: pyoxigraph.Store, text: str) -> type[TidingsError] | None:
    """Have the oracle carry out one operation as we understand it; the error that is due instead, if one is."""
    if found := _CREATE.fullmatch(text):
        silent, graph = found.groups()
        return GraphExists if quads_in(store, graph) and not silent else None
    if found := _TRANSFER.fullmatch(text):
        _, silent, source, target = found.groups()
        if source != "DEFAULT" and not quads_in(store, source):
            return None if silent else GraphMissing
        if source == target:
            return None
    store.update(re.sub(r"^(CLEAR|DROP) (?!SILENT)", r"\1 SILENT ", text))
    for quad in [quad for quad in store if isinstance(quad.graph_name, pyoxigraph.BlankNode)]:
        store.remove(quad)
    return None


def follow_all(store: pyoxigraph.Store, texts: list[str]) -> type[TidingsError] | None:
    for text in texts:
        error = follow(store, text)
        if error is not None:
            return error
    return None


def faulty(text: str) -> bool:
    """Whether the oracle cannot be trusted with a pattern.

    How often a row is there matters to an update only if its template makes blank nodes.
    """
    for operation in parse_update(text):
        if isinstance(operation, Modify):
            makes_blanks = any(term[:1] == "_" for quad in operation.insert for term in quad)
            if faults(text, operation.pattern) - (frozenset() if makes_blanks else DUPLICATES):
                return True
    return False


@SETTINGS
@example(
    [("_:x", f"<{EX}p>", f"<{EX}a>", "")], [[f"INSERT {{ GRAPH ?g {{ ?g <{EX}q> ?o }} }} WHERE {{ ?g <{EX}p> ?o }}"]]
)
@given(datasets, st.lists(requests, min_size=1, max_size=3))
def test_updates_leave_the_same_quads_as_the_oracle(quads: list[Quad], sequence: list[list[str]]) -> None:
    assume(not any(faulty(text) for texts in sequence for text in texts))
    ours, theirs = Store(quads), to_store(quads)
    for texts in sequence:
        before = set(ours)
        due = follow_all(theirs, texts)
        if due is None:
            execute(ours, request(texts))
        else:
            with pytest.raises(due):
                execute(ours, request(texts))
            assert set(ours) == before
            theirs = to_store(before)
        assert canonical(ours) == canonical(from_store(theirs))


@SETTINGS
@given(datasets, st.lists(requests, min_size=1, max_size=3))
def test_the_delta_is_the_difference_and_its_negation_restores(quads: list[Quad], sequence: list[list[str]]) -> None:
    store = Store(quads)
    for texts in sequence:
        before = set(store)
        try:
            delta = execute(store, request(texts))
        except (GraphExists, GraphMissing):
            assert set(store) == before
            continue
        after = set(store)
        assert delta == ZSet.change(removed=before - after, added=after - before)
        assert bool(delta) == (before != after)
        store.apply(-delta)
        assert set(store) == before
        assert len(store) == len(before)
        store.apply(delta)
        assert set(store) == after


@SETTINGS
@given(datasets, requests, st.sampled_from(["COPY <urn:none> TO DEFAULT", "LOAD <urn:none>"]))
@example([], ["INSERT DATA { <urn:a> <urn:p> 1 }"], "MOVE <urn:none> TO <urn:x>")
def test_a_request_that_fails_at_its_end_leaves_nothing_behind(quads: list[Quad], texts: list[str], last: str) -> None:
    store = Store(quads)
    before = list(store)
    with pytest.raises(TidingsError):
        execute(store, request([*texts, last]))
    assert set(store) == set(before)
    assert len(store) == len(set(before))


def test_a_graph_is_named_by_an_iri_and_nothing_else() -> None:
    """SPARQL 1.1 Query, 13; pyoxigraph lets blank nodes name graphs, so the strategies do not go there."""
    store = Store([("_:x", "<urn:p>", '"s"', ""), ("<urn:a>", "<urn:p>", "<urn:g>", "")])
    delta = execute(
        store, "INSERT { GRAPH ?s { ?s ?p 1 } GRAPH ?o { ?s ?p 2 } GRAPH ?z { ?s ?p 3 } } WHERE { ?s ?p ?o }"
    )
    assert {quad[3] for quad in delta.added()} == {"<urn:a>", "<urn:g>"}


def test_what_is_no_rdf_is_not_inserted() -> None:
    store = Store([("_:x", "<urn:p>", '"s"', "")])
    assert not execute(store, "INSERT { ?o ?p 1 . ?s ?s 1 . ?s ?o 1 . ?s ?p ?z } WHERE { ?s ?p ?o }")
