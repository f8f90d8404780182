"""A broker that delivers what a job tells, in a process of its own; the job is one without Spark."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from broker.jobs import Job
from gates.client import connected, rows
from gates.wire import SERVE, Broker, serving
from plain import calls
from tidings.spark.log_source.origin import Mark, checked, origin_of
from tidings.spark.streaming.output.notification_rows import notification_row, packed_rows
from tidings.spark.streaming.output.sink import NotificationWriter
from tidings.spark.streaming.packs import PACKED_ARROW
from tidings.spark.streaming.subscriptions.request_file import LINES
from tidings.spark.streaming.subscriptions.requests import FileRequests
from tidings.spark.streaming.unit import Notification
from waiting import PATIENCE, asynchronous, until

pytestmark = pytest.mark.server

ALL = "SELECT ?s ?o { ?s <p> ?o }"
OPTIONS = SERVE[2:]
"""What `python -m tidings` is called with."""


def without(package: str) -> tuple[str, ...]:
    """Serve where a package is not installed."""
    return (
        "-c",
        f"import sys; sys.modules[{package!r}] = None; from tidings.cli import main; sys.exit(main())",
        *OPTIONS,
    )


class Work:
    """The job over a folder of data and a folder of what is told, batch by batch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self._job = Job()
        self._wanted = FileRequests(self.out / "wanted.jsonl")
        self._mark = Mark()
        self._number = 0

    def once(self) -> None:
        """Do what there is to do, if anything."""
        requests = self._wanted.read()
        wanted = (
            self._job.members if requests is None else {spuid: request.member for spuid, request in requests.items()}
        )
        log = origin_of(str(self.folder / "tidings-data"))
        entries = list(checked(log, self._mark, log.end()))
        if entries or wanted != self._job.members:
            if entries:
                self._mark = Mark(entries[-1].commit, entries[-1].time)
            self.write(self._job.batch(entries, wanted))

    def write(self, told: list[Notification]) -> None:
        writer = NotificationWriter(self.out)
        pack = packed_rows(1, [notification_row(1, each) for each in told])
        columns = [pa.array([value], field.type) for value, field in zip(pack, PACKED_ARROW, strict=True)]
        written = writer.write(iter([pa.RecordBatch.from_arrays(columns, schema=PACKED_ARROW)]))
        writer.commit([written], self._number)
        self._number += 2  # a number may be left out

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Work as long as the test does."""
        stop = threading.Event()

        def work() -> None:
            while not stop.wait(0.01):
                self.once()

        worker = threading.Thread(target=work)
        worker.start()
        try:
            yield
        finally:
            stop.set()
            worker.join(PATIENCE)
            assert not worker.is_alive()


@contextmanager
def delivering(folder: Path, *arguments: str) -> Iterator[Broker]:
    program = without("pyspark")  # it needs none
    with serving(folder, "--deliver", "out", "--base", "http://example.org/", *arguments, program=program) as broker:
        yield broker


@asynchronous
async def test_a_client_sees_what_it_would_see_at_an_ordinary_broker(tmp_path: Path) -> None:
    (tmp_path / "ordinary").mkdir()
    work = Work(tmp_path)
    graph = "http://example.org/g"
    with (
        delivering(tmp_path) as broker,
        serving(tmp_path / "ordinary", "--base", "http://example.org/") as other,
        work.going_on(),
    ):
        async with connected(broker) as socket, connected(other) as usual:
            for each in (broker, other):
                each.update("INSERT DATA { <s0> <p> 0 }")
            told, expected = await socket.follow(ALL), await usual.follow(ALL)
            in_graph = await socket.follow("ASK { ?s <p> ?o }", "g", default=graph)
            assert (told.answer, told.told) == (expected.answer, 0)
            for n in range(1, 4):
                text = f"DELETE {{ ?s <p> ?o }} INSERT {{ ?s <p> {n} . <s{n}> <p> {n} }} WHERE {{ ?s <p> ?o }}"
                for each in (broker, other):
                    each.update(text)
                await told.hear()
                await expected.hear()
                assert (told.answer, told.told) == (expected.answer, n)
            broker.update(f"INSERT DATA {{ GRAPH <{graph}> {{ <a> <p> 1 }} }}")
            await in_graph.hear()
            assert in_graph.answer == {("true",): 1}
            assert {row["o"]["value"] for row in broker.query(ALL)} == {"3"}

            assert "error" in await socket.ask({"subscribe": {"sparql": "SELECT", "alias": "wrong"}})
            refused = await socket.ask({"subscribe": {"sparql": "SELECT (RAND() AS ?x) {}", "alias": "chance"}})
            assert (refused["error"], refused["alias"]) == ("depends_on_chance", "chance")

            shown = calls.get(f"{broker.http}/subscriptions/{told.spuid}", timeout=PATIENCE).json()
            assert "explain" in shown
            done = await socket.ask({"unsubscribe": {"spuid": told.spuid}})
            assert done == {"unsubscribed": {"spuid": told.spuid}}
            await until(lambda: told.spuid not in _wanted(work))
            assert in_graph.spuid in _wanted(work)


@asynchronous
async def test_a_broker_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    work = Work(tmp_path)
    with delivering(tmp_path) as broker:
        async with connected(broker) as socket:
            with work.going_on():
                follower = await socket.follow(ALL)
                broker.update("INSERT DATA { <s1> <p> 1 }")
                await follower.hear()
            broker.update("INSERT DATA { <s2> <p> 2 }")
            broker.process.kill()
            broker.process.wait(PATIENCE)
    work.once()  # nobody is there to hear of it
    with delivering(tmp_path) as broker, work.going_on():
        async with connected(broker) as socket:
            socket.send({"subscribe": {"alias": "it", "resume": {"spuid": follower.spuid, "sequence": follower.told}}})
            follower.move(socket)
            follower.take(await socket.next())
            assert {o for _, o in follower.answer} == {"1", "2"}
            broker.update("INSERT DATA { <s3> <p> 3 }")
            await follower.hear()
            assert (follower.told, len(follower.answer)) == (3, 3)


@asynchronous
async def test_a_job_that_is_silent_is_answered_for(tmp_path: Path) -> None:
    work = Work(tmp_path)
    with delivering(tmp_path, "--deliver-patience", "0.1") as broker:
        async with connected(broker) as socket:
            error = await socket.ask({"subscribe": {"sparql": ALL, "alias": "it"}})
            assert (error["error"], error["status_code"], error["alias"]) == ("not_told_in_time", 504, "it")
            await until(lambda: not _wanted(work))
            with calls.stream("GET", f"{broker.http}/subscribe", params={"query": ALL}, timeout=PATIENCE) as answer:
                assert answer.status_code == 504  # the same for an event stream


@asynchronous
async def test_a_job_that_fails_is_answered_for(tmp_path: Path) -> None:
    work = Work(tmp_path)
    with delivering(tmp_path) as broker:
        async with connected(broker) as socket:
            socket.send({"subscribe": {"sparql": ALL, "alias": "it"}})
            await until(lambda: bool(_wanted(work)))
            (spuid,) = _wanted(work)
            work.write([Notification(spuid, 0, 0, 0, ("s", "o"), [], [], "its query failed: no")])
            error = await socket.next()
            assert (error["error"], error["error_description"]) == ("evaluation_failed", "its query failed: no")


@asynchronous
async def test_the_file_of_who_wants_what_does_not_grow_for_ever(tmp_path: Path) -> None:
    work = Work(tmp_path)
    with delivering(tmp_path) as broker:
        async with connected(broker) as socket:
            for round_ in range(2):
                for n in range(LINES // 2):
                    socket.send({"subscribe": {"sparql": f"SELECT ?o {{ <s{n}> <p> ?o }}", "alias": n}})
                await until(lambda: len(_wanted(work)) == LINES // 2)
                for n in range(LINES // 2 - round_):
                    socket.send({"unsubscribe": {"alias": n}})
                await until(lambda: len(_wanted(work)) == round_)  # noqa: B023 -- at once
            assert (work.out / "wanted.jsonl").read_bytes().count(b"\n") <= LINES


def test_an_event_stream_is_delivered_as_well(tmp_path: Path) -> None:
    work = Work(tmp_path)
    with delivering(tmp_path) as broker, work.going_on():
        broker.update("INSERT DATA { <s1> <p> 1 }")
        with calls.stream("GET", f"{broker.http}/subscribe", params={"query": ALL}, timeout=PATIENCE) as answer:
            events = (json.loads(line[6:])["notification"] for line in answer.iter_lines() if line.startswith("data: "))
            assert next(events)["sequence"] == 0
            broker.update("DELETE DATA { <s1> <p> 1 }")
            second = next(events)
            assert (second["sequence"], second["commit"]) == (1, 2)
            assert rows(second["removedResults"]) == [("http://example.org/s1", "1")]


def test_a_folder_belongs_to_one_broker(tmp_path: Path) -> None:
    with delivering(tmp_path):
        assert "in use" in _refused(tmp_path, *SERVE, "--deliver", "out", "--data", "other")


def test_what_reads_parquet_has_to_be_there(tmp_path: Path) -> None:
    said = _refused(tmp_path, *without("pyarrow"), "--deliver", "out")
    assert re.search(r"--deliver needs what reads Parquet: .*(scripts/setup spark|tidings\[spark\])", said)


def _refused(folder: Path, *command: str) -> str:
    """What a broker says that does not start."""
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode
    return done.stderr


def _wanted(work: Work) -> set[str]:
    return set(FileRequests(work.out / "wanted.jsonl").read() or ())
