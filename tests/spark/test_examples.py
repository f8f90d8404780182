"""Every example in the help of commands that run on Spark, one after the other, in a folder that has what they need."""

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from shutil import rmtree

import pytest
from pyspark.sql import SparkSession

from cli.shell import EXAMPLES, ON_SPARK, ONE, command_of
from gates.wire import Broker, serving
from lexicons.test_wordnet import small_wordnet
from spark.dumps import articles, multistream
from spark.histories import log_with
from tidings.cli import main
from tidings.log.entry import Entry, published_by
from tidings.log.journal import Settings
from tidings.model.terms import RDF_TYPE, XSD, Quad
from tidings.model.zset import ZSet

Captured = pytest.CaptureFixture[str]
COMMITS = 2_100
STEP = 5_000_000
START = int(datetime(2026, 11, 15, 7, 30, tzinfo=UTC).timestamp()) * 1_000_000
WANTED = '{"query": "SELECT ?room ?value { ?room <http://example.org/temperature> ?value }"}\n'
WRITTEN = ("--output", "--data", "--chart", "--checkpoint", "--out")
"""Options that say where something is to be found afterwards."""


def temperatures() -> Iterator[Entry]:
    """A lamp, and the temperatures of two rooms, one of which is silent after a while."""
    lamp = (f"<{ONE}LAMP_1_1>", RDF_TYPE, f"<{ONE}Lamp>", "")
    yield Entry(1, START, ZSet.change(removed=(), added=(lamp, reading(0, 0), reading(1, 0))))
    last = [0, 0]
    for seq in range(2, COMMITS + 1):
        room = seq % 2 if seq < 100 else 0
        delta = ZSet.change(removed=(reading(room, last[room]),), added=(reading(room, seq),))
        last[room] = seq
        yield Entry(seq, START + seq * STEP, delta, (published_by("thermometer"),))


def reading(room: int, number: int) -> Quad:
    room_name, predicate = f"<http://example.org/room{room}>", "<http://example.org/temperature>"
    return room_name, predicate, f'"{number / 100}"^^<{XSD}decimal>', ""


def furnish(folder: Path) -> None:
    log_with(folder / "tidings-data", temperatures(), Settings(durability="os"))
    (folder / "lamps.rq").write_text(f"SELECT ?lamp {{ ?lamp a <{ONE}Lamp> }}")
    for name in ("wanted.jsonl", "new.jsonl"):
        (folder / name).write_text(WANTED)
    small_wordnet(folder / "dict")
    (folder / "pages-articles.xml.bz2").write_bytes(multistream(articles(60), 20))
    (folder / "pairs.txt").write_text("car\tvehicle\t9\ncar\tmotion\t2\n")


def addressed(example: str, broker: Broker, folder: Path) -> str:
    """With the address of the broker, and folders where the session, which is in another, finds them too."""
    for option, name in (("--log", "tidings-data"), ("--lake", "lake")):
        example = example.replace(f"{option} {name}", f"{option} {folder / name}")
    example = example.replace("build wordnet", "build wordnet --commonest 1")  # ours has three synsets
    return example.replace("http://localhost:8000", broker.http)


@pytest.mark.spark
@pytest.mark.server
@pytest.mark.usefixtures("unhurried")
def test_every_example_of_the_help_runs_on_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path / "dict"))
    with serving(tmp_path, "--data", "tidings-data") as broker:
        for example in (each for each in EXAMPLES if command_of(each) in ON_SPARK):
            words = [word for word in shlex.split(addressed(example, broker, tmp_path))[1:] if word != "--follow"]
            if "replay" in words:
                rmtree("then")  # one command has made it, and another makes something else of that name
            assert main(words) == 0, (example, capsys.readouterr().err)
            told = capsys.readouterr()
            files = [Path(name) for option, name in pairwise(words) if option in WRITTEN]
            assert told.out or told.err or {"--output", "--data"} & set(words), example
            for file in files:
                assert any(file.iterdir()) if file.is_dir() else file.stat().st_size, example
