"""What the HTTP gate tells about itself."""

import pyoxigraph as ox
import pytest

from gates.requests import Gate, ask
from tidings.engine.store.store import Store
from tidings.gates.http.service_description import SD, VOID, describe
from tidings.model.access import Graphs


@pytest.mark.parametrize("path", ["/", "/sparql", "/query"])
def test_programs_get_a_service_description(app: Gate, path: str) -> None:
    response = ask(app, "GET", path, headers={"accept": "application/n-triples"})
    found = {
        (quad.predicate.value.rpartition("#")[2], getattr(quad.object, "value", ""))
        for quad in ox.parse(response.content, ox.RdfFormat.N_TRIPLES)
    }
    sd = "http://www.w3.org/ns/sparql-service-description#"
    assert ("endpoint", "http://tidings.test/sparql") in found
    assert ("supportedLanguage", f"{sd}SPARQL11Update") in found
    assert ("resultFormat", "http://www.w3.org/ns/formats/SPARQL_Results_JSON") in found
    assert ("name", "http://example.org/g") in found


def test_a_forged_host_does_not_get_into_the_description(app: Gate) -> None:
    response = ask(app, "GET", "/", headers={"host": 'x"> <http://evil.example/> "'})
    assert response.status_code == 421
    assert "evil" not in response.text


def test_browsers_get_a_page(app: Gate) -> None:
    response = ask(app, "GET", "/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "<title>Tidings</title>" in response.text


def test_the_description_tells_of_the_graphs_that_may_be_read_and_of_no_others() -> None:
    store = Store([("<a>", "<p>", "<b>", ""), ("<a>", "<p>", "<b>", "<x:g>"), ("<a>", "<p>", "<b>", "<x:h>")])
    seen = {}
    for readable in (Graphs.ALL, Graphs(names=frozenset(("<x:g>",))), Graphs.NONE):
        triples = list(describe("http://e/query", store, updates=True, loads=False, readable=readable))
        names = {o for _, p, o in triples if p == f"<{SD}name>"}
        counts = sorted(o[1] for _, p, o in triples if p == f"<{VOID}triples>")
        seen[len(names)] = (names, counts)
    assert seen == {2: ({"<x:g>", "<x:h>"}, ["1", "1", "1"]), 1: ({"<x:g>"}, ["0", "1"]), 0: (set(), ["0"])}
