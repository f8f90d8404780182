"""What the HTTP gate tells about itself, and to the pages of which origins."""

import pyoxigraph as ox
import pytest

from gates.requests import SELECT, Gate, ask, gate
from tidings.engine.store.store import Store
from tidings.gates.http.service_description import SD, VOID, describe
from tidings.model.access import Graphs


def test_pages_of_other_origins_may_call(app: Gate) -> None:
    preflight = ask(
        app, "OPTIONS", "/update",
        headers={"origin": "http://other.example", "access-control-request-method": "POST",
                 "access-control-request-headers": "content-type, authorization"},
    )  # fmt: skip
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "POST" in preflight.headers["access-control-allow-methods"]
    for path in ("/query", "/nope"):
        answer = ask(app, "GET", path, params={"query": SELECT}, headers={"origin": "http://other.example"})
        assert answer.headers["access-control-allow-origin"] == "*"


def test_only_the_origins_of_the_settings_may_call() -> None:
    app = gate(cors=("http://mine.example",))
    mine = ask(app, "GET", "/healthz", headers={"origin": "http://mine.example"})
    other = ask(app, "GET", "/healthz", headers={"origin": "http://other.example"})
    assert mine.headers["access-control-allow-origin"] == "http://mine.example"
    assert "access-control-allow-origin" not in other.headers


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
    assert response.status_code in (200, 400)
    assert "evil" not in response.text


def test_browsers_get_a_page_that_needs_nothing_else(app: Gate) -> None:
    response = ask(app, "GET", "/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<textarea" in response.text
    assert "src=" not in response.text
    assert "<link" not in response.text


def test_the_description_tells_of_the_graphs_that_may_be_read_and_of_no_others() -> None:
    store = Store([("<a>", "<p>", "<b>", ""), ("<a>", "<p>", "<b>", "<x:g>"), ("<a>", "<p>", "<b>", "<x:h>")])
    seen = {}
    for readable in (Graphs.ALL, Graphs(names=frozenset(("<x:g>",))), Graphs.NONE):
        triples = list(describe("http://e/query", store, updates=True, loads=False, readable=readable))
        names = {o for _, p, o in triples if p == f"<{SD}name>"}
        counts = sorted(o[1] for _, p, o in triples if p == f"<{VOID}triples>")
        seen[len(names)] = (names, counts)
    assert seen == {2: ({"<x:g>", "<x:h>"}, ["1", "1", "1"]), 1: ({"<x:g>"}, ["0", "1"]), 0: (set(), ["0"])}
