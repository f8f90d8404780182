"""Compiles each node of the algebra to a DataFrame, bottom-up, as section 18 of the recommendation defines it.

EXISTS is the exception, as in the recommendation: its pattern is evaluated from the distinct rows that need it
(`_from_rows`), as `sparql.evaluate.compile` does, and the rows with a solution are marked.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import reduce
from typing import assert_never

import pyarrow as pa
from pyspark.sql import Column, Window
from pyspark.sql import functions as f

from tidings.model.terms import FALSE, TRUE, Var
from tidings.spark.sparql.asking import answered, by_what_is_bound, shadowed
from tidings.spark.sparql.expressions import MARK, Expressions, has_exists, native_test
from tidings.spark.sparql.groups import grouped
from tidings.spark.sparql.order import rank_column
from tidings.spark.sparql.relations import Columns, Relation, join, kept, left_join, marked, minus, new_name, union
from tidings.spark.sparql.scans import Scope, with_key
from tidings.sparql.algebra import (
    BGP,
    Aggregate,
    And,
    Arithmetic,
    Call,
    Compare,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    In,
    Join,
    LeftJoin,
    Minus,
    Negated,
    Node,
    Not,
    Or,
    OrderBy,
    PathPattern,
    Project,
    Service,
    Sign,
    Slice,
    TriplePattern,
    Union,
    Values,
    conjuncts,
    every_variable,
    mentioned,
    operands,
)
from tidings.sparql.evaluate.pushing import asked_in, needs_triples, pushable, shared_variables
from tidings.sparql.rewrite.constants import reveal_constants
from tidings.sparql.rewrite.filters import push_filters


def rewritten(node: Node) -> Node:
    """A node after the rewrite passes that reveal constants and push filters down."""
    return push_filters(reveal_constants(node))


class Compiler:
    """Compiles the patterns of one query."""

    __slots__ = ("_expressions",)

    def __init__(self, now: int) -> None:
        self._expressions = Expressions(now)

    def relation(self, node: Node, scope: Scope) -> Relation:
        """The solutions of a node, with the keys of the scope."""
        match node:
            case BGP(patterns):
                return reduce(join, [scope.scan(pattern) for pattern in _connected(patterns)] or [scope.unit])
            case PathPattern():
                return _path(node, scope)
            case Join(Extend(BGP(()), variable, str() as term), other) if term[0] != "?":
                return self._constant(self.relation(other, scope), variable, term, scope)
            case Join(left, right):
                return join(self.relation(left, scope), self.relation(right, scope))
            case LeftJoin(left, right, condition):
                return self._left_join(self.relation(left, scope), self.relation(right, scope), condition, scope)
            case Union(left, right):
                return union(self.relation(left, scope), self.relation(right, scope))
            case Minus(left, right):
                return self._minus(self.relation(left, scope), node, scope)
            case Filter(condition, inner):
                return self._filtered(self.relation(inner, scope), condition, scope)
            case Extend(inner, variable, expression):
                return self._extended(self.relation(inner, scope), variable, expression, scope)
            case Graph(name, inner):
                return self._graph(name, inner, scope)
            case Service():
                raise AssertionError("SERVICE was refused")
            case Values():
                return _values(node, scope)
            case Group():
                return self._group(node, scope)
            case OrderBy(inner, conditions):
                return self._ordered(self.relation(inner, scope), conditions, scope)
            case Project(inner, variables):
                return self.relation(inner, scope).projected((*scope.keys, *variables))
            case Distinct(inner):
                return self.relation(inner, scope).distinct()
            case Slice(inner, offset, limit):
                return _sliced(self.relation(inner, scope), offset, limit, scope)
            case _:
                assert_never(node)

    # -- joins --------------------------------------------------------------------------------------------------

    def _constant(self, inner: Relation, variable: Var, term: str, scope: Scope) -> Relation:
        """`BIND(term AS ?v)` joined with a pattern: a column, or a filter if the pattern has the variable, too."""
        if variable not in inner.names:
            return inner.extended(variable, f.lit(term), certain=True)
        column = inner[variable]
        agreeing = inner.where(column.isNull() | (column == term))
        others = agreeing.projected(each for each in inner.names if each != variable)
        return others.extended(variable, f.lit(term), certain=True)

    def _left_join(self, left: Relation, right: Relation, condition: Expression | None, scope: Scope) -> Relation:
        if condition is None:
            return left_join(left, right, None)
        if not has_exists(condition) and native_test(condition, {}) is not None:
            return left_join(left, right, lambda columns: self._expressions.test(condition, columns))
        # Spark cannot run Python in an outer join. But whether a row has a partner depends on its cells only:
        # L ⟕ R  =  σ(L ⋈ R)  ∪  L ▷ σ(L ⋈ R)
        read = {*right.names, *mentioned(condition)}
        asking, keys = shadowed(left, [variable for variable in left.names if variable in read])
        both = self._filtered(join(asking, right), condition, scope)
        alone = kept(left, answered(both, keys), "left_anti")
        shown = dict.fromkeys((*left.names, *right.names))
        return replace(union(both.projected(shown), alone), certain=left.certain)

    def _minus(self, left: Relation, node: Minus, scope: Scope) -> Relation:
        shared = shared_variables(node.left, node.right)
        if not shared:
            return left
        return minus(left, self.relation(node.right, scope), shared, scope.keys)

    # -- expressions --------------------------------------------------------------------------------------------

    def _filtered(self, relation: Relation, condition: Expression, scope: Scope) -> Relation:
        visible = list(relation.names)
        for each in conjuncts(condition):
            match each:
                case Exists(pattern):
                    relation = kept(relation, self._askers(relation, pattern, scope), "left_semi")
                case Not(Exists(pattern)):
                    relation = kept(relation, self._askers(relation, pattern, scope), "left_anti")
                case _:
                    relation, test = self._marked(relation, each, scope)
                    relation = relation.where(self._expressions.test(test, _user_columns(relation, scope)))
        return relation if len(relation.names) == len(visible) else relation.projected(visible)

    def _extended(self, relation: Relation, variable: Var, expression: Expression, scope: Scope) -> Relation:
        visible = list(relation.names)
        asked, value = self._marked(relation, expression, scope)
        constant = isinstance(value, str) and (value[0] != "?" or value in relation.certain)
        column = self._expressions.value(value, _user_columns(asked, scope))
        made = asked.extended(variable, column, certain=constant)
        return made if asked is relation else made.projected((*visible, variable))

    def _marked(self, relation: Relation, expression: Expression, scope: Scope) -> tuple[Relation, Expression]:
        """The expression with a variable in place of every EXISTS, and the relation extended by these variables."""
        if not has_exists(expression):
            return relation, expression
        if isinstance(expression, Exists):
            variable = f"{MARK}{new_name()}"
            askers = self._askers(relation, expression.pattern, scope)
            return marked(relation, askers, variable, f.lit(TRUE), f.lit(FALSE)), variable
        parts: list[Expression] = []
        for part in operands(expression):
            relation, changed = self._marked(relation, part, scope)
            parts.append(changed)
        return relation, _with_operands(expression, parts)

    def _askers(self, relation: Relation, pattern: Node, scope: Scope) -> Relation:
        """The distinct rows, restricted to the variables of a pattern, for which the pattern has a solution."""
        read = {*scope.keys, *every_variable(pattern)}
        asking = relation.projected(variable for variable in relation.names if variable in read)
        asking = replace(asking, rank=None).projected(asking.names).distinct()
        asked = rewritten(pattern)
        # Only bound variables are substituted. If that makes no difference to the pattern, all rows are treated alike.
        alike = pushable(asked, set(every_variable(asked)))
        alternatives = [asking] if alike else by_what_is_bound(asking)
        return reduce(union, [self._answered_askers(asked, each, scope) for each in alternatives])

    def _answered_askers(self, pattern: Node, asking: Relation, scope: Scope) -> Relation:
        given, keys = shadowed(asking, list(asking.names))
        return answered(self._from_rows(pattern, given, scope, asking.names.keys()), keys)

    def _from_rows(self, node: Node, given: Relation, scope: Scope, asking: AbstractSet[Var]) -> Relation:
        """Rows extended by the solutions of a pattern in which the values of `asking` are substituted for variables."""
        outer = given.names.keys() - set(scope.keys)
        if not pushable(node, outer, asking):
            return self._rejoined(node, given, scope, asking)
        match node:
            case Join(left, right):
                return self._from_rows(right, self._from_rows(left, given, scope, asking), scope, asking)
            case Union(left, right):
                first, second = (self._from_rows(each, given, scope, asking) for each in (left, right))
                return union(first, second)
            case Filter(condition, inner):
                return self._filtered(self._from_rows(inner, given, scope, asking), condition, scope)
            case Extend(inner, variable, expression):
                return self._extended(self._from_rows(inner, given, scope, asking), variable, expression, scope)
            case LeftJoin(left, right, condition):
                return self._optional_from_rows(node, given, scope, asking)
            case Minus(left, _):
                return self._minus_from_rows(self._from_rows(left, given, scope, asking), node, scope, asking)
            case Project(inner, variables):
                return self._from_rows(inner, given, scope, asking).projected((*given.names, *variables))
            case Graph(name, inner) if name[0] == "?":
                within = scope.in_each()
                found = self._from_rows(inner, join(given, within.unit), within, asking)
                return with_key(found, within.keys[-1], name)
            case Graph(name, inner):
                found = self._from_rows(inner, given, scope.inside(name), asking)
                return found if needs_triples(inner) else join(found, scope.present(name))
            case _:
                return join(given, self.relation(node, scope))

    def _rejoined(self, node: Node, given: Relation, scope: Scope, asking: AbstractSet[Var]) -> Relation:
        """As `_from_rows`, for a node that may see only the substituted variables of a row, or none of them."""
        outer = given.names.keys() - set(scope.keys)
        if outer <= asking or not pushable(node, outer & asking, asking):
            return join(given, self.relation(node, scope))
        alone = replace(given, rank=None).projected(
            each for each in given.names if each in asking or each in scope.keys
        )
        return join(given, self._from_rows(node, alone.distinct(), scope, asking))

    def _optional_from_rows(self, node: LeftJoin, given: Relation, scope: Scope, asking: AbstractSet[Var]) -> Relation:
        first = self._from_rows(node.left, given, scope, asking)
        given, keys = shadowed(first, list(first.names))
        both = self._from_rows(node.right, given, scope, asking)
        if node.condition is not None:
            both = self._filtered(both, node.condition, scope)
        alone = kept(first, answered(both, keys), "left_anti")
        return replace(union(both, alone), certain=first.certain)

    def _minus_from_rows(self, left: Relation, node: Minus, scope: Scope, asking: AbstractSet[Var]) -> Relation:
        shared = shared_variables(node.left, node.right)
        seen = [variable for variable in asked_in(node.right, shared, asking) if variable in left.names]
        if not shared or not seen:
            return self._minus(left, node, scope)
        keys = (*scope.keys, *seen)
        askers = replace(left, rank=None).projected(keys).distinct()
        return minus(left, self._from_rows(node.right, askers, scope, asking), shared, keys)

    # -- graphs and modifiers -----------------------------------------------------------------------------------

    def _graph(self, name: str, inner: Node, scope: Scope) -> Relation:
        if name[0] == "?":
            within = scope.in_each()
            found = with_key(self.relation(inner, within), within.keys[-1], name)
        else:
            found = self.relation(inner, scope.inside(name))
            if not needs_triples(inner):
                found = join(found, scope.present(name))
        return join(found, scope.unit) if len(scope.keys) > len(scope.base.names) else found

    def _group(self, node: Group, scope: Scope) -> Relation:
        inner = plain = self.relation(node.inner, scope)
        arguments: list[Column | None] = []
        for _, aggregate in node.aggregates:
            if aggregate.argument is None:
                arguments.append(None)
                continue
            inner, argument = self._marked(inner, aggregate.argument, scope)
            arguments.append(self._expressions.value(argument, _user_columns(inner, scope)))
        return grouped(inner, plain.names, node, arguments, scope.unit)

    def _ordered(self, inner: Relation, conditions: tuple[tuple[Expression, bool], ...], scope: Scope) -> Relation:
        if not conditions:
            return inner
        visible = list(inner.names)
        values: list[Column] = []
        for expression, _ in conditions:
            inner, value = self._marked(inner, expression, scope)
            values.append(self._expressions.value(value, _user_columns(inner, scope)))
        rank = new_name()
        ranked = inner.frame.withColumn(rank, rank_column(values, tuple(down for _, down in conditions)))
        return replace(inner, frame=ranked, rank=rank).projected(visible)


def _user_columns(relation: Relation, scope: Scope) -> Columns:
    """The columns that an expression may read: all except the keys."""
    return relation.columns(hidden=scope.keys)


def _with_operands(expression: Expression, parts: list[Expression]) -> Expression:
    """The operator of an expression on other operands, in the order of `operands`."""
    match expression:
        case And() | Or() | Not():
            return type(expression)(*parts)
        case Compare(operator):
            return Compare(operator, *parts)
        case Arithmetic(_, rest):
            signs = [sign for sign, _ in rest]
            return Arithmetic(parts[0], tuple(zip(signs, parts[1:], strict=True)))
        case Sign(sign):
            return Sign(sign, *parts)
        case In():
            return In(parts[0], tuple(parts[1:]))
        case Call(function):
            return Call(function, tuple(parts))
        case str() | Exists() | Aggregate():
            return expression
        case _:
            assert_never(expression)


def _connected(patterns: tuple[TriplePattern, ...]) -> list[TriplePattern]:
    """Triple patterns in an order in which each shares a variable with one before it, if possible; those with the most
    constants come first."""
    waiting = sorted(patterns, key=lambda pattern: sum(term[0] == "?" for term in pattern))
    ordered: list[TriplePattern] = []
    bound: set[str] = set()
    while waiting:
        chosen = next((p for p in waiting if bound.intersection(p)), waiting[0])
        waiting.remove(chosen)
        ordered.append(chosen)
        bound.update(term for term in chosen if term[0] == "?")
    return ordered


def _path(node: PathPattern, scope: Scope) -> Relation:
    match node.path:
        case Negated(forward, backward):
            found: list[Relation] = []
            verb = "?:verb"
            if forward is not None:
                found.append(scope.scan((node.subject, verb, node.object), forward))
            if backward is not None:
                found.append(scope.scan((node.object, verb, node.subject), backward))
            both = reduce(union, found)
            return both.projected(variable for variable in both.names if variable != verb)
        case _:
            raise AssertionError("paths of any length were refused")


def _values(node: Values, scope: Scope) -> Relation:
    session = scope.source.quads.sparkSession
    if not node.variables:
        return join(Relation(session.range(len(node.rows)).select(), {}, frozenset()), scope.unit)
    names = {variable: new_name() for variable in node.variables}
    cells = [pa.array([row[at] for row in node.rows], pa.string()) for at in range(len(names))]
    frame = session.createDataFrame(pa.table(cells, names=list(names.values())))
    sure = frozenset(v for at, v in enumerate(node.variables) if all(row[at] is not None for row in node.rows))
    found = Relation(frame, names, sure)
    return join(found, scope.unit) if scope.keys else found


def _sliced(inner: Relation, offset: int, limit: int | None, scope: Scope) -> Relation:
    """OFFSET and LIMIT on the rows in order; the cells of rows break ties."""
    order = sort_columns(inner, scope.keys)
    if scope.keys:
        number = new_name()
        window = Window.partitionBy(*[inner[key] for key in scope.keys]).orderBy(*(order or [f.lit(1)]))
        numbered = inner.frame.withColumn(number, f.row_number().over(window))
        inside = f.col(number) > offset
        if limit is not None:
            inside = inside & (f.col(number) <= offset + limit)
        return replace(inner, frame=numbered.where(inside).drop(number))
    frame = inner.frame.orderBy(*order) if order else inner.frame
    if offset:
        frame = frame.offset(offset)
    return replace(inner, frame=frame if limit is None else frame.limit(limit))


def sort_columns(relation: Relation, keys: Iterable[Var] = ()) -> list[Column]:
    """The sort key, then all columns except the keys."""
    hidden = set(keys)
    cells = [f.col(name) for variable, name in relation.names.items() if variable not in hidden]
    return ([] if relation.rank is None else [f.col(relation.rank)]) + [cell.asc_nulls_first() for cell in cells]
