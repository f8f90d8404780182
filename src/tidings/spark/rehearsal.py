"""Runs small examples of all the jobs, so that the JVM loads their classes (see `class_archive`).

python -m tidings.spark.rehearsal FOLDER OPTIONS      with a JVM with these options
"""

import sys
from pathlib import Path
from subprocess import Popen

import msgspec
from pyspark import SparkContext
from pyspark.sql import SparkSession

from tidings.log.entry import Entry
from tidings.log.folder import Folder
from tidings.log.journal import Journal
from tidings.log.layout import log_of, snapshots_of
from tidings.log.recovery import recover
from tidings.model.zset import ZSet
from tidings.spark.lake.ingest import Ingest
from tidings.spark.lake.lake import Lake
from tidings.spark.lake.travel import quads
from tidings.spark.session import session
from tidings.spark.sparql.query import run
from tidings.spark.streaming.job import Settings, StreamJob
from tidings.spark.streaming.subscriptions.requests import FileRequests

QUERY = "SELECT ?o (COUNT(*) AS ?n) WHERE { ?s <urn:p> ?o OPTIONAL { ?s <urn:q> ?q } } GROUP BY ?o ORDER BY ?o"


def rehearse(spark: SparkSession, folder: Path) -> None:
    """Ingest a log into a lake, query its history, and run a subscription."""
    data = folder / "data"
    _write_log(data)
    lake = Lake.make(folder / "lake")
    Ingest(spark, lake, str(data)).run()
    _, rows = run(quads(spark, lake, 2), QUERY)
    rows.collect()
    wanted = folder / "wanted.jsonl"
    wanted.write_bytes(msgspec.json.encode({"query": "SELECT ?s WHERE { ?s <urn:p> ?o }", "from": 0}) + b"\n")
    StreamJob(spark, str(data), folder / "check", folder / "out", settings=Settings()).run(FileRequests(wanted))


def _write_log(data: Path) -> None:
    with Folder(data):
        log_of(data).mkdir(parents=True, exist_ok=True)
        snapshots_of(data).mkdir(exist_ok=True)
        journal = Journal(data, recover(data).place)
        for commit in range(1, 4):
            journal.append(Entry(commit, commit, ZSet.change(added=[(f"<urn:s{commit}>", "<urn:p>", '"1"', "")]), ()))
        if batch := journal.take():
            journal.write(batch)
        journal.close()


def _main(folder: Path, options: str) -> None:
    spark = session("local[2]", partitions=2, options=options)
    process: Popen[bytes] = SparkContext._gateway.proc  # type: ignore[union-attr]
    rehearse(spark, folder)
    spark.stop()
    assert process.stdin is not None
    process.stdin.close()  # this tells the JVM to end
    sys.exit(process.wait())


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2])
