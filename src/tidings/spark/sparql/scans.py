"""Triple patterns as selections from the quads of a graph.

Relations within `GRAPH ?g` have a hidden variable, the key, with the graph of a row. Relations of a query that is
evaluated at many commits at once have a key with the commit. All operators work per key: a join also joins on the keys,
and groups are made for each key. So each graph and each commit has the answer that it would have alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidings.model.terms import DEFAULT_GRAPH, Term, Var, is_tagged
from tidings.spark.sparql.relations import Relation, every, new_name
from tidings.sparql.algebra import Dataset, TriplePattern

_PLACES = ("s", "p", "o")


def same_term(column: Column, term: Term) -> Column:
    """Whether a column contains a term; for a language-tagged literal, with any spelling of its tag."""
    if not is_tagged(term):
        return column == term
    end = term.rindex("@") + 1
    return column.startswith(term[:end]) & (f.lower(f.substring(column, end + 1, len(term))) == term[end:].lower())


@dataclass(frozen=True, slots=True)
class Source:
    """Quads seen through a dataset. They may have columns for keys, and two for a span."""

    quads: DataFrame
    dataset: Dataset
    keys: dict[Var, str]
    span: tuple[str, str] | None = None

    def names(self, key: Var) -> Relation:
        """The named graphs of the dataset, each once for each key."""
        return self._select(self.each(), {**self.keys, key: "g"}).distinct()

    def default(self) -> DataFrame:
        """The triples of the default graph, each once."""
        names = self.dataset.default
        if names is None:
            return self.quads.where(f.col("g") == DEFAULT_GRAPH)
        quads = self.quads.where(_among("g", names))
        if len(names) < 2 or self.span is not None:
            return quads
        return quads.dropDuplicates([*_PLACES, *self.keys.values()])

    def named(self, name: Term) -> DataFrame:
        """The triples of a named graph; none if the dataset has no such graph."""
        seen = self.dataset.named is None or name in self.dataset.named
        return self.quads.where((f.col("g") == name) if seen else f.lit(False))

    def each(self) -> DataFrame:
        """The quads of all named graphs."""
        quads = self.quads.where(f.col("g") != DEFAULT_GRAPH)
        return quads if self.dataset.named is None else quads.where(_among("g", self.dataset.named))

    def _select(self, quads: DataFrame, places: dict[Var, str]) -> Relation:
        """A relation of columns of the quads, whose variables are all bound."""
        names = {variable: new_name() for variable in places}
        picked = [f.col(places[variable]).alias(name) for variable, name in names.items()]
        span = None
        if self.span is not None:
            span = new_name(), new_name()
            picked += [f.col(old).alias(new) for old, new in zip(self.span, span, strict=True)]
        return Relation(quads.select(*picked), names, frozenset(names), None, span)

    def matching(self, quads: DataFrame, pattern: TriplePattern, more: dict[Var, str]) -> Relation:
        """The solutions of a triple pattern; `more` are additional columns."""
        places: dict[Var, str] = {**self.keys, **more}
        conditions: list[Column] = []
        for place, term in zip(_PLACES, pattern, strict=True):
            if term[0] != "?":
                conditions.append(same_term(f.col(place), term))
            elif term in places:
                conditions.append(f.col(places[term]) == f.col(place))
            else:
                places[term] = place
        return self._select(quads.where(every(conditions)) if conditions else quads, places)


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a pattern: the graph that it is matched with, and the keys of its rows."""

    source: Source
    base: Relation
    """One row for every combination of the source's own keys."""
    unit: Relation
    """One row for every combination of keys: the solutions of the empty pattern."""
    graph: Term | None = None
    """A named graph, or the variable of a key over all named graphs; None is the default graph."""
    depth: int = 0

    @property
    def keys(self) -> tuple[Var, ...]:
        return tuple(self.unit.names)

    def scan(self, pattern: TriplePattern, excluded: Iterable[Term] = ()) -> Relation:
        """The solutions of a triple pattern whose predicate is not excluded."""
        source, graph = self.source, self.graph
        each = graph is not None and graph[0] == "?"
        quads = source.each() if each else source.default() if graph is None else source.named(graph)
        unwanted = tuple(excluded)
        if unwanted:
            quads = quads.where(~f.col("p").isin(*unwanted))
        return source.matching(quads, pattern, {graph: "g"} if graph is not None and each else {})

    def inside(self, graph: Term) -> "Scope":
        """The scope within GRAPH and an IRI."""
        return replace(self, graph=graph, unit=self.base, depth=self.depth + 1)

    def in_each(self) -> "Scope":
        """The scope within GRAPH and a variable."""
        key = f"?:graph{self.depth}"
        return Scope(self.source, self.base, self.source.names(key), key, self.depth + 1)

    def present(self, name: Term) -> Relation:
        """A row for each key for which the named graph exists."""
        names = self.source.names("?:name")
        found = names.where(names["?:name"] == name)
        return found.projected(variable for variable in names.names if variable != "?:name")


def _among(column: str, terms: tuple[Term, ...]) -> Column:
    return f.col(column).isin(*terms) if terms else f.lit(False)


def one_row(frame: DataFrame) -> Relation:
    """The solution of the empty pattern, without keys."""
    return Relation(frame.sparkSession.range(1).select(), {}, frozenset())


def with_key(relation: Relation, key: Var, variable: Var) -> Relation:
    """The rows of GRAPH ?variable: those in which the variable is unbound or equals the key. It then has the value of
    the key."""
    if variable not in relation.names:
        return relation.called(key, variable)
    column = relation[variable]
    agreeing = relation.where(column.isNull() | (column == relation[key]))
    return agreeing.projected(each for each in relation.names if each != variable).called(key, variable)
