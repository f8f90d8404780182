"""What all tests have in common: how properties are tested, and Spark sessions for those that need one.

Properties are never tested against the clock, and with the same examples each time where the answer must stand. At a
desk, every run tries other examples; `--hypothesis-profile=long` tries many more of them, `fast` few.
"""

import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell has started this in the background: who is started
    signal.signal(signal.SIGINT, signal.default_int_handler)  # from here would ignore it as well, and tests send it

UNHURRIED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("desk", **UNHURRIED, max_examples=30)
settings.register_profile("ci", settings.get_profile("desk"), derandomize=True, print_blob=True)
settings.register_profile("fast", **UNHURRIED, max_examples=10)
settings.register_profile("long", **UNHURRIED, max_examples=1000)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "desk")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """In several processes, tests that share a session of Spark run in one of them, and those of a module with fixtures
    of its own share these; all others go wherever there is time. What is large begins first, and then what starts a
    Spark of its own, so that nobody waits for one long test at the end.

    A second session would have to start and to become warm as well.

    They are told by their files: pytest-xdist 3.8 has groups travel in the names of tests, which pytest 9.2 has not.
    Nothing else is known of them here.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = lambda nodeid: _group(nodeid.partition("::")[0]) or nodeid
    return scheduling


@cache
def _group(file: str) -> str | None:
    path = ROOT / file
    text = path.read_text()
    if "SparkSession" in text:
        return "spark"
    fixtures = [each for each in (path, path.with_name("conftest.py")) if each.exists()]
    return file if any('scope="module"' in each.read_text() for each in fixtures) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have nobody count the lines that properties run through: it makes them three times as slow, and they go over the
    same lines hundreds of times, which examples have been on before them. Tests on Spark take longest, and begin first.
    """
    on_spark = {item.path for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: item.path not in on_spark)
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("no_cover")


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    from spark.killing import INTERPRETED, known_names, quickly
    from tidings.spark.session import session

    with pytest.MonkeyPatch.context() as patch:
        for name, value in quickly().items():
            patch.setenv(name, value)
        made = session("local[2]", partitions=2, **INTERPRETED)
        known_names(made)
        yield made
        made.stop()


@pytest.fixture
def compiled(spark: "SparkSession") -> Iterator[None]:
    """As users have it: Spark makes classes of its plans, and compiles them."""
    from spark.killing import INTERPRETED

    for name in INTERPRETED:
        spark.conf.unset(name)
    yield
    for name, value in INTERPRETED.items():
        spark.conf.set(name, value)


@pytest.fixture
def unhurried(spark: "SparkSession") -> Iterator[None]:
    """Small jobs, many of them: what Spark does to make large ones fast would take longer than they do."""
    settings = {
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
