"""Asks an endpoint about a graph that is not in memory: queries, patterns of updates, contexts.

{ SELECT (0 AS ?n) (?d AS ?c0) WHERE { … } } UNION { SELECT (1 AS ?n) … }        many patterns in one query
{ VALUES (?n ?s) { (0 <a>) (1 <b>) … } ?s <p> ?d }                               one pattern for many constants
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TypeAlias, assert_never

from tidings.endpoint.blanks import is_nameless, outgoing
from tidings.endpoint.connection import Connection
from tidings.endpoint.dialects import Dialect
from tidings.endpoint.paging import all_rows
from tidings.engine.lutt import ANY_NAMED, Key
from tidings.model.access import Graphs
from tidings.model.errors import ContextTooLarge, EndpointAway, EndpointRefused, TidingsError
from tidings.model.results import Boolean, Result, Row, Solutions, Triples
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, lexical_form
from tidings.sparql.algebra import BGP, WHOLE, Ask, Construct, Dataset, Describe, Graph, Node, Query, Select
from tidings.sparql.prepared import Parameters
from tidings.sparql.writing.requests import (
    NUMBER,
    PLACE,
    Where,
    datasets,
    prologue,
    written_query,
    written_table,
    written_where,
)
from tidings.sparql.writing.surroundings import Surroundings

TOGETHER = 64
"""The most patterns in one query."""

Found: TypeAlias = list[list[Row] | TidingsError]


class Asking:
    """Asks an endpoint in its dialect. All methods raise EndpointAway and EndpointRefused. `largest` is the greatest
    size of the answer to a query, in bytes."""

    def __init__(self, connection: Connection, dialect: Dialect, largest: int | None = None) -> None:
        self._connection = connection
        self._dialect = dialect
        self._largest = largest

    async def answer(self, query: Query, parameters: Parameters) -> Result:
        """The answer to a query. Raises AnswerTooLarge, and AnswerCut if the endpoint may have cut it off."""
        text = written_query(query, self._around(query.dataset, parameters))
        match query:
            case Select(_, variables):
                width = len(variables)
                rows = [row[:width] for row in await self._connection.rows(text, self._largest)]
                return Solutions(tuple(variable[1:] for variable in variables), rows)
            case Ask():
                return Boolean(await self._connection.boolean(text))
            case Construct() | Describe():
                return Triples(await self._connection.triples(text, self._largest))
            case _:
                assert_never(query)

    def _around(self, dataset: Dataset, parameters: Parameters) -> Surroundings:
        dialect = self._dialect
        spell = partial(outgoing, address=dialect.address)
        return Surroundings(parameters, dataset, spell, dialect.default_graph, dialect.ignored, dialect.tests)

    # -- solutions ----------------------------------------------------------------------------------------------

    async def solutions(self, wheres: Sequence[Where]) -> Found:
        """For each WHERE, the rows of its answer, or the error."""
        found: Found = []
        rest = iter(wheres)
        while portion := list(islice(rest, TOGETHER)):
            found += await self._together(portion)
        return found

    async def _together(self, wheres: list[Where], most: int | None = None) -> Found:
        try:
            return list(await self._asked(wheres, most))
        except EndpointRefused as error:  # perhaps only one of them is refused
            if len(wheres) == 1:
                return [error]
        except TidingsError as error:
            if isinstance(error, EndpointAway):
                raise
            if len(wheres) == 1:
                return [error]
        return [each for where in wheres for each in await self._together([where], most)]

    async def _asked(self, wheres: list[Where], most: int | None) -> list[list[Row]]:
        """Ask for all in one query. Raises EndpointRefused or AnswerCut if the endpoint cannot answer all at once."""
        question, limit = self._question(wheres, most), self._dialect.rows
        if len(wheres) == 1:
            rows = await all_rows(self._connection, question, partial(self._sorted, wheres[0]), limit, most)
        else:
            rows = await self._connection.rows(question)
            if limit is not None and len(rows) >= limit:
                raise EndpointRefused("this is too much at once")
        found: list[list[Row]] = [[] for _ in wheres]
        for number, *terms in rows:
            place = _number(number, len(wheres))
            found[place].append(tuple(terms[: wheres[place].width]))
        return found

    def _question(self, wheres: list[Where], most: int | None) -> str:
        limit = "" if most is None else f" LIMIT {most}"
        if self._dialect.tables and len(wheres) > 1:
            table = written_table(wheres, self._around(wheres[0].dataset, ()))
            if table is not None:
                return f"{table}{limit}"
        arounds = [self._around(where.dataset, where.parameters) for where in wheres]
        branches = [written_where(where, arounds[number], number) for number, where in enumerate(wheres)]
        if len(wheres) == 1:
            names = _names(wheres[0].width)
            begin, seen = prologue(arounds[0]), datasets(arounds[0])
            return f"{begin}SELECT {names}{seen} WHERE {{ {{ {branches[0]} }} }}{limit}"
        if any(around.merged or around.bases for around in arounds):
            raise EndpointRefused("what is relative, or about several graphs at once, is asked alone")
        names = _names(max(where.width for where in wheres))
        return f"SELECT {names} WHERE {{ {' UNION '.join(f'{{ {each} }}' for each in branches)} }}{limit}"

    def _sorted(self, where: Where) -> str:
        """The query for one WHERE, with sorted rows, so that the answer can be fetched in pages."""
        around = self._around(where.dataset, where.parameters)
        names = _names(where.width)
        inner = f"SELECT {names} WHERE {{ {{ {written_where(where, around, 0)} }} }} ORDER BY {names}"
        return f"{prologue(around)}SELECT {names}{datasets(around)} WHERE {{ {{ {inner} }} }}"

    # -- contexts -----------------------------------------------------------------------------------------------

    async def select(self, keys: Collection[Key], most: int) -> set[Quad]:
        """All quads that these patterns select. Raises ContextTooLarge if there are more than `most`."""
        quads: set[Quad] = set()
        rest = iter(keys)
        while portion := list(islice(rest, TOGETHER)):
            room = most + 1 - len(quads)
            for key, rows in zip(portion, await self._together([_where(key) for key in portion], room), strict=True):
                if isinstance(rows, TidingsError):
                    raise rows
                quads.update(_quads(key, rows))
            if len(quads) > most:
                said = f"more than {most:,} quads concern this, which is all that there is room for: see max_context"
                raise ContextTooLarge(said, most)
        return quads


def _names(width: int) -> str:
    return " ".join([NUMBER, *(f"{PLACE}{place}" for place in range(width))])


_NAMES = ("?s", "?p", "?o", "?g")


def _where(key: Key) -> Where:
    """The query for the open terms of a pattern of quads."""
    *terms, graph = key
    s, p, o = (term or name for term, name in zip(terms, _NAMES, strict=False))
    pattern: Node = BGP(((s, p, o),))
    dataset = WHOLE
    variables = [name for term, name in zip(terms, _NAMES, strict=False) if term is None]
    if _is_open(graph):
        pattern, variables = Graph("?g", pattern), [*variables, "?g"]
        if graph is not ANY_NAMED:
            dataset = Dataset(readable=Graphs(prefixes=(graph[1:],)))
    elif graph != DEFAULT_GRAPH:
        pattern = Graph(graph or "", pattern)
    return Where(pattern, tuple(variables), dataset)


def _is_open(graph: Term | None) -> bool:
    return graph is ANY_NAMED or (graph != DEFAULT_GRAPH and graph[-1] != ">")


def _quads(key: Key, rows: list[Row]) -> Iterator[Quad]:
    """The quads that a pattern selects, from its fixed terms and the rows of the answer."""
    fixed = [None if place == 3 and _is_open(term) else term for place, term in enumerate(key)]
    for row in rows:
        found = iter(row)
        s, p, o, g = (next(found) if term is None else term for term in fixed)
        if s is None or p is None or o is None or g is None:
            raise EndpointAway("the endpoint answers with rows that have gaps where there can be none")
        if not is_nameless(g):
            yield s, p, o, g


def _number(term: Term | None, most: int) -> int:
    try:
        number = int(lexical_form(term or ""))
    except (ValueError, IndexError) as error:
        raise EndpointAway(f"the endpoint answers with {term} where it was given a number") from error
    if not 0 <= number < most:
        raise EndpointAway(f"the endpoint answers with the number {number}, which it was not given")
    return number
