"""The output of Python processes on a driver's stderr: Spark's messages at the start of a query, and those of crashes.

Spark hands it to the JVM's System.err. For the time of a job that is a file, where it can be read and disturbs nobody;
what goes wrong in a worker comes back as an error anyway.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


@contextmanager
def said_to(spark: SparkSession, path: Path) -> Iterator[None]:
    """A file for it, begun anew. It is left open: a worker may outlive the job."""
    jvm: Any = spark.sparkContext._jvm
    former = jvm.java.lang.System.err
    jvm.java.lang.System.setErr(
        jvm.java.io.PrintStream(jvm.java.io.FileOutputStream(str(path.absolute()), False), True)
    )
    try:
        yield
    finally:
        jvm.java.lang.System.setErr(former)
