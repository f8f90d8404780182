"""What the HTTP gate tells about itself."""

import pyoxigraph as ox
import pytest

from gates.requests import Gate, ask


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


def test_browsers_get_a_page_that_needs_nothing_else(app: Gate) -> None:
    response = ask(app, "GET", "/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<textarea" in response.text
    assert "src=" not in response.text
    assert "<link" not in response.text
