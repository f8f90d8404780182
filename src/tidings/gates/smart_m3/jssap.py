"""JSSAP: a JSON object a line, with the parameters of SSAP under shorter names.

    {"tt": "INSERT", "mt": "REQUEST", "tid": 1, "sid": …, "nid": …, "tl": [{"s": …, "p": …, "o": …, "ot": "literal"}]}
    {"tt": "INSERT", "mt": "CONFIRM", "tid": 1, "sid": …, "nid": …, "code": "m3:success", "bnodes": {…}}

`code` is written in lower case here, as the first broker that spoke JSSAP had it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import orjson

from tidings.broker.queries import Writer
from tidings.broker.subscriptions.subscriber import Parcel
from tidings.gates.http.results import TRIPLE
from tidings.gates.smart_m3.dialects import MOST_TRIPLES, Encode, Heard, Parameters, node_of, read_request
from tidings.gates.smart_m3.messages import Header, M3Triple, Node
from tidings.gates.smart_m3.rdf_m3 import literal_of
from tidings.gates.smart_m3.statuses import SUCCESS, MessageSyntaxError, status_of
from tidings.model import terms
from tidings.model.errors import RequestTooComplex, TidingsError
from tidings.model.formats.results.json import bindings_json
from tidings.model.results import Boolean, Result, Row, Solutions, Triples
from tidings.model.terms import Term

_JSON = "application/json"
_TEXTS = {"auth": "credentials", "confirm": "confirm", "subid": "subscription_id", "indid": "ind_sequence"}
_LISTS = {"INSERT": {"tl": "insert_graph"}, "REMOVE": {"tl": "remove_graph"}}
_OTHERWISE = {"tl": "query", "atl": "insert_graph", "rtl": "remove_graph"}


class Jssap:
    """The dialect in JSON."""

    no_results = b'"qt":"update","results":[]'

    def read(self, document: bytes, base: str) -> Heard:
        header = Header()
        try:
            content = _object(document)
            header = _header(content)
            return header, read_request(header, _parameters(content, header.kind, base))
        except TidingsError as error:
            return header, error

    # -- results --------------------------------------------------------------------------------------------------

    def writer(self, *, as_triples: bool) -> Writer:
        return _write_triples if as_triples else _write_results

    def first(self, parcel: Parcel, *, as_triples: bool) -> bytes:
        return _rows(parcel, parcel.changes.added(), as_triples)

    def changes(self, *, as_triples: bool) -> Encode:
        return _changed_triples if as_triples else _changed_rows

    # -- messages -------------------------------------------------------------------------------------------------

    def confirmed(self, header: Header, bnodes: Mapping[str, str] | None = None) -> bytes:
        return _message(header, "CONFIRM", _SUCCESS | ({"bnodes": bnodes} if bnodes else {}))

    def answered(self, header: Header, results: bytes) -> bytes:
        return _message(header, "CONFIRM", _SUCCESS, results)

    def subscribed(self, header: Header, subscription: str, results: bytes) -> bytes:
        return _message(header, "CONFIRM", _SUCCESS | {"subid": subscription}, b'"results":%b' % results)

    def resumed(self, header: Header, subscription: str, sequence: int, changes: bytes) -> bytes:
        said = _SUCCESS | {"resumed": True, "subid": subscription, "indid": sequence}
        return _message(header, "CONFIRM", said, changes)

    def indicated(self, header: Header, subscription: str, sequence: int, changes: bytes) -> bytes:
        return _message(header, "INDICATION", {"subid": subscription, "indid": sequence}, changes)

    def unsubscribed(self, header: Header, subscription: str) -> bytes:
        return _message(_ending(header), "CONFIRM", _SUCCESS | {"subid": subscription})

    def dismissed(self, header: Header, subscription: str, status: str, reason: str) -> bytes:
        said = {"code": status, "error_description": reason, "subid": subscription}
        return _message(_ending(header), "INDICATION", said)

    def refused(self, header: Header, error: TidingsError) -> bytes:
        said = {"code": status_of(error), "error": error.code, "error_description": str(error)}
        return _message(header, "CONFIRM", said)


_SUCCESS: dict[str, Any] = {"code": SUCCESS.lower()}


def _message(header: Header, kind: str, members: Mapping[str, Any], results: bytes = b"") -> bytes:
    said = {"tt": header.kind, "mt": kind, "tid": header.transaction, "sid": header.space, "nid": header.node}
    start = msgspec.json.encode(said | dict(members))
    return b"%b,%b}\n" % (start[:-1], results) if results else start + b"\n"


def _ending(header: Header) -> Header:
    return Header("UNSUBSCRIBE", header.node, header.space, header.transaction)


# -- requests -----------------------------------------------------------------------------------------------------


def _object(document: bytes) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageSyntaxError(f"a line is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise MessageSyntaxError("a line is not a JSON object")
    return content


def _header(content: Mapping[str, Any]) -> Header:
    kind, node, space = (_string(content, name) for name in ("tt", "nid", "sid"))
    number = content.get("tid", "")
    return Header(kind.upper(), node, space, number if type(number) is int else _string(content, "tid"))


def _parameters(content: Mapping[str, Any], kind: str, base: str) -> Parameters:
    parameters = Parameters()
    for short, name in _TEXTS.items():
        if short in content:
            value = content[short]
            parameters.texts[name] = str(value) if type(value) in {int, bool} else _string(content, short)
    for short, name in _LISTS.get(kind, _OTHERWISE).items():
        if short in content:
            parameters.triples[name] = _list(content[short], base)
    if (text := _string(content, "ut") or _string(content, "qt")) and kind not in _LISTS:
        parameters.texts["query"] = text
    parameters.texts["type"] = _string(content, "enc") or ("sparql" if text else "rdf")
    return parameters


def _list(value: Any, base: str) -> list[M3Triple]:
    if not isinstance(value, list):
        raise MessageSyntaxError("a list of triples is not a list")
    if len(value) > MOST_TRIPLES:
        said = f"a list has at most {MOST_TRIPLES:,} triples"
        raise RequestTooComplex(said, measured=len(value), limit=MOST_TRIPLES)
    return [_triple(each, base) for each in value]


def _triple(value: Any, base: str) -> M3Triple:
    if not isinstance(value, dict) or not {"s", "p", "o"} <= value.keys():
        raise MessageSyntaxError("a triple is an object with s, p and o")
    subject = node_of(_string(value, "st") or "uri", _string(value, "s"))
    return subject, node_of("uri", _string(value, "p")), _object_node(value, base)


def _object_node(value: Mapping[str, Any], base: str) -> Node:
    kind, text = _string(value, "ot") or "uri", _string(value, "o")
    if kind.lower() == "literal":
        return literal_of(text, _string(value, "datatype"), _string(value, "lang"), base)
    return node_of(kind, text)


def _string(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name, "")
    if not isinstance(value, str):
        raise MessageSyntaxError(f"the member {name} is not a string")
    return value


# -- results ------------------------------------------------------------------------------------------------------


def _write_triples(result: Result) -> tuple[str, Iterable[bytes]]:
    assert isinstance(result, Triples)
    return _JSON, [b'"results":%b' % _triples(result.triples)]


def _write_results(result: Result) -> tuple[str, Iterable[bytes]]:
    match result:
        case Solutions(variables, rows):
            return _JSON, [_asked(b"select", _bindings(variables, rows))]
        case Boolean(value):
            return _JSON, [_asked(b"ask", b"true" if value else b"false")]
        case Triples(triples):
            return _JSON, [_asked(b"construct", _bindings(TRIPLE, triples))]


def _asked(kind: bytes, results: bytes) -> bytes:
    """The answer to a query says what kind of query it was."""
    return b'"qt":"%b","results":%b' % (kind, results)


def _changed_triples(parcel: Parcel) -> bytes:
    return _changed(parcel, as_triples=True)


def _changed_rows(parcel: Parcel) -> bytes:
    return _changed(parcel, as_triples=False)


def _changed(parcel: Parcel, *, as_triples: bool) -> bytes:
    new, old = (_rows(parcel, rows, as_triples) for rows in (parcel.changes.added(), parcel.changes.removed()))
    return b'"new_results":%b,"old_results":%b' % (new, old)


def _rows(parcel: Parcel, rows: Iterable[Row], as_triples: bool) -> bytes:
    return _triples(rows) if as_triples else _bindings(parcel.variables, rows)


def _bindings(variables: tuple[str, ...], rows: Iterable[Row]) -> bytes:
    return f"[{bindings_json(variables, rows)}]".encode()


def _triples(rows: Iterable[Row]) -> bytes:
    return orjson.dumps([dict(zip(TRIPLE, (_node(term or "") for term in row), strict=True)) for row in rows])


def _node(term: Term) -> dict[str, str]:
    if terms.is_iri(term):
        return {"type": "URIRef", "value": term[1:-1]}
    if terms.is_blank(term):
        return {"type": "BNode", "value": term[2:]}
    lexical, datatype, language = terms.split_literal(term)
    said = {"lang": language} if language else {}
    if not language and datatype != terms.XSD_STRING:
        said = {"datatype": datatype}
    return {"type": "Literal", "value": lexical, **said}
