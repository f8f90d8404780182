"""Linked Data Notifications, W3C Recommendation of 2 May 2017: what receivers must and should do, section by section.

The sections are named as the Recommendation names them: Discovery, Receiving, Making Inbox contents available to
consumers, Payload, and Security, Privacy and Content Considerations.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from gates.doors import is_error
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import RDF_TYPE
from tidings.server import brokers, gates
from tidings.server.config import BadSetting, Settings
from tidings.server.optional_gates.opening import optional_gates
from waiting import asynchronous

LD = {"content-type": "application/ld+json"}
LDP = "http://www.w3.org/ns/ldp#"
AS = "https://www.w3.org/ns/activitystreams#"
ANNOUNCE = {
    "@context": "https://www.w3.org/ns/activitystreams",
    "id": "",
    "type": "Announce",
    "actor": "https://example.org/profile#alice",
    "object": {"id": "https://example.org/annotation-1", "name": "A note"},
    "target": "https://example.net/article",
    "updated": "2026-06-23T15:03:01Z",
}


@asynccontextmanager
async def house(**changes: Any) -> AsyncIterator[httpx.AsyncClient]:
    values: dict[str, Any] = {"ldn": True, "base": "http://tidings.test/", "allowed_hosts": ("tidings.test",)}
    settings = Settings(**values | changes)
    async with brokers.build_broker(settings) as broker:
        quotas = gates.client_quotas(settings)
        switched_on = optional_gates(gates.premises(broker, settings, None, quotas), settings)
        gate = gates.http_gate(broker, settings, quotas=quotas, gates=switched_on)
        transport = httpx.ASGITransport(gates.http_app(broker, settings, gate))
        async with httpx.AsyncClient(transport=transport, base_url="http://tidings.test") as client:
            yield client


async def send(client: httpx.AsyncClient, document: Any = ANNOUNCE, **headers: str) -> httpx.Response:
    body = document if isinstance(document, str) else json.dumps(document)
    return await client.post("/inbox/", content=body, headers=LD | headers)


def triples(answer: httpx.Response) -> set[tuple[str, str, str]]:
    assert answer.status_code == 200, answer.text
    named = {each.media.types[0]: each for each in RdfFormat}
    format_ = named[answer.headers["content-type"].partition(";")[0]]
    return {quad[:3] for quad in parse_rdf(answer.content, format_, str(answer.url))}


async def listed(client: httpx.AsyncClient) -> set[str]:
    found = triples(await client.get("/inbox/", headers={"accept": "application/ld+json"}))
    return {o[1:-1] for s, p, o in found if (s, p) == ("<http://tidings.test/inbox/>", f"<{LDP}contains>")}


# -- Discovery ----------------------------------------------------------------------------------------------------


@asynchronous
async def test_discovery_the_inbox_is_in_a_link_header_and_in_the_body() -> None:
    async with house() as client:
        for method in ("GET", "HEAD"):
            answer = await client.request(method, "/", headers={"accept": "application/ld+json"})
            assert answer.headers["link"] == f'<http://tidings.test/inbox/>; rel="{LDP}inbox"'
        found = triples(await client.get("/", headers={"accept": "application/ld+json"}))
        assert ("<http://tidings.test/>", f"<{LDP}inbox>", "<http://tidings.test/inbox/>") in found


@asynchronous
async def test_discovery_without_the_setting_there_is_no_inbox() -> None:
    async with house(ldn=False) as client:
        assert "link" not in (await client.get("/", headers={"accept": "text/turtle"})).headers
        assert is_error(await client.get("/inbox/"), 404, "not_found")


# -- Receiving ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["http://tidings.test/", "http://elsewhere.test/"])
@asynchronous
async def test_receiving_a_post_is_answered_with_201_and_the_location_of_the_notification(base: str) -> None:
    async with house(base=base) as client:
        answer = await send(client)
        assert answer.status_code == 201
        place = answer.headers["location"]
        assert place.startswith("http://tidings.test/inbox/")
        found = triples(await client.get(place))
        me = f"<{place}>"
        assert {
            (me, RDF_TYPE, f"<{AS}Announce>"),
            (me, f"<{AS}object>", "<https://example.org/annotation-1>"),
            ("<https://example.org/annotation-1>", f"<{AS}name>", '"A note"'),
            (me, f"<{AS}updated>", '"2026-06-23T15:03:01Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'),
        } <= found


@asynchronous
async def test_receiving_json_ld_may_come_with_a_profile() -> None:
    async with house() as client:
        profile = 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"'
        assert (await send(client, **{"content-type": profile})).status_code == 201


@asynchronous
async def test_receiving_other_formats_are_taken_as_accept_post_says() -> None:
    async with house() as client:
        for method in ("OPTIONS", "GET", "HEAD"):
            offered = (await client.request(method, "/inbox/")).headers["accept-post"].split(", ")
            assert offered[0] == "application/ld+json"
        allowed = (await client.options("/inbox/")).headers["allow"].split(", ")
        assert {"GET", "HEAD", "POST", "OPTIONS"} == set(allowed)
        documents = {
            "text/turtle": "<> <http://e/p> 1 .",
            "application/n-triples": "<http://e/s> <http://e/p> <http://e/o> .",
            "application/rdf+xml": (
                '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
                '<rdf:Description rdf:about=""><e:p>1</e:p></rdf:Description></rdf:RDF>'
            ),
        }
        for type_, body in documents.items():
            assert type_ in offered
            assert (await send(client, body, **{"content-type": type_})).status_code == 201
        assert is_error(await send(client, "x", **{"content-type": "image/png"}), 415, "unsupported_format")
        unnamed = await client.post("/inbox/", content=b"{}")
        assert is_error(unnamed, 415, "unsupported_format")


# -- Making Inbox contents available to consumers ------------------------------------------------------------------


@asynchronous
async def test_inbox_contents_are_listed_with_contains_as_json_ld() -> None:
    async with house() as client:
        places = {(await send(client)).headers["location"] for _ in range(3)}
        assert await listed(client) == places
        answer = await client.get("/inbox/", headers={"accept": "application/ld+json"})
        assert answer.headers["content-type"] == "application/ld+json"
        assert ("<http://tidings.test/inbox/>", RDF_TYPE, f"<{LDP}Container>") in triples(answer)
        assert f'<{LDP}Container>; rel="type"' in answer.headers["link"]


@asynchronous
async def test_inbox_contents_and_notifications_come_in_rdf_however_they_are_asked_for() -> None:
    async with house() as client:
        place = (await send(client)).headers["location"]
        for address in ("/inbox/", place):
            for accept in ("application/ld+json", "*/*", "", "text/html, application/ld+json;q=0.5"):
                answer = await client.get(address, headers={"accept": accept})
                assert answer.headers["content-type"] == "application/ld+json"
            turtle = await client.get(address, headers={"accept": "text/turtle"})
            assert triples(turtle) == triples(await client.get(address))
            assert is_error(await client.get(address, headers={"accept": "image/png"}), 406, "not_acceptable")


@asynchronous
async def test_inbox_contents_come_in_pages() -> None:
    async with house() as client:
        inbox, created = "http://tidings.test/inbox/", "<http://purl.org/dc/terms/created>"
        day = '"2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
        many = " ".join(
            f"<{inbox}> <{LDP}contains> <{inbox}{n:032x}> . <{inbox}{n:032x}> {created} {day} ." for n in range(1_500)
        )
        await client.post("/update", data={"update": f"INSERT DATA {{ GRAPH <{inbox}> {{ {many} }} }}"})
        first = await client.get("/inbox/")
        next_page = next(part for part in first.headers["link"].split(", ") if 'rel="next"' in part)
        second = await client.get(next_page.partition(">")[0][1:])
        assert 'rel="next"' not in second.headers["link"]
        sizes = [sum(p == f"<{LDP}contains>" for _, p, _ in triples(page)) for page in (first, second)]
        assert sizes == [1_000, 500]
        assert len({o for page in (first, second) for _, p, o in triples(page) if p == f"<{LDP}contains>"}) == 1_500
        assert is_error(await client.get("/inbox/?before=x"), 400, "bad_request")


@asynchronous
async def test_inbox_contents_can_be_removed_and_subscribed_to_like_any_graph() -> None:
    async with house() as client:
        place = (await send(client)).headers["location"]
        inbox = f"GRAPH <http://tidings.test/inbox/> {{ ?i <{LDP}contains> <{place}> }}"
        asked = f"ASK {{ {inbox} GRAPH <{place}> {{ ?s ?p ?o }} }}"
        assert (await client.get("/query", params={"query": asked})).json()["boolean"] is True
        assert (await client.delete(place)).status_code == 204
        assert await listed(client) == set()
        assert is_error(await client.get(place), 404, "not_found")
        assert is_error(await client.delete(place), 404, "not_found")
        everything = "ASK { GRAPH ?g { ?s ?p ?o } }"
        assert (await client.get("/query", params={"query": everything})).json()["boolean"] is False


# -- Payload, and Security, Privacy and Content Considerations -----------------------------------------------------

WRONG = {
    "no JSON": ("{", 400, "rdf_syntax_error"),
    "nothing said": ({"@context": {}}, 400, "not_a_notification"),
    "a graph of its own": (
        {"@id": "http://e/g", "@graph": [{"@id": "http://e/s", "http://e/p": "1"}]}, 400, "not_a_notification"
    ),
    "a context from elsewhere": (ANNOUNCE | {"@context": "https://evil.example/c"}, 400, "context_not_allowed"),
    "an import": ({"@context": {"@import": "https://evil.example/c"}}, 400, "context_not_allowed"),
    "a context within": ({"http://e/p": {"@context": ["http://127.0.0.1/"]}}, 400, "context_not_allowed"),
    "a deep document": ("[" * 500 + "]" * 500, 400, "rdf_syntax_error"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
@asynchronous
async def test_payload_what_is_no_notification_is_refused_and_leaves_nothing(what: str) -> None:
    document, status, code = WRONG[what]
    async with house() as client:
        assert is_error(await send(client, document), status, code)
        assert await listed(client) == set()


@asynchronous
async def test_security_constraints_are_advertised_and_enforced(tmp_path: Path) -> None:
    constraint = tmp_path / "constraint.rq"
    constraint.write_text(f"ASK {{ ?activity a <{AS}Announce> ; <{AS}actor> ?actor }}")
    async with house(ldn_constraint=str(constraint)) as client:
        link = (await client.head("/inbox/")).headers["link"]
        assert f'</inbox/constraints>; rel="{LDP}constrainedBy"' in link
        assert (await client.get("/inbox/constraints")).text == constraint.read_text()
        assert (await send(client)).status_code == 201
        assert is_error(await send(client, ANNOUNCE | {"type": "Like"}), 400, "constraint_not_met")
        assert len(await listed(client)) == 1


@pytest.mark.parametrize("text", ["SELECT * { ?s ?p ?o }", "ASK"])
def test_security_a_constraint_is_an_ask_query(text: str, tmp_path: Path) -> None:
    constraint = tmp_path / "constraint.rq"
    constraint.write_text(text)
    settings = Settings(ldn=True, ldn_constraint=str(constraint))
    broker = brokers.build_broker(settings)
    premises = gates.premises(broker, settings, None, gates.client_quotas(settings))
    with pytest.raises(BadSetting):
        optional_gates(premises, settings)
    with pytest.raises(BadSetting):
        optional_gates(premises, replace(settings, ldn_constraint=str(tmp_path / "nothing")))


@asynchronous
async def test_security_limits_are_those_of_every_request() -> None:
    async with house(max_body=200) as client:
        assert is_error(await send(client), 413, "body_too_large")
    async with house(read_only=True) as client:
        assert is_error(await send(client), 403, "not_allowed")


@asynchronous
async def test_security_what_is_received_and_refused_is_counted() -> None:
    async with house() as client:
        await send(client)
        await send(client, "{")
        status = (await client.get("/status")).json()["gates"]["ldn"]
        assert (status["requests"], status["errors"], status["received"]) == (2, 1, 1)


@asynchronous
async def test_the_paths_are_described() -> None:
    async with house() as client:
        document = (await client.get("/openapi.json")).json()
        validate(document)
        assert {"/inbox/", "/inbox/constraints", "/inbox/{number}"} <= document["paths"].keys()
