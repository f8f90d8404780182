"""`tidings city`: generates the demonstration city, of any size."""

from argparse import ArgumentTypeError, Namespace
from contextlib import suppress

from tidings.bench.workloads.city import NS, SEED, city
from tidings.cli.input.arguments import Parser
from tidings.cli.output.writing import write
from tidings.model.formats.rdf import serialize_rdf
from tidings.server.files import rdf_format

DESCRIPTION = """\
Write the smart-lighting city that examples and benchmarks use: roads, lamp posts, lamps, sensors. Factor 1 has 310
roads, 9,500 posts and 334,228 triples. The same seed gives the same city, and a larger one contains the smaller."""
EXAMPLES = """\
examples:
  tidings city --factor 0.01 --output city.nt
  tidings city --factor 0.1 --seed 7 --output large.ttl.gz
  tidings city --factor 0.01 | head -n 3
"""


def parser() -> Parser:
    result = Parser("tidings city", DESCRIPTION, EXAMPLES)
    result.add_argument("--factor", metavar="F", type=_factor, default=1.0, help="size of the city (default 1)")
    result.add_argument(
        "--seed", metavar="N", type=_seed, default=SEED, help=f"another N, another city (default {SEED})"
    )
    result.add_argument("--format", metavar="NAME", help="format, if the output's name does not tell (ntriples)")
    result.add_argument("--output", "-o", metavar="FILE", help="file to write; without it, or as `-`, stdout")
    return result


def _seed(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a whole number") from error


def _factor(text: str) -> float:
    with suppress(ValueError):
        if 0 < (value := float(text)) < float("inf"):
            return value
    raise ArgumentTypeError(f"{text!r} is not a number above 0")


def run(arguments: Namespace) -> int:
    name = "-.nt" if arguments.output in (None, "-") else arguments.output
    format_ = rdf_format(name, arguments.format)
    write(serialize_rdf(city(arguments.factor, arguments.seed), format_, {"": NS}), arguments.output)
    return 0
