"""`tidings subscribe`: shows the answer of a subscription and its changes, for people and for programs."""

from argparse import Namespace

from tidings.cli.input.addresses import ws_of
from tidings.cli.input.arguments import Parser, add_broker, add_text, count, read_text, seconds
from tidings.cli.input.asking import based
from tidings.cli.input.binding import add_bindings, bound_text
from tidings.cli.input.identity import shown_of
from tidings.cli.input.loading import absolute, base_of
from tidings.cli.output.complaint import warn
from tidings.cli.output.following import Wanted, follow
from tidings.sparql.parser import parse_query

DESCRIPTION = """\
Subscribe a SPARQL 1.1 query at the broker and follow its answer: as a live table on a terminal, as lines of what came
(+) and went (-) in a pipe, or as JSON lines for programs. The first change is the whole answer. It goes on over a
restart of the broker, and ends with Ctrl+C."""
EXAMPLES = """\
examples:
  tidings subscribe --count 1 'SELECT ?s ?o WHERE { ?s <http://example.org/power> ?o }'
  tidings subscribe --for 1 @lamps.rq
  tidings subscribe --json --for 1 @lamps.rq --bind lamp='<http://tidings.example/lighting#LAMP_1_1>' | head -n 1
"""


def parser() -> Parser:
    result = Parser("tidings subscribe", DESCRIPTION, EXAMPLES)
    add_text(result, "query")
    add_bindings(result)
    add_broker(result, subscribes=True)
    result.add_argument("--base", metavar="IRI", help="what relative IRIs of the query are relative to")
    result.add_argument("--default-graph", metavar="IRI", action="append", default=[], help="graph to ask by default")
    result.add_argument("--named-graph", metavar="IRI", action="append", default=[], help="graph that GRAPH can name")
    add_following(result)
    return result


def add_following(parser: Parser) -> None:
    """The options that say how to show changes, and when to end."""
    group = parser.add_argument_group("output")
    how = group.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print a line of JSON for each change")
    how.add_argument("--changes", action="store_true", help="print lines of what came and went, also on a terminal")
    group.add_argument("--count", metavar="N", type=count, help="end after so many changes, the first answer included")
    group.add_argument("--for", dest="span", metavar="SECONDS", type=seconds, help="end after so many seconds")
    group.add_argument("--quiet", "-q", action="store_true", help="say nothing on stderr but errors")


def run(arguments: Namespace) -> int:
    text = bound_text(read_text(arguments, "query"), arguments)
    warn(parse_query(text, base_of(arguments)).warnings)  # report a syntax error before anything else happens
    default, named = (
        tuple(absolute(name)[1:-1] for name in graphs) for graphs in (arguments.default_graph, arguments.named_graph)
    )
    url = ws_of(arguments)
    follow(Wanted(url, based(text, arguments), default, named, shown_of(arguments, url)), arguments)
    return 0
