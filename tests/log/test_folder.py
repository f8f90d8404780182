"""A data folder belongs to one broker, and to a format that it knows."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tidings.log.errors import FolderInUse, FolderUnusable
from tidings.log.folder import Folder, check_format, check_free
from waiting import PATIENCE


def test_a_new_folder_gets_its_layout(tmp_path: Path) -> None:
    with Folder(tmp_path / "new" / "data") as folder:
        assert {entry.name for entry in folder.path.iterdir()} == {"format.json", "lock", "log", "snapshots"}
        assert orjson.loads((folder.path / "format.json").read_bytes()) == {"format": "tidings", "version": 1}
        check_format(folder.path)
    with Folder(folder.path):
        pass


def test_a_new_folder_is_for_its_user_alone_and_one_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    with Folder(tmp_path / "new") as folder:
        assert folder.path.stat().st_mode & 0o777 == 0o700
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o750)
    with Folder(shared):
        assert shared.stat().st_mode & 0o777 == 0o750


def test_a_second_broker_is_refused_by_the_name_of_the_first(tmp_path: Path) -> None:
    with Folder(tmp_path):
        script = (
            "import sys; from pathlib import Path; from tidings.log.folder import Folder; Folder(Path(sys.argv[1]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode
        assert f"FolderInUse: {tmp_path} is in use by process {os.getpid()}" in done.stderr
        with pytest.raises(FolderInUse) as refused:
            Folder(tmp_path)
        assert refused.value.pid == os.getpid()


def test_who_asks_whether_a_folder_is_free_changes_nothing(tmp_path: Path) -> None:
    check_free(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with Folder(tmp_path):
        with pytest.raises(FolderInUse) as refused:
            check_free(tmp_path)
        assert refused.value.pid == os.getpid()
    check_free(tmp_path)
    with Folder(tmp_path):  # it is not locked by whoever asked
        pass


def test_a_process_that_died_holds_no_lock(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from tidings.log.folder import Folder\n"
        "folder = Folder(Path(sys.argv[1])); os.abort()"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], timeout=PATIENCE, check=False, capture_output=True)
    with Folder(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_lock_without_a_number_still_locks(tmp_path: Path) -> None:
    with Folder(tmp_path):
        (tmp_path / "lock").write_bytes(b"")
        with pytest.raises(FolderInUse, match="another process"):
            Folder(tmp_path)


def test_a_folder_left_half_made_by_a_crash_is_made_in_full(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "format.json.tmp").touch()
    (tmp_path / "lost+found").mkdir()
    with Folder(tmp_path):
        assert (tmp_path / "log").is_dir()


def test_a_folder_of_other_things_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(FolderUnusable, match=r"thesis\.tex"):
        Folder(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format":"tidings","version":2}', "version 2"),
        ('{"format":"other","version":1}', "not that of"),
        ("[]", "not that of"),
        ("half", "not that of"),
    ],
)
def test_another_format_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "format.json").write_text(text)
    with pytest.raises(FolderUnusable, match=said):
        Folder(tmp_path)


@pytest.mark.parametrize("place", ["", "log", "snapshots"])
def test_a_file_in_the_way_is_named(tmp_path: Path, place: str) -> None:
    data = tmp_path / "data"
    if place:
        with Folder(data):
            (data / place).rmdir()
    (data / place).touch()
    with pytest.raises(FolderUnusable, match="a file is where a folder should be"):
        Folder(data)
    (data / place).unlink()
    with Folder(data):
        pass


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.EACCES, "must be allowed"), (errno.EROFS, "Read-only file system"), (errno.ENOLCK, "No locks")],
)
def test_a_folder_that_cannot_be_written_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def refuse(lock: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(FolderUnusable, match=said):
        Folder(tmp_path)


def test_a_folder_that_is_not_there_has_no_format(tmp_path: Path) -> None:
    with pytest.raises(FolderUnusable, match="No such file"):
        check_format(tmp_path / "nowhere")
    with pytest.raises(FolderUnusable, match=r"no format\.json"):
        check_format(tmp_path)
