"""`tidings update`: executes an update, and writes its exact delta or the data after it."""

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

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
)
from tidings.cli.input.binding import add_bindings, bound_text
from tidings.cli.input.loading import base_of, documents, load
from tidings.cli.output.complaint import warn
from tidings.cli.output.names import instant, prefixes_of
from tidings.cli.output.paint import harmless, signed, wants_colour
from tidings.cli.output.writing import write
from tidings.engine.updates.executor import Core
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.server.files import FolderLoader, rdf_format
from tidings.sparql.algebra import Modify
from tidings.sparql.evaluate.context import Limits
from tidings.sparql.parser import parse_update

DESCRIPTION = """\
Carry out a SPARQL 1.1 update, whole or not at all: on RDF files, if --data names any, else at the broker, which says
the number of the commit, what it added and removed, and when. Files stay as they are unless --in-place or --output
says otherwise."""
EXAMPLES = """\
examples:
  tidings update 'INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }'
  tidings update --delay PT5M --publisher janitor @lights-out.ru
  tidings update 'INSERT DATA { ?lamp <http://example.org/power> ?p }' --bind lamp='<http://example.org/l>' --bind p=42
  tidings update --data city.nt --delta --file lights-out.ru
  tidings update --data city.nt --in-place 'DELETE WHERE { ?s <http://tidings.example/lighting#hasMaterial> ?o }'
  tidings update --data city.nt --output city.ttl.gz 'INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }'
  tidings update --allow-load --output - 'LOAD <city.nt> INTO GRAPH <http://example.org/city>' | head -n 3
"""


def parser() -> Parser:
    result = Parser("tidings update", DESCRIPTION, EXAMPLES)
    add_text(result, "update")
    add_bindings(result)
    add_broker(result)
    when = result.add_mutually_exclusive_group()
    when.add_argument("--at", metavar="INSTANT", help="carry it out at this instant: 2026-11-15T10:00:00Z")
    when.add_argument("--delay", metavar="TIME", help="carry it out after this time: seconds, or PT1M30S")
    result.add_argument("--publisher", metavar="NAME", help="who publishes, for the log of the broker")
    add_limits(result)
    add_data(result)
    add_here(result)
    result.add_argument("--allow-load", action="store_true", help="let LOAD read files below the working directory")
    group = result.add_argument_group("output")
    group.add_argument("--delta", action="store_true", help="print what changed: `- quad .` and `+ quad .`")
    group.add_argument("--output", "-o", metavar="FILE", help="write the data after the update; `-` is stdout")
    group.add_argument("--in-place", action="store_true", help="write the data after the update to the --data file")
    group.add_argument("--format", metavar="NAME", help="format of the output, if its name does not tell")
    return result


def run(arguments: Namespace) -> int:
    text = bound_text(read_text(arguments, "update"), arguments)
    base = base_of(arguments)
    operations = parse_update(text, base)  # report a syntax error before anything else happens
    for operation in operations:
        if isinstance(operation, Modify):
            warn(operation.warnings, quiet=arguments.quiet)
    if is_here(arguments) or arguments.allow_load:
        if arguments.at is not None or arguments.delay is not None:
            raise UsageError("--at and --delay are for the broker; files do not wait")
        if arguments.publisher is not None:
            raise UsageError("--publisher is for the broker; files have no log")
        return _change_files(text, base, arguments)
    only_here(arguments, "delta", "output", "in_place", "format", "max_rows", "data_format")
    return _tell_broker(text, arguments)


def _tell_broker(text: str, arguments: Namespace) -> int:
    from tidings.cli.input.asking import send_update

    told = send_update(text, arguments)
    if "delayed" in told:
        print(f"accepted for {told['at']}; tidings delayed cancel {told['delayed']} calls it off")
    else:
        changed = bool(told["added"] or told["removed"])
        what = f"commit {told['sequence']:,}" if changed else f"no change after commit {told['sequence']:,}"
        print(f"{what}: added {told['added']:,}, removed {told['removed']:,}, {instant(told['time'])}")
    return 0


def _change_files(text: str, base: str, arguments: Namespace) -> int:
    target = _target(arguments)
    core = Core(base=base, loader=FolderLoader(Path(), base) if arguments.allow_load else None)
    load(core.store, arguments)
    limits = Limits(seconds=arguments.timeout, rows=arguments.max_rows, clock=time.monotonic)
    delta = core.update(text, now=time.time_ns() // 1000, limits=limits)
    if arguments.delta:
        write((line.encode() for line in delta_lines(delta, colour=wants_colour(sys.stdout))), None)
    if target is not None:
        write(serialize_rdf(core.store, target[1], prefixes_of(text)), target[0])
    if not arguments.quiet:
        print(f"added {sum(1 for _ in delta.added()):,}, removed {sum(1 for _ in delta.removed()):,}", file=sys.stderr)
    return 0


def _target(arguments: Namespace) -> tuple[str, RdfFormat] | None:
    """The file for the data after the update, and its format."""
    if arguments.in_place:
        sources = documents(arguments)
        if arguments.output is not None or len(sources) != 1 or sources[0].name == "-" or arguments.graph_data:
            raise UsageError("--in-place goes with exactly one --data file, and without --output")
        return sources[0].name, sources[0].format
    if arguments.output is None:
        return None
    if arguments.output == "-":
        if arguments.delta:
            raise UsageError("--delta and --output - would both write to stdout")
        return "-", rdf_format("-.nq", arguments.format)
    return arguments.output, rdf_format(arguments.output, arguments.format)


def delta_lines(delta: ZSet[Quad], *, colour: bool) -> Iterator[str]:
    """The removed quads, then the added ones, as N-Quads with a sign."""
    for sign, quads in (("-", delta.removed()), ("+", delta.added())):
        for s, p, o, g in quads:
            line = f"{s} {p} {o} {g} ." if g else f"{s} {p} {o} ."
            yield signed(sign, harmless(line) if colour else line, colour=colour)
