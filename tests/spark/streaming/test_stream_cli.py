"""`tidings stream`, as far as it needs no Spark: what it reads, what it says, and what it does not begin."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import msgspec
import pytest

from spark.histories import history, log_with
from spark.streaming.jobs import FakeJob
from tidings.cli import main
from tidings.spark import session
from tidings.spark.errors import CheckpointForeign
from tidings.spark.log_source.origin import Mark, origin_of
from tidings.spark.streaming.monitoring.checkpoint import claim
from tidings.spark.streaming.monitoring.figures import Watch
from tidings.spark.streaming.monitoring.metrics import serving
from tidings.spark.streaming.unit import ENDED, Notification
from waiting import PATIENCE

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def job(tmp_path: Path) -> FakeJob:
    """Two batches: three begin, one is told a change, one ends, one fails."""
    made = FakeJob(tmp_path)
    made.begin("urn:s:one", "urn:s:two", "urn:s:three")
    first = [Notification(f"urn:s:{name}", 0, 0, 0, ("o",), [('"1"',)], []) for name in ("one", "two", "three")]
    made.tell(Mark(5, 5_000_000), *first)
    made.tell(
        Mark(10, 10_000_000),
        Notification("urn:s:one", 1, 7, 7_000_000, ("o",), [("<urn:x>",), ('"a"@en',)], [('"1"',)]),
        Notification("urn:s:two", 1, 8, 8_000_000, ("o",), [], [], ENDED),
        Notification("urn:s:three", 1, 9, 9_000_000, ("o",), [], [], "its query failed: too long"),
    )
    return made


def stream(*words: object) -> int:
    return main(["stream", *map(str, words)])


def lines(captured: Captured) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in captured.readouterr().out.splitlines()]


def test_what_was_told_is_read_as_json_lines(job: FakeJob, capsys: Captured) -> None:
    assert stream("read", "--out", job.out) == 0
    told = lines(capsys)
    assert [(each["spuid"], each["sequence"]) for each in told] == [
        *(("urn:s:one", 0), ("urn:s:three", 0), ("urn:s:two", 0)),
        *(("urn:s:one", 1), ("urn:s:two", 1), ("urn:s:three", 1)),
    ]
    assert told[3] == {
        "spuid": "urn:s:one",
        "sequence": 1,
        "commit": 7,
        "time": 7_000_000,
        "added": [
            {"o": {"type": "uri", "value": "urn:x"}},
            {"o": {"type": "literal", "value": "a", "xml:lang": "en"}},
        ],
        "removed": [{"o": {"type": "literal", "value": "1"}}],
    }
    assert told[4]["reason"] == ENDED


def test_some_of_what_was_told_can_be_read(job: FakeJob, capsys: Captured) -> None:
    assert stream("read", "--out", job.out, "--after", 0, "--spuid", "urn:s:one", "--spuid", "urn:s:two") == 0
    assert [(each["spuid"], each["sequence"]) for each in lines(capsys)] == [("urn:s:one", 1), ("urn:s:two", 1)]


def test_who_follows_reads_what_comes_until_stopped(job: FakeJob) -> None:
    command = [sys.executable, "-m", "tidings", "stream", "read", "--out", str(job.out), "--follow", "--after", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        commits = [msgspec.json.decode(process.stdout.readline())["commit"] for _ in range(3)]
        job.tell(Mark(11, 11_000_000), Notification("urn:s:one", 2, 11, 11_000_000, ("o",), [], [("<urn:x>",)]))
        commits.append(msgspec.json.decode(process.stdout.readline())["commit"])
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert process.stdout.read() == ""
    assert commits == [7, 8, 9, 11]


def test_the_status_says_how_far_how_fast_and_how_large(job: FakeJob, tmp_path: Path, capsys: Captured) -> None:
    log = log_with(tmp_path / "data", history(1, 12))
    assert stream("status", "--checkpoint", job.checkpoint, "--log", log, "--json") == 0
    found = msgspec.json.decode(capsys.readouterr().out)
    end = origin_of(str(log)).end()
    assert (found["commit"], found["lag_commits"], found["batch"]) == (10, 2, 1)
    assert found["lag_seconds"] == pytest.approx((end.time - 10_000_000) / 1e6)
    assert (found["rows"], found["told"], found["partitions"]) == (30, 6, 2)
    assert found["batch_seconds"] == pytest.approx(2, abs=0.01)
    assert found["rows_per_second"] == pytest.approx(7.5, abs=0.1)
    assert found["told_per_second"] == pytest.approx(1.5, abs=0.1)
    assert (found["state_quads"], found["state_bytes"], found["units"]) == (30, 300, 3)
    assert found["failed"] == {"urn:s:three": "its query failed: too long"}
    assert found["members"] == 2
    assert {unit["some"][0]["spuid"] for unit in found["hottest"]} == {"urn:s:one", "urn:s:two", "urn:s:three"}
    assert found["hottest"][0]["some"][0]["query"].startswith("SELECT ?o")


def test_the_status_is_a_page_for_people(job: FakeJob, capsys: Captured) -> None:
    assert stream("status", "--checkpoint", job.checkpoint) == 0
    page = capsys.readouterr().out
    assert "commit 10, of 1970-01-01T00:00:10Z" in page
    assert "behind" not in page  # nobody said which log
    assert "2 in 3 units" in page
    assert "30 quads, 300 B, 2 partitions" in page
    assert "urn:s:three: its query failed: too long" in page


def test_a_tally_spares_reading_batches_again(job: FakeJob) -> None:
    watch = Watch(job.checkpoint, job.out)
    assert watch.look()
    watch.keep()
    before = watch.figures()
    for path in (job.out / "told").iterdir():
        path.unlink()
    again = Watch(job.checkpoint, job.out)
    assert not again.look()
    assert again.figures() == before
    (job.checkpoint / "tally.json").write_text("{")
    assert Watch(job.checkpoint, job.out).tally.batch == -1


def test_whoever_failed_and_begins_again_has_not_failed(job: FakeJob) -> None:
    watch = Watch(job.checkpoint, job.out)
    watch.look()
    job.tell(Mark(11, 11_000_000), Notification("urn:s:three", 0, 11, 11_000_000, ("o",), [], []))
    assert watch.look()
    assert watch.figures().failed == {}
    assert watch.figures().members == 3


def test_metrics_are_the_same_figures(job: FakeJob) -> None:
    watch = Watch(job.checkpoint, job.out)
    watch.look()
    with serving(0, watch.figures) as port:
        answer = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).text
    found = dict(line.rsplit(" ", 1) for line in answer.splitlines() if not line.startswith("#"))
    assert "tidings_stream_lag_commits" not in found
    for name, value in {
        "commit_sequence": 10,
        "rows_total": 30,
        "told_total": 6,
        "members": 2,
        "members_failed": 1,
        "units": 3,
        "state_bytes": 300,
        f'unit_rows{{unit="{job.units["urn:s:one"]}"}}': 10,
    }.items():
        assert float(found[f"tidings_stream_{name}"]) == value


RUN = "subscriptions --log data --subscriptions wanted.jsonl --checkpoint check --out told"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("subscriptions --log data --subscriptions wanted.jsonl --out told", "needs --checkpoint"),
        (f"{RUN} --to 3", "no use for --to"),
        ("read", "needs --out"),
        ("read --out nowhere", "nothing that was told"),
        ("read --out told --from 3", "no use for --from"),
        ("status --checkpoint check --spuid urn:s:one", "no use for --spuid"),
        ("rescale --checkpoint check", "needs --partitions"),
        ("replay --subscriptions wanted.jsonl --out new", "which history"),
        (f"{RUN} --metrics 70000", "--metrics"),
        (f"{RUN} --partitions 3", "has 2 partitions"),
    ],
)
def test_calls_that_make_no_sense(
    job: FakeJob, monkeypatch: pytest.MonkeyPatch, capsys: Captured, words: str, said: str
) -> None:
    log_with(job.folder / "data", history(1, 3))
    (job.folder / "wanted.jsonl").write_text('{"query": "ASK {}"}\n')
    monkeypatch.chdir(job.folder)
    assert stream(*words.split()) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (RUN.replace("data", "nowhere"), "nowhere"),
        (RUN.replace("wanted", "unwanted"), "unwanted.jsonl cannot be read"),
        (RUN.replace("wanted", "broken"), "broken.jsonl, line 1"),
        (f"{RUN} --lake data", "not a history lake"),
        ("status --checkpoint data", "no checkpoint of subscriptions"),
        ("rescale --checkpoint check --partitions 2", "2 partitions already"),
        ("rescale --checkpoint data --partitions 2", "no checkpoint of subscriptions"),
        ("replay --log data --subscriptions wanted.jsonl --out told", "empty or a new folder"),
        ("replay --log data --subscriptions wanted.jsonl --out new --from 2 --to 4", "commits up to 3"),
        ("replay --log data --subscriptions wanted.jsonl --out new --from 3 --to 2", "commits up to 3"),
        ("replay --lake data --subscriptions wanted.jsonl --out new", "not a history lake"),
    ],
)
def test_what_cannot_be_done_is_said_before_spark_is_started(
    job: FakeJob, monkeypatch: pytest.MonkeyPatch, capsys: Captured, words: str, said: str
) -> None:
    def unexpected(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "session", unexpected)
    log_with(job.folder / "data", history(1, 3))
    (job.folder / "wanted.jsonl").write_text('{"query": "ASK {}"}\n')
    (job.folder / "broken.jsonl").write_text('{"query": 1}\n')
    monkeypatch.chdir(job.folder)
    assert stream(*words.split()) == 1
    assert said in capsys.readouterr().err


def test_an_output_belongs_to_one_checkpoint(job: FakeJob) -> None:
    claim(job.checkpoint, job.out)
    with pytest.raises(CheckpointForeign, match="belongs to the output"):
        claim(job.checkpoint, job.folder / "elsewhere")
    fresh = job.folder / "fresh"
    fresh.mkdir()
    with pytest.raises(CheckpointForeign, match="has batch 1"):
        claim(fresh, job.out)
    assert not list(fresh.iterdir())


def test_a_batch_that_is_not_finished_cannot_be_rescaled(job: FakeJob, capsys: Captured) -> None:
    (job.checkpoint / "spark" / "commits" / "1").unlink()
    assert stream("rescale", "--checkpoint", job.checkpoint, "--partitions", 4) == 1
    assert "not finished" in capsys.readouterr().err
