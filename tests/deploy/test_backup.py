"""The script that copies the folder of a broker at work, and what the copy is worth."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deploy.places import DEPLOY, run, until
from gates.wire import serving
from waiting import PATIENCE

pytestmark = pytest.mark.server
BACKUP = DEPLOY / "backup.sh"


def insert(number: int) -> str:
    return f"INSERT DATA {{ <http://e/{number}> <http://e/p> {number} }}"


def numbers(folder: Path) -> list[int]:
    """What a broker that starts from a folder has."""
    with serving(folder.parent, "--data", str(folder)) as broker:
        rows = broker.query("SELECT ?o WHERE { ?s <http://e/p> ?o } ORDER BY ?o")
        return [int(row["o"]["value"]) for row in rows]


def test_a_backup_of_a_broker_at_work_has_all_that_was_acknowledged_before_it_began(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "backups" / "today"
    with serving(
        tmp_path, "--data", str(data), "--snapshot-every", "500", "--segment-size", "700", "--keep-log", "1"
    ) as broker:
        for number in range(20):
            broker.update(insert(number))
        until(lambda: bool(list((data / "snapshots").glob("*.json"))), "a snapshot")
        working, enough = threading.Event(), threading.Event()

        def publish() -> None:
            number = 20
            while not enough.is_set():
                broker.update(insert(number))
                working.set()
                number += 1

        publisher = threading.Thread(target=publish)
        publisher.start()
        try:
            assert working.wait(PATIENCE)
            run(BACKUP, data, copy)
        finally:
            enough.set()
            publisher.join()
    assert sorted(path.name for path in copy.iterdir()) == ["format.json", "log", "snapshots"]
    assert list((copy / "snapshots").iterdir())
    found = numbers(copy)
    assert found == list(range(len(found)))
    assert len(found) > 20


def test_a_backup_can_be_checked_and_restored(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    with serving(tmp_path, "--data", str(data)) as broker:
        broker.update(insert(1))
        run(BACKUP, data, copy)
        broker.update(insert(2))
    assert "no damage found" in run(sys.executable, "-m", "tidings", "repair", "--data", copy, "--dry-run")
    data.rename(tmp_path / "broken")
    run("cp", "-a", copy, data)
    assert numbers(data) == [1]


def test_a_backup_is_made_of_data_folders_only_and_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for arguments, complaint in (
        ((tmp_path / "there", tmp_path / "new"), "is not a data folder"),
        ((tmp_path / "there",), "usage"),
    ):
        done = subprocess.run([BACKUP, *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode != 0
        assert complaint in done.stderr
    (tmp_path / "there" / "format.json").write_text("{}")
    done = subprocess.run(
        [BACKUP, tmp_path / "there", tmp_path / "there"], capture_output=True, text=True, timeout=60, check=False
    )
    assert "is there already" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_backup_begins_anew_if_its_snapshot_is_replaced_while_the_log_is_copied(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name in ("format.json", "snapshots/1.json", "snapshots/1.jsonl", "log/1.jsonl"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(name)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "cp").write_text(  # the first time that the log is copied, another snapshot comes
        """#!/bin/sh
        case $* in
          *log/1.jsonl*) for kind in json jsonl; do
            [ ! -e "$DATA/snapshots/1.$kind" ] || mv "$DATA/snapshots/1.$kind" "$DATA/snapshots/2.$kind"
          done ;;
        esac
        PATH=${PATH#*:} exec cp "$@"
        """
    )
    (programs / "cp").chmod(0o755)
    done = subprocess.run(
        [BACKUP, data, tmp_path / "copy"],
        env={"PATH": f"{programs}:{os.environ['PATH']}", "DATA": str(data)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("once more") == 1
    assert sorted(path.name for path in (tmp_path / "copy").rglob("*.json*")) == [
        "1.jsonl", "2.json", "2.jsonl", "format.json",
    ]  # fmt: skip
