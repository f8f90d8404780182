"""A table over who asks, what for, in which graph, and by which way in: no combination is left out.

What may not be read does not exist; what may not be written or subscribed to is an error; without a token, all is.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

import httpx
from starlette.routing import BaseRoute, Route

from gates.client import connected
from gates.secured import DATA, POLICY, A, B, House, secured
from gates.sockets import asynchronous
from tidings.model.iris import DEFAULT_BASE
from tidings.server import gates as wiring
from tidings.server.config import Settings

WHO = ("nobody", "stranger", "reader", "writer", "listener", "boss")
GRAPHS = (A, B)
Way = Callable[[House, str | None, str], Awaitable[str]]


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"authorization": token}


def _select(graph: str) -> str:
    return f"SELECT ?o {{ GRAPH <{graph}> {{ <s> <p> ?o }} }}"


def _insert(graph: str) -> str:
    return f"INSERT DATA {{ GRAPH <{graph}> {{ <s> <q> 1 }} }}"


def _seen(bindings: list[object]) -> str:
    return "seen" if bindings else "nothing"


def _of_answer(answer: httpx.Response, shown: str = "") -> str:
    if answer.status_code in (200, 201):
        return shown or _seen(answer.json()["results"]["bindings"])
    error: str = answer.json()["error"]
    assert answer.json()["status_code"] == answer.status_code
    return f"{answer.status_code} {error}"


def query_at(path: str) -> Way:
    async def ask(house: House, token: str | None, graph: str) -> str:
        return _of_answer(await house.http.post(path, data={"query": _select(graph)}, headers=_headers(token)))

    return ask


def query_by_get(path: str) -> Way:
    async def ask(house: House, token: str | None, graph: str) -> str:
        return _of_answer(await house.http.get(path, params={"query": _select(graph)}, headers=_headers(token)))

    return ask


async def logged(house: House, token: str | None, graph: str) -> str:
    answer = await house.http.get("/log", headers=_headers(token))
    return _of_answer(answer, _seen([line for line in answer.text.splitlines() if f'"<{graph}>"' in line]))


async def described(house: House, token: str | None, graph: str) -> str:
    """The service description says which graphs there are, and is for everybody; so it is asked for by the reader's."""
    if token is None:
        return _of_answer(await house.http.get("/sparql"))
    answer = await house.http.get("/sparql", headers=_headers(token) | {"accept": "text/turtle"})
    return _seen([graph] if f"<{graph}>" in answer.text else [])


def update_at(path: str, **headers: str) -> Way:
    async def ask(house: House, token: str | None, graph: str) -> str:
        form = {"update": _insert(graph)}
        return _of_answer(await house.http.post(path, data=form, headers=_headers(token) | headers), "done")

    return ask


async def stored_graph(house: House, token: str | None, graph: str) -> str:
    answer = await house.http.get("/rdf-graphs/service", params={"graph": graph}, headers=_headers(token))
    return "nothing" if answer.status_code == 404 else _of_answer(answer, "seen")


async def stored_change(house: House, token: str | None, graph: str) -> str:
    headers = _headers(token) | {"content-type": "text/turtle"}
    triple = "<http://city.example/s> <http://city.example/q> 2 ."
    return _of_answer(
        await house.http.post("/rdf-graphs/service", params={"graph": graph}, content=triple, headers=headers), "done"
    )


async def stored_whole(house: House, token: str | None, graph: str) -> str:
    """PUT, of what the graph has already."""
    headers = _headers(token) | {"content-type": "application/n-triples"}
    triple = f'<{DEFAULT_BASE}s> <{DEFAULT_BASE}p> "in {graph[-1]}" .'
    return _of_answer(
        await house.http.put("/rdf-graphs/service", params={"graph": graph}, content=triple, headers=headers), "done"
    )


async def removed(house: House, token: str | None, graph: str) -> str:
    """DELETE, of what is there again afterwards."""
    answer = await house.http.delete("/rdf-graphs/service", params={"graph": graph}, headers=_headers(token))
    await house.broker.update(DATA)
    # Who may not read what was there hears that there was nothing, but it is gone.
    return "done" if answer.status_code == 404 else _of_answer(answer, "done")


async def prepared(house: House, token: str | None, graph: str) -> str:
    shown = {} if token is None else {"authorization": token}
    async with connected(house) as client:
        text = "INSERT { GRAPH ?graph { <s> <q> 3 } } WHERE { }"
        ready = await client.ask({"prepare": {"sparql": text} | shown})
        if "error" in ready:
            return f"{ready['status_code']} {ready['error']}"
        bound = {"graph": {"type": "uri", "value": graph}}
        answer = await client.ask({"update": {"prepared": ready["response"]["prepared"], "bindings": bound}})
    return f"{answer['status_code']} {answer['error']}" if "error" in answer else "done"


def event_stream_at(path: str) -> Way:
    async def ask(house: House, token: str | None, graph: str) -> str:
        parameters = {"query": _select(graph)}
        async with house.http.stream("GET", path, params=parameters, headers=_headers(token)) as answer:
            if answer.status_code != 200:
                await answer.aread()
                return _of_answer(answer)
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    return "seen" if "in " in line else "nothing"
        raise AssertionError("there was no event")

    return ask


def on_socket(member: str, text: Callable[[str], str], *, top: bool) -> Way:
    """`top`: the token stands beside the request, and bare, as one of the existing clients has it."""

    async def ask(house: House, token: str | None, graph: str) -> str:
        message: dict[str, object] = {member: {"sparql": text(graph)}}
        if token is not None and top:
            message["authorization"] = token.removeprefix("Bearer ")
        elif token is not None:
            message = {member: {"sparql": text(graph), "authorization": token}}
        async with connected(house) as client:
            answer = await client.ask(message)
        if "error" in answer:
            return f"{answer['status_code']} {answer['error']}"
        if member == "update":
            return "done"
        content = answer["notification"]["addedResults"] if member == "subscribe" else answer["response"]
        return _seen(content["results"]["bindings"])

    return ask


WAYS: dict[str, dict[str, Way]] = {
    "query": {
        "/query": query_at("/query"),
        "/secure/query": query_at("/secure/query"),
        "/sparql": query_at("/sparql"),
        "/secure/sparql": query_at("/secure/sparql"),
        "/query by GET": query_by_get("/query"),
        "/log": logged,
        "service description": described,
        "graph store": stored_graph,
        "socket": on_socket("query", _select, top=False),
    },
    "update": {
        "/update": update_at("/update"),
        "/update, the long way": update_at("/update", **{"content-encoding": "identity"}),
        "/secure/update": update_at("/secure/update"),
        "/sparql": update_at("/sparql"),
        "/secure/sparql": update_at("/secure/sparql"),
        "graph store, POST": stored_change,
        "graph store, PUT": stored_whole,
        "graph store, DELETE": removed,
        "socket, prepared": prepared,
        "socket": on_socket("update", _insert, top=True),
    },
    "subscribe": {
        "event stream": event_stream_at("/subscribe"),
        "event stream below /secure": event_stream_at("/secure/subscribe"),
        "socket": on_socket("subscribe", _select, top=False),
        "socket, the token beside": on_socket("subscribe", _select, top=True),
    },
}


def expected(who: str, operation: str, graph: str) -> str:
    if who == "nobody":
        return "401 invalid_request"
    if operation == "query":
        return "seen" if who == "boss" or (who in ("reader", "listener") and graph == A) else "nothing"
    if operation == "update":
        return "done" if who == "boss" or (who == "writer" and graph == A) else "403 graph_not_writable"
    if who not in ("listener", "boss"):
        return "403 may_not_subscribe"
    return "seen" if who == "boss" or graph == A else "nothing"


@asynchronous
async def test_everybody_may_do_what_was_granted_to_them_whichever_way_they_come(tmp_path: Path) -> None:
    async with secured(tmp_path, data=str(tmp_path / "data"), durability="os") as house:
        tokens = {who: None if who == "nobody" else await house.newcomer(who) for who in WHO}
        cases = [(who, op, graph, way) for who, op, graph in product(WHO, WAYS, GRAPHS) for way in WAYS[op]]
        found = {case: await WAYS[case[1]][case[3]](house, tokens[case[0]], case[2]) for case in cases}
        assert found == {case: expected(*case[:3]) for case in cases}


PUBLIC = ("/", "/assets/", "/healthz", "/openapi.json", "/oauth/", "/.well-known/")
"""Where everybody may go, below `/secure` as well."""


@asynchronous
async def test_no_path_serves_one_who_shows_nothing_unless_it_is_for_everybody(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        gate = wiring.http_gate(house.broker, Settings(memory=True), security=house.security)
        found = [
            (path, method)
            for path, methods in _paths(gate.app().routes)
            for method in methods - {"OPTIONS"}
            if path != "/" and not path.startswith(PUBLIC[1:])
        ]
        assert len(found) > 20
        for path, method in found:
            filled = re.sub(r"\{[^}]*\}", "x", path)
            for prefix in ("", "/secure"):
                answer = await house.http.request(method, prefix + filled)
                assert answer.status_code == 401, (method, prefix + filled, answer.text)


def _paths(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, set[str]]]:
    for route in routes:
        if isinstance(route, Route):
            yield route.path, route.methods or set()


@asynchronous
async def test_what_is_for_operators_is_for_administrators_and_what_is_public_is_for_all(tmp_path: Path) -> None:
    public = ("/healthz", "/", "/openapi.json", "/oauth/jwks", "/.well-known/oauth-authorization-server")
    async with secured(tmp_path) as house:
        boss, reader = await house.newcomer("boss"), await house.newcomer("reader")
        for path, prefix in product(public, ("", "/secure")):
            assert (await house.http.get(prefix + path)).status_code == 200, path
        for path, token, status in (
            ("/metrics", boss, 200), ("/metrics", reader, 403), ("/metrics", None, 401),
            ("/status", reader, 200), ("/status", None, 401), ("/subscriptions", None, 401),
            ("/connections", reader, 200), ("/connections", None, 401), ("/delayed", None, 401),
            ("/log", None, 401), ("/log", reader, 404),
        ):  # fmt: skip
            answer = await house.http.get(path, headers=_headers(token))
            assert answer.status_code == status, (path, answer.text)
            assert ("www-authenticate" in answer.headers) == (status == 401)
        for token, status in ((boss, 404), (reader, 403), (None, 401)):
            assert (await house.http.post("/reconcile", headers=_headers(token))).status_code == status
        counted = (await house.http.get("/metrics", headers=_headers(boss))).text
        assert 'tidings_refusals_total{code="for_administrators"} 2.0' in counted
        seen = (await house.http.get("/status", headers=_headers(reader))).json()
        assert (seen["quads"], seen["readable"]) == (1, [A])
        whole = (await house.http.get("/status", headers=_headers(boss))).json()
        assert (whole["quads"], whole["readable"]) == (2, ["*"])
        assert set(whole) - set(seen) == {  # what counts everybody's deeds
            "sessions", "subscriptions", "delayed", "queue", "queries", "forks", "timing", "kpi", "memory", "matching",
            "endpoint", "external", "followers", "gates",
        }  # fmt: skip


@asynchronous
async def test_nobody_sees_or_ends_what_belongs_to_somebody_else(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as owner, connected(house) as other:
        listener, boss, reader = [await house.newcomer(name) for name in ("listener", "boss", "reader")]
        first = await owner.ask({"subscribe": {"sparql": _select(A), "authorization": listener}})
        spuid = first["notification"]["spuid"]
        for token in (reader, listener + "x"):
            refused = await other.ask({"unsubscribe": {"spuid": spuid, "authorization": token}})
            assert refused["status_code"] in (401, 403)
        resumed = {"resume": {"spuid": spuid, "sequence": 0}, "authorization": reader}
        assert "error" in await other.ask({"subscribe": resumed})
        assert (await house.http.get("/subscriptions", headers=_headers(reader))).json()["total"] == 0
        assert (await house.http.get(f"/subscriptions/{spuid}", headers=_headers(reader))).status_code == 404
        assert (await house.http.get("/subscriptions", headers=_headers(boss))).json()["total"] == 1
        later = {"update": _insert(A), "delay": "3600"}
        delayed = (await house.http.post("/update", data=later, headers=_headers(boss))).json()["response"]["delayed"]
        assert (await house.http.delete(f"/delayed/{delayed}", headers=_headers(reader))).status_code == 404
        assert (await house.http.delete(f"/delayed/{delayed}", headers=_headers(boss))).status_code == 200
        assert "unsubscribed" in await owner.ask({"unsubscribe": {"spuid": spuid}})


@asynchronous
async def test_with_how_many_others_a_plan_is_shared_is_for_administrators(tmp_path: Path) -> None:
    shared = POLICY + f'[[grant]]\nto = "role:twins"\nsubscribe = ["{A}"]\n'
    shared = shared.replace('[{identity = "*"}]', '[{identity = "twin-*", roles = ["twins"]}, {identity = "*"}]')
    async with secured(tmp_path, shared) as house, connected(house) as socket:
        boss, *twins = [await house.newcomer(name) for name in ("boss", "twin-1", "twin-2")]
        for token in twins:
            first = await socket.ask({"subscribe": {"sparql": _select(A), "authorization": token}})
        path = f"/subscriptions/{first['notification']['spuid']}"
        for token, count in ((boss, 2), (twins[1], 1)):
            shown = (await house.http.get(path, headers=_headers(token))).json()
            assert (shown["cost"]["subscribers"], shown["explain"]["shared"]["subscribers"]) == (count, count)
            text = (await house.http.get(path, params={"format": "text"}, headers=_headers(token))).text
            assert text.startswith(f"shared by 1 member(s) with {count} subscriber(s)")
