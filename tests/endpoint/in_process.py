"""An endpoint in this process: Oxigraph's own store, asked and told in texts, as over HTTP; and how it misbehaves."""

import asyncio
from typing import Literal

import pyoxigraph

from tidings.endpoint.blanks import incoming
from tidings.endpoint.connection import Address, Connection
from tidings.engine.store.store import Store
from tidings.model.errors import EndpointAway, EndpointRefused
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.formats.results.json import read_json
from tidings.model.results import Boolean, Result, Row, Solutions
from tidings.model.terms import Quad, Triple


class InProcess(Connection):
    """A connection that goes nowhere."""

    def __init__(self) -> None:
        super().__init__(Address("http://localhost/query", "http://localhost/update"), seconds=1)
        self.store = pyoxigraph.Store()
        self.away = False
        self.breaks: Literal["before", "after"] | None = None
        """When the connection breaks that the next update comes by: before it is carried out, or after."""
        self.turn = asyncio.Event()
        self.turn.set()
        self.queries: list[str] = []
        self.updates: list[str] = []

    def quads(self) -> set[Quad]:
        document = self.store.dump(format=pyoxigraph.RdfFormat.N_QUADS)
        assert document is not None
        quads = parse_rdf(document, RdfFormat.N_QUADS, blanks=KEEP_LABELS)
        return {(incoming(s), p, incoming(o), g) for s, p, o, g in quads}

    def whole(self) -> Store:
        """Everything that it holds, for a naive evaluation."""
        return Store(self.quads())

    async def server(self) -> str:
        return "Oxigraph"

    async def _result(self, text: str) -> Result:
        await asyncio.sleep(0)
        self._check()
        self.queries.append(text)
        try:
            found = self.store.query(text)
        except SyntaxError as error:
            raise EndpointRefused(f"{error}: {text}") from error
        assert not isinstance(found, pyoxigraph.QueryTriples)
        document = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert document is not None
        return read_json(document)

    async def rows(self, text: str, most: int | None = None) -> list[Row]:
        found = await self._result(text)
        assert isinstance(found, Solutions)
        return [tuple(None if term is None else incoming(term) for term in row) for row in found.rows]

    async def boolean(self, text: str) -> bool:
        found = await self._result(text)
        assert isinstance(found, Boolean)
        return found.value

    async def triples(self, text: str, most: int | None = None) -> list[Triple]:
        await asyncio.sleep(0)
        self._check()
        self.queries.append(text)
        found = self.store.query(text)
        assert isinstance(found, pyoxigraph.QueryTriples)
        document = found.serialize(format=pyoxigraph.RdfFormat.N_TRIPLES)
        assert document is not None
        quads = parse_rdf(document, RdfFormat.N_TRIPLES, blanks=KEEP_LABELS)
        return [(incoming(s), p, incoming(o)) for s, p, o, _ in quads]

    async def update(self, text: str) -> None:
        await self.turn.wait()
        await asyncio.sleep(0)
        self._check()
        breaks, self.breaks = self.breaks, None
        if breaks is not None:
            self.away = True
        if breaks != "before":
            self.updates.append(text)
            self.store.update(text)
        self._check()

    def _check(self) -> None:
        if self.away:
            raise EndpointAway("nobody is there")
