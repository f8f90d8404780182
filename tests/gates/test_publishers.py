"""Publishers that name themselves over HTTP: the log and its feed say whose a commit is, if anybody said so."""

import json
from pathlib import Path

import httpx
import pytest

from gates.doors import House, indoors, is_error, listening
from tidings.log.reading import read
from waiting import asynchronous, until

HEADER = "Tidings-Publisher"
INSERT = "INSERT DATA { <http://e/a> <http://e/p> %d }"
PATHS = ("/update", "/update", "/sparql", "/update")
SERVICE = "/rdf-graphs/service?graph=http://e/g"


async def feed(house: House) -> list[str | None]:
    """Whom the feed names, commit by commit."""
    answer = await house.get("/log")
    return [change.get("by") for change in map(json.loads, answer.text.splitlines())]


def logged(folder: Path) -> list[str | None]:
    return [entry.publisher for entry in read(folder) if entry.delta]


@pytest.mark.parametrize("more", [{}, {"origin": "http://tidings.test"}], ids=["the short way", "the long way"])
@asynchronous
async def test_an_update_is_published_by_whom_its_header_names(tmp_path: Path, more: dict[str, str]) -> None:
    names = ["alice", None, "Bob, été 4", "x" * 200]
    async with indoors(tmp_path) as house:
        for number, (path, name) in enumerate(zip(PATHS, names, strict=True)):
            headers = more if name is None else more | {HEADER: name}
            sent = httpx.Headers(headers, encoding="utf-8")
            answer = await house.http.post(path, data={"update": INSERT % number}, headers=sent)
            assert answer.status_code == 200, answer.text
        assert await feed(house) == names
        assert logged(tmp_path) == names
        assert sum(len(entry.notes) for entry in read(tmp_path)) == 3  # nothing is written of those unnamed


@asynchronous
async def test_whole_graphs_are_published_by_whom_the_header_names(tmp_path: Path) -> None:
    async with indoors(tmp_path) as house:
        for method, name in (("PUT", "alice"), ("POST", "bob"), ("DELETE", "carol")):
            headers = {"content-type": "text/turtle", HEADER: name}
            body = f"<http://e/{name}> <http://e/p> 1 ." if method != "DELETE" else None
            answer = await house.http.request(method, SERVICE, content=body, headers=headers)
            assert answer.is_success, answer.text
        assert logged(tmp_path) == ["alice", "bob", "carol"]


@pytest.mark.parametrize("name", [b"", b"x" * 201, b"a\tb", "a\x85b".encode(), "a\u2028b".encode(), b"\xe9"])
@asynchronous
async def test_a_name_that_is_empty_too_long_or_unprintable_is_refused(name: bytes) -> None:
    async with indoors() as house:
        headers = [(HEADER.encode(), name), (b"content-type", b"application/sparql-update")]
        for path in ("/update", "/sparql"):
            answer = await house.http.post(path, content=INSERT % 1, headers=headers)
            assert is_error(answer, 400, "bad_request")
            assert "ublisher" in answer.json()["error_description"]
        graph = [(HEADER.encode(), name), (b"content-type", b"text/turtle")]
        assert is_error(await house.http.put(SERVICE, content="<a> <b> 1 .", headers=graph), 400, "bad_request")
        assert len(house.broker.store) == 0


@asynchronous
async def test_an_update_without_effect_leaves_no_trace_of_its_publisher(tmp_path: Path) -> None:
    async with indoors(tmp_path) as house:
        await house.http.post("/update", data={"update": "CLEAR ALL"}, headers={HEADER: "alice"})
        assert list(read(tmp_path)) == []


@asynchronous
async def test_a_delayed_update_is_published_by_who_asked_for_it(tmp_path: Path) -> None:
    async with indoors(tmp_path) as house:
        form = {"update": INSERT % 1, "delay": "0.01"}
        assert (await house.http.post("/update", data=form, headers={HEADER: "alice"})).status_code == 200
        await until(lambda: house.broker.delayed.done)
        assert await feed(house) == ["alice"]


@asynchronous
async def test_those_who_follow_the_feed_are_told_the_same_as_those_who_read_it(tmp_path: Path) -> None:
    async with listening(tmp_path) as house:
        async with house.http.stream("GET", "/log", params={"follow": "true", "limit": 2}) as answer:
            for number, headers in enumerate(({HEADER: "alice"}, {})):
                await house.http.post("/update", data={"update": INSERT % number}, headers=headers)
            lines = [line async for line in answer.aiter_lines() if line]
        assert [list(json.loads(line)) for line in lines] == [
            ["seq", "time", "op", "s", "p", "o", "g", "by", "left"],
            ["seq", "time", "op", "s", "p", "o", "g", "left"],
        ]
        assert lines == (await house.get("/log")).text.splitlines()


@asynchronous
async def test_a_patch_has_its_publisher_in_its_header(tmp_path: Path) -> None:
    async with indoors(tmp_path) as house:
        await house.http.post("/update", data={"update": INSERT % 1}, headers={HEADER: 'the "best"'})
        await house.update(INSERT % 2)
        lines = (await house.get("/log", params={"format": "patch"})).text.splitlines()
        assert [line for line in lines if line.startswith("H by")] == [r'H by "the \"best\"" .']
        assert lines.index(r'H by "the \"best\"" .') < lines.index("TX .")
