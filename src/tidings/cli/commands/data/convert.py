"""`tidings convert`: converts any RDF format to any other, statement by statement."""

from argparse import Namespace

from tidings.cli.input.arguments import Parser, UsageError
from tidings.cli.input.loading import Document, base_of, read
from tidings.cli.output.writing import write
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.server.files import rdf_format

_NAMES = ", ".join(format_.media.name for format_ in RdfFormat)
DESCRIPTION = f"""\
Turn one RDF format into another: {_NAMES}. Names of files tell their formats; those
ending in .gz are compressed. Nothing but JSON-LD input is held in memory."""
EXAMPLES = """\
examples:
  tidings convert city.nt city.ttl --prefix =http://tidings.example/lighting#
  tidings convert city.nt city.jsonld.gz
  tidings convert city.nt --to turtle | head -n 3
  cat city.nt | tidings convert - --from ntriples --to rdfxml > city.rdf
"""


def parser() -> Parser:
    result = Parser("tidings convert", DESCRIPTION, EXAMPLES)
    result.add_argument("source", metavar="IN", help="file to read; `-` is stdin")
    result.add_argument("target", metavar="OUT", nargs="?", help="file to write; without it, or as `-`, stdout")
    result.add_argument("--from", dest="source_format", metavar="NAME", help="format of IN, if its name does not tell")
    result.add_argument("--to", dest="target_format", metavar="NAME", help="format of OUT, if its name does not tell")
    result.add_argument("--base", metavar="IRI", help="what relative IRIs of IN are relative to")
    result.add_argument(
        "--prefix", metavar="NAME=IRI", action="append", default=[], help="abbreviation for Turtle, TriG and RDF/XML"
    )
    result.add_argument("--quiet", "-q", action="store_true", help="say nothing on stderr but errors")
    return result


def run(arguments: Namespace) -> int:
    if arguments.source == "-" and not arguments.source_format:
        raise UsageError("stdin has no name to tell its format: give --from")
    if arguments.target in (None, "-") and not arguments.target_format:
        raise UsageError("stdout has no name to tell its format: give --to")
    document = Document(arguments.source, rdf_format(arguments.source, arguments.source_format))
    target = rdf_format(arguments.target or "-", arguments.target_format)
    prefixes = dict(_prefix(text) for text in arguments.prefix)
    quads = read(document, base_of(arguments), quiet=arguments.quiet, blanks=KEEP_LABELS, verb="converted")
    write(serialize_rdf(quads, target, prefixes), arguments.target)
    return 0


def _prefix(text: str) -> tuple[str, str]:
    name, equals, namespace = text.partition("=")
    if not equals or not namespace:
        raise UsageError(f"{text!r} is not of the form NAME=IRI")
    return name.removesuffix(":"), namespace
