"""The audit log: a line for every event, files that do not grow for ever, and no silence about what is missing."""

import json
import stat
from pathlib import Path

import pytest

from broker.making import Clock
from tidings.security.audit import AuditLog, Event


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_events_are_lines_with_their_time(clock: Clock, tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "deep" / "audit.jsonl", clock.now)
    audit(Event(what="update", who="lamp-1", where="192.0.2.7", target="http://e.org/g", commit=7))
    clock.pass_by(1)
    audit(Event(what="query", who="x" * 5_000, decision="refused", reason='not_allowed\n"'))
    audit.write()
    first, second = lines(tmp_path / "deep" / "audit.jsonl")
    assert first == {
        "time": clock.micros - 1_000_000, "what": "update", "who": "lamp-1", "where": "192.0.2.7",
        "decision": "allowed", "target": "http://e.org/g", "commit": 7,
    }  # fmt: skip
    assert (second["decision"], second["reason"], len(str(second["who"]))) == ("refused", 'not_allowed\n"', 300)
    assert stat.S_IMODE((tmp_path / "deep" / "audit.jsonl").stat().st_mode) == 0o600


def test_a_full_queue_leaves_out_events_and_says_how_many(clock: Clock, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit = AuditLog(path, clock.now, queue=10)
    for number in range(25):
        audit(Event(what="query", commit=number))
    assert (len(audit), audit.lost) == (10, 15)
    audit.write()
    audit(Event(what="query", commit=25))
    audit.write()
    found = lines(path)
    assert [line.get("commit") for line in found] == [*range(10), None, 25]
    assert found[10]["reason"] == "15 events were left out"


def test_a_file_that_has_grown_too_large_is_renamed_and_the_oldest_goes(clock: Clock, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit = AuditLog(path, clock.now, most_bytes=300, keep=2)
    for number in range(50):
        audit(Event(what="query", commit=number))
    audit.write()
    names = ["audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"]
    assert {each.name for each in tmp_path.iterdir()} <= set(names)
    assert (tmp_path / "audit.jsonl.2").exists()
    numbers = [line["commit"] for name in names if (tmp_path / name).exists() for line in lines(tmp_path / name)]
    assert numbers == list(range(numbers[0], 50))  # type: ignore[call-overload]
    assert all((tmp_path / name).stat().st_size < 400 for name in names if (tmp_path / name).exists())


def test_a_disk_that_takes_nothing_is_named_in_the_log(
    clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    audit = AuditLog(tmp_path, clock.now)  # a folder is where the file should be
    audit(Event(what="query"))
    audit.write()
    assert audit.lost == 1
    assert "cannot be written" in caplog.text
