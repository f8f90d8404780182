"""`tidings query`: evaluates a query, and writes its answer as a table or in a standard format."""

import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import assert_never

from tidings.cli.input.arguments import (
    Parser,
    UsageError,
    add_broker,
    add_data,
    add_here,
    add_limits,
    add_text,
    is_here,
    only_here,
    read_text,
    whole,
)
from tidings.cli.input.binding import add_bindings, bound_text
from tidings.cli.input.loading import absolute, base_of, load
from tidings.cli.output.complaint import warn
from tidings.cli.output.names import Names, prefixes_of
from tidings.cli.output.paint import wants_colour
from tidings.cli.output.table import draw
from tidings.cli.output.writing import write
from tidings.engine.updates.executor import Core
from tidings.model.errors import UnsupportedFormat
from tidings.model.formats.media import by_file_name, by_name
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.formats.results.documents import ResultFormat, write_results
from tidings.model.results import Boolean, Result, Row, Solutions, Triples
from tidings.sparql.algebra import Ask, Dataset, Query, Select
from tidings.sparql.evaluate.context import Limits
from tidings.sparql.parser import parse_query

TABLE = "table"
_RESULT_NAMES = [TABLE, *(format_.media.name for format_ in ResultFormat)]
_RDF_NAMES = [format_.media.name for format_ in RdfFormat]

DESCRIPTION = """\
Ask a SPARQL 1.1 query: of RDF files, if --data names any, else of the broker. The answer is a table on a
terminal (Turtle for CONSTRUCT and DESCRIBE), and tab-separated values in a pipe (N-Triples for CONSTRUCT and
DESCRIBE)."""
EXAMPLES = """\
examples:
  tidings query 'SELECT * WHERE { ?s ?p ?o } LIMIT 5'
  tidings query @lamps.rq --bind lamp='<http://tidings.example/lighting#LAMP_1_1>' --format json
  tidings query --data city.nt 'SELECT ?p (COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n)'
  tidings query --data city.nt --file lamps.rq --format json --output lamps.srj
  tidings query --data city.nt 'CONSTRUCT WHERE { ?post a <http://tidings.example/lighting#LampPost> }' | head -n 3
  tidings query --graph-data http://example.org/city=city.nt 'SELECT DISTINCT ?g ?p { GRAPH ?g { ?s ?p ?o } }'
  echo 'ASK { ?s ?p 42 }' | tidings query --data city.nt --timeout 5 -
"""


def parser() -> Parser:
    result = Parser("tidings query", DESCRIPTION, EXAMPLES)
    add_text(result, "query")
    add_bindings(result)
    add_broker(result)
    add_limits(result)
    add_data(result)
    add_here(result)
    group = result.add_argument_group("dataset")
    group.add_argument("--default-graph", metavar="IRI", action="append", default=[], help="graph to ask by default")
    group.add_argument("--named-graph", metavar="IRI", action="append", default=[], help="graph that GRAPH can name")
    group.add_argument(
        "--at", metavar="COMMIT", type=whole, help="the answer as it was after this commit of the broker"
    )
    group = result.add_argument_group("output")
    names = ", ".join((*_RESULT_NAMES, *_RDF_NAMES))
    group.add_argument("--format", metavar="NAME", help=f"one of {names}")
    group.add_argument("--output", "-o", metavar="FILE", help="write to a file; its name tells the format")
    return result


def run(arguments: Namespace) -> int:
    text = bound_text(read_text(arguments, "query"), arguments)
    base = base_of(arguments)
    dataset = _dataset(arguments)
    query = parse_query(text, base, dataset)  # report a syntax error before anything else happens
    warn(query.warnings, quiet=arguments.quiet)
    chosen = choose_format(query, arguments)
    if is_here(arguments):
        if arguments.at is not None:
            raise UsageError("--at is for the broker, which has a log; files have no past")
        _ask_files(text, base, dataset, chosen, arguments)
    else:
        _ask_broker(text, chosen, arguments)
    return 0


def _ask_files(
    text: str, base: str, dataset: Dataset | None, chosen: ResultFormat | RdfFormat | str, arguments: Namespace
) -> None:
    core = Core(base=base)
    load(core.store, arguments)
    limits = Limits(seconds=arguments.timeout, rows=arguments.max_rows, clock=time.monotonic)
    start = time.monotonic()
    result = core.query(text, dataset, now=time.time_ns() // 1000, limits=limits)
    deliver(result, chosen, text, arguments, start)


def _ask_broker(text: str, chosen: ResultFormat | RdfFormat | str, arguments: Namespace) -> None:
    from tidings.cli.input.asking import all_is_named, answer_bytes, answer_triples, table_of

    only_here(arguments, "max_rows", "data_format")
    start = time.monotonic()
    if isinstance(chosen, str):
        found = _show(table_of(text, arguments), text, arguments, start)
        if not found and not arguments.quiet and all_is_named(text, arguments):
            print("  the default graph is empty; for the named ones, write GRAPH ?g { … }", file=sys.stderr)
    elif chosen is RdfFormat.TURTLE and (prefixes := prefixes_of(text)):
        write(serialize_rdf(answer_triples(text, arguments), chosen, prefixes), arguments.output)
    else:
        write(answer_bytes(text, chosen.media.types[0], arguments), arguments.output)


def _dataset(arguments: Namespace) -> Dataset | None:
    if not arguments.default_graph and not arguments.named_graph:
        return None
    return Dataset(tuple(map(absolute, arguments.default_graph)), tuple(map(absolute, arguments.named_graph)))


def choose_format(query: Query, arguments: Namespace) -> ResultFormat | RdfFormat | str:
    """The format of the options, or that of the output file's ending, or the default for a terminal or a pipe."""
    is_table = isinstance(query, Select | Ask)
    formats: tuple[ResultFormat | RdfFormat, ...] = tuple(ResultFormat) if is_table else tuple(RdfFormat)
    name, output = arguments.format, arguments.output
    to_person = output is None and sys.stdout.isatty()
    try:
        if name == TABLE and is_table:
            return TABLE
        if name:
            return by_name(formats, name)
        if output not in (None, "-"):
            return by_file_name(formats, output)
    except UnsupportedFormat as error:
        what, names = ("SELECT or ASK", _RESULT_NAMES) if is_table else ("CONSTRUCT or DESCRIBE", _RDF_NAMES)
        raise UsageError(
            f"the answer of {what} can be written as {', '.join(names)}, not as {name or output}"
        ) from error
    if is_table:
        return TABLE if to_person else ResultFormat.TSV
    return RdfFormat.TURTLE if to_person else RdfFormat.N_TRIPLES


def deliver(
    result: Result, chosen: ResultFormat | RdfFormat | str, text: str, arguments: Namespace, start: float
) -> None:
    """Write the answer to a query in the chosen format."""
    if chosen == TABLE:
        _show(result, text, arguments, start)
    else:
        write(_document(result, chosen, prefixes_of(text)), arguments.output)


def _document(result: Result, chosen: ResultFormat | RdfFormat | str, prefixes: dict[str, str]) -> Iterator[bytes]:
    match result, chosen:
        case Solutions() | Boolean(), ResultFormat():
            return write_results(result, chosen)
        case Triples(triples), RdfFormat():
            return serialize_rdf(triples, chosen, prefixes)
        case _:
            raise AssertionError("the format was chosen for this form of query")


def _show(result: Result, text: str, arguments: Namespace, start: float) -> int:
    """Write the table; the number of its rows."""
    match result:
        case Boolean(value):
            write([b"true\n" if value else b"false\n"], arguments.output)
            return int(value)
        case Triples():
            raise AssertionError("triples are no table")
        case Solutions(variables, rows):
            counter = _Counter(rows)
        case _:
            assert_never(result)
    width = shutil.get_terminal_size((100, 24)).columns
    colour = arguments.output is None and wants_colour(sys.stdout)
    lines = draw(Solutions(variables, counter), Names(prefixes_of(text)), width=width, colour=colour)
    write((line.encode() for line in lines), arguments.output)
    if not arguments.quiet:
        rows_ = "1 row" if counter.seen == 1 else f"{counter.seen:,} rows"
        print(f"{rows_} in {(time.monotonic() - start) * 1000:,.0f} ms", file=sys.stderr)
    return counter.seen


class _Counter:
    """Counts rows while they are iterated."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.seen = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.seen += 1
            yield row
