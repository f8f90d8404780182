"""`tidings dump`: writes all quads of a broker, or one graph.

One answer has the state after one commit. If there are more quads than the broker returns in one answer, the command
asks for one predicate after the other.
"""

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from itertools import chain

from tidings.cli.input.arguments import Parser, UsageError, add_broker, seconds
from tidings.cli.input.genids import unnamed
from tidings.cli.input.identity import calling
from tidings.cli.input.loading import absolute
from tidings.cli.output.writing import write
from tidings.client.errors import NotUnderstood, Refused
from tidings.client.http import HttpClient
from tidings.model.errors import BadRequest, GraphMissing
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.formats.results.documents import ResultFormat, read_results
from tidings.model.formats.streams import whole_lines
from tidings.model.results import Row, Solutions
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term
from tidings.server.files import rdf_format

DESCRIPTION = """\
Write all quads of the broker, or the triples of one graph, to stdout or to a file, as they come. It is the data of one
commit; if there is more than the broker gives in one answer, and it changes meanwhile, that is said on stderr."""
EXAMPLES = """\
examples:
  tidings dump --output everything.nq.gz
  tidings dump --format trig | head -n 20
  tidings dump --graph default --output city.ttl --blank-nodes
"""
DEFAULT = "default"
_ALL = "SELECT ?s ?p ?o ?g WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
_KINDS = "SELECT DISTINCT ?g ?p WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


def parser() -> Parser:
    result = Parser("tidings dump", DESCRIPTION, EXAMPLES)
    add_broker(result)
    result.add_argument("--graph", metavar="IRI", help="only this graph; `default` is the one without a name")
    result.add_argument(
        "--blank-nodes", action="store_true", help="make blank nodes of the IRIs that load made of them"
    )
    result.add_argument("--timeout", metavar="SECONDS", type=seconds, help="give up after waiting so many seconds")
    result.add_argument("--quiet", "-q", action="store_true", help="say nothing on stderr but errors")
    group = result.add_argument_group("output")
    group.add_argument("--format", metavar="NAME", help="format (nquads, or ntriples for one graph)")
    group.add_argument("--output", "-o", metavar="FILE", help="write to a file; its name tells the format")
    return result


def run(arguments: Namespace) -> int:
    graph = None if arguments.graph is None else _graph(arguments.graph)
    format_ = _format(arguments)
    if graph is None and not format_.has_graphs:
        raise UsageError(f"{format_.media.name} has no place for graphs: give --graph, or another format")
    with calling(arguments, seconds=arguments.timeout) as calls:
        before = calls.json("/status")["sequence"]
        quads, parts = _quads(calls, graph)
        counted = _Counted(map(unnamed, quads) if arguments.blank_nodes else quads)
        statements: Iterable[Quad] = counted
        if not format_.has_graphs:
            statements = ((s, p, o, DEFAULT_GRAPH) for s, p, o, _ in counted)
        write(serialize_rdf(statements, format_), arguments.output)
        after = calls.json("/status")["sequence"] if parts else before
    if after != before:
        print(f"the data changed meanwhile: parts of it are of commits {before:,} to {after:,}", file=sys.stderr)
    if not arguments.quiet:
        print(f"{counted.seen:,} {'quad' if counted.seen == 1 else 'quads'}", file=sys.stderr)
    return 0


def _graph(text: str) -> Term:
    return DEFAULT_GRAPH if text == DEFAULT else absolute(text)


def _format(arguments: Namespace) -> RdfFormat:
    if arguments.format or arguments.output not in (None, "-"):
        try:
            return rdf_format(arguments.output or "-", arguments.format)
        except BadRequest as error:
            raise UsageError(str(error)) from error
    return RdfFormat.N_QUADS if arguments.graph is None else RdfFormat.N_TRIPLES


def _quads(calls: HttpClient, graph: Term | None) -> tuple[Iterator[Quad], bool]:
    """The quads, and whether they come in several answers."""
    rows = _rows(calls, _ALL if graph is None else _part(graph, "?p"))
    try:
        first = next(rows, None)
    except Refused as error:
        if error.code != "row_limit_exceeded":
            raise
        return _in_parts(calls, graph), True
    if first is None:
        if graph:
            raise GraphMissing(f"the broker has no graph {graph}")
        return iter(()), False
    return map(_quad if graph is None else _quad_of(graph), chain([first], rows)), False


def _in_parts(calls: HttpClient, graph: Term | None) -> Iterator[Quad]:
    for name, predicate in list(_rows(calls, _KINDS)):
        if predicate and graph in (None, name or DEFAULT_GRAPH):
            part = _rows(calls, _part(name or DEFAULT_GRAPH, predicate))
            yield from map(_quad_of(name or DEFAULT_GRAPH, predicate), part)


def _part(graph: Term, predicate: str) -> str:
    pattern = f"{{ ?s {predicate} ?o }}"
    variables = "?s ?p ?o" if predicate == "?p" else "?s ?o"
    return f"SELECT {variables} WHERE {{ GRAPH {graph} {pattern} }}" if graph else f"SELECT {variables} WHERE {pattern}"


def _quad(row: Row) -> Quad:
    s, p, o, g = row
    return s or "", p or "", o or "", g or DEFAULT_GRAPH


def _quad_of(graph: Term, predicate: Term | None = None) -> "_Made":
    return _Made(graph, predicate)


class _Made:
    """Turns a row of a partial answer into a quad."""

    def __init__(self, graph: Term, predicate: Term | None) -> None:
        self._graph = graph
        self._predicate = predicate

    def __call__(self, row: Row) -> Quad:
        s, *p, o = row
        return s or "", self._predicate or p[0] or "", o or "", self._graph


def _rows(calls: HttpClient, text: str) -> Iterator[Row]:
    """The rows of an answer, while they come: each piece of whole lines is parsed as a document of its own."""
    tsv = ResultFormat.TSV
    with calls.streamed("/query", "POST", form={"query": text}, accept=tsv.media.types[0]) as chunks:
        head = b""
        for lines in whole_lines(chunks):
            if not head:
                head, _, rest = lines.partition(b"\n")
                head += b"\n"
            else:
                rest = lines
            found = read_results(head + rest, tsv)
            if not isinstance(found, Solutions):
                raise NotUnderstood("the broker did not answer with rows")
            yield from found.rows


class _Counted:
    """Counts quads while they are iterated."""

    def __init__(self, quads: Iterable[Quad]) -> None:
        self._quads = quads
        self.seen = 0

    def __iter__(self) -> Iterator[Quad]:
        for quad in self._quads:
            self.seen += 1
            yield quad
