"""The job on Spark and a broker that delivers what it tells: a client sees what it would see at an ordinary broker."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from gates.client import Follower, connected
from gates.wire import Broker, serving
from tidings.spark.streaming.job import StreamJob
from tidings.spark.streaming.subscriptions.requests import request_source
from waiting import asynchronous

pytestmark = [pytest.mark.spark, pytest.mark.server]

LIGHTS = "SELECT ?lamp ?power { ?lamp <in> ?room ; <power> ?power . ?room <lit> true }"
SUM = "SELECT ?room (SUM(?power) AS ?sum) { ?lamp <in> ?room ; <power> ?power } GROUP BY ?room"
UPDATES = (
    "INSERT DATA { <lamp2> <in> <hall> ; <power> 40 }",
    "DELETE DATA { <lamp1> <power> 60 }",
    "DELETE { ?lamp <power> ?old } INSERT { ?lamp <power> 5 } WHERE { ?lamp <power> ?old }",
)


@asynchronous
async def _a_client_of_each_hears_the_same(delivering: Broker, ordinary: Broker) -> None:
    for broker in (delivering, ordinary):
        broker.update("INSERT DATA { <hall> <lit> true . <lamp1> <in> <hall> ; <power> 60 }")
    async with connected(delivering) as lights, connected(delivering) as sums, connected(ordinary) as usual:
        told = [Follower("lights", lights), Follower("sums", sums)]
        for follower, text in zip(told, (LIGHTS, SUM), strict=True):
            follower.client.send({"subscribe": {"sparql": text, "alias": follower.alias}})
        for follower in told:
            follower.take(await follower.client.next())
        expected = [await usual.follow(LIGHTS, "lights")]
        assert told[0].answer == expected[0].answer
        for text in UPDATES:
            for broker in (delivering, ordinary):
                broker.update(text)
            await expected[0].hear()
        while told[0].told < expected[0].told:
            told[0].take(await lights.next())
        while told[1].told < len(UPDATES):
            told[1].take(await sums.next())
        assert (told[0].answer, told[0].told) == (expected[0].answer, len(UPDATES))
        for follower, text in zip(told, (LIGHTS, SUM), strict=True):
            rows = delivering.query(text)
            assert follower.answer == Counter(tuple(term["value"] for term in row.values()) for row in rows)


def test_what_spark_tells_is_what_a_broker_would_have_told(
    spark: SparkSession, unhurried: None, tmp_path: Path
) -> None:
    (tmp_path / "ordinary").mkdir()
    stop = threading.Event()
    job = StreamJob(spark, str(tmp_path / "tidings-data"), tmp_path / "check", tmp_path / "out")
    with (
        serving(tmp_path, "--deliver", "out") as delivering,
        serving(tmp_path / "ordinary") as ordinary,
        ThreadPoolExecutor(1) as clients,
    ):
        heard = clients.submit(_a_client_of_each_hears_the_same, delivering, ordinary)
        heard.add_done_callback(lambda _: stop.set())
        wanted = tmp_path / "out" / "wanted.jsonl"
        while wanted.read_bytes().count(b"\n") < 2 and not stop.wait(0.05):
            pass  # who is there when the job begins is told by its first batch
        job.run(request_source(str(wanted)), follow=True, stop=stop)
        heard.result()
