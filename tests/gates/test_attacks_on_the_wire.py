"""Attacks by those who have no token, or one that does not count, on the way in."""

from pathlib import Path

import pytest

from gates.client import connected
from gates.doors import indoors
from gates.secured import A, B, secured
from gates.sockets import asynchronous

UPDATE = {"update": "INSERT DATA { <x> <y> <z> }"}
NONSENSE = {
    "nonsense": ("Bearer nonsense", "invalid_request"),
    "nothing behind it": ("Bearer", "invalid_request"),
    "another kind": ("Basic YTpi", "unsupported_grant_type"),
    "no signature": ("Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJib3NzIn0.", "invalid_request"),
    "very long": ("Bearer " + "a" * 20_000, "invalid_request"),
}


@pytest.mark.parametrize("kind", NONSENSE)
@asynchronous
async def test_what_is_no_token_opens_no_way_in(tmp_path: Path, kind: str) -> None:
    shown, code = NONSENSE[kind]
    async with secured(tmp_path) as house, connected(house) as client:
        before = len(house.broker.store)
        for path in ("/update", "/secure/update", "/sparql"):
            answer = await house.http.post(path, data=UPDATE, headers={"authorization": shown})
            assert (answer.status_code, answer.json()["error"]) == (401, code)
            assert answer.headers["www-authenticate"].startswith("Bearer")
        refused = await client.ask({"update": {"sparql": UPDATE["update"], "authorization": shown, "alias": "a"}})
        assert (refused["status_code"], refused["error"], refused["alias"]) == (401, code, "a")
        assert len(house.broker.store) == before


@asynchronous
async def test_two_authorization_headers_are_one_too_many(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        boss = await house.newcomer("boss")
        headers = [("authorization", boss), ("authorization", "Bearer other")]
        answer = await house.http.post("/update", data=UPDATE, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_request")


@asynchronous
async def test_an_expired_token_says_that_another_one_would_help(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        boss = await house.newcomer("boss")
        house.clock.pass_by(601)
        answer = await house.http.post("/update", data=UPDATE, headers={"authorization": boss})
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_grant")
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@asynchronous
async def test_a_binding_cannot_name_a_graph_that_may_not_be_written(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as client:
        token = await house.newcomer("writer")
        template = "INSERT { GRAPH ?g { <s> <q> ?o } } WHERE { }"
        prepared = await client.ask({"prepare": {"sparql": template, "authorization": token}})
        name = prepared["response"]["prepared"]
        evil = f"1 }} GRAPH <{B}> {{ <s> <q> 2"
        allowed = {"g": {"type": "uri", "value": A}, "o": {"type": "literal", "value": evil}}
        assert "response" in await client.ask({"update": {"prepared": name, "bindings": allowed}})
        forbidden = {"g": {"type": "uri", "value": B}, "o": {"type": "literal", "value": "1"}}
        refused = await client.ask({"update": {"prepared": name, "bindings": forbidden}})
        assert (refused["status_code"], refused["error"]) == (403, "graph_not_writable")


@asynchronous
async def test_deep_and_broken_messages_are_refused_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as client:
        for document in ("[" * 100_000, '{"subscribe":' * 50_000, "{}", '{"update":{"sparql":1}}'):
            client.send(document)
            assert (await client.next())["status_code"] == 400
        boss = await house.newcomer("boss")
        assert "response" in await client.ask({"query": {"sparql": "ASK {}", "authorization": boss}})


@asynchronous
async def test_messages_keep_their_order_while_it_is_found_out_who_sends_them(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as client:
        boss = await house.newcomer("boss")
        for number in range(20):
            message = {"sparql": f"INSERT DATA {{ <n> <is> {number} }}", "alias": number}
            client.send({"update": message | ({"authorization": boss} if number == 0 else {})})
        assert [(await client.next())["response"]["alias"] for _ in range(20)] == list(range(20))


@asynchronous
async def test_below_secure_there_is_nothing_where_nobody_is_asked(tmp_path: Path) -> None:
    async with indoors() as house:
        answer = await house.http.post("/secure/update", data=UPDATE, headers={"authorization": "Bearer nonsense"})
        assert answer.status_code == 404
        assert len(house.broker.store) == 0


@asynchronous
async def test_the_first_start_makes_an_administrator_and_tells_its_secret_once(tmp_path: Path) -> None:
    async with secured(tmp_path, None) as house:
        (said,) = house.said
        token = await house.login("admin", said.rpartition(" ")[2])
        answer = await house.http.post("/update", data=UPDATE, headers={"authorization": token})
        assert answer.status_code == 200
        wanted = {"register": {"client_identity": "admin2", "grant_types": ["client_credentials"]}}
        answer = await house.http.post("/oauth/register", json=wanted)
        assert (answer.status_code, answer.json()["error"]) == (401, "not_authorized_identity")
