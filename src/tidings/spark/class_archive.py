"""Makes an archive of the classes that Spark loads at each start. With it, the JVM starts a third to a half sooner.

    python -m tidings.spark.class_archive            makes it, if there is none for this Java and this Spark
    python -m tidings.spark.class_archive --made     tells by its exit code whether there is one

Without an archive, or with one that is out of date, the JVM starts as usual.
"""

import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

from tidings.model.errors import TidingsError
from tidings.spark.errors import SparkFailed
from tidings.spark.java import Java, cache, usable_java

_PATIENCE = 600
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
"""Suppresses the warning of a JVM that cannot use its archive."""
_BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for a JVM that runs only once: little compilation."""


def archive_options(java: Java) -> str:
    """The options of the JVM for its archive; empty if there is none."""
    layers = _layers(java)
    if not all(layer.exists() for layer in layers):
        return ""
    return f"-XX:SharedArchiveFile={':'.join(map(str, layers))} {_QUIET}"


def make(java: Java) -> Path:
    """The archive for this Java and this Spark; makes it if there is none. Raises SparkFailed."""
    *bases, archive = _layers(java)
    if archive.exists():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        made = Path(folder) / archive.name
        for base in bases:  # archives of Java's own classes, which most Javas already have
            _run([str(java.home / "bin" / "java"), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"])
        shared = [f"-XX:SharedArchiveFile={base}" for base in bases]
        options = [*shared, f"-XX:ArchiveClassesAtExit={made}", _QUIET, _BRIEF]
        _run([sys.executable, "-m", "tidings.spark.rehearsal", folder, " ".join(options)])
        if not made.exists():
            raise SparkFailed(f"Java {java.version} made no archive of its classes")
        os.replace(made, archive)
    return archive


def _layers(java: Java) -> tuple[Path, ...]:
    """The files of an archive. Their name is different for each Java and each Spark."""
    program = java.home / "bin" / "java"
    spark = find_spec("pyspark")
    about = f"{program} {program.stat().st_mtime_ns} {spark and spark.origin} {version('pyspark')}"
    name = f"classes-{crc32(about.encode()):08x}"
    archive = cache() / f"{name}.jsa"
    if (java.home / "lib" / "server" / "classes.jsa").exists():
        return (archive,)
    return cache() / f"{name}-java.jsa", archive


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SparkFailed(f"no archive of Spark's classes could be made: {error}") from error
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        why = said[-1].strip() if said else f"exit code {done.returncode}"
        raise SparkFailed(f"no archive of Spark's classes could be made: {why}")


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--made"]:
            sys.exit(not archive_options(usable_java()))
        print(make(usable_java()))
    except (TidingsError, OSError) as error:
        sys.exit(f"class archive: {error}")
