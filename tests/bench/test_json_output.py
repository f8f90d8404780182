"""A run can be written at any moment, and what was written stays when the next writing fails."""

import errno
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from bench.samples import a_run
from tidings.bench.results.files import ResultsUnreadable, ResultsUnwritable, write_whole
from tidings.bench.results.json import from_json, git_state, machine, read_run, to_json, versions, write_run
from tidings.bench.results.measured import Measurement, Run


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Writing more fails, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def an_empty_run() -> Run:
    return Run(name="x", started="", seed=1, machine={}, versions={}, git={}, configuration={}, targets={})


def test_a_run_survives_its_file(tmp_path: Path) -> None:
    run = a_run()
    write_run(tmp_path / "deep" / "run.json", run)
    assert read_run(tmp_path / "deep" / "run.json") == run
    assert [each.name for each in (tmp_path / "deep").iterdir()] == ["run.json"]


def test_a_run_that_has_just_begun_can_be_written() -> None:
    run = an_empty_run()
    assert from_json(to_json(run)) == run
    assert not from_json(to_json(run)).complete


def test_a_full_disk_costs_nothing_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_run(path, an_empty_run())
    with files_no_larger_than(4096), pytest.raises(ResultsUnwritable, match="unchanged"):
        write_run(path, a_run())
    assert read_run(path) == an_empty_run()
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


def test_a_disk_that_fails_at_the_last_moment_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    write_run(path, an_empty_run())

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ResultsUnwritable, match="No space left on device"):
        write_run(path, a_run())
    assert read_run(path) == an_empty_run()
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ResultsUnwritable, match="cannot be written"):
        write_whole(tmp_path / "file" / "run.json", b"x")
    assert ResultsUnwritable.status == 507


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"name": 5}', b"\xff"])
def test_what_is_no_run_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(ResultsUnreadable, match=r"run\.json: not the results"):
        read_run(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ResultsUnreadable, match="cannot be read: No such file"):
        read_run(tmp_path / "run.json")


def test_figures_that_json_cannot_say_are_left_out() -> None:
    run = an_empty_run()
    nan, infinity = float("nan"), float("inf")
    run.kpis = {"x": {"t": {"E2E": infinity, "Ups": 5.0}}}
    run.measurements = [
        Measurement(
            target="t",
            test="x",
            kind="update",
            samples=(1.0, nan),
            values={"rate": nan, "lost": 0},
            timeline=((0.0, 1.0), (1.0, nan)),
        )
    ]
    read = from_json(to_json(run))
    assert read.kpis == {"x": {"t": {"Ups": 5.0}}}
    assert read.measurements[0].samples == (1.0,)
    assert read.measurements[0].values == {"lost": 0}
    assert read.measurements[0].timeline == ((0.0, 1.0),)


def test_the_machine_is_described_without_naming_it() -> None:
    facts = machine()
    assert facts["cpu"]
    assert facts["cores"] >= facts["usable_cores"] >= 1
    assert facts["memory_bytes"] > 2**20
    assert os.uname().nodename not in msgspec.json.encode(facts).decode() or len(os.uname().nodename) < 4
    assert versions()["msgspec"]


def test_git_says_what_is_measured(tmp_path: Path) -> None:
    assert git_state(tmp_path) == {}

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True)

    git("init", "-q", "-b", "trunk")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "one")
    clean = git_state(tmp_path)
    assert len(clean["commit"]) == 40
    assert (clean["branch"], clean["changed_files"]) == ("trunk", 0)
    (tmp_path / "a").write_text("2")
    assert git_state(tmp_path)["changed_files"] == 1
