"""One Spark session for all tests that need one."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from pipeline.histories import history, log_with
from pipeline.killing import Killer, with_options
from tidings.pipeline.session import session

WARM = """
from tidings.pipeline.ingest import Ingest
from tidings.pipeline.lake import Lake
Ingest(spark, Lake.make(Path(sys.argv[1])), sys.argv[2], commits=20).run()
"""
"""Uses most of the classes that jobs which are killed use."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", with_options()["JDK_JAVA_OPTIONS"])
        made = session("local[2]", partitions=2)
        yield made
        made.stop()


@pytest.fixture(scope="session")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Killer:
    folder = tmp_path_factory.mktemp("killer")
    made = Killer(folder / "classes.jsa")
    made.prepare(WARM, folder / "lake", log_with(folder / "data", history(1, 50)))
    return made


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
