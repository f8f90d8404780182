"""What the log no longer has is asked of a history lake: of one process, within bounds, and only what may be read."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gates.doors import House, indoors, is_error
from tidings.broker.errors import ShuttingDown, TooManyRequests
from tidings.broker.lake.lake import WAITING, HistoryLake, LakeBounds, LakeStatus
from tidings.gates.http.results import document
from tidings.log.layout import segment_path
from tidings.model.access import Graphs, Rights
from tidings.model.errors import NotFound, TidingsError
from tidings.model.graph_patterns import read_graphs
from waiting import PATIENCE, asynchronous, until

FAKE = (sys.executable, "-I", "-S", str(Path(__file__).with_name("fake_lake.py")))
GONE = 3
"""Commits that the log no longer has."""


def asking(text: str, **more: str) -> dict[str, Any]:
    return {"params": {"query": text, "at": "2", **more}}


def question_in(answer: httpx.Response) -> dict[str, Any]:
    """What the process was asked: it answers with that."""
    (row,) = answer.json()["results"]["bindings"]
    question = json.loads(row["question"]["value"])
    assert isinstance(question, dict)
    return question


def lake_of(
    last: int = GONE, error: TidingsError | None = None, graphs: Graphs = Graphs.ALL, module: str | None = None,
    **bounds: Any,
) -> HistoryLake:  # fmt: skip
    return HistoryLake(lambda: LakeStatus("lake", 1, last, graphs, error), FAKE, LakeBounds(**bounds), module)


@asynccontextmanager
async def forgetful(folder: Path, lake: HistoryLake) -> AsyncIterator[House]:
    """A broker whose log begins with commit 4, and the lake that knows more."""
    async with indoors(folder, segment_size=1) as house:
        for number in range(1, 6):
            await house.update(f"INSERT DATA {{ <urn:s> <urn:p> {number} }}")
        for number in range(1, GONE + 1):
            segment_path(folder, number).unlink()
        house.broker.queries.lake = lake
        try:
            yield house
        finally:
            await lake.close()


@asynchronous
async def test_the_lake_answers_for_what_the_log_no_longer_has(tmp_path: Path) -> None:
    async with forgetful(tmp_path / "data", lake_of()) as house:
        asked = question_in(await house.get("/query", **asking("SELECT * { ?s ?p ?o }")))
        assert (asked["ask"], asked["text"], asked["at"], asked["graphs"]) == (
            "answer",
            "SELECT * { ?s ?p ?o }",
            2,
            ["*"],
        )
        dataset = question_in(await house.get("/query", **asking("SELECT * {}", **{"default-graph-uri": "urn:g"})))
        assert (dataset["has_dataset"], dataset["default"]) == (True, ["<urn:g>"])
        assert (await house.get("/query", **asking("ASK {}"))).json()["boolean"] is True
        assert is_error(await house.get("/query", 400, **asking("SELECT nonsense")), 400, "sparql_syntax_error")
        later = await house.get("/query", params={"query": "SELECT * { ?s ?p ?o }", "at": "4"})
        assert len(later.json()["results"]["bindings"]) == 4  # which the log has
        lines = [json.loads(line) for line in (await house.get("/log", params={"from": 2})).text.splitlines()]
        assert [line["seq"] for line in lines] == [2, 3, 4, 5]
        assert [line.get("by") for line in lines] == ["somebody", "somebody", None, None]
        assert [line["left"] for line in lines] == [0] * 4
        lake = (await house.get("/status")).json()["lake"]
        assert lake == {"folder": "lake", "first": 1, "last": GONE, "graphs": ["*"]}


@asynchronous
async def test_only_what_may_be_read_is_asked_for(tmp_path: Path) -> None:
    async with forgetful(tmp_path / "data", lake_of()) as house:
        rights = Rights(read=read_graphs(["urn:g", "urn:city/*"]))
        write = document("application/sparql-results+json", ())
        spool = await house.broker.query("SELECT * {}", None, write, rights, "somebody", at=2)
        with spool.file as file:
            (row,) = json.loads(file.read())["results"]["bindings"]
        assert json.loads(row["question"]["value"])["graphs"] == ["urn:g", "urn:city/*"]


@asynchronous
async def test_whatever_happens_to_the_process_is_told_and_the_next_question_is_answered(tmp_path: Path) -> None:
    lake = lake_of(seconds=0.5, size=100_000)
    async with forgetful(tmp_path / "data", lake) as house:
        for name, status, code, said in (
            ("urn:die", 502, "lake_lost", "has ended with code 3: the lake is dry"),
            ("urn:nonsense", 502, "lake_lost", "sent an invalid line"),
            ("urn:refused", 500, "lake_damaged", "a hole"),
            ("urn:slow", 504, "lake_too_slow", "in time"),
            ("urn:large", 503, "answer_too_large", "more than 100,000 bytes"),
        ):
            answer = await house.get("/query", status, **asking(f"SELECT * {{ <{name}> ?p ?o }}"))
            assert is_error(answer, status, code)
            assert said in answer.json()["error_description"]
        assert question_in(await house.get("/query", **asking("SELECT * {}")))["at"] == 2


@asynchronous
async def test_who_has_nothing_to_ask_is_told_why(tmp_path: Path) -> None:
    broken = NotFound("no lake there")
    short, wrong, bare = lake_of(last=1), lake_of(error=broken), lake_of(module="tidings_without_spark")
    narrow = lake_of(graphs=read_graphs(["urn:g"]))
    async with forgetful(tmp_path / "data", short) as house:
        assert is_error(await house.get("/query", 410, **asking("ASK {}")), 410, "history_gone")
        assert is_error(await house.get("/log", 410, params={"from": 1}), 410, "history_gone")
        house.broker.queries.lake = wrong
        assert is_error(await house.get("/query", 404, **asking("ASK {}")), 404, "not_found")
        assert (await house.get("/status")).json()["lake"]["error"]["error_description"] == "no lake there"
        house.broker.queries.lake = bare
        answer = await house.get("/query", 501, **asking("ASK {}"))
        assert is_error(answer, 501, "extra_missing")
        assert "[spark]" in answer.json()["error_description"] or "setup spark" in answer.json()["error_description"]
        house.broker.queries.lake = narrow  # which cannot tell all that happened in other graphs
        assert is_error(await house.get("/log", 410, params={"from": 1, "graphs": "default"}), 410, "history_gone")


@asynchronous
async def test_few_may_wait_and_none_at_the_end() -> None:
    lake = lake_of(seconds=None)

    async def ask(client: str | None) -> object:
        return await lake.answer("SELECT * { <urn:slow> ?p ?o }", None, "http://e/", 2, Graphs.ALL, client)

    waiting = [asyncio.create_task(ask(None)) for _ in range(WAITING + 1)]
    await until(lambda: lake.asked == 1)
    with pytest.raises(TooManyRequests):
        await ask(None)
    left = waiting.pop()
    left.cancel()
    await asyncio.wait([left])
    await asyncio.sleep(0)
    late = asyncio.create_task(ask("somebody"))
    await lake.close()
    async with asyncio.timeout(PATIENCE):
        outcomes = await asyncio.gather(*waiting, late, return_exceptions=True)
    assert {type(each) for each in outcomes} == {ShuttingDown}
