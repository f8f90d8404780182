"""What commands that take long say while somebody waits."""

import re
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.calls import Captured
from tidings.cli.history.ingest import beginning as ingesting
from tidings.cli.history.lakes import session_for
from tidings.cli.stream import read as stream_read
from tidings.cli.stream.run import beginning as streaming
from tidings.spark import session


def arguments(*, quiet: bool = False, **given: object) -> Namespace:
    return Namespace(
        **{"action": "query", "master": None, "memory": None, "wait": 1.0, "quiet": quiet, "follow": True} | given
    )


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "running", lambda: None)
    monkeypatch.setattr(session, "session", lambda *_, **__: SimpleNamespace(stop=lambda: None))
    monkeypatch.setattr(session, "translated", nullcontext)


@pytest.mark.usefixtures("no_spark")
def test_whoever_waits_for_spark_is_told_so_and_what_comes_next(capsys: Captured) -> None:
    with session_for(arguments()):
        pass
    begun, ready = capsys.readouterr().err.splitlines()
    assert begun == "tidings: starting Spark with the master local[*]"
    assert re.fullmatch(r"tidings: Spark runs after \d+ s; evaluating the query", ready)
    with session_for(arguments(quiet=True)):
        pass
    assert capsys.readouterr().err == ""


def test_who_follows_is_told_what_is_awaited() -> None:
    assert ingesting(3, 1000, follow=False) == "the lake has 3 commits, and the log 1,000"
    assert ingesting(9, 9, follow=True).endswith("the log 9; waiting for more, until Ctrl+C")
    assert streaming(1, 7, follow=False) == "1 subscription, and a log of 7 commits"
    assert "then every commit, until Ctrl+C" in streaming(2, 7, follow=True)


def test_who_reads_what_nobody_has_written_yet_is_told_so(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_read, "stopping", lambda stop: nullcontext(stop.set()))
    stream_read.read(arguments(out=tmp_path / "told", spuid=[], after=None))
    assert capsys.readouterr().err.startswith(f"tidings: nothing was told to {tmp_path / 'told'} yet; waiting for")
