"""The log is read from any commit on, also while it is written."""

import os
from pathlib import Path
from threading import Thread

import pytest

from log.making import commit, commits, fold, journal_of, make_folder, remark, segment, write, write_log
from tidings.log.errors import HistoryGone, LogDamaged
from tidings.log.journal import Settings
from tidings.log.layout import segments
from tidings.log.prune import prune
from tidings.log.reading import read
from tidings.log.scan import Scan
from tidings.log.seek import seek
from tidings.log.snapshot import write_snapshot

SMALL = Settings(segment_bytes=1000, durability="os")


def test_a_folder_without_a_log_has_no_entries(tmp_path: Path) -> None:
    assert list(read(tmp_path)) == []
    assert list(read(make_folder(tmp_path))) == []


def test_reading_begins_after_any_commit(tmp_path: Path) -> None:
    write_log(tmp_path, commits(1, 12), SMALL)
    for after in range(14):
        assert list(read(tmp_path, after)) == commits(after + 1, 12)


@pytest.mark.parametrize("window", [40, 100, 500, 5000, 1 << 20])
def test_the_end_of_a_commit_is_found_without_reading_what_is_before_it(tmp_path: Path, window: int) -> None:
    history = [
        remark(0, "first"),
        *commits(1, 5),
        remark(5, "five"),
        commit(6, quads=9),
        *commits(7, 9),
        remark(9, "x"),
    ]
    write_log(tmp_path, history)
    for after in range(11):
        scan = Scan(tmp_path, seek(tmp_path, 1, after, window=window))
        assert [entry for entry in scan if entry.commit > after] == [entry for entry in history if entry.commit > after]
        assert scan.flaw is None
        assert (scan.place.commit, scan.place.time) == (9, 9000)


def test_the_beginning_of_a_damaged_segment_is_no_reason_not_to_read_its_end(tmp_path: Path) -> None:
    write_log(tmp_path, commits(1, 2000))
    data = segment(tmp_path).read_bytes()
    segment(tmp_path).write_bytes(b"X" + data[1:])
    assert list(read(tmp_path, 1990)) == commits(1991, 2000)


def test_notes_after_a_commit_belong_to_it(tmp_path: Path) -> None:
    write_log(tmp_path, [commit(1), remark(1, "one"), commit(2), remark(2, "two")])
    assert list(read(tmp_path, 1)) == [commit(2), remark(2, "two")]


def test_only_segments_that_may_hold_an_answer_are_opened(tmp_path: Path) -> None:
    write_log(tmp_path, commits(1, 12), SMALL)
    firsts = segments(tmp_path)
    for first in firsts[:-2]:
        segment(tmp_path, first).write_bytes(b"unreadable")
    assert list(read(tmp_path, firsts[-2])) == commits(firsts[-2] + 1, 12)


def test_a_reader_sees_what_is_written_before_it_arrives_there(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, SMALL)
    write(journal, commits(1, 2))
    reader = read(tmp_path)
    assert next(reader) == commit(1)
    write(journal, commits(3, 12))
    assert list(reader) == commits(2, 12)
    assert len(segments(tmp_path)) > 2


def test_every_reader_beside_a_writer_gets_a_whole_beginning(tmp_path: Path) -> None:
    entries = commits(1, 300)
    journal = journal_of(tmp_path, SMALL)

    def write_all() -> None:
        for n in range(0, 300, 3):
            write(journal, entries[n : n + 3])

    writer = Thread(target=write_all)
    writer.start()
    seen = 0
    while seen < 300:
        found = list(read(tmp_path))
        assert found == entries[: len(found)]
        assert len(found) >= seen
        seen = len(found)
        if not writer.is_alive() and seen < 300:
            assert list(read(tmp_path)) == entries
            break
    writer.join()


def test_a_segment_that_is_begun_and_finished_behind_the_readers_back_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last segment grows, and gets a successor, just after the reader saw its end."""
    journal = journal_of(tmp_path, SMALL)
    write(journal, commits(1, 2))
    real = os.pread
    more = iter([commits(3, 12)])

    def pread(file: int, size: int, offset: int) -> bytes:
        data = real(file, size, offset)
        if not data:
            write(journal, next(more, []))
        return data

    monkeypatch.setattr(os, "pread", pread)
    assert list(read(tmp_path)) == commits(1, 12)


def test_what_a_broker_took_back_and_wrote_anew_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look finds half of an old entry and half of a new one."""
    write_log(tmp_path, commits(1, 6))
    good = segment(tmp_path).read_bytes()
    segment(tmp_path).write_bytes(good.replace(b"value 2", b"other 2", 1))
    with pytest.raises(LogDamaged):
        list(read(tmp_path))
    real, looks = os.pread, iter([True])

    def pread(file: int, size: int, offset: int) -> bytes:
        data = real(file, size, offset)
        if next(looks, False):
            segment(tmp_path).write_bytes(good)
        return data

    monkeypatch.setattr(os, "pread", pread)
    assert list(read(tmp_path)) == commits(1, 6)


# -- what is gone -----------------------------------------------------------------------------------------------


def pruned(folder: Path) -> list[int]:
    """A log with a snapshot after commits 6 and 9, and no more history than needed."""
    journal = journal_of(folder, SMALL)
    for upto in (6, 9, 12):
        write(journal, commits(upto - 5 if upto == 6 else upto - 2, upto))
        if upto < 12:
            write_snapshot(folder, journal.durable, fold(commits(1, upto)), [])
    journal.close()
    assert prune(folder, keep_bytes=0, up_to=9)
    return segments(folder)


def test_history_that_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    firsts = pruned(tmp_path)
    assert firsts[0] > 1
    with pytest.raises(HistoryGone) as gone:
        read(tmp_path, firsts[0] - 2)
    assert gone.value.first == firsts[0]
    assert gone.value.status == 410
    assert list(read(tmp_path, firsts[0] - 1)) == commits(firsts[0], 12)


def test_what_the_oldest_snapshot_needs_is_not_pruned(tmp_path: Path) -> None:
    firsts = pruned(tmp_path)
    assert firsts[0] <= 6 < firsts[1]
    assert prune(tmp_path, keep_bytes=0, up_to=12) == []


def test_no_more_is_pruned_than_asked_for(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, SMALL)
    write(journal, commits(1, 12))
    assert prune(tmp_path, keep_bytes=0, up_to=12) == []  # there is no snapshot
    write_snapshot(tmp_path, journal.durable, fold(commits(1, 12)), [])
    firsts = segments(tmp_path)
    size = sum(segment(tmp_path, first).stat().st_size for first in firsts)
    assert prune(tmp_path, keep_bytes=size, up_to=12) == []
    assert prune(tmp_path, keep_bytes=size - 1, up_to=12) == firsts[:1]
    assert prune(tmp_path, keep_bytes=0, up_to=firsts[2] - 1) == []
    assert prune(tmp_path, keep_bytes=0, up_to=firsts[2]) == firsts[1:2]
    assert prune(tmp_path, keep_bytes=0, up_to=12) == firsts[2:-1]


def test_a_log_without_segments_behind_a_snapshot_has_no_history(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write(journal, commits(1, 3))
    write_snapshot(tmp_path, journal.durable, fold(commits(1, 3)), [])
    segment(tmp_path).unlink()
    with pytest.raises(HistoryGone, match="its first is commit 4"):
        read(tmp_path, 1)
    assert list(read(tmp_path, 3)) == []


def test_a_segment_pruned_under_a_reader_is_history_gone(tmp_path: Path) -> None:
    write_log(tmp_path, commits(1, 12), SMALL)
    reader = read(tmp_path)
    next(reader)
    for first in segments(tmp_path)[:2]:
        segment(tmp_path, first).unlink()
    with pytest.raises(HistoryGone):
        list(reader)
