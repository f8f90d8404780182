"""`tidings update`: a change, what exactly it changed, and the data after it."""

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from tidings.cli.arguments import Parser, UsageError, add_data, add_limits, add_text, read_text
from tidings.cli.loading import base_of, documents, load
from tidings.cli.names import harmless, prefixes_of
from tidings.cli.writing import signed, wants_colour, write
from tidings.engine.core import Core
from tidings.files import FolderLoader, rdf_format
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.context import Limits
from tidings.sparql.parser import parse_update

DESCRIPTION = """\
Carry out a SPARQL 1.1 update on RDF files. It happens whole or not at all. How many quads were added and removed is
said on stderr; the files stay as they are unless --in-place or --output says otherwise."""
EXAMPLES = """\
examples:
  tidings update --data city.nt --delta --file lights-out.ru
  tidings update --data city.nt --in-place 'DELETE WHERE { ?s <http://tidings.example/lighting#hasMaterial> ?o }'
  tidings update --data city.nt --output city.ttl.gz 'INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }'
  tidings update --allow-load --output - 'LOAD <city.nt> INTO GRAPH <http://example.org/city>' | head -n 3
"""


def parser() -> Parser:
    result = Parser("tidings update", DESCRIPTION, EXAMPLES)
    add_text(result, "update")
    add_limits(result)
    add_data(result)
    result.add_argument("--allow-load", action="store_true", help="let LOAD read files below the working directory")
    group = result.add_argument_group("output")
    group.add_argument("--delta", action="store_true", help="print what changed: `- quad .` and `+ quad .`")
    group.add_argument("--output", "-o", metavar="FILE", help="write the data after the update; `-` is stdout")
    group.add_argument("--in-place", action="store_true", help="write the data after the update to the --data file")
    group.add_argument("--format", metavar="NAME", help="format of the output, if its name does not tell")
    return result


def run(arguments: Namespace) -> int:
    text = read_text(arguments, "update")
    base = base_of(arguments)
    parse_update(text, base)  # what is wrong is told before files are read
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
    """Where the data goes after the update, and in which format."""
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
    """What was removed, then what was added, as N-Quads with a sign."""
    for sign, quads in (("-", delta.removed()), ("+", delta.added())):
        for s, p, o, g in quads:
            line = f"{s} {p} {o} {g} ." if g else f"{s} {p} {o} ."
            yield signed(sign, harmless(line) if colour else line, colour=colour)
