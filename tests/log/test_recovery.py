"""A crash costs at most what was not yet durable; other damage is named, and never passed over."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from log.making import (
    commit,
    commits,
    fold,
    histories,
    journal_of,
    make_folder,
    recovered_from,
    remark,
    segment,
    write,
    write_log,
)
from tidings.log.entry import Entry, Note
from tidings.log.errors import LogDamaged
from tidings.log.journal import Journal, Settings
from tidings.log.layout import segments
from tidings.log.lines import encode, sealed, seed
from tidings.log.reading import read
from tidings.log.snapshot import write_snapshot

SMALL = Settings(segment_bytes=1000, durability="os")
ENTRIES = [commit(1), commit(2, quads=3), commit(3, quads=3, notes=(Note("remark", {"text": "last"}),))]
WHOLE = 512
"""The size of a sector."""


def log_bytes(entries: list[Entry]) -> bytes:
    crc, lines = seed(1), []
    for entry in entries:
        data, crc = encode(entry, crc)
        lines.append(data)
    return b"".join(lines)


def put(folder: Path, data: bytes, first: int = 1) -> None:
    make_folder(folder)
    segment(folder, first).write_bytes(data)


# -- torn ends --------------------------------------------------------------------------------------------------


def test_a_log_torn_at_any_byte_of_its_last_entry_has_the_entries_before_it(tmp_path: Path) -> None:
    kept, whole = log_bytes(ENTRIES[:2]), log_bytes(ENTRIES)
    for end in range(len(kept), len(whole)):
        put(tmp_path, whole[:end])
        assert list(read(tmp_path)) == ENTRIES[:2]
        recovered, entries = recovered_from(tmp_path)
        assert entries == ENTRIES[:2]
        assert recovered.cut == end - len(kept)
        assert segment(tmp_path).read_bytes() == kept
    put(tmp_path, whole)
    assert recovered_from(tmp_path)[1] == ENTRIES


def test_after_a_torn_end_one_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    put(tmp_path, log_bytes(ENTRIES)[:-5])
    write_log(tmp_path, [commit(3), commit(4)])
    recovered, entries = recovered_from(tmp_path)
    assert (entries, recovered.cut) == ([*ENTRIES[:2], commit(3), commit(4)], 0)


def test_a_first_segment_torn_in_its_first_entry_is_no_log_at_all(tmp_path: Path) -> None:
    put(tmp_path, log_bytes(ENTRIES[:1])[:50])
    recovered, entries = recovered_from(tmp_path)
    assert (entries, recovered.cut, segments(tmp_path)) == ([], 50, [])
    write_log(tmp_path, commits(1, 2))
    assert list(read(tmp_path)) == commits(1, 2)


@pytest.mark.parametrize("content", [b"", b"\0" * 700, b'{"seq":4,'], ids=["empty", "zeros", "begun"])
def test_a_new_last_segment_without_an_entry_goes(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, log_bytes(ENTRIES))
    put(tmp_path, content, first=4)
    assert list(read(tmp_path)) == ENTRIES
    recovered, entries = recovered_from(tmp_path)
    assert (entries, recovered.cut, segments(tmp_path)) == (ENTRIES, len(content), [1])
    write_log(tmp_path, [commit(4)])
    assert [entry.commit for entry in read(tmp_path)] == [1, 2, 3, 4]


@pytest.mark.parametrize("zeros", [1, 100, 5000])
def test_zeros_at_the_end_are_torn(tmp_path: Path, zeros: int) -> None:
    for end in (len(log_bytes(ENTRIES)), len(log_bytes(ENTRIES[:2])) + 77):
        put(tmp_path, log_bytes(ENTRIES)[:end] + b"\0" * zeros)
        recovered, entries = recovered_from(tmp_path)
        assert entries == ENTRIES[: len(entries)]
        assert len(entries) >= 2
        assert recovered.cut >= zeros


def test_a_sector_that_never_arrived_is_torn_though_later_ones_did(tmp_path: Path) -> None:
    entries = commits(1, 12)
    data = log_bytes(entries)
    for sector in range(0, len(data) - WHOLE, WHOLE):
        put(tmp_path, data[:sector] + b"\0" * WHOLE + data[sector + WHOLE :])
        kept = [number for number in range(13) if len(log_bytes(entries[:number])) <= sector][-1]
        assert recovered_from(tmp_path)[1] == entries[:kept]


@given(synced=st.integers(0, 12), lost=st.sets(st.integers(0, 8)), size=st.integers(0, 9 * WHOLE))
def test_a_power_cut_costs_nothing_that_was_synced(
    synced: int, lost: set[int], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Behind what was synced, any sector may not have arrived, and the file may be as long as it likes."""
    folder = tmp_path_factory.mktemp("data")
    entries = commits(1, 12)
    safe = len(log_bytes(entries[:synced]))
    data = bytearray(log_bytes(entries))
    for sector in lost:
        start, end = max(safe, sector * WHOLE), min(len(data), (sector + 1) * WHOLE)
        data[start:end] = bytes(max(0, end - start))
    put(folder, bytes(data[: max(safe, size)]))
    _, kept = recovered_from(folder)
    assert kept == entries[: len(kept)]
    assert len(kept) >= synced


def test_whole_lines_behind_a_lost_sector_are_put_aside_and_not_deleted(tmp_path: Path) -> None:
    data = log_bytes(commits(1, 12))
    put(tmp_path, data[:WHOLE] + b"\0" * WHOLE + data[2 * WHOLE :])
    recovered, entries = recovered_from(tmp_path)
    aside = recovered.aside
    assert aside
    assert aside.parent == tmp_path / "damaged"
    assert aside.stat().st_size == recovered.cut
    assert aside.read_bytes().endswith(data[2 * WHOLE :])
    assert entries == commits(1, len(entries))


@pytest.mark.parametrize("last", [b"garbage\n", b"garbage", b"\xff\xfe" * 40 + b"\n", b"\n"])
def test_a_last_line_of_garbage_is_torn(tmp_path: Path, last: bytes) -> None:
    put(tmp_path, log_bytes(ENTRIES) + last)
    recovered, entries = recovered_from(tmp_path)
    assert (entries, recovered.cut) == (ENTRIES, len(last))


def test_a_wrong_checksum_on_the_last_line_is_torn(tmp_path: Path) -> None:
    data = log_bytes(ENTRIES)
    put(tmp_path, data[:-40] + b"X" + data[-39:])
    assert recovered_from(tmp_path)[1] == ENTRIES[:2]


# -- damage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [lambda byte: byte ^ 1, lambda byte: 0x20, lambda byte: 0x0A], ids=["flipped", "space", "line end"]
)
def test_no_altered_byte_before_the_last_lines_is_passed_over(tmp_path: Path, change: Callable[[int], int]) -> None:
    data = log_bytes(commits(1, 4))
    last_lines = len(log_bytes(commits(1, 3)))
    for offset in range(change(0) % 3, last_lines, 3):  # each change of other bytes
        altered = bytearray(data)
        altered[offset] = change(altered[offset])
        if altered == data:
            continue
        put(tmp_path, bytes(altered))
        with pytest.raises(LogDamaged, match="checksum") as damaged:
            recovered_from(tmp_path)
        assert damaged.value.line == data.count(b"\n", 0, offset) + 1
        with pytest.raises(LogDamaged):
            list(read(tmp_path))


def test_an_altered_end_of_the_last_line_but_one_is_not_taken_for_a_torn_end(tmp_path: Path) -> None:
    data = log_bytes([commit(1, quads=1), commit(2, quads=1)])
    end = data.index(b"\n")
    put(tmp_path, data[:end] + b"X" + data[end + 1 :])
    with pytest.raises(LogDamaged, match="checksum"):
        recovered_from(tmp_path)


def lines_of(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: lines[:2] + lines[3:],
        lambda lines: lines[1:],
        lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
        lambda lines: [*lines[:3], lines[2], *lines[3:]],
        lambda lines: [*lines[:3], b"garbage\n", *lines[3:]],
    ],
    ids=["removed", "beheaded", "swapped", "doubled", "put in"],
)
def test_lines_cannot_be_removed_moved_or_put_in(tmp_path: Path, damage: Callable[[list[bytes]], list[bytes]]) -> None:
    put(tmp_path, b"".join(damage(lines_of(log_bytes(commits(1, 6))))))
    with pytest.raises(LogDamaged):
        recovered_from(tmp_path)


def many_segments(folder: Path) -> list[int]:
    write_log(folder, commits(1, 12), SMALL)
    firsts = segments(folder)
    assert len(firsts) >= 4
    return firsts


def refusal(folder: Path) -> LogDamaged:
    with pytest.raises(LogDamaged) as damaged:
        recovered_from(folder)
    return damaged.value


def test_a_missing_segment_is_named(tmp_path: Path) -> None:
    firsts = many_segments(tmp_path)
    segment(tmp_path, firsts[1]).unlink()
    error = refusal(tmp_path)
    assert f"commits {firsts[1]} to {firsts[2] - 1}" in str(error)
    assert f"`tidings repair --data {tmp_path}`" in str(error)
    with pytest.raises(LogDamaged):
        list(read(tmp_path))


def test_a_missing_first_segment_is_named(tmp_path: Path) -> None:
    firsts = many_segments(tmp_path)
    segment(tmp_path, 1).unlink()
    assert f"commits 1 to {firsts[1] - 1}" in str(refusal(tmp_path))


def test_a_renamed_segment_is_found_out_by_its_first_line(tmp_path: Path) -> None:
    firsts = many_segments(tmp_path)
    segment(tmp_path, firsts[-1]).rename(segment(tmp_path, firsts[-1] + 1))
    assert "are missing" in str(refusal(tmp_path))
    segment(tmp_path, firsts[-2]).replace(segment(tmp_path, firsts[-1]))
    segment(tmp_path, firsts[-1] + 1).replace(segment(tmp_path, firsts[-2]))
    assert "line 1: the checksum is wrong" in str(refusal(tmp_path))


@pytest.mark.parametrize("keep", [0, 300])
def test_only_the_last_segment_may_be_torn(tmp_path: Path, keep: int) -> None:
    firsts = many_segments(tmp_path)
    path = segment(tmp_path, firsts[1])
    path.write_bytes(path.read_bytes()[:keep])
    refusal(tmp_path)


def test_a_segment_that_lost_its_last_entry_is_found_out_by_the_next(tmp_path: Path) -> None:
    firsts = many_segments(tmp_path)
    path = segment(tmp_path, firsts[1])
    path.write_bytes(b"".join(lines_of(path.read_bytes())[:-2]))
    assert f"commits {firsts[2] - 1} to {firsts[2] - 1}" in str(refusal(tmp_path))


@pytest.mark.parametrize(
    "line",
    [
        {"seq": 3, "time": 9, "op": "add", "s": "<s>", "p": "<p>", "o": "<o>", "g": "", "left": 0},
        {"seq": 1, "time": 9, "op": "add", "s": "<s>", "p": "<p>", "o": "<o>", "g": "", "left": 0},
        {"seq": 2, "time": 0, "op": "add", "s": "<s>", "p": "<p>", "o": "<o>", "g": "", "left": 0},
        {"seq": 2, "time": 9999, "op": "changed", "s": "<s>", "p": "<p>", "o": "<o>", "g": "", "left": 0},
        {"seq": 2, "time": 9999, "op": "remark", "note": {}, "left": 0},
        {"seq": 1, "time": 9999, "op": "remark", "note": [], "left": 0},
        {"seq": "two"},
    ],
    ids=["gap", "again", "time goes back", "unknown", "note ahead", "no object", "no number"],
)
def test_a_sealed_line_that_makes_no_sense_is_refused(tmp_path: Path, line: dict[str, object]) -> None:
    data, crc = encode(commit(1), seed(1))
    put(tmp_path, data + sealed(orjson.dumps(line), crc))
    assert "not a line of the log" in str(refusal(tmp_path))


def test_a_sealed_line_of_another_entry_is_refused(tmp_path: Path) -> None:
    data, _ = encode(commit(1, quads=3), seed(1))
    first = lines_of(data)[0]
    more, _ = encode(Entry(2, 9000, commit(2).delta), int(first[-11:-3], 16))
    put(tmp_path, first + more)
    assert "another entry" in str(refusal(tmp_path))


# -- snapshots --------------------------------------------------------------------------------------------------


@given(history=histories(), size=st.integers(1, 800), data=st.data())
def test_a_snapshot_and_the_rest_are_the_whole(
    history: list[Entry], size: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("data")
    journal = journal_of(folder, Settings(segment_bytes=size, durability="os"))
    for count, entry in enumerate(history, 1):
        write(journal, [entry])
        if data.draw(st.booleans()):
            notes = [note for past in history[:count] for note in past.notes]
            write_snapshot(folder, journal.durable, fold(history[:count]), notes)
    recovered, rest = recovered_from(folder)
    snapshot = recovered.snapshot
    assert fold(rest, snapshot.quads if snapshot else ()) == fold(history)
    notes = [*(snapshot.notes if snapshot else ()), *(note for entry in rest for note in entry.notes)]
    assert notes == [note for entry in history for note in entry.notes]
    assert recovered.place == journal.durable
    journal.close()


def test_notes_after_a_snapshot_are_told_once_and_those_before_it_are_not(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write(journal, [commit(1), remark(1, "before")])
    write_snapshot(tmp_path, journal.durable, fold([commit(1)]), [Note("remark", {"text": "before"})])
    before = journal.written
    write(journal, [remark(1, "after")])
    recovered, entries = recovered_from(tmp_path)
    assert entries == [remark(1, "after")]
    assert recovered.replayed == journal.written - before


def test_a_log_may_begin_with_a_snapshot(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write_snapshot(tmp_path, journal.durable, fold([commit(1)]), [])
    write(journal, [remark(0, "first"), commit(1)])
    recovered, rest = recovered_from(tmp_path)
    assert recovered.snapshot
    assert rest == [remark(0, "first"), commit(1)]


def test_what_interrupted_snapshots_left_is_removed(tmp_path: Path) -> None:
    write_log(tmp_path, commits(1, 2))
    for name in (f"{2:020}.jsonl", f"{2:020}.jsonl.tmp", f"{2:020}.json.tmp"):
        (tmp_path / "snapshots" / name).write_bytes(b"half")
    recovered, entries = recovered_from(tmp_path)
    assert (recovered.snapshot, entries) == (None, commits(1, 2))
    assert list((tmp_path / "snapshots").iterdir()) == []


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1] + b"X", lambda data: data[:-9], lambda data: data.replace(b"2", b"3", 1)]
)
def test_a_damaged_snapshot_is_refused(tmp_path: Path, ending: str, damage: Callable[[bytes], bytes]) -> None:
    journal = journal_of(tmp_path)
    write(journal, commits(1, 2))
    write_snapshot(tmp_path, journal.durable, fold(commits(1, 2)), [])
    path = tmp_path / "snapshots" / f"{2:020}{ending}"
    path.write_bytes(damage(path.read_bytes()))
    assert path == refusal(tmp_path).file


def test_a_snapshot_under_another_name_or_without_data_is_refused(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write(journal, commits(1, 2))
    write_snapshot(tmp_path, journal.durable, fold(commits(1, 2)), [])
    manifest = tmp_path / "snapshots" / f"{2:020}.json"
    other = manifest.rename(manifest.with_name(f"{3:020}.json"))
    assert "another's name" in str(refusal(tmp_path))
    other.rename(manifest)
    (tmp_path / "snapshots" / f"{2:020}.jsonl").unlink(missing_ok=True)
    assert "missing" in str(refusal(tmp_path))


def test_a_log_that_ends_before_its_snapshot_is_refused(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write(journal, commits(1, 2))
    write_snapshot(tmp_path, journal.durable, fold(commits(1, 2)), [])
    data = segment(tmp_path).read_bytes()
    segment(tmp_path).write_bytes(data[:-1])
    assert "ends before commit 2" in str(refusal(tmp_path))
    segment(tmp_path).unlink()
    assert "missing" in str(refusal(tmp_path))


def test_a_journal_goes_on_from_a_snapshot(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write(journal, commits(1, 3))
    write_snapshot(tmp_path, journal.durable, fold(commits(1, 3)), [])
    journal.close()
    recovered, rest = recovered_from(tmp_path)
    assert (rest, recovered.last_commit, recovered.last_time) == ([], 3, 3000)
    write(Journal(tmp_path, recovered.place), [commit(4)])
    assert list(read(tmp_path)) == commits(1, 4)
