"""Makes the query for the WHERE of an update, and from its answer the quads of the templates, with their states.

A quad that the pattern has matched exists. For the others, the same query asks with EXISTS, if the endpoint can answer
that.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct, field

from tidings.broker.updates.elsewhere import Asked
from tidings.engine.updates.modify import Template
from tidings.model.results import Row
from tidings.model.terms import Quad, Term, Var, lexical_form
from tidings.sparql.algebra import Dataset, Modify, QuadPattern, matched, visible
from tidings.sparql.evaluate.context import Moment
from tidings.sparql.values.compare import equals
from tidings.sparql.writing.requests import Where


class Instances(Struct, frozen=True):
    """Quads to delete and quads to insert, and which of them exist, if known."""

    delete: list[Quad]
    insert: list[Quad]
    states: dict[Quad, bool] = field(default_factory=dict)
    """Whether each quad exists, as far as the store of record has answered that."""


def where_of(operation: Modify, asked: Asked) -> Where:
    """The query to send for an operation."""
    dataset = operation.dataset.narrowed(asked.rights.read)
    fresh = any(map(_is_fresh, operation.insert))
    there = _matched(operation, dataset, asked)
    open_ = (quad for quad in _quads(operation) if _constant(quad, asked) not in there)
    return Where(
        operation.pattern, _variables(operation), dataset, asked.parameters, distinct=not fresh, quads=tuple(open_)
    )


def instances_of(operation: Modify, where: Where, rows: list[Row], moment: Moment) -> Instances:
    """The instances of the templates for all rows of an answer to `where_of`."""
    index = {variable: column for column, variable in enumerate(where.variables)}

    def made(template: tuple[QuadPattern, ...], chosen: list[Row]) -> Iterator[Quad]:
        return Template(template, index).instances(chosen, moment, where.parameters)

    delete, insert = list(made(operation.delete, rows)), list(made(operation.insert, rows))
    there = tuple(quad for quad in _quads(operation) if quad not in where.quads)
    states = dict.fromkeys(made(there, rows), True)
    for column, quad in enumerate(where.quads, len(where.variables)):
        for state in (True, False):
            chosen = [row for row in rows if _told(row[column]) is state]
            states.update(dict.fromkeys(made((quad,), chosen), state))
    return Instances(kept(delete, insert), insert, states)


def _told(term: Term | None) -> bool | None:
    return None if term is None else lexical_form(term) in {"true", "1"}


def _is_fresh(quad: QuadPattern) -> bool:
    """Whether it has a blank node, which is a new one for each solution."""
    return any(term[:1] == "_" for term in quad)


def _quads(operation: Modify) -> list[QuadPattern]:
    """The quad patterns of the templates whose instances may exist already, each once."""
    return [quad for quad in dict.fromkeys(chain(operation.delete, operation.insert)) if not _is_fresh(quad)]


def _matched(operation: Modify, dataset: Dataset, asked: Asked) -> set[Sequence[Term]]:
    """The quad patterns that exist, filled in, for each solution of the pattern."""
    default = dataset.default
    graph = "" if default is None else default[0] if len(default) == 1 else None
    return {_constant(quad, asked) for quad in matched(operation.pattern, graph)}


def _constant(quad: Iterable[str], asked: Asked) -> tuple[Term, ...]:
    return tuple(asked.parameters[int(term[2:])] if term[:1] == "$" else term for term in quad)


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
