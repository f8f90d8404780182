"""SSAP messages from XML: the header, and parameters that are texts or lists of triples. Nothing else is kept.

The reader takes no document type, so there are no entities to expand, and refuses what is nested deeper than anything
that SSAP has.
"""

from typing import NoReturn
from xml.parsers import expat

from tidings.gates.smart_m3.dialects import MOST_TRIPLES, Heard, Parameters, node_of, read_request
from tidings.gates.smart_m3.messages import Header, M3Triple, Node
from tidings.gates.smart_m3.rdf_m3 import literal_of
from tidings.gates.smart_m3.statuses import MessageSyntaxError
from tidings.model.errors import RequestTooComplex, TidingsError

_DEEPEST = 8
_DEEPEST_RDF = 200
_ROOT = "SSAP_message"
_NODES = ("subject", "predicate", "object")


def read_ssap(document: bytes, base: str) -> Heard:
    """A message, or what is wrong with it; the header is what could be read of it."""
    reader = _Reader(base)
    try:
        reader.read(document)
        return reader.header(), read_request(reader.header(), reader.parameters)
    except TidingsError as error:
        return reader.header(), error


class _Reader:
    """What expat tells, in the order of the document."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._path: list[str] = []
        self._text: list[str] = []
        self._attributes: dict[str, str] = {}
        self._nodes: dict[str, Node] = {}
        self._name = ""
        """Of the parameter."""
        self._fields: dict[str, str] = {}
        self._within: int | None = None
        """Where RDF-XML begins that is part of the message, and not a text of it."""
        self.parameters = Parameters()

    def header(self) -> Header:
        known = self._fields.get
        return Header(
            known("transaction_type", "").upper(),
            known("node_id", ""),
            known("space_id", ""),
            known("transaction_id", ""),
        )

    def read(self, document: bytes) -> None:
        """Raises MessageSyntaxError, BadRequest, RequestTooComplex."""
        parser = self._parser = expat.ParserCreate()
        self._document = document
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _refuse_document_type
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        try:
            parser.Parse(document, True)
        except expat.ExpatError as error:
            said = expat.ErrorString(error.code)
            raise MessageSyntaxError(f"line {error.lineno}, column {error.offset + 1}: {said}") from error
        except (ValueError, LookupError) as error:  # an encoding that nobody knows
            raise MessageSyntaxError(f"the message cannot be read: {error}") from error
        finally:
            del self._parser  # which knows us: neither would be freed before the next collection

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        path = self._path
        if not path and name != _ROOT:
            raise MessageSyntaxError(f"a message is an <{_ROOT}>, not <{name[:40]}>")
        path.append(name)
        if len(path) > (_DEEPEST if self._within is None else _DEEPEST_RDF):
            raise MessageSyntaxError("the message is nested deeper than SSAP has it")
        if path[1:2] == ["parameter"] and len(path) > 2 and self._encoding() == "RDF-XML":
            self._within = self._parser.CurrentByteIndex if self._within is None else self._within
            return
        if name == "parameter":
            self._name = attributes.get("name", "")
            self.parameters.encodings[self._name] = attributes.get("encoding", "")
        self._attributes = attributes
        self._text.clear()

    def _end(self, name: str) -> None:
        text = "".join(self._text)
        self._text.clear()
        self._path.pop()
        if self._within is not None and len(self._path) > 1:
            return
        if name in _NODES:
            self._nodes[name] = self._node(text)
        elif name == "triple":
            self._add_triple()
        elif name == "parameter":
            self.parameters.texts[self._name] = text.strip() if self._within is None else self._cut_out()
        elif len(self._path) == 1:
            self._fields[name] = text.strip()

    def _encoding(self) -> str:
        return self.parameters.encodings[self._name].upper()

    def _cut_out(self) -> str:
        """A document that was written into the message, as it is there."""
        cut, self._within = self._document[self._within : self._parser.CurrentByteIndex], None
        try:
            return cut.decode()
        except UnicodeDecodeError as error:
            raise MessageSyntaxError("RDF-XML is read in UTF-8, or as a text of the message") from error

    def _node(self, text: str) -> Node:
        attributes = self._attributes
        kind = attributes.get("type", "URI")
        if kind.lower() == "literal":
            return literal_of(text, attributes.get("datatype"), attributes.get("xml:lang"), self._base)
        return node_of(kind, text.strip())

    def _add_triple(self) -> None:
        missing = [name for name in _NODES if name not in self._nodes]
        if missing:
            raise MessageSyntaxError(f"a triple lacks its {missing[0]}")
        triple: M3Triple = (self._nodes["subject"], self._nodes["predicate"], self._nodes["object"])
        self._nodes.clear()
        triples = self.parameters.triples.setdefault(self._name, [])
        triples.append(triple)
        if len(triples) > MOST_TRIPLES:
            said = f"a list has at most {MOST_TRIPLES:,} triples"
            raise RequestTooComplex(said, measured=len(triples), limit=MOST_TRIPLES)


def _refuse_document_type(*_declaration: object) -> NoReturn:
    raise MessageSyntaxError("a document type, and with it entities, is not welcome here")
