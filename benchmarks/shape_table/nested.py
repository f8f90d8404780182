"""Sub-SELECT and EXISTS, wherever they may stand."""

from collections.abc import Iterator

from shape_table.shape import Shape, cut, put, scattered, triple
from tidings.model.terms import Quad

TOGGLES = 25


def people(size: int) -> Iterator[Quad]:
    """People with an age, a city and friends."""
    count = size // 5
    for number in range(count):
        person = f"p{number}"
        yield triple(person, "age", number * 7919 % 90)
        yield triple(person, "lives", f"city{number % max(count // 50, 1)}")
        yield triple(person, "name", f"name{number}")
        yield triple(person, "knows", f"p{(number * 31 + 7) % count}")
        yield triple(person, "knows", f"p{(number * 17 + 3) % count}")


def ages(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"p{at}", "age", at * 7919 % 90) for at in scattered(TOGGLES, size // 5))


def friends(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"p{at}", "knows", f"p{(at * 31 + 7) % (size // 5)}") for at in scattered(TOGGLES, size // 5))


def _names(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"p{at}", "name", f"name{at}") for at in scattered(TOGGLES, size // 5))


def _notes(size: int) -> Iterator[tuple[str, str]]:
    return (put(f"p{at}", "note", at) for at in scattered(TOGGLES, size // 5))


_COUNTED = "{ SELECT ?c (COUNT(?x) AS ?n) { ?x :lives ?c } GROUP BY ?c }"
_KNOWN = "SELECT ?p (COUNT(?f) AS ?n) { ?p :knows ?f } GROUP BY ?p"
_FRIENDS = "SELECT ?p ?n { ?p :name ?name %s { SELECT ?p (COUNT(?f) AS ?n) { ?p :knows ?f } GROUP BY ?p } }"
_OLDEST = "{ SELECT ?p { ?p :age ?a } ORDER BY DESC(?a) LIMIT 10 }"

NESTED = (
    Shape(
        "AVG joined",
        "SELECT ?p { ?p :age ?a { SELECT (AVG(?b) AS ?m) { ?q :age ?b } } FILTER (?a > ?m) }",
        people,
        ages,
    ),
    Shape("COUNT joined, a friend", _FRIENDS % "", people, friends),
    Shape("COUNT joined, a name", _FRIENDS % "", people, _names),
    Shape("COUNT inside OPTIONAL, a friend", _FRIENDS % "OPTIONAL", people, friends),
    Shape("COUNT inside OPTIONAL, a name", _FRIENDS % "OPTIONAL", people, _names),
    Shape("COUNT of a city, a name", f"SELECT ?p ?n {{ ?p :name ?name ; :lives ?c {_COUNTED} }}", people, _names),
    Shape("LIMIT joined, a name", f"SELECT ?p ?name {{ ?p :name ?name {_OLDEST} }}", people, _names),
    Shape(
        "DISTINCT joined",
        "SELECT ?p ?f { ?p :age ?a { SELECT DISTINCT ?p ?f { ?p :knows ?f . ?f :knows ?g } } }",
        people,
        friends,
    ),
    Shape(
        "MINUS a sub-SELECT",
        "SELECT ?p { ?p :name ?n MINUS { SELECT ?p { ?p :knows ?f } GROUP BY ?p HAVING (COUNT(*) > 1) } }",
        people,
        friends,
    ),
    Shape(
        "NOT EXISTS, OPTIONAL inside",
        "SELECT ?p { ?p :age ?a FILTER NOT EXISTS { ?p :note ?n OPTIONAL { ?p :name ?m } } }",
        people,
        _notes,
    ),
    Shape("EXISTS in BIND", "SELECT ?p ?e { ?p :age ?a BIND (EXISTS { ?p :note ?n } AS ?e) }", people, _notes),
    Shape(
        "EXISTS and a condition",
        "SELECT ?p { ?p :age ?a . ?p :knows ?f FILTER (?a > 40 && EXISTS { ?f :note ?n FILTER (?n > ?a) }) }",
        people,
        _notes,
    ),
    Shape(
        "NOT EXISTS within NOT EXISTS",
        "SELECT ?p { ?p :age ?a FILTER NOT EXISTS { ?p :knows ?f FILTER NOT EXISTS { ?f :note ?n } } }",
        people,
        _notes,
    ),
    Shape(
        "NOT EXISTS of an aggregate",
        "SELECT ?p { ?p :age ?a FILTER NOT EXISTS { SELECT ?p { ?p :knows ?f } GROUP BY ?p HAVING (COUNT(*) > 1) } }",
        people,
        friends,
    ),
    Shape(
        "NOT EXISTS of a LIMIT",
        "SELECT ?p { ?p :age ?a FILTER NOT EXISTS { SELECT ?p { ?p :note ?n } ORDER BY ?n LIMIT 3 } }",
        people,
        _notes,
    ),
    Shape(
        "EXISTS of a sub-SELECT",
        "SELECT ?p { ?p :age ?a FILTER EXISTS { SELECT DISTINCT ?p { ?p :knows ?f . ?f :note ?n } } }",
        people,
        _notes,
    ),
    Shape(
        "SUM by city of an OPTIONAL COUNT",
        f"SELECT ?c (SUM(?n) AS ?m) {{ ?p :lives ?c OPTIONAL {{ {_KNOWN} }} }} GROUP BY ?c",
        people,
        friends,
    ),
    Shape(
        "older than the city's average",
        "SELECT ?p { ?p :age ?a ; :lives ?c { SELECT ?c (AVG(?b) AS ?m) { ?q :lives ?c ; :age ?b } GROUP BY ?c } "
        "FILTER (?a > ?m) }",
        people,
        ages,
    ),
    Shape("EXISTS counted", "SELECT (SUM(IF(EXISTS { ?p :note ?n }, 1, 0)) AS ?k) { ?p :age ?a }", people, _notes),
)
