"""Attacks on what the broker can do: requests that mean two things, bombs of all kinds, and ways out of where one is.

Each of them ends in an answer with a code, and the broker goes on as if nothing had been.
"""

import asyncio
import gzip
from contextlib import suppress
from pathlib import Path

import pytest

from gates.client import connected
from gates.doors import House, indoors, is_error, listening, with_websockets
from gates.secured import A, B, secured
from gates.sockets import asynchronous
from tidings.gates.http.connection import HEADER_BYTES
from waiting import PATIENCE, until

INSERT = b"update=INSERT+DATA+%7B+%3Ca%3E+%3Cb%3E+1+%7D"
SMUGGLED = (
    b"POST /update HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(INSERT), INSERT)
)
FORM = b"content-type: application/x-www-form-urlencoded\r\n"


async def said(house: House, sent: bytes) -> bytes:
    """All that comes back for some bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", house.http.base_url.port)
    writer.write(sent)
    writer.write_eof()
    async with asyncio.timeout(PATIENCE):
        answer = await reader.read()
    writer.close()
    return answer


MOST_ON_THE_WAY = 64 << 20
"""Bytes that a socket may have taken which nobody has read."""


TWO_LENGTHS = {
    "a length and chunks": b"content-length: %d\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": b"transfer-encoding: chunked\r\ncontent-length: %d\r\n\r\n0\r\n\r\n",
    "two lengths": b"content-length: 0\r\ncontent-length: %d\r\n\r\n",
    "a list of lengths": b"content-length: 0, %d\r\n\r\n",
    "a signed length": b"content-length: +0\r\nx: %d\r\n\r\n",
    "chunks by another name": b"transfer-encoding: xchunked\r\ncontent-length: %d\r\n\r\n",
    "a space before the colon": b"content-length : 0\r\nx: %d\r\n\r\n",
    "a line that goes on": b"content-length: 0\r\n x: %d\r\n\r\n",
}


@pytest.mark.parametrize("kind", TWO_LENGTHS)
@asynchronous
async def test_a_request_that_could_end_in_two_places_smuggles_no_other_one(kind: str) -> None:
    async with listening() as house:
        head = b"POST /query HTTP/1.1\r\nhost: localhost\r\n" + FORM + TWO_LENGTHS[kind] % len(SMUGGLED)
        answer = await said(house, head + SMUGGLED)
        assert answer.startswith(b"HTTP/1.1 400 ") or answer.count(b"HTTP/1.1 ") == 1, answer
        assert len(house.broker.store) == 0


ENDLESS = {
    "a header": (b"GET /query HTTP/1.1\r\nhost: localhost\r\nx: ", b"x" * 65_536),
    "the name of a header": (b"GET /query HTTP/1.1\r\nhost: localhost\r\n", b"x" * 65_536),
    "headers": (b"GET /query HTTP/1.1\r\nhost: localhost\r\n", b"x: y\r\n" * 8_192),
    "an address": (b"GET /query?query=", b"x" * 65_536),
    "an extension of a chunk": (
        b"POST /query HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n1;",
        b"x" * 65_536,
    ),
    "a trailer": (
        b"POST /query HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ",
        b"x" * 65_536,
    ),
}


@pytest.mark.parametrize("kind", ENDLESS)
@asynchronous
async def test_what_has_no_end_is_cut_off_before_it_fills_the_memory(kind: str) -> None:
    async with listening() as house:
        begin, more = ENDLESS[kind]
        _, writer = await asyncio.open_connection("127.0.0.1", house.http.base_url.port)
        writer.write(begin)
        sent = 0
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                while True:
                    writer.write(more)
                    await writer.drain()
                    sent += len(more)
        assert sent < MOST_ON_THE_WAY
        writer.close()
        assert (await house.http.get("/healthz")).status_code == 200


@asynchronous
async def test_headers_that_are_too_large_are_refused_with_a_code() -> None:
    async with listening() as house:
        answer = await said(house, b"GET /query HTTP/1.1\r\nhost: localhost\r\nx: " + b"x" * (HEADER_BYTES + 1))
        assert answer.startswith(b"HTTP/1.1 431 ")
        assert b'"headers_too_large"' in answer
        long = await house.http.get("/query", params={"query": "ASK {}" + " " * 60_000}, headers={"x": "x" * 60_000})
        assert long.status_code == 200


@asynchronous
async def test_a_header_cannot_bring_another_header_or_answer() -> None:
    async with listening() as house:
        for line in (b"accept: text/csv\rset-cookie: a=b", b"tidings-publisher: a\nset-cookie: a=b", b"x: a\x00b"):
            answer = await said(
                house, b"GET /query?query=ASK%7B%7D HTTP/1.1\r\nhost: localhost\r\n" + line + b"\r\n\r\n"
            )
            assert b"set-cookie" not in answer.lower().partition(b"\r\n\r\n")[0]
        refused = await house.http.get("/query", params={"query": "ASK {}", "format": "x\r\nset-cookie: a=b"})
        assert refused.status_code in (400, 406, 415)
        assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
        "/rdf-graphs/../../etc/passwd", "/rdf-graphs/..%2f..%2f..%2fetc%2fpasswd", "//etc/passwd",
        "/static/..\\..\\etc", "/openapi.json/../../etc/passwd",
        "/rdf-graphs/%00", "/secure/../update", "/%2e/healthz/../metrics",
    ],
)  # fmt: skip
@asynchronous
async def test_paths_lead_to_graphs_and_never_to_files(path: str) -> None:
    async with listening() as house:
        answer = await said(house, f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
        assert answer.split(b" ")[1] in (b"400", b"404"), answer
        assert b"root:" not in answer


@asynchronous
async def test_load_does_not_leave_its_folder_by_links_or_encodings(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.ttl").write_text("<a> <b> <c> .")
    (inside / "link.ttl").symlink_to(tmp_path / "secret.ttl")
    async with indoors(load_from=str(inside)) as house:
        for source in ("link.ttl", "..%2Fsecret.ttl", "%2e%2e/secret.ttl", "x/../../secret.ttl", "/etc/passwd"):
            answer = await house.http.post("/update", data={"update": f"LOAD <{source}>"})
            assert answer.status_code in (403, 502), source
        for source in ("http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest", "ftp://a.example/"):
            answer = await house.http.post("/update", data={"update": f"LOAD <{source}>"})
            assert answer.status_code == 403, source
        assert len(house.broker.store) == 0


@asynchronous
async def test_what_is_packed_is_not_unpacked() -> None:
    bomb = gzip.compress(b" " * (64 << 20))
    async with indoors() as house:
        headers = {"content-type": "application/sparql-update", "content-encoding": "gzip"}
        assert is_error(await house.http.post("/update", content=bomb, headers=headers), 415, "unsupported_format")
        turtle = {"content-type": "text/turtle", "content-encoding": "gzip"}
        answer = await house.http.put("/rdf-graphs/a", content=bomb, headers=turtle)
        assert is_error(answer, 415, "unsupported_format")


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
BOMB = f"""<?xml version="1.0"?><!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}<!ENTITY f SYSTEM "file:///etc/passwd">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.example/">
<rdf:Description rdf:about="http://e.example/s"><e:p>%s</e:p></rdf:Description></rdf:RDF>"""


@pytest.mark.parametrize("entity", ["&l11;", "&f;"])
@asynchronous
async def test_entities_of_xml_neither_explode_nor_read_files(entity: str) -> None:
    async with indoors(max_memory=64 << 20) as house:
        content = (BOMB % entity).encode()
        await house.http.put("/rdf-graphs/a", content=content, headers={"content-type": "application/rdf+xml"})
        assert all("root:" not in quad[2] and len(quad[2]) < 100_000 for quad in house.broker.store)
        assert (await house.http.get("/healthz")).status_code == 200


def doubled(times: int) -> str:
    steps = " ".join(f"BIND (CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(times))
    return f'SELECT (STRLEN(?x{times}) AS ?l) {{ BIND ("aaaaaaaaaaaaaaaa" AS ?x0) {steps} }}'


TWO, THREE = "?a ?b ?c . ?d ?e ?f", "?a ?b ?c . ?d ?e ?f . ?g ?h ?i"
PAIRS = f"{THREE} . ?j ?k ?l"
BOMBS = {
    "rows": (f"SELECT * {{ {PAIRS} }}", {"row_limit_exceeded"}),
    "sorted rows": (f"SELECT * {{ {PAIRS} }} ORDER BY ?c ?f", {"row_limit_exceeded", "memory_limit_exceeded"}),
    "distinct rows": (f"SELECT DISTINCT ?a ?d ?g {{ {THREE} }}", {"row_limit_exceeded", "memory_limit_exceeded"}),
    "groups": (f"SELECT ?a ?d ?g (COUNT(*) AS ?n) {{ {THREE} }} GROUP BY ?a ?d ?g", {"row_limit_exceeded"}),
    "wide rows": (
        f'SELECT * {{ {PAIRS} BIND (CONCAT(STR(?c), STR(?f), STR(?i), STR(?l), "{"x" * 500}") AS ?w) }} ORDER BY ?w',
        {"row_limit_exceeded", "memory_limit_exceeded"},
    ),
    "texts": (doubled(40), {"text_too_long"}),
    "replaced texts": (
        f'SELECT (REPLACE(REPLACE(?x, ".", ?x), ".", ?x) AS ?y) {{ BIND ("{"a" * 3000}" AS ?x) }}',
        {"text_too_long"},
    ),
    "a joined text": (
        f'SELECT (GROUP_CONCAT(?w) AS ?all) {{ {TWO} BIND ("{"x" * 500}" AS ?w) }} GROUP BY ?b',
        {"text_too_long"},
    ),
    "a large expression": ('ASK { FILTER REGEX("a", "a{1000000000}") }', {"request_too_complex"}),
    "a nested expression": ('ASK { FILTER REGEX("a", "((a{1000}){1000}){1000}") }', {"request_too_complex"}),
    "nested groups": ("ASK " + "{" * 60_000 + "}" * 60_000, {"sparql_syntax_error", "bad_request"}),
    "nested functions": ("SELECT (" + "STR(" * 60_000 + "1" + ")" * 60_000 + " AS ?x) {}", {"sparql_syntax_error"}),
    "nested lists": ("ASK { ?s ?p " + "(" * 60_000 + "1" + ")" * 60_000 + " }", {"sparql_syntax_error"}),
    "nested blank nodes": ("ASK { ?s ?p " + "[ ?p " * 60_000 + "1" + "]" * 60_000 + " }", {"sparql_syntax_error"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", BOMBS)
@asynchronous
async def test_a_query_bomb_is_stopped_and_named(kind: str) -> None:
    text, codes = BOMBS[kind]
    async with listening(max_rows=20_000, max_memory=128 << 20) as house:
        await house.update("INSERT DATA { " + " ".join(f"<s{n}> <p> {n} ." for n in range(100)) + " }")
        answer = await house.http.post("/query", data={"query": text})
        assert answer.json()["error"] in codes, answer.text[:500]
        assert (await house.get("/query", params={"query": "ASK { ?s ?p ?o }"})).json()["boolean"]
        assert not house.broker.forks.running


SLOW = {
    "an expression": 'SELECT * { ?s ?p ?o FILTER REGEX(CONCAT(STR(?o), "' + "a" * 60 + 'b"), "^(a|aa|[0-9])+$") }',
    "a path": "SELECT * { ?s ((<p>|^<p>|!<q>)*/(<p>|^<p>)*)* ?o . ?x (<p>|^<p>)* ?y . ?y (<p>|^<p>)* ?z }",
    "rows": f"SELECT (COUNT(*) AS ?n) {{ {PAIRS} }}",
}


@pytest.mark.parametrize("kind", SLOW)
@asynchronous
async def test_others_are_answered_while_a_query_takes_its_time(kind: str) -> None:
    async with listening(timeout=0, max_rows=0) as house:
        await house.update("INSERT DATA { " + " ".join(f"<s{n}> <p> {n}, <s{n + 1}> ." for n in range(300)) + " }")
        slow = asyncio.create_task(house.http.post("/query", data={"query": SLOW[kind]}))
        await until(lambda: house.broker.forks.running)
        for _ in range(5):
            assert (await house.get("/healthz")).status_code == 200
            await house.update("INSERT DATA { <x> <y> <z> }")
        assert not slow.done()
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        await until(lambda: not house.broker.forks.running)


@asynchronous
async def test_others_are_answered_while_a_large_subscription_is_planned() -> None:
    text = "SELECT * { " + " UNION ".join(f"{{ ?s <p{n}> ?o }}" for n in range(1000)) + " }"
    async with listening(max_planning=PATIENCE) as house, with_websockets(house) as address:
        await house.update("INSERT DATA { <s> <p7> 1 }")

        class Place:
            ws = address

        async with connected(Place()) as client:
            client.send({"subscribe": {"sparql": text, "alias": "large"}})
            answered = 0
            while client.inbox.messages.empty():
                assert (await house.get("/healthz")).status_code == 200
                answered += 1
            first = await client.next()
            assert len(first["notification"]["addedResults"]["results"]["bindings"]) == 1
            assert answered > 1
            await house.update("INSERT DATA { <s> <p8> 1 }")
            assert len((await client.next())["notification"]["addedResults"]["results"]["bindings"]) == 1


@asynchronous
async def test_a_registration_that_is_replayed_gives_nothing(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        secret = await house.register("writer")
        wanted = {"register": {"client_identity": "writer", "grant_types": ["client_credentials"]}}
        for path in ("/oauth/register", "/secure/oauth/register"):
            again = await house.http.post(path, json=wanted, headers={"accept": "application/json"})
            assert again.status_code >= 400
            assert "client_secret" not in again.text
        assert await house.login("writer", secret)


@asynchronous
async def test_values_that_are_bound_stay_values(tmp_path: Path) -> None:
    """Whatever a forced binding holds, it is one term of the update, and never a piece of its text."""
    evil = [
        '" } ; DROP ALL ; INSERT DATA { <a> <b> "',
        "x> <y> <z> } ; CLEAR ALL #",
        "\\u003e } ; CLEAR ALL",
        '\\" . } #',
        "?s",
    ]
    async with secured(tmp_path) as house, connected(house) as client:
        token = await house.newcomer("writer")
        before = len(house.broker.store)
        template = f"INSERT {{ GRAPH <{A}> {{ ?s <q> ?o }} }} WHERE {{ }}"
        prepared = await client.ask({"prepare": {"sparql": template, "authorization": token}})
        for number, value in enumerate(evil):
            bindings = {"s": {"type": "uri", "value": f"urn:{number}"}, "o": {"type": "literal", "value": value}}
            answer = await client.ask({"update": {"prepared": prepared["response"]["prepared"], "bindings": bindings}})
            assert "response" in answer, answer
            as_iri = {**bindings, "s": {"type": "uri", "value": value}}
            answer = await client.ask({"update": {"prepared": prepared["response"]["prepared"], "bindings": as_iri}})
            assert answer.get("status_code") == 400 or value == "?s", answer
        assert {quad[3] for quad in house.broker.store} == {f"<{A}>", f"<{B}>"}
        assert before + len(evil) <= len(house.broker.store) <= before + 2 * len(evil)
