"""What `tidings status` says of a broker that refuses updates: how it is, and then why."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from cli.calls import Captured
from gates.wire import Broker
from plain import calls
from tidings.cli import main
from tidings.log.errors import LogBroken

pytestmark = pytest.mark.server


def broken_status(capsys: Captured, broker: Broker, *options: str) -> str:
    """What is said of a broker that has everything of this one, and cannot write its log any more."""
    status = calls.get(f"{broker.http}/status").json()
    status["log"] |= {"broken": True, "failures": 2}
    broken = LogBroken()
    with answering({"/status": (200, status), "/healthz": (broken.status, broken.to_json())}) as address:
        assert main(["status", "--http", address, *options]) == 1
    out, err = capsys.readouterr()
    assert err == f"tidings: error: {broken}\n"
    return out


def test_people_see_how_many_writes_have_failed(capsys: Captured, broker: Broker) -> None:
    assert ", 2 writes failed; BROKEN\n" in broken_status(capsys, broker)


def test_programs_get_the_whole_document(capsys: Captured, broker: Broker) -> None:
    assert json.loads(broken_status(capsys, broker, "--json"))["log"]["broken"] is True


@contextmanager
def answering(answers: dict[str, tuple[int, object]]) -> Iterator[str]:
    """A server that has an answer for each path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, document = answers[self.path]
            body = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
