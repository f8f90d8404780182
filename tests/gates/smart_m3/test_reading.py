"""Streams that are cut anywhere, messages that are none, and XML that means no good."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endurance import often
from gates.smart_m3.kp import insert, patterns, request, sparql, triple
from tidings.gates.smart_m3.connection import JSSAP, SSAP
from tidings.gates.smart_m3.framing import Framing
from tidings.gates.smart_m3.messages import Change, PlainLiteral, Query, Triples, Uri
from tidings.gates.smart_m3.statuses import MessageSyntaxError, MessageTooLarge
from tidings.model.errors import TidingsError

BASE = "http://example.org/"
XML = [request("INSERT", insert(triple("a", "b", "c"))), request("QUERY", sparql("SELECT * {}")), request("JOIN")]
JSON = [b'{"tt":"JOIN"}', b'{"tt":"QUERY","qt":"ASK {}"}']


@settings(max_examples=often(60), deadline=None)
@given(st.booleans(), st.lists(st.integers(1, 400), max_size=30), st.sampled_from([b"", b"\n", b"  \r\n"]))
def test_a_stream_may_be_cut_anywhere(is_json: bool, cuts: list[int], between: bytes) -> None:
    messages, end = (JSON, b"\n") if is_json else (XML, b"")
    stream = between + b"".join(each + end + between for each in messages)
    framing, found = Framing(10_000), list[bytes]()
    for size in (*cuts, len(stream)):
        piece, stream = stream[:size], stream[size:]
        found += framing.feed(piece)
    assert found == messages
    assert framing.is_json is is_json


@pytest.mark.parametrize("stream", [b"GET / HTTP/1.1\r\n", b"\x16\x03\x01", b"[1]\n"])
def test_whoever_speaks_something_else_is_told_so(stream: bytes) -> None:
    with pytest.raises(MessageSyntaxError):
        list(Framing(100).feed(stream))


@pytest.mark.parametrize("stream", [b"<SSAP_message>" + b"x" * 200, b"{" + b" " * 200, XML[0]])
def test_a_message_has_only_so_many_bytes(stream: bytes) -> None:
    framing = Framing(100)
    with pytest.raises(MessageTooLarge):
        list(framing.feed(stream))


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize("prologue", [BOMB, OUTSIDE])
def test_there_are_no_entities(prologue: str) -> None:
    document = prologue.encode() + request("QUERY").replace(b"X", b"&b;")
    _, error = SSAP.read(document, BASE)
    assert isinstance(error, MessageSyntaxError)
    assert "document type" in str(error)


def test_nothing_is_nested_deeply() -> None:
    _, error = SSAP.read(b"<SSAP_message>" + b"<a>" * 100_000, BASE)
    assert isinstance(error, MessageSyntaxError)


def test_a_message_that_breaks_off_is_answered_with_what_is_known_of_it() -> None:
    header, error = SSAP.read(request("QUERY", "<parameter>").replace(b"</SSAP", b"</other"), BASE)
    assert isinstance(error, MessageSyntaxError)
    assert (header.kind, header.transaction) == ("QUERY", "7")


def test_a_declaration_of_an_encoding_is_believed() -> None:
    document = b'<?xml version="1.0" encoding="iso-8859-1"?>' + request("QUERY", sparql("é")).decode().encode("latin-1")
    _, heard = SSAP.read(document, BASE)
    assert isinstance(heard, Query)
    _, error = SSAP.read(document.replace(b"iso-8859-1", b"klingon"), BASE)
    assert isinstance(error, MessageSyntaxError)


PIECES = st.one_of(
    st.sampled_from([b"<", b">", b"</", b"&", b"]]>", b'"', b"<!--", b"{", b"}", b"[", b"\x00", b"\xff"]),
    st.binary(max_size=4),
)


@settings(max_examples=often(150), deadline=None)
@given(
    st.sampled_from([*XML, request("SUBSCRIBE", patterns(triple("a", "b", "c"))), *JSON]),
    st.integers(0, 400),
    st.integers(0, 6),
    PIECES,
)
def test_whatever_comes_is_a_request_or_an_error_of_ours(message: bytes, at: int, gone: int, piece: bytes) -> None:
    broken = message[:at] + piece + message[at + gone :]
    for dialect in (SSAP, JSSAP):
        header, heard = dialect.read(broken, BASE)
        if isinstance(heard, TidingsError):
            answer = dialect.refused(header, heard)
            assert answer.endswith(b"</SSAP_message>\n" if dialect is SSAP else b"}\n")
        else:
            assert heard.header == header


OF_OLD = b"""
<SSAP_message>
<node_id>n</node_id>
<space_id>X</space_id>
<transaction_type>insert</transaction_type>
<message_type>REQUEST</message_type><transaction_id>1</transaction_id>
<parameter name = "insert_graph" encoding = "rdf-m3"><triple_list>
<triple>
<subject type = "uri">
a
</subject>
<predicate> b </predicate>
<object type = "literal"><![CDATA[ c ]]></object>
</triple></triple_list></parameter></SSAP_message>"""


def test_spaces_are_where_the_old_libraries_have_them() -> None:
    _, heard = SSAP.read(OF_OLD.strip(), BASE)
    assert isinstance(heard, Change)
    assert heard.added == Triples(((Uri("a"), Uri("b"), PlainLiteral(" c ")),))
