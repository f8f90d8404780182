"""The systemd unit: verified by systemd's own tool, in agreement with the broker, and a broker that works inside it."""

import ctypes
import os
import shlex
import subprocess
import sys
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from deploy import sandbox
from deploy.places import DEPLOY, ROOT, run, seconds, tool, unit, unit_value, until
from gates.client import connected
from gates.wire import SERVE, Broker, serving
from plain import calls
from tidings.server import gates
from tidings.server.config import ENVIRONMENT, SETTINGS, read_settings
from waiting import PATIENCE, asynchronous

SERVICE = DEPLOY / "systemd" / "tidings.service"
EXPOSURE = 15
"""Tenths of systemd's figure for what a service could do if it wanted to: 100 is everything, 15 is little."""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The unit, for a broker that is installed here, beside what every system has; nothing else of this one counts."""
    monkeypatch.setenv("SYSTEMD_UNIT_PATH", str(tmp_path))
    for target in ("sysinit", "basic", "shutdown", "network", "multi-user"):
        (tmp_path / f"{target}.target").write_text(f"[Unit]\nDescription={target}\n")
    text = SERVICE.read_text()
    assert "/opt/tidings/bin/tidings" in text
    copy = tmp_path / "tidings.service"
    copy.write_text(text.replace("/opt/tidings/bin/tidings", str(Path(sys.executable))))
    return copy


# -- the unit ---------------------------------------------------------------------------------------------------


def test_the_unit_passes_the_check_of_systemd_without_a_word(installed: Path) -> None:
    assert run(tool("systemd-analyze"), "verify", "--man=no", installed) == ""


def test_the_check_of_systemd_would_complain(installed: Path) -> None:
    installed.write_text(installed.read_text().replace("Type=exec", "Type=exotic\nNonsense=yes"))
    done = subprocess.run(
        [tool("systemd-analyze"), "verify", "--man=no", installed],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "exotic" in done.stderr
    assert "Nonsense" in done.stderr


def test_the_service_can_do_little_besides_being_a_broker(installed: Path) -> None:
    command = (tool("systemd-analyze"), "security", "--offline=yes", "--no-pager", f"--threshold={EXPOSURE}", installed)
    assert "exposure level for tidings.service" in run(*command)
    installed.write_text("".join(line for line in installed.read_text().splitlines(True) if "Protect" not in line))
    with pytest.raises(AssertionError, match=r"exposure level for tidings\.service"):
        run(*command)


def test_the_service_listens_on_this_machine_and_has_settings_that_exist() -> None:
    given = dict(pair.split("=", 1) for name, value in unit() if name == "Environment" for pair in shlex.split(value))
    assert given.keys() <= {ENVIRONMENT + setting.name.upper() for setting in SETTINGS}
    settings = read_settings({}, given)
    assert settings.host == "127.0.0.1"
    assert settings.data == f"/var/lib/{unit_value('StateDirectory')}" == unit_value("WorkingDirectory")


def test_the_service_lets_a_broker_end_in_its_own_time_and_open_as_many_files_as_it_may_have_connections() -> None:
    settings = read_settings({}, {})
    assert seconds(unit_value("TimeoutStopSec")) > 2 * gates.LAST_SECONDS + 5
    assert int(unit_value("LimitNOFILE")) > settings.max_connections + settings.max_requests + 1000
    assert unit_value("KillMode") == "mixed"  # forks belong to the broker


@pytest.mark.server
def test_a_setting_that_makes_no_sense_is_no_reason_to_try_again(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tidings", "serve"], cwd=tmp_path, env=os.environ | {"TIDINGS_MAX_QUEUE": "many"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert str(done.returncode) == unit_value("RestartPreventExitStatus")


# -- a broker inside it -----------------------------------------------------------------------------------------


@cache
def groups() -> dict[str, set[str]]:
    """The names of system calls that systemd gives to groups of them."""
    found: dict[str, set[str]] = {}
    lines = iter(run(tool("systemd-analyze"), "syscall-filter", "--no-pager").splitlines())
    for line in lines:
        if line.startswith("@"):
            members = (member.strip() for member in takewhile(bool, lines))
            found[line.strip()] = {member for member in members if not member.startswith("#")}
    return found


def calls_of(name: str) -> set[str]:
    if not name.startswith("@"):
        return {name}
    return set().union(*map(calls_of, groups()[name]))


def granted() -> set[str]:
    """The system calls of the unit: each line adds to them, or takes away."""
    calls: set[str] = set()
    for value in (value for name, value in unit() if name == "SystemCallFilter"):
        named = set().union(*map(calls_of, value.removeprefix("~").split()))
        calls = calls - named if value.startswith("~") else calls | named
    return calls


def libseccomp() -> str:
    """The library that systemd has such filters from: where systemd is, it is."""
    unpacked = (ROOT / ".venv" / "tools" / "systemd").rglob("libseccomp.so.2")
    for path in ("libseccomp.so.2", *map(str, unpacked)):
        try:
            ctypes.CDLL(path)
        except OSError:
            continue
        return path
    pytest.fail("there is no libseccomp.so.2, without which no system call can be refused", pytrace=False)


def confined(calls: set[str]) -> tuple[str, ...]:
    return (str(Path(sandbox.__file__)), libseccomp(), ",".join(sorted(calls)), sys.executable)


def test_the_unit_grants_what_a_service_needs_and_no_more() -> None:
    assert granted() >= {"fork", "fsync", "prctl", "setpriority", "accept4", "epoll_wait"}
    assert not granted() & {"mount", "ptrace", "reboot", "chown", "setuid", "bpf", "init_module"}


@pytest.mark.server
@asynchronous
async def test_a_broker_works_with_the_rights_of_the_unit_and_ends_well(tmp_path: Path) -> None:
    """One that hands every long query to a fork, and writes a snapshot every second."""
    assert ("MemoryDenyWriteExecute", "yes") in unit()
    program = (*confined(granted()), *SERVE, "--snapshot-every", "1", "--slice", "0.000001")
    with serving(tmp_path, program=program) as broker:
        async with connected(broker) as socket:
            follower = await socket.follow("SELECT ?o WHERE { ?s <http://e/p> ?o }")
            broker.update("INSERT DATA { <http://e/a> <http://e/p> 1 }")
            await follower.hear()
            assert follower.answer == {("1",): 1}
        assert len(broker.query("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o . ?t ?q ?r . ?u ?v ?w }")) == 1
        until(lambda: status(broker)["log"]["snapshot"] > 0, "a snapshot")
        assert status(broker)["queries"]["aside"] == 1
        assert status(broker)["memory"]["resident"] > 0
        assert broker.stop() == 0


def status(broker: Broker) -> Any:
    return calls.get(f"{broker.http}/status", timeout=PATIENCE).json()


def test_memory_that_is_writable_and_executable_is_refused() -> None:
    asking = ("-c", "import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)")
    run(sys.executable, *asking)
    with pytest.raises(AssertionError, match="Operation not permitted"):
        run(sys.executable, *confined(granted()), *asking)


@pytest.mark.server
def test_a_broker_notices_what_is_refused(tmp_path: Path) -> None:
    program = (*confined(granted() - {"fsync", "fdatasync"}), *SERVE)
    with pytest.raises(AssertionError, match="ended with code"), serving(tmp_path, program=program):
        pass
