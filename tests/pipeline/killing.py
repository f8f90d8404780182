"""Jobs of Spark that are killed: a process of Python, its JVM and its workers, all at once and at a random moment.

Every time a JVM has to start, which is what takes the time. An archive of the classes that it needs saves it half.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

KILLS = int(os.environ.get("TIDINGS_KILLS", "10"))
"""How often a job is killed."""
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM that compiles little: no test is long enough to make it warm, and it starts in half the time."""
BEGUN = "begun"
"""What a line begins with by which a script says so: Java has things to say as well."""
PREFACE = """
import sys
from pathlib import Path
from tidings.pipeline.session import session
quick = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
spark = session("local[2]", partitions=2, **quick)
"""
"""What the script of a child begins with."""


def with_options(*options: str) -> dict[str, str]:
    """The environment of a process whose JVM takes these options."""
    return os.environ | {"JDK_JAVA_OPTIONS": " ".join((os.environ.get("JDK_JAVA_OPTIONS", ""), QUICK, *options))}


class Killer:
    """Runs scripts, and kills them. `archive` is a file for classes, made by the first that may end by itself."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive

    def prepare(self, script: str, *arguments: object) -> None:
        """Run a script to its end, and keep the classes that it used, if this Java can."""
        done = subprocess.run(
            [sys.executable, "-c", PREFACE + script + "\nspark.stop()", *map(str, arguments)],
            env=with_options(f"-XX:ArchiveClassesAtExit={self._archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def kill(self, script: str, *arguments: object) -> None:
        """Run a script until it says that it has begun, and some time longer."""
        with self.started(PREFACE + script, *arguments) as child:
            _waited(child, random.uniform(0, 1.5))

    @contextmanager
    def started(self, script: str, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
        """A script that has said that it has begun. It and all that it has started are killed in the end."""
        options = [f"-XX:SharedArchiveFile={self._archive}"] if self._archive.exists() else []
        with subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            env=with_options(*options),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        ) as child:
            assert child.stdout is not None
            try:
                assert any(line.startswith(BEGUN) for line in child.stdout), "it ended before it did anything"
                child.stdout.close()
                yield child
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)


def _waited(child: "subprocess.Popen[str]", seconds: float) -> None:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return
