"""A repair keeps the longest sound prefix, deletes nothing, and says what is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from log.making import commit, commits, fold, journal_of, make_folder, recovered_from, segment, write, write_log
from tidings.cli import main
from tidings.log.entry import Entry, Note
from tidings.log.errors import LogDamaged
from tidings.log.folder import Folder
from tidings.log.journal import Settings
from tidings.log.layout import segments
from tidings.log.reading import read
from tidings.log.repair import Report, repair
from tidings.log.snapshot import manifests, write_snapshot
from tidings.model.terms import Quad

SMALL = Settings(segment_bytes=1000, durability="os")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def alter(path: Path, place: float = 0.5) -> None:
    data = bytearray(path.read_bytes())
    data[int(len(data) * place)] ^= 1
    path.write_bytes(data)


def mended(folder: Path) -> tuple[Report, set[Quad]]:
    """Repair, after a dry run that changes nothing; the report and the quads that a broker then starts with."""
    before = contents(folder)
    tried = repair(folder, dry_run=True)
    assert contents(folder) == before
    report = repair(folder)
    assert report == tried
    after = contents(folder)
    assert sum(map(len, after.values())) >= sum(len(data) for name, data in before.items() if name.endswith("l"))
    recovered, entries = recovered_from(folder)
    assert recovered.last_commit == report.last_commit
    assert recovered.cut == 0
    quads = fold(entries, recovered.snapshot.quads if recovered.snapshot else ())
    again = repair(folder)
    assert (again.moved, again.last_commit) == ((), report.last_commit)
    write_log(folder, [commit(report.last_commit + 1, time=99_000_000)])
    assert recovered_from(folder)[0].last_commit == report.last_commit + 1
    return report, quads


def test_a_sound_log_is_left_alone(tmp_path: Path) -> None:
    write_log(tmp_path, commits(1, 12), SMALL)
    before = contents(tmp_path)
    report = repair(tmp_path)
    assert contents(tmp_path) == before
    assert list(report.lines()) == ["no damage found", "kept: 12 entries of the log, up to commit 12"]


def test_an_empty_folder_is_left_alone(tmp_path: Path) -> None:
    assert repair(make_folder(tmp_path)).last_commit == 0


def test_everything_before_an_altered_byte_is_kept(tmp_path: Path) -> None:
    write_log(tmp_path, commits(1, 12), SMALL)
    firsts = segments(tmp_path)
    alter(segment(tmp_path, firsts[2]), 0.8)
    report, quads = mended(tmp_path)
    assert firsts[2] <= report.last_commit + 1 < firsts[3]
    assert report.lost_commit == 12
    assert quads == fold(commits(1, report.last_commit))
    assert f"lost: commits {report.last_commit + 1} to 12" in list(report.lines())
    assert "the checksum is wrong" in report.findings[0]


def test_every_altered_byte_of_a_log_can_be_repaired(tmp_path: Path) -> None:
    write_log(tmp_path / "sound", commits(1, 4))
    data = segment(tmp_path / "sound").read_bytes()
    folder = make_folder(tmp_path / "damaged")
    for offset in range(0, len(data), 13):
        altered = bytearray(data)
        altered[offset] ^= 1
        segment(folder).write_bytes(altered)
        report = repair(folder)
        assert recovered_from(folder)[1] == commits(1, report.last_commit)
        assert report.last_commit >= data.count(b'"left":0', 0, offset - 25 if offset > 25 else 0) - 1


def remove_middle(folder: Path) -> int:
    firsts = segments(folder)
    segment(folder, firsts[1]).unlink()
    return firsts[1] - 1


def empty_middle(folder: Path) -> int:
    firsts = segments(folder)
    segment(folder, firsts[1]).write_bytes(b"")
    return firsts[1] - 1


def rename_last(folder: Path) -> int:
    last = segments(folder)[-1]
    segment(folder, last).rename(segment(folder, last + 1))
    return last - 1


def remove_first(folder: Path) -> int:
    segment(folder, 1).unlink()
    return 0


def tear_last(folder: Path) -> int:
    path = segment(folder, segments(folder)[-1])
    path.write_bytes(path.read_bytes()[:-5])
    return 11


@pytest.mark.parametrize("damage", [remove_middle, empty_middle, rename_last, remove_first, tear_last])
def test_every_kind_of_damage_can_be_repaired(tmp_path: Path, damage: Callable[[Path], int]) -> None:
    write_log(tmp_path, commits(1, 12), SMALL)
    last = damage(tmp_path)
    report, quads = mended(tmp_path)
    assert report.last_commit == last
    assert quads == fold(commits(1, last))
    assert report.findings


# -- with snapshots ---------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve commits in segments, with snapshots after commits 4 and 8."""
    journal = journal_of(tmp_path, SMALL)
    for seq in range(1, 13):
        write(journal, [commit(seq)])
        if seq in (4, 8):
            write_snapshot(tmp_path, journal.durable, fold(commits(1, seq)), [Note("remark", {"seq": seq})])
    journal.close()
    return tmp_path


def snapshot_file(folder: Path, seq: int, ending: str) -> Path:
    return folder / "snapshots" / f"{seq:020}{ending}"


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_damaged_snapshot_gives_way_to_the_one_before_it(folder: Path, ending: str) -> None:
    alter(snapshot_file(folder, 8, ending))
    report, quads = mended(folder)
    assert (report.snapshot, report.last_commit, report.lost_commit) == (4, 12, None)
    assert quads == fold(commits(1, 12))
    assert [name.commit for name in manifests(folder)] == [4]


def test_without_a_sound_snapshot_the_log_is_enough(folder: Path) -> None:
    for seq in (4, 8):
        alter(snapshot_file(folder, seq, ".jsonl"))
    report, quads = mended(folder)
    assert (report.snapshot, report.entries, report.last_commit) == (None, 12, 12)
    assert quads == fold(commits(1, 12))


def test_damage_before_a_snapshot_costs_history_only(folder: Path) -> None:
    alter(segment(folder, segments(folder)[1]))
    firsts = segments(folder)
    report, quads = mended(folder)
    assert (report.snapshot, report.last_commit, report.lost_commit) == (8, 12, None)
    assert quads == fold(commits(1, 12))
    assert segments(folder)[0] == firsts[2]
    assert [entry.commit for entry in read(folder, firsts[2])] == list(range(firsts[2] + 1, 14))


def test_damage_in_the_segment_of_a_snapshot_but_before_it_stays_and_is_said(tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    write(journal, commits(1, 6))
    write_snapshot(tmp_path, journal.durable, fold(commits(1, 6)), [])
    write(journal, commits(7, 8))
    alter(segment(tmp_path), 0.3)
    report, quads = mended(tmp_path)
    assert (report.last_commit, report.moved) == (8, ())
    assert "a restart does not need it" in report.findings[0]
    assert quads == fold(commits(1, 8))


def test_a_snapshot_whose_log_is_missing_is_kept_alone(folder: Path) -> None:
    place = max(first for first in segments(folder) if first <= 8)
    segment(folder, place).unlink()
    report, quads = mended(folder)
    assert (report.snapshot, report.last_commit, report.lost_commit) == (8, 8, 12)
    assert quads == fold(commits(1, 8))
    assert segments(folder) == [9]


def test_what_was_set_aside_twice_is_there_twice(tmp_path: Path) -> None:
    for _ in range(2):
        write_log(tmp_path, commits(len(list(read(tmp_path))) + 1, 12), SMALL)
        segment(tmp_path, 1).write_bytes(b"garbage\n" * 3)
        repair(tmp_path)
    names = [path.name for path in (tmp_path / "damaged").iterdir()]
    assert {f"{1:020}.jsonl", f"{1:020}.jsonl.2"} <= set(names)


# -- from the command line --------------------------------------------------------------------------------------


def test_the_command_says_what_it_would_do_and_does_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Folder(tmp_path):
        entries: list[Entry] = commits(1, 5)
        write_log(tmp_path, entries)
    alter(segment(tmp_path))
    assert main(["repair", "--data", str(tmp_path), "--dry-run"]) == 0
    dry = capsys.readouterr().out
    with pytest.raises(LogDamaged):
        recovered_from(tmp_path)
    assert main(["repair", "--data", str(tmp_path)]) == 0
    assert capsys.readouterr().out == dry
    assert "log/00000000000000000001.jsonl, line 5: the checksum is wrong" in dry
    assert "lost: commits 3 to 5" in dry
    assert recovered_from(tmp_path)[1] == commits(1, 2)


def test_the_command_refuses_a_folder_in_use_or_not_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Folder(tmp_path / "data"):
        assert main(["repair", "--data", str(tmp_path / "data")]) == 1
    assert "in use by process" in capsys.readouterr().err
    assert main(["repair", "--data", str(tmp_path / "nowhere")]) == 1
    assert not (tmp_path / "nowhere").exists()
    capsys.readouterr()
