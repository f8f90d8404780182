"""Requests that clients cause, to servers with TLS: the certificate has to be that of the host that was named."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from security.test_outgoing import LOOPBACK, TURTLE, Site, site
from tidings.server.outgoing import FetchFailed, Outgoing, OutgoingNotAllowed, Reach
from tls.house import Certificates


@contextmanager
def secure_site(certificates: Certificates) -> Iterator[Site]:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificates.server.certificate, certificates.server.key)
    with site(tls=made) as there:
        yield there


def reaching(there: Site, trusted: Certificates) -> Outgoing:
    reach = Reach(hosts=(f"*:{there.port}",), networks=LOOPBACK)
    return Outgoing(reach, resolve=lambda *_: ["127.0.0.1"], tls=trusted.context)


def test_a_host_is_asked_that_has_the_certificate_of_its_name(certificates: Certificates) -> None:
    with secure_site(certificates) as there:
        assert reaching(there, certificates).fetch(f"https://localhost:{there.port}/a").body == TURTLE


def test_a_host_with_the_certificate_of_another_is_not(certificates: Certificates, foreign: Certificates) -> None:
    with secure_site(certificates) as there:
        with pytest.raises(FetchFailed, match="certificate"):
            reaching(there, certificates).fetch(f"https://data.example:{there.port}/a")
        with pytest.raises(FetchFailed, match="certificate"):
            reaching(there, foreign).fetch(f"https://localhost:{there.port}/a")
        assert there.asked == []


def test_a_redirect_does_not_lead_out_of_tls(certificates: Certificates) -> None:
    with secure_site(certificates) as there, pytest.raises(OutgoingNotAllowed, match="without TLS"):
        reaching(there, certificates).fetch(f"https://localhost:{there.port}/to/http:!!localhost:{there.port}!a")
