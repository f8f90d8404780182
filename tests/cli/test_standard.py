"""Commands whose stdout or stderr is closed, or is on a disk that is full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plain import calls
from ports import free_ports
from waiting import PATIENCE

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")


def tidings(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    script = f"exec '{sys.executable}' -m tidings {line}"
    return subprocess.run(
        ["sh", "-c", script], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize("call", ["city --factor 0.001", "query -q --empty 'ASK {}'", "completion bash"])
def test_a_full_disk_behind_stdout_is_told_in_a_line(folder: Path, call: str) -> None:
    done = tidings(f"{call} > {FULL}", folder)
    assert done.returncode == 1
    assert done.stderr == "tidings: error: stdout cannot be written: No space left on device\n"


def test_a_command_whose_stdout_is_closed_does_what_it_is_called_for(folder: Path) -> None:
    done = tidings("update --data data.ttl --output out.nq 'CLEAR ALL' >&-", folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert (folder / "out.nq").read_bytes() == b""


def test_no_error_goes_to_stdout_when_stderr_is_closed(folder: Path) -> None:
    done = tidings("query --empty nonsense 2>&-", folder)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.server
def test_a_broker_starts_although_its_greeting_cannot_be_written(tmp_path: Path) -> None:
    http, ws = free_ports(2)
    program = [sys.executable, "-m", "tidings", "serve", "--memory", "--http-port", str(http), "--ws-port", str(ws)]
    with FULL.open("w") as full, subprocess.Popen(
        program, cwd=tmp_path, env=os.environ, stdout=full, stderr=subprocess.PIPE, text=True
    ) as broker:  # fmt: skip
        try:
            assert broker.stderr is not None
            assert "cannot be written to stdout: No space left on device" in broker.stderr.readline()
            assert calls.get(f"http://127.0.0.1:{http}/healthz").status_code == 200
            broker.terminate()
            assert broker.wait(PATIENCE) == 0
        finally:
            broker.kill()
