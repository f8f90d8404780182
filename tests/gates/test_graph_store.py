"""The Graph Store HTTP Protocol, as a client sees it."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from gates.doors import House, indoors, is_error
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.broker.updates import queue as updates
from tidings.log.reading import read
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, parse_rdf, serialize_rdf
from tidings.model.terms import Quad
from waiting import asynchronous, until

SERVICE = "/rdf-graphs/service"
G = {"graph": "http://e/g"}
TURTLE = {"content-type": "text/turtle"}
A, B = "<http://e/a> <http://e/p> 1 .", "<http://e/b> <http://e/p> 2 ."


async def put(house: House, body: str, **parameters: str) -> httpx.Response:
    return await house.http.put(SERVICE, params=parameters or G, content=body, headers=TURTLE)


async def post(house: House, body: str, **parameters: str) -> httpx.Response:
    return await house.http.post(SERVICE, params=parameters or G, content=body, headers=TURTLE)


async def subjects(house: House, **parameters: str) -> set[str]:
    return {s for s, _, _, _ in await quads(house, SERVICE, parameters or G)}


async def quads(house: House, path: str, parameters: dict[str, str]) -> list[Quad]:
    answer = await house.get(path, params=parameters, headers={"accept": "application/n-triples"})
    return list(parse_rdf(answer.content, RdfFormat.N_TRIPLES, blanks=KEEP_LABELS))


# -- the methods ------------------------------------------------------------------------------------------------


@asynchronous
async def test_a_graph_is_created_replaced_added_to_read_and_removed() -> None:
    async with indoors() as house:
        created = await put(house, A)
        assert (created.status_code, created.json()["response"]["added"]) == (201, 1)
        replaced = await put(house, B)
        assert (replaced.status_code, replaced.json()["response"]["removed"]) == (200, 1)
        assert await subjects(house) == {"<http://e/b>"}
        assert (await post(house, A)).status_code == 200
        assert await subjects(house) == {"<http://e/a>", "<http://e/b>"}
        removed = await house.http.delete(SERVICE, params=G)
        assert (removed.status_code, removed.json()["response"]["removed"]) == (200, 2)
        assert is_error(await house.http.get(SERVICE, params=G), 404, "graph_missing")
        assert is_error(await house.http.delete(SERVICE, params=G), 404, "graph_missing")


@asynchronous
async def test_adding_to_a_graph_that_is_not_there_creates_it() -> None:
    async with indoors() as house:
        assert (await post(house, A)).status_code == 201
        assert (await post(house, B)).status_code == 200


@asynchronous
async def test_the_default_graph_is_always_there() -> None:
    async with indoors() as house:
        assert await subjects(house, default="") == set()
        assert (await put(house, A, default="")).status_code == 200
        assert await subjects(house, default="") == {"<http://e/a>"}
        assert (await house.http.delete(SERVICE, params={"default": ""})).status_code == 200
        assert (await house.http.delete(SERVICE, params={"default": ""})).status_code == 200
        assert await subjects(house, default="") == set()


@asynchronous
async def test_an_empty_document_leaves_no_graph_behind() -> None:
    async with indoors() as house:
        assert (await put(house, "")).status_code == 200
        assert is_error(await house.http.get(SERVICE, params=G), 404, "graph_missing")


@asynchronous
async def test_head_says_what_get_would_and_sends_nothing() -> None:
    async with indoors() as house:
        assert (await house.http.head(SERVICE, params=G)).status_code == 404
        await put(house, A)
        head, get = await house.http.head(SERVICE, params=G), await house.get(SERVICE, params=G)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == get.headers["content-length"]


@asynchronous
async def test_options_names_the_methods_and_others_are_refused() -> None:
    async with indoors() as house:
        answer = await house.http.options(SERVICE)
        assert (answer.status_code, answer.headers["allow"]) == (204, "GET, HEAD, PUT, POST, DELETE, OPTIONS")
        assert is_error(await house.http.patch(SERVICE, params=G), 405, "method_not_allowed")


@asynchronous
async def test_a_post_that_names_no_graph_makes_a_new_one_and_says_where() -> None:
    async with indoors(base="http://base/") as house:
        for path in (SERVICE, "/rdf-graphs/"):
            made = await house.http.post(path, content=A, headers=TURTLE)
            location = made.headers["location"]
            assert (made.status_code, made.json()["response"]["added"]) == (201, 1)
            assert len(await quads(house, location, {})) == 1
            assert await subjects(house, graph=location) == {"<http://e/a>"}
            assert await subjects(house, graph=f"http://base{location}") == {"<http://e/a>"}
        assert is_error(await house.http.put(SERVICE, content=A, headers=TURTLE), 400, "bad_request")
        nothing = await house.http.post(SERVICE, content="", headers=TURTLE)
        assert (nothing.status_code, nothing.headers.get("location")) == (200, None)


# -- names ------------------------------------------------------------------------------------------------------


@asynchronous
async def test_a_graph_is_named_by_exactly_one_parameter() -> None:
    async with indoors() as house:
        for parameters in ({}, {"default": "", "graph": "http://e/g"}, {"graph": ["http://e/g", "http://e/h"]}):
            assert is_error(await house.http.get(SERVICE, params=parameters), 400, "bad_request")
        assert is_error(await house.http.get(SERVICE, params={"graph": "no iri"}), 400, "bad_request")
        assert is_error(await house.http.get("/rdf-graphs/"), 404, "not_found")


@asynchronous
async def test_relative_names_are_relative_to_the_base() -> None:
    async with indoors(base="http://base/") as house:
        await put(house, A, graph="rooms/1")
        assert await subjects(house, graph="http://base/rooms/1") == {"<http://e/a>"}


@asynchronous
async def test_a_path_names_the_graph_of_that_path_below_the_base() -> None:
    async with indoors(base="http://base/data/") as house:
        path = "/rdf-graphs/rooms/caf%C3%A9"
        assert (await house.http.put(path, content=A, headers=TURTLE)).status_code == 201
        assert await subjects(house, graph=f"http://base{path}") == {"<http://e/a>"}
        assert len(await quads(house, path, {})) == 1
        assert (await house.http.delete(path)).status_code == 200


@asynchronous
async def test_a_path_that_is_escaped_without_need_names_the_same_graph() -> None:
    async with indoors(base="http://base/") as house:
        assert (await house.http.put("/rdf%2Dgraphs/a b", content=A, headers=TURTLE)).status_code == 201
        assert await subjects(house, graph="http://base/rdf-graphs/a%20b") == {"<http://e/a>"}


@asynchronous
async def test_relative_iris_of_a_document_are_relative_to_its_graph() -> None:
    async with indoors(base="http://base/") as house:
        await put(house, "<x> <y> <z> .", graph="http://e/rooms/1")
        await put(house, "<x> <y> <z> .", default="")
        assert await subjects(house, graph="http://e/rooms/1") == {"<http://e/rooms/x>"}
        assert await subjects(house, default="") == {"<http://base/x>"}


# -- documents --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", RdfFormat)
@asynchronous
async def test_every_format_goes_in_and_comes_out(format_: RdfFormat) -> None:
    triples = [
        ("<http://e/a>", "<http://e/p>", '"été"@fr'),
        ("<http://e/a>", "<http://e/q>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ]
    body = b"".join(serialize_rdf(triples, format_))
    media_type = format_.media.types[0]
    async with indoors() as house:
        answer = await house.http.put(SERVICE, params=G, content=body, headers={"content-type": media_type})
        assert answer.status_code == 201
        for parameters, headers in (({}, {"accept": media_type}), ({"format": format_.media.name}, {})):
            answer = await house.get(SERVICE, params=G | parameters, headers=headers)
            assert answer.headers["content-type"].partition(";")[0] == media_type
            assert {quad[:3] for quad in parse_rdf(answer.content, format_)} == set(triples)


@asynchronous
async def test_what_cannot_be_read_or_written_is_refused_and_changes_nothing() -> None:
    async with indoors(max_body=1000) as house:
        await put(house, A)
        before = house.broker.last_commit
        for body, content_type, status, code in [
            (A, "image/png", 415, "unsupported_format"),
            ("<a> <b> .", "text/turtle", 400, "rdf_syntax_error"),
            (A * 100, "text/turtle", 413, "body_too_large"),
            ("GRAPH <http://e/h> { <a> <b> <c> }", "application/trig", 400, "bad_request"),
        ]:
            for method in ("PUT", "POST"):
                answer = await house.http.request(
                    method, SERVICE, params=G, content=body, headers={"content-type": content_type}
                )
                assert is_error(answer, status, code)
        assert is_error(await house.http.put(SERVICE, params=G, content=A), 415, "unsupported_format")
        not_ours = {"accept": "image/png"}
        assert is_error(await house.http.get(SERVICE, params=G, headers=not_ours), 406, "not_acceptable")
        assert (await subjects(house), house.broker.last_commit) == ({"<http://e/a>"}, before)


def form(*documents: tuple[str, str]) -> dict[str, Any]:
    """A body of several documents, each with its Content-Type."""
    return {"files": [("graphs", (f"{number}", body, type_)) for number, (type_, body) in enumerate(documents)]}


@asynchronous
async def test_documents_in_the_parts_of_one_body_are_merged() -> None:
    async with indoors() as house:
        documents = form(
            ("text/turtle; charset=utf-8", f"{A} _:x <http://e/p> _:x ."),
            ("application/n-triples", "<http://e/b> <http://e/p> _:x .\n_:x <http://e/p> _:x .\n"),
        )
        sent = await house.http.post(SERVICE, params=G, **documents)
        assert (sent.status_code, sent.json()["response"]["added"]) == (201, 4)
        found = await quads(house, SERVICE, G)
        assert {s for s, _, _, _ in found if s[0] == "<"} == {"<http://e/a>", "<http://e/b>"}
        assert len({s for s, _, _, _ in found}) == 4  # _:x of either document is a node of its own


@pytest.mark.parametrize(
    ("content_type", "body", "status", "code"),
    [
        ("multipart/form-data", b"", 400, "bad_request"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n", 400, "bad_request"),
        ("multipart/form-data; boundary=x", b"--x\r\nno headers end--x--", 400, "bad_request"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Type: text/turtle\r\n--x--\r\n", 400, "bad_request"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n<a> <b> <c> .\r\n--x--\r\n", 415, "unsupported_format"),
        (
            "multipart/form-data; boundary=x",
            b"--x\r\nContent-Type: text/turtle\r\n\r\n<a>\r\n--x--",
            400,
            "rdf_syntax_error",
        ),
    ],
)
@asynchronous
async def test_a_body_of_parts_that_cannot_be_read_changes_nothing(
    content_type: str, body: bytes, status: int, code: str
) -> None:
    async with indoors() as house:
        answer = await house.http.post(SERVICE, params=G, content=body, headers={"content-type": content_type})
        assert is_error(answer, status, code)
        assert house.broker.last_commit == 0


@asynchronous
async def test_blank_nodes_of_two_documents_are_different_nodes() -> None:
    async with indoors() as house:
        for _ in range(2):
            await post(house, "_:x <http://e/p> _:x .")
        found = await quads(house, SERVICE, G)
        assert len(found) == 2
        assert all(s == o for s, _, o, _ in found)


@asynchronous
async def test_a_long_document_is_read_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "LONG_TEXT", 100)
    async with indoors() as house:
        document = "\n".join(f"<http://e/s{n}> <http://e/p> [ <http://e/q> {n} ] ." for n in range(50))
        answer = await put(house, document)
        assert (answer.status_code, answer.json()["response"]["added"]) == (201, 100)
        assert house.broker.updates.aside == 1
        assert is_error(await put(house, document + "oops"), 400, "rdf_syntax_error")
        assert len(await quads(house, SERVICE, G)) == 100


# -- the broker -------------------------------------------------------------------------------------------------


class Inbox:
    def __init__(self) -> None:
        self.parcels: list[Parcel] = []

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self.parcels.append(parcel)

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


@asynchronous
async def test_a_replaced_graph_is_one_commit_of_which_subscribers_are_told_once(tmp_path: Path) -> None:
    def nothing(*_: object) -> None: ...

    async with indoors(tmp_path / "data") as house:
        await put(house, A + B)
        inbox, answered = Inbox(), asyncio.Event()
        session = house.broker.connect(inbox)
        query = "SELECT ?o WHERE { GRAPH <http://e/g> { ?s <http://e/p> ?o } }"
        house.broker.subscribe(session, query, None, None, lambda *_: answered.set(), nothing)
        await answered.wait()
        response = (await put(house, B + "<http://e/c> <http://e/p> 3 .")).json()["response"]
        assert (response["sequence"], response["added"], response["removed"]) == (2, 1, 1)
        await until(lambda: inbox.parcels)
        (parcel,) = inbox.parcels
        assert sorted(weight for _, weight in parcel.changes.items()) == [-1, 1]
        commits = [entry for entry in read(tmp_path / "data") if entry.delta]
        assert [len(entry.delta) for entry in commits] == [2, 2]


@asynchronous
async def test_the_same_document_again_is_no_commit() -> None:
    async with indoors() as house:
        first, again = await put(house, A + B), await put(house, B + A)
        assert again.json()["response"] | {"time": 0} == {"sequence": 1, "time": 0, "added": 0, "removed": 0}
        assert first.json()["response"]["sequence"] == 1


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
@asynchronous
async def test_a_read_only_endpoint_changes_no_graph(method: str) -> None:
    async with indoors(read_only=True) as house:
        assert is_error(
            await house.http.request(method, SERVICE, params=G, content=A, headers=TURTLE), 403, "not_allowed"
        )
