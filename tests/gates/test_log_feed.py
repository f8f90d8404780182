"""The feed of commits: the log over HTTP, once or for as long as one likes."""

import asyncio
import errno
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gates.client import Message
from gates.doors import House, indoors, is_error, listening
from tidings.gates.http.streaming import feed
from tidings.log.errors import LogWriteFailed
from tidings.log.layout import segment_path
from tidings.model.access import ALL_RIGHTS
from tidings.protocol.commit_feed import FeedFormat
from waiting import PATIENCE, asynchronous


async def commit(house: House, number: int) -> None:
    await house.update(f"INSERT DATA {{ <http://e/s> <http://e/p> {number} , {number + 1000} }}")


def changes(answer: httpx.Response) -> list[Message]:
    return [json.loads(line) for line in answer.text.splitlines()]


def numbers(answer: httpx.Response) -> list[int]:
    return [change["seq"] for change in changes(answer)]


@asynccontextmanager
async def following(house: House, **parameters: Any) -> AsyncIterator[AsyncIterator[str]]:
    async with house.http.stream("GET", "/log", params=parameters | {"follow": "true"}) as answer:
        assert answer.status_code == 200
        yield answer.aiter_lines()


async def take(lines: AsyncIterator[str], count: int) -> list[Message]:
    """The next changes, without the empty lines that say that all is well."""
    found: list[Message] = []
    async with asyncio.timeout(PATIENCE):
        while len(found) < count:
            if line := await anext(lines):
                found.append(json.loads(line))
    return found


def follower(house: House) -> feed.Feed:
    disk = house.broker.disk
    assert disk is not None
    return feed.Feed(
        house.broker, disk.folder, disk.journal, FeedFormat.JSON_LINES, asyncio.Semaphore(1), PATIENCE, ALL_RIGHTS
    )


def lines_of(piece: bytes) -> list[Message]:
    return [json.loads(line) for line in piece.splitlines() if line]


# -- once -------------------------------------------------------------------------------------------------------


@asynchronous
async def test_commits_are_told_line_by_line_from_any_of_them_on(tmp_path: Path) -> None:
    async with indoors(tmp_path / "data") as house:
        await house.update(
            "INSERT DATA { <http://e/a> <http://e/p> 1 . GRAPH <http://e/g> { <http://e/b> a <http://e/C> } }"
        )
        await house.update("DELETE DATA { <http://e/a> <http://e/p> 1 }")
        answer = await house.get("/log", params={"from": 1})
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert [(each["seq"], each["op"], each["s"], each["g"]) for each in changes(answer)] == [
            (1, "add", "<http://e/a>", ""),
            (1, "add", "<http://e/b>", "<http://e/g>"),
            (2, "remove", "<http://e/a>", ""),
        ]
        assert set(changes(answer)[0]) == {"seq", "time", "op", "s", "p", "o", "g", "left"}
        assert [each["left"] for each in changes(answer)] == [1, 0, 0]
        assert numbers(await house.get("/log", params={"from": 2})) == [2]
        assert numbers(await house.get("/log", params={"from": 3})) == []
        assert numbers(await house.get("/log")) == [1, 1, 2]


@asynchronous
async def test_a_commit_is_never_cut_and_a_limit_counts_commits(tmp_path: Path) -> None:
    async with indoors(tmp_path / "data") as house:
        for number in range(5):
            await commit(house, number)
        assert numbers(await house.get("/log", params={"from": 2, "limit": 2})) == [2, 2, 3, 3]
        assert numbers(await house.get("/log", params={"limit": 0})) == []


@pytest.mark.parametrize(
    "options", [{"headers": {"accept": "text/rdf-patch"}}, {"params": {"format": "patch"}}], ids=["accept", "format"]
)
@asynchronous
async def test_commits_are_told_as_rdf_patch(tmp_path: Path, options: dict[str, Any]) -> None:
    async with indoors(tmp_path / "data") as house:
        await house.update("INSERT DATA { <http://e/a> <http://e/p> 'é' }")
        await house.update(
            "DELETE WHERE { ?s ?p ?o } ; INSERT DATA { GRAPH <http://e/g> { <http://e/b> <http://e/p> <http://e/c> } }"
        )
        answer = await house.get("/log", **options)
        assert answer.headers["content-type"].partition(";")[0] == "text/rdf-patch"
        lines = [line for line in answer.text.splitlines() if not line.startswith("H time")]
        assert lines == [
            "H id <urn:tidings:commit:1> .", "TX .", 'A <http://e/a> <http://e/p> "é" .', "TC .",
            "H id <urn:tidings:commit:2> .", "H prev <urn:tidings:commit:1> .", "TX .",
            'D <http://e/a> <http://e/p> "é" .', "A <http://e/b> <http://e/p> <http://e/c> <http://e/g> .", "TC .",
        ]  # fmt: skip


@asynchronous
async def test_a_long_log_comes_in_many_pieces_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "SLICE", 500)
    async with listening(tmp_path / "data", segment_size=2000) as house:
        for number in range(50):
            await commit(house, number)
        assert numbers(await house.get("/log")) == [n for n in range(1, 51) for _ in range(2)]


@asynchronous
async def test_a_broker_in_memory_keeps_no_log() -> None:
    async with indoors() as house:
        assert is_error(await house.get("/log", 404), 404, "no_log")


@asynchronous
async def test_what_was_pruned_is_gone_and_the_error_says_where_the_log_begins(tmp_path: Path) -> None:
    async with indoors(tmp_path / "data", segment_size=1) as house:
        for number in range(3):
            await commit(house, number)
        segment_path(tmp_path / "data", 1).unlink()
        for follow in ("false", "true"):
            answer = await house.get("/log", 410, params={"from": 1, "follow": follow})
            assert is_error(answer, 410, "history_gone")
            assert "commit 2" in answer.json()["error_description"]
        assert numbers(await house.get("/log", params={"from": 2})) == [2, 2, 3, 3]


@asynchronous
async def test_parameters_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    async with indoors(tmp_path / "data") as house:
        for parameters in ({"from": "x"}, {"limit": "-1"}, {"follow": "perhaps"}):
            assert is_error(await house.get("/log", 400, params=parameters), 400, "bad_request")
        assert is_error(await house.get("/log", 415, params={"format": "csv"}), 415, "unsupported_format")
        assert is_error(await house.get("/log", 406, headers={"accept": "image/png"}), 406, "not_acceptable")
        assert (await house.http.head("/log")).status_code == 200


# -- for as long as one likes ------------------------------------------------------------------------------------


@asynchronous
async def test_a_follower_gets_what_was_and_then_what_comes(tmp_path: Path) -> None:
    async with listening(tmp_path / "data") as house:
        await commit(house, 1)
        async with following(house) as lines:
            assert [each["seq"] for each in await take(lines, 2)] == [1, 1]
            for number in (2, 3):
                await commit(house, number)
                assert [each["seq"] for each in await take(lines, 2)] == [number, number]


@pytest.mark.parametrize("durability", ["none", "os", "fsync"])
@asynchronous
async def test_nothing_is_told_twice_and_nothing_left_out(tmp_path: Path, durability: str) -> None:
    async with listening(tmp_path / "data", durability=durability) as house:

        async def publish() -> None:
            for number in range(60):
                await commit(house, number)

        publishing = asyncio.create_task(publish())
        async with following(house) as one, following(house) as other:
            expected = [n for n in range(1, 61) for _ in range(2)]
            assert [each["seq"] for each in await take(one, 120)] == expected
            assert [each["seq"] for each in await take(other, 120)] == expected
        await publishing


@asynchronous
async def test_a_follower_that_falls_behind_reads_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "BACKLOG", 300)
    monkeypatch.setattr(feed, "LARGE", 3)
    async with indoors(tmp_path / "data") as house:
        reader = follower(house)
        pieces = reader.follow(1, feed.MOST)
        assert await anext(pieces) == b"\n"
        for number in range(20):
            await commit(house, number)
        await house.update("INSERT DATA { <http://e/a> <http://e/p> 1 , 2 , 3 , 4 }")  # a large one
        await commit(house, 21)
        assert len(reader._fresh) < 5
        found: list[int] = []
        while len(found) < 46:
            found += [each["seq"] for each in lines_of(await anext(pieces))]
        assert found == sorted(found)
        assert (found.count(20), found.count(21), found.count(22)) == (2, 4, 2)
        await pieces.aclose()
        assert not house.broker.commit_log.followers


@asynchronous
async def test_a_commit_that_could_not_be_written_is_told_to_nobody(tmp_path: Path) -> None:
    async with indoors(tmp_path / "data") as house:
        assert house.broker.disk is not None
        journal = house.broker.disk.journal
        early, late = follower(house), follower(house)
        pieces = early.follow(1, feed.MOST)
        assert await anext(pieces) == b"\n"
        await commit(house, 1)

        def fail(_: object) -> None:
            raise LogWriteFailed(OSError(errno.ENOSPC, "no space left"))

        later: AsyncGenerator[bytes, None] | None = None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(journal, "write", fail)
            lost = asyncio.create_task(house.http.post("/update", data={"update": "INSERT DATA { <a> <b> <lost> }"}))
            while house.broker.last_commit < 2:
                await asyncio.sleep(0)
            later = late.follow(2, feed.MOST)  # begins while the commit is on its way to a disk that will not take it
            waiting = asyncio.create_task(anext(later))
            assert is_error(await lost, 507, "log_write_failed")
        await commit(house, 2)
        assert [each["seq"] for each in lines_of(await anext(pieces)) + lines_of(await anext(pieces))] == [1, 1, 2, 2]
        async with asyncio.timeout(PATIENCE):
            told = lines_of(await waiting)
        assert [(each["seq"], each["s"]) for each in told] == [(2, "<http://e/s>")] * 2
        await pieces.aclose()
        await later.aclose()


@asynchronous
async def test_a_follower_may_ask_for_some_commits_only_and_for_later_ones(tmp_path: Path) -> None:
    async with listening(tmp_path / "data") as house, following(house, **{"from": 2, "limit": 1}) as lines:
        for number in (1, 2, 3):
            await commit(house, number)
        assert [each["seq"] for each in await take(lines, 2)] == [2, 2]
        with pytest.raises(StopAsyncIteration):
            await take(lines, 1)


@asynchronous
async def test_a_quiet_feed_has_empty_lines(tmp_path: Path) -> None:
    async with listening(tmp_path / "data", ping=0.01) as house, following(house) as lines:
        async with asyncio.timeout(PATIENCE):
            assert [await anext(lines) for _ in range(3)] == ["", "", ""]


@asynchronous
async def test_followers_are_connections_and_end_with_the_broker(tmp_path: Path) -> None:
    async with listening(tmp_path / "data", max_connections=1, max_requests=1) as house:
        async with following(house) as lines:
            await anext(lines)
            assert is_error(await house.get("/log", 429), 429, "too_many_connections")
            await commit(house, 1)
            house.gate.end()
            async with asyncio.timeout(PATIENCE):
                rest = [line async for line in lines if line]
        assert len(rest) in {0, 2}
        assert not house.broker.commit_log.followers
