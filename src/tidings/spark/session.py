"""The one place that makes a Spark session: with measured settings, a suitable Java, and clear errors.

`local[*]` unless another master is named: `spark://host:7077`, `yarn`, `k8s://…`. There, workers need this package:
give Spark its wheel (`spark.submit.pyFiles`), or install it on every machine.
"""

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidings.client.login.environment import PASSED_ON
from tidings.model.errors import TidingsError
from tidings.spark.class_archive import archive_options
from tidings.spark.errors import OutOfMemory, SparkFailed, WorkerLate, from_worker
from tidings.spark.java import home_for_spark, usable_java
from tidings.spark.masters import PATIENCE, check_master

log = logging.getLogger("tidings")

LOCAL = "local[*]"
STARTS = 10
"""How often a query is started, if Spark gives up Python workers that start slowly."""
_FULL = 52
"""The exit code of a JVM whose memory was full."""
_LAST_WORDS = 5.0
"""Seconds to wait for the end of a JVM."""
_MEMORY = re.compile(r"[1-9][0-9]{0,8}[kmgt]b?", re.IGNORECASE)
_CHECKPOINTS = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Halves the latency of a small batch on a file system that all machines share.
    "spark.sql.streaming.checkpointFileManagerClass": _CHECKPOINTS,
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # The older encoding has no statistics, which Spark uses to skip files.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "zstd",
    # Pages have checksums; without this, Spark does not verify them, and reads corrupted bytes as data.
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
    "spark.driver.maxResultSize": "0",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    "spark.sql.streaming.metricsEnabled": "false",
    # Otherwise, more than half of the JVM calls for a query only record where in Python its columns are made.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


def session(
    master: str | None = None,
    *,
    name: str = "tidings",
    partitions: int | None = None,
    memory: str | None = None,
    patience: float = PATIENCE,
    options: str | None = None,
    **settings: str,
) -> SparkSession:
    """The session of this process; makes it if there is none. Raises NoJava, SparkFailed, OutOfMemory.

    `memory`, such as 4g, is for this process's JVM and for each executor. `patience` is how many seconds a master may
    take to answer. `options` are those of the JVM, instead of the archive of its classes.
    """
    if (made := running()) is not None:
        return made
    master = master or LOCAL
    check_master(master, patience)
    java = usable_java()
    _prepare(master)
    driver = _driver(archive_options(java) if options is None else options)
    builder = SparkSession.builder.master(master).appName(name)
    given = SETTINGS | driver | _local(master, partitions) | _lent(master) | _memory(memory) | settings
    for key, value in given.items():
        builder = builder.config(key, value)
    try:
        with _home(home_for_spark(java)):
            made = builder.getOrCreate()
    except (PySparkException, Py4JError, RuntimeError, OSError) as error:
        raise _explained(master, error) from error
    made.sparkContext.setLogLevel("OFF" if master.startswith("local") else "ERROR")
    return made


def running() -> SparkSession | None:
    """The session of this process, if it has one."""
    return SparkSession.getActiveSession()


@contextmanager
def _home(home: Path) -> Iterator[None]:
    """Within this context, JAVA_HOME is the Java with which Spark starts its JVM."""
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


def _prepare(master: str) -> None:
    """Set the environment variables that Spark reads when it starts its JVM."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _driver(options: str) -> dict[str, str]:
    quiet = Path(__file__).with_name("log4j2.properties")
    return {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={quiet.as_uri()} {options}".rstrip()}


def _local(master: str, partitions: int | None) -> dict[str, str]:
    """The settings for one machine, with as many partitions as cores; elsewhere, Spark's own default."""
    result = {}
    if master.startswith("local"):
        # Every task of a small shuffle costs some 10 ms: Spark's default of 200 tasks would cost two seconds.
        result["spark.sql.shuffle.partitions"] = str(partitions or max(2, os.cpu_count() or 2))
        result["spark.driver.host"] = "127.0.0.1"
        result["spark.driver.memory"] = "2g"  # all of Spark is in one process; with 1 GB, a million changes spill
    elif partitions:
        result["spark.sql.shuffle.partitions"] = str(partitions)
    return result


def _lent(master: str) -> dict[str, str]:
    """The credentials for brokers, for workers on other machines; those on this machine inherit them. Spark redacts
    values whose names contain `token` or `secret`."""
    if master.startswith("local"):
        return {}
    return {f"spark.executorEnv.{name}": os.environ[name] for name in PASSED_ON if os.environ.get(name)}


def _memory(memory: str | None) -> dict[str, str]:
    if memory is None:
        return {}
    if not _MEMORY.fullmatch(memory):
        raise SparkFailed(f"{memory!r} is no amount of memory: say 4g, or 4096m")
    return {"spark.driver.memory": memory, "spark.executor.memory": memory}


def _explained(master: str, error: Exception) -> TidingsError:
    told = from_worker(error)
    if isinstance(told, OutOfMemory):
        return told
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if "Exception:" in line] or lines or ["it does not say why"]
    return SparkFailed(f"Spark does not start with the master {master}: {causes[-1].removeprefix(': ')[:400]}")


def adopt(spark: SparkSession) -> None:
    """Make a session the active one of this thread, too: Spark looks up registered data sources by thread."""
    jvm: Any = spark.sparkContext._jvm
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)


@contextmanager
def translated() -> Iterator[None]:
    """Within this context, errors of Spark and of its JVM become errors of Tidings."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionResetError, ConnectionRefusedError, EOFError) as error:
        raise _ending(error) or from_worker(error) from error


def started_again(query: Callable[[], None]) -> None:
    """Run a streaming query to its end. Start it again if Spark gave up a Python worker that was slow to start.

    Spark always waits ten seconds for the process that plans the batches of a source; on a busy machine, that is too
    short. The query goes on from its checkpoint.
    """
    for start in range(1, STARTS):
        try:
            return query()
        except WorkerLate as error:
            log.warning("%s; the query is started again (%d of %d times)", error, start, STARTS - 1)
    return query()


def stop(made: SparkSession) -> None:
    """Stop a session. Its JVM may have ended before; the caller that used it got that error."""
    with suppress(Py4JError, OSError):
        made.stop()


def _ending(error: Exception) -> TidingsError | None:
    """The error for a JVM that has ended, or is about to end: it ends by itself when its memory is full."""
    if isinstance(error, PySparkException | Py4JJavaError) and "SparkContext was shut down" not in str(error):
        return None
    process: Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    try:
        code = process.wait(_LAST_WORDS) if process else None
    except TimeoutExpired:
        return None
    if code == _FULL:
        return OutOfMemory("Spark has not enough memory, and ended: give it more, as with --memory 4g")
    return SparkFailed(f"the JVM of Spark has ended (exit code {code}): it was killed, or had not enough memory")
