"""Evaluates a whole query to its result: rows, a truth value, or triples."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from tidings.model.errors import BadRequest, RowLimitExceeded
from tidings.model.results import Boolean, Result, Solutions, Triples
from tidings.model.terms import Term, Triple
from tidings.sparql.algebra import Ask, Construct, Describe, Node, Query, Select, TriplePattern
from tidings.sparql.evaluate.calls import blank_of
from tidings.sparql.evaluate.compile import Compiler
from tidings.sparql.evaluate.context import UNLIMITED, Context, Limits, Meter, Moment, ServiceClient
from tidings.sparql.evaluate.dataset import QuadSource, TripleSource, View
from tidings.sparql.evaluate.layout import ONE, Layout, Plan, Row, picker, tiebreak
from tidings.sparql.rewrite import rewrite
from tidings.sparql.rewrite.antijoins import join_absence

_TOO_DEEP = "the pattern is nested too deeply to be evaluated"


def evaluate(
    query: Query,
    store: QuadSource,
    moment: Moment | None = None,
    limits: Limits = UNLIMITED,
    *,
    service: ServiceClient | None = None,
    parameters: tuple[Term, ...] = (),
    stable: bool = False,
    deadline: float | None = None,
    meter: Meter | None = None,
) -> Result:
    """The answer of a query. Rows and triples are computed as the caller reads them; the store must not change until
    then. The time limit starts now, unless a deadline is given."""
    view = View(store, query.dataset)
    context = Context(view, moment or Moment(), limits, service, parameters, stable, deadline, meter)
    match query:
        case Select(pattern, variables):
            plan = compile_pattern(pattern, context)
            return Solutions(tuple(v[1:] for v in variables), rows_of(plan, context))
        case Ask(pattern):
            return Boolean(next(rows_of(compile_pattern(pattern, context), context), None) is not None)
        case Construct(template, pattern):
            plan = compile_pattern(pattern, context)
            return Triples(
                _distinct(context.timed(instantiate(template, plan.layout, rows_of(plan, context), context)))
            )
        case Describe(targets, pattern):
            plan = compile_pattern(pattern, context)
            return Triples(_distinct(context.timed(describe(targets, plan, context))))
        case _:
            assert_never(query)


def compile_pattern(pattern: Node, context: Context) -> Plan:
    """A plan for a whole pattern, after the rewrite passes, which use the store's present counts."""
    try:
        return Compiler(context).plan(rewrite(join_absence(pattern), context.view, look=context.glance))
    except RecursionError:
        raise BadRequest(_TOO_DEEP) from None


def rows_of(plan: Plan, context: Context) -> Iterator[Row]:
    """The solutions of a compiled pattern, within the limits."""
    try:
        yield from context.hold(plan.run(ONE))
    except RecursionError:
        raise BadRequest(_TOO_DEEP) from None


def within(rows: Iterable[Row], limits: Limits) -> Iterator[Row]:
    """The rows of a whole answer, within the row limit."""
    try:
        for number, row in enumerate(rows):
            if limits.rows is not None and number >= limits.rows:
                raise RowLimitExceeded(limits.rows)
            yield row
    except RecursionError:
        raise BadRequest(_TOO_DEEP) from None


def _distinct(triples: Iterable[Triple]) -> Iterator[Triple]:
    seen: set[Triple] = set()
    for triple in triples:
        if triple not in seen:
            seen.add(triple)
            yield triple


def instantiate(
    template: tuple[TriplePattern, ...], layout: Layout, rows: Iterable[Row], context: Context
) -> Iterator[Triple]:
    """The triples of a template for each row, with fresh blank nodes per row, and without ill-formed triples."""
    index = layout.index
    settle = picker([index[variable] for variable in sorted(index) if not variable.startswith("?$")])

    def fresh_blank(label: str, row: Row) -> Term:
        if not context.stable:
            return context.moment.fresh_blank()
        return blank_of(" ".join(tiebreak(settle(row))), label)

    for row in rows:
        fresh: dict[str, Term] = {}

        def fill(part: str) -> Term | None:
            if part[0] == "?":
                column = index.get(part)
                return None if column is None else row[column]  # noqa: B023 -- used within the loop
            if part[0] == "_":
                if part not in fresh:  # noqa: B023
                    fresh[part] = fresh_blank(part, row)  # noqa: B023
                return fresh[part]  # noqa: B023
            return context.constant(part)

        for pattern in template:
            s, p, o = map(fill, pattern)
            if s is not None and p is not None and o is not None and s[0] != '"' and p[0] == "<":
                yield s, p, o


def describe(targets: tuple[str, ...], plan: Plan, context: Context) -> Iterator[Triple]:
    """The concise bounded description of each target: its triples, and those of the blank nodes they lead to."""
    columns = [plan.layout.index[target] for target in targets if target in plan.layout.index]
    wanted = dict.fromkeys(target for target in targets if target[0] != "?")
    if columns:
        for row in rows_of(plan, context):
            wanted.update((row[column], None) for column in columns if row[column] is not None)  # type: ignore[misc]
    source = context.view.default()
    described: set[Term] = set()
    for target in wanted:
        yield from bounded_description(target, source, described)


def bounded_description(target: Term, source: TripleSource, described: set[Term]) -> Iterator[Triple]:
    """The triples of a term, and those of the blank nodes they lead to, unless these are described already."""
    pending = [target]
    while pending:
        subject = pending.pop()
        if subject in described:
            continue
        described.add(subject)
        for predicate, object_ in source.facts(subject):
            yield subject, predicate, object_
            if object_[0] == "_":
                pending.append(object_)
