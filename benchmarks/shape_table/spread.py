"""What was re-evaluated or met everything once: GRAPH around sub-SELECTs, sides that share what may be unbound, values
that a filter compares, paths that lead back."""

from collections.abc import Iterator

from shape_table.mixed import bosses, graph_of, notes, staff
from shape_table.nested import ages, friends, people
from shape_table.shape import Shape, scattered, triple
from tidings.model.terms import Quad

TOGGLES = 25


def _sayings(size: int) -> Iterator[tuple[str, str]]:
    count = size // 7
    for at in scattered(TOGGLES, count):
        text = f'{{ GRAPH :g{graph_of(at, count)} {{ :p{at} :said "{at}" }} }}'
        yield f"DELETE DATA {text}", f"INSERT DATA {text}"


def noted_staff(size: int) -> Iterator[Quad]:
    """Forty of them have a note."""
    yield from staff(size)
    yield from (triple(f"p{number}", "note", number) for number in range(40))


_NOTED = "SELECT * { ?p :age ?a %s }"
_SAID = "{ ?p :said ?x }"

SPREAD = (
    Shape(
        "GROUP BY in GRAPH ?g",
        f"SELECT * {{ GRAPH ?g {{ SELECT ?x (COUNT(*) AS ?n) {_SAID} GROUP BY ?x }} }}",
        staff,
        _sayings,
    ),
    Shape("COUNT in GRAPH ?g", f"SELECT * {{ GRAPH ?g {{ SELECT (COUNT(*) AS ?n) {_SAID} }} }}", staff, _sayings),
    Shape(
        "LIMIT in GRAPH ?g",
        f"SELECT * {{ GRAPH ?g {{ SELECT ?p {_SAID} ORDER BY ?x LIMIT 3 }} }}",
        staff,
        _sayings,
    ),
    Shape(
        "aggregate joined in GRAPH ?g",
        f"SELECT * {{ GRAPH ?g {{ ?p :said ?y {{ SELECT ?p (COUNT(*) AS ?n) {_SAID} GROUP BY ?p }} }} }}",
        staff,
        _sayings,
    ),
    Shape(
        "MINUS by what both may lack",
        "SELECT * { { ?p :age ?a OPTIONAL { ?p :note ?b } } MINUS { ?q :age ?c OPTIONAL { ?q :note ?b } } }",
        staff,
        notes,
    ),
    Shape(
        "join by what OPTIONAL may lack",
        "SELECT * { ?p :age ?a OPTIONAL { ?p :boss ?b } OPTIONAL { ?p :knows ?f } ?b :note ?n }",
        staff,
        notes,
    ),
    Shape("values compared", "SELECT ?p ?q { ?p :note ?a . ?q :age ?b FILTER (?a = ?b) }", staff, notes),
    Shape(
        "above a half more than average",
        "SELECT ?p { ?p :age ?a { SELECT (AVG(?b) AS ?m) { ?q :age ?b } } FILTER (?a > ?m * 1.5) }",
        people,
        ages,
    ),
    Shape(
        "a scalar beside a city",
        "SELECT ?p ?n { ?p :lives :city0 { SELECT (COUNT(*) AS ?n) { ?q :note ?m } } }",
        staff,
        notes,
    ),
    Shape("a path that leads back", "SELECT ?p { ?p :lives :city0 . ?p :knows+ ?p }", people, friends),
    Shape("MINUS a path", "SELECT ?p { ?p :lives :city0 MINUS { ?p :boss+ :p1 } }", staff, bosses),
    Shape(
        "NOT EXISTS of a path to notes",
        "SELECT ?p { ?p :lives :city0 FILTER NOT EXISTS { ?p :boss+/:note ?n } }",
        staff,
        notes,
    ),
    Shape("OPTIONAL path to notes of all", _NOTED % "OPTIONAL { ?p :boss+ ?x . ?x :note ?n }", noted_staff, bosses),
    Shape("MINUS a path, of all", _NOTED % "MINUS { ?p :boss+ :p1 }", staff, bosses),
    Shape(
        "a path in UNION",
        "SELECT ?p ?x { ?p :lives :city0 { ?p :boss+ ?x } UNION { ?p :knows ?x } }",
        staff,
        bosses,
    ),
    Shape("all pairs of a path", "SELECT ?x ?y { ?x :boss+ ?y }", staff, bosses),
    Shape("all pairs, downwards", "SELECT ?x ?y { ?x (^:boss)+ ?y }", staff, bosses),
    Shape("a path between many", "SELECT ?x ?y { ?x :lives ?c . ?x (^:boss)* ?y . ?y :lives ?c }", staff, bosses),
)
