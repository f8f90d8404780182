"""Operators on top of each other: what OPTIONAL binds goes on, aggregates come first, graphs meet the default graph."""

from collections.abc import Iterator

from shape_table.nested import people
from shape_table.shape import Shape, cut, iri, put, scattered, triple
from tidings.model.terms import Quad

TOGGLES = 25


def staff(size: int) -> Iterator[Quad]:
    """People; each but the first has a boss, three have the same one; and the graphs in which they say something."""
    yield from people(size * 5 // 7)
    count = size // 7
    for number in range(1, count):
        yield triple(f"p{number}", "boss", f"p{(number - 1) // 3}")
    for number in range(count):
        yield iri(f"p{number}"), iri("said"), f'"{number}"', iri(f"g{graph_of(number, count)}")
    yield from (triple(f"g{graph}", "owner", f"p{graph}") for graph in range(count // 20 + 1))


def graph_of(number: int, count: int) -> int:
    """Twenty people share a graph, whatever the size."""
    return number * 7919 % (count // 20 + 1)


def notes(size: int) -> Iterator[tuple[str, str]]:
    return (put(f"p{at}", "note", at) for at in scattered(TOGGLES, size // 7))


def _owners(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"g{at}", "owner", f"p{at}") for at in scattered(TOGGLES, size // 140))


def _mutes(size: int) -> Iterator[tuple[str, str]]:
    """Said beside what somebody else said in the same graph."""
    count = size // 7
    for at in scattered(TOGGLES, count):
        text = f"{{ GRAPH :g{graph_of(at, count)} {{ :p{at} :muted true }} }}"
        yield f"INSERT DATA {text}", f"DELETE DATA {text}"


def _homes(size: int) -> Iterator[tuple[str, str]]:
    """Of people in the first city, where others live as well."""
    cities = max(size // 7 // 50, 1)
    return (cut(f"p{at * cities}", "lives", "city0") for at in range(1, TOGGLES))


def bosses(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"p{at + 1}", "boss", f"p{at // 3}") for at in scattered(TOGGLES, size // 7 - 1))


_FRIENDS = "{ SELECT ?p (COUNT(?f) AS ?n) { ?p :knows ?f } GROUP BY ?p }"

MIXED = (
    Shape(
        "OPTIONAL of what OPTIONAL binds",
        "SELECT ?p ?b ?n { ?p :age ?a OPTIONAL { ?p :boss ?b } OPTIONAL { ?b :note ?n } }",
        staff,
        notes,
    ),
    Shape(
        "MINUS what OPTIONAL binds",
        "SELECT ?p ?b { ?p :age ?a OPTIONAL { ?p :boss ?b } MINUS { ?b :note ?n } }",
        staff,
        notes,
    ),
    Shape(
        "a pattern between OPTIONALs",
        "SELECT ?p ?f { ?p :age ?a OPTIONAL { ?p :note ?n } ?p :knows ?f OPTIONAL { ?f :note ?m } "
        "FILTER (BOUND(?n) && BOUND(?m)) }",
        staff,
        notes,
    ),
    Shape("OPTIONAL behind an aggregate", f"SELECT * {{ {_FRIENDS} OPTIONAL {{ ?p :note ?x }} }}", staff, notes),
    Shape("EXISTS behind an aggregate", f"SELECT * {{ {_FRIENDS} FILTER EXISTS {{ ?p :note ?x }} }}", staff, notes),
    Shape(
        "patterns on both sides of GRAPH ?g",
        "SELECT ?p ?o { GRAPH ?g { ?p :said ?x } ?g :owner ?o . ?p :age ?a }",
        staff,
        _owners,
    ),
    Shape("BIND of a tagged constant", 'SELECT ?p ?b ("boss"@en AS ?l) { ?p :boss ?b ; :age ?a }', staff, bosses),
    Shape(
        "VALUES with tagged constants",
        'SELECT ?p ?l ?a { VALUES (?c ?l) { (:city0 "first"@en) (:city1 "second"@en) } ?p :lives ?c ; :age ?a }',
        staff,
        _homes,
    ),
    Shape("MINUS in GRAPH ?g", "SELECT ?g ?p { GRAPH ?g { ?p :said ?x MINUS { ?p :muted ?m } } }", staff, _mutes),
    Shape(
        "NOT EXISTS in GRAPH ?g",
        "SELECT ?g ?p { GRAPH ?g { ?p :said ?x FILTER NOT EXISTS { ?p :muted ?m } } }",
        staff,
        _mutes,
    ),
    Shape(
        "EXISTS, the same for all rows", "SELECT ?p { ?p :age ?a FILTER EXISTS { ?x :lives :city0 } }", staff, _homes
    ),
    Shape(
        "OPTIONAL in OPTIONAL in OPTIONAL",
        "SELECT * { ?p :age ?a OPTIONAL { ?p :boss ?b OPTIONAL { ?b :boss ?c OPTIONAL { ?c :note ?n } } } }",
        staff,
        notes,
    ),
    Shape(
        "UNION and OPTIONAL in MINUS",
        "SELECT * { ?p :age ?a "
        "MINUS { { ?p :boss ?b . ?b :note ?n } UNION { ?p :note ?m OPTIONAL { ?p :boss ?c } } } }",
        staff,
        notes,
    ),
    Shape(
        "ten cities with most notes",
        "SELECT ?c (COUNT(?n) AS ?k) { ?p :lives ?c OPTIONAL { ?p :note ?n } } GROUP BY ?c "
        "ORDER BY DESC(?k) ?c LIMIT 10",
        staff,
        notes,
    ),
    Shape("OPTIONAL path", "SELECT ?p ?x { ?p :lives :city0 OPTIONAL { ?p :boss+ ?x } }", staff, bosses),
)
