"""Parses and serializes RDF documents, in the formats of LOAD, of the Graph Store Protocol and of dumps.

    parse_rdf(serialize_rdf(quads, format), format, blanks=KEEP_LABELS)  =  quads

for every format that can express these quads: lexical forms, datatypes and the case of language tags survive. (JSON-LD
may reorder statements; RDF/XML renames blank nodes whose labels are not XML names, and refuses what it cannot express.)
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import assert_never

from tidings.model.errors import BadRequest
from tidings.model.formats import jsonld, ntriples, oxigraph, rdfxml, turtle
from tidings.model.formats.blanks import BlankScope
from tidings.model.formats.media import Media
from tidings.model.formats.streams import Source, chunks_of, encoded
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, Triple


class RdfFormat(Enum):
    """The RDF syntaxes that are read and written here."""

    TURTLE = Media("turtle", ("text/turtle", "application/x-turtle"), ("ttl",), ("n3",))
    TRIG = Media("trig", ("application/trig", "application/x-trig"), ("trig",))
    N_TRIPLES = Media("ntriples", ("application/n-triples", "text/plain"), ("nt",), ("n-triples",))
    N_QUADS = Media("nquads", ("application/n-quads", "text/x-nquads"), ("nq",), ("n-quads",))
    RDF_XML = Media(
        "rdfxml", ("application/rdf+xml", "application/xml", "text/xml"), ("rdf", "owl", "xml"), ("rdf/xml",)
    )
    JSON_LD = Media("jsonld", ("application/ld+json", "application/json"), ("jsonld", "json"), ("json-ld",))

    @property
    def media(self) -> Media:
        return self.value

    @property
    def has_graphs(self) -> bool:
        """Whether a document can name the graphs of its statements."""
        return self in (RdfFormat.TRIG, RdfFormat.N_QUADS, RdfFormat.JSON_LD)


def parse_rdf(
    source: Source,
    format: RdfFormat,  # noqa: A002
    base: str | None = None,
    graph: Term = DEFAULT_GRAPH,
    blanks: BlankScope | None = None,
) -> Iterator[Quad]:
    """The statements of a document; those without a graph go to `graph`.

    Blank nodes get fresh labels, unless the caller passes another scope, such as KEEP_LABELS. All formats but JSON-LD
    are streamed. Raises RdfSyntaxError; in a line with upper-case tags, its column may be off, because of `casing`.
    """
    chunks = chunks_of(source)
    scope = blanks if blanks is not None else BlankScope.fresh()
    match format:
        case RdfFormat.N_TRIPLES | RdfFormat.N_QUADS:
            return ntriples.read_lines(chunks, quads=format.has_graphs, graph=graph, blanks=scope)
        case RdfFormat.TURTLE | RdfFormat.TRIG:
            return oxigraph.read_turtle(chunks, graphs=format.has_graphs, base=base, graph=graph, blanks=scope)
        case RdfFormat.RDF_XML:
            return oxigraph.read_rdf_xml(chunks, base=base, graph=graph, blanks=scope)
        case RdfFormat.JSON_LD:
            return oxigraph.read_json_ld(chunks, base=base, graph=graph, blanks=scope)
        case _:
            assert_never(format)


def serialize_rdf(
    statements: Iterable[Quad] | Iterable[Triple],
    format: RdfFormat,  # noqa: A002
    prefixes: Mapping[str, str] | None = None,
) -> Iterator[bytes]:
    """A document in chunks, written while the statements come; `prefixes` are bare namespace IRIs by their prefix.

    Consecutive statements of one graph and one subject are grouped. Raises BadRequest for statements that the format
    cannot express: a named graph in a format of triples, or terms that RDF/XML does not allow.
    """
    quads = _quads(statements, format)
    match format:
        case RdfFormat.N_TRIPLES | RdfFormat.N_QUADS:
            return encoded(ntriples.write_lines(quads))
        case RdfFormat.TURTLE | RdfFormat.TRIG:
            return encoded(turtle.write_turtle(quads, prefixes or {}))
        case RdfFormat.RDF_XML:
            return encoded(rdfxml.write_rdf_xml(quads, prefixes or {}))
        case RdfFormat.JSON_LD:
            return encoded(jsonld.write_json_ld(quads))
        case _:
            assert_never(format)


def _quads(statements: Iterable[Quad] | Iterable[Triple], format_: RdfFormat) -> Iterator[Quad]:
    graphs = format_.has_graphs
    for statement in statements:
        if len(statement) == 3:
            yield (*statement, DEFAULT_GRAPH)
        elif graphs or not statement[3]:
            yield statement
        else:
            raise BadRequest(f"{format_.media.name} has no place for the graph {statement[3]}; N-Quads or TriG has")
