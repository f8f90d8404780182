"""Matching in bulk on Spark finds what the matcher finds in one process: in batch, as a stream, of any input."""

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from lexicons.test_esa_folder import INDEX, written
from spark.histories import log_with
from tidings.broker.approximate.description import description
from tidings.cli import main
from tidings.engine.store.store import Store
from tidings.lexicons.backends import Backend, load_knowledge
from tidings.log.entry import Entry
from tidings.matching.language.documents import event_document, event_of, subscription_document
from tidings.matching.language.notation import read_subscription
from tidings.matching.language.values import Parameters, Scoring
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.model.access import Graphs
from tidings.model.errors import BadRequest
from tidings.model.terms import RDF_TYPE, XSD
from tidings.model.zset import ZSet
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.writing import append
from tidings.spark.log_source.data_source import FORMAT, TidingsLog
from tidings.spark.matching.events import from_lake, from_lines, from_parquet
from tidings.spark.matching.job import follow, matched
from tidings.spark.matching.worker import Spec, Tally
from tidings.spark.session import translated

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("unhurried")]
CHANCE = random.Random(3)
WORDS = ["car park", "vehicle", "wind", "sand", "a vehicle park", "unheard"]
EVENTS: list[dict[str, Any]] = [
    {"@id": f"urn:{number}", **{name: CHANCE.choice([*WORDS, number % 7]) for name in CHANCE.sample(WORDS, 3)}}
    for number in range(60)
]
SUBSCRIPTIONS = {
    f"s{number}": read_subscription(text, Parameters(threshold=0.25, scoring=Scoring.JOINT, attribute_exponent=0.5))
    for number, text in enumerate(
        [
            "{vehicle~ = car~}",
            "{sand = wind~}",
            "{car~ > 2}",
            "{park~ = vehicle~, sand~ = sand~}",
            "{vehicle~ = unheard}",
        ]
    )
}
Found = dict[str, dict[str, float]]


def spec(folder: Path, **more: Any) -> Spec:
    index = folder / "esa"
    if not index.exists():
        written(index, INDEX)
    documents = {key: subscription_document(each) for key, each in SUBSCRIPTIONS.items()}
    return Spec(documents, backend="esa", index=str(index), **more)


def in_process(folder: Path, events: list[dict[str, Any]] = EVENTS) -> Found:
    knowledge = load_knowledge(Backend.ESA, index=folder / "esa")
    index: SubscriptionIndex[str] = SubscriptionIndex(knowledge)
    for key, subscription in SUBSCRIPTIONS.items():
        index.add(key, subscription)
    found: Found = defaultdict(dict)
    for document in events:
        event = event_of(document)
        for key, match in index.match(event):
            found[key][msgspec.json.encode(event_document(event)).decode()] = match.degree
    return dict(found)


def told(frame: DataFrame) -> Found:
    found: Found = defaultdict(dict)
    for row in frame.collect():
        found[row["subscription"]][row["event"]] = row["degree"]
    return dict(found)


def same(one: Found, other: Found) -> None:
    assert one.keys() == other.keys()
    for key in one:
        assert one[key] == pytest.approx(other[key], abs=1e-6)


def lines(path: Path, events: list[dict[str, Any]]) -> str:
    path.write_bytes(b"\n".join([*map(msgspec.json.encode, events), b""]))
    return str(path)


def test_spark_finds_what_the_matcher_finds_of_every_kind_of_input(spark: SparkSession, tmp_path: Path) -> None:
    how = spec(tmp_path)
    expected = in_process(tmp_path)
    assert len(expected) == 5
    path = lines(tmp_path / "events.jsonl", EVENTS)
    with matched(from_lines(spark, path).repartition(2), how) as every:
        same(told(every.frame), expected)
        assert every.tally.events == 60
        assert every.tally.pairs == 300
        assert 0 < every.tally.looked_at < 300
        assert every.tally.matches == every.tally.matches_kept == sum(map(len, expected.values()))
        first = every.frame.first()
        assert first is not None
        assert msgspec.json.decode(first["mappings"])[0]["met"][0]["predicate"] == "vehicle~ = car~"
    with matched(from_lines(spark, path), how, top=2) as best:
        ranked = {key: dict(sorted(each.items(), key=lambda e: (-e[1], e[0]))[:2]) for key, each in expected.items()}
        same(told(best.frame), ranked)
    plain = [{name: str(value) for name, value in event.items()} for event in EVENTS]
    columns = sorted({name for event in plain for name in event})
    pq.write_table(pa.table({name: [event.get(name) for event in plain] for name in columns}), tmp_path / "e.parquet")
    ordered = [{name: event[name] for name in columns if name in event} for event in plain]
    with matched(from_parquet(spark, str(tmp_path / "e.parquet")), how) as every:
        same(told(every.frame), in_process(tmp_path, ordered))


def test_clusters_tell_what_they_lose_and_what_cannot_be_read_is_told(spark: SparkSession, tmp_path: Path) -> None:
    how = spec(tmp_path, clusters="values")
    path = lines(tmp_path / "events.jsonl", EVENTS)
    with matched(from_lines(spark, path), how) as found:
        tally = found.tally
        assert tally.matches == sum(map(len, in_process(tmp_path).values()))
        assert tally.matches_kept == found.frame.count() <= tally.matches
        assert 0 < tally.kept < tally.pairs == 300
    (tmp_path / "events.jsonl").write_text('{"a": {"b": 1}}\n{"vehicle": "car"}\nnonsense\n')
    with (
        pytest.raises(BadRequest, match="an event cannot be read"),
        translated(),
        matched(from_lines(spark, path), spec(tmp_path)),
    ):
        pass
    with matched(from_lines(spark, path), spec(tmp_path, lenient=True)) as found:
        assert found.tally == Tally(events=1, unreadable=2, pairs=5, looked_at=1, matches=1, kept=5, matches_kept=1)


def test_a_stream_takes_each_file_once(spark: SparkSession, tmp_path: Path) -> None:
    how, folder, out = spec(tmp_path), tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    batches: list[int] = []
    for part in (EVENTS[:30], EVENTS[30:]):
        lines(folder / f"{len(batches)}.jsonl", part)
        follow(spark, str(folder), how, out, tmp_path / "check", until_done=True, told=lambda n, _: batches.append(n))
    assert batches == [0, 1]
    same(told(spark.read.parquet(str(out))), in_process(tmp_path))


def test_subjects_of_a_lake_are_the_events_that_a_broker_makes_of_them(spark: SparkSession, tmp_path: Path) -> None:
    label, name = "<http://www.w3.org/2000/01/rdf-schema#label>", "<http://schema.org/name>"
    quads = [
        ("<urn:x/space1>", RDF_TYPE, "<urn:x/CarPark>", ""),
        ("<urn:x/space1>", "<urn:x/p1>", "<urn:x/v1>", ""),
        ("<urn:x/space1>", "<urn:x/freePlaces>", f'"3"^^<{XSD}integer>', "<urn:g>"),
        ("<urn:x/p1>", label, '"Fahrzeug"@de', ""),
        ("<urn:x/p1>", name, '"vehicle"@en', ""),
        ("<urn:x/v1>", label, '"car \\"park\\""', ""),
        ("_:b", "<urn:x#sand>", "_:c", ""),
    ]
    log = log_with(tmp_path / "data", [Entry(1, 1_700_000_000_000_000, ZSet.change(removed=(), added=quads))])
    spark.dataSource.register(TidingsLog)
    append(Lake.make(tmp_path / "lake"), spark.read.format(FORMAT).load(str(log)))
    events = from_lake(spark, tmp_path / "lake")
    documents = [msgspec.json.decode(row["event"]) for row in events.collect()]
    store, subjects = Store(quads), ("<urn:x/space1>", "<urn:x/p1>", "<urn:x/v1>")
    expected = [event_document(event) for each in subjects if (event := description(store, each, Graphs.ALL, 100))]
    assert expected[0] == {"@id": "urn:x/space1", "type": "CarPark", "freePlaces": 3, "vehicle": 'car "park"'}
    assert sorted(documents, key=str) == sorted(expected, key=str)
    with matched(events, spec(tmp_path)) as found:
        assert told(found.frame).keys() == {"s0"}


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("backend", "described"), [("vectors", False), ("minilm", True)])
def test_files_of_events_and_subscriptions_are_matched_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], backend: str, described: bool
) -> None:
    events, subscriptions = tmp_path / "events.jsonl", tmp_path / "subscriptions.jsonl"
    happened = [{"city": "Dublin", "state": "vacant"}, {"city": "Galway", "state": "vacant"}]
    happened.append({"device": "breathing machine"})
    events.write_text("\n".join(msgspec.json.encode(each).decode() for each in happened))
    wanted = ["{device = ventilator~}", "{city~ = galway~}"]
    named = [{"id": key, "predicates": each} for key, each in zip(("nurse", "sarah"), wanted, strict=True)]
    lines = [msgspec.json.encode(each).decode() for each in [*named, {"predicates": "{state = vacant}"}]]
    subscriptions.write_text("\n".join(lines))
    files = ("--events", str(events), "--subscriptions", str(subscriptions))
    assert main(["match", *files, "--top", "1", "--backend", backend]) == 0
    told = [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]
    degrees = {each["subscription"]: each["degree"] for each in told}
    assert (degrees.pop("nurse", 0.0) > 0.6) is described
    assert degrees == {"sarah": 1.0, "3": 1.0}
    assert next(each for each in told if each["subscription"] == "sarah")["event"]["city"] == "Galway"
