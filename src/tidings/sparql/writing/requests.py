"""Writes queries as text, and the patterns of updates as queries for the terms that their templates need."""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from msgspec import Struct

from tidings.model.terms import Var
from tidings.sparql.algebra import (
    BGP,
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
GIVEN = f"{HIDDEN}given_"


def written_query(query: Query, around: Surroundings) -> str:
    """The text of a query. Raises NotAllowed if it has a part that the endpoint must not evaluate, such as SERVICE."""
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
    """The WHERE of an update, as a query for the terms of some of its variables."""

    pattern: Node
    variables: tuple[Var, ...]
    """Variables of the pattern."""
    dataset: Dataset = WHOLE
    parameters: Parameters = ()
    distinct: bool = False
    """Whether duplicate solutions may be dropped."""
    quads: tuple[QuadPattern, ...] = ()
    """For each solution, the query also asks whether these quads exist, unless the endpoint cannot answer that."""

    @property
    def width(self) -> int:
        """Columns of an answer: variables, then quads."""
        return len(self.variables) + len(self.quads)


def written_where(where: Where, around: Surroundings, number: int) -> str:
    """A SELECT of a number and of the variables, renamed by position, so that several of them can form a UNION."""
    mark = "DISTINCT " if where.distinct else ""
    pattern = PatternWriter(around).group(where.pattern)
    return f"SELECT {mark}({number} AS {NUMBER}){_names(where, around)} WHERE {pattern}"


def _names(where: Where, around: Surroundings) -> str:
    terms = [written_variable(each) for each in where.variables]
    if around.tests and not around.merged:
        terms += [f"EXISTS {{ {_quad(each, around)} }}" for each in where.quads]
    return "".join([f" ({each} AS {PLACE}{place})" for place, each in enumerate(terms)])


def written_table(wheres: Sequence[Where], around: Surroundings) -> str | None:
    """One SELECT for all of these, if they are of one kind, and a single triple pattern: what differs is in a table.

        { VALUES (?n ?x) { (0 <a>) (1 <b>) … } ?x <p> ?o }

    The table has only IRIs that the pattern needs: a store may know a literal by another spelling."""
    first, *others = wheres
    if not isinstance(first.pattern, BGP) or len(first.pattern.patterns) != 1 or around.merged:
        return None
    (pattern,) = first.pattern.patterns
    matched, tested = _lifted(pattern), [number for quad in first.quads for number in _lifted(quad)]
    if pattern[1][0] == "$" or not all(_is_alike(first, each) for each in others):
        return None
    if not all(each.parameters[number][0] == "<" for each in wheres for number in matched):
        return None
    given = list(dict.fromkeys((*matched, *tested)))
    rows = "".join(
        [
            f" ({' '.join([str(number), *[around.spell(each.parameters[place]) for place in given]])})"
            for number, each in enumerate(wheres)
        ]
    )
    names = tuple([f"{GIVEN}{number}" for number in range(len(first.parameters))])
    inside = replace(around, parameters=names)
    table = f"VALUES ({' '.join([NUMBER, *[names[number] for number in given]])}) {{{rows} }}"
    mark = "DISTINCT " if first.distinct else ""
    text = PatternWriter(inside).group(first.pattern)
    return f"SELECT {mark}{NUMBER}{_names(first, inside)} WHERE {{ {table} {text} }}"


def _lifted(terms: Sequence[str]) -> list[int]:
    return [int(term[2:]) for term in terms if term[:1] == "$"]


def _is_alike(one: Where, other: Where) -> bool:
    return (
        one.pattern is other.pattern
        and one.dataset == other.dataset
        and one.variables == other.variables
        and one.distinct == other.distinct
        and one.quads == other.quads
    )


def _quad(quad: QuadPattern, around: Surroundings) -> str:
    """The text of a quad in its graph, even if the dataset does not include that graph."""
    *triple, graph = quad
    text = " ".join(map(around.term, triple))
    name = around.term(graph) if graph else around.home
    return f"GRAPH {name} {{ {text} }}" if name else text


def prologue(around: Surroundings) -> str:
    return "".join(f"BASE <{base}> " for base in around.bases)


def datasets(around: Surroundings) -> str:
    """FROM and FROM NAMED, if the default graph is the merge of several graphs."""
    if not around.merged:
        return ""
    named = around.dataset.named or ()
    return "".join(f" FROM {name}" for name in around.merged) + "".join(f" FROM NAMED {name}" for name in named)


def _template(template: tuple[TriplePattern, ...], around: Surroundings) -> str:
    labels: dict[str, str] = {}

    def term(each: str) -> str:
        return labels.setdefault(each, f"_:b{len(labels)}") if each[0] == "_" else around.term(each)

    return " ".join(f"{term(s)} {term(p)} {term(o)} ." for s, p, o in template)
