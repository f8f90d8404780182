"""DELETE/INSERT WHERE, prepared: its pattern compiled once, its templates instantiated once a solution."""

from collections.abc import Callable, Iterator, Mapping

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
"""A plan is made anew once the store has grown or shrunk by this factor: its join order went by other counts."""

_MOST_NARROWED = 64
"""Sets of readable graphs whose plans are kept."""


class PreparedModify:
    """One operation with the plan of its pattern; the plan is kept from one execution to the next."""

    __slots__ = ("_context", "_narrowed", "_operation", "_plan", "_size")

    def __init__(self, operation: Modify) -> None:
        self._operation = operation
        self._narrowed: dict[Graphs, PreparedModify] = {}
        self._context: Context | None = None
        self._plan: Plan | None = None
        self._size = 0

    def seen_by(self, readable: Graphs) -> "PreparedModify":
        """The same operation with a pattern that sees these graphs only, which is another plan."""
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
        operation, index = self._operation, plan.layout.index
        return (
            instantiated(operation.delete, index, rows, moment, context.constant),
            instantiated(operation.insert, index, rows, moment, context.constant),
        )

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
            self._context, self._plan, self._size = context, plan, size  # all of them, or none if there is no time
        return context, plan


def instantiated(
    template: tuple[QuadPattern, ...],
    index: Mapping[Var, int],
    rows: list[Row],
    moment: Moment,
    constant: Callable[[Term], Term],
) -> Iterator[Quad]:
    """The template once a row, with fresh blank nodes for each; quads with a gap, or that are no RDF, are left out.
    `index` says in which column of a row a variable is."""
    shapes: list[tuple[list[str], list[int]]] = []
    for pattern in template:
        known = [term and constant(term) for term in pattern]
        shapes.append((known, [place for place, term in enumerate(pattern) if term[:1] in {"?", "_"}]))
    for row in rows:
        fresh: dict[str, Term] = {}
        for known, gaps in shapes:
            cells: list[Term | None] = [*known]
            for gap in gaps:
                term = known[gap]
                if term[0] == "_":
                    cells[gap] = fresh.get(term) or fresh.setdefault(term, moment.fresh_blank())
                else:
                    column = index.get(term)
                    cells[gap] = None if column is None else row[column]
            s, p, o, g = cells
            if s and p and o and g is not None and s[0] != '"' and p[0] == "<" and g[:1] in {"", "<"}:
                yield s, p, o, g
