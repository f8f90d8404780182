"""One Spark session for all tests that need one."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tidings.pipeline.session import session

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM that compiles little: no test is long enough to make it warm, and it starts in half the time."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", f"{os.environ.get('JDK_JAVA_OPTIONS', '')} {QUICK}".strip())
        made = session("local[2]", partitions=2)
        yield made
        made.stop()
