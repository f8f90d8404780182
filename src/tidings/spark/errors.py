"""Errors of the lake and of Spark; branches of the tree in `model/errors.py`.

TidingsError
├── NoJava               no_java               501   Spark needs Java 17 or later
├── SparkFailed          spark_failed          500   no such master, or a job failed; the message has the reason
│   └── WorkerLate       worker_late           500   Spark gave up a Python worker that was slow to start
├── OutOfMemory          out_of_memory         500   Spark needs more memory than it has
├── FeedFailed           feed_failed           502   a broker's /log cannot be read
├── LogDiverged          log_diverged          409   the log is not the one that was read before
├── OtherGraphs          other_graphs          409   a lake, a log and a request are not of the same graphs
├── LakeUnusable         lake_unusable         500   no lake, another format, no permission
├── LakeInUse            lake_in_use           500   another ingest writes to it
├── LakeDamaged          lake_damaged          500   a file is missing, or differs from its manifest
├── CheckpointForeign    checkpoint_foreign    409   a checkpoint of another job or lake
└── BeyondHistory        beyond_history        404   a commit or an instant beyond the end of the lake or log
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from tidings.model.errors import TidingsError


class NoJava(TidingsError):
    status = 501
    code = "no_java"


class SparkFailed(TidingsError):
    code = "spark_failed"


class WorkerLate(SparkFailed):
    """The job did nothing, and can be started again."""

    code = "worker_late"


class OutOfMemory(TidingsError):
    code = "out_of_memory"


class FeedFailed(TidingsError):
    status = 502
    code = "feed_failed"


class LogDiverged(TidingsError):
    status = 409
    code = "log_diverged"


class OtherGraphs(TidingsError):
    """Changes of different graphs would be mixed."""

    status = 409
    code = "other_graphs"


class LakeUnusable(TidingsError):
    code = "lake_unusable"


class LakeInUse(TidingsError):
    code = "lake_in_use"


class LakeDamaged(TidingsError):
    code = "lake_damaged"


class CheckpointForeign(TidingsError):
    status = 409
    code = "checkpoint_foreign"


class BeyondHistory(TidingsError):
    status = 404
    code = "beyond_history"


# -- errors from a Python worker: only their text comes back through the JVM -----------------------------------------

_TOLD = re.compile(r"\[tidings:(\w+)\] ([^\n]*)")
_MEMORY = re.compile(
    r"OutOfMemoryError(: [^\n]{1,80})?|INVALID_(DRIVER|EXECUTOR)_MEMORY|UNABLE_TO_ACQUIRE_MEMORY|MemoryError\b"
)
_LATE = "Python worker failed to connect back"
_UNREADABLE = re.compile(r"FAILED_READ_FILE[^\n]*? reading file (?:file:/*(?=/))?(\S+\.parquet)")


class WorkerError(RuntimeError):
    """An error as a worker raises it: its message contains the code, by which the driver recognises it."""

    def __init__(self, error: TidingsError) -> None:
        super().__init__(f"[tidings:{error.code}] {' '.join(str(error).split())}")


def from_worker(error: BaseException) -> TidingsError:
    """The original error, if a worker raised it; otherwise an error with Spark's reason, in one line."""
    text = str(error)
    if found := _TOLD.search(text):
        for kind in _kinds(TidingsError):
            if vars(kind).get("code") == found[1]:
                return kind.__new__(kind, found[2])
    if found := _MEMORY.search(text):
        return OutOfMemory(f"Spark has not enough memory ({found[0]}): give it more, as with --memory 4g")
    if _LATE in text:
        return WorkerLate("Spark gave up a Python worker that did not start within ten seconds: the machine is busy")
    if found := _UNREADABLE.search(text):
        return LakeDamaged(f"{unquote(found[1])} cannot be read: {_cause(text)}")
    return SparkFailed(f"the Spark job failed: {_cause(text)}")


def _kinds(root: type[TidingsError]) -> Iterator[type[TidingsError]]:
    yield root
    for child in root.__subclasses__():
        yield from _kinds(child)


def _cause(text: str) -> str:
    """The most informative line: the last `Caused by`, or the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    return (causes[-1] if causes else lines[0] if lines else "it does not say why")[:500]
