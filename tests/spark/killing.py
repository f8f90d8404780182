"""Jobs of Spark that are killed: a process of Python, its JVM and its workers, all at once and at a random moment.

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
from typing import TextIO

from endurance import often
from forking.process import python_of_spark
from waiting import PATIENCE

KILLS = often(1)
"""How often a job is killed: each time at another moment, and at others in the next run."""
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM that compiles little: no test is long enough to make it warm, and it starts in half the time."""
BEGUN = "begun"
"""What a line begins with by which a script says so: Java has things to say as well."""
PREFACE = """
import sys
from pathlib import Path
from tidings.spark.session import session
quick = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
spark = session("local[2]", partitions=2, **quick)
"""
"""What the script of a child begins with."""


def quickly() -> dict[str, str]:
    """What makes Spark quick for a process that has it in its environment."""
    return {"JDK_JAVA_OPTIONS": QUICK, "PYSPARK_PYTHON": python_of_spark()}


def kill(script: str, *arguments: object) -> None:
    """Run a script until it says that it has begun, and some time longer."""
    with started(PREFACE + script, *arguments) as child:
        _waited(child, random.uniform(0, 1.5))


def run(script: str, *arguments: object) -> None:
    """Run a script to its end."""
    called = [sys.executable, "-c", PREFACE + script, *map(str, arguments)]
    done = subprocess.run(
        called, env=os.environ | quickly(), capture_output=True, text=True, timeout=5 * PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def started(script: str, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    """A script that has said that it has begun. It and all that it has started are killed in the end."""
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
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
