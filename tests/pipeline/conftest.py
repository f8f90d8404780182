"""Jobs of Spark that are killed, for all tests of it."""

import pytest

from pipeline.histories import history, log_with
from pipeline.killing import Killer

WARM = """
from tidings.pipeline.ingest import Ingest
from tidings.pipeline.lake import Lake
Ingest(spark, Lake.make(Path(sys.argv[1])), sys.argv[2], commits=20).run()
"""
"""Uses most of the classes that jobs which are killed use."""


@pytest.fixture(scope="session")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Killer:
    folder = tmp_path_factory.mktemp("killer")
    made = Killer(folder / "classes.jsa")
    made.prepare(WARM, folder / "lake", log_with(folder / "data", history(1, 50)))
    return made
