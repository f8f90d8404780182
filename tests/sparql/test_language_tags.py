"""Literals whose language tags differ only in case are one term (RDF 1.1 Concepts, 3.3), by whichever way they meet."""

import pytest

from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.results import Solutions

TRUE = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
STORE = [("<urn:a>", "<urn:p>", '"s"@en', ""), ("<urn:a>", "<urn:p>", '"s"@en', "<urn:g>")]


def rows(pattern: str) -> list[tuple[str | None, ...]]:
    result = Core(Store(STORE)).query(f"SELECT * {pattern}", now=0)
    assert isinstance(result, Solutions)
    return list(result.rows)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ('{ ?a <urn:p> "s"@EN }', 1),
        ('{ ?a ?p "s"@EN }', 1),
        ('{ <urn:a> ?p "s"@EN }', 1),
        ('{ GRAPH <urn:g> { ?a <urn:p> "s"@EN } }', 1),
        ('{ GRAPH ?g { ?a <urn:p> "s"@EN } }', 1),
        ('{ GRAPH ?g { ?a ?p "s"@EN } }', 1),
        ('{ ?a <urn:p>+ "s"@EN }', 1),
        ('{ "s"@EN ^<urn:p> ?a }', 1),
        ('{ VALUES ?x { "s"@EN } ?a <urn:p> ?x }', 1),
        ('{ ?a <urn:p> ?x VALUES (?x ?y) { ("s"@EN 1) (UNDEF 2) } }', 2),
        ('{ ?a <urn:p> ?x { SELECT ?x { VALUES ?x { "s"@EN } } LIMIT 1 } }', 1),
        ('{ ?a <urn:p> ?x MINUS { VALUES ?x { "s"@EN } } }', 0),
        ('{ ?a <urn:p> ?x MINUS { ?b <urn:p> ?x FILTER(?x = "s"@EN) } }', 0),
        ('{ ?a <urn:p> ?x FILTER(?x = "s"@EN) }', 1),
        ('{ ?a <urn:p> ?x FILTER(sameTerm(?x, "s"@EN)) }', 1),
        ('{ ?a <urn:p> ?x FILTER(?x IN ("s"@EN)) }', 1),
        ('{ BIND(sameTerm("s"@en, "s"@EN) AS ?same) FILTER(?same) }', 1),
        ('{ { SELECT DISTINCT ?x { VALUES ?x { "s"@EN "s"@en } } } }', 1),
        ('{ { SELECT ?x { VALUES ?x { "s"@EN "s"@en } } GROUP BY ?x } }', 1),
    ],
)
def test_the_case_of_a_tag_makes_no_difference(pattern: str, count: int) -> None:
    assert len(rows(pattern)) == count


def test_a_variable_bound_by_the_store_is_spelled_as_in_the_store() -> None:
    ((_, found),) = rows('{ ?a <urn:p> ?x FILTER(sameTerm(?x, "s"@EN)) }')
    assert found == '"s"@en'
