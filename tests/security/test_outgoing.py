"""Where requests go that clients cause, tried with real servers on the loopback interface and a resolver by hand."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

import pytest

from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.model.errors import LoadFailed, NotAllowed
from tidings.server.loading import WebLoader
from tidings.server.outgoing import Document, FetchFailed, Outgoing, OutgoingNotAllowed, Reach, is_public

TURTLE = b"<#me> <http://example.org/p> 5 ."


class Site:
    """A server, and what it was asked for."""

    def __init__(self, address: str) -> None:
        self.asked: list[str] = []
        self.hosts: list[str | None] = []
        self.let_go = threading.Event()
        site = self

        class Pages(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                site.hosts.append(self.headers["host"])
                site.answer(self)

            def log_message(self, *_: Any) -> None:
                """Tests are silent."""

        self.server = ThreadingHTTPServer((address, 0), Pages)
        self.port = self.server.server_address[1]

    def answer(self, page: BaseHTTPRequestHandler) -> None:
        kind, _, rest = page.path[1:].partition("/")
        match kind:
            case "to":
                page.send_response(302)
                page.send_header("Location", rest.replace("!", "/"))
                page.end_headers()
            case "large":
                page.send_response(200)
                page.end_headers()
                page.wfile.write(b"#" * 5000)
            case "announced":
                page.send_response(200)
                page.send_header("Content-Length", "5000")
                page.end_headers()
            case "packed":
                page.send_response(200)
                page.send_header("Content-Encoding", "gzip")
                page.end_headers()
            case "silent":
                self.let_go.wait()
            case "slowly":
                page.wfile.write(b"HTTP/1.1 200 OK\r\n")
                while not self.let_go.wait(0.01):
                    page.wfile.write(b"x")
            case _:
                page.send_response(404 if kind == "missing" else 200)
                page.send_header("Content-Type", "text/turtle; charset=utf-8")
                page.end_headers()
                page.wfile.write(TURTLE)


@contextmanager
def site(address: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    made = Site(address)
    if tls is not None:
        made.server.socket = tls.wrap_socket(made.server.socket, server_side=True)
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        made.let_go.set()
        made.server.shutdown()
        made.server.server_close()
        thread.join()


def outgoing(*answers: list[str], hosts: tuple[str, ...] = ("*",), **reach: Any) -> tuple[Outgoing, list[str]]:
    """Names resolve to these addresses, one answer after the other; and the names that were resolved."""
    left, asked = list(answers), list[str]()

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return left.pop(0) if len(left) > 1 else left[0]

    return Outgoing(Reach(hosts=hosts, **reach), resolve=resolve), asked


LOOPBACK = ("127.0.0.0/8",)


def reaching(there: Site, **reach: Any) -> Outgoing:
    return outgoing(["127.0.0.1"], hosts=(f"*:{there.port}",), networks=LOOPBACK, **reach)[0]


def test_a_document_is_fetched_from_the_address_that_was_checked() -> None:
    with site() as there:
        found = reaching(there).fetch(f"http://data.example:{there.port}/a%20b?c=d#e", "text/turtle")
        assert found == Document(f"http://data.example:{there.port}/a%20b?c=d", "text/turtle", TURTLE)
        assert (there.asked, there.hosts) == (["/a%20b?c=d"], [f"data.example:{there.port}"])


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1",
        "::1", "::", "fe80::1", "fc00::1", "fd00::1", "fec0::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2002:a9fe:a9fe::", "64:ff9b::7f00:1",
        "64:ff9b::a00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public_are_out_of_reach_in_every_disguise(address: str) -> None:
    assert not is_public(ip_address(address))
    sent, _ = outgoing([address])
    with pytest.raises(OutgoingNotAllowed, match="not public"):
        sent.check("http://innocent.example/")
    mixed, _ = outgoing(["93.184.216.34", address])
    with pytest.raises(OutgoingNotAllowed):
        mixed.check("http://innocent.example/")


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34"])
def test_public_addresses_are_within_reach(address: str) -> None:
    sent, _ = outgoing([address])
    assert sent.check("https://data.example/x").addresses == (str(ip_address(address)),)


def test_networks_of_the_settings_may_be_reached_in_either_form() -> None:
    for address in ("10.1.2.3", "::ffff:10.1.2.3"):
        sent, _ = outgoing([address], networks=("10.1.0.0/16",))
        assert sent.check("http://inside.example/").host == "inside.example"
    sent, _ = outgoing(["10.2.0.1"], networks=("10.1.0.0/16",))
    with pytest.raises(OutgoingNotAllowed):
        sent.check("http://inside.example/")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "127.1", "localhost"])
def test_ways_to_write_this_machine_lead_nowhere(host: str) -> None:
    with pytest.raises((OutgoingNotAllowed, FetchFailed)):
        Outgoing(Reach(hosts=("*",))).check(f"http://{host}/")


@pytest.mark.parametrize(
    ("hosts", "url", "is_allowed"),
    [
        ((), "http://a.example/", False),
        (("a.example",), "http://a.example/", True),
        (("a.example",), "https://A.Example./", True),
        (("a.example",), "http://a.example:8080/", False),
        (("a.example:8080",), "http://a.example:8080/", True),
        (("a.example:8080",), "http://a.example/", False),
        (("a.example",), "http://xa.example/", False),
        (("a.example",), "http://a.example.evil.example/", False),
        (("*.a.example",), "http://b.a.example/", True),
        (("*.a.example",), "http://c.b.a.example/", True),
        (("*.a.example",), "http://a.example/", False),
        (("*.a.example",), "http://xa.example/", False),
        (("*",), "http://any.example/", True),
        (("*",), "http://any.example:22/", False),
        (("bücher.example",), "http://xn--bcher-kva.example/", False),
        (("xn--bcher-kva.example",), "http://bücher.example/", True),
    ],
)
def test_only_hosts_of_the_settings_are_asked_and_not_even_resolved_otherwise(
    hosts: tuple[str, ...], url: str, is_allowed: bool
) -> None:
    sent, asked = outgoing(["93.184.216.34"], hosts=hosts)
    if is_allowed:
        assert sent.check(url)
        return
    with pytest.raises(OutgoingNotAllowed):
        sent.check(url)
    assert not asked


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://a.example/", "gopher://a.example/", "data:text/turtle,", "http:///x", "http://",
        "http://user:secret@a.example/", "http://a.example@b.example/", "http://a.example:99999/", "http://[::1/",
        "http://a b.example/", "//a.example/",
    ],
)  # fmt: skip
def test_what_is_no_plain_address_of_the_web_is_refused(url: str) -> None:
    sent, asked = outgoing(["93.184.216.34"])
    with pytest.raises(OutgoingNotAllowed):
        sent.check(url)
    assert not asked


def test_an_address_cannot_smuggle_headers() -> None:
    with site() as there:
        reaching(there).fetch(f"http://a.example:{there.port}/x\r\nX-Evil: 1\r\n\r\nGET /second HTTP/1.1 y")
        assert len(there.asked) == 1
        assert "\r" not in there.asked[0]


def test_a_name_that_changes_its_mind_gains_nothing() -> None:
    with site("127.0.0.2") as chosen, site("127.0.0.1") as inside:
        sent, asked = outgoing(["127.0.0.2"], ["127.0.0.1"], hosts=(f"*:{chosen.port}",), networks=("127.0.0.2/32",))
        sent.fetch(f"http://rebinding.example:{chosen.port}/")
        assert (asked, len(chosen.asked), inside.asked) == (["rebinding.example"], 1, [])
        with pytest.raises(OutgoingNotAllowed):  # resolved anew for the next request, and checked anew
            sent.fetch(f"http://rebinding.example:{chosen.port}/")
        assert inside.asked == []


def test_redirects_are_followed_and_each_is_checked() -> None:
    with site() as there:
        here = f"http://a.example:{there.port}"
        assert reaching(there).fetch(f"{here}/to/!data").url == f"{here}/data"
        listed, _ = outgoing(["127.0.0.1"], hosts=(f"a.example:{there.port}",), networks=LOOPBACK)
        there.asked.clear()
        with pytest.raises(OutgoingNotAllowed):
            listed.fetch(f"{here}/to/http:!!b.example:{there.port}!data")
        assert there.asked == [f"/to/http:!!b.example:{there.port}!data"]
        with pytest.raises(OutgoingNotAllowed):
            reaching(there).fetch(f"{here}/to/file:!!!etc!passwd")


def test_a_redirect_to_this_machine_is_not_followed() -> None:
    with site("127.0.0.2") as outside, site("127.0.0.1") as inside:
        hosts = (f"out.example:{outside.port}", f"*:{inside.port}")
        sent, _ = outgoing(["127.0.0.2"], ["127.0.0.1"], hosts=hosts, networks=("127.0.0.2/32",))
        with pytest.raises(OutgoingNotAllowed, match="not public"):
            sent.fetch(f"http://out.example:{outside.port}/to/http:!!metadata.example:{inside.port}!secret")
        assert len(outside.asked) == 1
        assert inside.asked == []


def test_there_is_an_end_to_redirects() -> None:
    with site() as there:
        target = f"http://a.example:{there.port}/to/"
        with pytest.raises(FetchFailed, match="redirects more than 5 times"):
            reaching(there).fetch(target + "!to!" * 10)
        assert len(there.asked) == 6


@pytest.mark.parametrize("path", ["large", "announced"])
def test_a_document_that_is_too_large_is_not_read_to_its_end(path: str) -> None:
    with site() as there, pytest.raises(FetchFailed, match="larger than 4,096 bytes"):
        reaching(there, size=4096).fetch(f"http://a.example:{there.port}/{path}")


@pytest.mark.parametrize("path", ["silent", "slowly"])
def test_whoever_takes_too_long_is_not_waited_for(path: str) -> None:
    with site() as there, pytest.raises(FetchFailed, match="did not answer within"):
        reaching(there, seconds=0.2).fetch(f"http://a.example:{there.port}/{path}")


@pytest.mark.parametrize("path", ["packed", "missing"])
def test_what_cannot_be_used_is_said_to_be_so(path: str) -> None:
    with site() as there, pytest.raises(FetchFailed):
        reaching(there).fetch(f"http://a.example:{there.port}/{path}")


def test_load_takes_documents_of_the_web_and_says_what_it_may_not_ask() -> None:
    with site() as there:
        engine = Engine(Core(loader=WebLoader(reaching(there))))
        engine.apply(f"LOAD <http://a.example:{there.port}/a.ttl> INTO GRAPH <urn:g>", now=0)
        assert (f"<http://a.example:{there.port}/a.ttl#me>", "<http://example.org/p>") in {
            (s, p) for s, p, _, g in engine.store if g == "<urn:g>"
        }
        with pytest.raises(NotAllowed):
            engine.apply("LOAD <http://127.0.0.1:1/secret>", now=0)
        with pytest.raises(LoadFailed, match="status 404"):
            engine.apply(f"LOAD <http://a.example:{there.port}/missing>", now=0)
        engine.apply("LOAD SILENT <http://127.0.0.1:1/secret>", now=0)
        assert len(engine.store) == 1
