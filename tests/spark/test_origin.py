"""Where commits come from: folders, also torn and damaged ones, and brokers, also lying ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import orjson
import pytest

from gates.wire import serving
from spark.histories import history, log_with
from tidings.client import sync
from tidings.log.errors import FolderUnusable, HistoryGone, LogDamaged
from tidings.log.layout import segment_path, segments
from tidings.spark.errors import FeedFailed, LogDiverged
from tidings.spark.log_source.broker_origin import BrokerOrigin
from tidings.spark.log_source.origin import FolderOrigin, Mark, check_holds, checked, origin_of

ENTRIES = [entry for entry in history(1, 200) if entry.delta]
END = Mark(200, ENTRIES[-1].time)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return log_with(tmp_path / "data", ENTRIES)


def test_the_end_of_a_log_is_its_last_commit(folder: Path, tmp_path: Path) -> None:
    assert FolderOrigin(folder).end() == END
    assert FolderOrigin(log_with(tmp_path / "empty", [])).end() == Mark()


def test_notes_after_the_last_commit_do_not_matter(tmp_path: Path) -> None:
    entries = history(3, 50)
    folder = log_with(tmp_path, entries)
    assert FolderOrigin(folder).end() == Mark(50, entries[-1].time)
    assert [entry.commit for entry in FolderOrigin(folder).commits(0, 50)] == list(range(1, 51))


def test_a_range_of_commits_is_read_whole(folder: Path) -> None:
    start = Mark(120, ENTRIES[119].time)
    assert list(checked(FolderOrigin(folder), start, END)) == list(FolderOrigin(folder).commits(120, 200))
    assert [entry.delta for entry in checked(FolderOrigin(folder), Mark(), END)] == [each.delta for each in ENTRIES]


@pytest.mark.parametrize("cut", [1, 20, 200, 500])
def test_a_torn_tail_is_not_read(folder: Path, cut: int) -> None:
    last = segment_path(folder, segments(folder)[-1])
    last.write_bytes(last.read_bytes()[:-cut])
    end = FolderOrigin(folder).end()
    assert 190 < end.commit < 200
    assert end.time == ENTRIES[end.commit - 1].time
    assert [entry.commit for entry in checked(FolderOrigin(folder), Mark(), end)] == list(range(1, end.commit + 1))


def test_a_last_line_of_garbage_is_not_read(folder: Path) -> None:
    last = segment_path(folder, segments(folder)[-1])
    data = bytearray(last.read_bytes())
    data[-40] ^= 1  # within the last line, whose checksum is wrong now
    last.write_bytes(data)
    assert FolderOrigin(folder).end() == Mark(199, ENTRIES[198].time)


def test_a_missing_segment_is_damage(folder: Path) -> None:
    segment_path(folder, segments(folder)[1]).unlink()
    with pytest.raises(LogDamaged, match="missing"):
        list(checked(FolderOrigin(folder), Mark(), END))


def test_an_altered_line_is_damage(folder: Path) -> None:
    first = segment_path(folder, segments(folder)[0])
    first.write_bytes(first.read_bytes().replace(b'"op":"add"', b'"op":"bad"', 1))
    with pytest.raises(LogDamaged, match="checksum"):
        list(checked(FolderOrigin(folder), Mark(), END))


def test_history_that_was_pruned_is_gone(folder: Path) -> None:
    segment_path(folder, segments(folder)[0]).unlink()
    with pytest.raises(HistoryGone):
        list(checked(FolderOrigin(folder), Mark(), END))


def test_a_folder_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderUnusable):
        origin_of(str(tmp_path))


def test_another_log_is_told_from_the_one_that_was_read(folder: Path, tmp_path: Path) -> None:
    other = FolderOrigin(log_with(tmp_path / "other", history(2, 200)))
    mark = Mark(100, ENTRIES[99].time)
    check_holds(FolderOrigin(folder), mark)
    with pytest.raises(LogDiverged, match="another log"):
        check_holds(other, mark)
    with pytest.raises(LogDiverged, match="another log"):
        list(checked(other, mark, other.end()))
    with pytest.raises(LogDiverged, match="another log"):
        list(checked(other, Mark(), END))
    with pytest.raises(LogDiverged, match="ends before"):
        check_holds(FolderOrigin(log_with(tmp_path / "short", ENTRIES[:50])), mark)


def test_a_range_that_the_log_no_longer_has_is_refused(folder: Path) -> None:
    with pytest.raises(LogDiverged, match="ends with commit 200"):
        list(checked(FolderOrigin(folder), Mark(), Mark(201, 5)))


# -- brokers ---------------------------------------------------------------------------------------------------------


@contextmanager
def answering(status: int, body: bytes, *, length: int | None = None) -> Iterator[str]:
    """A server that says the same to everybody."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def line(seq: int, left: int, n: int = 0) -> bytes:
    change = {
        "seq": seq,
        "time": seq,
        "op": "add",
        "s": f"<urn:{n}>",
        "p": "<urn:p>",
        "o": '"o"',
        "g": "",
        "left": left,
    }
    return orjson.dumps(change, option=orjson.OPT_APPEND_NEWLINE)


def test_a_gap_in_the_answer_of_a_broker_is_noticed() -> None:
    with answering(200, line(1, 0) + line(3, 0)) as address, pytest.raises(LogDiverged, match="commit 3 follows"):
        list(checked(BrokerOrigin(address), Mark(), Mark(3)))


@pytest.mark.parametrize(
    ("status", "body", "length", "told"),
    [
        (200, line(1, 1), None, "without its last 1 changes"),
        (200, line(1, 1) + line(2, 0), None, "without its last 1 changes"),
        (200, line(1, 0)[:-9], None, "broke off"),
        (200, line(1, 0), 10_000, "cannot be read"),
        (200, b"<html>\n", None, "cannot be read"),
        (503, b"busy", None, "status 503"),
        (404, b'{"error":"no_log","error_description":"keeps no log"}', None, "keeps no log"),
    ],
)
def test_an_answer_that_makes_no_sense_is_an_error(status: int, body: bytes, length: int | None, told: str) -> None:
    with answering(status, body, length=length) as address, pytest.raises(FeedFailed, match=told):
        list(checked(BrokerOrigin(address), Mark(), Mark(1)))


def test_history_that_a_broker_forgot_is_gone() -> None:
    body = orjson.dumps(HistoryGone(0, 42).to_json())
    with answering(410, body) as address:
        assert BrokerOrigin(address).first() == 42
        with pytest.raises(HistoryGone):
            list(checked(BrokerOrigin(address), Mark(), Mark(50)))


def test_a_broker_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FeedFailed, match="cannot be read"):
        BrokerOrigin("http://127.0.0.1:1").end()


@pytest.mark.server
def test_a_broker_tells_what_its_folder_has(tmp_path: Path) -> None:
    with serving(tmp_path, "--data", "data") as broker:
        assert BrokerOrigin(broker.http).end() == Mark()
        for number in range(5):
            broker.update(f"INSERT DATA {{ <urn:s> <urn:p> {number} , 'x'@en }}")
        with sync.connect(broker.ws, publisher="été") as client:
            client.update("CLEAR ALL")
        here, there = FolderOrigin(tmp_path / "data"), BrokerOrigin(broker.http)
        assert there.end() == here.end()
        assert list(checked(there, Mark(), there.end())) == list(checked(here, Mark(), here.end()))
        assert [entry.publisher for entry in there.commits(4, 6)] == [None, "été"]
        check_holds(there, here.end())
