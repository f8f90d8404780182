"""THE STORY of an endpoint as the store of record: what the broker asks for, as requests in its dialect.

take      DELETE DATA … ; INSERT DATA …           in portions; a repetition changes nothing
lacking   which of these quads exist?             in portions; numbers identify quads, whatever their spelling there
compare   counts and digests, then what differs
answer, solutions, select                         for a broker with only a part of the graph in memory
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from uuid import uuid4

from tidings.endpoint.asking import Asking
from tidings.endpoint.blanks import can_be_named, outgoing
from tidings.endpoint.comparing import Comparing
from tidings.endpoint.connection import Connection
from tidings.endpoint.dialects import Dialect, dialect_of
from tidings.endpoint.spellings import Compared, are_same, compared
from tidings.endpoint.writing import updates
from tidings.engine.lutt import Key
from tidings.engine.store.store import Store
from tidings.model.errors import BadRequest, EndpointAway, EndpointRefused, TidingsError
from tidings.model.results import Result, Row
from tidings.model.terms import Quad, Term, lexical_form
from tidings.sparql.algebra import Query
from tidings.sparql.prepared import Parameters
from tidings.sparql.writing.requests import Where

_EVERYTHING = 1 << 40

log = logging.getLogger("tidings")


class SparqlStore:
    """An endpoint. `dialect` is the name of its dialect, or None to detect it; `default_graph` is the IRI of a graph
    that stands for the default graph, for stores whose own is the union of the named graphs."""

    def __init__(
        self,
        connection: Connection,
        dialect: str | None = None,
        default_graph: Term | None = None,
        part: Callable[[], Collection[Key]] | None = None,
        largest: int | None = None,
    ) -> None:
        """`part` returns the patterns of the quads in memory, if that is not the whole graph; `largest` is the greatest
        size of the answer to a query, in bytes."""
        self._largest = largest
        self._connection = connection
        self._part = part
        self._named = dialect
        self._default_graph = default_graph
        self._dialect: Dialect | None = None
        self.updates = 0
        self.queries = 0

    async def dialect(self) -> Dialect:
        """The dialect, found out once. Raises BadRequest if the default graph is the union of the named graphs."""
        if self._dialect is None:
            dialect = dialect_of(self._named, await self._connection.server())
            self._connection.bare = dialect.bare
            if self._default_graph is not None:
                dialect = replace(dialect, default_graph=self._default_graph)
            if not dialect.default_graph:
                await self._check_default()
            self._dialect = dialect
        return self._dialect

    async def _check_default(self) -> None:
        """Raise BadRequest if the default graph shows the triples of named graphs: the broker cannot keep a copy of it.
        If it has all of their triples, which may be chance, or if they have none, the broker tries it out."""
        rows = await self._connection.rows("SELECT ?s { GRAPH ?g { ?s ?p ?o } } LIMIT 1")
        if rows and await self._connection.rows(
            "SELECT ?s { GRAPH ?g { ?s ?p ?o } FILTER NOT EXISTS { ?s ?p ?o } } LIMIT 1"
        ):
            return
        try:
            union = await self._shows_others()
        except EndpointRefused as error:
            if rows:
                raise
            log.warning("the endpoint takes no updates: %s", error)  # so there will be no named graphs to show
            return
        if union:
            raise BadRequest(
                "the endpoint's default graph is the union of its named graphs. "
                "Say with endpoint_default_graph which graph is to stand for it"
            )

    async def _shows_others(self) -> bool:
        """Whether the default graph shows a triple that this adds to another graph, and then removes."""
        name = f"<urn:tidings:trial:{uuid4().hex}>"
        data = f"DATA {{ GRAPH {name} {{ {name} {name} {name} }} }}"
        await self._connection.update(f"INSERT {data}")
        try:
            return await self._connection.boolean(f"ASK {{ {name} {name} {name} }}")
        finally:
            await self._connection.update(f"DELETE {data}")

    async def greet(self) -> None:
        await self._connection.boolean("ASK {}")

    async def take(self, states: Mapping[Quad, bool]) -> None:
        dialect = await self.dialect()
        for quad in states:  # check all before sending any
            if not can_be_named(quad, dialect.address):
                raise EndpointRefused(f"the endpoint has no name for its blank node in {' '.join(quad)}")
        for text in updates(states, dialect):
            self.updates += 1
            await self._connection.update(text)

    async def lacking(self, states: Mapping[Quad, bool]) -> list[Quad]:
        dialect = await self.dialect()
        lacking: list[Quad] = []
        rest = iter([quad for quad in states if can_be_named(quad, dialect.address)])
        while portion := list(islice(rest, dialect.asked)):
            held = await self._held(portion, dialect)
            lacking += [quad for number, quad in enumerate(portion) if (number in held) is not states[quad]]
        return lacking

    async def _held(self, quads: list[Quad], dialect: Dialect) -> set[int]:
        """The positions of the quads that exist there. Stores may refuse queries about some quads, as Virtuoso does for
        times without a timezone: bisection finds these, and `_gives` looks for them among the objects."""
        try:
            return await self._asked_about(quads, dialect)
        except EndpointRefused:
            await self.greet()  # raises if it refuses every query
        if len(quads) == 1:
            return {0} if await self._gives(quads[0], dialect) else set()
        half = len(quads) // 2
        first, second = await self._held(quads[:half], dialect), await self._held(quads[half:], dialect)
        return first | {half + number for number in second}

    async def _gives(self, quad: Quad, dialect: Dialect) -> bool:
        s, p, o, g = quad
        pattern, name = f"{outgoing(s, dialect.address)} {p} ?o", g or dialect.default_graph
        self.queries += 1
        rows = await self._connection.rows(f"SELECT ?o {{ {f'GRAPH {name} {{ {pattern} }}' if name else pattern} }}")
        return any(found is not None and are_same(o, found) for (found,) in rows)

    async def _asked_about(self, quads: list[Quad], dialect: Dialect) -> set[int]:
        graphs: dict[bool, list[str]] = {False: [], True: []}
        for number, (s, p, o, g) in enumerate(quads):
            name = g or dialect.default_graph
            terms = f"{outgoing(s, dialect.address)} {p} {outgoing(o, dialect.address)}"
            graphs[bool(name)].append(f"({number} {name} {terms})" if name else f"({number} {terms})")
        held: set[int] = set()
        for named, rows in graphs.items():
            if rows:
                self.queries += 1
                held |= _numbers(await self._connection.rows(_question(rows, named=named)))
        return held

    async def compare(self, store: Store) -> Compared:
        if self._part is None:
            return await Comparing(self._connection, await self.dialect(), store).run()
        found = await self.select(self._part(), _EVERYTHING)
        return await asyncio.to_thread(compared, set(store), found)

    # -- for a broker with only a part of the graph in memory ---------------------------------------------------

    async def answer(self, query: Query, parameters: Parameters) -> Result:
        return await (await self._asking()).answer(query, parameters)

    async def solutions(self, wheres: Sequence[Where]) -> list[list[Row] | TidingsError]:
        return await (await self._asking()).solutions(wheres)

    async def select(self, keys: Collection[Key], most: int) -> set[Quad]:
        return await (await self._asking()).select(keys, most)

    async def in_pages(self) -> bool:
        return (await self.dialect()).rows is not None

    async def _asking(self) -> Asking:
        self.queries += 1
        return Asking(self._connection, await self.dialect(), self._largest)


def _question(rows: list[str], *, named: bool) -> str:
    values = " ".join(rows)
    if named:
        return f"SELECT DISTINCT ?i {{ VALUES (?i ?g ?s ?p ?o) {{ {values} }} GRAPH ?g {{ ?s ?p ?o }} }}"
    return f"SELECT DISTINCT ?i {{ VALUES (?i ?s ?p ?o) {{ {values} }} ?s ?p ?o }}"


def _numbers(rows: Iterable[tuple[Term | None, ...]]) -> set[int]:
    try:
        return {int(lexical_form(row[0] or "")) for row in rows}
    except (ValueError, IndexError) as error:
        raise EndpointAway("the endpoint answers with something else than numbers that it was given") from error
