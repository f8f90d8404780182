"""`tidings certificates`: what it makes, what it says, and what it leaves alone."""

import ssl
from pathlib import Path

import pytest
from cryptography import x509

from tidings import cli
from tidings.server.security.certificates import default_names
from tls.house import Certificates, mode_of


def call(folder: Path, *arguments: str) -> int:
    return cli.main(["certificates", "--folder", str(folder), *arguments])


def names_of(path: Path) -> set[str]:
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(each.value) for each in found}


def test_the_certificate_is_for_this_machine_unless_others_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(tmp_path / "here") == 0
    assert names_of(tmp_path / "here" / "server.pem") == set(default_names())
    assert {"localhost", "127.0.0.1", "::1"} <= set(default_names())
    assert call(tmp_path / "there", "broker.example.org", "192.0.2.7", "[2001:db8::1]", "--days", "3") == 0
    assert names_of(tmp_path / "there" / "server.pem") == {"broker.example.org", "192.0.2.7", "2001:db8::1"}
    said = capsys.readouterr().out
    assert f"--tls-certificate {tmp_path}/there/server.pem --tls-key {tmp_path}/there/server-key.pem" in said
    assert f"curl --cacert {tmp_path}/there/ca.pem https://broker.example.org:8443/status" in said


def test_keys_are_for_their_owner_alone(certificates: Certificates) -> None:
    keys = sorted(certificates.folder.glob("*-key.pem"))
    assert len(keys) == 3
    assert {mode_of(key) for key in keys} == {0o600}
    assert mode_of(certificates.folder) == 0o700


def test_nothing_is_overwritten(own: Certificates, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in own.folder.iterdir()}
    assert call(own.folder) == 1
    assert call(own.folder, "--client", "lamp-7") == 1
    assert "is there already" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in own.folder.iterdir()} == before


def test_the_authority_of_a_folder_signs_what_comes_later(own: Certificates) -> None:
    own.server.certificate.unlink()
    own.server.key.unlink()
    authority = own.ca.read_bytes()
    assert call(own.folder, "later.example.org") == 0
    assert own.ca.read_bytes() == authority
    signer = x509.load_pem_x509_certificate(authority)
    x509.load_pem_x509_certificate(own.server.certificate.read_bytes()).verify_directly_issued_by(signer)


def test_certificates_stand_the_strict_reading_of_the_standard(certificates: Certificates) -> None:
    """RFC 5280, as newer versions of Python check it by default."""
    context = certificates.context
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificates.server.certificate, certificates.server.key)
    assert shake_hands(context, server) == "TLSv1.3"


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext) -> str | None:
    """Between the two, without a network."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    caller = client.wrap_bio(back, there, server_hostname="localhost")
    called = server.wrap_bio(there, back, server_side=True)
    waiting = [caller, called]
    for _ in range(10):
        for each in list(waiting):
            try:
                each.do_handshake()
                waiting.remove(each)
            except ssl.SSLWantReadError:
                continue
    assert not waiting
    return caller.version()


@pytest.mark.parametrize("name", ["https://broker.example.org", "broker:8443", "a name", "", "x" * 300])
def test_what_is_no_name_of_a_machine_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(tmp_path / "x", name) == 1
    assert "is no name of a machine" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_client_has_one_name_and_a_folder_is_not_left_by_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(tmp_path / "x", "localhost", "--client", "lamp") == 2
    assert call(tmp_path / "x", "--client", "") == 1
    assert call(tmp_path / "x", "--client", "../../lamp 7") == 0
    assert (tmp_path / "x" / "client-.._.._lamp_7.pem").exists()
    assert "TIDINGS_CERTIFICATE=" in capsys.readouterr().out


def test_an_authority_that_cannot_be_read_is_not_replaced(
    own: Certificates, capsys: pytest.CaptureFixture[str]
) -> None:
    own.ca.write_text("nonsense")
    assert call(own.folder, "--client", "other") == 1
    assert "are no certificate with its key" in capsys.readouterr().err
    assert own.ca.read_text() == "nonsense"
