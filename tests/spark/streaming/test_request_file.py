"""The files between a broker and its job: who wants what, and which batches there are."""

from pathlib import Path

import pytest

from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.output.notifications import Batches, manifest_path
from tidings.spark.streaming.subscriptions.request_file import LINES, RequestFile
from tidings.spark.streaming.subscriptions.requests import FileRequests, SubscriptionRequest

ASK = "ASK {}"


def wanted(out: Path) -> set[str]:
    return set(FileRequests(out / "wanted.jsonl").read() or ())


def test_whoever_comes_and_goes_is_written_down_and_read_again(tmp_path: Path) -> None:
    requests = RequestFile(tmp_path)
    assert not requests.read()
    requests.begin([SubscriptionRequest(ASK, "a"), SubscriptionRequest(ASK, "b")])
    requests.add([SubscriptionRequest(ASK, "c"), SubscriptionRequest(spuid="a", ended=True)])
    assert wanted(tmp_path) == {"b", "c"} == set(RequestFile(tmp_path).read())
    RequestFile(tmp_path).begin([SubscriptionRequest(ASK, "c")])
    assert wanted(tmp_path) == {"c"}


def test_the_file_is_written_anew_when_most_of_it_is_of_no_use(tmp_path: Path) -> None:
    requests = RequestFile(tmp_path)
    requests.begin([])
    for n in range(LINES):
        requests.add([SubscriptionRequest(ASK, str(n)), SubscriptionRequest(spuid=str(n), ended=True)])
        assert (tmp_path / "wanted.jsonl").read_bytes().count(b"\n") <= LINES
    requests.add([SubscriptionRequest(ASK, "last")])
    assert wanted(tmp_path) == {"last"}


def test_what_could_not_be_written_is_there_in_full_the_next_time(tmp_path: Path) -> None:
    requests = RequestFile(tmp_path)
    requests.begin([SubscriptionRequest(ASK, "a")])
    path = tmp_path / "wanted.jsonl"
    path.unlink()
    path.mkdir()
    with pytest.raises(StreamUnusable):
        requests.add([SubscriptionRequest(ASK, "b")])
    path.rmdir()
    requests.add([SubscriptionRequest(ASK, "b")])
    assert wanted(tmp_path) == {"a", "b"}


def test_a_manifest_that_is_damaged_or_foreign_is_refused(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    assert batches.after(-1) is None
    path = manifest_path(tmp_path, 3)  # numbers before it were left out
    path.parent.mkdir()
    path.write_bytes(b'{"number": 3}')
    with pytest.raises(StreamUnusable, match="checksum"):
        batches.after(-1)
