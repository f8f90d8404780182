"""Reads the folder of a job: which job it belongs to, and the progress of Spark. This needs no Spark.

CHECKPOINT/job.json        the job that this folder belongs to
CHECKPOINT/registry/       the subscriptions, and when they began and ended
CHECKPOINT/spark/          the progress of Spark, and the state of every unit
CHECKPOINT/tally.json      the sums over all batches; may be deleted
CHECKPOINT/workers.txt     the output of Python processes
CHECKPOINT/lock            held by the one process that runs the job
"""

from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec

from tidings.log.layout import write_whole
from tidings.spark.errors import CheckpointForeign
from tidings.spark.log_source.origin import Mark
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.output.notifications import numbers

JOB = "subscriptions"
_PARTITIONS = "spark.sql.shuffle.partitions"


class About(msgspec.Struct, frozen=True):
    """The content of job.json."""

    job: str
    id: str
    out: str


class Place(NamedTuple):
    """A batch that Spark has planned: when, at which commit it ends, and with how many partitions of the state."""

    batch: int
    started: float
    """Seconds since 1970."""
    mark: Mark
    partitions: int


class _Plan(msgspec.Struct):
    """The second line of an offset file of Spark: time and settings of a batch."""

    started: int = msgspec.field(name="batchTimestampMs")
    conf: dict[str, str]


class _Offset(msgspec.Struct):
    """The third line: where the batch ends in the source."""

    commit: int = msgspec.field(name="seq")
    time: int


def make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StreamUnusable(f"{folder} cannot be made: {error.strerror}") from error


def claim(checkpoint: Path, out: Path) -> About:
    """Check that the checkpoint is of this job and output, or claim a new one. Raises CheckpointForeign.

    The output must not be ahead of the checkpoint: a batch whose manifest exists is not written again, so its
    notifications would be lost.
    """
    told = max(numbers(out), default=-1)
    if told > planned(checkpoint):
        raise CheckpointForeign(
            f"{out} has batch {told}, which {checkpoint} knows nothing of: it is that of another job, or an older one"
        )
    try:
        if all(each.name == "lock" for each in checkpoint.iterdir()):
            made = About(JOB, uuid4().hex, str(out.absolute()))
            write_whole(checkpoint / "job.json", msgspec.json.encode(made) + b"\n")
    except OSError as error:
        raise StreamUnusable(f"{checkpoint} cannot be used: {error.strerror}") from error
    about = about_of(checkpoint)
    if about.out != str(out.absolute()):
        raise CheckpointForeign(f"{checkpoint} belongs to the output {about.out}, not to {out.absolute()}")
    return about


def about_of(checkpoint: Path) -> About:
    """The job that a checkpoint belongs to. Raises CheckpointForeign if it is not one of subscriptions."""
    try:
        about = msgspec.json.decode((checkpoint / "job.json").read_bytes(), type=About)
    except (FileNotFoundError, msgspec.DecodeError):
        raise CheckpointForeign(f"{checkpoint} is no checkpoint of subscriptions: it has no job.json") from None
    except OSError as error:
        raise StreamUnusable(f"{checkpoint} cannot be used: {error.strerror}") from error
    if about.job != JOB:
        raise CheckpointForeign(f"{checkpoint} is the checkpoint of another job, {about.job}")
    return about


def planned(checkpoint: Path) -> int:
    """The last batch that Spark has begun; -1 if there is none."""
    return _last(checkpoint / "spark" / "offsets")


def finished(checkpoint: Path) -> int:
    """The last batch that Spark has finished; -1 if there is none."""
    return _last(checkpoint / "spark" / "commits")


def _last(folder: Path) -> int:
    return max((int(path.name) for path in folder.glob("*") if path.name.isdecimal()), default=-1)


def place(checkpoint: Path, batch: int) -> Place | None:
    """A batch as Spark has planned it; None if Spark has removed it. Raises StreamUnusable."""
    path = checkpoint / "spark" / "offsets" / str(batch)
    try:
        _, plan_line, offset_line = path.read_bytes().splitlines()
        plan = msgspec.json.decode(plan_line, type=_Plan)
        offset = msgspec.json.decode(offset_line, type=_Offset)
        partitions = int(plan.conf[_PARTITIONS])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, msgspec.DecodeError) as error:
        raise StreamUnusable(f"{path} is not what Spark writes: {error}") from error
    return Place(batch, plan.started / 1000, Mark(offset.commit, offset.time), partitions)
