"""A lake of some graphs: it has what its log shows of these, says so, and is never mixed with others."""

import asyncio
import csv
import json
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from gates.secured import POLICY, A, B, secured
from gates.sockets import asynchronous
from spark.histories import history, log_with, replayed, rows_of
from spark.measured import GRAPH, VALUE, lake_of, sensors
from tidings.cli.commands.operation import history as command
from tidings.cli.input.arguments import UsageError
from tidings.log.entry import Entry
from tidings.model.access import Graphs
from tidings.model.errors import BadRequest
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.spark.errors import LakeUnusable, OtherGraphs
from tidings.spark.lake import travel
from tidings.spark.lake.ingest import Ingest
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.writing import Upkeep
from tidings.spark.log_source.data_source import FORMAT, TidingsLog, graphs_option
from tidings.spark.log_source.lake_origin import LakeOrigin
from tidings.spark.log_source.origin import Mark, checked, graphs_at, origin_of

G = "http://example.org/g"
ONLY_G = Graphs(names=frozenset((f"<{G}>",)))
BUSY = Upkeep(fan=3, large=1_000, snapshot_every=60)


def anybody(*graphs: str) -> str:
    """The policy, and what whoever shows nothing may read."""
    return POLICY + f'\n[[grant]]\nto = "anonymous"\nquery = {json.dumps(graphs)}\n'


def run(*words: object) -> None:
    assert command.run(command.parser().parse_intermixed_args([*map(str, words), "--quiet"])) == 0


def seen(entries: Sequence[Entry], at: int, graphs: Graphs) -> set[Quad]:
    return {quad for quad in replayed(entries, at) if graphs.has(quad[3])}


def told(entries: Iterable[Entry]) -> list[tuple[int, int, ZSet[Quad], str | None]]:
    """What a lake keeps of commits."""
    return [(entry.commit, entry.time, entry.delta, entry.publisher) for entry in entries]


# -- without Spark --------------------------------------------------------------------------------------------------


def test_a_lake_says_of_which_graphs_it_is_and_stays_so(tmp_path: Path) -> None:
    assert Lake.make(tmp_path / "all").graphs == Graphs.ALL
    assert Lake.make(tmp_path / "g", ONLY_G).about.graphs == (G,)
    assert Lake(tmp_path / "g").graphs == Lake.make(tmp_path / "g", ONLY_G).graphs == ONLY_G
    with pytest.raises(OtherGraphs, match="nothing to take in"):
        Lake.make(tmp_path / "none", Graphs.NONE)
    for folder, graphs in (("all", ONLY_G), ("g", Graphs.ALL), ("g", Graphs(names=frozenset((f"<{G}>", ""))))):
        with pytest.raises(OtherGraphs, match="begin another lake"):
            Lake.make(tmp_path / folder, graphs)
    text = (tmp_path / "g" / "lake.json").read_text()
    (tmp_path / "g" / "lake.json").write_text(text.replace(G, "nonsense"))
    with pytest.raises(LakeUnusable, match="nonsense"):
        Lake(tmp_path / "g")


def test_a_lake_from_before_there_were_rights_has_every_graph(tmp_path: Path) -> None:
    Lake.make(tmp_path)
    (tmp_path / "lake.json").write_text('{"format": "tidings-lake", "version": 1, "id": "x"}\n')
    assert Lake.make(tmp_path).graphs == Graphs.ALL


def test_an_origin_of_some_graphs_has_every_commit_and_only_their_quads(tmp_path: Path) -> None:
    entries = [entry for entry in history(21, 60) if entry.delta]
    origin = origin_of(str(log_with(tmp_path / "data", entries)), ONLY_G)
    found = list(checked(origin, Mark(), Mark(60, entries[-1].time)))
    assert found == [entry.seen_by(ONLY_G) for entry in entries]
    assert {bool(entry.delta) for entry in found} == {True, False}
    assert all(entry.delta or not entry.notes for entry in found)


def test_a_lake_of_some_graphs_is_no_origin_of_others(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path, ONLY_G)
    assert graphs_at(f"lake:{lake.path}") == ONLY_G
    assert origin_of(f"lake:{lake.path}", ONLY_G).graphs() == ONLY_G
    for graphs in (Graphs.ALL, Graphs(names=frozenset(("",)))):
        with pytest.raises(OtherGraphs, match=G):
            origin_of(f"lake:{lake.path}", graphs)


@pytest.mark.parametrize(
    ("words", "kind", "told"),
    [
        (["info", "--graphs", "default"], UsageError, "whole lake"),
        (["query", "ASK { }", "--graphs", "g"], BadRequest, "no absolute IRI"),
        (["as-of", "--graphs", "http://example*"], BadRequest, "other hosts"),
        (["churn", "--graphs", "urn:*x"], BadRequest, "not at its end"),
    ],
)
def test_graphs_that_make_no_sense_are_refused_before_spark_starts(
    tmp_path: Path, words: list[str], kind: type[Exception], told: str
) -> None:
    lake_of(tmp_path / "lake", sensors(1, 3))
    with pytest.raises(kind, match=told):
        run(*words, "--lake", tmp_path / "lake")


@pytest.mark.server
@asynchronous
async def test_a_broker_shows_the_graphs_that_may_be_read_and_refuses_others(tmp_path: Path) -> None:
    async with secured(tmp_path, anybody(A), data=str(tmp_path / "data")) as house:
        await house.broker.update(f"INSERT DATA {{ GRAPH <{B}> {{ <s> <p> 1 }} }}")
        address = str(house.http.base_url)
        graphs = await asyncio.to_thread(graphs_at, address)
        assert graphs == Graphs(names=frozenset((f"<{A}>",)))
        origin = origin_of(address, graphs)
        end = await asyncio.to_thread(origin.end)
        assert end.commit == 2
        assert end.time > 0
        entries = await asyncio.to_thread(lambda: list(checked(origin, Mark(), end)))
        assert [[quad[3] for quad, _ in entry.delta.items()] for entry in entries] == [[f"<{A}>"], []]
        for others in (Graphs.ALL, Graphs(names=frozenset((f"<{A}>", f"<{B}>")))):
            with pytest.raises(OtherGraphs):
                await asyncio.to_thread(origin_of(address, others).end)


# -- on Spark -------------------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_a_lake_of_some_graphs_has_their_history_and_goes_on_with_it(spark: SparkSession, tmp_path: Path) -> None:
    entries = [entry for entry in history(22, 90) if entry.delta]
    log = log_with(tmp_path / "data", entries[:60])
    lake = Lake.make(tmp_path / "lake", ONLY_G)
    Ingest(spark, lake, str(log), commits=20, upkeep=BUSY).run()
    log_with(log, entries[60:])
    Ingest(spark, lake, str(log), commits=10, upkeep=BUSY).run()
    assert lake.end() == Mark(90, entries[-1].time)
    assert lake.snapshots()
    assert len(lake.batches()) < 9  # some were merged
    narrowed = [entry.seen_by(ONLY_G) for entry in entries]
    assert sorted(tuple(row) for row in travel.changes(spark, lake).selectExpr("seq", *"spog").collect()) == sorted(
        (row[0], *row[3:7]) for row in rows_of(narrowed)
    )
    assert told(LakeOrigin(lake.path).commits(0, 90)) == told(narrowed)
    for at in (1, 45, 90):
        assert {tuple(row) for row in travel.quads(spark, lake, at).collect()} == seen(entries, at, ONLY_G)
        assert travel.time_of(lake, at).time == entries[at - 1].time
    copied = Lake.make(tmp_path / "copied", ONLY_G)
    Ingest(spark, copied, f"lake:{lake.path}").run()
    assert told(LakeOrigin(copied.path).commits(0, 90)) == told(narrowed)


@pytest.mark.spark
def test_graphs_are_an_option_of_the_data_source(spark: SparkSession, tmp_path: Path) -> None:
    log = str(log_with(tmp_path / "data", history(23, 20)))
    spark.dataSource.register(TidingsLog)
    rows = spark.read.format(FORMAT).option("graphs", graphs_option(ONLY_G)).load(log).collect()
    assert {row["g"] for row in rows} == {f"<{G}>", None}
    assert {row["op"] for row in rows if row["g"] is None} == {"none"}
    assert {row["seq"] for row in rows} == set(range(1, 21))


@pytest.mark.spark
@pytest.mark.usefixtures("unhurried")
def test_commands_show_the_graphs_that_they_are_asked_for(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = sensors(4, 40)
    of_lake = ("--lake", lake_of(tmp_path / "lake", entries).path)
    in_graph = GRAPH.strip("<>")
    shown = ("--graphs", in_graph, "--graphs", "urn:other*")
    run(
        "query", "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g", *of_lake, *shown, "--format", "csv"
    )
    count = len(seen(entries, 40, Graphs(names=frozenset((GRAPH,)))))
    assert capsys.readouterr().out.split() == ["g,n", f"{in_graph},{count}"]
    run("query", "SELECT * { ?s ?p ?o }", *of_lake, *shown, "--format", "csv")
    assert capsys.readouterr().out.split() == ["s,p,o"]
    run("as-of", *of_lake, "--graphs", "default", "--output", tmp_path / "then.nq")
    lines = (tmp_path / "then.nq").read_text().splitlines()
    assert len(lines) == len(replayed(entries, 40)) - count
    assert not any(GRAPH in line for line in lines)
    run("rates", *of_lake, *shown, "--by", "graph", "--format", "csv")
    assert [row["graph"] for row in csv.DictReader(StringIO(capsys.readouterr().out))] == [GRAPH]
    run("values", *of_lake, "--graphs", "default", "--predicate", VALUE.strip("<>"), "--format", "csv")
    assert {row["graph"] for row in csv.DictReader(StringIO(capsys.readouterr().out))} == {""}


@pytest.mark.spark
def test_the_command_takes_in_some_graphs_and_refuses_to_go_on_with_others(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = log_with(tmp_path / "data", history(24, 20))
    words = ("ingest", "--log", log, "--lake", tmp_path / "lake")
    run(*words, "--graphs", G)
    run(*words, "--graphs", G)
    for other in ((), ("--graphs", "default"), ("--graphs", G, "--graphs", "default")):
        with pytest.raises(OtherGraphs):
            run(*words, *other)
    run("info", "--lake", tmp_path / "lake")
    assert f"graphs     {G};" in capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.server
@asynchronous
async def test_rights_that_change_are_never_mixed_in_a_lake(spark: SparkSession, tmp_path: Path) -> None:
    """Whoever gets more goes on with what the lake is of; whoever has less is told so, and nothing is taken in."""
    file = tmp_path / "security.toml"
    async with secured(tmp_path, anybody(A), data=str(tmp_path / "data")) as house:
        address, both = str(house.http.base_url), f"GRAPH <{A}> {{ <s> <q> %d }} GRAPH <{B}> {{ <s> <q> %d }}"

        async def ingest() -> None:
            await asyncio.to_thread(lambda: Ingest(spark, lake, address).run())

        async def commit(number: int) -> None:
            await house.broker.update(f"INSERT DATA {{ {both % (number, number)} }}")
            await house.broker.update(f"INSERT DATA {{ GRAPH <{B}> {{ <s> <r> {number} }} }}")

        lake = Lake.make(tmp_path / "lake", await asyncio.to_thread(graphs_at, address))
        await commit(1)
        await ingest()
        assert lake.end().commit == 3
        file.write_text(anybody(A, B))
        await house.security.read_again()
        await commit(2)
        with pytest.raises(OtherGraphs):
            Lake.make(lake.path, await asyncio.to_thread(graphs_at, address))
        await ingest()
        assert lake.end().commit == 5
        graphs = {quad[3] for entry in LakeOrigin(lake.path).commits(0, 5) for quad, _ in entry.delta.items()}
        assert graphs == {f"<{A}>"}
        file.write_text(anybody(B))
        await house.security.read_again()
        await commit(3)
        with pytest.raises(OtherGraphs, match="may not read"):
            await ingest()
        assert lake.end().commit == 5
