"""The archive of Spark's classes, with programs that only look like a Java."""

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidings.spark import session as session_module
from tidings.spark.class_archive import archive_options, make
from tidings.spark.errors import SparkFailed
from tidings.spark.java import Java


def java_in(home: Path, *, base: bool = True) -> Java:
    """A Java that writes what it is asked to: an archive of its own classes."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/sh\nfor argument do case "$argument" in *SharedArchiveFile=*) : > "${argument#*=}" ;; esac; done\n'
    )
    program.chmod(0o755)
    if base:
        (home / "lib" / "server").mkdir(parents=True)
        (home / "lib" / "server" / "classes.jsa").touch()
    return Java(home, "the PATH", 21)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tidings"


def rehearsing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    """Have a script do what Spark would, with the folder and the options of its JVM."""
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nshift 2\nmade=$(echo "$2" | tr " " "\\n" | sed -n "s/.*AtExit=//p")\n{script}\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))


def test_without_an_archive_the_jvm_is_told_nothing(tmp_path: Path, cache: Path) -> None:
    assert archive_options(java_in(tmp_path / "java")) == ""


@pytest.mark.parametrize("base", [True, False])
def test_an_archive_is_made_once_for_each_java(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, base: bool
) -> None:
    rehearsing(monkeypatch, tmp_path, 'echo made > "$made"; echo >> ' + str(tmp_path / "rehearsed"))
    java = java_in(tmp_path / "java", base=base)
    archive = make(java)
    assert make(java) == archive
    assert (tmp_path / "rehearsed").read_text() == "\n"
    assert archive.read_text() == "made\n"
    told = archive_options(java).split()[0].removeprefix("-XX:SharedArchiveFile=").split(":")
    assert told[-1] == str(archive)
    assert len(told) == (1 if base else 2)
    assert {path.name for path in cache.iterdir()} == {Path(each).name for each in told}
    assert archive_options(java_in(tmp_path / "another")) == ""


@pytest.mark.parametrize(
    ("script", "why"),
    [("echo there is no room >&2; exit 1", "there is no room"), ("true", "made no archive"), ("exit 3", "exit code 3")],
)
def test_an_archive_that_cannot_be_made_leaves_nothing_behind(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    rehearsing(monkeypatch, tmp_path, script)
    java = java_in(tmp_path / "java")
    with pytest.raises(SparkFailed, match=why):
        make(java)
    assert archive_options(java) == ""
    assert list(cache.iterdir()) == []


def test_a_java_that_does_not_run_is_told_of(tmp_path: Path, cache: Path) -> None:
    java = java_in(tmp_path / "java", base=False)
    (java.home / "bin" / "java").write_text("#!/nowhere\n")
    with pytest.raises(SparkFailed, match="no archive of Spark's classes could be made"):
        make(java)


def test_a_session_is_told_of_the_archive_that_there_is(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearsing(monkeypatch, tmp_path, 'echo made > "$made"')
    java = java_in(tmp_path / "java")
    archive = make(java)
    told: dict[str, str] = {}

    class Builder:
        """Of a session that does not begin."""

        def master(self, _: str) -> "Builder":
            return self

        def appName(self, _: str) -> "Builder":  # noqa: N802 -- as Spark calls it
            return self

        def config(self, key: str, value: str) -> "Builder":
            told[key] = value
            return self

        def getOrCreate(self) -> SparkSession:  # noqa: N802
            raise RuntimeError("it does not begin")

    monkeypatch.setattr(session_module, "usable_java", lambda: java)
    monkeypatch.setattr(session_module, "running", lambda: None)
    monkeypatch.setattr(SparkSession, "builder", Builder())
    with pytest.raises(SparkFailed, match="it does not begin"):
        session_module.session("local[1]")
    assert str(archive) in told["spark.driver.extraJavaOptions"]
    assert told["spark.driver.extraJavaOptions"].endswith(archive_options(java))
