"""An endpoint that answers as it should not, or asks who it is."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tidings.endpoint.connection import Address, Connection, Scheme, read_secret
from tidings.model.errors import AnswerTooLarge, BadRequest, EndpointAway, EndpointRefused
from waiting import PATIENCE, asynchronous

WHO = ": say with endpoint_auth and endpoint_secret who the broker is, and that it may write there"
JSON = "application/sparql-results+json"


class Stub:
    """What it answers: a status, a media type and a body. What it was shown: the last Authorization."""

    def __init__(self) -> None:
        self.answer: tuple[int, str, bytes] = (200, JSON, b"{}")
        self.challenge = ""
        self.shown: list[str] = []
        self.url = ""


@contextmanager
def stub() -> Iterator[Stub]:
    made = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", "0")))
            shown = self.headers.get("authorization", "")
            made.shown.append(shown)
            status, media_type, body = made.answer
            if made.challenge and not shown:
                status, body = 401, b""
            self.send_response(status)
            if status == 401:
                self.send_header("www-authenticate", made.challenge)
            self.send_header("content-type", media_type)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_address[1]}/sparql"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield made
        server.shutdown()
        thread.join()


@asynchronous
async def test_what_is_no_answer_counts_as_away_and_a_no_as_a_refusal() -> None:
    with stub() as there:
        async with Connection(Address(there.url, there.url), seconds=PATIENCE) as connection:
            for answer in (
                (204, "", b""), (200, "text/html", b"<html>"), (200, JSON, b'{"head":{'),
                (200, JSON, b'{"boolean": true}'), (503, "text/plain", b"later"), (429, "text/plain", b"too many"),
                (502, "text/html", b"<html>"),
            ):  # fmt: skip
                there.answer = answer
                with pytest.raises(EndpointAway):
                    await connection.rows("SELECT * {}")
            there.answer = (200, "text/turtle", b"<a> <b> <c> .")
            with pytest.raises(EndpointAway, match="not N-Triples"):
                await connection.triples("CONSTRUCT {} {}")
            for status in (400, 403, 404, 500):
                there.answer = (status, "text/plain", b"no")
                with pytest.raises(EndpointRefused, match="no") as refusal:
                    await connection.update("INSERT DATA {}")
                assert ("endpoint_auth" in str(refusal.value)) is (status == 403)
            for status in (301, 401):
                there.answer = (status, "text/html", b"<html>")
                with pytest.raises(EndpointRefused) as refusal:
                    await connection.update("INSERT DATA {}")
                assert "broker" not in str(refusal.value).removesuffix(WHO), "it need not be one"
                assert (WHO in str(refusal.value)) is (status == 401)
            for status in (200, 204):
                there.answer = (status, "text/html", b"" if status == 204 else b"done")
                await connection.update("INSERT DATA {}")
        with pytest.raises(EndpointAway, match="stopping"):
            await connection.rows("SELECT * {}")


@asynchronous
async def test_virtuoso_may_answer_ask_with_a_row() -> None:
    with stub() as there:
        async with Connection(Address(there.url, there.url), seconds=PATIENCE) as connection:
            for number in (0, 1):
                row = b'{"__ASK_RETVAL": {"type": "typed-literal", "value": "%d"}}' % number
                there.answer = (200, JSON, b'{"head": {"vars": ["__ASK_RETVAL"]}, "results": {"bindings": [%b]}}' % row)
                assert await connection.boolean("ASK {}") is bool(number)
            there.answer = (200, JSON, b'{"head": {"vars": ["s"]}, "results": {"bindings": []}}')
            with pytest.raises(EndpointAway):
                await connection.boolean("ASK {}")


@asynchronous
async def test_no_more_is_read_than_an_answer_may_have() -> None:
    body = b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"literal","value":"x"}}]}}'
    with stub() as there:
        async with Connection(Address(there.url, there.url), seconds=PATIENCE) as connection:
            there.answer = (200, JSON, body)
            assert await connection.rows("SELECT * {}", len(body)) == [('"x"',)]
            with pytest.raises(AnswerTooLarge):
                await connection.rows("SELECT * {}", len(body) - 1)
            there.answer = (200, "application/n-triples", b"<urn:s> <urn:p> <urn:o> .\n" * 100_000)
            with pytest.raises(AnswerTooLarge):
                await connection.triples("CONSTRUCT {} {}", 1000)
            there.answer = (400, "text/plain", b"no")
            with pytest.raises(EndpointRefused, match="no"):
                await connection.rows("SELECT * {}", 1000)


@asynchronous
async def test_the_broker_shows_who_it_is_as_it_was_told(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("who:pass word\n")
    secret = read_secret(tmp_path / "secret")
    schemes: list[tuple[Scheme, str, str]] = [
        ("none", "", ""),
        ("basic", "", "Basic d2hvOnBhc3Mgd29yZA=="),
        ("digest", 'Digest realm="r", nonce="n", qop="auth", algorithm="MD5"', 'Digest username="who", realm="r"'),
        ("bearer", "", "Bearer who:pass word"),
    ]
    with stub() as there:
        for scheme, challenge, expected in schemes:
            there.challenge = challenge
            async with Connection(Address(there.url, there.url, scheme, secret), seconds=PATIENCE) as connection:
                await connection.update("INSERT DATA {}")
            assert there.shown[-1].startswith(expected)
            assert secret not in repr(Address(there.url, there.url, scheme, secret))
    (tmp_path / "secret").write_text("who:pass\r\nword\n")
    with pytest.raises(BadRequest, match="one line"):
        read_secret(tmp_path / "secret")
    with pytest.raises(BadRequest, match="cannot be read"):
        read_secret(tmp_path / "missing")
