"""The service description (SPARQL 1.1 Service Description, W3C Recommendation, 21 March 2013).

The Subscribe language is an extension of ours; terms of our own vocabulary say where it is available.
"""

from collections.abc import Iterator
from itertools import islice

from tidings.engine.store.store import Store
from tidings.model.access import Graphs
from tidings.model.formats.rdf import RdfFormat
from tidings.model.formats.results.documents import ResultFormat
from tidings.model.iris import resolve
from tidings.model.terms import DEFAULT_GRAPH, RDF_TYPE, XSD, Term, Triple, blank, iri, literal

SD = "http://www.w3.org/ns/sparql-service-description#"
VOID = "http://rdfs.org/ns/void#"
OURS = "urn:tidings:"
SUBSCRIBE = f"{OURS}subscribe"
"""The Subscribe language: queries with notifications of every change of the answer."""
LDP_INBOX = "http://www.w3.org/ns/ldp#inbox"
FORMATS = "http://www.w3.org/ns/formats/"
PREFIXES = {"sd": SD, "void": VOID, "formats": FORMATS, "xsd": XSD}

MOST_GRAPHS = 1000
"""The most named graphs that a description lists; a store may have a hundred thousand."""

_UNIQUE_NAMES = {
    RdfFormat.TURTLE: "Turtle",
    RdfFormat.TRIG: "TriG",
    RdfFormat.N_TRIPLES: "N-Triples",
    RdfFormat.N_QUADS: "N-Quads",
    RdfFormat.RDF_XML: "RDF_XML",
    RdfFormat.JSON_LD: "JSON-LD",
    ResultFormat.JSON: "SPARQL_Results_JSON",
    ResultFormat.XML: "SPARQL_Results_XML",
    ResultFormat.CSV: "SPARQL_Results_CSV",
    ResultFormat.TSV: "SPARQL_Results_TSV",
}


def describe(
    endpoint: str,
    store: Store,
    *,
    updates: bool,
    loads: bool,
    sockets: str | None = None,
    inbox: str | None = None,
    readable: Graphs = Graphs.ALL,
) -> Iterator[Triple]:
    """The triples of the description of an endpoint, with the addresses of the WebSocket gate and of the inbox.

    It lists only the graphs that the client may read."""
    service, dataset, default = blank("service"), blank("dataset"), blank("default")
    yield service, RDF_TYPE, _sd("Service")
    yield service, _sd("endpoint"), iri(endpoint)
    yield service, _sd("supportedLanguage"), _sd("SPARQL11Query")
    if updates:
        yield service, _sd("supportedLanguage"), _sd("SPARQL11Update")
    if loads:
        yield from ((service, _sd("inputFormat"), iri(FORMATS + _UNIQUE_NAMES[format_])) for format_ in RdfFormat)
    yield from ((service, _sd("resultFormat"), iri(FORMATS + name)) for name in _UNIQUE_NAMES.values())
    yield service, _sd("languageExtension"), iri(SUBSCRIBE)
    yield service, iri(f"{OURS}eventStreamEndpoint"), iri(resolve(endpoint, "subscribe"))
    if sockets is not None:
        yield service, iri(f"{OURS}webSocketEndpoint"), iri(sockets)
    if inbox is not None:
        yield from ((iri(resource), iri(LDP_INBOX), iri(inbox)) for resource in (endpoint, resolve(endpoint, "/")))
    yield service, _sd("defaultDataset"), dataset
    yield dataset, RDF_TYPE, _sd("Dataset")
    yield dataset, _sd("defaultGraph"), default
    yield from _graph(default, len(store.default) if readable.has(DEFAULT_GRAPH) else 0)
    graphs = ((name, graph) for name, graph in store.named.items() if readable.has(name))
    for number, (name, graph) in enumerate(islice(graphs, MOST_GRAPHS)):
        named, contents = blank(f"named{number}"), blank(f"graph{number}")
        yield dataset, _sd("namedGraph"), named
        yield named, RDF_TYPE, _sd("NamedGraph")
        yield named, _sd("name"), name
        yield named, _sd("graph"), contents
        yield from _graph(contents, len(graph))


def _graph(node: Term, triples: int) -> Iterator[Triple]:
    yield node, RDF_TYPE, _sd("Graph")
    yield node, iri(f"{VOID}triples"), literal(str(triples), f"{XSD}integer")


def _sd(name: str) -> Term:
    return iri(SD + name)
