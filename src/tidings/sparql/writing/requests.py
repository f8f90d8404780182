"""Queries as text, and the patterns of updates as queries for what their templates need."""

from typing import assert_never

from msgspec import Struct

from tidings.model.terms import Var
from tidings.sparql.algebra import (
    WHOLE,
    Ask,
    Construct,
    Dataset,
    Describe,
    Node,
    QuadPattern,
    Query,
    Select,
    TriplePattern,
)
from tidings.sparql.prepared import Parameters
from tidings.sparql.writing.patterns import PatternWriter
from tidings.sparql.writing.surroundings import HIDDEN, Surroundings, written_variable

NUMBER = f"{HIDDEN}number"
PLACE = f"{HIDDEN}place_"


def written_query(query: Query, around: Surroundings) -> str:
    """A query that means the same. Raises NotAllowed for what is not to be asked elsewhere."""
    writer, seen = PatternWriter(around), datasets(around)
    match query:
        case Select(pattern):
            head, _, rest = writer.select(pattern).partition(" WHERE ")
            text = f"{head}{seen} WHERE {rest}"
        case Ask(pattern):
            text = f"ASK{seen} {writer.group(pattern)}"
        case Construct(template, pattern):
            text = f"CONSTRUCT {{ {_template(template, around)} }}{seen} WHERE {writer.group(pattern)}"
        case Describe(targets, pattern):
            names = " ".join(map(around.term, targets))
            text = f"DESCRIBE {names}{seen} WHERE {writer.group(pattern)}" if names else "CONSTRUCT {} WHERE {}"
        case _:
            assert_never(query)
    return f"{prologue(around)}{text}"


class Where(Struct, frozen=True):
    """A pattern whose solutions are asked for, or rather the terms of some of its variables."""

    pattern: Node
    variables: tuple[Var, ...]
    """In the pattern, all of them."""
    dataset: Dataset = WHOLE
    parameters: Parameters = ()
    distinct: bool = False
    """Whether to know each solution once is enough."""
    quads: tuple[QuadPattern, ...] = ()
    """Of these it is asked for each solution whether they are there; nobody says so who cannot be asked that."""

    @property
    def width(self) -> int:
        """Columns of an answer: variables, then quads."""
        return len(self.variables) + len(self.quads)


def written_where(where: Where, around: Surroundings, number: int) -> str:
    """SELECT of a number and of these variables by their places, for where a group may stand beside others."""
    terms = [written_variable(each) for each in where.variables]
    if around.tests and not around.merged:
        terms += [f"EXISTS {{ {_quad(each, around)} }}" for each in where.quads]
    names = "".join(f" ({each} AS {PLACE}{place})" for place, each in enumerate(terms))
    mark = "DISTINCT " if where.distinct else ""
    return f"SELECT {mark}({number} AS {NUMBER}){names} WHERE {PatternWriter(around).group(where.pattern)}"


def _quad(quad: QuadPattern, around: Surroundings) -> str:
    """A quad wherever it is, whichever graphs the pattern sees."""
    *triple, graph = quad
    text = " ".join(map(around.term, triple))
    name = around.term(graph) if graph else around.home
    return f"GRAPH {name} {{ {text} }}" if name else text


def prologue(around: Surroundings) -> str:
    return "".join(f"BASE <{base}> " for base in around.bases)


def datasets(around: Surroundings) -> str:
    """FROM, where it takes several graphs to be the default graph."""
    if not around.merged:
        return ""
    named = around.dataset.named or ()
    return "".join(f" FROM {name}" for name in around.merged) + "".join(f" FROM NAMED {name}" for name in named)


def _template(template: tuple[TriplePattern, ...], around: Surroundings) -> str:
    labels: dict[str, str] = {}

    def term(each: str) -> str:
        return labels.setdefault(each, f"_:b{len(labels)}") if each[0] == "_" else around.term(each)

    return " ".join(f"{term(s)} {term(p)} {term(o)} ." for s, p, o in template)
