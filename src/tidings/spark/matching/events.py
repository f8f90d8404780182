"""Reads events as rows with a JSON document: from JSON lines, from Parquet files (columns become attributes), or from
the subjects of a history lake.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.matching.language.bounds import DEFAULT_BOUNDS
from tidings.matching.language.descriptions import LABELS, best_label, described
from tidings.matching.language.documents import event_document
from tidings.matching.language.values import Event
from tidings.spark.errors import SparkFailed
from tidings.spark.lake import travel
from tidings.spark.lake.lake import Lake

_EVENT = pa.schema([("event", pa.string())])


def from_lines(spark: SparkSession, path: str) -> DataFrame:
    """The events of JSON lines. Raises SparkFailed."""
    return _events(_read(lambda: spark.read.text(path), path))


def following_lines(spark: SparkSession, folder: str, files: int) -> DataFrame:
    """The events of files as they appear in a folder, some files at a time. A file must be complete when it appears."""
    return _events(spark.readStream.option("maxFilesPerTrigger", files).text(folder))


def from_parquet(spark: SparkSession, path: str) -> DataFrame:
    """The events of Parquet files, one for each row. Raises SparkFailed."""
    frame = _read(lambda: spark.read.parquet(path), path)
    return frame.select(f.to_json(f.struct(*(f"`{name}`" for name in frame.columns))).alias("event"))


def from_lake(spark: SparkSession, folder: Path, commit: int | None = None) -> DataFrame:
    """An event for each subject with an IRI in the graph after a commit, by default the last one."""
    lake = Lake(folder)
    return from_quads(travel.quads(spark, lake, lake.end().commit if commit is None else commit))


def from_quads(quads: DataFrame) -> DataFrame:
    """An event for each subject with an IRI."""
    place = f.array_position(f.array(*map(f.lit, LABELS)), f.col("p"))
    every = f.collect_set(f.struct(place.alias("place"), "o"))
    labels = quads.where(f.col("p").isin(*LABELS)).groupBy("s").agg(every.alias("labels"))
    facts = quads.where(f.startswith("s", f.lit("<"))).select("s", "p", "o").distinct()
    named = facts.join(labels.toDF("p", "p_labels"), "p", "left").join(labels.toDF("o", "o_labels"), "o", "left")
    fact = f.struct("p", "o", "p_labels", "o_labels")
    return named.groupBy("s").agg(f.collect_list(fact).alias("facts")).mapInArrow(_described, "event string")


def _described(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        made = (_event(*row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))
        texts = [msgspec.json.encode(event_document(event)).decode() for event in made if event is not None]
        yield pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], schema=_EVENT)


def _event(subject: str, facts: list[dict[str, Any]]) -> Event | None:
    labels: dict[str, str | None] = {}
    for fact in facts:
        for role in ("p", "o"):
            labels[fact[role]] = best_label((each["place"], each["o"]) for each in fact[f"{role}_labels"] or ())
    return described(subject, ((fact["p"], fact["o"]) for fact in facts), labels.get, DEFAULT_BOUNDS.tuples)


def _events(lines: DataFrame) -> DataFrame:
    return lines.where(f.trim("value") != "").select(f.col("value").alias("event"))


def _read(read: Callable[[], DataFrame], path: str) -> DataFrame:
    try:
        return read()
    except AnalysisException as error:
        raise SparkFailed(f"{path} cannot be read: {str(error).splitlines()[0][:200]}") from error
