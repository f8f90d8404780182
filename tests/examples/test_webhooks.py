"""The receiver of the examples, at a real broker."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gates.wire import serving
from plain import calls
from ports import free_port
from waiting import PATIENCE, wait_until

RECEIVER = Path(__file__).parents[2] / "examples" / "webhooks" / "receiver.py"


@pytest.mark.server
def test_the_receiver_verifies_what_it_shows_and_takes_its_hook_with_it(tmp_path: Path) -> None:
    port = free_port()
    flags = ("--memory", "--webhook-hosts", f"127.0.0.1:{port}", "--webhook-networks", "127.0.0.1")
    with serving(tmp_path, *flags) as broker:
        command = [sys.executable, str(RECEIVER), "--broker", broker.http, "--port", str(port), "--query"]
        with subprocess.Popen([*command, "SELECT ?o { <a> <b> ?o }"], stdout=subprocess.PIPE, text=True) as receiver:
            assert receiver.stdout is not None
            assert "the hook is" in receiver.stdout.readline()
            broker.update('INSERT DATA { <a> <b> "on" }')
            assert receiver.stdout.readline() == "+ o=on\n"
            forged = calls.post(f"http://127.0.0.1:{port}/", content=b"{}", headers={"webhook-id": "x"})
            assert forged.status_code == 401
            receiver.send_signal(signal.SIGINT)
            assert receiver.wait(PATIENCE) == 0
        wait_until(lambda: calls.get(f"{broker.http}/webhooks").json()["total"] == 0)
