"""SSAP messages to XML.

    <SSAP_message> header <parameter name="status">m3:Success</parameter> … </SSAP_message>

Answers say the datatype or the language of a literal in attributes, which knowledge processors may ignore; a refusal
has the broker's own code and words in a parameter beside its status.
"""

from collections.abc import Iterable, Iterator, Mapping

from tidings.broker.queries import Writer
from tidings.broker.subscriptions.subscriber import Parcel
from tidings.gates.http.results import TRIPLE
from tidings.gates.smart_m3.dialects import Encode, Heard
from tidings.gates.smart_m3.messages import Header
from tidings.gates.smart_m3.ssap_reading import read_ssap
from tidings.gates.smart_m3.statuses import SUCCESS, status_of
from tidings.model import terms
from tidings.model.errors import TidingsError
from tidings.model.formats.rdfxml import xml_text
from tidings.model.formats.results.xml import write_xml
from tidings.model.results import Boolean, Result, Row, Solutions, Triples
from tidings.model.terms import Term


class Ssap:
    """The dialect in XML."""

    no_results = b'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><results/></sparql>'

    def read(self, document: bytes, base: str) -> Heard:
        return read_ssap(document, base)

    # -- results --------------------------------------------------------------------------------------------------

    def writer(self, *, as_triples: bool) -> Writer:
        return _write_triples if as_triples else _write_results

    def first(self, parcel: Parcel, *, as_triples: bool) -> bytes:
        return b"".join(_rows(parcel, parcel.changes.added(), as_triples))

    def changes(self, *, as_triples: bool) -> Encode:
        return _changed_triples if as_triples else _changed_rows

    # -- messages -------------------------------------------------------------------------------------------------

    def confirmed(self, header: Header, bnodes: Mapping[str, str] | None = None) -> bytes:
        return _message(header, "CONFIRM", _SUCCESS, b"" if bnodes is None else _parameter("bnodes", _urls(bnodes)))

    def answered(self, header: Header, results: bytes) -> bytes:
        return _message(header, "CONFIRM", _SUCCESS, _parameter("results", results))

    def subscribed(self, header: Header, subscription: str, results: bytes) -> bytes:
        return _message(header, "CONFIRM", _SUCCESS, _named(subscription), _parameter("results", results))

    def resumed(self, header: Header, subscription: str, sequence: int, changes: bytes) -> bytes:
        return _message(header, "CONFIRM", _SUCCESS, _RESUMED, _named(subscription), _numbered(sequence), changes)

    def indicated(self, header: Header, subscription: str, sequence: int, changes: bytes) -> bytes:
        return _message(header, "INDICATION", _numbered(sequence), _named(subscription), changes)

    def unsubscribed(self, header: Header, subscription: str) -> bytes:
        return _message(_ending(header), "CONFIRM", _SUCCESS, _named(subscription))

    def dismissed(self, header: Header, subscription: str, status: str, reason: str) -> bytes:
        said = _text("status", status) + _text("error_description", reason)
        return _message(_ending(header), "INDICATION", said, _named(subscription))

    def refused(self, header: Header, error: TidingsError) -> bytes:
        said = _text("status", status_of(error)) + _text("error", error.code) + _text("error_description", str(error))
        return _message(header, "CONFIRM", said)


def _message(header: Header, kind: str, *parameters: bytes) -> bytes:
    return b"<SSAP_message>%b<message_type>%b</message_type>%b</SSAP_message>\n" % (
        _head(header), kind.encode(), b"".join(parameters),
    )  # fmt: skip


def _head(header: Header) -> bytes:
    return (
        f"<node_id>{_fit(header.node)}</node_id><space_id>{_fit(header.space)}</space_id>"
        f"<transaction_type>{_fit(header.kind)}</transaction_type>"
        f"<transaction_id>{_fit(str(header.transaction))}</transaction_id>"
    ).encode()


def _ending(header: Header) -> Header:
    return Header("UNSUBSCRIBE", header.node, header.space, header.transaction)


def _parameter(name: str, content: bytes) -> bytes:
    return b'<parameter name="%b">%b</parameter>' % (name.encode(), content)


def _text(name: str, text: str) -> bytes:
    return _parameter(name, _fit(text).encode())


def _fit(text: str) -> str:
    """A text for people, or one that its reader sent: what XML cannot carry is left out."""
    return xml_text("".join(sign for sign in text if sign.isprintable() or sign in "\t\n"))


def _named(subscription: str) -> bytes:
    return _text("subscription_id", subscription)


def _numbered(sequence: int) -> bytes:
    return b'<parameter name="ind_sequence">%d</parameter>' % sequence


_SUCCESS = _parameter("status", SUCCESS.encode())
_XML = "application/xml"
_RESUMED = _parameter("resumed", b"TRUE")


def _urls(bnodes: Mapping[str, str]) -> bytes:
    uris = "".join(f'<uri tag="{_fit(tag)}">{xml_text(uri)}</uri>' for tag, uri in bnodes.items())
    return f"<urllist>{uris}</urllist>".encode()


# -- results ------------------------------------------------------------------------------------------------------


def _write_triples(result: Result) -> tuple[str, Iterable[bytes]]:
    assert isinstance(result, Triples)
    return _XML, _triple_list(result.triples)


def _write_results(result: Result) -> tuple[str, Iterable[bytes]]:
    match result:
        case Solutions() | Boolean():
            return _XML, _sparql(result)
        case Triples(triples):
            return _XML, _sparql(Solutions(TRIPLE, triples))


def _changed_triples(parcel: Parcel) -> bytes:
    return _changed(parcel, as_triples=True)


def _changed_rows(parcel: Parcel) -> bytes:
    return _changed(parcel, as_triples=False)


def _changed(parcel: Parcel, *, as_triples: bool) -> bytes:
    new = b"".join(_rows(parcel, parcel.changes.added(), as_triples))
    old = b"".join(_rows(parcel, parcel.changes.removed(), as_triples))
    return _parameter("new_results", new) + _parameter("obsolete_results", old)


def _rows(parcel: Parcel, rows: Iterable[Row], as_triples: bool) -> Iterator[bytes]:
    return _triple_list(rows) if as_triples else _sparql(Solutions(parcel.variables, rows))


def _sparql(result: Solutions | Boolean) -> Iterator[bytes]:
    """SPARQL results in XML without their XML declaration: a message is one document."""
    chunks = write_xml(result)
    yield next(chunks).partition(b"?>\n")[2]
    yield from chunks


def _triple_list(rows: Iterable[Row]) -> Iterator[bytes]:
    yield b"<triple_list>"
    for row in rows:
        s, p, o = (term or "" for term in row)
        predicate = f"<predicate>{xml_text(p[1:-1])}</predicate>"
        yield f"<triple>{_node('subject', s)}{predicate}{_node('object', o)}</triple>".encode()
    yield b"</triple_list>"


def _node(name: str, term: Term) -> str:
    if terms.is_iri(term):
        return f'<{name} type="URI">{xml_text(term[1:-1])}</{name}>'
    if terms.is_blank(term):
        return f'<{name} type="bnode">{term[2:]}</{name}>'
    lexical, datatype, language = terms.split_literal(term)
    said = f' xml:lang="{language}"' if language else ""
    if not language and datatype != terms.XSD_STRING:
        said = f' datatype="{xml_text(datatype)}"'
    return f'<{name} type="literal"{said}>{xml_text(lexical)}</{name}>'
