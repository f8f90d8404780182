"""Queries of the SPARQL 1.1 Protocol over HTTP, as a client sees them, and the warnings that come with answers."""

import asyncio

import pyoxigraph as ox
import pytest

from gates.doors import is_error
from gates.requests import QUERY, SELECT, UPDATE, Gate, ask, client_of, values
from tidings.model.formats.results.documents import ResultFormat, read_results
from tidings.model.results import Boolean, Solutions
from tidings.server import brokers

CONSTRUCT = "CONSTRUCT WHERE { ?s ?p ?o }"

# -- queries ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/query", "/sparql"])
def test_a_query_can_be_asked_in_three_ways(app: Gate, path: str) -> None:
    answers = [
        ask(app, "GET", path, params={"query": SELECT}),
        ask(app, "POST", path, data={"query": SELECT}),
        ask(app, "POST", path, content=SELECT, headers={"content-type": "application/sparql-query; charset=utf-8"}),
    ]
    assert [values(answer) for answer in answers] == [["1", "été", "2"]] * 3
    assert {answer.headers["content-type"] for answer in answers} == {"application/sparql-results+json"}


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"default-graph-uri": "http://example.org/g"}, ["3"]),
        ({"default-graph-uri": ["http://example.org/g", "http://example.org/h"]}, ["3", "4"]),
        ({"named-graph-uri": "http://example.org/g"}, []),
    ],
)
def test_the_dataset_of_the_request_is_the_dataset(app: Gate, parameters: dict[str, object], found: list[str]) -> None:
    assert values(ask(app, "GET", "/query", params={"query": SELECT} | parameters)) == found
    assert values(ask(app, "POST", "/query", data={"query": SELECT} | parameters)) == found
    assert values(ask(app, "POST", "/query", params=parameters, content=SELECT, headers=QUERY)) == found


@pytest.mark.parametrize("format_", ResultFormat)
def test_results_come_in_every_format_by_header_and_by_parameter(app: Gate, format_: ResultFormat) -> None:
    expected = read_results(ask(app, "GET", "/query", params={"query": SELECT}).content, ResultFormat.JSON)
    assert isinstance(expected, Solutions)
    for options in (
        {"headers": {"accept": f"text/html;q=0.3, {format_.media.types[0]};q=0.9"}},
        {"params": {"format": format_.media.name}},
        {"params": {"format": format_.media.types[0]}},
    ):
        response = ask(
            app, "POST", "/query", content=SELECT, **{**options, "headers": QUERY | options.get("headers", {})}
        )
        assert response.headers["content-type"].partition(";")[0] == format_.media.types[0]
        found = read_results(response.content, format_)
        assert isinstance(found, Solutions)
        assert found.variables == expected.variables
        assert len(list(found.rows)) == 3


@pytest.mark.parametrize(
    ("text", "names", "accept", "found"),
    [
        (SELECT, ["json"], "application/sparql-results+json,application/json,text/javascript", "sparql-results+json"),
        (SELECT, ["tsv", "text/tab-separated-values"], "text/tab-separated-values", "text/tab-separated-values"),
        (CONSTRUCT, ["rdf+xml", "application/rdf+xml"], "application/rdf+xml", "application/rdf+xml"),
        (CONSTRUCT, ["json-ld", "application/ld+json,application/x-json+ld"], "application/ld+json", "ld+json"),
        (CONSTRUCT, ["x", "application/ld+json,application/x-json+ld"], "*/*", "application/ld+json"),
        (CONSTRUCT, ["n3"], "text/rdf+n3", "text/turtle"),
    ],
)
def test_parameters_for_the_format_are_taken_as_sparqlwrapper_gives_them(
    app: Gate, text: str, names: list[str], accept: str, found: str
) -> None:
    parameters = {"query": text, "format": names, "output": names, "results": names}
    for options in ({"params": parameters}, {"data": parameters}):
        method = "GET" if "params" in options else "POST"
        response = ask(app, method, "/query", headers={"accept": accept}, **options)
        assert response.status_code == 200
        assert response.headers["content-type"].partition(";")[0].endswith(found)


def test_formats_of_which_none_is_known_are_refused(app: Gate) -> None:
    response = ask(app, "GET", "/query", params={"query": SELECT, "format": ["papyrus", "clay/tablet"]})
    assert is_error(response, 415, "unsupported_format")
    assert "papyrus" in response.json()["error_description"]


def test_ask_is_answered_by_a_boolean(app: Gate) -> None:
    response = ask(
        app, "GET", "/query", params={"query": "ASK { ?s ?p 42 }"}, headers={"accept": "application/sparql-results+xml"}
    )
    assert read_results(response.content, ResultFormat.XML) == Boolean(False)


@pytest.mark.parametrize(
    ("accept", "syntax"),
    [
        ("*/*", ox.RdfFormat.TURTLE),
        ("text/turtle", ox.RdfFormat.TURTLE),
        ("application/n-triples", ox.RdfFormat.N_TRIPLES),
        ("application/rdf+xml", ox.RdfFormat.RDF_XML),
        ("application/ld+json", ox.RdfFormat.JSON_LD),
        ("application/n-quads", ox.RdfFormat.N_QUADS),
        ("application/trig", ox.RdfFormat.TRIG),
    ],
)
def test_triples_come_in_every_rdf_format(app: Gate, accept: str, syntax: ox.RdfFormat) -> None:
    response = ask(app, "GET", "/query", params={"query": "CONSTRUCT WHERE { ?s ?p ?o }"}, headers={"accept": accept})
    assert response.headers["content-type"].partition(";")[0] == syntax.media_type
    assert len(list(ox.parse(response.content, syntax))) == 3


def test_head_is_a_get_without_its_body(app: Gate) -> None:
    got = ask(app, "GET", "/query", params={"query": SELECT})
    head = ask(app, "HEAD", "/query", params={"query": SELECT})
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.content))


def test_an_answer_larger_than_a_chunk_is_whole_and_compressed_when_welcome(app: Gate) -> None:
    many = "SELECT ?o { VALUES ?a { 1 2 3 4 5 6 7 8 9 10 } VALUES ?b { 1 2 3 4 5 6 7 8 9 10 } " * 1
    query = f"{many} VALUES ?c {{ {' '.join(map(str, range(50)))} }} BIND(?a * ?b + ?c AS ?o) }}"
    plain = ask(app, "POST", "/query", content=query, headers=QUERY | {"accept-encoding": "identity"})
    packed = ask(app, "POST", "/query", content=query, headers=QUERY | {"accept-encoding": "gzip"})
    assert len(plain.content) == int(plain.headers["content-length"]) > 100_000
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert len(values(plain)) == 5000


# -- warnings ---------------------------------------------------------------------------------------------------


def test_an_answer_says_which_function_nobody_knows(app: Gate) -> None:
    answer = ask(app, "GET", "/query", params={"query": "SELECT ?s { ?s ?p ?o FILTER(<http://e/é>(?o)) }"})
    assert answer.status_code == 200
    warning = "the function <http://e/%C3%A9> is not known: every call of it is an error"
    assert answer.headers["tidings-warning"] == warning
    assert "tidings-warning" not in ask(app, "GET", "/query", params={"query": SELECT}).headers


def test_the_log_names_an_unknown_function_once(app: Gate, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with brokers.build_broker(app.settings, app.core) as broker, client_of(broker, app.settings) as client:
            for number in range(3):
                text = f"SELECT ?s {{ ?s ?p ?o FILTER(<http://e/f>(?o) = {number}) }} LIMIT {number + 1}"
                answer = await client.get("/query", params={"query": text})
                assert "http://e/f" in answer.headers["tidings-warning"]
            change = "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(<http://e/g>(?o)) }"
            await client.post("/update", content=change, headers=UPDATE)

    asyncio.run(story())
    said = [record.getMessage() for record in caplog.records if "not known" in record.getMessage()]
    assert said == [
        f"a request was accepted, but the function <http://e/{name}> is not known: every call of it is an error"
        for name in "fg"
    ]
