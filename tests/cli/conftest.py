"""A folder for commands that read files, and one broker for all tests of commands that talk to one; each begins with
nothing in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.calls import DATA
from gates.wire import Broker, serving


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
def broker(running: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Broker:
    """The broker, as the environment names it, and an empty folder to be in."""
    running.update("CLEAR ALL")
    monkeypatch.setenv("TIDINGS_HTTP", running.http)
    monkeypatch.setenv("TIDINGS_WS", running.ws)
    monkeypatch.chdir(tmp_path)
    return running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a little data, to be in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.ttl").write_text(DATA)
    return tmp_path
