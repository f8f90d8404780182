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


@pytest.fixture
def unhurried(spark: SparkSession) -> Iterator[None]:
    """Small jobs, many of them: what Spark does to make large ones fast would take longer than they do."""
    settings = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.leafNodeDefaultParallelism": "1",
    }
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name, former in before.items():
        if former is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, former)
