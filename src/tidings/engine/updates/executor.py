"""Executes requests on the store: from a text to an answer, or to an exact delta. Callers pass the present instant.

A request is atomic: if one of its operations fails, the store applies the negated delta of those before it, and is as
before.
"""

from random import Random

from tidings.engine.store.store import Store
from tidings.engine.updates.operations import Loader, Operations, PreparedUpdate
from tidings.engine.warnings import Warnings
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.results import Result
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset, Modify, Query, narrowed
from tidings.sparql.algebra.complexity import check_parts, parts_of
from tidings.sparql.binding import Bindable
from tidings.sparql.evaluate.context import UNLIMITED, Limits, Moment, ServiceClient
from tidings.sparql.evaluate.query import evaluate
from tidings.sparql.parser.cursor import Cursor
from tidings.sparql.parser.query import read_query
from tidings.sparql.parser.update import read_update
from tidings.sparql.prepared import Parameters, Templates


class Core:
    """A store that executes queries and updates."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        base: str | None = None,
        loader: Loader | None = None,
        service: ServiceClient | None = None,
        random: Random | None = None,
        most_parts: int | None = None,
    ) -> None:
        self.store = Store() if store is None else store
        self.base = base
        self.most_parts = most_parts
        """How many parts a request may have; None is no limit."""
        self._service = service
        self.operations = Operations(self.store, loader=loader, service=service)
        self.moment = Moment(0, random)
        self.warnings = Warnings()
        self._queries = Templates(self.read_query)
        self._updates = Templates(self._read_update)

    def read_query(self, cursor: Cursor, dataset: Dataset | None) -> Query:
        """Parse and check a query."""
        query = read_query(cursor, dataset)
        check_parts(parts_of(query.pattern), self.most_parts)
        self.warnings.note(query.warnings)
        return query

    def _read_update(self, cursor: Cursor, dataset: Dataset | None) -> PreparedUpdate:
        request = PreparedUpdate(read_update(cursor, dataset))
        patterns = (operation.pattern for operation in request.operations if isinstance(operation, Modify))
        check_parts(sum(map(parts_of, patterns)), self.most_parts)
        for operation in request.operations:
            if isinstance(operation, Modify):
                self.warnings.note(operation.warnings)
        return request

    def warnings_of(self, text: str, dataset: Dataset | None = None) -> tuple[str, ...]:
        """The warnings about a query that was evaluated."""
        if not self.warnings:
            return ()  # the usual case, without a look-up
        return self._queries.prepare(text, self.base, dataset)[0].warnings

    def check_query(self, text: str, dataset: Dataset | None = None) -> None:
        """Raises what is wrong with the text of a query."""
        self._queries.prepare(text, self.base, dataset)

    def tell_time(self, now: int) -> None:
        """Set the present instant, in microseconds since 1970."""
        self.moment.now = now

    def query(
        self,
        text: str,
        dataset: Dataset | None = None,
        *,
        now: int,
        limits: Limits = UNLIMITED,
        rights: Rights = ALL_RIGHTS,
    ) -> Result:
        """The answer of a query at an instant, in microseconds since 1970, evaluated lazily."""
        deadline = limits.deadline()
        query, parameters = self._queries.prepare(text, self.base, dataset)
        query = narrowed(query, rights.read)
        moment, service = self.moment.at(now), self._service
        return evaluate(query, self.store, moment, limits, service=service, parameters=parameters, deadline=deadline)

    def prepare_query(self, text: str, dataset: Dataset | None = None) -> tuple[Query, Parameters]:
        """Parse and check a query. Returns it with the constants of its text."""
        return self._queries.prepare(text, self.base, dataset)

    def update(
        self,
        text: str,
        dataset: Dataset | None = None,
        *,
        now: int,
        limits: Limits = UNLIMITED,
        rights: Rights = ALL_RIGHTS,
    ) -> ZSet[Quad]:
        """Carry out an update request, as a whole or not at all. Returns the net change."""
        return self.execute(*self.prepare_update(text, dataset), now=now, limits=limits, rights=rights)

    def prepare_update(self, text: str, dataset: Dataset | None = None) -> tuple[PreparedUpdate, Parameters]:
        """Parse and check an update request. Returns it with the constants of its text."""
        return self._updates.prepare(text, self.base, dataset)

    def prepare_template(self, text: str, dataset: Dataset | None = None) -> Bindable[PreparedUpdate]:
        """Parse an update request whose variables can be bound to terms, to others each time."""
        return Bindable(self._updates, text, self.base, dataset)

    def execute(
        self,
        request: PreparedUpdate,
        parameters: Parameters,
        *,
        now: int,
        limits: Limits = UNLIMITED,
        rights: Rights = ALL_RIGHTS,
    ) -> ZSet[Quad]:
        """Carry out a prepared update request. Returns the net change, which may be empty."""
        self.tell_time(now)
        store, operations, moment = self.store, self.operations, self.moment
        net: ZSet[Quad] = ZSet.owning({})
        deadline = limits.deadline()
        try:
            for operation, modify in zip(request.operations, request.modifies, strict=True):
                if modify is None:
                    delta = operations.delta(operation, moment, parameters, rights)
                else:
                    delta = operations.modified(modify, moment, limits, deadline, parameters, rights)
                store.apply(delta)
                if net:
                    net.absorb(delta)
                else:
                    net = delta
        except BaseException:
            store.apply(-net)
            raise
        return net
