"""Changes the number of partitions of a stopped job: Spark redistributes the state of the units, as a batch of its own.

That batch has no input and no output. The job goes on with the next batch, so one number is missing in its output.
"""

from pathlib import Path

from pyspark.sql import SparkSession

from tidings.spark.lock import locked
from tidings.spark.session import translated
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.monitoring import checkpoint as checkpoints


def check(checkpoint: Path, partitions: int) -> int:
    """The present number of partitions. Raises StreamUnusable if it cannot be changed, or has this value already."""
    checkpoints.about_of(checkpoint)
    last = checkpoints.finished(checkpoint)
    place = checkpoints.place(checkpoint, last)
    if place is None:
        raise StreamUnusable(f"{checkpoint} has no batch yet: start the job with --partitions {partitions}")
    if checkpoints.planned(checkpoint) != last:
        raise StreamUnusable(f"{checkpoint} has a batch that is not finished: start the job once more, and stop it")
    if place.partitions == partitions:
        raise StreamUnusable(f"{checkpoint} has {partitions} partitions already")
    return place.partitions


def rescale(spark: SparkSession, checkpoint: Path, partitions: int) -> None:
    """Change the number of partitions. Raises StreamUnusable, and LakeInUse while the job runs."""
    with locked(checkpoint):
        check(checkpoint, partitions)
        with translated():
            spark._streamingCheckpointManager.repartition(str((checkpoint / "spark").absolute()), partitions)
