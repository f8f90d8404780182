"""`--bind NAME=VALUE`: values for the variables of a text, as terms and never as text."""

from argparse import Namespace

from tidings.cli.input.arguments import Parser, UsageError
from tidings.cli.output.names import prefixes_of
from tidings.model.errors import RdfSyntaxError
from tidings.model.formats.grammar import ABSOLUTE_IRI, checked_iri
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import Term, is_blank

_HOW = 'write <http://…>, a prefixed name of the text, "text", "text"@en, a number, true or false'


def add_bindings(parser: Parser) -> None:
    parser.add_argument(
        "--bind", metavar="NAME=VALUE", action="append", default=[], help='value of a variable: <iri>, "text", 42'
    )


def bound_text(text: str, arguments: Namespace) -> str:
    """The text with the values of --bind in the places of their variables."""
    if not arguments.bind:
        return text
    from tidings.client.terms import bound, from_term

    prefixes = prefixes_of(text)
    given = dict(_pair(each) for each in arguments.bind)
    return bound(text, {name: from_term(read_term(value, prefixes)) for name, value in given.items()})


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    name = name.strip().lstrip("?$")
    if not equals or not name:
        raise UsageError(f"--bind {text!r} is not of the form NAME=VALUE")
    return name, value.strip()


def read_term(value: str, prefixes: dict[str, str]) -> Term:
    """A term in Turtle syntax. An IRI may be relative to the base of the text."""
    if value.startswith("<") and value.endswith(">"):
        try:
            return checked_iri(value[1:-1])
        except ValueError as error:
            raise UsageError(f"{value} is not an IRI") from error
    absolute = {prefix: namespace for prefix, namespace in prefixes.items() if ABSOLUTE_IRI.fullmatch(namespace)}
    lines = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in absolute.items())
    try:
        found = list(parse_rdf(f"{lines}<urn:s> <urn:p> {value} .".encode(), RdfFormat.TURTLE))
    except RdfSyntaxError as error:
        raise UsageError(f"{value!r} is not a value: {_HOW}") from error
    if len(found) != 1 or is_blank(found[0][2]):
        raise UsageError(f"{value!r} is not one value: {_HOW}")
    return found[0][2]
