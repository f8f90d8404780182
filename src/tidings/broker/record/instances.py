"""Makes the query for the WHERE of an update, and from its answer the quads of the templates, with their states.

A quad that the pattern has matched exists. If the pattern is `s p ?o`, its answer lists all objects, so it also tells
which other quads of that subject and predicate exist. For the rest, the same query asks with EXISTS, if the endpoint
can answer that.
"""

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct, field

from tidings.broker.updates.elsewhere import Asked
from tidings.engine.updates.modify import Template
from tidings.model.results import Row
from tidings.model.terms import Quad, Term, Var, is_tagged, lexical_form
from tidings.sparql.algebra import BGP, Dataset, Graph, Modify, QuadPattern, matched, visible
from tidings.sparql.evaluate.context import Moment
from tidings.sparql.prepared import Parameters
from tidings.sparql.values.compare import equals
from tidings.sparql.writing.requests import Where


class Instances(Struct, frozen=True):
    """Quads to delete and quads to insert, and which of them exist, if known."""

    delete: list[Quad]
    insert: list[Quad]
    states: dict[Quad, bool] = field(default_factory=dict)
    """Whether each quad exists, as far as the store of record has answered that."""


class Shape:
    """What all updates of one kind have in common. Deriving it for each update anew took a tenth of its time."""

    __slots__ = ("_matched", "_operation", "delete", "distinct", "insert", "quads", "single", "variables")

    def __init__(self, operation: Modify) -> None:
        self._operation = operation
        self._matched: dict[str | None, list[QuadPattern]] = {}
        self.variables = _variables(operation)
        index = {variable: column for column, variable in enumerate(self.variables)}
        self.delete, self.insert = Template(operation.delete, index), Template(operation.insert, index)
        self.distinct = not any(map(_is_fresh, operation.insert))
        self.quads = _quads(operation)
        self.single = {quad: Template((quad,), index) for quad in self.quads}

    def matched(self, graph: str | None) -> list[QuadPattern]:
        """The quad patterns that, filled in with a solution of the pattern, exist in the store."""
        found = self._matched.get(graph)
        if found is None:
            found = self._matched[graph] = list(matched(self._operation.pattern, graph))
        return found

    def listed(self, graph: str | None) -> QuadPattern | None:
        """The quad pattern `s p ?o` whose objects the answer lists completely, if the pattern is nothing else."""
        match self._operation.pattern:
            case BGP(((s, p, o),)) | Graph(_, BGP(((s, p, o),))) if o in self.variables:
                for quad in self.matched(graph):
                    if not any(term[:1] == "?" for term in (s, p, quad[3])):
                        return quad
        return None

    def states(self, dataset: Dataset, parameters: Parameters) -> "_States":
        """What an answer tells about the quads of the templates."""
        default = dataset.default
        graph = "" if default is None else default[0] if len(default) == 1 else None
        there = {_constant(quad, parameters) for quad in self.matched(graph)}
        filled = [(quad, _constant(quad, parameters)) for quad in self.quads]
        shown = [quad for quad, terms in filled if terms in there]
        pattern = self.listed(graph)
        if pattern is None:
            return _States(shown, [], 0)
        place = _place(_constant(pattern, parameters))
        listed = [quad for quad, terms in filled if terms not in there and _place(terms) == place]
        return _States(shown, listed, self.variables.index(pattern[2]))


class _States(Struct, frozen=True):
    """Which quads of the templates exist for each solution; and of which the answer lists the objects that exist, in
    which column."""

    shown: list[QuadPattern]
    listed: list[QuadPattern]
    column: int


LISTED = 64
"""The most listed objects that the broker compares with a quad's; beyond, it asks for the quad."""

_MOST_SHAPES = 256
_shapes: dict[int, tuple[Modify, Shape]] = {}


def _shape(operation: Modify) -> Shape:
    """The shape of an operation. Updates of one kind share one operation object, so identity is enough."""
    known = _shapes.get(id(operation))
    if known is None or known[0] is not operation:
        if len(_shapes) >= _MOST_SHAPES:
            _shapes.clear()
        known = _shapes[id(operation)] = operation, Shape(operation)
    return known[1]


def where_of(operation: Modify, asked: Asked) -> Where:
    """The query to send for an operation."""
    shape, parameters = _shape(operation), asked.parameters
    dataset = operation.dataset.narrowed(asked.rights.read)
    told = shape.states(dataset, parameters)
    open_ = tuple([quad for quad in shape.quads if quad not in told.shown and quad not in told.listed])
    return Where(operation.pattern, shape.variables, dataset, parameters, distinct=shape.distinct, quads=open_)


def instances_of(operation: Modify, where: Where, rows: list[Row], moment: Moment) -> Instances:
    """The instances of the templates for all rows of an answer to `where_of`."""
    shape, parameters = _shape(operation), where.parameters
    delete = list(shape.delete.instances(rows, moment, parameters))
    insert = list(shape.insert.instances(rows, moment, parameters))
    told = shape.states(where.dataset, parameters)
    states: dict[Quad, bool] = {}
    for quad in told.shown:
        states.update(dict.fromkeys(shape.single[quad].instances(rows, moment, parameters), True))
    objects = {row[told.column] for row in rows} if told.listed else ()
    for quad in told.listed if len(objects) <= LISTED else ():
        instances = dict.fromkeys(shape.single[quad].instances(rows, moment, parameters))
        states.update((each, False) for each in instances if _is_another(each[2], objects))
    for column, quad in enumerate(where.quads, len(where.variables)):
        by_state: dict[bool | None, list[Row]] = {}
        for row in rows:
            by_state.setdefault(_told(row[column]), []).append(row)
        for state in (True, False):
            if chosen := by_state.get(state):
                states.update(dict.fromkeys(shape.single[quad].instances(chosen, moment, parameters), state))
    return Instances(kept(delete, insert), insert, states)


def _place(quad: tuple[str, ...]) -> tuple[str, str, str]:
    s, p, _, g = quad
    return s, p, g


def _is_another(term: Term, listed: Iterable[Term | None]) -> bool:
    """Whether a term is surely none of those listed, in whatever spelling the store of record lists them."""
    return not is_tagged(term) and all(each is not None and equals(term, each) is False for each in listed)


def _told(term: Term | None) -> bool | None:
    return None if term is None else lexical_form(term) in {"true", "1"}


def _is_fresh(quad: QuadPattern) -> bool:
    """Whether it has a blank node, which is a new one for each solution."""
    return any(term[:1] == "_" for term in quad)


def _quads(operation: Modify) -> list[QuadPattern]:
    """The quad patterns of the templates whose instances may exist already, each once."""
    return [quad for quad in dict.fromkeys(chain(operation.delete, operation.insert)) if not _is_fresh(quad)]


def _constant(quad: QuadPattern, parameters: Parameters) -> tuple[Term, ...]:
    return tuple([parameters[int(term[2:])] if term[:1] == "$" else term for term in quad])


def _variables(operation: Modify) -> tuple[Var, ...]:
    """The variables of the templates that occur in the pattern."""
    there = visible(operation.pattern)
    terms = (term for quad in (*operation.delete, *operation.insert) for term in quad)
    return tuple(dict.fromkeys(term for term in terms if term in there))


def kept(delete: Iterable[Quad], insert: Iterable[Quad]) -> list[Quad]:
    """The quads to delete, without literals that are inserted again in another spelling: the store of record may not
    distinguish the two."""
    places: dict[tuple[Term, Term, Term], list[Term]] = {}
    for s, p, o, g in insert:
        if o[0] == '"':
            places.setdefault((s, p, g), []).append(o)
    if not places:
        return list(delete)
    return [
        (s, p, o, g)
        for s, p, o, g in delete
        if o[0] != '"' or not any(o != each and equals(o, each) is True for each in places.get((s, p, g), ()))
    ]
