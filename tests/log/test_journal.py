"""What is appended is written, in order, in segments, and read again as it was."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from log.making import commit, commits, histories, journal_of, recovered_from, remark, segment, write, write_log
from tidings.log import journal as room
from tidings.log.entry import Entry, Note, published_by
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.log.journal import LARGE, Journal, Settings, WriteBatch
from tidings.log.layout import segments
from tidings.log.reading import read
from tidings.log.repair import repair
from tidings.model.errors import TidingsError
from tidings.model.zset import ZSet
from waiting import PATIENCE

SMALL = Settings(segment_bytes=1000, durability="os")


@given(history=histories(), size=st.integers(1, 800), large=st.sampled_from([0, 1, 2, LARGE]), data=st.data())
def test_what_is_written_is_read(
    history: list[Entry], size: int, large: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("data")
    with mock.patch.object(room, "LARGE", large):
        journal = journal_of(folder, Settings(segment_bytes=size, durability="os"))
        taken: list[WriteBatch] = []
        for entry in history:
            journal.append(entry)
            if data.draw(st.booleans()) and (batch := journal.take()):
                taken.append(batch)
            if data.draw(st.booleans()):
                write_all(journal, taken)
        write_all(journal, taken)
        write(journal, [])
        journal.close()
    assert [entry for entry in read(folder) if entry.commit] == [entry for entry in history if entry.commit]
    recovered, entries = recovered_from(folder)
    assert entries == history
    assert recovered.place == journal.durable == journal.place


def write_all(journal: Journal, taken: list[WriteBatch]) -> None:
    """In order; meanwhile others may have been appended and taken."""
    while taken:
        journal.write(taken.pop(0))


@given(history=histories(), size=st.integers(1, 800), data=st.data())
def test_the_log_is_the_same_whoever_encodes_it(
    history: list[Entry], size: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    together = data.draw(st.lists(st.booleans(), min_size=len(history), max_size=len(history)))
    logs = []
    for large in (0, 1, LARGE):
        folder = tmp_path_factory.mktemp("data")
        with mock.patch.object(room, "LARGE", large):
            journal = journal_of(folder, Settings(segment_bytes=size, durability="os"))
            for entry, alone in zip(history, together, strict=True):
                journal.append(entry)
                if alone:
                    write(journal, [])
            write(journal, [])
            journal.close()
        logs.append({first: segment(folder, first).read_bytes() for first in segments(folder)})
    assert logs[0] == logs[1] == logs[2]


def test_a_large_entry_is_encoded_when_it_is_written_and_so_is_what_follows_it(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    journal.append(commit(1))
    journal.append(commit(2, quads=LARGE + 1))
    journal.append(commit(3))
    first = journal.take()
    assert first
    assert [entry.commit for entry in first.later] == [2, 3]
    journal.append(commit(4))
    second = journal.take()
    assert second
    assert [entry.commit for entry in second.later] == [4]
    journal.write(first)
    journal.append(commit(5))
    journal.write(second)
    third = journal.take()
    assert third
    assert not third.later  # where the log ends is known again
    journal.write(third)
    assert [entry.commit for entry in recovered_from(tmp_path)[1]] == [1, 2, 3, 4, 5]


def test_what_cannot_be_encoded_leaves_no_trace(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write(journal, [commit(1)])
    before = segment(tmp_path).read_bytes()
    unwritable = ZSet([(("<s>", "<p>", f'"{number}\ud800"', ""), 1) for number in range(LARGE + 1)])
    journal.append(commit(2))
    journal.append(Entry(3, 3000, unwritable))
    batch = journal.take()
    assert batch
    with pytest.raises(TidingsError, match="cannot be written down"):
        journal.write(batch)
    assert segment(tmp_path).read_bytes() == before
    journal.discard()
    write(journal, [commit(2)])
    assert [entry.commit for entry in recovered_from(tmp_path)[1]] == [1, 2]


def test_who_published_a_commit_is_read_as_it_was_written(tmp_path: Path) -> None:
    names = ["alice", None, 'the "best"\\', "été", None]
    entries = [
        commit(seq, notes=() if name is None else (Note("done", {"id": "x"}), published_by(name)))
        for seq, name in enumerate(names, 1)
    ]
    write_log(tmp_path, entries, Settings(segment_bytes=500, durability="os"))
    assert len(segments(tmp_path)) > 1
    assert [entry.publisher for entry in read(tmp_path)] == names
    assert [entry.publisher for entry in read(tmp_path, 3)] == names[3:]
    assert [entry.publisher for entry in recovered_from(tmp_path)[1]] == names
    assert repair(tmp_path).findings == ()


def test_every_line_of_a_change_is_a_flat_object(tmp_path: Path) -> None:
    write_log(tmp_path, [commit(1, quads=3, time=1794732833718877), commit(2, time=1794732833718878)])
    lines = [orjson.loads(line) for line in segment(tmp_path).read_bytes().splitlines()]
    assert all(isinstance(value, str | int) for line in lines for value in line.values())
    assert [list(line) for line in lines] == [["seq", "time", "op", "s", "p", "o", "g", "left", "crc"]] * 5
    assert [(line["seq"], line["op"], line["left"]) for line in lines] == [
        (1, "add", 2), (1, "add", 1), (1, "add", 0), (2, "remove", 1), (2, "add", 0),
    ]  # fmt: skip
    assert lines[3]["o"] == '"value 1"'
    assert lines[3]["time"] == 1794732833718878


def test_a_note_is_a_line_of_its_own(tmp_path: Path) -> None:
    write_log(tmp_path, [Entry(1, 5, commit(1).delta, (Note("subscribed", {"id": 7, "query": "ASK {}"}),))])
    line = orjson.loads(segment(tmp_path).read_bytes().splitlines()[-1])
    del line["crc"]
    assert line == {"seq": 1, "time": 5, "op": "subscribed", "note": {"id": 7, "query": "ASK {}"}, "left": 0}


def test_a_commit_that_finds_its_segment_full_begins_another(tmp_path: Path) -> None:
    write_log(tmp_path, commits(1, 9), SMALL)
    firsts = segments(tmp_path)
    assert len(firsts) > 2
    assert all(segment(tmp_path, first).stat().st_size <= 1000 for first in firsts)
    assert [entry.commit for entry in read(tmp_path)] == list(range(1, 10))


def test_a_commit_that_finds_its_segment_old_begins_another(tmp_path: Path) -> None:
    hour = 3_600_000_000
    settings = Settings(segment_seconds=3600, durability="os")
    write_log(tmp_path, [commit(1, time=5), commit(2, time=hour), commit(3, time=hour + 5)], settings)
    assert segments(tmp_path) == [1, 3]


def test_the_age_of_a_segment_is_known_after_a_restart(tmp_path: Path) -> None:
    settings = Settings(segment_seconds=1, durability="os")
    write_log(tmp_path, [commit(1, time=1_000_000)], settings)
    write_log(tmp_path, [commit(2, time=1_999_999), commit(3, time=2_000_000)], settings)
    assert segments(tmp_path) == [1, 3]


def test_an_entry_is_never_divided_between_segments(tmp_path: Path) -> None:
    write_log(tmp_path, [commit(1, quads=50), commit(2, quads=50)], SMALL)
    assert segments(tmp_path) == [1, 2]


def test_notes_never_begin_a_segment_but_the_first(tmp_path: Path) -> None:
    write_log(tmp_path, [remark(0, "x" * 900), remark(0, "y" * 900), commit(1), remark(1, "z" * 900), commit(2)], SMALL)
    assert segments(tmp_path) == [1, 2]
    assert [entry.commit for entry in recovered_from(tmp_path)[1]] == [0, 0, 1, 1, 2]


def test_one_batch_may_cross_into_the_next_segments(tmp_path: Path) -> None:
    journal = journal_of(tmp_path, SMALL)
    write(journal, commits(1, 9))
    assert len(segments(tmp_path)) > 2
    assert list(read(tmp_path)) == commits(1, 9)
    assert journal.written == sum(segment(tmp_path, first).stat().st_size for first in segments(tmp_path))


@pytest.mark.parametrize(
    "entry",
    [commit(3), commit(1), remark(2, "early"), commit(2, time=999), Entry(1, 1000, ZSet()), remark(0, "late")],
    ids=["gap", "again", "note ahead", "time goes back", "nothing", "note behind"],
)
def test_what_cannot_follow_is_refused_and_leaves_no_trace(tmp_path: Path, entry: Entry) -> None:
    journal = journal_of(tmp_path)
    write(journal, [commit(1)])
    with pytest.raises(ValueError, match="cannot follow"):
        journal.append(entry)
    write(journal, [commit(2)])
    assert list(read(tmp_path)) == commits(1, 2)


def test_a_note_is_not_called_like_a_change(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="which is a change"):
        journal_of(tmp_path).append(Entry(0, 0, ZSet(), (Note("add", {}),)))


def test_nothing_appended_is_nothing_to_take(tmp_path: Path) -> None:
    assert journal_of(tmp_path).take() is None


# -- the disk ---------------------------------------------------------------------------------------------------


class Disk:
    """Stands between the journal and the disk: writes so many bytes, then fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room: int | None = None
        self.most = 1 << 30
        self.synced = 0
        self.refuses: set[str] = set()
        for name in ("write", "fsync", "ftruncate"):
            self._real = {**getattr(self, "_real", {}), name: getattr(os, name)}
            monkeypatch.setattr(os, name, getattr(self, name))

    def write(self, file: int, data: memoryview) -> int:
        if self.room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        some = data[: self.most if self.room is None else min(self.most, self.room)]
        if self.room is not None:
            self.room -= len(some)
        return int(self._real["write"](file, some))

    def fsync(self, file: int) -> None:
        if "fsync" in self.refuses:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self.synced += 1

    def ftruncate(self, file: int, size: int) -> None:
        if "ftruncate" in self.refuses:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        self._real["ftruncate"](file, size)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def test_a_short_write_is_continued(tmp_path: Path, disk: Disk) -> None:
    disk.most = 7
    write_log(tmp_path, commits(1, 3))
    assert list(read(tmp_path)) == commits(1, 3)


@pytest.mark.parametrize("room", [0, 1, 100, 500, 1500])
def test_a_full_disk_takes_nothing_back_and_lets_one_go_on_later(tmp_path: Path, disk: Disk, room: int) -> None:
    journal = journal_of(tmp_path, SMALL)
    write(journal, commits(1, 2))
    before = {first: segment(tmp_path, first).read_bytes() for first in segments(tmp_path)}
    disk.room = room
    for entry in commits(3, 12):
        journal.append(entry)
    batch = journal.take()
    assert batch
    journal.append(commit(13))
    with pytest.raises(LogWriteFailed, match="No space left on device") as failed:
        journal.write(batch)
    assert failed.value.to_json()["error"] == "log_write_failed"
    assert {first: segment(tmp_path, first).read_bytes() for first in segments(tmp_path)} == before
    journal.discard()
    assert journal.take() is None
    disk.room = None
    write(journal, commits(3, 9))
    assert recovered_from(tmp_path)[1] == commits(1, 9)


def test_a_failure_of_the_very_first_write_leaves_no_segment(tmp_path: Path, disk: Disk) -> None:
    journal = journal_of(tmp_path)
    disk.room = 10
    with pytest.raises(LogWriteFailed):
        write(journal, [commit(1)])
    assert segments(tmp_path) == []
    journal.discard()
    disk.room = None
    write(journal, [commit(1)])
    assert list(read(tmp_path)) == [commit(1)]


def test_a_batch_taken_before_a_failure_is_not_written_after_it(tmp_path: Path, disk: Disk) -> None:
    journal = journal_of(tmp_path)
    journal.append(commit(1))
    failing = journal.take()
    journal.append(commit(2))
    later = journal.take()
    assert failing
    assert later
    disk.room = 10
    with pytest.raises(LogWriteFailed):
        journal.write(failing)
    disk.room = None
    with pytest.raises(ValueError, match="discarded"):
        journal.write(later)


@pytest.mark.parametrize("refused", ["fsync", "ftruncate"])
def test_a_disk_that_cannot_say_what_it_has_breaks_the_journal(tmp_path: Path, disk: Disk, refused: str) -> None:
    journal = journal_of(tmp_path, Settings(durability="fsync"))
    write(journal, [commit(1)])
    disk.refuses = {refused}
    disk.room = None if refused == "fsync" else 10
    with pytest.raises(LogWriteFailed):
        write(journal, [commit(2)])
    assert journal.broken
    journal.discard()
    with pytest.raises(LogBroken, match="restart"):
        journal.append(commit(2))
    journal.close()


def test_durability_fsync_waits_for_the_disk_and_os_does_not(tmp_path: Path, disk: Disk) -> None:
    journal = journal_of(tmp_path / "fsync", Settings(durability="fsync"))
    write(journal, [commit(1)])
    disk.synced = 0
    write(journal, [commit(2)])
    assert disk.synced == 1
    journal = journal_of(tmp_path / "os")
    write(journal, [commit(1)])
    disk.synced = 0
    write(journal, [commit(2)])
    assert disk.synced == 0


def test_a_segment_is_synced_before_the_next_is_begun_whatever_the_durability(tmp_path: Path, disk: Disk) -> None:
    journal = journal_of(tmp_path, SMALL)
    write(journal, [commit(1, quads=9)])
    disk.synced = 0
    write(journal, [commit(2, quads=9)])
    assert segments(tmp_path) == [1, 2]
    assert disk.synced == 2  # the finished segment, and the name of the new one


def test_a_real_limit_of_the_operating_system_is_survived(tmp_path: Path) -> None:
    script = """
import resource, sys
from pathlib import Path
from log.making import commits, journal_of, write
from tidings.log.errors import LogWriteFailed
journal = journal_of(Path(sys.argv[1]))
write(journal, commits(1, 2))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
try:
    write(journal, commits(3, 50))
except LogWriteFailed as error:
    print(error)
journal.discard()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
write(journal, commits(3, 4))
journal.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert "File too large" in done.stdout, done.stderr
    assert recovered_from(tmp_path)[1] == commits(1, 4)


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write(journal, [commit(1)])
    journal.close()
    journal.close()


def test_a_journal_needs_the_segment_it_goes_on_from(tmp_path: Path) -> None:
    write_log(tmp_path, [commit(1)])
    place = recovered_from(tmp_path)[0].place
    segment(tmp_path).unlink()
    with pytest.raises(LogWriteFailed, match="No such file"):
        Journal(tmp_path, place)
