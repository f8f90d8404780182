"""The one place that makes a Spark session: settings that were measured, a Java that runs, and errors in words.

`local[*]` unless another master is named: `spark://host:7077`, `yarn`, `k8s://…`. There, workers need this package:
give Spark its wheel (`spark.submit.pyFiles`), or install it on every machine.
"""

import os
import re
import sys
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidings.pipeline.errors import SparkFailed
from tidings.pipeline.java import java_home

LOCAL = "local[*]"
_MASTER = re.compile(r"local(\[[^]]+\])?|spark://.+|yarn|k8s://.+")
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
    # The older encoding has no statistics, by which files are passed over.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.driver.maxResultSize": "0",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    "spark.sql.streaming.metricsEnabled": "false",
}


def session(
    master: str | None = None, *, name: str = "tidings", partitions: int | None = None, **settings: str
) -> SparkSession:
    """The session of this process, made if there is none. Raises NoJava, SparkFailed."""
    if (made := running()) is not None:
        return made
    master = master or LOCAL
    if not _MASTER.fullmatch(master):
        raise SparkFailed(f"there is no master {master!r}: say local[*], spark://HOST:PORT, yarn or k8s://ADDRESS")
    _prepare(master)
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in (SETTINGS | _local(master, partitions) | settings).items():
        builder = builder.config(key, value)
    try:
        made = builder.getOrCreate()
    except (PySparkException, RuntimeError, OSError) as error:
        raise SparkFailed(_explained(master, error)) from error
    except Exception as error:  # py4j's, which has no class of ours to name
        if not type(error).__module__.startswith("py4j"):
            raise
        raise SparkFailed(_explained(master, error)) from error
    made.sparkContext.setLogLevel("OFF" if master.startswith("local") else "ERROR")
    return made


def running() -> SparkSession | None:
    """The session that this process has already."""
    return SparkSession.getActiveSession()


def _prepare(master: str) -> None:
    """What Spark reads from the environment when its JVM is started."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _local(master: str, partitions: int | None) -> dict[str, str]:
    """On one machine, as many partitions as cores; elsewhere, Spark's own idea of it."""
    quiet = Path(__file__).with_name("log4j2.properties")
    result = {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={quiet.as_uri()}"}
    if master.startswith("local"):
        # Every task of a small shuffle costs some 10 ms: 200 of them, two seconds for nothing.
        result["spark.sql.shuffle.partitions"] = str(partitions or max(2, os.cpu_count() or 2))
        result["spark.driver.host"] = "127.0.0.1"
        result["spark.driver.memory"] = "2g"  # where all of Spark is in one process, 1 GB spills at a million changes
    elif partitions:
        result["spark.sql.shuffle.partitions"] = str(partitions)
    return result


def _explained(master: str, error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if "Exception:" in line] or lines or ["it does not say why"]
    return f"Spark does not start with the master {master}: {causes[-1].removeprefix(': ')[:400]}"
