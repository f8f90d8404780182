"""Redirects the stderr of Python processes to a file. It has messages at the start of a query, and those of crashes.

Spark copies it to the JVM's System.err. During a job, this is a file beside the job instead of the terminal. Errors of
a worker come back as errors in any case.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


@contextmanager
def said_to(spark: SparkSession, path: Path) -> Iterator[None]:
    """Within this context, System.err is this file, emptied first. It stays open: a worker may outlive the job."""
    jvm: Any = spark.sparkContext._jvm
    former = jvm.java.lang.System.err
    jvm.java.lang.System.setErr(
        jvm.java.io.PrintStream(jvm.java.io.FileOutputStream(str(path.absolute()), False), True)
    )
    try:
        yield
    finally:
        jvm.java.lang.System.setErr(former)
