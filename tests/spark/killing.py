"""Spark that starts soon and is busy with small jobs; and jobs of it that are killed: a process of Python, its JVM and
its workers, all at once and at a random moment.

Every time a JVM has to start, and a dozen processes of Python for it, which is what takes the time.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from pyspark.sql import SparkSession

from endurance import often
from forking.process import python_of_spark

KILLS = often(1)
"""How often a job is killed: each time at another moment, and at others in the next run."""
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m"
"""A JVM that compiles little: no test is long enough to make it warm, and it starts in half the time. It does not
collect all garbage each time that it has loaded some thousand classes."""
INTERPRETED: dict[str, Any] = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Plans are run as they are: for a few rows, to make and compile classes of them takes many times as long."""
BEGUN = "begun"
"""What a line begins with by which a script says so: Java has things to say as well."""
PREFACE = f"""
import sys
from pathlib import Path
from tidings.spark.session import session
spark = session(sys.argv.pop(1), partitions=2, **{INTERPRETED | {"spark.task.maxFailures": "8"}})
"""
"""What the script of a child begins with. Its first argument is the master."""
NAMES = ("PythonUtils", "PythonSQLUtils", "functions", "org.apache.spark.sql.functions")
"""What PySpark looks up in the JVM each time that it makes a column, and the JVM in all its archives."""


def quickly() -> dict[str, str]:
    """What makes Spark quick for a process that has it in its environment."""
    return {"JDK_JAVA_OPTIONS": QUICK, "PYSPARK_PYTHON": python_of_spark()}


def known_names(spark: SparkSession) -> None:
    """Have the names looked up once."""
    jvm = spark.sparkContext._jvm
    for name in NAMES:
        setattr(jvm, name, getattr(jvm, name))


def kill(script: str, *arguments: object) -> None:
    """Run a script until it says that it has begun, and some time longer."""
    with started(script, "local[2]", *arguments) as child:
        _waited(child, random.uniform(0, 1.5))


@contextmanager
def started(script: str, master: str, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    """A script that has said that it has begun. It and all that it has started are killed in the end."""
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(
            [sys.executable, "-c", PREFACE + script, master, *map(str, arguments)],
            env=os.environ | quickly(),
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
            text=True,
        ) as child,
    ):
        assert child.stdout is not None
        try:
            assert any(line.startswith(BEGUN) for line in child.stdout), _last_words(said)
            child.stdout.close()
            yield child
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _last_words(said: TextIO) -> str:
    said.seek(0)
    return f"it ended before it did anything, and said: {said.read()[-5_000:]}"


def _waited(child: "subprocess.Popen[str]", seconds: float) -> None:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return
