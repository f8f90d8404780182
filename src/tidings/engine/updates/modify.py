"""A prepared DELETE/INSERT WHERE: its pattern is compiled once, and its templates are filled in for each solution."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from tidings.engine.store.store import Store
from tidings.model.access import Graphs
from tidings.model.terms import Quad, Term, Var
from tidings.sparql.algebra import Modify, QuadPattern
from tidings.sparql.evaluate.context import Context, Limits, Moment, ServiceClient
from tidings.sparql.evaluate.dataset import View
from tidings.sparql.evaluate.layout import Plan, Row
from tidings.sparql.evaluate.query import compile_pattern, rows_of
from tidings.sparql.prepared import Parameters

_DRIFT = 2
"""The plan is made anew once the store has grown or shrunk by this factor, because its join order relied on counts."""

_MOST_NARROWED = 64
"""For how many sets of readable graphs the plans are kept."""


class PreparedModify:
    """One operation with the plan of its pattern, which is kept for the next execution."""

    __slots__ = ("_context", "_narrowed", "_operation", "_plan", "_size", "_templates")

    def __init__(self, operation: Modify) -> None:
        self._operation = operation
        self._narrowed: dict[Graphs, PreparedModify] = {}
        self._context: Context | None = None
        self._plan: Plan | None = None
        self._size = 0

    def seen_by(self, readable: Graphs) -> "PreparedModify":
        """The same operation with a pattern, and a plan, over these graphs only."""
        if readable.everything:
            return self
        found = self._narrowed.get(readable)
        if found is None:
            if len(self._narrowed) >= _MOST_NARROWED:
                del self._narrowed[next(iter(self._narrowed))]
            dataset = self._operation.dataset.narrowed(readable)
            found = self._narrowed[readable] = PreparedModify(replace(self._operation, dataset=dataset))
        return found

    def instances(
        self,
        store: Store,
        moment: Moment,
        limits: Limits,
        deadline: float,
        service: ServiceClient | None,
        parameters: Parameters,
    ) -> tuple[Iterator[Quad], Iterator[Quad]]:
        """The quads to delete and those to insert, from all solutions of the pattern at once."""
        context, plan = self._compiled(store, moment, limits, deadline, service)
        context.begin(moment, parameters, limits, deadline)
        rows = list(rows_of(plan, context))
        delete, insert = self._templates
        return delete.instances(rows, moment, parameters), insert.instances(rows, moment, parameters)

    def _compiled(
        self, store: Store, moment: Moment, limits: Limits, deadline: float, service: ServiceClient | None
    ) -> tuple[Context, Plan]:
        context, plan = self._context, self._plan
        size = store.size
        fitting = self._size <= size * _DRIFT and size <= self._size * _DRIFT
        timed = limits.seconds is not None
        if context is None or plan is None or not fitting or (context.limits.seconds is not None) != timed:
            view = View(store, self._operation.dataset)
            context = Context(view, moment, limits, service, deadline=deadline)
            plan = compile_pattern(self._operation.pattern, context)
            index, operation = plan.layout.index, self._operation
            self._templates = Template(operation.delete, index), Template(operation.insert, index)
            self._context, self._plan, self._size = context, plan, size  # all or none, if planning ran out of time
        return context, plan


_Gap: TypeAlias = tuple[int, int | None, str]
"""A place of a quad that each row fills: the place, and the column of the row or the label of a blank node."""


class Template:
    """The quads of a DELETE or INSERT template, with the column of each of their variables."""

    __slots__ = ("_shapes",)

    def __init__(self, quads: tuple[QuadPattern, ...], index: Mapping[Var, int]) -> None:
        self._shapes = [(quad, _lifted(quad), _gaps(quad, index), _is_sound(quad)) for quad in quads]

    def instances(self, rows: list[Row], moment: Moment, parameters: Parameters) -> Iterator[Quad]:
        """The quads of the template for each row, with fresh blank nodes for each. Leaves out quads with an unbound
        variable, and quads that are not valid RDF."""
        shapes: list[tuple[list[Term | None], list[_Gap], bool]] = []
        for quad, lifted, gaps, is_sound in self._shapes:
            known: list[Term | None] = [*quad]
            for place, number in lifted:
                known[place] = parameters[number]
            shapes.append((known, gaps, is_sound))
        for row in rows:
            fresh: dict[str, Term] = {}
            for known, gaps, is_sound in shapes:
                cells = known.copy() if len(rows) > 1 else known
                for place, column, label in gaps:
                    if label:
                        cells[place] = fresh.get(label) or fresh.setdefault(label, moment.fresh_blank())
                    else:
                        cells[place] = None if column is None else row[column]
                s, p, o, g = cells
                if is_sound:
                    if o:
                        yield s, p, o, g  # type: ignore[misc]  # these are constants
                elif s and p and o and g is not None and s[0] != '"' and p[0] == "<" and g[:1] in {"", "<"}:
                    yield s, p, o, g


def _lifted(quad: QuadPattern) -> list[tuple[int, int]]:
    """The places of its lifted constants, and their numbers."""
    return [(place, int(term[2:])) for place, term in enumerate(quad) if term[:1] == "$"]


def _gaps(quad: QuadPattern, index: Mapping[Var, int]) -> list[_Gap]:
    return [
        (place, index.get(term), term if term[0] == "_" else "")
        for place, term in enumerate(quad)
        if term[:1] in {"?", "_"}
    ]


def _is_sound(quad: QuadPattern) -> bool:
    """Whether its quads are valid RDF for every row with a bound object: subject, predicate and graph are constants."""
    s, p, _, g = quad
    return (s[0] == "<" or s[:2] == "$i") and (p[0] == "<" or p[:2] == "$i") and (not g or g[0] == "<" or g[:2] == "$i")
