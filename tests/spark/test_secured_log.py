"""The log of a broker that asks everybody who they are, for Spark: its tasks are who their environment says."""

import os
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest

from forking.process import Forked
from gates.wire import Broker, serving
from spark.killing import quickly
from tidings.client.http import HttpClient
from tidings.client.login.credentials import Credentials
from tidings.spark.errors import FeedFailed
from tidings.spark.log_source.broker_origin import BrokerOrigin
from tidings.spark.session import _lent
from tidings.spark.streaming.subscriptions.requests import BrokerRequests
from waiting import WHOLE, wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secured")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Broker]:
    with serving(folder, "--secure") as running:
        with HttpClient(running.http, credentials=Credentials("admin", secret_of(folder))) as calls:
            for number in range(3):
                calls.json("/update", "POST", form={"update": f"INSERT DATA {{ <urn:s> <urn:p> {number} }}"})
        yield running


def secret_of(folder: Path) -> str:
    return (folder / "tidings-data" / "admin.secret").read_text().strip()


@pytest.mark.server
def test_a_log_is_read_by_whoever_the_environment_says(
    broker: Broker, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for read in (BrokerOrigin(broker.http).end, BrokerRequests(broker.http).read):
        with pytest.raises(FeedFailed, match="there is no token"):
            read()
    monkeypatch.setenv("TIDINGS_CLIENT_ID", "admin")
    monkeypatch.setenv("TIDINGS_CLIENT_SECRET", secret_of(folder))
    end = BrokerOrigin(broker.http).end()
    assert end.commit == 3
    assert [entry.commit for entry in BrokerOrigin(broker.http).commits(0, 3)] == [1, 2, 3]
    assert BrokerRequests(broker.http).read() == {}
    audit = folder / "tidings-data" / "audit.jsonl"
    wait_until(lambda: audit.exists() and "GET /" in audit.read_text())  # the refusals, which came first
    logins = audit.read_text().count('"what":"token"')
    assert logins <= 2  # of the fixture, and of this process: all that read share one


def test_workers_elsewhere_are_lent_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDINGS_TOKEN", "abc")
    monkeypatch.delenv("TIDINGS_CA", raising=False)
    assert _lent("spark://master:7077") == {"spark.executorEnv.TIDINGS_TOKEN": "abc"}
    assert _lent("local[2]") == {}


@pytest.mark.spark
def test_history_is_ingested_from_a_broker_that_asks_who_it_is(broker: Broker, folder: Path, tmp_path: Path) -> None:
    secret = folder / "tidings-data" / "admin.secret"
    lake = tmp_path / "lake"
    call = ["history", "ingest", "--log", broker.http, "--lake", str(lake), "--client-id", "admin"]
    environment = os.environ | quickly() | {"XDG_CONFIG_HOME": str(tmp_path)}

    def run(*more: str) -> tuple[int, str, str]:
        with Forked(*call, *more, env=environment, stdout=PIPE, stderr=PIPE) as process:
            out, err = process.communicate(timeout=WHOLE)
        return process.wait(), out, err

    code, out, err = run("--client-secret-file", str(secret))
    assert code == 0, err
    assert "the lake has 3 commits" in err
    kept = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert kept
    assert not any(secret.read_bytes().strip() in each for each in kept)
    call[-1] = "nobody"
    code, _, refused = run("--client-secret-file", str(secret))
    assert code == 1
    assert "its secret is wrong" in refused
    assert secret.read_text().strip() not in refused + out
