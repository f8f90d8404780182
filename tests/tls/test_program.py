"""`tidings serve` with TLS as a process of its own, and commands that are told whom to trust."""

from pathlib import Path

import pytest

from gates.wire import serving
from ports import free_port
from tidings.cli import main
from tls.house import Certificates

pytestmark = pytest.mark.server
Captured = pytest.CaptureFixture[str]


def test_commands_over_tls(
    certificates: Certificates, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = str(free_port())
    ports = ("--https-port", port, "--wss-port", port)
    with serving(tmp_path, *certificates.flags, *ports, "--tls-client-ca", str(certificates.ca)) as broker:
        there = ("--http", f"https://localhost:{port}", "--ca", str(certificates.ca))
        capsys.readouterr()
        assert main(["query", *there, "ASK {}"]) == 1  # without a certificate
        monkeypatch.setenv("TIDINGS_CERTIFICATE", str(certificates.client.certificate))
        monkeypatch.setenv("TIDINGS_KEY", str(certificates.client.key))
        assert main(["update", *there, "INSERT DATA { <http://e/s> <http://e/p> 1 }"]) == 0
        assert main(["query", *there, "--format", "csv", "SELECT ?o { ?s ?p ?o }"]) == 0
        assert main(["subscribe", *there, "--count", "1", "SELECT ?o { ?s ?p ?o }"]) == 0
        assert main(["status", *there]) == 0
        said = capsys.readouterr().out
        assert said.splitlines()[1:3] == ["o", "1"]
        monkeypatch.setenv("TIDINGS_CA", str(certificates.ca))
        assert main(["query", "--http", f"https://localhost:{port}", "ASK {}"]) == 0
        monkeypatch.delenv("TIDINGS_CA")
        assert main(["query", "--http", f"https://localhost:{port}", "ASK {}"]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"tidings: error: the certificate of https://localhost:{port} is not accepted: ")
        assert said.endswith("; --ca FILE names the authorities to trust\n")
        assert broker.update("CLEAR ALL")["removed"] == 1  # from this machine, without TLS


def test_a_broker_that_cannot_use_its_certificate_says_so_and_does_not_start(
    certificates: Certificates, foreign: Certificates, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = ("--tls-certificate", str(certificates.server.certificate), "--tls-key", str(foreign.server.key))
    assert main(["serve", *files]) == 1
    assert "the key is of another certificate" in capsys.readouterr().err
    assert not (tmp_path / "tidings-data").exists()
