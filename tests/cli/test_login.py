"""Commands at a broker that asks everybody who they are: `tidings login`, options, the environment."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.calls import run
from cli.shell import EXAMPLES, command_of, shell
from gates.wire import Broker, serving
from ports import free_port
from tidings.cli import main
from tidings.client.login.environment import login_path
from tidings.client.login.kept import read_kept
from tls.house import Certificates

pytestmark = pytest.mark.server
Captured = pytest.CaptureFixture[str]
ASK = ["query", "--format", "csv", "SELECT ?o { <urn:s> <urn:p> ?o }"]
CHAT = {
    "host": "127.0.0.1",
    "updates": {"SAY": {"sparql": "INSERT DATA { <urn:s> <urn:said> 'hello' }"}},
    "queries": {"SAID": {"sparql": "SELECT ?o { <urn:s> <urn:said> ?o }"}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the broker runs."""
    return tmp_path_factory.mktemp("secured")


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Broker]:
    with serving(folder, "--secure", "--registration", "lamp-*") as broker:
        yield broker


@pytest.fixture
def broker(running: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Broker:
    """As the environment names it; nobody is logged in."""
    monkeypatch.setenv("TIDINGS_HTTP", running.http)
    monkeypatch.setenv("TIDINGS_WS", running.ws)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return running


@pytest.fixture
def secret_file(folder: Path, running: Broker) -> str:
    return str(folder / "tidings-data" / "admin.secret")


def test_one_who_has_not_logged_in_is_told_how(broker: Broker, capsys: Captured) -> None:
    assert main(ASK) == 1
    assert "tidings login" in capsys.readouterr().err
    assert main(["subscribe", "--count", "1", "SELECT ?o { ?s ?p ?o }"]) == 1
    assert "tidings login" in capsys.readouterr().err


def test_one_login_is_for_all_commands(broker: Broker, secret_file: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["login", "--id", "admin", "--secret-file", secret_file]) == 0
    assert capsys.readouterr().out.startswith(f"logged in to {broker.http} as admin")
    path = login_path(broker.http)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    (tmp_path / "data.nt").write_text('<urn:s> <urn:p> "2" .\n')
    (tmp_path / "chat.jsap").write_text(
        json.dumps(
            CHAT
            | {
                "sparql11protocol": {"port": broker.http_port},
                "sparql11seprotocol": {"availableProtocols": {"ws": {"port": broker.ws_port}}},
            }
        )
    )
    token = read_kept(path)
    for call in (
        ["update", "INSERT DATA { <urn:s> <urn:p> '1' }"],
        ["load", "--quiet", "data.nt"],
        ASK,
        ["dump", "--output", "dump.nq"],
        ["status"],
        ["subscriptions"],
        ["update", "--delay", "3600", "INSERT DATA { <urn:s> <urn:p> '3' }"],
        ["delayed"],
        ["log"],
        ["explain", "SELECT ?o { <urn:s> <urn:p> ?o }"],
        ["subscribe", "--count", "1", "SELECT ?o { <urn:s> <urn:p> ?o }"],
        ["agents", "chat.jsap", "produce", "SAY"],
        ["agents", "chat.jsap", "consume", "SAID", "--count", "1"],
    ):
        assert main(call) == 0, (call, capsys.readouterr().err)
    assert read_kept(path) == token  # one was enough
    said = capsys.readouterr()
    assert token is not None
    assert not any(hidden in said.out + said.err for hidden in (token.client_secret, str(token.token)))
    assert main(["logout"]) == 0
    assert not path.exists()
    assert main(ASK) == 1
    assert main([*ASK, "--token", str(token.token)]) == 1  # it was revoked
    assert main(["logout"]) == 2


def test_a_token_that_is_due_is_replaced_and_kept(broker: Broker, secret_file: str) -> None:
    """In processes of their own: within one, a token is remembered."""
    assert run("login", "--id", "admin", stdin=Path(secret_file).read_text()).returncode == 0
    path = login_path(broker.http)
    first = json.loads(path.read_bytes())
    assert [run(*ASK).returncode for _ in range(2)] == [0, 0]
    assert json.loads(path.read_bytes()) == first
    path.write_text(json.dumps(first | {"due": 1.0}))
    assert run(*ASK).returncode == 0
    assert json.loads(path.read_bytes())["token"] != first["token"]
    path.write_text(json.dumps(first | {"token": "e30.e30.e30"}))
    refused = run(*ASK)
    assert (refused.returncode, "tidings login" in refused.stderr) == (1, True)


def test_a_wrong_secret_is_refused_and_not_kept(broker: Broker, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "secret").write_text("hush-hush\n")
    assert main(["login", "--id", "admin", "--secret-file", "secret"]) == 1
    assert capsys.readouterr().err == "tidings: error: the client is not known, or its secret is wrong\n"
    assert not login_path(broker.http).exists()
    assert main(["login", "--id", "admin", "--secret-file", "nowhere"]) == 2
    assert run("login", "--secret-file", "secret").returncode == 2  # whose?


def test_an_identity_registers_and_nobody_sees_its_secret(broker: Broker, capsys: Captured) -> None:
    assert main(["login", "--id", "lamp-1", "--register"]) == 0
    kept = read_kept(login_path(broker.http))
    assert kept is not None
    assert kept.client_id == "lamp-1"
    assert kept.client_secret not in capsys.readouterr().out
    assert main(["login", "--id", "lamp-2", "--register"]) == 2  # somebody is logged in
    assert main(["logout"]) == 0
    assert main(["login", "--id", "intruder", "--register"]) == 1
    assert capsys.readouterr().err.endswith("tidings: error: the identity intruder may not register\n")
    assert not login_path(broker.http).exists()


def test_options_come_before_the_environment(
    broker: Broker, secret_file: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = Path(secret_file).read_text().strip()
    assert main([*ASK, "--client-id", "admin", "--client-secret-file", secret_file]) == 0
    assert main([*ASK, "--client-id", "admin"]) == 2
    assert main([*ASK, "--client-secret-file", secret_file]) == 2
    assert main([*ASK, "--token", "x", "--client-id", "admin"]) == 2
    assert main([*ASK, "--token", "not a token"]) == 1
    monkeypatch.setenv("TIDINGS_CLIENT_ID", "admin")
    assert main(ASK) == 1
    monkeypatch.setenv("TIDINGS_CLIENT_SECRET", secret)
    assert main(ASK) == 0
    monkeypatch.setenv("TIDINGS_TOKEN", "e30.e30.e30")
    assert main(ASK) == 1
    assert main([*ASK, "--client-id", "admin"]) == 0
    monkeypatch.delenv("TIDINGS_TOKEN")
    monkeypatch.delenv("TIDINGS_CLIENT_ID")
    monkeypatch.delenv("TIDINGS_CLIENT_SECRET")
    (Path.cwd() / "kept.json").write_text(json.dumps({"client_id": "admin", "client_secret": secret}))
    monkeypatch.setenv("TIDINGS_CREDENTIALS", "kept.json")
    assert main(ASK) == 0
    said = capsys.readouterr()
    assert secret not in said.out + said.err


def test_a_login_is_for_one_broker(broker: Broker, secret_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["login", "--id", "admin", "--secret-file", secret_file]) == 0
    assert main(ASK) == 0
    monkeypatch.setenv("TIDINGS_HTTP", broker.http.replace("127.0.0.1", "localhost"))
    assert main(ASK) == 1
    assert login_path("ws://host:9443/subscribe") != login_path("wss://host:9443/subscribe")
    assert login_path("wss://host:9443/subscribe") == login_path("https://host:8443/sparql")


def test_whoever_is_on_the_way_is_warned_of(broker: Broker, capsys: Captured) -> None:
    assert main(["login", "--http", "http://192.0.2.1:1", "--id", "x", "--secret-file", "nowhere"]) == 2
    assert "not encrypted" in capsys.readouterr().err
    assert main(["login", "--http", "https://192.0.2.1:1", "--id", "x", "--secret-file", "nowhere"]) == 2
    assert "not encrypted" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["login", "logout"])
def test_every_example_of_the_help_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    certificates = Certificates.made(tmp_path / "tidings-certificates")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    port = free_port()
    flags = ("--secure", "--registration", "lamp-*", *certificates.flags, "--https-port", str(port))
    with serving(tmp_path, *flags) as broker:
        login = f"tidings login --id admin --secret-file tidings-data/admin.secret --http {broker.http}"
        assert shell(login, tmp_path, broker).returncode == 0
        secure = login.replace(broker.http, f"https://localhost:{port} --ca tidings-certificates/ca.pem")
        if name == "logout":
            assert shell(secure, tmp_path, broker).returncode == 0
        for example in (line for line in EXAMPLES if command_of(line) == name):
            done = shell(example.replace(":8443", f":{port}"), tmp_path, broker)
            assert done.returncode == 0, done.stderr
