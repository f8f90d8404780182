"""A snapshot is there in full or not at all, and the newest two stay."""

import errno
import os
from pathlib import Path

import orjson
import pytest

from log.making import commits, fold, journal_of, make_folder, quad, write
from tidings.log.entry import START, Note, Position
from tidings.log.errors import LogWriteFailed
from tidings.log.snapshot import Name, manifests, read_snapshot, write_snapshot
from tidings.model.terms import Quad


def test_a_snapshot_is_read_as_it_was_written(tmp_path: Path) -> None:
    make_folder(tmp_path)
    quads: list[Quad] = [quad(1), ("_:b", "<p>", '"é\\n\\u0001"@en', "<g>")]
    notes = [Note("subscribed", {"id": 1}), Note("delayed", {"at": 5, "update": "CLEAR ALL"})]
    place = Position(commit=7, time=99)
    write_snapshot(tmp_path, place, quads, iter(notes))
    snapshot = read_snapshot(tmp_path)
    assert snapshot
    assert (snapshot.commit, snapshot.time, snapshot.place, snapshot.size) == (7, 99, place, 2)
    assert (list(snapshot.quads), list(snapshot.notes)) == (quads, notes)


def test_every_quad_is_a_flat_object(tmp_path: Path) -> None:
    write_snapshot(make_folder(tmp_path), START, [quad(1)], [])
    (line,) = (tmp_path / "snapshots" / f"{0:020}.jsonl").read_bytes().splitlines()
    assert orjson.loads(line) == dict(zip("spog", quad(1), strict=True))


def test_without_snapshots_there_is_none(tmp_path: Path) -> None:
    assert read_snapshot(tmp_path) is None
    assert read_snapshot(make_folder(tmp_path)) is None


def test_the_newest_two_stay(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    for seq in range(1, 5):
        write(journal, commits(seq, seq))
        write_snapshot(tmp_path, journal.durable, fold(commits(1, seq)), [])
    assert manifests(tmp_path) == [Name(3, 1), Name(4, 1)]
    assert len(list((tmp_path / "snapshots").iterdir())) == 4


def test_a_second_snapshot_after_a_commit_does_not_touch_the_first(tmp_path: Path) -> None:
    make_folder(tmp_path)
    write_snapshot(tmp_path, Position(commit=3), [quad(1)], [])
    write_snapshot(tmp_path, Position(commit=3), [quad(1)], [Note("remark", {})])
    assert manifests(tmp_path) == [Name(3, 1), Name(3, 2)]
    newest = read_snapshot(tmp_path)
    assert newest
    assert newest.notes == (Note("remark", {}),)


def test_a_snapshot_on_a_full_disk_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_folder(tmp_path)
    write_snapshot(tmp_path, Position(commit=1), [quad(1)], [])

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LogWriteFailed):
        write_snapshot(tmp_path, Position(commit=2), [quad(2)], [])
    assert manifests(tmp_path) == [Name(1, 1)]
    assert not list((tmp_path / "snapshots").glob("*.tmp"))
